//! A finished evaluation: the sentence, the plot that shows it, the table that proves it, then the detail.

use domain::report::EvaluationReport;
use leptos::prelude::*;

use super::again::Again;
use super::result_charts::{Dumbbell, Groups, Quadrants, Tokens};
use super::result_headline::ResultHeadline;
use super::result_left_out::LeftOut;
use super::result_matrix::Matrix;
use super::result_sure::HowSure;
use super::result_totals::Totals;
use super::result_usage::Usage;
use crate::api::EvaluationView;
use crate::components::exports::Exports;
use crate::components::icon::{Icon, Sign};

/// The result.
pub fn result(view: EvaluationView) -> impl IntoView {
    let EvaluationView { report, left_out, charts, has_patches, again, .. } = view;
    let nothing = report.totals.pairs_complete == 0;
    let same = !report.comparison.kind.is_of_a_skill();
    let (id, repeats, totals) = (report.evaluation_id, report.repeats, report.totals.clone());
    let ended_early = report.stopped.is_some();
    view! {
        <ResultHeadline report=report.clone()/>
        <Cautions report=report.clone()/>
        {again.map(|draft| view! { <Again report=report.clone() draft=draft/> })}
        {(!nothing).then(|| {
            view! {
                <Dumbbell svgs=charts.dumbbell.clone() repeats=repeats same=same/>
                <Totals report=report.clone()/>
                <Groups svgs=charts.forest.clone() report=report.clone()/>
            }
        })}
        <Matrix id=id totals=totals.clone() repeats=repeats/>
        {(!nothing).then(|| {
            view! {
                <HowSure report=report.clone()/>
                {(!same).then(|| view! { <Quadrants svgs=charts.quadrant.clone() report=report.clone()/> })}
                <Usage report=report/>
                <Tokens charts=charts pairs=totals.pairs_with_tokens/>
            }
        })}
        <LeftOut id=id totals=totals parts=left_out ended_early=ended_early/>
        <Exports evaluation=id has_patches=has_patches/>
    }
}

/// What a reader must know before believing the headline; nothing where there is nothing of the kind.
#[component]
fn Cautions(report: EvaluationReport) -> impl IntoView {
    let mut words: Vec<String> = Vec::new();
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
