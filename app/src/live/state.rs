//! What an event does to the page's numbers.

use domain::condition::Condition;
use domain::id::EventId;
use domain::listing::LiveEvent;
use domain::order::Happening;
use domain::report::EvaluationReport;
use domain::time::Timestamp;
use domain::trace::TraceStep;

/// Lines of the log that a page keeps.
pub const LOG_LINES: usize = 60;
/// Characters of a log line that a page keeps; the whole text is on the pair's page.
const LINE_CHARS: usize = 400;

/// What the page has to do after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// Nothing more.
    Nothing,
    /// Read the numbers anew: a trial ended.
    Refresh,
}

/// Applies an event to the numbers that the page shows.
pub fn apply(report: &mut EvaluationReport, event: &LiveEvent) -> After {
    match &event.what {
        Happening::PhaseReached { phase } => {
            let trial = report.trials.iter_mut().find(|trial| trial.id == event.trial);
            if let Some(trial) = trial.filter(|trial| trial.verdict.is_none()) {
                trial.state = phase.word().to_owned();
            }
            After::Nothing
        }
        Happening::Ended { .. } => After::Refresh,
        Happening::Log { .. } | Happening::StepDone { .. } | Happening::Spent { .. } => After::Nothing,
    }
}

/// One line of the log tail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Place in the stream.
    pub id: EventId,
    /// When.
    pub at: Timestamp,
    /// Which task.
    pub task: String,
    /// Which arm.
    pub condition: Condition,
    /// Which repeat.
    pub repeat: u32,
    /// What happened, in a word.
    pub what: &'static str,
    /// The text, shortened.
    pub text: String,
}

/// The last lines of the log that `events` make, oldest first.
pub fn log_lines(events: &[LiveEvent]) -> Vec<LogLine> {
    let lines: Vec<LogLine> = events.iter().map(line).collect();
    let skip = lines.len().saturating_sub(LOG_LINES);
    lines.into_iter().skip(skip).collect()
}

fn line(event: &LiveEvent) -> LogLine {
    let (what, text) = match &event.what {
        Happening::PhaseReached { phase } => ("phase", phase.word().to_owned()),
        Happening::Log { text, .. } => ("output", text.trim_end().to_owned()),
        Happening::StepDone { step } => ("step", step_words(step)),
        Happening::Spent { spent } => ("spent", spent.words()),
        Happening::Ended { result } => ("ended", ended_words(result)),
    };
    LogLine {
        id: event.id,
        at: event.at,
        task: event.task.clone(),
        condition: event.condition,
        repeat: event.repeat,
        what,
        text: text.chars().take(LINE_CHARS).collect(),
    }
}

fn step_words(step: &TraceStep) -> String {
    let calls = step.calls.iter().map(|call| {
        let command =
            call.arguments.as_object().and_then(|object| object.values().next()?.as_str()).unwrap_or_default();
        format!("{} {command}", call.name)
    });
    let text = Some(step.text.trim().to_owned()).filter(|text| !text.is_empty());
    text.into_iter().chain(calls).collect::<Vec<_>>().join(" · ")
}

fn ended_words(result: &domain::attempt::AttemptResult) -> String {
    match result.verdict.detail() {
        Some(detail) => format!("{}: {detail}", result.verdict.word()),
        None => result.verdict.word().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::attempt::AttemptResult;
    use domain::comparison::Comparison;
    use domain::hash::ContentHash;
    use domain::id::{EvaluationId, TaskId, TrialId};
    use domain::plan::{AgentRef, EvaluationPlan, RunSettings, TaskRef, Treatment};
    use domain::report::TrialRecord;
    use domain::trial::{Phase, TrialState};
    use domain::verdict::Verdict;

    fn report(state: TrialState) -> EvaluationReport {
        let plan = EvaluationPlan {
            title: String::new(),
            treatment: Treatment::TasksOwn,
            comparison: Comparison::default(),
            tasks: vec![TaskRef { id: TaskId(1), name: "t".to_owned(), version: ContentHash::of(b"t") }],
            task_set: None,
            agent: AgentRef::new("nop", "1"),
            model: None,
            repeats: 1,
            seed: 1,
            settings: RunSettings::default(),
            kind: Default::default(),
        };
        let trial = TrialRecord {
            id: TrialId(5),
            task_id: TaskId(1),
            task: "t".to_owned(),
            condition: Condition::NoSkill,
            repeat: 1,
            state,
            result: None,
        };
        EvaluationReport::compute(EvaluationId(1), Timestamp(0), &plan, &[trial])
    }

    fn event(what: Happening) -> LiveEvent {
        let (id, trial, at) = (EventId(9), TrialId(5), Timestamp(0));
        LiveEvent { id, trial, task: "t".to_owned(), condition: Condition::NoSkill, repeat: 1, at, what }
    }

    #[test]
    fn a_phase_shows_at_once_and_an_end_asks_for_new_numbers() {
        let mut numbers = report(TrialState::NEW);
        let phase = event(Happening::PhaseReached { phase: Phase::Agent });
        assert_eq!(apply(&mut numbers, &phase), After::Nothing);
        assert_eq!(numbers.trials[0].state, "agent");
        let ended = event(Happening::Ended { result: Box::new(AttemptResult::bare(Verdict::Pass)) });
        assert_eq!(apply(&mut numbers, &ended), After::Refresh);
    }

    #[test]
    fn an_old_phase_does_not_reopen_a_finished_trial() {
        let mut numbers = report(TrialState::Finished { attempts: 1, verdict: Verdict::Pass, at: Timestamp(0) });
        apply(&mut numbers, &event(Happening::PhaseReached { phase: Phase::Agent }));
        assert_eq!(numbers.trials[0].state, "finished");
    }

    #[test]
    fn the_log_keeps_its_end() {
        let output = |n: usize| event(Happening::Log { phase: Phase::Agent, text: format!("line {n}\n") });
        let events: Vec<_> = (0..LOG_LINES + 5).map(output).collect();
        let lines = log_lines(&events);
        assert_eq!(lines.len(), LOG_LINES);
        assert_eq!(lines.last().map(|line| line.text.as_str()), Some("line 64"));
    }
}
