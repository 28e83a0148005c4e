//! The way to the model: both trials' calls as the gateway saw them, the agent's own count beside the wire's, names looked up in vain.

use domain::condition::{Condition, Pair as Arms};
use domain::finding::Finding;
use domain::listing::ArmDetail;
use domain::model_call::{ModelCall, ModelCalls};
use leptos::prelude::*;

use crate::components::arms::ArmName;
use crate::components::data_table::{Column, DataTable};
use crate::format::{UNKNOWN, count, count_or_dash, duration, money, plural};

/// Code of the finding that names what was looked up in a closed network.
pub const NAMES_WANTED: &str = "names_wanted";
/// Code of the finding that the agent's own count differs.
pub const SELF_REPORT: &str = "self_report";

/// Both arms' calls; nothing where there were none and nothing was noticed.
#[component]
pub fn Calls(arms: Arms<Option<ArmDetail>>) -> impl IntoView {
    let shown: Vec<AnyView> =
        Condition::BOTH.into_iter().filter_map(|arm| of_arm(arm, arms.get(arm).as_ref()?)).collect();
    (!shown.is_empty()).then(|| {
        view! {
            <section class="section" id="calls">
                <h2>"Calls to the model"</h2>
                <p class="quiet">"As they passed the gateway. These counts are the ones that are compared, for every agent alike."</p>
                {shown}
            </section>
        }
    })
}

fn of_arm(condition: Condition, arm: &ArmDetail) -> Option<AnyView> {
    let findings: &[Finding] = arm.result.as_ref().map_or(&[], |result| &result.findings);
    let told = |code: &str| findings.iter().find(|finding| finding.code == code).cloned();
    let (names, own_count) = (told(NAMES_WANTED), told(SELF_REPORT));
    let calls = arm.calls.clone().filter(|calls| calls.of > 0);
    if calls.is_none() && names.is_none() && own_count.is_none() {
        return None;
    }
    let same = calls.is_some() && own_count.is_none();
    let own_count = own_count.map(|finding| {
        let hint = finding.hint.map(|hint| view! { <span class="quiet block">{hint}</span> });
        view! { <div><dt>"The agent's own count"</dt><dd class="foreign">{finding.message}{hint}</dd></div> }
    });
    let names = names.map(|finding| {
        view! { <div><dt>"Names looked up in vain"</dt><dd class="foreign">{finding.message}</dd></div> }
    });
    let prices = arm.result.as_ref().and_then(|result| result.prices.clone());
    Some(
        view! {
            <div class="calls">
                <h3><ArmName condition=condition/></h3>
                <dl class="facts">
                    {own_count}
                    {same.then(|| view! { <div><dt>"The agent's own count"</dt><dd>"no difference was noticed, or it gives none"</dd></div> })}
                    {names}
                    {prices.map(|prices| view! { <div><dt>"Prices"</dt><dd>{prices}</dd></div> })}
                </dl>
                {calls.map(table)}
            </div>
        }
        .into_any(),
    )
}

/// What is told of a call.
const COLUMNS: [Column; 12] = [
    Column::Numbers("Call"),
    Column::Words("How it ended"),
    Column::Words("Model"),
    Column::Numbers("Input"),
    Column::Numbers("Cache read"),
    Column::Numbers("Cache write"),
    Column::Numbers("Output"),
    Column::Numbers("Cost"),
    Column::Numbers("Began after"),
    Column::Numbers("First byte"),
    Column::Numbers("In all"),
    Column::Numbers("Retries"),
];

fn table(calls: ModelCalls) -> impl IntoView {
    let retries: u32 = calls.shown.iter().map(|call| call.retries).sum();
    let bad = calls.shown.iter().filter(|call| call.outcome.detail().is_some()).count() as u64;
    let mut words = plural(calls.of as u64, "call", "calls");
    if bad > 0 {
        words += &format!(", {} not answered", count(bad));
    }
    if retries > 0 {
        words += &format!(", {}", plural(u64::from(retries), "retry", "retries"));
    }
    let note = (calls.of > calls.shown.len())
        .then(|| format!("The first {}; the JSON export has all.", count(calls.shown.len() as u64)));
    let rows = calls.shown.into_iter().zip(1..).map(row).collect_view();
    view! { <DataTable summary=words columns=COLUMNS.to_vec() note=note>{rows}</DataTable> }
}

fn row((call, number): (ModelCall, u64)) -> impl IntoView {
    let status = call.status.map(|status| format!(" {status}")).unwrap_or_default();
    let why = call.outcome.detail().map(|why| view! { <span class="quiet block foreign">{why.to_owned()}</span> });
    let replayed = call.replayed.then(|| view! { <span class="chip chip-dashed">"replayed"</span> });
    view! {
        <tr>
            <th scope="row" class="num">{number}</th>
            <td class="wrap">{call.outcome.word()}{status}{replayed}{why}</td>
            <td class="wrap foreign">{call.model.unwrap_or_else(|| UNKNOWN.to_owned())}<span class="quiet block">{call.endpoint}</span></td>
            <td class="num">{count_or_dash(call.usage.input)}</td>
            <td class="num">{count_or_dash(call.usage.cache_read)}</td>
            <td class="num">{count_or_dash(call.usage.cache_write)}</td>
            <td class="num">{count_or_dash(call.usage.output)}</td>
            <td class="num">{money(call.cost)}</td>
            <td class="num">{duration(Some(call.started_after_ms))}</td>
            <td class="num">{duration(call.latency_to_first_byte_ms)}</td>
            <td class="num">{duration(Some(call.total_ms))}</td>
            <td class="num">{call.retries}</td>
        </tr>
    }
}
