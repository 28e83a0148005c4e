//! The form of a script file, `skilldelta-model-1`. Unknown keys are refused, so that a misspelt condition cannot hold by accident.

use serde::Deserialize;
use serde_json::{Map, Value};

/// The word that a script begins with.
pub const SCHEMA: &str = "skilldelta-model-1";

/// A whole script.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// [`SCHEMA`].
    pub schema: String,
    /// For people.
    #[serde(default)]
    pub note: Option<String>,
    /// The first that holds answers.
    pub rules: Vec<Rule>,
}

/// When to answer what.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// For people.
    #[serde(default)]
    pub name: Option<String>,
    /// All of it must hold.
    #[serde(default)]
    pub when: When,
    /// By the number of times that the model has spoken; past the end the last one again.
    pub turns: Vec<Turn>,
}

/// Conditions; an absent one holds. White space runs count as one blank.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// A text (the skill's description) that the agent told the model, tool results excepted; or whether our own agent's list of skills
    /// is there.
    #[serde(default)]
    pub skill_listed: Option<Listed>,
    /// In what the user said. Agents put messages of their own beside the task, so all of it is looked at, tool results excepted.
    #[serde(default)]
    pub task_contains: Texts,
    /// In the system prompt.
    #[serde(default)]
    pub system_contains: Texts,
}

/// How the presence of skills is asked for.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Listed {
    /// Any skill, or none.
    Any(bool),
    /// These descriptions.
    Described(Texts),
}

/// One text or several; all must occur.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Texts {
    /// One.
    One(String),
    /// Several.
    All(Vec<String>),
}

impl Default for Texts {
    fn default() -> Self {
        Self::All(Vec::new())
    }
}

impl Texts {
    /// The texts.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::All(texts) => texts,
        }
    }
}

/// What the model says at one turn.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Its words. Here and in tools' arguments `{skill:NAME}` is the folder of that skill as the agent has told it, or where it tells none
    /// `~/.agents/skills/NAME`: agents keep skills in places of their own.
    #[serde(default)]
    pub text: String,
    /// The tools it calls; none ends its turn. Left out where the agent offers no tool at all, as in requests for a title.
    #[serde(default)]
    pub tools: Vec<ToolUse>,
    /// Overrides `end_turn` or `tool_use`.
    #[serde(default)]
    pub stop_reason: Option<String>,
    /// Tokens; what is not given is estimated.
    #[serde(default)]
    pub usage: ScriptedUsage,
    /// The call fails instead.
    #[serde(default)]
    pub error: Option<ScriptedError>,
    /// The call does not get through, or not to its end.
    #[serde(default)]
    pub fault: Option<ScriptedFault>,
}

impl Turn {
    const fn has_answer(&self) -> bool {
        !(self.text.is_empty() && self.tools.is_empty() && self.fault.is_none())
    }
}

/// What can become of a call beside any answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptedFault {
    /// No connection.
    Unreachable,
    /// No byte ever comes.
    Hang,
    /// The answer breaks off in its middle.
    Cut,
}

/// A tool call: one tool, or the first of several that the agent offers. `bash` with a `command` stands for the agent's shell, whatever
/// its name, and what a tool's schema requires beside is filled in.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolUse {
    /// The tool, as the agent names it.
    #[serde(default)]
    pub name: Option<String>,
    /// Its arguments.
    #[serde(default)]
    pub input: Option<Map<String, Value>>,
    /// Alternatives, in place of the two above.
    #[serde(default)]
    pub one_of: Vec<NamedTool>,
    /// In place of all these: opens the skill of this name, by the agent's tool for that, or where it has none by reading `SKILL.md` in its
    /// shell.
    #[serde(default)]
    pub open_skill: Option<String>,
}

/// A tool call that is certain.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedTool {
    /// The tool, as the agent names it.
    pub name: String,
    /// Its arguments.
    pub input: Map<String, Value>,
}

impl ToolUse {
    /// All that it may be, in order.
    #[must_use]
    pub fn alternatives(&self) -> Vec<NamedTool> {
        match (&self.open_skill, &self.name, &self.input) {
            (Some(skill), ..) => opening(skill),
            (None, Some(name), Some(input)) => vec![NamedTool { name: name.clone(), input: input.clone() }],
            (None, ..) => self.one_of.clone(),
        }
    }

