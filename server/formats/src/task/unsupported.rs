//! What tasks can ask for and this product does not do: refused with a clear word, never run as something else.

use domain::finding::{Finding, Severity};
use domain::tree::LoadedTree;
use serde_json::Value;

use super::limits;
use super::settings::{Section, Source, brief, says_something};

const HINT: &str = "one agent, one instruction and one container are what an evaluation compares";

/// Several agents, several steps, a simulated user; and what is merely without effect.
pub(super) fn top_level(source: &Source, out: &mut Vec<Finding>) {
    let asked = |key: &str| source.values.get(key).is_some_and(says_something);
    for (key, what) in [
        ("steps", "several steps"),
        ("agents", "several agents or roles"),
        ("scenes", "scenes"),
        ("user", "a simulated user"),
    ] {
        if asked(key) {
            let message = format!("the task has {what} (`{key}`), which is not supported");
            out.push(source.finding(Severity::Error, "unsupported_multi_agent", key, message).hint(HINT));
        }
    }
    for key in ["profile", "profiles", "reward"] {
        if asked(key) {
            let message = format!("`{key}` is not applied");
            out.push(source.finding(Severity::Warning, "not_applied", key, message));
        }
    }
}

/// Prompts of further roles, steps in folders of their own, and a conversation to go on with.
pub(super) fn prompt_files(files: &LoadedTree, out: &mut Vec<Finding>) {
    if let Some((path, _)) = files.iter().find(|(path, _)| is_step(path.as_str())) {
        let message = "the task has several steps (`steps/`), which are not supported";
        out.push(Finding::error("unsupported_multi_agent", path.as_str(), message).hint(HINT));
    }
    if files.get("trajectory.json").is_some() {
        let message = "the task gives the agent an earlier conversation to go on with, which is not supported";
        let hint = "tell the agent in the instruction what it has to know, and remove the file";
        out.push(Finding::error("unsupported_prior_context", "trajectory.json", message).hint(hint));
    }

    let is_other = |name: &str| name == "user-persona.md" || name.starts_with("role.") || name.starts_with("scene.");
    let mut others = files.iter().filter(|(path, _)| path.below("prompts").is_some_and(|file| is_other(file.as_str())));
    if let Some((path, _)) = others.next() {
        let message = "the task has prompts for several agents or a simulated user, which are not supported";
        out.push(Finding::error("unsupported_multi_agent", path.as_str(), message).hint(HINT));
    }
}

/// `steps/<name>/instruction.md`, as Harbor has it.
fn is_step(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    matches!(parts.as_slice(), ["steps", _, "instruction.md"])
}

/// Verifiers that are no script, or run elsewhere than in the task's container.
pub(super) fn verifier(section: &Section<'_>, out: &mut Vec<Finding>) {
    if let Some(kind) = section.text("type", out).filter(|kind| kind != "test-script") {
        let message = format!("the verifier is of type {:?}; only deterministic test scripts are run", brief(&kind));
        out.push(
            section
                .error("unsupported_verifier", "type", message)
                .hint("write a `test.sh` that decides without a model"),
        );
    }
    if let Some(service) = section.text("service", out).filter(|service| service != "main") {
        let message =
            format!("the verifier runs in the service {:?}; only one container, `main`, is run", brief(&service));
        out.push(section.error("several_services", "service", message));
    }
    let standard_range = |range: &Value| {
        let ends: Vec<Option<f64>> = range.as_array().into_iter().flatten().map(Value::as_f64).collect();
        ends == [Some(0.0), Some(1.0)]
    };
    if section.get("reward_range").is_some_and(|range| says_something(range) && !standard_range(range)) {
        out.push(section.error("unsupported_reward_range", "reward_range", "rewards are read from 0 to 1 only"));
    }
}

/// Environments that are more than one Linux container.
pub(super) fn environment(section: &Section<'_>, out: &mut Vec<Finding>) {
    if let Some(os) = section.text("os", out).filter(|os| !os.eq_ignore_ascii_case("linux")) {
        out.push(section.error(
            "unsupported_os",
            "os",
            format!("the task runs on {:?}; only linux is supported", brief(&os)),
        ));
    }
    for (key, what) in [
        ("setup_commands", "commands to run before the agent starts"),
        ("mcp_servers", "MCP servers for the agent"),
        ("tpu", "a TPU"),
    ] {
        if section.get(key).is_some_and(says_something) {
            let message = format!("the task asks for {what} ({}), which is not supported", section.label(key));
            out.push(section.error("unsupported_environment", key, message));
        }
    }
    for key in ["healthcheck", "skills_dir"] {
        if section.get(key).is_some_and(says_something) {
            let message = format!("{} has no effect", section.label(key));
            out.push(section.finding(Severity::Note, "not_applied", key, message));
        }
    }
}

/// A task that needs a GPU would fail without one in both arms, and that would be no failure of the agent's.
pub(super) fn gpus(section: &Section<'_>, out: &mut Vec<Finding>) -> u32 {
    let gpus = limits::gpus(section, out).unwrap_or(0);
    if gpus > 0 {
        let message = format!("the task asks for {gpus} GPUs; containers get none");
        out.push(section.error("unsupported_gpu", "gpus", message).hint("set `gpus` to 0 if it runs without"));
    }
    gpus
}
