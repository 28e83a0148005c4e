//! The table that proves the headline: each measure in both arms, the difference, and its n.

use domain::condition::{Condition, Flip};
use domain::report::matrix::{Kind, View};
use domain::report::{EvaluationReport, Totals as DomainTotals};
use leptos::prelude::*;

use super::result_matrix::of_kind;

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

/// The four ways a pair can go as a table of both arms, and the pairs without a score; each number leads to its pairs.
fn flips(totals: &DomainTotals) -> impl IntoView + use<> {
    let link = |kind: Kind| {
        let n = of_kind(totals, kind);
        let href = format!("{}#pairs", View::default().of_kind(Some(kind)).query());
        let flip = kind.flip();
        let inside = view! { <b class="num">{count(n)}</b><FlipMark flip=flip/> };
        if n > 0 {
            view! { <a class="four-cell" href=href>{inside}<span class="quiet">{meaning(flip)}</span></a> }.into_any()
        } else {
            view! { <span class="four-cell">{inside}<span class="quiet">{meaning(flip)}</span></span> }.into_any()
        }
    };
    let row = |word: &'static str, passed: Flip, failed: Flip| {
        view! { <tr><th scope="row"><ArmName condition=Condition::NoSkill/>" "{word}</th><td>{link(Kind::Flip(passed))}</td><td>{link(Kind::Flip(failed))}</td></tr> }
    };
    view! {
        <div class="four">
            <table class="table four-way">
                <caption>{format!("{}, by how both trials ended", plural(totals.pairs_complete, "complete pair", "complete pairs"))}</caption>
                <thead>
                    <tr>
                        <td></td>
                        <th scope="col"><ArmName condition=Condition::WithSkill/>" passed"</th>
                        <th scope="col"><ArmName condition=Condition::WithSkill/>" failed"</th>
                    </tr>
                </thead>
                <tbody>
                    {row("failed", Flip::Rescued, Flip::Neither)}
                    {row("passed", Flip::Both, Flip::Broken)}
                </tbody>
            </table>
            {(totals.pairs_incomplete > 0).then(|| link(Kind::Incomplete))}
        </div>
    }
}
