//! `skilldelta eval`: one paired evaluation from start to result, without a server.

use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::{Args, ValueEnum};
use domain::finding::Finding;
use domain::id::EvaluationId;
use domain::listing::{PlanRequest, Refused};
use domain::network::NetworkChoice;
use domain::plan::SkillDelivery;
use domain::report::EvaluationReport;
use domain::spending::SpendingCaps;
use domain::stop::StopRule;
use domain::task::NetworkPolicy;
use engine::agent::command::NAME as COMMAND;
use ops::{Ops, OpsError, Started};
use tokio_util::sync::CancellationToken;

use super::arms::{ArmArgs, Chosen};
use super::beside::Beside;
use super::fail_if::{self, FailIf};
use super::interrupt::interrupted;
use super::task_choice::TaskChoice;
use super::{Exit, Failure, progress, table, terminal};
use crate::config::{CommonArgs, Config};
use crate::runtime::Runtime;
use crate::scheduler::Scheduler;

/// What to evaluate, and how.
#[derive(Debug, Args)]
pub struct EvalArgs {
    #[command(flatten)]
    arms: ArmArgs,
    /// Tasks: a task folder, a folder of them, or an evals.json. May be given several times.
    #[arg(long, required = true, num_args = 1.., value_name = "PATH")]
    tasks: Vec<PathBuf>,
    #[command(flatten)]
    choice: TaskChoice,
    /// Who solves the tasks: bash, oracle, nop, command, or an installed agent (NAME or NAME@VERSION; see `skilldelta agents`).
    #[arg(long, value_name = "NAME")]
    agent: String,
    /// What the `command` agent runs in the container, by `sh -c`.
    #[arg(long, value_name = "SHELL COMMAND")]
    command: Option<String>,
    /// The model that the agent calls.
    #[arg(long, default_value = "", value_name = "NAME")]
    model: String,
    /// The configured upstream that serves the model: anthropic, scripted, or a name of your own.
    #[arg(long, default_value = "", value_name = "NAME")]
    upstream: String,
    /// Repeats of each task in each arm.
    #[arg(short = 'k', long = "repeats", default_value_t = 1, value_name = "N")]
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
    /// Seconds that agents get in place of their tasks' own limit.
    #[arg(long, value_name = "SECONDS")]
    agent_timeout: Option<u64>,
    /// Seconds that verifiers get in place of their tasks' own limit.
    #[arg(long, value_name = "SECONDS")]
    verifier_timeout: Option<u64>,
    /// Most tokens a trial may use.
    #[arg(long, value_name = "N")]
    token_cap: Option<u64>,
    /// Most model calls a trial may make.
    #[arg(long, value_name = "N")]
    call_cap: Option<u64>,
    /// Most money a trial's tokens may cost, by the price table.
    #[arg(long, value_name = "AMOUNT")]
    money_cap: Option<f64>,
    /// Most tokens that all trials together may use.
    #[arg(long, value_name = "N")]
    evaluation_token_cap: Option<u64>,
    /// Most money that all trials' tokens together may cost, by the price table.
    #[arg(long, value_name = "AMOUNT")]
    evaluation_money_cap: Option<f64>,
    /// Put the skills' text into the prompt of the with-skill arm instead of where the agent looks for skills: for agents that look for none.
    /// The results are those of another actor, and say so.
    #[arg(long)]
    inject_skills: bool,
    /// What the agent may reach instead of what the tasks say: none, model-only, public, or allow:HOST[:PORT],…
    #[arg(long, value_name = "NETWORK")]
    agent_network: Option<NetworkPolicy>,
    /// What the verifier may reach instead of what the tasks say: none, public, or allow:HOST[:PORT],…
    #[arg(long, value_name = "NETWORK")]
    verifier_network: Option<NetworkPolicy>,
    /// Most model calls that all trials together may make.
    #[arg(long, value_name = "N")]
    evaluation_call_cap: Option<u64>,
    /// Most seconds that a trial's agent may take, whatever its task allows.
    #[arg(long, value_name = "SECONDS")]
    time_cap: Option<u64>,
    /// Seconds after which no further trial is begun.
    #[arg(long, value_name = "SECONDS")]
    evaluation_time_cap: Option<u64>,
    /// End early when nothing that is left could make a difference (futility), or when the evidence suffices; the verdict then rests on the e-value.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHEN")]
    stop_early: Vec<StopEarly>,
    /// Build images again without the engine's cache.
    #[arg(long)]
    rebuild: bool,
    /// Put the result under the task set of this name on the leaderboard; all of --tasks are the set if there is none yet.
    #[arg(long, value_name = "NAME")]
    task_set: Option<String>,
    /// Write the result as JSON; `-` = standard output.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Exit with 3 if this holds of the result, as verdict=harms, delta_high<0 or broken>=1. May be given several times.
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<FailIf>,
}

/// When an evaluation may end before all of its trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StopEarly {
    Futility,
    Evidence,
}

/// Runs the evaluation.
///
/// # Errors
/// Unusable input (exit 2), or a run that could not be finished (exit 1).
pub async fn run(common: &CommonArgs, args: EvalArgs) -> Result<Exit, Failure> {
    let mut config = Config::load(common).map_err(Failure::unusable)?;
    config.max_concurrency = args.concurrency;
    let runtime = Runtime::open(config, args.command.as_deref()).await?;
    let request = plan(&runtime.ops, &args).await?;
    // Nothing is stored for a later start to run before it is known that it can be run here.
    let scheduler = runtime.scheduler().await?;
    let queue = scheduler.status();
    let started = runtime.ops.start_or_go_on(&request).await.map_err(unusable)?;
    let id = told(started, "evaluation");
    let report =
        made(scheduler.alone(id), progress::follow(&runtime.ops, id, queue), &format!("evaluation {id}")).await?;
    show(&table::render(&report), args.json.as_deref(), &report)?;
    Ok(conclude(&report, &args.fail_if))
}

