//! An evaluation's result, recomputed from its stored trials. Serialised as it is, it is the JSON of `skilldelta eval --json`; pages and
//! tables show the same values. Unknown is `null`, never 0 and never NaN.

mod arm_usage;
mod compared;
mod early_end;
mod left_out;
pub mod matrix;
mod noise_floor;
pub mod number;
mod pairs;
mod sentence;
mod sight;
pub(crate) mod totals;

#[cfg(test)]
mod sentence_tests;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use arm_usage::{ArmUsage, EvaluationUsage, SkillUse, Told};
pub use compared::{ArmReport, ComparisonReport};
pub use left_out::{LeftOut, VoidPair};
pub use noise_floor::MeasuredNoise;
pub use pairs::{PairedTrials, TaskReport, TrialIndex};
pub use sentence::{Headline, Scope, delta_in_short, headline, headline_of};
pub use sight::Sight;
pub use totals::Totals;

use crate::analysis::{MeasuringCases, ResultDetail};
use crate::attempt::{AttemptResult, PhaseTimes, WorkspacePatch};
use crate::changed_limits::ChangedLimits;
use crate::comparison::Compared;
use crate::condition::Condition;
use crate::demonstration::Demonstration;
use crate::id::{EvaluationId, TaskId, TrialId};
use crate::imported::Imported;
use crate::network::NetworkChoice;
use crate::plan::{AgentRef, EvaluationPlan, ModelRef, Treatment};
use crate::skill_audit::{Activation, SkillText};
use crate::spending::Spending;
use crate::stop::{Seen, StopRule, Stopped};
use crate::tamper::OutsideChanges;
use crate::test_case::TestCase;
use crate::time::Timestamp;
use crate::trial::TrialState;
use crate::unlisted::Unlisted;
use crate::usage::TokenUsage;

/// Version of the JSON's shape.
pub const SCHEMA: &str = "skilldelta.evaluation.v1";

/// A trial as it stands, with what its last attempt left behind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Its row.
    pub id: TrialId,
    /// Its task's row.
    pub task_id: TaskId,
    /// Its task's name.
    pub task: String,
    /// Its arm.
    pub condition: Condition,
    /// From 1.
    pub repeat: u32,
    /// Where it stands.
    pub state: TrialState,
    /// The last ended attempt's.
    pub result: Option<AttemptResult>,
}

impl TrialRecord {
    /// `Some(passed)` once it is finished and scored.
    #[must_use]
    pub fn scored(&self) -> Option<bool> {
        self.state.verdict().and_then(crate::verdict::Verdict::scored)
    }
}

/// A skill as a report names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportSkill {
    /// The skill's name, or `task's own`.
    pub name: String,
    /// The version's address; `None` where each task brings its own.
    pub version: Option<String>,
}

impl ReportSkill {
    /// Stands for the skills that each task brings.
    pub const TASKS_OWN: &str = "task's own";

    /// The skills of a treatment.
    #[must_use]
    pub fn of_treatment(treatment: &Treatment) -> Vec<Self> {
        compared::of_treatment(treatment)
    }

    /// Name and the first digits of the version: `sheep@1a2b3c4d5e6f`.
    #[must_use]
    pub fn words(&self) -> String {
        let version = self.version.as_ref().map(|version| format!("@{}", version.chars().take(12).collect::<String>()));
        format!("{}{}", self.name, version.unwrap_or_default())
    }
}

