//! What is kept of an attempt's calls: the sums of all of them, and the records of as many as are read again. A process in a container may
//! call as often as it likes.

use domain::usage::TokenUsage;

use crate::record::{CallOutcome, CallRecord};

/// Refused calls whose records are kept: the first ones.
pub const KEPT_REFUSALS: u64 = 100;
/// Other calls whose records are kept: the first ones.
pub const KEPT_CALLS: u64 = 20_000;

/// The calls that have ended.
#[derive(Debug)]
pub(crate) struct Ledger {
    records: Vec<CallRecord>,
    refused: u64,
    others: u64,
    usage: TokenUsage,
    cost: Option<f64>,
    last: Option<CallOutcome>,
    declined: bool,
}

impl Default for Ledger {
    fn default() -> Self {
        Self {
            records: Vec::new(),
            refused: 0,
            others: 0,
            usage: TokenUsage::ZERO,
            cost: Some(0.0),
            last: None,
            declined: false,
        }
    }
}

impl Ledger {
    /// Adds a call that has ended.
    pub(crate) fn add(&mut self, record: CallRecord) {
        self.usage = self.usage.plus(&record.usage);
        self.cost = self.cost.zip(record.cost).map(|(sum, cost)| sum + cost);
        self.last = Some(record.outcome.clone());
        if record.outcome == CallOutcome::Answered {
            self.declined = record.declined;
        }
        let (count, most) = match record.outcome {
            CallOutcome::Refused { .. } => (&mut self.refused, KEPT_REFUSALS),
            CallOutcome::Answered
            | CallOutcome::Rejected { .. }
            | CallOutcome::Trouble { .. }
            | CallOutcome::Cancelled => (&mut self.others, KEPT_CALLS),
        };
        if *count < most {
            self.records.push(record);
        }
        *count = count.saturating_add(1);
    }

    /// The records that are kept, in order of the calls' ends.
    pub(crate) fn records(&self) -> &[CallRecord] {
        &self.records
    }

    /// Calls whose records are not kept.
    pub(crate) fn left_out(&self) -> u64 {
        self.refused.saturating_add(self.others).saturating_sub(self.records.len() as u64)
    }

    /// Calls that were not refused.
    pub(crate) const fn calls(&self) -> u64 {
        self.others
    }

    /// Tokens of all.
    pub(crate) const fn usage(&self) -> TokenUsage {
        self.usage
    }

    /// List price of all; `None` = unknown.
    pub(crate) const fn cost(&self) -> Option<f64> {
        self.cost
    }

    /// How the last one ended.
    pub(crate) const fn last(&self) -> Option<&CallOutcome> {
        self.last.as_ref()
    }

    /// Whether the last answer was a refusal by the model.
    pub(crate) const fn declined(&self) -> bool {
        self.declined
    }
}
