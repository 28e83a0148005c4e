//! What one try at a trial left behind.

use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::hash::ContentHash;
use crate::skill_audit::{Activation, SkillAudit};
use crate::tamper::OutsideChanges;
use crate::test_case::TestCase;
use crate::usage::TokenUsage;
use crate::verdict::Verdict;

/// A file in the blob store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlobRef {
    /// Its name.
    pub hash: ContentHash,
    /// Bytes.
    pub size: u64,
}

/// Milliseconds spent in each phase; `None` where the phase was not reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseTimes {
    /// Image and container made, skill placed and audited.
    pub preparing: Option<u64>,
    /// The agent's run.
    pub agent: Option<u64>,
    /// The verifier's run.
    pub verifying: Option<u64>,
}

/// What an agent changed in its working folder, against the state before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspacePatch {
    /// The unified diff; `None` where nothing changed.
    pub file: Option<BlobRef>,
    /// Files that differ.
    pub files: u64,
    /// Lines that are new.
    pub added: u64,
    /// Lines that are gone.
    pub removed: u64,
    /// Files of these that are only named in it, with size and hash: no text, or too long.
    pub left_out: u64,
}

/// The result of an attempt. Append-only: a later attempt never changes an earlier one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptResult {
    /// How it ended.
    pub verdict: Verdict,
    /// In 0..=1; `None` where there is none.
    pub reward: Option<f64>,
    /// Named results of the verifier run.
    pub tests: Vec<TestCase>,
    /// Tokens counted on the wire.
    pub usage: TokenUsage,
    /// Model calls seen on the wire; `None` where the agent's calls cannot be seen.
    pub model_calls: Option<u64>,
    /// List price of these tokens; `None` = unknown.
    #[serde(default)]
    pub cost: Option<f64>,
    /// The price table that the cost is by: currency and date.
    #[serde(default)]
    pub prices: Option<String>,
    /// Every model call as a JSON list: model, tokens, status, times, retries, refusals.
    #[serde(default)]
    pub calls: Option<BlobRef>,
    /// Skills found before the agent started; `None` if it never came to that.
    pub audit: Option<SkillAudit>,
    /// Use of the skill.
    pub activation: Activation,
    /// Time per phase.
    pub phases: PhaseTimes,
    /// Id of the image the container was made from.
    pub image: Option<String>,
    /// Hash of the build context, where the image was built.
    pub build_context: Option<ContentHash>,
    /// Bytes.
    pub peak_memory: Option<u64>,
    /// The trace as JSON of [`crate::trace::Trace`].
    pub trace: Option<BlobRef>,
    /// The agent's output as captured.
    pub agent_log: Option<BlobRef>,
    /// The verifier's output as captured.
    pub verifier_log: Option<BlobRef>,
    /// What the agent changed outside its working folder; `None` where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<OutsideChanges>,
    /// What the agent changed in its working folder; `None` where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<WorkspacePatch>,
    /// Clamped limits, flags for a person, and the like.
    pub findings: Vec<Finding>,
}

impl AttemptResult {
    /// Every text in it that agent, verifier, engine or provider could have a hand in: words, paths, names. Where a secret has to be taken out.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        // Each field by its name, so that a new one is not forgotten here.
        let Self {
            verdict,
            tests,
            audit,
            activation,
            outside,
            findings,
            reward: _,
            usage: _,
            model_calls: _,
            cost: _,
            prices: _,
            calls: _,
            phases: _,
            image: _,
            build_context: _,
            peak_memory: _,
            trace: _,
            agent_log: _,
            verifier_log: _,
            patch: _,
        } = self;
        let tests = tests.iter_mut().flat_map(|test| std::iter::once(&mut test.name).chain(&mut test.message));
        let audit = audit.iter_mut().flat_map(|audit| {
            let found = audit.found.iter_mut().flat_map(|skill| [&mut skill.path, &mut skill.name]);
            audit.looked_in.iter_mut().chain(&mut audit.removed).chain(found)
        });
        let outside = outside.iter_mut().flat_map(|outside| &mut outside.paths).map(|change| &mut change.path);
        let findings = findings
            .iter_mut()
            .flat_map(|finding| [&mut finding.file, &mut finding.message].into_iter().chain(&mut finding.hint));
        verdict
            .text_mut()
            .into_iter()
            .chain(tests)
            .chain(audit)
            .chain(&mut activation.files_read)
            .chain(outside)
            .chain(findings)
    }

    /// A result that has nothing but a verdict.
    #[must_use]
    pub fn bare(verdict: Verdict) -> Self {
        Self {
            verdict,
            reward: None,
            tests: Vec::new(),
            usage: TokenUsage::UNKNOWN,
            model_calls: None,
            cost: None,
            prices: None,
            calls: None,
            audit: None,
            activation: Activation::default(),
            phases: PhaseTimes::default(),
            image: None,
            build_context: None,
            peak_memory: None,
            trace: None,
            agent_log: None,
            verifier_log: None,
            outside: None,
            patch: None,
            findings: Vec::new(),
        }
    }
}
