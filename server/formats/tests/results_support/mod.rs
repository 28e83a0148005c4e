//! Evaluations by a generator with a seed, and what exports and imports them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    dead_code,
    reason = "tests"
)]

use std::collections::BTreeMap;

use domain::attempt::{AttemptResult, BlobRef, PhaseTimes, WorkspacePatch};
use domain::comparison::{Baseline, Comparison};
use domain::condition::Condition;
use domain::draw::Draw;
use domain::finding::Finding;
use domain::hash::ContentHash;
use domain::history::{AttemptHistory, EvaluationHistory, TrialHistory};
use domain::id::{EvaluationId, SkillVersionId, TaskId, TrialId};
use domain::plan::{AgentRef, EvaluationPlan, ModelRef, RunSettings, SkillRef, TaskRef, Treatment};
use domain::skill_audit::{Activation, FoundSkill, SkillAudit, SkillText};
use domain::spending::{Spending, SpendingCaps};
use domain::stop::{Seen, StopReason, StopRule, Stopped};
use domain::tamper::{ChangeKind, OutsideChanges, PathChange, Suspicion};
use domain::test_case::{TestCase, TestStatus};
use domain::time::Timestamp;
use domain::trial::TrialState;
use domain::usage::TokenUsage;
use domain::verdict::{FailReason, InfraClass, Verdict};
use formats::export::{ExportFile, ExportFormat, Exported, render};

/// When everything is read.
pub const NOW: Timestamp = Timestamp(1_800_000_000_000);

/// A generator of evaluations: everything that may be there is there now and then, and text is hostile.
pub struct Any(pub Draw);

/// Files by their names.
pub type Contents = BTreeMap<ContentHash, Vec<u8>>;

impl Any {
    fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    fn maybe<T>(&mut self, some: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.0.coin() { Some(some(self)) } else { None }
    }

    fn text(&mut self) -> String {
        const TEXTS: [&str; 12] = [
            "count-sheep",
            "</script><b>x",
            "=cmd()",
            "a|b\n\"c\",d",
            "../../etc",
            "é🐑\u{202e}",
            "",
            "'",
            "{\"a\":1}",
            "\u{0}\u{1b}[0m",
            "-x",
            "`*_[x](y)",
        ];
        TEXTS[self.below(TEXTS.len())].to_owned()
    }

    fn number(&mut self) -> u64 {
        [0, 1, 999, 1 << 40][self.below(4)]
    }

    fn verdict(&mut self) -> Verdict {
        let message = self.text();
        match self.below(10) {
            0 | 1 => Verdict::Pass,
            2 => Verdict::Fail { reason: FailReason::WrongResult },
            3 => Verdict::Fail { reason: FailReason::TimedOut { limit_ms: 900_500 } },
            4 => Verdict::Fail { reason: FailReason::BudgetExceeded { cap: message } },
            5 => Verdict::Fail { reason: FailReason::AgentError { message } },
            6 => Verdict::InfraError { class: InfraClass::Provider, message },
            7 => Verdict::VerifierError { message },
            8 => Verdict::InfraError { class: InfraClass::ProviderDenied, message },
            _ => Verdict::Cancelled,
        }
    }

    fn file(&mut self, files: &mut Contents) -> Option<BlobRef> {
        let bytes = self.maybe(|any| match any.below(3) {
            0 => any.text().into_bytes(),
            1 => vec![0xff, 0xfe, 0, any.below(256) as u8],
            _ => br#"{"steps":[{"at":null,"source":"agent","text":"hi","reasoning":null,"calls":[],"usage":null}]}"#
                .to_vec(),
        })?;
        let blob = BlobRef { hash: ContentHash::of(&bytes), size: bytes.len() as u64 };
        files.insert(blob.hash, bytes);
        Some(blob)
    }

    fn result(&mut self, verdict: Verdict, files: &mut Contents) -> AttemptResult {
        let count = self.below(4);
        let statuses = [TestStatus::Passed, TestStatus::Failed, TestStatus::Skipped, TestStatus::Other];
        let mut tests = Vec::new();
        for status in statuses.iter().take(count) {
            let (duration_ms, message) = (self.maybe(Self::number), self.maybe(Self::text));
            tests.push(TestCase { name: self.text(), status: *status, duration_ms, message });
        }
        AttemptResult {
            verdict,
            // At most fifteen digits, as the document says.
            reward: self.maybe(|any| (any.below(1_000_001) as f64) / 1_000_000.0),
            tests,
            usage: TokenUsage {
                input: self.maybe(Self::number),
                cache_read: self.maybe(Self::number),
                cache_write: self.maybe(Self::number),
                output: self.maybe(Self::number),
            },
            model_calls: self.maybe(Self::number),
            audit: self.maybe(|any| SkillAudit {
                looked_in: vec![any.text()],
                found: vec![FoundSkill { path: any.text(), name: any.text() }],
                removed: vec![any.text()],
            }),
            activation: Activation {
                listed: self.maybe(|any| any.0.coin()),
                opened: self.maybe(|any| any.0.coin()),
                files_read: vec![self.text()],
                skill_text: self.maybe(|any| SkillText { characters: any.number(), characters_sent: any.number() }),
            },
            phases: PhaseTimes {
                preparing: self.maybe(Self::number),
                agent: self.maybe(Self::number),
                verifying: self.maybe(Self::number),
            },
            image: self.maybe(Self::text),
            build_context: self.maybe(|any| ContentHash::of(any.text().as_bytes())),
            peak_memory: self.maybe(Self::number),
            trace: self.file(files),
            agent_log: self.file(files),
            verifier_log: self.file(files),
            calls: self.file(files),
            outside: self.maybe(Self::outside),
            patch: self.maybe(|any| WorkspacePatch {
                file: any.file(files),
                files: any.number(),
                added: any.number(),
                removed: any.number(),
                left_out: any.number(),
            }),
            cost: self.maybe(|any| (any.below(1_000_001) as f64) / 1_000.0),
            prices: self.maybe(Self::text),
            findings: self.maybe(|any| Finding::warning("w", any.text(), any.text()).at(3, None)).into_iter().collect(),
        }
    }

