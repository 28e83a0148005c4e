//! A store that is filled at random.

use std::path::Path;
use std::sync::Arc;

use domain::attempt::{AttemptResult, BlobRef, PhaseTimes, WorkspacePatch};
use domain::comparison::Comparison;
use domain::draw::Draw;
use domain::hash::ContentHash;
use domain::id::EvaluationId;
use domain::order::{Happening, TrialEvent};
use domain::path::RelPath;
use domain::plan::{AgentRef, EvaluationPlan, PlanKind, RunSettings, TaskRef, Treatment};
use domain::skill_audit::Activation;
use domain::task::Task;
use domain::test_case::{TestCase, TestStatus};
use domain::time::Timestamp;
use domain::tree::{Tree, TreeEntry};
use domain::trial::Phase;
use domain::usage::TokenUsage;
use domain::verdict::{FailReason, InfraClass, Verdict};
use ops::{Ops, OpsConfig};
use store::{Claim, Store};

pub const NOW: Timestamp = Timestamp(1_772_323_200_000);

pub struct Rig {
    pub ops: Ops,
    example: Task,
    draw: Draw,
}

impl Rig {
    pub async fn new() -> Self {
        let ops = Ops::new(Store::temp().await.unwrap(), Arc::new(|| NOW), OpsConfig::default());
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tasks");
        let added = ops.add_task_folders(&[examples], domain::task::DataVersion::Auto).await.unwrap();
        let example = ops.store().task(added.accepted[0].id).await.unwrap().task;
        Self { ops, example, draw: Draw::from_seed(11) }
    }

    /// Tasks `t0`, `t1`, … of two categories.
    pub async fn tasks(&self, range: std::ops::Range<usize>) -> Vec<TaskRef> {
        let mut refs = Vec::new();
        for number in range {
            let mut task = self.example.clone();
            task.name = format!("t{number}");
            task.metadata.category = (number % 3 > 0).then(|| format!("category {}", number % 3));
            let hash = ContentHash::of(task.name.as_bytes());
            let file = RelPath::new("instruction.md").unwrap();
            task.tree = Tree::from_iter([(file, TreeEntry { executable: false, size: 1, hash })]);
            let (id, _) = self.ops.store().put_task(&task, &[], "tests", NOW).await.unwrap();
            refs.push(TaskRef { id, name: task.name.clone(), version: task.version() });
        }
        refs
    }

    pub async fn plan(&self, tasks: std::ops::Range<usize>, repeats: u32) -> EvaluationPlan {
        EvaluationPlan {
            title: "T".into(),
            treatment: Treatment::TasksOwn,
            comparison: Comparison::default(),
            tasks: self.tasks(tasks).await,
            task_set: None,
            agent: AgentRef::new("nop", "1"),
            model: None,
            repeats,
            seed: 3,
            settings: RunSettings { concurrency: 9, max_attempts: 2, ..RunSettings::default() },
            kind: PlanKind::Evaluation,
        }
    }

    pub fn store(&self) -> &Store {
        self.ops.store()
    }

    pub async fn planned(&self, plan: &EvaluationPlan) -> EvaluationId {
        self.store().create_evaluation(plan, NOW).await.unwrap()
    }

    pub async fn claim(&self) -> Option<Claim> {
        self.store().claim_next(NOW, NOW.plus_ms(60_000), 100).await.unwrap()
    }

    pub async fn tell(&self, claim: &Claim, what: Happening) {
        let event = TrialEvent { attempt: claim.attempt, at: NOW, what };
        self.store().record_event(claim.trial.evaluation, claim.trial.id, &event).await.unwrap();
    }

    /// Ends all that is queued, but for `left` trials, each as it is drawn.
    pub async fn run(&mut self, left: usize) {
        for _ in 0..left {
            self.claim().await.unwrap();
        }
        while let Some(claim) = self.claim().await {
            self.tell(&claim, Happening::PhaseReached { phase: Phase::Agent }).await;
            let result = Box::new(result(&mut self.draw));
            self.tell(&claim, Happening::Ended { result }).await;
        }
    }

    pub async fn evaluated(&mut self, plan: &EvaluationPlan) -> EvaluationId {
        let id = self.planned(plan).await;
        self.run(0).await;
        id
    }
}

fn result(draw: &mut Draw) -> AttemptResult {
    let mut unknown_or = |most| (draw.below(5) > 0).then(|| draw.below(most) as u64);
    let (input, output, agent, preparing) = (unknown_or(900), unknown_or(90), unknown_or(9000), unknown_or(90));
    let verdict = match draw.below(6) {
        0 => Verdict::InfraError { class: InfraClass::Engine, message: "gone".into() },
        1 | 2 => Verdict::Fail { reason: FailReason::WrongResult },
        _ => Verdict::Pass,
    };
    let mut known = || [None, Some(false), Some(true)][draw.below(3)];
    let activation = Activation { listed: known(), opened: known(), ..Activation::default() };
    let status = if draw.below(3) == 0 { TestStatus::Failed } else { TestStatus::Passed };
    let file = (draw.below(2) == 0).then(|| BlobRef { hash: ContentHash::of(b"diff"), size: 4 });
    AttemptResult {
        usage: TokenUsage { input, output, ..TokenUsage::ZERO },
        phases: PhaseTimes { agent, preparing, verifying: Some(10) },
        activation,
        tests: vec![TestCase { name: "counts".into(), status, duration_ms: None, message: None }],
        patch: Some(WorkspacePatch { file, files: 1, ..WorkspacePatch::default() }),
        ..AttemptResult::bare(verdict)
    }
}