/// Says where something is gone on with, and answers which it is.
pub(super) fn told(started: Started, what: &str) -> EvaluationId {
    match started {
        Started::New(id) => id,
        Started::GoesOn(id) => {
            terminal::tell(&format!(
                "{what} {id}, of the same plan, was interrupted and goes on; with another --seed a new one is started"
            ));
            id
        }
        Started::Afresh { id, given_up } => {
            terminal::tell(&format!(
                "{what} {given_up}, of the same plan, was denied its model and is given up; {what} {id} is started in its place"
            ));
            id
        }
    }
}

/// Lets the scheduler run until `followed` has come to its end; `what` is what is made.
pub(super) async fn made<T>(
    scheduler: Scheduler,
    followed: impl Future<Output = ops::Result<T>>,
    what: &str,
) -> Result<T, Failure> {
    let work = async {
        tokio::select! {
            outcome = followed => outcome.map_err(Failure::from),
            () = interrupted() => {
                Err(anyhow!("interrupted; finished trials are kept, and the same command goes on with {what}").into())
            }
        }
    };
    Beside::start(scheduler, &CancellationToken::new()).until(work).await
}

/// What to start, checked; says what is worth knowing before it is.
async fn plan(ops: &Ops, args: &EvalArgs) -> Result<PlanRequest, Failure> {
    if args.agent == COMMAND && args.command.is_none() {
        return Err(Failure::unusable(anyhow!("the agent 'command' runs a command of yours; give it with --command")));
    }
    let Chosen { skills, baseline, distractors } = args.arms.choose(ops).await?;
    let tasks = args.choice.tasks(ops, &args.tasks, args.task_set.as_deref()).await?;
    let request = PlanRequest {
        title: String::new(),
        skills,
        baseline,
        distractors,
        tasks,
        task_set: args.task_set.clone(),
        agent: args.agent.clone(),
        model: args.model.clone(),
        upstream: args.upstream.clone(),
        repeats: args.repeats,
        concurrency: args.concurrency,
        seed: args.seed,
        timeout_multiplier: args.timeout_multiplier,
        agent_seconds: args.agent_timeout,
        verifier_seconds: args.verifier_timeout,
        token_cap: args.token_cap,
        rebuild_images: args.rebuild,
        spending: SpendingCaps {
            trial_calls: args.call_cap,
            trial_money: args.money_cap,
            evaluation_tokens: args.evaluation_token_cap,
            evaluation_money: args.evaluation_money_cap,
            trial_seconds: args.time_cap,
            evaluation_calls: args.evaluation_call_cap,
            evaluation_seconds: args.evaluation_time_cap,
        },
        stop: StopRule {
            futility: args.stop_early.contains(&StopEarly::Futility),
            evidence: args.stop_early.contains(&StopEarly::Evidence),
        },
        skill_delivery: if args.inject_skills { SkillDelivery::InPrompt } else { SkillDelivery::Discovered },
        network: NetworkChoice { agent: args.agent_network.clone(), verifier: args.verifier_network.clone() },
    };
    let card = ops.plan(&request).await.map_err(unusable)?;
    say(&card.findings);
    terminal::tell(&format!("{}: {} trials. {}", card.compared, card.trials, card.advice));
    Ok(request)
}

pub(super) fn refuse(refused: &[Refused]) -> Result<(), Failure> {
    if refused.is_empty() {
        return Ok(());
    }
    for input in refused {
        terminal::tell(&format!("{} cannot be used:", input.path));
        input.findings.iter().for_each(|finding| terminal::tell(&format!("  {finding}")));
    }
    Err(Failure::unusable(anyhow!("{} of the inputs cannot be used; mend or leave them out", refused.len())))
}

pub(super) fn say(findings: &[Finding]) {
    findings
        .iter()
        .filter(|finding| finding.severity > domain::finding::Severity::Note)
        .for_each(|finding| terminal::tell(&finding.to_string()));
}

pub(super) fn unusable(error: OpsError) -> Failure {
    match error {
        OpsError::Invalid { .. } | OpsError::NotFound { .. } | OpsError::TooLarge { .. } => Failure::unusable(error),
        OpsError::Store(_) | OpsError::Internal { .. } => error.into(),
    }
}

/// Gives a result: the JSON into its file, and the text, or with `-` the JSON, to standard output.
pub(super) fn show(text: &str, json: Option<&std::path::Path>, report: &impl serde::Serialize) -> Result<(), Failure> {
    let Some(path) = json else { return terminal::print(text) };
    let json = serde_json::to_string_pretty(report)? + "\n";
    if path.as_os_str() == "-" {
        return terminal::print(&json);
    }
    // Written beside and then moved, so that a reader never meets half a file.
    let beside = path.with_extension("json.part");
    std::fs::write(&beside, json)
        .and_then(|()| std::fs::rename(&beside, path))
        .with_context(|| format!("the result could not be written to {}", path.display()))?;
    terminal::print(text)
}

/// A run of which nothing could be scored has failed; else the conditions decide.
fn conclude(report: &EvaluationReport, conditions: &[FailIf]) -> Exit {
    if report.totals.pairs_complete == 0 {
        return Exit::Failed;
    }
    fail_if::concluded(conditions, &report.totals)
}
