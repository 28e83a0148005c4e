//! A finished evaluation: the sentence, the plot that shows it, the table that proves it, then the detail.

use domain::condition::Condition;
use domain::report::{EvaluationReport, Headline, Totals as DomainTotals, headline};
use leptos::prelude::*;

use super::result_charts::{Dumbbell, Groups, Quadrants, Tokens};
use super::result_help::HowToRead;
use super::result_left_out::LeftOut;
use super::result_matrix::Matrix;
use super::result_sure::HowSure;
use super::result_totals::Totals;
use super::result_usage::Usage;
use crate::api::EvaluationView;
use crate::components::arms::name;
use crate::components::delta::{IntervalBar, class};
use crate::components::exports::Exports;
use crate::components::icon::{Icon, Sign};
use crate::components::words::Empty;
use crate::format::{UNKNOWN, change, change_interval, count, percent, plural, points, points_interval, tokens};

/// The result.
pub fn result(view: EvaluationView) -> impl IntoView {
    let EvaluationView { report, left_out, charts, .. } = view;
    let nothing = report.totals.pairs_complete == 0;
    let why = if report.imported.is_some() {
        "The source reports no task in both arms with a score. Results of the other arm can be imported together with these."
    } else {
        "Below is what stood in the way of each trial. Mend it and start the evaluation again; its skill, tasks and seed stay the same."
    };
    let (id, repeats, totals) = (report.evaluation_id, report.repeats, report.totals.clone());
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
            view! {
                <Dumbbell svgs=charts.dumbbell.clone() repeats=repeats/>
                <Totals report=report.clone()/>
                <Groups svgs=charts.forest.clone() report=report.clone()/>
            }
            .into_any()
        }}
        <Matrix id=id totals=totals.clone() repeats=repeats/>
        {(!nothing).then(|| {
            view! {
                <HowSure report=report.clone()/>
                <Quadrants svgs=charts.quadrant.clone() report=report.clone()/>
                <Usage report=report/>
                <Tokens charts=charts pairs=totals.pairs_with_tokens/>
            }
        })}
        <LeftOut id=id totals=totals parts=left_out/>
        <Exports evaluation=id/>
    }
}

/// Verdict word and sentence, the Δ in large, and the four facts beside it.
#[component]
fn Headlines(report: EvaluationReport) -> impl IntoView {
    let Headline { class: verdict, word, meaning, sentence, advice } = headline(&report);
    let totals = report.totals.clone();
    let (sign, tone) = verdict_look(&verdict);
    let rates = format!(
        "{} {} → {} {} of tasks pass; n = {}",
        name(Condition::NoSkill),
        percent(totals.pass_rate_without),
        name(Condition::WithSkill),
        percent(totals.pass_rate_with),
        plural(totals.tasks_complete, "task", "tasks")
    );
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
            <p class="headline-meaning">{meaning}</p>
            <p class="headline-sentence">{sentence}</p>
            {(!advice.is_empty()).then(|| view! { <p class="headline-advice">{advice}</p> })}
            {(totals.pairs_complete > 0).then(|| view! { <dl class="headline-facts">
                <div class="fact fact-main">
                    <dt>"Δ pass rate"</dt>
                    <dd><b class=tint>{points(totals.delta)}</b>
                        {bar}
                        {delta_ci}
                        <span class="quiet">{rates}</span></dd>
                </div>
                <div class="fact">
                    <dt>"ρ tokens"</dt>
                    <dd>
                        <b>{change(totals.rho)}</b>
                        {rho_ci}
                        <span class="quiet">{tokens_words(&totals)}</span>
                    </dd>
                </div>
                <div class="fact">
                    <dt>"Skill opened"</dt>
                    <dd>
                        <b>{if totals.activation_known == 0 { UNKNOWN.to_owned() } else { format!("{} of {}", count(totals.activated), count(totals.activation_known)) }}</b>
                        <span class="quiet">{format!("{} trials that can tell", name(Condition::WithSkill))}</span>
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
            <HowToRead/>
        </section>
        <Cautions report=report/>
    }
}

fn tokens_words(totals: &DomainTotals) -> String {
    match totals.pairs_with_tokens {
        0 => "no trial's tokens are known in both arms".to_owned(),
        pairs => format!(
            "{} {} → {} {} tokens a trial; n = {}",
            name(Condition::NoSkill),
            tokens(totals.tokens_without),
            name(Condition::WithSkill),
            tokens(totals.tokens_with),
            plural(pairs, "pair", "pairs")
        ),
    }
}

/// What a reader must know before believing the headline; nothing where there is nothing of the kind.
#[component]
fn Cautions(report: EvaluationReport) -> impl IntoView {
    let mut words: Vec<String> = Vec::new();
    if report.is_scripted() {
        words.push("The model's answers came from a file. This shows how an evaluation looks; it says nothing about a real model, and is never ranked.".to_owned());
    }
    words.extend(report.imported.as_ref().map(|imported| format!("{}.", imported.sentence())));
    let detail = report.detail.as_deref();
    if let Some((clustered, plain)) =
        detail.and_then(|detail| detail.clustered.as_ref()?.verdict).zip(report.totals.verdict)
        && clustered.word() != plain.word()
    {
        words.push(format!(
            "With tasks of one repository taken together the verdict is another one: {clustered}. Believe that one; the numbers are below under How sure is this."
        ));
    }
    if detail.and_then(|detail| detail.error_rates).is_some_and(|rates| rates.differ) {
        words.push(
            "More trials of one arm than of the other could not be scored, so Δ may be biased; see How sure is this."
                .to_owned(),
        );
    }
    if report.totals.activation_known > 0 && report.totals.activated == 0 {
        words.push("No trial opened the skill, as far as that can be told: a difference between the arms can hardly come from it.".to_owned());
    }
    let item = |words: String| view! { <li><Icon sign=Sign::Warning/><span>{words}</span></li> };
    (!words.is_empty())
        .then(|| view! { <ul class="cautions" aria-label="Before you believe it">{words.into_iter().map(item).collect_view()}</ul> })
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
