//! Where a skill lies, as the agent has told it: `{skill:NAME}` in a script becomes that folder, so that one script drives agents which keep
//! skills in different places.

use serde_json::{Map, Value};

use super::script::{NamedTool, ToolUse, Turn};

const MARK: &str = "{skill:";

/// The turn with its places filled in from a request.
pub(super) fn filled(turn: &Turn, body: &[u8]) -> Turn {
    // A line break within JSON would stick to the path behind it.
    let body = String::from_utf8_lossy(body).replace("\\n", " ");
    let tool = |tool: NamedTool| NamedTool { input: object(&tool.input, &body), ..tool };
    let tool = |wanted: &ToolUse| ToolUse {
        one_of: wanted.alternatives().into_iter().map(tool).collect(),
        ..ToolUse::default()
    };
    Turn { text: text(&turn.text, &body), tools: turn.tools.iter().map(tool).collect(), ..turn.clone() }
}

fn object(fields: &Map<String, Value>, body: &str) -> Map<String, Value> {
    fields.iter().map(|(name, field)| (name.clone(), value(field, body))).collect()
}

fn value(found: &Value, body: &str) -> Value {
    match found {
        Value::String(found) => Value::String(text(found, body)),
        Value::Array(values) => values.iter().map(|found| value(found, body)).collect(),
        Value::Object(fields) => Value::Object(object(fields, body)),
        Value::Null | Value::Bool(_) | Value::Number(_) => found.clone(),
    }
}

fn text(text: &str, body: &str) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(MARK) {
        let Some((name, after)) = after.split_once('}') else { break };
        filled.push_str(before);
        filled.push_str(&folder(name, body));
        rest = after;
    }
    filled + rest
}

/// The last absolute path in a request that ends with the skill's name: what was told later is nearer to the work.
fn folder(name: &str, body: &str) -> String {
    let end = format!("/{name}");
    let in_path = |c: char| c.is_ascii_alphanumeric() || "._-/~".contains(c);
    let whole = |at: usize| {
        body.get(at + end.len()..).and_then(|rest| rest.chars().next()).is_none_or(|c| c == '/' || !in_path(c))
    };
    let path = |at: usize| {
        let before = body.get(..at)?;
        let path = before.rsplit(|c| !in_path(c)).next()?;
        ((path.starts_with('/') || path.starts_with("~/")) && path.len() > 1 && whole(at))
            .then(|| format!("{path}{end}"))
    };
    let told = body.rmatch_indices(&end).find_map(|(at, _)| path(at));
    told.unwrap_or_else(|| format!("~/.agents/skills/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_the_folder_that_the_agent_has_told() {
        for (body, want) in [
            (r#"{"text":"Base directory for this skill: /root/.claude/skills/count\n"}"#, "/root/.claude/skills/count"),
            (r#"<location>/root/.agents/skills/count/SKILL.md</location>"#, "/root/.agents/skills/count"),
            (r#"first /a/skills/count then \"/b/skills/count\""#, "/b/skills/count"),
            (r#"r1/count/SKILL.md, /x/skills/count-sheep, /x/skills/count.txt, /count"#, "~/.agents/skills/count"),
            (r#"(file: ~/.own/skills/count/SKILL.md)"#, "~/.own/skills/count"),
            ("", "~/.agents/skills/count"),
        ] {
            assert_eq!(
                text("python3 {skill:count}/run.py {skill:", body),
                format!("python3 {want}/run.py {{skill:"),
                "{body}"
            );
        }
    }

    #[test]
    fn every_text_of_a_turn_is_filled() {
        let turn: Turn = serde_json::from_value(serde_json::json!({"text": "{skill:a}", "tools": [
            {"name": "bash", "input": {"command": "{skill:a}", "more": [{"x": "{skill:a}"}, 1]}},
            {"one_of": [{"name": "bash", "input": {"command": "{skill:a}"}}]},
            {"open_skill": "a"},
        ]}))
        .unwrap();
        let filled = format!("{:?}", filled(&turn, b"/s/a"));
        assert_eq!((filled.matches("/s/a").count(), filled.contains("{skill:")), (5, false), "{filled}");
    }
}