    fn is_sound(&self) -> bool {
        let single = self.name.is_some() && self.input.is_some();
        let none = self.name.is_none() && self.input.is_none();
        match (self.one_of.is_empty(), &self.open_skill) {
            (true, None) => single,
            (false, None) => none,
            (is_all, Some(skill)) => none && is_all && !skill.trim().is_empty(),
        }
    }
}

/// How agents open a skill.
fn opening(skill: &str) -> Vec<NamedTool> {
    let tool = |name: &str, fields: &[(&str, String)]| NamedTool {
        name: name.to_owned(),
        input: fields.iter().map(|(name, value)| ((*name).to_owned(), Value::String(value.clone()))).collect(),
    };
    let name = || skill.to_owned();
    vec![
        tool("Skill", &[("skill", name())]),
        tool("skill", &[("skill", name()), ("name", name())]),
        tool("activate_skill", &[("name", name())]),
        tool("invoke_skill", &[("name", name())]),
        tool("bash", &[("command", format!("cat {{skill:{skill}}}/SKILL.md"))]),
    ]
}

/// Tokens of one turn. By rule, not by any tokenizer: absent `input` is a quarter of the request's bytes, absent `output` a quarter of
/// the answer's content as JSON, both rounded up; absent cache classes are 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedUsage {
    /// Fresh prompt tokens.
    #[serde(default)]
    pub input: Option<u64>,
    /// Prompt tokens read from a cache.
    #[serde(default)]
    pub cache_read: Option<u64>,
    /// Prompt tokens written to a cache.
    #[serde(default)]
    pub cache_write: Option<u64>,
    /// Tokens written.
    #[serde(default)]
    pub output: Option<u64>,
}

/// An HTTP error in the vendor's form.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedError {
    /// HTTP status, 400..=599.
    pub status: u16,
    /// `error.type`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `error.message`.
    pub message: String,
}

/// A script that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// Not JSON of this form.
    #[error("{file}: not a model script: {reason}; it must be JSON of the form '{SCHEMA}'")]
    Form {
        /// The file.
        file: String,
        /// Reason with line and column.
        reason: String,
    },
    /// A rule that makes no sense.
    #[error("{file}: rule {rule}: {reason}")]
    Rule {
        /// The file.
        file: String,
        /// From 1, with its name where it has one.
        rule: String,
        /// Why, and what to do.
        reason: &'static str,
    },
}

impl Script {
    /// Reads and checks a script. `file` is only named in errors.
    ///
    /// # Errors
    /// [`ScriptError`] with the place.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, ScriptError> {
        let form = |reason: String| ScriptError::Form { file: file.to_owned(), reason };
        let script: Self = serde_json::from_slice(bytes).map_err(|error| form(error.to_string()))?;
        if script.schema != SCHEMA {
            return Err(form(format!("its schema is '{}'", script.schema)));
        }
        for (index, rule) in script.rules.iter().enumerate() {
            if let Some(reason) = fault(rule) {
                let name = rule.name.as_ref().map(|name| format!(" ('{name}')")).unwrap_or_default();
                return Err(ScriptError::Rule { file: file.to_owned(), rule: format!("{}{name}", index + 1), reason });
            }
        }
        Ok(script)
    }
}

fn fault(rule: &Rule) -> Option<&'static str> {
    let listed = match &rule.when.skill_listed {
        Some(Listed::Described(texts)) => texts.as_slice(),
        Some(Listed::Any(_)) | None => &[],
    };
    let texts = [listed, rule.when.task_contains.as_slice(), rule.when.system_contains.as_slice()];
    if rule.turns.is_empty() {
        Some("it has no turns; give at least one")
    } else if texts.iter().copied().flatten().any(|text| text.trim().is_empty()) {
        Some("a condition holds an empty text, which would always hold; leave the condition out")
    } else if rule.turns.iter().any(|turn| turn.error.is_some() && turn.has_answer()) {
        Some("a turn has both an error and an answer; choose one")
    } else if rule.turns.iter().filter_map(|turn| turn.error.as_ref()).any(|error| !(400..=599).contains(&error.status))
    {
        Some("an error's status must lie in 400..=599")
    } else if !rule.turns.iter().flat_map(|turn| &turn.tools).all(ToolUse::is_sound) {
        Some("a tool needs a name and an input, 'one_of' with such, or 'open_skill'")
    } else {
        None
    }
}
