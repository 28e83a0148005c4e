//! The paired matrix: task by task, pair by pair, each a link to both traces.

use domain::condition::Condition;
use domain::report::{EvaluationReport, TaskReport};
use leptos::prelude::*;

use crate::components::arms::ArmName;
use crate::components::delta::{Delta, DeltaBar};
use crate::components::flip::FlipLink;
use crate::format::{UNKNOWN, count, percent, tokens};

/// The matrix, in the plan's order.
#[component]
pub fn Matrix(report: EvaluationReport) -> impl IntoView {
    let id = report.evaluation_id.to_string();
    let repeats = u64::from(report.repeats);
    let rows = report.tasks.into_iter().map(|task| row(&id, repeats, task)).collect_view();
    view! {
        <section class="section">
            <h2>"Pairs by task"</h2>
            <p class="quiet">"Each mark is one pair and leads to both traces and test results."</p>
            <div class="table-scroll">
                <table class="table matrix">
                    <thead>
                        <tr>
                            <th scope="col">"Task"</th>
                            <th scope="col">"Pairs"</th>
                            <th scope="col" class="num"><ArmName condition=Condition::NoSkill/></th>
                            <th scope="col" class="num"><ArmName condition=Condition::WithSkill/></th>
                            <th scope="col" class="num">"Δ"</th>
                            <th scope="col" class="bar-head">"−100 … +100 pp"</th>
                            <th scope="col" class="num">"Tokens no-skill"</th>
                            <th scope="col" class="num">"Tokens with-skill"</th>
                            <th scope="col">"Opened"</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </section>
    }
}

fn row(id: &str, repeats: u64, task: TaskReport) -> impl IntoView + use<> {
    let base = format!("/evaluations/{id}/pairs/{}", task.task_id);
    let n = format!(" n={}", count(task.pairs_complete));
    let rate = |share: Option<f64>| {
        let n = share.map(|_| n.clone());
        view! { {percent(share)}<span class="quiet">{n}</span> }
    };
    let pairs = task
        .pairs
        .into_iter()
        .map(|pair| {
            let href = format!("{base}/{}", pair.repeat);
            view! { <FlipLink pair=pair href=href/> }
        })
        .collect_view();
    let partial =
        (task.pairs_complete < repeats).then(|| format!("{} of {} pairs complete", task.pairs_complete, repeats));
    view! {
        <tr>
            <th scope="row" class="foreign">{task.task}{partial.map(|words| view! { <span class="quiet block">{words}</span> })}</th>
            <td><span class="flip-links">{pairs}</span></td>
            <td class="num">{rate(task.pass_rate_without)}</td>
            <td class="num">{rate(task.pass_rate_with)}</td>
            <td class="num"><Delta delta=task.delta/></td>
            <td class="bar-cell"><DeltaBar delta=task.delta/></td>
            <td class="num">{tokens(task.tokens_without)}</td>
            <td class="num">{tokens(task.tokens_with)}</td>
            <td>{opened(task.activated)}</td>
        </tr>
    }
}

const fn opened(activated: Option<bool>) -> &'static str {
    match activated {
        Some(true) => "yes",
        Some(false) => "no",
        None => UNKNOWN,
    }
}
