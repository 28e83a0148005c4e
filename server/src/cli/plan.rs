//! `skilldelta plan`: what an evaluation of so many tasks and repeats takes and can show, before anything is spent.

use anyhow::anyhow;
use clap::Args;
use domain::id::EvaluationId;
use domain::planner::{Expected, Needed, Noise, PastRuns, PlanEstimate, PlannedRun, Wanted};
use domain::report::number;

use super::eval::unusable;
use super::{Exit, Failure, is_there, terminal};
use crate::config::{CommonArgs, Config};
use crate::runtime::Runtime;

/// Most tasks and repeats that can be planned.
const MOST: u32 = 100_000;

/// What is planned, and what is known.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Number of tasks; may be left out with --delta, which then says how many it takes.
    #[arg(long, value_name = "N", required_unless_present = "delta", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST)))]
    tasks: Option<u32>,
    /// The effect that is to be found, in percentage points: 10 where a pass rate rises from 50 % to 60 %. Says what finds it in 4 of 5
    /// evaluations.
    #[arg(long, value_name = "POINTS", value_parser = points)]
    delta: Option<f64>,
    /// Repeats of each task in each arm.
    #[arg(short = 'k', long = "repeats", default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: u32,
    /// Trials at the same time.
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    concurrency: u32,
    /// Share of pairs that flip although both arms are alike, as an A/A evaluation shows it; half of them count as broken.
    #[arg(long, value_name = "SHARE", conflicts_with = "broken_rate", value_parser = share)]
    flip_rate: Option<f64>,
    /// Share of pairs that the skill will break; 0.05 where neither this nor history says.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    broken_rate: Option<f64>,
    /// Share of a single repeat's noise that lies within tasks, so that repeats average it out.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    within_share: Option<f64>,
    /// Finished evaluations to learn tokens, time and noise from.
    #[arg(long, value_name = "EVALUATION", value_delimiter = ',')]
    from: Vec<EvaluationId>,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

fn points(text: &str) -> Result<f64, String> {
    let right = |points: &f64| (1.0..=100.0).contains(points);
    text.trim().parse().ok().filter(right).map(|points| points / 100.0).ok_or_else(|| {
        "write percentage points from 1 to 100, such as 10 where a pass rate rises from 50 % to 60 %".to_owned()
    })
}

fn share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "write a share from 0 to 1, such as 0.1".to_owned())
}

/// Estimates and prints.
///
/// # Errors
/// Evaluations that are not there or have nothing to learn from, or an effect that no number of tasks finds (exit 2).
pub async fn run(common: &CommonArgs, args: PlanArgs) -> Result<Exit, Failure> {
    let past = past(common, &args.from).await?;
    let noise = noise(&args, &past);
    let of = |tasks: u32| {
        let tasks = vec![None; usize::try_from(tasks).unwrap_or(usize::MAX)];
        PlanEstimate::of(&PlannedRun { tasks, repeats: args.repeats, concurrency: args.concurrency }, &past, noise)
    };
    let estimate = match (args.tasks, args.delta) {
        (Some(tasks), None) => of(tasks),
        (Some(tasks), Some(delta)) => of(tasks).wanting(delta),
        (None, None) => {
            return Err(Failure::unusable(anyhow!(
                "say how many tasks with --tasks, or what is to be found with --delta"
            )));
        }
        (None, Some(delta)) => {
            let wanted = Wanted::of(&of(1).power, delta);
            let tasks = wanted.needed.tasks.ok_or_else(|| Failure::unusable(anyhow!(wanted.words(&of(1).power))))?;
            of(tasks).wanting(delta)
        }
    };
    terminal::print(&if args.json { serde_json::to_string_pretty(&estimate)? + "\n" } else { render(&estimate) })?;
    Ok(Exit::Done)
}

async fn past(common: &CommonArgs, from: &[EvaluationId]) -> Result<PastRuns, Failure> {
    if from.is_empty() {
        return Ok(PastRuns::default());
    }
    let config = Config::load(common).map_err(Failure::unusable)?;
    is_there(&config)?;
    Runtime::open(config, None).await?.ops.past_runs(from).await.map_err(unusable)
}

/// What was said counts before what was learnt.
fn noise(args: &PlanArgs, past: &PastRuns) -> Option<Noise> {
    let said = args.broken_rate.or(args.flip_rate.map(|rate| rate / 2.0));
    if said.is_none() && args.within_share.is_none() {
        return None;
    }
    let learnt = past.noise().unwrap_or(Noise::GUESS);
    Some(Noise {
        broken_rate: said.unwrap_or(learnt.broken_rate),
        within_share: args.within_share.or(learnt.within_share),
    })
}

fn render(estimate: &PlanEstimate) -> String {
    let power = &estimate.power;
    let amount = |amount: Option<Expected>, shown: fn(f64) -> String| match amount {
        None => "not known: name finished evaluations with --from".to_owned(),
        Some(Expected { low, expected, high }) => {
            format!("{} expected, 8 of 10 such plans from {} to {}", shown(expected), shown(low), shown(high))
        }
    };
    let mut lines = vec![
        format!(
            "{} trials: {} × {} × 2 arms",
            estimate.trials,
            number::counted(power.tasks, "task"),
            number::counted(power.repeats, "repeat")
        ),
        format!("tokens  {}", amount(estimate.tokens, |tokens| number::tokens(Some(tokens)))),
        format!("time    {}", amount(estimate.seconds, |seconds| number::duration(Some((seconds * 1000.0) as u64)))),
        format!(
            "noise   {} of pairs broken{}; share within tasks {}",
            number::percent(Some(power.noise.broken_rate)),
            if power.guessed { " (a guess)" } else { "" },
            number::percent(power.noise.within_share),
        ),
        format!(
            "power   {}",
            if power.exact {
                "exact, McNemar at α = 5 %"
            } else {
                "approximate: repeats count as tasks by the share of noise within tasks"
            }
        ),
        String::new(),
        format!("{:>10}  {:>8}  {:>22}  {:>24}", "true Δ", "found in", "tasks for 4 of 5", "or repeats of these"),
    ];
    lines.extend(power.curve.iter().map(|point| {
        let needed = power.needed.iter().find(|needed| (needed.delta - point.delta).abs() < 1e-9);
        let cell = |of: fn(&Needed) -> Option<u32>| {
            needed.map_or_else(String::new, |needed| {
                of(needed).map_or_else(|| number::UNKNOWN.to_owned(), |n| n.to_string())
            })
        };
        let (delta, found) = (number::points(Some(point.delta)), number::percent(Some(point.power)));
        let line = format!(
            "{delta:>10}  {found:>8}  {:>22}  {:>24}",
            cell(|needed| needed.tasks),
            cell(|needed| needed.repeats)
        );
        line.trim_end().to_owned()
    }));
    lines.extend([String::new(), estimate.advice.clone(), String::new()]);
    lines.join("\n")
}
