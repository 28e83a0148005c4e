//! What the trials of both arms used: tokens by class as counted on the wire, calls, money, and how far the skill was used.

use domain::condition::{Condition, Pair};
use domain::report::{ArmUsage, EvaluationReport, SkillUse, Told};
use leptos::prelude::*;

use crate::components::arms::{ArmName, name};
use crate::format::{UNKNOWN, change, count, money, plural, signed, tokens};

/// One line of the table: its name, what is meant, and the value of an arm.
type Line = (&'static str, &'static str, fn(&ArmUsage) -> Option<f64>, fn(Option<f64>) -> String);

/// Values are per trial, so that the arms compare.
const LINES: [Line; 8] = [
    ("Tokens", "all classes", |arm| arm.per_trial(arm.usage.total().map(|n| n as f64)), tokens),
    ("· input", "neither read from nor written to a cache", |arm| per(arm, arm.usage.input), tokens),
    ("· cache read", "prompt that the provider had kept", |arm| per(arm, arm.usage.cache_read), tokens),
    ("· cache write", "prompt that it was to keep", |arm| per(arm, arm.usage.cache_write), tokens),
    ("· output", "what the model wrote, reasoning included", |arm| per(arm, arm.usage.output), tokens),
    ("Model calls", "", |arm| per(arm, arm.model_calls), calls),
    ("Cost", "list price of these tokens", |arm| arm.per_trial(arm.cost), money),
    ("Cost per passed trial", "all trials' cost ÷ passes", |arm| arm.cost_per_pass, money),
];

fn per(arm: &ArmUsage, sum: Option<u64>) -> Option<f64> {
    arm.per_trial(sum.map(|sum| sum as f64))
}

fn calls(mean: Option<f64>) -> String {
    mean.map_or_else(|| UNKNOWN.to_owned(), |mean| signed(mean).trim_start_matches('+').to_owned())
}

/// The table, and the totals of the whole evaluation below it.
#[component]
pub fn Usage(report: EvaluationReport) -> impl IntoView {
    let has_skill = !report.skills.is_empty();
    let usage = report.usage;
    let arms = usage.arms;
    let rows = LINES.map(|(name, meant, value, show)| {
        let values = arms.map(|arm| value(&arm));
        view! {
            <tr>
                <th scope="row">{name}{(!meant.is_empty()).then(|| view! { <span class="quiet block">{meant}</span> })}</th>
                {Condition::BOTH.map(|arm| view! { <td class="num">{show(*values.get(arm))}</td> }).into_iter().collect_view()}
                <td class="num">{change(ratio(values))}</td>
            </tr>
        }
    });
    let trials = arms.with.trials + arms.without.trials;
    let cost = arms.with.cost.zip(arms.without.cost).map(|(with, without)| with + without);
    let currency = usage.prices.join("; ");
    let prices = match (cost, currency.is_empty()) {
        (Some(cost), false) => format!("{} in all, by the price table {currency}.", money(Some(cost))),
        (Some(cost), true) => format!("{} in all.", money(Some(cost))),
        (None, false) => format!(
            "The cost is unknown: the price table {currency} has no price for this model, or a class of tokens is unknown."
        ),
        (None, true) => "The cost is unknown: no price was known when these trials ran.".to_owned(),
    };
    let all = report.spent.map(|spent| format!(" All attempts of all trials together: {}.", spent.words()));
    view! {
        <section class="section">
            <h2>"What it took"</h2>
            <p class="quiet">{format!("Per trial, over the {} of complete pairs; tokens as counted on the way to the model, the same way for every agent.", plural(trials, "trial", "trials"))}</p>
            <div class="table-scroll">
                <table class="table table-measures">
                    <thead>
                        <tr>
                            <th scope="col">"Per trial"</th>
                            {Condition::BOTH.map(|arm| view! { <th scope="col" class="num"><ArmName condition=arm/></th> }).into_iter().collect_view()}
                            <th scope="col" class="num">"Change"</th>
                        </tr>
                    </thead>
                    <tbody>{rows.into_iter().collect_view()}</tbody>
                </table>
            </div>
            <p class="quiet">{prices}{all}</p>
            {has_skill.then(|| view! { <SkillUsed used=usage.skill/> })}
        </section>
    }
}

/// How many trials saw and opened the skill, and which of its files they read.
#[component]
fn SkillUsed(used: SkillUse) -> impl IntoView {
    let told = |told: Told| match told.known {
        0 => "cannot be told for this agent".to_owned(),
        known => format!("{} of {}", count(told.yes), plural(known, "trial that can tell", "trials that can tell")),
    };
    let files = used.files;
    let read = (!files.is_empty()).then(|| {
        let file = |(path, trials): (String, u64)| {
            view! { <li><code class="foreign">{path}</code>" "<span class="quiet">{plural(trials, "trial", "trials")}</span></li> }
        };
        view! {
            <details class="chart-data">
                <summary>{format!("Files of the skill that were read ({})", count(files.len() as u64))}</summary>
                <ul class="plain-list">{files.into_iter().map(file).collect_view()}</ul>
            </details>
        }
    });
    view! {
        <h3>{format!("Use of the skill in the {} trials", name(Condition::WithSkill))}</h3>
        <dl class="facts">
            <div><dt>"Offered to the model"</dt><dd>{told(used.listed)}</dd></div>
            <div><dt>"Opened by the agent"</dt><dd>{told(used.opened)}</dd></div>
        </dl>
        {read}
    }
}

/// With ÷ without − 1.
fn ratio(values: Pair<Option<f64>>) -> Option<f64> {
    match (values.with?, values.without?) {
        (_, without) if without <= 0.0 => None,
        (with, without) => Some(with / without - 1.0),
    }
}
