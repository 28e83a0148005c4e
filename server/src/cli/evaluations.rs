//! `skilldelta evaluations`: lists what was run here, shows a result again, and cancels what is not finished; the same as on their pages.

use clap::{Args, Subcommand};
use domain::demonstration::Demonstration;
use domain::id::EvaluationId;
use domain::listing::EvaluationListing;
use domain::report::number;
use ops::Ops;
use serde::Serialize;

use super::eval::{show, unusable};
use super::{Exit, Failure, audit_table, is_there, table, terminal};
use crate::config::{CommonArgs, Config};
use crate::runtime::Runtime;

/// What to do with evaluations.
#[derive(Debug, Subcommand)]
pub enum EvaluationsCommand {
    /// List evaluations, newest first.
    List(ListArgs),
    /// Show a result as `eval` prints it at its end, or that of an audit as `audit` does.
    Show {
        /// The evaluation's number, as the list, its page and its JSON tell it.
        evaluation: EvaluationId,
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Cancel an evaluation or an audit that is not finished, so that nothing goes on with it. What is finished of it stays.
    Cancel {
        /// The evaluation's number, as the list, its page and its JSON tell it.
        evaluation: EvaluationId,
    },
}

/// Which evaluations to list.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// How many at most.
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    /// Go on after so many times the limit: 2 shows those that did not fit.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    page: u32,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// Carries it out.
///
/// # Errors
/// An evaluation that is not there, or is finished and cannot be cancelled (exit 2), or a data folder that is not there or in use.
pub async fn run(common: &CommonArgs, command: EvaluationsCommand) -> Result<Exit, Failure> {
    let config = Config::load(common).map_err(Failure::unusable)?;
    is_there(&config)?;
    let ops = Runtime::open(config, None).await?.ops;
    match command {
        EvaluationsCommand::List(args) => list(&ops, &args).await?,
        EvaluationsCommand::Show { evaluation, json } => {
            let json = json.then(|| "-".as_ref());
            if ops.planned(evaluation).await.map_err(unusable)?.kind.is_evaluation() {
                let report = ops.report(evaluation).await.map_err(unusable)?;
                show(&table::render(&report), json, &report)?;
            } else {
                let report = ops.audit(evaluation).await.map_err(unusable)?;
                show(&audit_table::render(&report, false), json, &report)?;
            }
        }
        EvaluationsCommand::Cancel { evaluation } => {
            ops.cancel(evaluation).await.map_err(unusable)?;
            terminal::line(&format!(
                "{evaluation} is cancelled; what was finished of it stays: skilldelta evaluations show {evaluation}"
            ));
        }
    }
    Ok(Exit::Done)
}

/// A part of the list.
#[derive(Debug, Serialize)]
struct Listed {
    evaluations: Vec<EvaluationListing>,
    /// How many there are in all.
    all: u32,
    page: u32,
    pages: u32,
}

async fn list(ops: &Ops, args: &ListArgs) -> Result<(), Failure> {
    let found = ops.evaluations(args.page, args.limit).await?;
    let listed = Listed { evaluations: found.evaluations, all: found.all, page: found.page, pages: found.pages };
    terminal::print(&if args.json {
        serde_json::to_string_pretty(&listed)? + "\n"
    } else {
        render(&listed, args.limit)
    })
}

/// Titles come last: they are of any length.
fn render(listed: &Listed, limit: u32) -> String {
    if listed.all == 0 {
        return "no evaluations yet; `skilldelta eval` runs one\n".to_owned();
    }
    let head = ["number", "planned", "state", "Δ", "verdict", "skill", "title"].map(str::to_owned);
    let rows: Vec<[String; 7]> = [head].into_iter().chain(listed.evaluations.iter().map(cells)).collect();
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..7).map(|column| width(column).unwrap_or_default()).collect();
    let line = |row: &[String; 7]| {
        let padded = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
            0 | 3 => format!("{cell:>width$}"),
            _ => format!("{cell:width$}"),
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect::<String>() + &foot(listed, limit)
}

fn cells(evaluation: &EvaluationListing) -> [String; 7] {
    let state: Vec<String> =
        [evaluation.counts.in_words()].into_iter().chain(evaluation.counts.missing_in_words()).collect();
    let skills: Vec<&str> = evaluation.skills.iter().map(|skill| skill.name.as_str()).collect();
    let imported = evaluation.imported.as_ref().map(|_| "imported, self-reported");
    let marks = evaluation.demonstration().map(Demonstration::word).into_iter().chain(imported);
    let marks: String = marks.map(|mark| format!(" ({mark})")).collect();
    [
        evaluation.id.to_string(),
        evaluation.created_at.to_string(),
        state.join(", "),
        number::points(evaluation.delta),
        evaluation.headline.word.clone(),
        skills.join(", "),
        format!("{}{marks}", evaluation.title),
    ]
}

/// How many there are, and how to see the others.
fn foot(listed: &Listed, limit: u32) -> String {
    let all = number::counted(listed.all, "evaluation");
    if listed.pages <= 1 {
        return format!("{all}\n");
    }
    let first = u64::from(listed.page - 1) * u64::from(limit) + 1;
    let last = (first + u64::from(limit) - 1).min(u64::from(listed.all));
    let next = match listed.page < listed.pages {
        true => format!("--page {} goes on, ", listed.page + 1),
        false => String::new(),
    };
    format!("{first} to {last} of {all}; {next}--limit {} shows all\n", listed.all)
}
