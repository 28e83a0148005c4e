//! The rows of a leaderboard page brought to the charts: their intervals on one scale, or Δ against tokens.

use charts::{Forest, ForestRow, QuadrantPoint, Width};
use domain::leaderboard::{LeaderboardPage, LeaderboardRow, Shape};
use domain::report::number::counted;

use super::Drawn;

/// The drawing that the view asks for; `None` for a table, and where no row can be drawn.
pub(super) fn chart(page: &LeaderboardPage) -> Option<Drawn> {
    match page.query.shape {
        Shape::Table => None,
        Shape::Forest => {
            let rows: Vec<ForestRow> = page.rows.iter().map(row).collect();
            let forest = Forest { id: "forest", title: "Δ of the rows", rows: &rows, noise: None };
            (!rows.is_empty()).then(|| Width::BOTH.map(|width| charts::forest(&forest, width)))
        }
        Shape::Scatter => {
            let points: Vec<QuadrantPoint> = page.rows.iter().filter_map(point).collect();
            let [wide, narrow] = Width::BOTH.map(|width| charts::quadrant(&points, width));
            Some([wide?, narrow?])
        }
    }
}

fn label(row: &LeaderboardRow) -> String {
    let version = row.record.skills.first().and_then(|skill| skill.version_in_short());
    [Some(row.record.skill_names()), version].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Where the row's name leads in the table too.
fn href(row: &LeaderboardRow) -> Option<String> {
    let skill = row.record.skills.first().and_then(|skill| skill.skill);
    skill
        .map(|skill| format!("/skills/{skill}"))
        .or_else(|| row.record.evaluations.last().map(|id| format!("/evaluations/{id}")))
}

fn row(row: &LeaderboardRow) -> ForestRow {
    let (record, measured) = (&row.record, &row.record.measured);
    let whose = record.model.as_deref().unwrap_or(&record.agent.name);
    ForestRow {
        label: label(row),
        about: format!("{whose} · {}", record.task_set.name),
        n: counted(measured.tasks, "task"),
        delta: measured.delta.map(|delta| (delta, measured.delta_ci())),
        settled: row.is_settled(),
        sum: false,
        href: href(row),
    }
}

fn point(row: &LeaderboardRow) -> Option<QuadrantPoint> {
    let measured = &row.record.measured;
    Some(QuadrantPoint {
        label: label(row),
        delta: measured.delta?,
        delta_ci: measured.delta_ci(),
        rho: measured.rho?,
        rho_ci: measured.rho_ci,
        settled: row.is_settled(),
        sum: false,
        href: href(row),
    })
}