/// The whole result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvaluationReport {
    /// [`SCHEMA`].
    pub schema: String,
    /// Its row.
    pub evaluation_id: EvaluationId,
    /// What people call it.
    pub title: String,
    /// When it was planned.
    pub created_at: Timestamp,
    /// Whether every trial is finished.
    pub finished: bool,
    /// The treatment's first skill.
    pub skill: ReportSkill,
    /// All skills of the treatment.
    pub skills: Vec<ReportSkill>,
    /// With what they were compared, and what lay beside them.
    #[serde(default)]
    pub comparison: ComparisonReport,
    /// Who solved the tasks.
    pub agent: AgentRef,
    /// The model's name; `null` for agents that call none.
    pub model: Option<String>,
    /// The model with where it was reached.
    pub model_ref: Option<ModelRef>,
    /// Of the order.
    pub seed: u64,
    /// Repeats per task and arm.
    pub repeats: u32,
    /// What the phases could reach in both arms, where that was not as the tasks say.
    #[serde(default, skip_serializing_if = "NetworkChoice::is_none")]
    pub network: NetworkChoice,
    /// Limits in place of the tasks' own, or beside them, in both arms.
    #[serde(default, skip_serializing_if = "ChangedLimits::is_none")]
    pub limits: ChangedLimits,
    /// Why it is in no row of the leaderboard, where that is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlisted: Option<Unlisted>,
    /// Over all complete pairs.
    pub totals: Totals,
    /// Tokens by class, model calls and money of both arms, over complete pairs.
    #[serde(default)]
    pub usage: EvaluationUsage,
    /// What all attempts have spent, retries and those outside complete pairs included; `null` where it cannot be told.
    #[serde(default)]
    pub spent: Option<Spending>,
    /// What goes further than the totals; `null` while it is not finished.
    #[serde(default)]
    pub detail: Option<Box<ResultDetail>>,
    /// Task by task, in the plan's order.
    pub tasks: Vec<TaskReport>,
    /// Trial by trial.
    pub trials: Vec<TrialReport>,
    /// What Δ does where nothing differs: an A/A evaluation's own, else that of A/A evaluations of these tasks with this agent and model; `null`
    /// where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_floor: Option<MeasuredNoise>,
    /// In the unit of test cases, without those that measure nothing by the audits of their tasks; `null` where none was audited.
    #[serde(default)]
    pub measuring_cases: Option<MeasuringCases>,
    /// When the plan allowed to end it before all trials were run.
    #[serde(default, skip_serializing_if = "StopRule::is_none")]
    pub stop: StopRule,
    /// That it was ended so, and why: marked wherever the result appears.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// The most evidence that there was at any time, where the plan allowed to look; `null` elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Seen>,
    /// Variables of the machine that its verifiers were given, as a person approved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approved_variables: Vec<String>,
    /// Where it came from, if others ran it: marked wherever the result appears, and never ranked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
}

/// One trial in the result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialReport {
    /// Its row.
    pub id: TrialId,
    /// Its task's name.
    pub task: String,
    /// Its arm.
    pub condition: Condition,
    /// From 1.
    pub repeat: u32,
    /// `queued`, `preparing`, `agent`, `verifying` or `finished`.
    pub state: String,
    /// Attempts made.
    pub attempts: u32,
    /// `pass`, `fail`, `infra_error`, `verifier_error`, `cancelled`; `null` until decided.
    pub verdict: Option<String>,
    /// In 0..=1.
    pub reward: Option<f64>,
    /// Named results.
    pub tests: Vec<TestCase>,
    /// By class.
    pub usage: TokenUsage,
    /// Model calls seen on the wire.
    #[serde(default)]
    pub model_calls: Option<u64>,
    /// List price of the tokens; `null` = unknown.
    #[serde(default)]
    pub cost: Option<f64>,
    /// The price table that the cost is by.
    #[serde(default)]
    pub prices: Option<String>,
    /// Whether the agent opened the skill; `null` where that cannot be told.
    pub activated: Option<bool>,
    /// The evidence for that, and more on the use of the skill.
    #[serde(default)]
    pub activation: Activation,
    /// Estimated tokens of the skill's own text: in the request that held most of it, and over all requests; `null` where none was seen.
    #[serde(default)]
    pub skill_tokens: Option<SkillTokens>,
    /// Milliseconds per phase.
    pub phases_ms: PhaseTimes,
    /// What went wrong, where something did.
    pub error: Option<String>,
    /// What the agent changed in its working folder, with the name of the file that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<WorkspacePatch>,
    /// What the agent changed outside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<OutsideChanges>,
}

/// [`SkillText`] in tokens, by the rule that is told with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillTokens {
    /// Of the context.
    pub estimated: u64,
    /// Over all requests.
    pub estimated_sent: u64,
    /// The rule: so many characters are one token.
    pub characters_per_token: u64,
}

impl From<&SkillText> for SkillTokens {
    fn from(text: &SkillText) -> Self {
        Self {
            estimated: text.estimated_tokens(),
            estimated_sent: text.estimated_tokens_sent(),
            characters_per_token: SkillText::CHARACTERS_PER_TOKEN,
        }
    }
}

impl From<&TrialRecord> for TrialReport {
    fn from(trial: &TrialRecord) -> Self {
        let result = trial.result.as_ref();
        let verdict = trial.state.verdict();
        Self {
            id: trial.id,
            task: trial.task.clone(),
            condition: trial.condition,
            repeat: trial.repeat,
            state: trial.state.word().to_owned(),
            attempts: trial.state.attempts(),
            verdict: verdict.map(|verdict| verdict.word().to_owned()),
            reward: result.and_then(|result| result.reward),
            tests: result.map(|result| result.tests.clone()).unwrap_or_default(),
            usage: result.map_or(TokenUsage::UNKNOWN, |result| result.usage),
            model_calls: result.and_then(|result| result.model_calls),
            cost: result.and_then(|result| result.cost),
            prices: result.and_then(|result| result.prices.clone()),
            activated: result.and_then(|result| result.activation.opened),
            activation: result.map(|result| result.activation.clone()).unwrap_or_default(),
            skill_tokens: result.and_then(|result| result.activation.skill_text.as_ref()).map(SkillTokens::from),
            phases_ms: result.map(|result| result.phases).unwrap_or_default(),
            error: verdict.or(result.map(|result| &result.verdict)).and_then(crate::verdict::Verdict::detail),
            patch: result.and_then(|result| result.patch),
            outside: result.and_then(|result| result.outside.clone()),
        }
    }
}

