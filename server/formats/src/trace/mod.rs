//! What agents print and keep, read into the neutral trace: one file per agent. Input is hostile and may be cut anywhere: lines are read as
//! they come, capped, and never make the reader fail; what could not be read is said in [`Reading::notes`].

pub mod atif;
mod claude;
mod codex;
mod draft;
mod gemini;
mod lines;
mod mini;
mod openclaw;
mod opencode;
mod openhands;
mod qwen;
mod reader;
mod reading;
mod text;
mod usage;

pub use reader::{TraceFormat, TraceReader, read};
pub use reading::{CallReport, Counts, Reading, ReportedEnd, SelfReport, SkillsSeen, SubAgents};
