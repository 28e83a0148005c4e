//! What a trace proves about the use of a skill: whether the model was told of it, and whether it opened it.

use domain::path::RelPath;
use domain::skill_audit::Activation;
use domain::trace::{Source, ToolCall, ToolKind, Trace};
use serde_json::Value;

/// A skill, where it lies (or would lie) in the container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledSkill {
    /// From its manifest.
    pub name: String,
    /// From its manifest.
    pub description: String,
    /// Absolute folder, whose last segment is the skill's folder name.
    pub folder: String,
    /// Its files, relative to the folder.
    pub files: Vec<RelPath>,
}

/// Commands that name a file without opening it.
const ONLY_NAMES: [&str; 12] = ["ls", "find", "stat", "test", "[", "file", "du", "wc", "echo", "rm", "chmod", "tree"];

/// Reads a trace. Given the treatment's skills in both arms, it also proves the absence in the one without.
///
/// `listed` is unknown where the trace does not hold what the agent program told the model; both are unknown where no model spoke.
/// With several skills, one that was listed or opened is enough.
#[must_use]
pub fn activation(trace: &Trace, skills: &[InstalledSkill]) -> Activation {
    let told: Vec<String> = trace
        .steps
        .iter()
        .filter(|step| step.source == Source::System && !step.aside)
        .map(|step| one_blank(&step.text))
        .collect();
    let spoke = trace.steps.iter().any(|step| step.source == Source::Agent && step.usage.is_some());
    if told.is_empty() && !spoke {
        return Activation::default();
    }
    let is_listed = |skill: &InstalledSkill| told.iter().any(|text| text.contains(&one_blank(&skill.description)));
    let calls = || trace.steps.iter().flat_map(|step| &step.calls);
    let mut files_read: Vec<String> = Vec::new();
    for skill in skills {
        for file in skill.files.iter().filter(|file| calls().any(|call| reads(call, skill, file))) {
            files_read.push(format!("{}/{file}", skill.folder));
        }
    }
    files_read.sort();
    files_read.dedup();
    let opened = files_read.iter().any(|file| is_manifest(file))
        || skills.iter().any(|skill| calls().any(|call| invokes(call, skill)));
    Activation {
        listed: (!told.is_empty()).then(|| skills.iter().any(is_listed)),
        // What a stopped trace does not show may have been.
        opened: (opened || !trace.is_stopped()).then_some(opened),
        files_read,
        skill_text: None,
    }
}

fn is_manifest(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"))
}

/// A tool made for opening skills, called by the skill's name.
fn invokes(call: &ToolCall, skill: &InstalledSkill) -> bool {
    call.tool == ToolKind::Skill
        && succeeded(call)
        && texts(&call.arguments).iter().any(|text| *text == skill.name || *text == folder_name(skill))
}

fn reads(call: &ToolCall, skill: &InstalledSkill, file: &RelPath) -> bool {
    match call.tool {
        ToolKind::Skill => is_manifest(file.as_str()) && invokes(call, skill),
        ToolKind::Read | ToolKind::Search => {
            succeeded(call) && texts(&call.arguments).iter().any(|text| names(text, skill, file))
        }
        ToolKind::Shell => shell_reads(call, skill, file),
        ToolKind::Edit | ToolKind::Write | ToolKind::Other => false,
    }
}

/// A command that names the file and ended well; or whatever its end, one that names `SKILL.md` and showed the skill's description.
fn shell_reads(call: &ToolCall, skill: &InstalledSkill, file: &RelPath) -> bool {
    let commands = texts(&call.arguments);
    let opens =
        |text: &&str| names(text, skill, file) && text.split(['\n', ';', '|', '&']).any(|part| opens_in(part, file));
    if !commands.iter().any(opens) {
        return false;
    }
    let description = one_blank(&skill.description);
    let showed = call.result.as_ref().is_some_and(|result| one_blank(&result.text).contains(&description));
    succeeded(call) || (is_manifest(file.as_str()) && showed)
}

fn opens_in(part: &str, file: &RelPath) -> bool {
    let verb = part.split_whitespace().next().unwrap_or_default();
    part.contains(file.file_name()) && !ONLY_NAMES.contains(&verb)
}

/// Whether a text names the file: by its path, by the end of it from the skill's folder on, or by folder and relative path apart
/// (`cd FOLDER && cat FILE`).
fn names(text: &str, skill: &InstalledSkill, file: &RelPath) -> bool {
    let folder = skill.folder.trim_end_matches('/');
    let tail = format!("{}/{file}", folder_name(skill));
    let in_folder = has_word(text, folder) || has_word(text, folder_name(skill));
    has_word(text, &tail) || (in_folder && has_word(text, file.as_str()))
}

/// Whether `word` stands in `text` and is not the middle of a longer name.
fn has_word(text: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(inside) && !after.is_some_and(inside)
    })
}

