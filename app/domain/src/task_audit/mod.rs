//! The task audit: what a task's verifier says where nothing was done (`nop`) and where the task's own solution was (`oracle`), several times
//! each. Recomputed from stored trials, like every other number; serialised as it is, it is the JSON of `skilldelta audit --json`.

mod classes;
mod outcome;
mod words;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

pub use classes::{ClassCounts, Passes, TestAudit, TestClass};
pub use outcome::AuditOutcome;

use self::outcome::Agreement;
use crate::condition::{Condition, Pair};
use crate::hash::ContentHash;
use crate::id::{EvaluationId, TaskId, TrialId};
use crate::plan::{AgentRef, EvaluationPlan, PlanKind, TaskRef};
use crate::report::{TrialRecord, number};
use crate::test_case::{TestCase, TestStatus};
use crate::time::Timestamp;

/// Version of the JSON's shape.
pub const SCHEMA: &str = "skilldelta.audit.v1";

/// Code of the finding in which an agent says how it ended, such as a script's exit code.
const AGENT_NOTE: &str = "agent_note";

/// What an audit runs on a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditAgent {
    /// Does nothing.
    Nop,
    /// The task's own solution.
    Oracle,
}

impl AuditAgent {
    /// Both, in the order in which they are shown.
    pub const BOTH: [Self; 2] = [Self::Nop, Self::Oracle];

    /// What the arms of an audit are called.
    pub const ARMS: Pair<&'static str> = Pair { without: Self::Nop.word(), with: Self::Oracle.word() };

    /// The word used in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Nop => "nop",
            Self::Oracle => "oracle",
        }
    }

    /// The one of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::BOTH.into_iter().find(|agent| agent.word() == name)
    }

    /// Who makes the trials of an arm of an audit.
    #[must_use]
    pub const fn of(condition: Condition) -> Self {
        match condition {
            Condition::NoSkill => Self::Nop,
            Condition::WithSkill => Self::Oracle,
        }
    }

    /// The arm of its trials.
    #[must_use]
    pub const fn condition(self) -> Condition {
        match self {
            Self::Nop => Condition::NoSkill,
            Self::Oracle => Condition::WithSkill,
        }
    }
}

/// One run of an audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditRun {
    /// Its trial.
    pub trial: TrialId,
    /// What was run.
    pub agent: AuditAgent,
    /// From 1.
    pub repeat: u32,
    /// `queued`, `preparing`, `agent`, `verifying` or `finished`.
    pub state: String,
    /// Attempts made.
    pub attempts: u32,
    /// `pass`, `fail`, `infra_error`, `verifier_error`, `cancelled`; `null` until decided.
    pub verdict: Option<String>,
    /// What went wrong, where something did.
    pub detail: Option<String>,
    /// In 0..=1.
    pub reward: Option<f64>,
    /// Test cases that passed; `null` where the run named none.
    pub tests_passed: Option<u32>,
    /// Test cases in all; `null` where the run named none.
    pub tests: Option<u32>,
    /// Id of the image that its container was made from.
    pub image: Option<String>,
    /// When it was decided.
    pub finished_at: Option<Timestamp>,
}

/// What an audit says about one task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskAudit {
    /// The task's row.
    pub task_id: TaskId,
    /// The task's name.
    pub task: String,
    /// The task version's address.
    pub version: ContentHash,
    /// Whether the task brings a solution that was run.
    pub has_solution: bool,
    /// What the task is; `null` until every run is decided.
    pub outcome: Option<AuditOutcome>,
    /// Whether a Δ over it means what it says; `null` until every run is decided.
    pub trusted: Option<bool>,
    /// The same in words.
    pub sentence: String,
    /// What its author should do; `null` where nothing is to be done.
    pub remedy: Option<String>,
    /// Its test cases by class.
    pub classes: ClassCounts,
    /// Test case by test case, in the order of the solution's run.
    pub tests: Vec<TestAudit>,
    /// Run by run: `nop` first.
    pub runs: Vec<AuditRun>,
}

