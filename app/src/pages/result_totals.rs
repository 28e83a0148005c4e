//! The table that proves the headline: each measure in both arms, the difference, and its n.

use domain::condition::{Condition, Flip};
use domain::report::{EvaluationReport, Totals as DomainTotals};
use leptos::prelude::*;

use crate::components::arms::ArmName;
use crate::components::delta::class;
use crate::components::flip::{FlipMark, meaning};
use crate::format::{UNKNOWN, change, count, percent, plural, points, signed, tokens};

/// Numbers over all complete pairs.
#[component]
pub fn Totals(report: EvaluationReport) -> impl IntoView {
    let totals = report.totals;
    view! {
        <section class="section">
            <h2>"Numbers"</h2>
            <div class="totals">
                {measures(&totals)}
                {flips(&totals)}
            </div>
        </section>
    }
}

fn measures(totals: &DomainTotals) -> impl IntoView + use<> {
    let settled = totals.verdict.as_ref().is_some_and(|verdict| matches!(verdict.word(), "improves" | "harms"));
    let delta_class = if settled { class(totals.delta) } else { "delta" };
    let reward = totals.mean_reward_with.zip(totals.mean_reward_without).map(|(with, without)| with - without);
    let ce = totals.ce.map(|ce| {
        view! {
            <tr>
                <th scope="row">"CE"<span class="quiet block">"Δ ÷ ρ, as the paper defines it; never sorted by"</span></th>
                <td></td>
                <td></td>
                <td class="num">{signed(ce)}</td>
                <td class="quiet">{plural(totals.pairs_with_tokens, "pair", "pairs")}</td>
            </tr>
        }
    });
    view! {
        <div class="table-scroll">
            <table class="table table-measures">
                <thead>
                    <tr>
                        <th scope="col">"Measure"</th>
                        <th scope="col" class="num"><ArmName condition=Condition::NoSkill/></th>
                        <th scope="col" class="num"><ArmName condition=Condition::WithSkill/></th>
                        <th scope="col" class="num">"Difference"</th>
                        <th scope="col">"n"</th>
                    </tr>
                </thead>
                <tbody>
                    <tr>
                        <th scope="row">"Pass rate"<span class="quiet block">"mean over tasks"</span></th>
                        <td class="num">{percent(totals.pass_rate_without)}</td>
                        <td class="num">{percent(totals.pass_rate_with)}</td>
                        <td class="num"><span class=delta_class>{points(totals.delta)}</span></td>
                        <td class="quiet">{plural(totals.tasks_complete, "task", "tasks")}</td>
                    </tr>
                    <tr>
                        <th scope="row">"Mean reward"<span class="quiet block">"0 to 1, over trials"</span></th>
                        <td class="num">{decimal(totals.mean_reward_without)}</td>
                        <td class="num">{decimal(totals.mean_reward_with)}</td>
                        <td class="num">{signed_decimal(reward)}</td>
                        <td class="quiet">{plural(totals.pairs_complete, "pair", "pairs")}</td>
                    </tr>
                    <tr>
                        <th scope="row">"Tokens per trial"<span class="quiet block">"input, cache read, cache write, output"</span></th>
                        <td class="num">{tokens(totals.tokens_without)}</td>
                        <td class="num">{tokens(totals.tokens_with)}</td>
                        <td class="num">{change(totals.rho)}</td>
                        <td class="quiet">{plural(totals.pairs_with_tokens, "pair", "pairs")}</td>
                    </tr>
                    {ce}
                </tbody>
            </table>
        </div>
    }
}

fn decimal(value: Option<f64>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), |value| format!("{value:.2}"))
}

fn signed_decimal(value: Option<f64>) -> String {
    match value {
        None => UNKNOWN.to_owned(),
        Some(value) if value.abs() < 0.005 => "0".to_owned(),
        Some(value) if value < 0.0 => format!("−{:.2}", value.abs()),
        Some(value) => format!("+{value:.2}"),
    }
}

/// The four ways a pair can go, and those without a score.
fn flips(totals: &DomainTotals) -> impl IntoView + use<> {
    let item = |flip: Option<Flip>, n: u64| {
        view! { <li class="flip-count"><b class="num">{count(n)}</b><FlipMark flip=flip/><span class="quiet">{meaning(flip)}</span></li> }
    };
    view! {
        <ul class="flip-counts">
            {item(Some(Flip::Rescued), totals.rescued)}
            {item(Some(Flip::Broken), totals.broken)}
            {item(Some(Flip::Both), totals.both)}
            {item(Some(Flip::Neither), totals.neither)}
            {(totals.pairs_incomplete > 0).then(|| item(None, totals.pairs_incomplete))}
        </ul>
    }
}
