//! Rows that somebody may have looked at before they were ended: one evaluation after the other, until it shines, or cancelled at the best moment. A p of
//! a fixed number of tasks keeps no level there (statistics rule 7).

use super::pool::Member;
use crate::report::{TaskReport, Totals, index, tasks_of};
use crate::stats::delta::DeltaEstimate;
use crate::stats::evalue::EValue;
use crate::stats::verdict::{DeltaVerdict, VerdictRule};
use crate::stop::{Seen, StopReason};

/// Whether a person may have seen how the row stood and ended it there: where another evaluation could have followed and where one was cancelled.
pub(super) fn may_have_been_looked_at(finished: &[&Member<'_>]) -> bool {
    let by_hand = |member: &&Member<'_>| member.stopped.is_some_and(|stopped| stopped.why == StopReason::ByHand);
    finished.len() > 1 || finished.iter().any(by_hand)
}

/// With the larger of two p in place of the test's own: it takes the test, whose unit is the task, and the e-value, which keeps its level however
/// often one looked before running again. To the e-value each task speaks once in each evaluation: under equal arms as likely for as against,
/// whatever was seen before (F18). Evidence that points the other way than Δ shows nothing.
pub(super) fn judged_by_both(
    totals: Totals,
    estimate: DeltaEstimate,
    finished: &[&Member<'_>],
) -> (Totals, Option<DeltaEstimate>) {
    let seen = finished.iter().map(|member| {
        let trials = index(member.trials);
        Seen::of_counts(tasks_of(member.plan, &trials).iter().map(TaskReport::counts))
    });
    let (rescued, broken) = seen.fold((0_u32, 0_u32), |(rescued, broken), seen| {
        (rescued.saturating_add(seen.rescued), broken.saturating_add(seen.broken))
    });
    let agrees = (estimate.delta > 0.0 && rescued > broken) || (estimate.delta < 0.0 && rescued < broken);
    let anytime_p = if agrees { EValue::jeffreys(rescued, broken).anytime_p() } else { 1.0 };
    let estimate = DeltaEstimate { p_value: estimate.p_value.max(anytime_p), ..estimate };
    let verdict = Some(DeltaVerdict::raw(&estimate, &VerdictRule::default()));
    (Totals { p_value: Some(estimate.p_value), p_mid: None, verdict, ..totals }, Some(estimate))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Outcome;
    use crate::analysis::pool::{PoolKey, PooledRow, pool};
    use crate::analysis::tests::{member, plan, trials};
    use crate::condition::Condition::{self, WithSkill};
    use crate::draw::Draw;
    use crate::plan::EvaluationPlan;
    use crate::report::TrialRecord;
    use crate::stop::Stopped;
    use crate::time::Timestamp;

    const TASKS: [i64; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

    fn row(plan: &EvaluationPlan, runs: &[Vec<TrialRecord>]) -> PooledRow {
        let members: Vec<Member<'_>> = (1..).zip(runs).map(|(id, trials)| member(id, plan, trials)).collect();
        pool(PoolKey::of(plan), &members)
    }

    fn is_settled(row: &PooledRow) -> bool {
        matches!(row.totals.verdict, Some(DeltaVerdict::Improves(_) | DeltaVerdict::Harms(_)))
    }

    /// Equal arms, run again up to six times, and stopped as soon as the row shows a difference.
    #[test]
    fn running_again_until_it_shines_finds_what_is_not_there_in_fewer_than_5_of_100() {
        let plan = plan(&TASKS, 1, false);
        let mut draw = Draw::from_seed(11);
        let (mut found, mut alone) = (0, 0);
        for _ in 0..500 {
            let mut runs = Vec::new();
            for place in 0..6 {
                let passed: Vec<bool> = (0..2 * TASKS.len()).map(|_| draw.below(2) == 0).collect();
                runs.push(trials(&plan, 100 * place, |task, arm, _| {
                    let at = 2 * (task as usize - 1) + usize::from(arm == WithSkill);
                    if passed[at] { Outcome::Pass } else { Outcome::Fail }
                }));
                let now = row(&plan, &runs);
                if is_settled(&now) {
                    found += 1;
                    alone += usize::from(runs.len() == 1);
                    break;
                }
            }
        }
        assert!(found <= 25, "{found} of 500, {alone} of them at the first look");
    }

    #[test]
    fn what_is_there_is_found_by_a_row_of_several_too() {
        let plan = plan(&TASKS, 1, false);
        let helps = |task: i64, arm: Condition, _: u32| {
            if arm == WithSkill || task > 6 { Outcome::Pass } else { Outcome::Fail }
        };
        let run = |place: i64| trials(&plan, 100 * place, helps);
        // Six of six tasks: enough for the test, and 14 is too little evidence once there were two looks; a second run brings it.
        let one = row(&plan, &[run(0)]);
        assert!(is_settled(&one) && one.totals.p_mid.is_some());
        let two = row(&plan, &[run(0), run(1)]);
        assert!(is_settled(&two) && two.totals.p_mid.is_none());
        let p = EValue::jeffreys(12, 0).anytime_p();
        assert_eq!(two.totals.p_value, Some(two.estimate.unwrap().p_value));
        assert!(two.totals.p_value.unwrap() >= p);
    }

    #[test]
    fn what_was_cancelled_at_its_best_moment_is_judged_by_the_evidence() {
        let plan = plan(&TASKS, 1, false);
        let cut = trials(&plan, 0, |task, arm, _| match (task, arm) {
            (..=6, WithSkill) => Outcome::Pass,
            (..=6, _) => Outcome::Fail,
            _ => Outcome::Cancelled,
        });
        let whole = member(1, &plan, &cut);
        let stopped = Stopped::by_hand(Timestamp(1));
        let by_hand = Member { stopped: Some(&stopped), ..whole };
        for (member, want) in [(whole, true), (by_hand, false)] {
            assert_eq!(is_settled(&pool(PoolKey::of(&plan), &[member])), want, "{:?}", member.stopped);
        }
    }
}
