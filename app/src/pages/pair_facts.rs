//! The two arms of a pair in numbers.

use domain::condition::{Condition, Pair as Arms};
use domain::id::EvaluationId;
use domain::listing::{ArmDetail, AttemptListing};
use domain::tamper::{OutsideChanges, PathChange, Suspicion};
use leptos::prelude::*;

use super::pair_calls;
use crate::components::arms::ArmName;
use crate::components::findings::FindingList;
use crate::components::state::{self, State};
use crate::components::words::Time;
use crate::format::{UNKNOWN, bytes, count, count_or_dash, duration, money, plural};

/// Findings that stand beside what they are about.
const TOLD_ELSEWHERE: [&str; 2] = [pair_calls::NAMES_WANTED, pair_calls::SELF_REPORT];

/// Verdicts, tokens, times.
#[component]
pub fn Facts(evaluation: EvaluationId, arms: Arms<Option<ArmDetail>>) -> impl IntoView {
    let row = |name: &'static str, value: fn(&ArmDetail) -> String| {
        let cells =
            Condition::BOTH.map(|condition| arms.get(condition).as_ref().map_or_else(|| UNKNOWN.to_owned(), value));
        view! { <tr><th scope="row">{name}</th>{cells.map(|cell| view! { <td class="num">{cell}</td> }).into_iter().collect_view()}</tr> }
    };
    let verdicts =
        Condition::BOTH.map(|condition| view! { <td class="num">{arms.get(condition).as_ref().map(verdict)}</td> });
    let patches = Condition::BOTH
        .map(|arm| view! { <td class="num">{arms.get(arm).as_ref().map(|arm| patch(evaluation, arm))}</td> });
    view! {
        <section class="section">
            <h2>"Both trials"</h2>
            <div class="table-scroll">
                <table class="table table-arms">
                    <thead>
                        <tr><th scope="col">"Measure"</th>{Condition::BOTH.map(|arm| view! { <th scope="col" class="num"><ArmName condition=arm/></th> }).into_iter().collect_view()}</tr>
                    </thead>
                    <tbody>
                        <tr><th scope="row">"Verdict"</th>{verdicts.into_iter().collect_view()}</tr>
                        {row("Reward", |arm| arm.trial.reward.map_or_else(|| UNKNOWN.to_owned(), |reward| format!("{reward:.2}")))}
                        {row("Tokens", |arm| count_or_dash(arm.trial.usage.total()))}
                        {row("· input", |arm| count_or_dash(arm.trial.usage.input))}
                        {row("· cache read", |arm| count_or_dash(arm.trial.usage.cache_read))}
                        {row("· cache write", |arm| count_or_dash(arm.trial.usage.cache_write))}
                        {row("· output", |arm| count_or_dash(arm.trial.usage.output))}
                        {row("Model calls", |arm| count_or_dash(arm.result.as_ref().and_then(|result| result.model_calls)))}
                        {row("Cost", |arm| money(arm.trial.cost))}
                        {row("Turns", |arm| count_or_dash(arm.trace.map(|trace| trace.turns as u64)))}
                        {row("Tool calls", |arm| count_or_dash(arm.trace.map(|trace| trace.tool_calls as u64)))}
                        {row("Preparing", |arm| duration(arm.trial.phases_ms.preparing))}
                        {row("Agent", |arm| duration(arm.trial.phases_ms.agent))}
                        {row("Verifying", |arm| duration(arm.trial.phases_ms.verifying))}
                        {row("Peak memory", |arm| bytes(arm.result.as_ref().and_then(|result| result.peak_memory)))}
                        {row("Changed outside the working folder", |arm| arm.result.as_ref().and_then(|result| result.outside.as_ref()).map_or_else(|| UNKNOWN.to_owned(), outside))}
                        <tr><th scope="row">"Changed in the working folder"</th>{patches.into_iter().collect_view()}</tr>
                        {row("Image", |arm| arm.result.as_ref().and_then(|result| result.image.as_deref()).map_or_else(|| UNKNOWN.to_owned(), short_image))}
                    </tbody>
                </table>
            </div>
            <div class="columns">{Condition::BOTH.map(|arm| attempts(arm, arms.get(arm).as_ref())).into_iter().collect_view()}</div>
            {Condition::BOTH.map(|arm| suspicious(arm, arms.get(arm).as_ref())).into_iter().collect_view()}
        </section>
    }
}