/// A whole audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditReport {
    /// [`SCHEMA`].
    pub schema: String,
    /// Its row; audits and evaluations are numbered together.
    pub audit_id: EvaluationId,
    /// What people call it.
    pub title: String,
    /// When it was planned.
    pub created_at: Timestamp,
    /// Whether every run is decided.
    pub finished: bool,
    /// Runs of each agent on each task.
    pub repeats: u32,
    /// Of the order.
    pub seed: u64,
    /// Who did nothing.
    pub nop: AgentRef,
    /// Who ran the solutions.
    pub oracle: AgentRef,
    /// Task by task, in the plan's order.
    pub tasks: Vec<TaskAudit>,
}

/// How a task stands with its audits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditStanding {
    /// What the newest audit that was carried through says; `None` = never audited.
    pub settled: Option<AuditSummary>,
    /// An audit that is under way.
    pub running: Option<EvaluationId>,
}

/// What a list of tasks shows of an audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditSummary {
    /// Which audit.
    pub audit: EvaluationId,
    /// When it was planned.
    pub at: Timestamp,
    /// What the task is.
    pub outcome: AuditOutcome,
    /// The same in words.
    pub sentence: String,
    /// The task's test cases by class.
    pub classes: ClassCounts,
}

impl AuditReport {
    /// Computes what an audit says. `None` for a plan that is no audit.
    #[must_use]
    pub fn compute(
        id: EvaluationId,
        created_at: Timestamp,
        plan: &EvaluationPlan,
        trials: &[TrialRecord],
    ) -> Option<Self> {
        let PlanKind::Audit { oracle, .. } = &plan.kind else { return None };
        let mut runs: HashMap<TaskId, Vec<&TrialRecord>> = HashMap::with_capacity(plan.tasks.len());
        for trial in trials {
            runs.entry(trial.task_id).or_default().push(trial);
        }
        let of_task = |task: &TaskRef| {
            let runs = runs.get(&task.id).map(Vec::as_slice).unwrap_or_default();
            TaskAudit::of(task, plan.is_solved(task.id), runs)
        };
        Some(Self {
            schema: SCHEMA.to_owned(),
            audit_id: id,
            title: plan.title.clone(),
            created_at,
            finished: trials.iter().all(|trial| trial.state.verdict().is_some()),
            repeats: plan.repeats,
            seed: plan.seed,
            nop: plan.agent.clone(),
            oracle: oracle.clone(),
            tasks: plan.tasks.iter().map(of_task).collect(),
        })
    }

    /// Tasks with this outcome.
    #[must_use]
    pub fn count(&self, outcome: AuditOutcome) -> usize {
        self.tasks.iter().filter(|task| task.outcome == Some(outcome)).count()
    }

    /// What a list shows of one of its tasks; `None` until that task's runs are decided.
    #[must_use]
    pub fn summary(&self, task: TaskId) -> Option<AuditSummary> {
        let task = self.tasks.iter().find(|audit| audit.task_id == task)?;
        Some(AuditSummary {
            audit: self.audit_id,
            at: self.created_at,
            outcome: task.outcome?,
            sentence: task.sentence.clone(),
            classes: task.classes,
        })
    }
}

