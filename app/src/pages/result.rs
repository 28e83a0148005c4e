//! A finished evaluation: the sentence, the plot that shows it, the table that proves it, then the detail.

use domain::report::{EvaluationReport, Headline, headline};
use leptos::prelude::*;

use super::result_left_out::LeftOut;
use super::result_matrix::Matrix;
use super::result_totals::Totals;
use crate::api::EvaluationView;
use crate::components::delta::{IntervalBar, class};
use crate::components::exports::Exports;
use crate::components::icon::{Icon, Sign};
use crate::components::words::Empty;
use crate::format::{UNKNOWN, change, change_interval, count, percent, plural, points, points_interval, tokens};

/// The result.
pub fn result(view: EvaluationView) -> impl IntoView {
    let EvaluationView { report, chart, .. } = view;
    let nothing = report.totals.pairs_complete == 0;
    let why = if report.imported.is_some() {
        "The source reports no task in both arms with a score. Results of the other arm can be imported together with these."
    } else {
        "Below is what stood in the way of each trial. Mend it and start the evaluation again; its skill, tasks and seed stay the same."
    };
    let id = report.evaluation_id;
    view! {
        <Headlines report=report.clone()/>
        {if nothing {
            view! {
                <Empty title="No pair is complete, so there is no Δ">
                    <p>{why}</p>
                </Empty>
            }
            .into_any()
        } else {
            view! { <Chart svgs=chart/><Totals report=report.clone()/> }.into_any()
        }}
        <Matrix report=report.clone()/>
        <LeftOut report=report/>
        <Exports evaluation=id/>
    }
}

/// Verdict word and sentence, the Δ in large, and the four facts beside it.
#[component]
fn Headlines(report: EvaluationReport) -> impl IntoView {
    let Headline { class: verdict, word, sentence, advice } = headline(&report);
    let totals = report.totals.clone();
    let (sign, tone) = verdict_look(&verdict);
    let rates = format!("{} → {}", percent(totals.pass_rate_without), percent(totals.pass_rate_with));
    let settled = matches!(verdict.as_str(), "improves" | "harms");
    let tint = if settled { class(totals.delta) } else { "delta" };
    let delta_ci = totals.delta_ci.map(|ci| view! { <span class="interval">{points_interval(ci)}</span> });
    let bar = totals
        .delta
        .zip(totals.delta_ci)
        .map(|(delta, ci)| view! { <IntervalBar delta=delta interval=ci settled=settled/> });
    let rho_ci = totals.rho_ci.map(|ci| view! { <span class="interval">{change_interval(ci)}</span> });
    view! {
        <section class=format!("headline {tone}") aria-label="Result">
            <p class="verdict"><Icon sign=sign/><span>{word}</span></p>
            <p class="headline-sentence">{sentence}</p>
            {(!advice.is_empty()).then(|| view! { <p class="headline-advice">{advice}</p> })}
            {(totals.pairs_complete > 0).then(|| view! { <dl class="headline-facts">
                <div class="fact fact-main">
                    <dt>"Δ pass rate"</dt>
                    <dd><b class=tint>{points(totals.delta)}</b>
                        {bar}
                        {delta_ci}
                        <span class="quiet">{rates}", n = "{plural(totals.tasks_complete, "task", "tasks")}</span></dd>
                </div>
                <div class="fact">
                    <dt>"ρ tokens"</dt>
                    <dd>
                        <b>{change(totals.rho)}</b>
                        {rho_ci}
                        <span class="quiet">{format!("{} → {}, n = {}", tokens(totals.tokens_without), tokens(totals.tokens_with), plural(totals.pairs_with_tokens, "pair", "pairs"))}</span>
                    </dd>
                </div>
                <div class="fact">
                    <dt>"Skill opened"</dt>
                    <dd>
                        <b>{if totals.activation_known == 0 { UNKNOWN.to_owned() } else { format!("{} of {}", count(totals.activated), count(totals.activation_known)) }}</b>
                        <span class="quiet">"with-skill trials whose trace can tell"</span>
                    </dd>
                </div>
                <div class="fact">
                    <dt>"Pairs"</dt>
                    <dd>
                        <b>{count(totals.pairs_complete)}</b>
                        <span class="quiet">{if totals.pairs_incomplete == 0 { "complete, none left out".to_owned() } else { format!("complete, {} left out", count(totals.pairs_incomplete)) }}</span>
                    </dd>
                </div>
            </dl> })}
        </section>
    }
}

/// Sign and tone of a headline's class.
fn verdict_look(class: &str) -> (Sign, &'static str) {
    match class {
        "improves" => (Sign::Rescued, "tone-up"),
        "harms" => (Sign::Broken, "tone-down"),
        "no_effect" => (Sign::Both, "tone-flat"),
        "no_result" => (Sign::NotScored, "tone-open"),
        _ => (Sign::Neither, "tone-open"),
    }
}

/// The plot, drawn for wide and for narrow pages.
#[component]
fn Chart(svgs: [String; 2]) -> impl IntoView {
    let [wide, narrow] = svgs;
    view! {
        <figure class="section chart">
            <figcaption>
                <h2>"Pass rate by task"</h2>
                <p class="quiet">"From the hollow mark (no-skill) to the filled one (with-skill); a line to the right is a gain. Tasks with the largest Δ first."</p>
            </figcaption>
            <div class="chart-wide" inner_html=wide></div>
            <div class="chart-narrow" inner_html=narrow></div>
        </figure>
    }
}
