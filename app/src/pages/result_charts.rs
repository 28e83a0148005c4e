//! The drawings of a result, each with its caption in words and its data as a table.

use domain::analysis::GroupDelta;
use domain::condition::Condition;
use domain::report::EvaluationReport;
use leptos::prelude::*;

use crate::api::{Drawn, ResultCharts};
use crate::components::arms::{ArmName, name};
use crate::components::chart::Chart;
use crate::components::data_table::{Column, DataTable};
use crate::format::{UNKNOWN, change, change_interval, count, plural, points, points_interval};

const GROUP_COLUMNS: [Column; 8] = [
    Column::Words("Group"),
    Column::Numbers("Tasks"),
    Column::Numbers("Rescued"),
    Column::Numbers("Broken"),
    Column::Numbers("Δ"),
    Column::Numbers("95 % interval"),
    Column::Numbers("Tokens (ρ)"),
    Column::Words("Verdict, unadjusted"),
];
const QUADRANT_COLUMNS: [Column; 3] =
    [Column::Words("Measure"), Column::Numbers("Value"), Column::Numbers("95 % interval")];
const TOKEN_COLUMNS: [Column; 6] = [
    Column::Words("Arm"),
    Column::Numbers("Least"),
    Column::Numbers("A quarter below"),
    Column::Numbers("Half below"),
    Column::Numbers("Three quarters below"),
    Column::Numbers("Most"),
];

/// The pass rates task by task. Its data is the matrix.
#[component]
pub fn Dumbbell(
    svgs: Option<Drawn>,
    repeats: u32,
    /// Whether both arms were the same.
    same: bool,
) -> impl IntoView {
    let signs = if repeats > 1 {
        " The signs at the end of a line are its repeats, each a pair: ▲ rescued, ▼ broken, ● both passed, ○ neither."
    } else {
        ""
    };
    let ways = if same {
        "Nothing differed, so each line that is not a point is chance."
    } else {
        "A line to the right is a gain, one to the left a loss, a mark without a line no change. Largest gains first."
    };
    let caption = format!(
        "Each line is a task: from the hollow mark ({}) to the filled one ({}). {ways} A line leads to its pair.{signs}",
        name(Condition::NoSkill),
        name(Condition::WithSkill),
    );
    svgs.map(|svgs| {
        view! {
            <Chart svgs=svgs title="Pass rate by task" caption=caption>
                <p class="chart-data"><a href="#pairs">"The same as a table"</a></p>
            </Chart>
        }
    })
}

/// Δ by group of tasks.
#[component]
pub fn Groups(svgs: Option<Drawn>, report: EvaluationReport) -> impl IntoView {
    let groups = report.detail.map(|detail| detail.groups).unwrap_or_default();
    let noise = report.noise_floor.map(|noise| format!(" The shaded band is the noise floor: so far (±{}) chance alone moves the Δ of all tasks, 19 times in 20.", points(Some(noise.band)).replace('+', ""))).unwrap_or_default();
    let caption = format!(
        "The line is the 95 % interval. A hollow mark is unresolved: its interval does not tell a gain from a loss, or its tasks are too few. With many groups one of them stands out by chance alone.{noise}"
    );
    svgs.map(|svgs| {
        view! {
            <Chart
                svgs=svgs
                title="Δ by group of tasks"
                caption=caption
            >
                <DataTable summary="Data as a table" columns=GROUP_COLUMNS.to_vec()>
                    {groups.into_iter().map(group).collect_view()}
                </DataTable>
            </Chart>
        }
    })
}

fn group(group: GroupDelta) -> impl IntoView {
    view! {
        <tr>
            <th scope="row" class="foreign">{group.name.unwrap_or_else(|| "no group".to_owned())}</th>
            <td class="num">{count(u64::from(group.tasks))}</td>
            <td class="num">{count(u64::from(group.counts.rescued))}</td>
            <td class="num">{count(u64::from(group.counts.broken))}</td>
            <td class="num">{points(Some(group.delta))}</td>
            <td class="num">{points_interval(group.delta_ci)}</td>
            <td class="num">{change(group.rho)}</td>
            <td>{group.verdict.to_string()}</td>
        </tr>
    }
}

/// Δ against ρ.
#[component]
pub fn Quadrants(svgs: Option<Drawn>, report: EvaluationReport) -> impl IntoView {
    let totals = report.totals;
    let settled = totals.verdict.as_ref().is_some_and(|verdict| matches!(verdict.word(), "improves" | "harms"));
    let where_it_is = totals.quadrant.map(|quadrant| match settled {
        true => format!(" Here: {}.", quadrant.name()),
        false => " The vertical bar of the cross tells how far up or down the truth may lie: here it leaves that open."
            .to_owned(),
    });
    let caption = format!(
        "Upwards more tasks pass than in {}; to the right a trial takes more tokens. Half and double the tokens lie equally far from the middle.{}",
        name(Condition::NoSkill),
        where_it_is.unwrap_or_default()
    );
    svgs.map(|svgs| {
        view! {
            <Chart svgs=svgs title="Pass rate against tokens" caption=caption>
                <DataTable summary="Data as a table" columns=QUADRANT_COLUMNS.to_vec()>
                    <tr>
                                    <th scope="row">"Δ pass rate"</th>
                                    <td class="num">{points(totals.delta)}</td>
                                    <td class="num">{totals.delta_ci.map_or_else(|| UNKNOWN.to_owned(), points_interval)}</td>
                                </tr>
                                <tr>
                                    <th scope="row">"Tokens (ρ)"</th>
                                    <td class="num">{change(totals.rho)}</td>
                                    <td class="num">{totals.rho_ci.map_or_else(|| UNKNOWN.to_owned(), change_interval)}</td>
                                </tr>
                </DataTable>
            </Chart>
        }
    })
}

/// How the tokens of trials spread.
#[component]
pub fn Tokens(charts: ResultCharts, pairs: u64) -> impl IntoView {
    let quartiles = charts.token_quartiles;
    let row = move |condition: Condition| {
        let cells = quartiles
            .get(condition)
            .map_or_else(|| vec![UNKNOWN.to_owned(); 5], |five| five.into_iter().map(count).collect::<Vec<_>>());
        view! {
            <tr>
                <th scope="row"><ArmName condition=condition/></th>
                {cells.into_iter().map(|cell| view! { <td class="num">{cell}</td> }).collect_view()}
            </tr>
        }
    };
    let caption = format!(
        "Each curve climbs by one step for each trial, from the one that used least to the one that used most ({}). The curve further to the right used more; the marks stand where half of the trials lie below.",
        plural(pairs, "pair", "pairs")
    );
    charts.tokens.map(|svgs| {
        view! {
            <Chart svgs=svgs title="Tokens of the trials" caption=caption>
                <DataTable summary="Data as a table" columns=TOKEN_COLUMNS.to_vec()>
                    {Condition::BOTH.map(row).into_iter().collect_view()}
                </DataTable>
            </Chart>
        }
    })
}