    fn outside(&mut self) -> OutsideChanges {
        let path = PathChange {
            path: self.text(),
            kind: ChangeKind::Added,
            suspicious: self.maybe(|_| Suspicion::Startup),
            undone: self.0.coin(),
        };
        OutsideChanges {
            paths: vec![path],
            total: self.number(),
            suspicious: self.number(),
            fresh_container: self.0.coin(),
        }
    }

    fn trial(
        &mut self,
        id: i64,
        task: TaskId,
        condition: Condition,
        repeat: u32,
        files: &mut Contents,
    ) -> TrialHistory {
        let mut attempts = Vec::new();
        let count = self.below(3) as u32;
        for number in 1..=count {
            let verdict = self.verdict();
            let result = self.maybe(|any| any.result(verdict.clone(), files));
            let told =
                self.maybe(|any| Spending { tokens: any.number(), money: 0.5, calls: 3, uncounted: any.number() });
            attempts.push(AttemptHistory {
                number,
                started_at: Some(Timestamp(1_000 + i64::from(number))),
                ended_at: self.maybe(|any| Timestamp((any.number() as i64).max(1_000 + i64::from(number)))),
                verdict: Some(verdict),
                result,
                told,
            });
        }
        let verdict = attempts.last().and_then(|attempt| attempt.verdict.clone()).unwrap_or(Verdict::Cancelled);
        let state = TrialState::Finished { attempts: count, verdict, at: Timestamp(5_000 + id) };
        TrialHistory { id: TrialId(id), task, condition, repeat, state, attempts }
    }

    /// An evaluation with the files that it names.
    pub fn evaluation(&mut self) -> (EvaluationHistory, Contents) {
        let (tasks, repeats) = (1 + self.below(4), 1 + self.below(3) as u32);
        let mut files = Contents::new();
        let tasks: Vec<TaskRef> = (0..tasks)
            .map(|i| TaskRef { id: TaskId(10_001 + i as i64), name: self.text(), version: ContentHash::of(&[i as u8]) })
            .collect();
        let mut trials = Vec::new();
        for task in &tasks {
            for repeat in 1..=repeats {
                for condition in Condition::BOTH {
                    // Not every trial need exist, but one must.
                    if self.below(8) > 0 || trials.is_empty() {
                        trials.push(self.trial(20_001 + trials.len() as i64, task.id, condition, repeat, &mut files));
                    }
                }
            }
        }
        let skill = |any: &mut Self| SkillRef {
            id: SkillVersionId(30_001),
            name: any.text(),
            version: ContentHash::of(b"skill"),
        };
        let baseline = match self.0.below(4) {
            0 => Baseline::NoSkill,
            1 => Baseline::PreviousVersion { versions: vec![skill(self)] },
            2 => Baseline::Control { versions: vec![skill(self)] },
            _ => Baseline::Same,
        };
        let comparison = Comparison { baseline, distractors: self.maybe(|any| vec![skill(any)]).unwrap_or_default() };
        let plan = EvaluationPlan {
            title: self.text(),
            treatment: self
                .maybe(|any| Treatment::Skills { versions: vec![skill(any)] })
                .unwrap_or(Treatment::TasksOwn),
            comparison,
            tasks,
            task_set: self.maybe(Self::text),
            agent: AgentRef::new(self.text(), self.text()),
            model: self.maybe(|any| ModelRef { name: any.text(), upstream: any.text(), scripted: any.0.coin() }),
            repeats,
            seed: self.0.bits(),
            settings: RunSettings {
                timeout_multiplier: 2.5,
                token_cap: self.maybe(Self::number),
                spending: SpendingCaps { trial_money: self.maybe(|_| 0.25), ..SpendingCaps::default() },
                stop: StopRule { futility: self.0.coin(), evidence: self.0.coin() },
                ..RunSettings::default()
            },
            kind: Default::default(),
        };
        let stopped = self.maybe(|any| {
            let tasks = any.below(plan.tasks.len() + 1) as u32;
            let seen = Seen { tasks, rescued: any.below(tasks as usize + 1) as u32, broken: 0, e_value: 20.5 };
            let why = [
                StopReason::Futility,
                StopReason::Evidence,
                StopReason::OutOfTime,
                StopReason::ByHand,
                StopReason::ProviderDenied,
            ][any.below(5)];
            let told = (why == StopReason::ProviderDenied).then(|| any.text());
            Stopped { why, at: Timestamp(9), seen, told }
        });
        let (id, created_at) = (EvaluationId(42), Timestamp(7));
        (EvaluationHistory { id, created_at, plan, imported: None, stopped, trials }, files)
    }
}

/// The files of an export.
pub fn exported(history: &EvaluationHistory, files: &Contents, format: ExportFormat) -> Vec<ExportFile> {
    let report = history.report();
    let exported = Exported { history, report: &report, files, left_out: &[], chart: "<svg></svg>" };
    render(format, &exported).unwrap()
}
