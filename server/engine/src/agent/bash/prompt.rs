//! What the model is told. Both arms get the same text; the list of skills is the only difference.

use std::fmt::Write;

use gateway::upstream::scripted::SKILL_LIST_MARK;
use serde_json::{Value, json};

use super::discover::ListedSkill;

/// The tool's name.
pub(super) const TOOL: &str = "bash";

/// The system prompt.
pub(super) fn system(workdir: &str, skills: &[ListedSkill]) -> String {
    let mut text = format!(
        "You solve a task in a Linux container by running commands. You have one tool, `{TOOL}`. Each call runs a command in a new shell \
         in {workdir}; only files and started servers outlive a call. Nobody can answer questions: decide yourself, and check your \
         work before you end. When the task is done, answer with a short summary and no tool call; that ends your work.\n\n\
         Skills are folders with instructions for special work. Skills that fit your work are listed below, if there are any: before \
         you begin work that a listed skill describes, read its SKILL.md with `{TOOL}` and follow it. Paths in it are relative to its \
         folder."
    );
    if !skills.is_empty() {
        let _ = write!(text, "\n\n{SKILL_LIST_MARK}");
        for skill in skills {
            let description = skill.description.split_whitespace().collect::<Vec<_>>().join(" ");
            let _ = write!(text, "\n- {}: {description} (file: {})", skill.name, skill.file);
        }
        text.push_str("\n</available_skills>");
    }
    text
}

/// The one tool.
pub(super) fn tool() -> Value {
    json!({
        "name": TOOL,
        "description": "Runs a command in a new bash (or sh) in the container and answers with its output and exit code. It has no \
                        terminal and no input. Of long output the middle is left out.",
        "input_schema": {
            "type": "object",
            "properties": {"command": {"type": "string", "description": "The command line."}},
            "required": ["command"],
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arms_differ_by_the_list_alone() {
        let skill = ListedSkill {
            name: "sheep".to_owned(),
            description: "Counts\n  sheep.".to_owned(),
            file: "/root/.agents/skills/sheep/SKILL.md".to_owned(),
        };
        let without = system("/app", &[]);
        let with = system("/app", &[skill]);
        let list = "\n\n<available_skills>\n- sheep: Counts sheep. (file: /root/.agents/skills/sheep/SKILL.md)\n</available_skills>";
        assert_eq!(with, format!("{without}{list}"));
    }
}