fn verdict(arm: &ArmDetail) -> impl IntoView + use<> {
    let look = match &arm.result {
        Some(result) if arm.trial.verdict.is_some() => state::of_verdict(&result.verdict),
        _ => state::of_trial(&arm.trial),
    };
    let why = arm.trial.error.clone();
    view! { <State look=look/>{why.map(|why| view! { <span class="quiet block foreign">{why}</span> })} }
}

/// How many paths, and how many of them could deceive a verifier.
fn outside(changes: &OutsideChanges) -> String {
    let paths = plural(changes.total, "path", "paths");
    match changes.suspicious {
        0 => paths,
        some => format!("{paths}, {} suspicious", count(some)),
    }
}

/// The patch in numbers, and where it can be had.
fn patch(evaluation: EvaluationId, arm: &ArmDetail) -> AnyView {
    let Some(patch) = arm.result.as_ref().and_then(|result| result.patch) else { return UNKNOWN.into_any() };
    if patch.file.is_none() {
        return "nothing".into_any();
    }
    let words = format!("{}, +{} −{}", plural(patch.files, "file", "files"), count(patch.added), count(patch.removed));
    let href = format!("/evaluations/{evaluation}/trials/{}/patch", arm.trial.id);
    view! { <a href=href download="">{words}</a> }.into_any()
}

/// What could have deceived the verifier, path by path; nothing where nothing could.
fn suspicious(condition: Condition, arm: Option<&ArmDetail>) -> Option<impl IntoView + use<>> {
    let changes = arm?.result.as_ref()?.outside.clone()?;
    let met = match changes.fresh_container {
        true => "The verifier had a fresh container: none of this was in it.",
        false => "The verifier had the same container, without what is marked as removed.",
    };
    let one = |change: PathChange| {
        let how = change.suspicious.map(Suspicion::words)?;
        let removed = change.undone.then_some(" · removed");
        Some(
            view! { <li><code class="foreign">{change.path}</code><span class="quiet">{format!(" {}: {how}", change.kind.word())}{removed}</span></li> },
        )
    };
    let list = changes.paths.into_iter().filter_map(one).collect_view();
    (changes.suspicious > 0).then(|| {
        view! {
            <details>
                <summary><ArmName condition=condition/>{format!(" {} outside the working folder", plural(changes.suspicious, "suspicious change", "suspicious changes"))}</summary>
                <p class="quiet">{met}</p>
                <ul class="plain-list">{list}</ul>
            </details>
        }
    })
}

/// The first digits of an image's id.
fn short_image(image: &str) -> String {
    image.trim_start_matches("sha256:").chars().take(12).collect()
}

/// Every attempt; a single good one is not worth a table.
fn attempts(condition: Condition, arm: Option<&ArmDetail>) -> Option<impl IntoView + use<>> {
    let arm = arm?;
    let mut findings = arm.result.as_ref().map(|result| result.findings.clone()).unwrap_or_default();
    findings.retain(|finding| !TOLD_ELSEWHERE.contains(&finding.code.as_str()));
    let several = arm.attempts.len() > 1;
    let one = |attempt: AttemptListing| {
        let verdict = attempt.verdict.unwrap_or_else(|| "running".to_owned());
        view! {
            <li>
                <b>{format!("{}. {verdict} ", attempt.number)}</b>
                <span class="quiet"><Time at=attempt.started_at/>{attempt.ended_at.map(|end| format!(", {}", duration(Some(end.ms_since(attempt.started_at)))))}</span>
                {attempt.detail.map(|detail| view! { <span class="block quiet foreign">{detail}</span> })}
                {attempt.told.map(|told| view! { <span class="block quiet">{format!("Up to then: {}.", told.words())}</span> })}
            </li>
        }
    };
    let list = several
        .then(|| view! { <ol class="plain-list">{arm.attempts.clone().into_iter().map(one).collect_view()}</ol> });
    (several || !findings.is_empty()).then(|| {
        view! {
            <div>
                <h3><ArmName condition=condition/>{several.then(|| format!(" {}", plural(arm.attempts.len() as u64, "attempt", "attempts")))}</h3>
                {list}
                <FindingList findings=findings/>
            </div>
        }
    })
}
