//! `skilldelta audit`: whether tasks can be trusted, without a server. Runs `nop` and each task's own solution.

use std::path::PathBuf;

use clap::Args;
use domain::listing::AuditRequest;
use domain::task_audit::{AuditOutcome, AuditReport};

use super::eval::{self, unusable};
use super::task_choice::TaskChoice;
use super::{Exit, Failure, audit_table, progress};
use crate::config::{CommonArgs, Config};
use crate::runtime::Runtime;

/// Which tasks to audit, and how.
#[derive(Debug, Args)]
pub struct AuditArgs {
    /// Tasks: a task folder, or a folder of them. May be given several times.
    #[arg(required = true, value_name = "PATH")]
    tasks: Vec<PathBuf>,
    #[command(flatten)]
    choice: TaskChoice,
    /// Runs of `nop` and of the solution on each task. With one, flakiness cannot be seen.
    #[arg(short = 'k', long = "repeats", default_value_t = 2, value_name = "N")]
    repeats: u32,
    /// Trials at the same time.
    #[arg(long, default_value_t = 2, value_name = "N")]
    concurrency: u32,
    /// Draws the order of the trials; drawn itself where it is not given.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Multiplies the tasks' own limits.
    #[arg(long, default_value_t = 1.0, value_name = "X")]
    timeout_multiplier: f64,
    /// Build images again without the engine's cache.
    #[arg(long)]
    rebuild: bool,
    /// Name every test case, not only those that measure nothing, are broken or flaky.
    #[arg(long)]
    all_tests: bool,
    /// Write the audit as JSON; `-` = standard output.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs the audit. Exit 3 where a task is not to be trusted, 1 where that could not be found out.
///
/// # Errors
/// Unusable input (exit 2), or a run that could not be finished (exit 1).
pub async fn run(common: &CommonArgs, args: AuditArgs) -> Result<Exit, Failure> {
    let mut config = Config::load(common).map_err(Failure::unusable)?;
    config.max_concurrency = args.concurrency;
    let runtime = Runtime::open(config, None).await?;
    let request = AuditRequest {
        tasks: args.choice.tasks(&runtime.ops, &args.tasks, None).await?,
        repeats: args.repeats,
        concurrency: args.concurrency,
        seed: args.seed,
        timeout_multiplier: args.timeout_multiplier,
        rebuild_images: args.rebuild,
    };
    let scheduler = runtime.scheduler().await?;
    let queue = scheduler.status();
    let id = eval::told(runtime.ops.start_audit_or_go_on(&request).await.map_err(unusable)?, "audit");
    let report =
        eval::made(scheduler.alone(id), progress::follow_audit(&runtime.ops, id, queue), &format!("audit {id}"))
            .await?;
    eval::show(&audit_table::render(&report, args.all_tests), args.json.as_deref(), &report)?;
    Ok(conclude(&report))
}

/// What is known to be wrong with a task weighs more than what is not known.
fn conclude(report: &AuditReport) -> Exit {
    let undecided = report.count(AuditOutcome::Undecided);
    let trusted = report.tasks.iter().filter(|task| task.trusted == Some(true)).count();
    match report.tasks.len() - trusted - undecided {
        0 if undecided == 0 => Exit::Done,
        0 => Exit::Failed,
        _ => Exit::Condition,
    }
}
