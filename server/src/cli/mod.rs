//! The command line. Exit codes: 0 done, 1 failed, 2 unusable input, 3 a condition of `--fail-if` holds, or an audited task is not to be
//! trusted.

mod agents;
mod analyze;
mod arms;
mod audit;
mod audit_table;
mod beside;
mod check;
mod doctor;
mod eval;
mod evaluations;
mod example;
mod export;
mod fail_if;
mod images;
mod import;
mod interrupt;
mod leaderboard;
mod plan;
mod progress;
mod repositories;
mod sarif;
mod serve;
mod table;
mod task_choice;
mod terminal;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::config::{CommonArgs, Config};

/// Skilldelta tells whether an agent skill helps: paired trials without and with it, in containers, judged by each task's own tests.
#[derive(Debug, Parser)]
#[command(name = "skilldelta", version)]
pub struct Cli {
    #[command(flatten)]
    common: CommonArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the pages and run what is started there.
    Serve(serve::ServeArgs),
    /// Run one paired evaluation without a server, and print its result.
    Eval(Box<eval::EvalArgs>),
    /// Find out whether tasks can be trusted: run nothing and each task's own solution on them, and print what the tests say.
    Audit(audit::AuditArgs),
    /// Tell all findings for skills, tasks, or a whole checkout. Stores nothing.
    Check(check::CheckArgs),
    /// The evaluations that were run: list them, show a result again, and cancel what is not finished.
    #[command(subcommand)]
    Evaluations(evaluations::EvaluationsCommand),
    /// Write an evaluation as JSON, CSV, Markdown, one HTML page, ATIF traces, or in the form of another runner.
    Export(export::ExportArgs),
    /// Take in results of other runners; they stay marked as imported.
    Import(import::ImportArgs),
    /// Publish the leaderboard, list what was published, or write its rows as a file.
    #[command(subcommand)]
    Leaderboard(leaderboard::LeaderboardCommand),
    /// Analyze a file of trials (JSON lines, JSON or CSV), whatever program made it. Stores nothing.
    Analyze(Box<analyze::AnalyzeArgs>),
    /// Install real agents, and list them.
    #[command(subcommand)]
    Agents(agents::AgentsCommand),
    /// The images that were built for tasks: list them, and remove those that were not used for long.
    #[command(subcommand)]
    Images(images::ImagesCommand),
    /// The commits that were fetched for tasks and skills: list them, and remove those that were not used for long.
    #[command(subcommand)]
    Repositories(repositories::RepositoriesCommand),
    /// Say what so many tasks and repeats take and can show, before anything is spent.
    Plan(plan::PlanArgs),
    /// Say what of the environment works, and how to mend what does not.
    Doctor,
}

/// The exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All is done.
    Done,
    /// It could not be done, or something that was checked is not in order.
    Failed,
    /// What was given cannot be used.
    Unusable,
    /// A condition of `--fail-if` holds, or an audited task is not to be trusted.
    Condition,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Unusable => 2,
            Exit::Condition => 3,
        })
    }
}

/// What a command failed with, and the exit code that goes with it.
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    error: anyhow::Error,
}

/// A command that only looks makes no data folder.
fn is_there(config: &Config) -> Result<(), Failure> {
    if config.data.is_dir() {
        return Ok(());
    }
    let place = config.data.display();
    Err(Failure::unusable(anyhow::anyhow!(
        "there is no data folder {place}; name the one that was used before with --data"
    )))
}

impl Failure {
    /// The input cannot be used as it is.
    pub fn unusable(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Unusable, error: error.into() }
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { exit: Exit::Failed, error: error.into() }
    }
}

/// Loggers that are heard from warnings on only, whatever is asked for: they would write secrets.
const SILENCED: [&str; 1] = ["bollard=warn"];

/// Runs a command to its exit code.
#[must_use]
pub fn run(cli: Cli) -> ExitCode {
    start_log(matches!(cli.command, Command::Serve(_)));
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: the program could not start its threads: {error}");
            return Exit::Failed.into();
        }
    };
    let outcome = runtime.block_on(async {
        match cli.command {
            Command::Serve(args) => serve::run(&cli.common, args).await,
            Command::Eval(args) => eval::run(&cli.common, *args).await,
            Command::Audit(args) => audit::run(&cli.common, args).await,
            Command::Check(args) => check::run(&cli.common, &args).await,
            Command::Evaluations(command) => evaluations::run(&cli.common, command).await,
            Command::Export(args) => export::run(&cli.common, args).await,
            Command::Import(args) => import::run(&cli.common, args).await,
            Command::Leaderboard(command) => leaderboard::run(&cli.common, command).await,
            Command::Analyze(args) => analyze::run(&args),
            Command::Agents(command) => agents::run(&cli.common, command).await,
            Command::Images(command) => images::run(&cli.common, command).await,
            Command::Repositories(command) => repositories::run(&cli.common, command).await,
            Command::Plan(args) => plan::run(&cli.common, args).await,
            Command::Doctor => doctor::run(&cli.common).await,
        }
    });
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => {
            terminal::tell(&format!("error: {:#}", failure.error));
            failure.exit.into()
        }
    }
}

fn start_log(serving: bool) {
    use std::io::IsTerminal as _;

    use tracing_subscriber::EnvFilter;
    let default = if serving { "info,hyper=warn,sqlx=warn" } else { "warn" };
    let filter = EnvFilter::try_from_env("SKILLDELTA_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    // The engine's client writes whole requests and answers into its log, commands and environments among them.
    let filter = SILENCED.iter().filter_map(|directive| directive.parse().ok()).fold(filter, EnvFilter::add_directive);
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    log.with_ansi(std::io::stderr().is_terminal()).init();
}
