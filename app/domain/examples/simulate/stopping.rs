//! Evaluations that end early when their plan says so: what they then show, and what they spare.

use std::fmt::Write as _;

use domain::condition::{Flip, Pair};
use domain::stats::alpha::Alpha;
use domain::stats::counts::PairCounts;
use domain::stats::delta::delta;
use domain::stats::verdict::{DeltaVerdict, VerdictRule};
use domain::stop::{Seen, StopReason, StopRule, TaskSoFar, decide};

use crate::chance::{Chance, share};
use crate::coverage::per_cent;

/// How one evaluation ended.
pub struct Ended {
    pub why: Option<StopReason>,
    pub verdict: DeltaVerdict,
    /// Share of the planned pairs that ran.
    pub ran: f64,
}

/// Evaluations of a plan whose arms pass at the rates given, looked at whenever a pair is over.
pub fn evaluations(rule: StopRule, tasks: u32, repeats: u32, rates: [f64; 2], runs: u32) -> Vec<Ended> {
    let mut chance = Chance(73);
    (0..runs).filter_map(|_| run(rule, tasks, repeats, rates, &mut chance)).collect()
}

fn run(rule: StopRule, tasks: u32, repeats: u32, [without, with]: [f64; 2], chance: &mut Chance) -> Option<Ended> {
    let mut order: Vec<(u64, u32)> = (0..tasks * repeats).map(|pair| (chance.bits(), pair % tasks)).collect();
    order.sort_unstable();
    let planned = order.len() as f64;
    let mut so_far: Vec<TaskSoFar> =
        (0..tasks).map(|_| TaskSoFar { counts: PairCounts::default(), open: repeats }).collect();
    let mut ended = Vec::new();
    let (mut why, mut ran) = (None, 0.0);
    for (_, task) in order {
        let task = so_far.get_mut(usize::try_from(task).ok()?)?;
        task.counts.record(Flip::of(Pair { without: chance.uniform() < without, with: chance.uniform() < with }));
        task.open -= 1;
        if task.open == 0 {
            ended.push(task.counts);
        }
        ran += 1.0 / planned;
        why = decide(rule, &so_far, Alpha::FIVE_PERCENT);
        if why.is_some() {
            break;
        }
    }
    let counts: Vec<PairCounts> = so_far.iter().map(|task| task.counts).collect();
    let estimate = delta(&counts, Alpha::FIVE_PERCENT)?;
    let by_rule = VerdictRule::default();
    let verdict = if rule.evidence || why.is_some() {
        DeltaVerdict::anytime(&estimate, Seen::most(ended).signs(), why.is_some(), &by_rule)
    } else {
        DeltaVerdict::raw(&estimate, &by_rule)
    };
    Some(Ended { why, verdict, ran })
}

/// One line of the table.
pub fn row(rule: StopRule, tasks: u32, repeats: u32, rates: [f64; 2]) -> String {
    const RUNS: u32 = 1000;
    let ended = evaluations(rule, tasks, repeats, rates, RUNS);
    let told = |word: &str| per_cent(share(&ended, |one| one.verdict.word() == word));
    let name = match (rule.futility, rule.evidence) {
        (true, true) => "either",
        (true, false) => "futility",
        (false, true) => "evidence",
        (false, false) => "never",
    };
    let [without, with] = rates;
    let ran = ended.iter().map(|one| one.ran).sum::<f64>() / f64::from(RUNS);
    let early = share(&ended, |one| one.why.is_some());
    format!(
        "| {name} | {tasks} | {repeats} | {without} → {with} | {} | {} | {} | {} |\n",
        told("improves"),
        told("harms"),
        per_cent(early),
        per_cent(ran)
    )
}

pub fn early_ends() -> String {
    let mut text = "## Plans that may end early

What a plan with early stop tells, in % of 1,000 evaluations, and which share of its pairs it ran. With equal arms *Improves* and *Harms* together must stay
below 5 %.

| may stop for | tasks | repeats | rates | Improves | Harms | ended early | pairs run |
|---|---:|---:|---|---:|---:|---:|---:|
"
    .to_owned();
    for (tasks, repeats, rates) in
        [(40, 1, [0.5, 0.5]), (20, 3, [0.5, 0.5]), (40, 1, [0.3, 0.5]), (40, 1, [0.3, 0.9]), (20, 3, [0.3, 0.7])]
    {
        for (futility, evidence) in [(false, false), (true, false), (false, true), (true, true)] {
            let _ = write!(text, "{}", row(StopRule { futility, evidence }, tasks, repeats, rates));
        }
    }
    text
}
