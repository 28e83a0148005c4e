//! How sure the result is: chance, other ways to count, what may bias it, and what it would take to know more.

use domain::analysis::{ActivatedOnly, ClusteredDelta, ErrorRates, MoreOf, ResultDetail, TestCaseTotals};
use domain::condition::Condition;
use domain::report::EvaluationReport;
use leptos::prelude::*;

use crate::components::arms::name;
use crate::format::{
    UNKNOWN, change, change_interval, count, how_often, p_value, percent, plural, points, points_interval,
};

/// One way to look at it: its name, its number, what that says.
struct Item {
    name: &'static str,
    number: String,
    says: String,
    /// What to beware of.
    beware: Option<String>,
}

/// The list.
#[component]
pub fn HowSure(report: EvaluationReport) -> impl IntoView {
    let items = report.detail.as_deref().map(|detail| items(&report, detail)).unwrap_or_default();
    let one = |item: Item| {
        view! {
            <div class="sure-item">
                <dt>{item.name}</dt>
                <dd>
                    <b class="num">{item.number}</b>
                    <span>{item.says}</span>
                    {item.beware.map(|words| view! { <span class="beware">{words}</span> })}
                </dd>
            </div>
        }
    };
    view! {
        <section class="section" id="how-sure">
            <h2>"How sure is this?"</h2>
            <dl class="sure">{items.into_iter().map(one).collect_view()}</dl>
        </section>
    }
}

fn items(report: &EvaluationReport, detail: &ResultDetail) -> Vec<Item> {
    let chance = chance(report, detail);
    let interval = report.totals.delta_ci.map(|ci| Item {
        name: "The interval of Δ",
        number: points_interval(ci),
        says: format!(
            "If the evaluation were repeated many times, at least about 95 of 100 such intervals would hold the true Δ. {}",
            detail.ci_method.map(|method| format!("Method: {}.", method.name())).unwrap_or_default()
        ),
        beware: None,
    });
    let others = [
        detail.clustered.as_ref().map(clustered),
        detail.activated_only.as_ref().filter(|only| only.pairs < report.totals.pairs_complete).map(activated),
        detail.test_cases.as_ref().map(cases),
        detail.error_rates.as_ref().map(errors),
        gain(report, detail).filter(|_| report.comparison.kind.is_of_a_skill()),
        rho(detail),
        Some(more(detail.more.as_ref(), report.repeats)),
    ];
    [chance, interval].into_iter().chain(others).flatten().collect()
}

fn chance(report: &EvaluationReport, detail: &ResultDetail) -> Option<Item> {
    let p = report.totals.p_value?;
    let mid = report.totals.p_mid.map(|p| format!(" Mid-p: {}.", p_value(Some(p)))).unwrap_or_default();
    Some(Item {
        name: "Could it be chance?",
        number: format!("p = {}", p_value(Some(p))).replace("= <", "<"),
        says: format!(
            "{}, a difference at least as large as this one would come up in {} such runs.{} It counts as shown from 5 in 100 down.{mid}",
            if report.comparison.kind.is_of_a_skill() {
                "If the skill changed nothing at all"
            } else {
                "As both arms are the same"
            },
            how_often(p),
            detail.test.map(|test| format!(" Test: {}.", test.name())).unwrap_or_default(),
        ),
        beware: None,
    })
}

fn clustered(clustered: &ClusteredDelta) -> Item {
    let verdict = clustered.verdict.map(|verdict| verdict.to_string()).unwrap_or_default();
    let errors = clustered.se.zip(clustered.se_unclustered).map(|(se, plain)| {
        format!(
            " Standard error {}, as if every task stood alone {}.",
            points(Some(se)).replace('+', ""),
            points(Some(plain)).replace('+', "")
        )
    });
    let warning = clustered.warning();
    Item {
        name: "Tasks of one repository taken together",
        number: clustered.ci.map_or_else(|| UNKNOWN.to_owned(), points_interval),
        says: format!(
            "Tasks of one repository are alike, so they tell less than as many that stand alone. With {} as the unit: {verdict}, p = {}.{}",
            plural(u64::from(clustered.clusters), "repository", "repositories"),
            p_value(Some(clustered.p_value)),
            errors.unwrap_or_default()
        ),
        beware: (!warning.is_empty()).then_some(warning),
    }
}

