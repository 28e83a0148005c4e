//! The first thing that a reader of a result sees: the verdict, Δ with its interval, what that means in plain words, and what it took.

use domain::condition::Condition;
use domain::report::{EvaluationReport, Headline, MeasuredNoise, Totals, headline};
use domain::stats::interval::Interval;
use leptos::prelude::*;

use super::result_help::HowToRead;
use crate::components::arms::name;
use crate::components::delta::{IntervalBar, class};
use crate::components::icon::{Icon, Sign};
use crate::components::words::{DemonstrationChip, ImportedChip};
use crate::format::{UNKNOWN, bare_interval, change, change_interval, count, percent, plural, points_in_words, tokens};

/// Verdict and Δ, the words, and the facts beside them.
#[component]
pub fn ResultHeadline(report: EvaluationReport) -> impl IntoView {
    let Headline { class: verdict, word, meaning, sentence, advice } = headline(&report);
    let (sign, tone) = look(&verdict);
    // As on the leaderboard: what is no measurement made here has no colour of gain or loss.
    let (demonstration, imported) = (report.demonstration(), report.imported.clone());
    let counts = demonstration.is_none() && imported.is_none();
    let tone = if counts { tone } else { "tone-open" };
    let settled = counts && matches!(verdict.as_str(), "improves" | "harms");
    let main = match &report.noise_floor {
        Some(noise) if !report.comparison.kind.is_of_a_skill() => Some(band(noise, &report.totals).into_any()),
        noise => difference(&report.totals, settled, noise.as_ref()).map(IntoAny::into_any),
    };
    let facts = (report.totals.pairs_complete > 0).then(|| facts(&report));
    view! {
        <section class=format!("headline {tone}") aria-label="Result">
            <p class="verdict"><Icon sign=sign/><span>{word}</span><DemonstrationChip demonstration=demonstration/><ImportedChip imported=imported/></p>
            {main}
            {demonstration.map(|why| view! { <p class="headline-meaning">{why.meaning()}</p> })}
            <p class="headline-meaning">{meaning}</p>
            <p class="headline-sentence">{sentence}</p>
            {(!advice.is_empty()).then(|| view! { <p class="headline-advice">{advice}</p> })}
            {facts}
            <HowToRead/>
        </section>
    }
}

/// Δ in large with its interval as a bar and in numbers.
fn difference(totals: &Totals, settled: bool, noise: Option<&MeasuredNoise>) -> Option<impl IntoView + use<>> {
    let (delta, ci) = totals.delta.zip(totals.delta_ci)?;
    let tint = if settled { class(Some(delta)) } else { "delta" };
    let rates = format!(
        "pass rate from {} ({}) to {} ({})",
        percent(totals.pass_rate_without),
        name(Condition::NoSkill),
        percent(totals.pass_rate_with),
        name(Condition::WithSkill),
    );
    let noise = noise.map(|noise| noise.band);
    let shaded = noise.map(|noise| {
        let place = if delta.abs() > noise { "outside" } else { "inside" };
        let size = points_in_words(noise).replace('+', "±");
        let words = format!("shaded: how far chance alone moves Δ on these tasks, {size}; this Δ lies {place}");
        view! { <span class="quiet">{words}</span> }
    });
    Some(view! {
        <div class="headline-main">
            <p class="headline-number">
                <b class=tint>{points_in_words(delta)}</b>
                <span class="quiet">{rates}</span>
            </p>
            <p class="headline-interval">
                <IntervalBar delta=delta interval=ci settled=settled noise=noise/>
                <span>{format!("95 % interval: {}", bare_interval(ci))}</span>
                {shaded}
            </p>
        </div>
    })
}

/// How far chance alone moves Δ, with what it did here.
fn band(noise: &MeasuredNoise, totals: &Totals) -> impl IntoView + use<> {
    let size = points_in_words(noise.band).replace('+', "±");
    let bar = totals.delta.map(|delta| {
        let interval = totals.delta_ci.unwrap_or(Interval { low: delta, high: delta });
        view! { <IntervalBar delta=delta interval=interval settled=false noise=Some(noise.band)/> }
    });
    let here = totals.delta.map(|delta| {
        view! { <span class="quiet">{format!("shaded: that band; the ring: Δ of this evaluation, {}", points_in_words(delta))}</span> }
    });
    view! {
        <div class="headline-main">
            <p class="headline-number">
                <b class="delta">{size}</b>
                <span class="quiet">"is how far Δ moves by chance alone, 19 times in 20"</span>
            </p>
            <p class="headline-interval">{bar}{here}</p>
        </div>
    }
}

fn facts(report: &EvaluationReport) -> impl IntoView + use<> {
    let totals = &report.totals;
    let rho_ci = totals.rho_ci.map(|ci| view! { <span class="interval">{change_interval(ci)}</span> });
    let opened = if totals.activation_known == 0 {
        UNKNOWN.to_owned()
    } else {
        format!("{} of {}", count(totals.activated), count(totals.activation_known))
    };
    let opened = (!report.skills.is_empty()).then(|| {
        let whose = if totals.activation_known == 0 {
            report.opened_in_words()
        } else {
            format!("{} trials", name(Condition::WithSkill))
        };
        fact("Skill opened", opened, view! { <span class="quiet">{whose}</span> })
    });
    let flips = totals.rescued + totals.broken;
    let flipped = (!report.comparison.kind.is_of_a_skill()).then(|| {
        let of = format!("of {}, though nothing differed", plural(totals.pairs_complete, "pair", "pairs"));
        fact("Flipped", count(flips), view! { <span class="quiet">{of}</span> })
    });
    let others = format!("complete, {}", totals.others_in_words());
    view! {
        <dl class="headline-facts">
            {flipped}
            {fact("Tokens (ρ)", change(totals.rho), view! { {rho_ci}<span class="quiet">{tokens_words(totals)}</span> })}
            {opened}
            {fact("Pairs", count(totals.pairs_complete), view! { <span class="quiet">{others}</span> })}
        </dl>
    }
}

fn fact(term: &'static str, number: String, more: impl IntoView + 'static) -> impl IntoView {
    view! { <div class="fact"><dt>{term}</dt><dd><b>{number}</b>{more}</dd></div> }
}

fn tokens_words(totals: &Totals) -> String {
    match totals.pairs_with_tokens {
        0 => "no trial's tokens are known in both arms".to_owned(),
        pairs => format!(
            "{} {} → {} {} a trial, over {}",
            name(Condition::NoSkill),
            tokens(totals.tokens_without),
            name(Condition::WithSkill),
            tokens(totals.tokens_with),
            plural(pairs, "pair", "pairs")
        ),
    }
}

/// Sign and tone of a headline's class.
fn look(class: &str) -> (Sign, &'static str) {
    match class {
        "improves" => (Sign::Rescued, "tone-up"),
        "harms" => (Sign::Broken, "tone-down"),
        "no_effect" => (Sign::Both, "tone-flat"),
        "no_result" => (Sign::NotScored, "tone-open"),
        _ => (Sign::Neither, "tone-open"),
    }
}