fn folder_name(skill: &InstalledSkill) -> &str {
    skill.folder.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

fn succeeded(call: &ToolCall) -> bool {
    call.result.as_ref().is_some_and(|result| !result.is_error && result.exit_code.unwrap_or(0) == 0)
}

/// Every text in a call's arguments.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

fn one_blank(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use domain::trace::{ToolResult, TraceStep};
    use domain::usage::TokenUsage;
    use serde_json::json;

    use super::*;

    const SKILL_MD: &str = "/root/.agents/skills/count-sheep/SKILL.md";
    const SCRIPT: &str = "/root/.agents/skills/count-sheep/scripts/count.py";

    fn skill() -> InstalledSkill {
        InstalledSkill {
            name: "count-sheep".to_owned(),
            description: "Counts sheep.\n  Awake.".to_owned(),
            folder: "/root/.agents/skills/count-sheep".to_owned(),
            files: ["SKILL.md", "scripts/count.py"].map(|path| RelPath::new(path).unwrap()).to_vec(),
        }
    }

    fn step(source: Source, text: &str, calls: Vec<ToolCall>) -> TraceStep {
        let usage = (source == Source::Agent).then_some(TokenUsage::ZERO);
        TraceStep { calls, usage, ..TraceStep::said(source, text) }
    }

    fn call(tool: ToolKind, arguments: Value, code: i64, text: &str) -> ToolCall {
        let result =
            ToolResult { text: text.to_owned(), exit_code: Some(code), is_error: code != 0, duration_ms: None };
        ToolCall { id: "1".to_owned(), tool, name: "x".to_owned(), arguments, result: Some(result) }
    }

    fn check(tool: ToolKind, arguments: Value, code: i64, text: &str, files: &[&str]) {
        let steps = vec![
            step(Source::System, "", vec![]),
            step(Source::Agent, "", vec![call(tool, arguments.clone(), code, text)]),
        ];
        let got = activation(&Trace { steps }, &[skill()]);
        let opened = files.contains(&SKILL_MD);
        let want = Activation {
            listed: Some(false),
            opened: Some(opened),
            files_read: files.iter().map(|file| (*file).to_owned()).collect(),
            skill_text: None,
        };
        assert_eq!(got, want, "{arguments}");
    }

    #[test]
    fn opening_is_proven_by_a_call_that_reads_the_file_and_succeeds() {
        let shell = |command: &str, code, text: &str, files: &[&str]| {
            check(ToolKind::Shell, json!({"command": command}), code, text, files)
        };
        shell("cat /root/.agents/skills/count-sheep/SKILL.md", 0, "…", &[SKILL_MD]);
        shell("cd ~/.agents/skills && head -50 count-sheep/SKILL.md", 0, "…", &[SKILL_MD]);
        shell("cd /root/.agents/skills/count-sheep\ncat SKILL.md", 0, "…", &[SKILL_MD]);
        shell(
            "cat '/root/.agents/skills/count-sheep/SKILL.md' && make",
            2,
            "description: Counts sheep. Awake.\nmake: failed",
            &[SKILL_MD],
        );
        shell("python3 /root/.agents/skills/count-sheep/scripts/count.py", 0, "9", &[SCRIPT]);
        shell("cat /root/.agents/skills/count-sheep/SKILL.md", 1, "No such file", &[]);
        shell("ls -l /root/.agents/skills/count-sheep/SKILL.md", 0, "…", &[]);
        shell("cat /root/.agents/skills/recount-sheep/SKILL.md", 0, "…", &[]);
        shell("cat README.md; echo SKILL.md", 0, "…", &[]);
        check(ToolKind::Read, json!({"file_path": SKILL_MD}), 0, "…", &[SKILL_MD]);
        check(ToolKind::Skill, json!({"skill": "count-sheep"}), 0, "Launching skill: count-sheep", &[SKILL_MD]);
        check(ToolKind::Skill, json!({"skill": "count-sheep"}), 1, "not found", &[]);
        check(ToolKind::Write, json!({"path": SKILL_MD}), 0, "", &[]);
    }

    #[test]
    fn listing_is_the_description_in_what_the_model_was_told() {
        for (steps, listed, opened) in [
            (
                vec![step(Source::System, "- count-sheep: Counts sheep. Awake. (file: …)", vec![])],
                Some(true),
                Some(false),
            ),
            (
                vec![step(Source::System, "no skills, but count-sheep in a folder tree", vec![])],
                Some(false),
                Some(false),
            ),
            (vec![step(Source::Agent, "Counts sheep. Awake.", vec![])], None, Some(false)),
            (vec![step(Source::User, "Counts sheep. Awake.", vec![])], None, None),
        ] {
            let got = activation(&Trace { steps }, &[skill()]);
            assert_eq!((got.listed, got.opened), (listed, opened));
        }
    }

    #[test]
    fn what_a_stopped_trace_does_not_show_is_unknown() {
        let opens = call(ToolKind::Skill, json!({"skill": "count-sheep"}), 0, "Launching");
        for (calls, opened) in [(vec![], None), (vec![opens], Some(true))] {
            let steps = vec![step(Source::Agent, "x", calls), Trace::stop()];
            assert_eq!(activation(&Trace { steps }, &[skill()]).opened, opened);
        }
    }
}
