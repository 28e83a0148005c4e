//! The interval of Δ from the rates of both arms and what flipped between them, with no spread estimated: for one pair for each task, and for few
//! tasks with several. It covers at least 93 % everywhere (`docs/statistics-simulation.md`), where Newcombe's alone (F6) falls below 86 %: with few tasks
//! that never pass, or fail, in both arms, and near |Δ| = 1. Below 20 tasks it is exact; from there on it holds Newcombe's interval
//! on Agresti and Coull's limits, which have no dips near 0 and 1, and Tango's score interval, which is right where flips are rare.

use super::alpha::Alpha;
use super::counts::PairCounts;
use super::exact::exact;
use super::interval::Interval;
use super::method::CiMethod;
use super::newcombe::square_and_add;
use super::task_means::TaskMeans;
use super::{agresti_coull, tango};

/// The interval of Δ = (b − c)/n of tasks with one pair each, and its method; `None` without pairs.
#[must_use]
pub fn interval(counts: &PairCounts, alpha: Alpha) -> Option<(Interval, CiMethod)> {
    TaskMeans::of_single(counts).map(|means| of_means(&means, alpha))
}

/// The same of rates averaged within tasks.
pub(super) fn of_means(means: &TaskMeans, alpha: Alpha) -> (Interval, CiMethod) {
    if let Some(ci) = exact(means.gained, means.lost, means.n, alpha) {
        return (ci, CiMethod::Exact);
    }
    let added = square_and_add(means, |share| agresti_coull::of_share(share, means.n, alpha.z()));
    let scored = tango::of_shares(means.gained, means.lost, means.n, alpha);
    (added.hull(scored).clipped(-1.0, 1.0), CiMethod::Score)
}