/// Trials by task, arm and repeat.
#[must_use]
pub fn index(trials: &[TrialRecord]) -> TrialIndex<'_> {
    trials.iter().map(|trial| ((trial.task_id, trial.condition, trial.repeat), trial)).collect()
}

/// The plan's tasks with their pairs, in its order.
#[must_use]
pub fn tasks_of(plan: &EvaluationPlan, trials: &TrialIndex<'_>) -> Vec<TaskReport> {
    plan.tasks.iter().map(|task| TaskReport::of(task, plan.repeats, trials)).collect()
}

/// Each once.
fn approved_variables(plan: &EvaluationPlan) -> Vec<String> {
    let names: BTreeSet<&String> = plan.settings.approved.iter().map(|approval| &approval.name).collect();
    names.into_iter().cloned().collect()
}

impl EvaluationReport {
    /// Computes the result of `plan` from its trials. Trials that are not finished, or not scored, make their pair incomplete.
    #[must_use]
    pub fn compute(id: EvaluationId, created_at: Timestamp, plan: &EvaluationPlan, trials: &[TrialRecord]) -> Self {
        let index = index(trials);
        let tasks = tasks_of(plan, &index);
        let skills = compared::of_treatment(&plan.treatment);
        let comparison = ComparisonReport::of(plan);
        let noise_floor =
            (comparison.kind == Compared::Same).then(|| MeasuredNoise::of_itself(id, &tasks, plan.repeats)).flatten();
        let stop = plan.settings.stop;
        let mut totals = Totals::of(&tasks, trials);
        let is_cut =
            trials.iter().any(|trial| matches!(trial.state.verdict(), Some(crate::verdict::Verdict::Cancelled)));
        let seen = (is_cut || !stop.is_none()).then(|| early_end::seen(&tasks, trials));
        if let Some(seen) = seen.filter(|_| stop.evidence) {
            early_end::by_evidence(&mut totals, &tasks, seen, false);
        }
        let skill = skills.first().cloned().unwrap_or(ReportSkill { name: "none".to_owned(), version: None });
        Self {
            schema: SCHEMA.to_owned(),
            evaluation_id: id,
            title: plan.title.clone(),
            created_at,
            finished: trials.iter().all(|trial| trial.state.verdict().is_some()),
            skill,
            skills,
            comparison,
            agent: plan.agent.clone(),
            model: plan.model.as_ref().map(|model| model.name.clone()),
            model_ref: plan.model.clone(),
            seed: plan.seed,
            repeats: plan.repeats,
            network: plan.settings.network.clone(),
            limits: ChangedLimits::of(&plan.settings),
            unlisted: Unlisted::of(plan),
            totals,
            usage: EvaluationUsage::of(&tasks, &index),
            spent: None,
            detail: None,
            tasks,
            trials: trials.iter().map(TrialReport::from).collect(),
            noise_floor,
            measuring_cases: None,
            stop,
            stopped: None,
            seen,
            approved_variables: approved_variables(plan),
            imported: None,
        }
    }

    /// In how many trials the skill was opened: `33 of 40 with-skill trials`, or that nobody can tell.
    #[must_use]
    pub fn opened_in_words(&self) -> String {
        let Totals { activated, activation_known, .. } = self.totals;
        match (activation_known, &self.imported) {
            (0, None) => "cannot be told for this agent".to_owned(),
            (0, Some(_)) => "the source does not tell".to_owned(),
            (known, _) => {
                let trials = format!("{} trial", self.comparison.arm(Condition::WithSkill));
                format!("{activated} of {}", number::counted(known, &trials))
            }
        }
    }

    /// Whether the model's answers came from a file.
    #[must_use]
    pub fn is_scripted(&self) -> bool {
        self.model_ref.as_ref().is_some_and(|model| model.scripted)
    }

    /// Why it is no measurement, if it is none: marked wherever the result appears, and never ranked.
    #[must_use]
    pub fn demonstration(&self) -> Option<Demonstration> {
        Demonstration::of(&self.agent.name, self.is_scripted())
    }
}
