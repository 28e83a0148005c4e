//! What is aligned: one tool call with the words before it, or words alone; and its key, by which two of them are the same.

use serde::{Deserialize, Serialize};

use super::command::{Command, commands, is_test_run};
use super::normal::{normal_json, normal_text};
use crate::trace::{Source, ToolCall, ToolKind, Trace, TraceStep};

/// Where a unit lies in its own trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UnitRef {
    /// Index into [`Trace::steps`].
    pub step: usize,
    /// Index into the step's calls; `None` = the step makes none, its words are the unit.
    pub call: Option<usize>,
}

impl UnitRef {
    /// Whether this unit carries what belongs to the step as a whole: its words and its tokens.
    #[must_use]
    pub fn is_first(self) -> bool {
        self.call.is_none_or(|call| call == 0)
    }
}

/// A unit, ready to be compared.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    pub at: UnitRef,
    /// Who speaks, or which tool is used: units of different kinds are never put side by side.
    pub kind: String,
    /// Equal for units that do the same, whatever names, times and numbers of processes stand in them.
    pub key: String,
    /// What two units of one kind may have in common, where their keys differ.
    pub features: Vec<String>,
    pub is_call: bool,
    /// The file that an edit or a write names.
    pub changes: Option<String>,
    pub opens_skill: bool,
    pub is_test_run: bool,
    /// The answer without what differs between any two runs; `None` where there is none.
    pub result: Option<String>,
}

/// Argument names under which agents give a file.
const FILE_FIELDS: [&str; 7] = ["file_path", "path", "filename", "absolute_path", "filePath", "notebook_path", "file"];
/// Most features of a unit: what follows in a long command or text changes little.
const MOST_FEATURES: usize = 24;
/// Argument names under which agents give a shell command.
const COMMAND_FIELDS: [&str; 4] = ["command", "cmd", "script", "input"];

/// The units of a trace, in order.
pub(super) fn units(trace: &Trace) -> Vec<Unit> {
    trace.steps.iter().enumerate().flat_map(|(index, step)| of_step(index, step)).collect()
}

fn of_step(index: usize, step: &TraceStep) -> Vec<Unit> {
    if step.calls.is_empty() {
        return vec![words(index, step)];
    }
    let within = if step.parent.is_some() { "sub-agent " } else { "" };
    step.calls.iter().enumerate().map(|(call, made)| of_call(index, call, made, within)).collect()
}

fn words(step: usize, said: &TraceStep) -> Unit {
    let who = match (said.aside, said.source) {
        (true, _) => "aside",
        (false, Source::System) => "instructions",
        (false, Source::User) => "task",
        (false, Source::Agent) => "words",
    };
    let text = normal_text(&said.text);
    Unit {
        at: UnitRef { step, call: None },
        kind: who.to_owned(),
        features: text.split(' ').take(MOST_FEATURES).map(str::to_owned).collect(),
        key: format!("{who} {text}"),
        is_call: false,
        changes: None,
        opens_skill: false,
        is_test_run: false,
        result: None,
    }
}

fn of_call(step: usize, call: usize, made: &ToolCall, within: &str) -> Unit {
    let text_of = |names: &[&str]| names.iter().find_map(|name| made.arguments.get(name)?.as_str());
    let line = match made.tool {
        ToolKind::Shell => text_of(&COMMAND_FIELDS).or_else(|| made.arguments.as_str()),
        ToolKind::Read | ToolKind::Edit | ToolKind::Write | ToolKind::Search | ToolKind::Skill | ToolKind::Other => {
            None
        }
    };
    let programs = line.map(commands).unwrap_or_default();
    let file = text_of(&FILE_FIELDS);
    // Tools without a canonical kind are told apart by the agent's own name for them.
    let named = if made.tool == ToolKind::Other { made.name.as_str() } else { "" };
    let is_skill = |file: &str| file.ends_with("SKILL.md");
    let opens_skill = made.tool == ToolKind::Skill
        || file.is_some_and(is_skill)
        || programs.iter().flat_map(|program| &program.files).any(|file| is_skill(file));
    // Opening a skill is a step of its own, whichever tool does it: never beside a call that does something else.
    let kind = if opens_skill { format!("{within}opens a skill") } else { format!("{within}{:?} {named}", made.tool) };
    Unit {
        at: UnitRef { step, call: Some(call) },
        key: format!("{kind} {}", line.map_or_else(|| normal_json(&made.arguments), normal_text)),
        kind,
        features: if line.is_some() { of_programs(&programs) } else { of_fields(&made.arguments) },
        is_call: true,
        changes: file.filter(|_| matches!(made.tool, ToolKind::Edit | ToolKind::Write)).map(str::to_owned),
        opens_skill,
        is_test_run: programs.iter().any(is_test_run),
        result: made.result.as_ref().map(|result| {
            let told = if result.is_error { "error" } else { "" };
            format!("{:?} {told} {}", result.exit_code, normal_text(&result.text))
        }),
    }
}

fn of_programs(programs: &[Command]) -> Vec<String> {
    let each = programs.iter().flat_map(|Command { program, subcommand, files }| {
        let subcommand = subcommand.iter().map(move |subcommand| format!("{program} {subcommand}"));
        std::iter::once(program.clone()).chain(subcommand).chain(files.iter().cloned())
    });
    each.take(MOST_FEATURES).collect()
}

fn of_fields(arguments: &serde_json::Value) -> Vec<String> {
    let Some(fields) = arguments.as_object() else { return vec![normal_json(arguments)] };
    fields.iter().take(MOST_FEATURES).map(|(name, value)| format!("{name}={}", normal_json(value))).collect()
}
