//! What one agent's own record says.

use domain::trace::Trace;
use domain::usage::TokenUsage;

/// Everything read from one record.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    /// What was done. Without the steps that were taken from the reader before its end.
    pub trace: Trace,
    /// Tokens as the agent counts them; never the wire's count.
    pub usage: SelfReport,
    /// Model calls as the agent reports them, each once; `None` where it does not tell.
    pub model_calls: Option<u64>,
    /// Each of those calls, in order, where their tokens are told one by one.
    pub calls: Vec<CallReport>,
    /// Skills.
    pub skills: SkillsSeen,
    /// How the agent says it ended.
    pub end: ReportedEnd,
    /// Tools whose use the agent program denied to its model.
    pub denials: Vec<String>,
    /// The agent program's version.
    pub version: Option<String>,
    /// The model, as the agent names it.
    pub model: Option<String>,
    /// The agent's id of its session.
    pub session: Option<String>,
    /// Lines.
    pub counts: Counts,
    /// What a person should know about the record itself.
    pub notes: Vec<String>,
}

/// One model call in an agent's record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallReport {
    /// Id of the answer.
    pub id: String,
    /// Its tokens.
    pub usage: TokenUsage,
    /// Whether a sub-agent made it.
    pub by_sub_agent: bool,
}

/// Tokens that an agent reports for its whole run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SelfReport {
    /// The agent itself, by class.
    pub tokens: TokenUsage,
    /// Its sub-agents, where there were any; not contained in `tokens`.
    pub sub_agents: Option<SubAgents>,
    /// All classes, sub-agents included; known also where the classes are not.
    pub total: Option<u64>,
    /// Part of the output that was reasoning.
    pub reasoning: Option<u64>,
    /// The record ended before the agent did: what is known is the least it can have been.
    pub at_least: bool,
    /// US dollars as the agent computes them, by a price list of its own.
    pub cost_usd: Option<f64>,
}

/// Tokens of sub-agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubAgents {
    /// By class, where told.
    pub tokens: TokenUsage,
    /// All classes.
    pub total: Option<u64>,
    /// Known from a summary only, not from the calls themselves.
    pub from_roll_up: bool,
}

/// Skills in an agent's record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillsSeen {
    /// Names of the skills that the agent program offered to its model; `None` where the record does not hold them.
    pub listed: Option<Vec<String>>,
    /// Names of skills that the model opened by a tool made for it, each once, in order.
    pub opened: Vec<String>,
}

impl SkillsSeen {
    pub(super) fn open(&mut self, name: &str) {
        if !self.opened.iter().any(|known| known == name) {
            self.opened.push(name.to_owned());
        }
    }
}

/// How an agent says it ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ReportedEnd {
    /// The record has no end: the agent was killed, or tells none.
    #[default]
    NotTold,
    /// Done.
    Completed,
    /// A limit that the agent keeps by itself.
    Limit {
        /// Which one, in its words.
        what: String,
    },
    /// The conversation no longer fits the model's context.
    ContextFull {
        /// In its words.
        message: String,
    },
    /// The model declined.
    Refused,
    /// The model's provider failed or refused.
    Provider {
        /// HTTP status, where it came to one.
        status: Option<u16>,
        /// In the agent's words.
        message: String,
    },
    /// Any other error.
    Failed {
        /// In its words.
        message: String,
    },
}

/// Lines of a record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// JSON objects.
    pub events: u64,
    /// Lines that begin an object and do not end it.
    pub unreadable: u64,
    /// Lines that are no JSON object; kept in the trace as asides.
    pub log_lines: u64,
    /// Lines left out for their length.
    pub left_out: u64,
}
