//! Which of an agent's tools a turn of a script uses. Every agent names its shell in its own way, so a call of `bash` stands for
//! whichever of them is on offer.

use serde_json::{Map, Value, json};

use super::asked::Offered;
use super::script::{NamedTool, ToolUse};

/// What agents call their shell.
const SHELLS: [&str; 11] = [
    "bash",
    "Bash",
    "shell_command",
    "exec_command",
    "shell",
    "run_shell_command",
    "terminal",
    "execute_bash",
    "exec",
    "run_command",
    "execute_command",
];
/// How a script calls a shell.
const SHELL: &str = "bash";

/// The call as this agent takes it.
pub(super) fn choose(tool: &ToolUse, offered: &[Offered]) -> NamedTool {
    let wanted = tool.alternatives();
    let exact =
        wanted.iter().find_map(|tool| offered.iter().find(|offer| offer.name == tool.name).map(|offer| (tool, offer)));
    if let Some((tool, offer)) = exact {
        return NamedTool { name: tool.name.clone(), input: filled(tool.input.clone(), offer) };
    }
    let shell = SHELLS.iter().find_map(|name| offered.iter().find(|offer| offer.name == *name));
    let command = wanted.iter().filter(|tool| tool.name == SHELL).find_map(|tool| tool.input.get("command")?.as_str());
    match (shell, command) {
        (Some(offer), Some(command)) => {
            NamedTool { name: offer.name.clone(), input: filled(in_shell(command, offer), offer) }
        }
        // The agent will say that it has no such tool, which is better than silence.
        _ => wanted.into_iter().next().unwrap_or_default(),
    }
}

fn in_shell(command: &str, offer: &Offered) -> Map<String, Value> {
    let property = |name: &str| offer.schema.get("properties").and_then(|properties| properties.get(name));
    let (name, schema) = match (property("command"), property("cmd")) {
        (None, Some(schema)) => ("cmd", Some(schema)),
        (schema, _) => ("command", schema),
    };
    let is_list = schema.is_some_and(|schema| {
        schema.get("type").and_then(Value::as_str).is_some_and(|kind| kind.eq_ignore_ascii_case("array"))
    });
    let value = if is_list { json!(["bash", "-lc", command]) } else { json!(command) };
    Map::from_iter([(name.to_owned(), value)])
}

/// Adds what the tool's schema requires beside.
fn filled(mut input: Map<String, Value>, offer: &Offered) -> Map<String, Value> {
    let required =
        offer.schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    for name in required {
        if !input.contains_key(name) {
            let schema = offer.schema.get("properties").and_then(|properties| properties.get(name));
            input.insert(name.to_owned(), plain_value(schema));
        }
    }
    input
}

fn plain_value(schema: Option<&Value>) -> Value {
    let choice =
        schema.and_then(|schema| schema.get("enum")).and_then(Value::as_array).and_then(|choices| choices.first());
    if let Some(choice) = choice {
        return choice.clone();
    }
    let kind = schema.and_then(|schema| schema.get("type")).and_then(Value::as_str).unwrap_or("string");
    match kind.to_ascii_lowercase().as_str() {
        "boolean" => json!(false),
        "integer" | "number" => schema.and_then(|schema| schema.get("minimum")).cloned().unwrap_or_else(|| json!(1)),
        "array" => json!([]),
        "object" => json!({}),
        _ => json!("scripted"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(name: &str, schema: Value) -> Offered {
        Offered { name: name.to_owned(), schema: schema.as_object().unwrap().clone(), ..Offered::default() }
    }

    #[test]
    fn a_shell_call_becomes_the_agents_own() {
        let call: ToolUse = serde_json::from_value(json!({"name": "bash", "input": {"command": "ls"}})).unwrap();
        let text = json!({"type": "string"});
        for (name, schema, input) in [
            ("bash", json!({}), json!({"command": "ls"})),
            (
                "bash",
                json!({"properties": {"description": text}, "required": ["command", "description"]}),
                json!({"command": "ls", "description": "scripted"}),
            ),
            ("Bash", json!({"properties": {"command": text}}), json!({"command": "ls"})),
            ("exec_command", json!({"properties": {"cmd": text}, "required": ["cmd"]}), json!({"cmd": "ls"})),
            ("shell", json!({"properties": {"command": {"type": "array"}}}), json!({"command": ["bash", "-lc", "ls"]})),
            (
                "run_shell_command",
                json!({"properties": {"command": text, "is_background": {"type": "BOOLEAN"}}, "required": ["command", "is_background"]}),
                json!({"command": "ls", "is_background": false}),
            ),
            (
                "terminal",
                json!({"properties": {"risk": {"enum": ["LOW"]}, "n": {"type": "integer", "minimum": 3}}, "required": ["risk", "n"]}),
                json!({"command": "ls", "risk": "LOW", "n": 3}),
            ),
        ] {
            let got = choose(&call, &[offer("other", json!({})), offer(name, schema)]);
            assert_eq!((got.name.as_str(), Value::Object(got.input)), (name, input));
        }
        assert_eq!(choose(&call, &[]).name, "bash");
    }

    #[test]
    fn of_alternatives_the_first_on_offer_is_taken() {
        let call: ToolUse = serde_json::from_value(json!({"one_of": [
            {"name": "Skill", "input": {"skill": "x"}},
            {"name": "activate_skill", "input": {"name": "x"}},
            {"name": "bash", "input": {"command": "cat SKILL.md"}}
        ]}))
        .unwrap();
        for (offered, want) in
            [(vec!["bash", "activate_skill"], "activate_skill"), (vec!["exec"], "exec"), (vec![], "Skill")]
        {
            let offered: Vec<_> = offered.into_iter().map(|name| offer(name, json!({}))).collect();
            assert_eq!(choose(&call, &offered).name, want);
        }
    }
}
