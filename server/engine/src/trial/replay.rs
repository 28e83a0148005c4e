//! What a trial needs so that its model calls can be recorded and given again.

use domain::finding::Finding;
use domain::hash::ContentHash;
use domain::order::TrialOrder;
use gateway::TrialGateway;

/// Characters of a version.
const SHORT: usize = 12;

/// What the trial is, alike in each run of the same plan and other where what the agent meets is other: the task's version, and the skills'
/// where they are there.
pub(super) fn lane(order: &TrialOrder) -> String {
    let short = |hash: ContentHash| hash.to_hex().chars().take(SHORT).collect::<String>();
    let skills = order.placed();
    let versions = skills.iter().map(|skill| short(skill.version()));
    let versions = std::iter::once(short(order.task.version())).chain(versions);
    let versions = versions.collect::<Vec<_>>().join(" ");
    format!("{} {:?} {} {versions}", order.task.name, order.condition, order.repeat)
}

/// Says how many replayed answers are to requests in which tools had answered otherwise than when they were recorded.
pub(super) fn drift(gateway: &TrialGateway) -> Option<Finding> {
    let records = gateway.records();
    let drifted = records.iter().filter(|record| record.drifted).count();
    (drifted > 0).then(|| {
        let message = format!(
            "{drifted} of {} replayed answers were recorded when the agent's tools had answered otherwise",
            records.len()
        );
        Finding::note("replay_drifted", "replay", message)
    })
}
