//! The bundled example: a skill, tasks and a scripted model, run once per data folder.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::anyhow;
use domain::id::EvaluationId;
use domain::listing::{BaselineRequest, PlanRequest};
use domain::network::NetworkChoice;
use domain::plan::SkillDelivery;
use domain::spending::SpendingCaps;
use domain::stop::StopRule;
use domain::task::DataVersion;
use engine::agent::bash::NAME as BASH;
use ops::{Ops, OpsError, Upload};
use tokio::sync::watch;

use super::{Failure, progress, table, terminal};
use crate::config::{Config, UpstreamConfig, UpstreamKind};
use crate::scheduler::QueueStatus;

/// Whose skill it is.
const OWNER: &str = "example";
/// The name its scripted upstream and model have.
const SCRIPTED: &str = "scripted";
/// Stored with the plan, so that everybody's first run has the same order.
const SEED: u64 = 1;

/// Lets the example's tasks in, and its scripted model.
///
/// # Errors
/// A folder that is no example (exit 2).
pub fn configure(config: &mut Config, folder: &Path) -> Result<(), Failure> {
    let file = folder.join("model.json");
    if !file.is_file() || !folder.join("tasks").is_dir() {
        return Err(Failure::unusable(anyhow!(
            "{} is no example: it needs skills/, tasks/ and model.json",
            folder.display()
        )));
    }
    config.task_roots.push(folder.join("tasks"));
    let upstream = UpstreamConfig { kind: UpstreamKind::Scripted { file }, models: vec![SCRIPTED.to_owned()] };
    config.upstreams.entry(SCRIPTED.to_owned()).or_insert(upstream);
    Ok(())
}

/// Runs the example, or finds that it has been run, and prints its result and where to look at it.
///
/// # Errors
/// A broken example, or storage trouble.
pub async fn run(
    ops: &Ops,
    folder: &Path,
    agent: &str,
    queue: watch::Receiver<QueueStatus>,
    listen: SocketAddr,
) -> Result<(), Failure> {
    let request = request(ops, folder, agent).await?;
    let plan = ops.resolve(&request).await?;
    let id: EvaluationId = match ops.same_plan(&plan).await? {
        Some(id) => id,
        None => ops.start(&request).await?,
    };
    terminal::line(&format!("the example is evaluation {id}: follow it on http://{listen}/evaluations/{id}"));
    let report = progress::follow(ops, id, queue).await?;
    terminal::line(&format!("\n{}", table::render(&report)));
    terminal::line(&format!("look at it on http://{listen}/evaluations/{id}"));
    Ok(())
}

async fn request(ops: &Ops, folder: &Path, agent: &str) -> Result<PlanRequest, OpsError> {
    let skills = ops.upload_skills(OWNER, Upload::Path(folder.join("skills"))).await?;
    let tasks = ops.add_task_folders(&[folder.join("tasks")], DataVersion::Auto).await?;
    Ok(PlanRequest {
        title: if agent == BASH { "Example".to_owned() } else { format!("Example with {agent}") },
        skills: skills.accepted.iter().map(|skill| skill.version_id).collect(),
        baseline: BaselineRequest::NoSkill,
        distractors: Vec::new(),
        tasks: tasks.accepted.iter().map(|task| task.id).collect(),
        task_set: None,
        agent: agent.to_owned(),
        model: SCRIPTED.to_owned(),
        upstream: SCRIPTED.to_owned(),
        repeats: 1,
        concurrency: 2,
        seed: Some(SEED),
        timeout_multiplier: 1.0,
        agent_seconds: None,
        verifier_seconds: None,
        token_cap: None,
        rebuild_images: false,
        spending: SpendingCaps::default(),
        skill_delivery: SkillDelivery::Discovered,
        network: NetworkChoice::default(),
        stop: StopRule::default(),
    })
}
