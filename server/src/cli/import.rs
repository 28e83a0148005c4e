//! `skilldelta import`: results of other runners, and of other Skilldeltas.

use std::path::PathBuf;

use clap::Args;
use domain::finding::{Finding, Severity};
use domain::imported::{ImportIntake, ResultFormat};
use ops::OpsError;

use super::eval::unusable;
use super::{Exit, Failure, terminal};
use crate::config::{CommonArgs, Config};
use crate::runtime::Runtime;

/// What to import.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// A results file or folder, as its runner left it.
    path: PathBuf,
    /// auto, skilldelta, swe-skills-bench, agentcompass, evalscope, harbor or skill-creator.
    #[arg(long, default_value = "auto", value_name = "FORMAT", value_parser = format)]
    format: Wanted,
    /// Print JSON instead of lines.
    #[arg(long)]
    json: bool,
}

/// `auto`, or one format.
#[derive(Debug, Clone, Copy)]
struct Wanted(Option<ResultFormat>);

fn format(word: &str) -> Result<Wanted, String> {
    if word == "auto" {
        return Ok(Wanted(None));
    }
    let words = ResultFormat::ALL.map(ResultFormat::word).join(", ");
    ResultFormat::from_word(word).map(|format| Wanted(Some(format))).ok_or_else(|| format!("there are: auto, {words}"))
}

/// Imports, and says what went in, what did not, and why.
///
/// # Errors
/// A source that cannot be used (exit 2), with all that is wrong with it; or trouble with the data folder (exit 1).
pub async fn run(common: &CommonArgs, args: ImportArgs) -> Result<Exit, Failure> {
    let config = Config::load(common).map_err(Failure::unusable)?;
    let runtime = Runtime::open(config, None).await?;
    match runtime.ops.import(&args.path, args.format.0).await {
        Ok(intake) if args.json => terminal::print(&(serde_json::to_string_pretty(&intake)? + "\n"))?,
        Ok(intake) => print(&intake)?,
        Err(error) => {
            if let OpsError::Invalid { findings, .. } = &error {
                findings.iter().for_each(|finding| terminal::tell(&finding.to_string()));
            }
            return Err(unusable(error));
        }
    }
    Ok(Exit::Done)
}

fn print(intake: &ImportIntake) -> Result<(), Failure> {
    for evaluation in &intake.accepted {
        let known = if evaluation.is_new { "" } else { " (imported before)" };
        terminal::print(&format!(
            "evaluation {}: {}{known}; tasks {}, trials {}, complete pairs {}; imported from {}, self-reported\n",
            evaluation.id,
            evaluation.title,
            evaluation.tasks,
            evaluation.trials,
            evaluation.pairs_complete,
            evaluation.format.runner(),
        ))?;
        say(&evaluation.findings)?;
    }
    say(&intake.findings)
}

fn say(findings: &[Finding]) -> Result<(), Failure> {
    for finding in findings {
        match finding.severity {
            Severity::Note => terminal::print(&format!("  {finding}\n"))?,
            Severity::Warning | Severity::Error => terminal::tell(&format!("  {finding}")),
        }
    }
    Ok(())
}