impl TaskAudit {
    /// Reads one task's runs.
    fn of(task: &TaskRef, has_solution: bool, trials: &[&TrialRecord]) -> Self {
        let of_agent = |agent: AuditAgent| -> Vec<&TrialRecord> {
            let mut runs: Vec<&TrialRecord> =
                trials.iter().copied().filter(|trial| trial.condition == agent.condition()).collect();
            runs.sort_by_key(|trial| trial.repeat);
            runs
        };
        let (nop, oracle) = (of_agent(AuditAgent::Nop), of_agent(AuditAgent::Oracle));
        let scored = |runs: &[&TrialRecord]| -> Vec<Vec<TestCase>> {
            let tests = |trial: &TrialRecord| trial.result.as_ref().map(|result| result.tests.clone());
            runs.iter().filter(|trial| trial.scored().is_some()).filter_map(|trial| tests(trial)).collect()
        };
        let tests = classes::classify(&scored(&nop), has_solution.then(|| scored(&oracle)).as_deref());
        let classes = ClassCounts::of(&tests);
        let agreed = (Agreement::of(&nop), has_solution.then(|| Agreement::of(&oracle)));
        let decided = trials.iter().all(|trial| trial.state.verdict().is_some());
        let outcome = decided.then(|| AuditOutcome::of(&agreed.0, agreed.1.as_ref(), classes.flaky > 0));
        let (sentence, remedy) = words::say(outcome, &agreed.0, agreed.1.as_ref(), &classes, &tests);
        Self {
            task_id: task.id,
            task: task.name.clone(),
            version: task.version,
            has_solution,
            outcome,
            trusted: outcome.map(AuditOutcome::is_trusted),
            sentence,
            remedy,
            classes,
            tests,
            runs: nop.into_iter().chain(oracle).map(AuditRun::of).collect(),
        }
    }

    /// How many runs of an agent passed, as `2/2` or `2 of 2 passed` by `words`: of those that were scored. A dash where none is decided yet, or the
    /// task has no run of it.
    #[must_use]
    pub fn passed(&self, agent: AuditAgent, words: fn(usize, usize) -> String) -> String {
        let decided = self.runs.iter().filter(|run| run.agent == agent).filter_map(|run| run.verdict.as_deref());
        let (passed, scored, decided) = decided.fold((0, 0, 0), |(passed, scored, decided), verdict| match verdict {
            "pass" => (passed + 1, scored + 1, decided + 1),
            "fail" => (passed, scored + 1, decided + 1),
            _ => (passed, scored, decided + 1),
        });
        match (scored, decided) {
            (0, 0) => number::UNKNOWN.to_owned(),
            (0, _) => "not scored".to_owned(),
            (scored, _) => words(passed, scored),
        }
    }

    /// Names of the test cases that pass although nothing was done.
    pub fn pass_to_pass(&self) -> impl Iterator<Item = &str> {
        self.tests.iter().filter(|test| test.class == TestClass::PassToPass).map(|test| test.name.as_str())
    }
}

/// What went wrong in a run that did not pass; where that is an ordinary fail, what its agent had to say.
fn why(trial: &TrialRecord) -> Option<String> {
    let verdict = trial.state.verdict().filter(|verdict| verdict.scored() != Some(true))?;
    let said = || {
        let findings = &trial.result.as_ref()?.findings;
        findings.iter().find(|finding| finding.code == AGENT_NOTE).map(|finding| finding.message.clone())
    };
    verdict.detail().or_else(said)
}

impl AuditRun {
    fn of(trial: &TrialRecord) -> Self {
        let result = trial.result.as_ref();
        let verdict = trial.state.verdict();
        let tests = result.map(|result| result.tests.as_slice()).filter(|tests| !tests.is_empty());
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let passed = |tests: &[TestCase]| tests.iter().filter(|test| test.status == TestStatus::Passed).count();
        Self {
            trial: trial.id,
            agent: AuditAgent::of(trial.condition),
            repeat: trial.repeat,
            state: trial.state.word().to_owned(),
            attempts: trial.state.attempts(),
            verdict: verdict.map(|verdict| verdict.word().to_owned()),
            detail: why(trial),
            reward: result.and_then(|result| result.reward),
            tests_passed: tests.map(|tests| number(passed(tests))),
            tests: tests.map(|tests| number(tests.len())),
            image: result.and_then(|result| result.image.clone()),
            finished_at: match &trial.state {
                crate::trial::TrialState::Finished { at, .. } => Some(*at),
                crate::trial::TrialState::Queued { .. } | crate::trial::TrialState::Running { .. } => None,
            },
        }
    }
}
