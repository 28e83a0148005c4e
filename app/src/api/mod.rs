//! Server functions: what pages read. Each answers with domain values; what forms do is in `forms`.

mod audits;
#[cfg(feature = "ssr")]
pub(crate) mod backend;
mod client;
#[cfg(feature = "ssr")]
mod draw;
#[cfg(feature = "ssr")]
mod draw_leaderboard;
mod evaluations;
mod home;
mod leaderboard;
mod pairs;
mod plan;
mod skills;
mod tasks;

pub use audits::{AuditView, audit, audit_runs};
pub use client::SameBuild;
pub use evaluations::{Drawn, EvaluationView, ResultCharts, evaluation, evaluations, matrix};
pub use home::{HomeView, home};
pub use leaderboard::{LeaderboardView, leaderboard, published_snapshots};
pub use pairs::{PairView, pair};
pub use plan::{Checked, PlanFormView, check_plan, new_evaluation};
pub use skills::{SkillView, SkillsView, skill, skills};
pub use tasks::{TasksView, task, tasks};

/// What a page can do: given by the server as a context.
#[cfg(feature = "ssr")]
fn ops() -> Result<backend::Ops, crate::AppError> {
    use leptos::prelude::use_context;
    client::check_build()?;
    use_context::<backend::Ops>()
        .ok_or_else(|| crate::AppError::Internal { message: "the server gave this page no operations".to_owned() })
}
