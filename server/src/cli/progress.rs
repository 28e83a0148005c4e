//! Progress of one evaluation or audit: a bar with phases where there is a terminal, plain lines where not.

use std::io::IsTerminal as _;

use domain::condition::Pair;
use domain::id::{EvaluationId, EventId};
use domain::listing::LiveEvent;
use domain::order::Happening;
use domain::report::EvaluationReport;
use domain::task_audit::{AuditAgent, AuditReport};
use indicatif::{ProgressBar, ProgressStyle};
use ops::Ops;
use tokio::sync::watch;

use super::terminal;
use crate::scheduler::QueueStatus;

/// Follows an evaluation to its end and answers its result.
///
/// # Errors
/// Storage trouble.
pub async fn follow(ops: &Ops, id: EvaluationId, queue: watch::Receiver<QueueStatus>) -> ops::Result<EvaluationReport> {
    let report = ops.report(id).await?;
    to_the_end(ops, id, queue, Shown::new(report.trials.len() as u64, report.comparison.kind.arms())).await?;
    ops.report(id).await
}

/// Follows an audit to its end and answers what it says.
///
/// # Errors
/// Storage trouble.
pub async fn follow_audit(
    ops: &Ops,
    id: EvaluationId,
    queue: watch::Receiver<QueueStatus>,
) -> ops::Result<AuditReport> {
    let runs: usize = ops.audit(id).await?.tasks.iter().map(|task| task.runs.len()).sum();
    to_the_end(ops, id, queue, Shown::new(runs as u64, AuditAgent::ARMS)).await?;
    ops.audit(id).await
}

async fn to_the_end(
    ops: &Ops,
    id: EvaluationId,
    mut queue: watch::Receiver<QueueStatus>,
    mut shown: Shown,
) -> ops::Result<()> {
    let mut wakes = ops.subscribe(id);
    let mut after = EventId(0);
    loop {
        wakes.borrow_and_update();
        loop {
            let page = ops.live_events(id, after).await?;
            let Some(last) = page.last else { break };
            after = last;
            page.events.iter().for_each(|event| shown.event(event));
        }
        if shown.may_be_done() && ops.is_finished(id).await? {
            shown.end();
            return Ok(());
        }
        tokio::select! {
            changed = wakes.changed() => if changed.is_err() { return Ok(()) },
            Ok(()) = queue.changed() => shown.queue(&queue.borrow_and_update()),
        }
    }
}

struct Shown {
    bar: Option<ProgressBar>,
    total: u64,
    finished: u64,
    /// What the arms are called.
    arms: Pair<&'static str>,
}

impl Shown {
    fn new(total: u64, arms: Pair<&'static str>) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(total);
            if let Ok(style) =
                ProgressStyle::with_template("{bar:30} {pos}/{len} trials  {elapsed_precise}  eta {eta}  {wide_msg}")
            {
                bar.set_style(style);
            }
            bar.enable_steady_tick(std::time::Duration::from_millis(250));
            bar
        });
        Self { bar, total, finished: 0, arms }
    }

    const fn may_be_done(&self) -> bool {
        self.finished >= self.total
    }

    fn event(&mut self, event: &LiveEvent) {
        let who = format!("{} {} #{}", event.task, self.arms.get(event.condition), event.repeat);
        match &event.what {
            Happening::PhaseReached { phase } => self.say(&format!("{who}: {}", phase.word()), false),
            Happening::Ended { result } => {
                self.finished += 1;
                let detail = result.verdict.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
                self.say(&format!("[{}/{}] {who}: {}{detail}", self.finished, self.total, result.verdict.word()), true);
                if let Some(bar) = &self.bar {
                    bar.set_position(self.finished);
                }
            }
            Happening::Log { text, .. } if text.starts_with("attempt ") => {
                self.say(&format!("{who}: {}", text.trim()), true)
            }
            Happening::Log { .. } | Happening::StepDone { .. } | Happening::Spent { .. } => {}
        }
    }

    fn queue(&self, status: &QueueStatus) {
        if let Some(reason) = &status.paused {
            self.say(&format!("paused: {reason}"), true);
        }
    }

    fn say(&self, line: &str, lasting: bool) {
        match &self.bar {
            None => terminal::tell(line),
            Some(bar) if lasting => bar.println(line),
            Some(bar) => bar.set_message(line.to_owned()),
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