fn activated(activated: &ActivatedOnly) -> Item {
    Item {
        name: "Only pairs whose agent opened the skill",
        number: points(Some(activated.delta)),
        says: format!(
            "95 % interval {}, over {} of {}. The result above counts every pair, opened or not.",
            points_interval(activated.delta_ci),
            plural(activated.pairs, "pair", "pairs"),
            plural(u64::from(activated.tasks), "task", "tasks"),
        ),
        beware: Some(activated.warning.clone()),
    }
}

fn cases(cases: &TestCaseTotals) -> Item {
    let flips = cases
        .rescued
        .zip(cases.broken)
        .map(|(rescued, broken)| format!(" {} rescued, {} broken.", count(rescued), count(broken)))
        .unwrap_or_default();
    let interval = cases.delta_ci.map(|ci| format!(", 95 % interval {}", points_interval(ci))).unwrap_or_default();
    Item {
        name: "Counted in test cases",
        number: points(Some(cases.delta)),
        says: format!(
            "{} → {} of {}{interval}.{flips}",
            percent(Some(cases.pass_rate_without)),
            percent(Some(cases.pass_rate_with)),
            plural(cases.cases, "test case", "test cases"),
        ),
        beware: Some(cases.warning.clone()),
    }
}

fn errors(rates: &ErrorRates) -> Item {
    Item {
        name: "Trials that could not be scored",
        number: format!("{} and {}", rates.troubled_without, rates.troubled_with),
        says: format!(
            "Of {} {} and {} {} trials (Fisher p = {}). They are left out of Δ.",
            rates.trials_without,
            name(Condition::NoSkill),
            rates.trials_with,
            name(Condition::WithSkill),
            p_value(Some(rates.p_value))
        ),
        beware: rates.differ.then(|| {
            "Trouble did not hit both arms alike, so what was left out may bias Δ: run those trials again.".to_owned()
        }),
    }
}

fn gain(report: &EvaluationReport, detail: &ResultDetail) -> Option<Item> {
    // A share of what could be gained says nothing of a loss.
    report.totals.delta.filter(|delta| *delta >= 0.0)?;
    Some(match detail.normalized_gain {
        Some(gain) => Item {
            name: "Of what could be gained",
            number: change(Some(gain)),
            says: "Δ divided by the share of tasks that fail in the baseline arm.".to_owned(),
            beware: None,
        },
        None => Item {
            name: "Of what could be gained",
            number: UNKNOWN.to_owned(),
            says: "Every task already passes in the baseline arm, so the other could only break something.".to_owned(),
            beware: Some("At ceiling: choose harder tasks to see a gain.".to_owned()),
        },
    })
}

fn rho(detail: &ResultDetail) -> Option<Item> {
    use domain::stats::ratio::RatioCi;
    let rho = detail.rho?;
    let (interval, beware) = match rho.ci {
        RatioCi::Bounded { log_delta, fieller } => (
            format!("95 % interval {}; by Fieller's method {}.", change_interval(log_delta), change_interval(fieller)),
            None,
        ),
        RatioCi::Unbounded => {
            (String::new(), Some("The tokens vary so much that no interval can be given: more tasks are needed."))
        }
        RatioCi::OneTask => (String::new(), Some("One task has no spread to judge from: there is no interval.")),
        RatioCi::NoSpread => (String::new(), Some("All tasks have exactly the same ratio: there is no interval.")),
    };
    let typical = rho.geometric_rho.map(|typical| {
        format!(" A typical task (geometric mean, not swayed by one big task): {}.", change(Some(typical)))
    });
    Some(Item {
        name: "Token overhead ρ",
        number: change(Some(rho.rho)),
        says: format!(
            "All tokens of one arm ÷ all tokens of the baseline − 1. {interval}{}",
            typical.unwrap_or_default()
        ),
        beware: beware.map(str::to_owned),
    })
}

fn more(more: Option<&MoreOf>, repeats: u32) -> Item {
    let half = |share: f64| points(Some(share)).replace('+', "±");
    match more {
        Some(more) => Item {
            name: "More tasks or more repeats?",
            number: half(more.now),
            says: format!(
                "is about what Δ is uncertain by now; with twice as many tasks {}, with twice as many repeats {}. {}",
                half(more.twice_the_tasks),
                half(more.twice_the_repeats),
                more.advice()
            ),
            beware: None,
        },
        None => Item {
            name: "More tasks or more repeats?",
            number: "more tasks".to_owned(),
            says: if repeats == 1 {
                "Each task ran once in each arm, so it is unknown how much a task varies by itself. Four times as many tasks halve the interval."
            } else {
                "The repeats say the same everywhere, or there are too few tasks to tell. Four times as many tasks halve the interval."
            }
            .to_owned(),
            beware: None,
        },
    }
}
