//! `config/benchmark_config.yaml`: what the benchmark says of itself and of each skill. It is read as its own program reads it (a byte-order
//! mark is passed over, of a repeated key the last counts); what that loses is told.

use std::time::Duration;

use domain::finding::{Finding, Severity};

use crate::skill::outline::{Node, outline};

/// The file in a checkout.
pub(super) const FILE: &str = "config/benchmark_config.yaml";
/// What the original gives a container where the file does not say.
const CPUS: f64 = 4.0;
const MEMORY_MB: u64 = 16 << 10;
const AGENT_SECONDS: f64 = 1800.0;
const TEST_SECONDS: f64 = 600.0;

/// The benchmark.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Config {
    pub(super) workspace: String,
    pub(super) tasks: String,
    pub(super) tests: String,
    pub(super) network: bool,
    pub(super) skills: Vec<Skill>,
}

/// One skill of it, with all that its tasks run in.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Skill {
    pub(super) id: String,
    /// Such as `feature`.
    pub(super) kind: Option<String>,
    pub(super) line: Option<u32>,
    pub(super) url: Option<String>,
    pub(super) commit: Option<String>,
    pub(super) sparse: Vec<String>,
    pub(super) image: Option<String>,
    pub(super) env: Vec<(String, String)>,
    pub(super) setup: Vec<String>,
    pub(super) cpus: f64,
    pub(super) memory_mb: u64,
    pub(super) agent_time: Duration,
    pub(super) builds: Vec<Command>,
    pub(super) tests: Option<Command>,
    pub(super) min_pass_rate: f64,
    /// What is to be said of its entry; errors make its tasks unusable.
    pub(super) findings: Vec<Finding>,
}

/// A command of an evaluation.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Command {
    pub(super) command: String,
    pub(super) wanted: i64,
    pub(super) seconds: f64,
}

/// Reads the file. `None` where it is no YAML or no list of skills (there is an error then).
pub(super) fn read(text: &str, out: &mut Vec<Finding>) -> Option<Config> {
    if text.starts_with('\u{feff}') {
        out.push(Finding::note(
            "byte_order_mark",
            FILE,
            "the file begins with a byte-order mark, which is passed over",
        ));
    }
    let root = match outline(text) {
        Ok(root) => root,
        Err(fault) => {
            out.push(fault.finding(FILE));
            return None;
        }
    };
    for (before, key) in root.repeated() {
        let message =
            format!("the key `{}` stands here a second time; the one in line {} has no effect", key.text, before.line);
        let finding = Finding::warning("yaml_duplicate_key", FILE, message).at(key.line, Some(key.column));
        out.push(finding.hint("keep one of the two; the last is taken, as the benchmark's own program does"));
    }
    let skills = root.get("skills").map(Node::items).unwrap_or_default();
    if skills.is_empty() {
        let finding = Finding::error("no_skills", FILE, "the file lists no skills");
        out.push(finding.hint("bring the checkout as it is published"));
        return None;
    }
    let global = |key: &str, usual: &str| {
        root.get("global").and_then(|global| global.get(key)?.text()).unwrap_or_else(|| usual.to_owned())
    };
    let config = Config {
        workspace: global("workspace_dir", "/workspace"),
        tasks: global("tasks_dir", "tasks"),
        tests: global("tests_dir", "tests"),
        network: global("network_mode", "bridge") != "none",
        skills: skills.iter().map(skill).collect(),
    };
    for (index, skill) in config.skills.iter().enumerate() {
        if config.skills.iter().take(index).any(|before| before.id == skill.id) {
            let message = format!("the skill `{}` is listed a second time and is not used", skill.id);
            out.push(placed(Finding::error("skill_twice", FILE, message), skill.line).hint("keep one of the two"));
        }
    }
    Some(config)
}

fn placed(finding: Finding, line: Option<u32>) -> Finding {
    match line {
        Some(line) => finding.at(line, None),
        None => finding,
    }
}

fn skill(node: &Node) -> Skill {
    let nothing = Node::Map(Vec::new());
    let text = |node: &Node, key: &str| node.get(key).and_then(Node::text);
    let environment = node.get("environment").unwrap_or(&nothing);
    let repository = node.get("repo").unwrap_or(&nothing);
    let limits = environment.get("limits").unwrap_or(&nothing);
    let line = node.line();
    let mut findings = Vec::new();
    let mut say = |severity, code: &str, message: String| {
        findings.push(placed(Finding::new(severity, code, FILE, message), line));
    };
    if text(node, "id").is_none() {
        say(Severity::Error, "no_id", "this entry has no id".to_owned());
    }
    for key in ["dockerfile", "build_context", "build_args", "pre_process"] {
        if environment.get(key).is_some_and(Node::says_something) {
            say(Severity::Warning, "not_applied", format!("`environment.{key}` is not applied"));
        }
    }
    let seconds = limits.get("total_timeout_sec").and_then(Node::number).unwrap_or(AGENT_SECONDS);
    let agent_time = Duration::try_from_secs_f64(seconds).unwrap_or_else(|_| Duration::from_secs_f64(AGENT_SECONDS));
    let mut skill = Skill {
        id: text(node, "id").unwrap_or_default(),
        kind: text(node, "type"),
        line,
        url: text(repository, "url"),
        commit: text(repository, "commit"),
        sparse: texts(repository.get("sparse_checkout")),
        image: text(environment, "base_image"),
        env: environment.get("env_vars").map(variables).unwrap_or_default(),
        setup: texts(environment.get("setup_commands")),
        cpus: limits.get("cpus").and_then(Node::number).filter(|cpus| *cpus > 0.0).unwrap_or(CPUS),
        memory_mb: limits.get("memory").and_then(Node::text).and_then(|text| megabytes(&text)).unwrap_or(MEMORY_MB),
        agent_time,
        builds: Vec::new(),
        tests: None,
        min_pass_rate: 1.0,
        findings,
    };
    // The original looks at the entry itself first.
    let evaluations = [node, environment].into_iter().filter_map(|place| place.get("evaluation"));
    let evaluations = evaluations.map(Node::items).find(|items| !items.is_empty()).unwrap_or_default();
    evaluations.iter().for_each(|evaluation| skill.evaluation(evaluation));
    if skill.tests.is_none() {
        skill.say(Severity::Error, "no_tests", "no test command is given for this skill".to_owned(), line);
    }
    skill
}

impl Skill {
    fn say(&mut self, severity: Severity, code: &str, message: String, line: Option<u32>) {
        self.findings.push(placed(Finding::new(severity, code, FILE, message), line));
    }

    fn evaluation(&mut self, node: &Node) {
        let line = node.line();
        let method = node.get("method").and_then(Node::text).unwrap_or_default();
        if node.get("enabled").and_then(Node::text).as_deref() == Some("false") {
            return self.say(
                Severity::Note,
                "evaluation_disabled",
                format!("the evaluation `{method}` is switched off"),
                line,
            );
        }
        let nothing = Node::Map(Vec::new());
        let params = node.get("params").unwrap_or(&nothing);
        let number = |key: &str, usual: f64| params.get(key).and_then(Node::number).unwrap_or(usual);
        let command = |key: &str| {
            let command = params.get(key).and_then(Node::text)?;
            let wanted = number("expected_exit_code", 0.0) as i64;
            Some(Command { command, wanted, seconds: number("timeout", TEST_SECONDS) })
        };
        match method.as_str() {
            "build_check" => match command("build_command") {
                Some(command) => self.builds.push(command),
                None => {
                    self.say(Severity::Error, "bad_build", "a build check without `build_command`".to_owned(), line)
                }
            },
            "unit_test" if self.tests.is_some() => {
                let message = "a second `unit_test`; one test command is run for a task".to_owned();
                self.say(Severity::Error, "several_tests", message, line);
            }
            "unit_test" => {
                self.tests = command("test_command");
                self.min_pass_rate = number("min_pass_rate", 1.0);
            }
            other => {
                let message = format!("the evaluation method {other:?} is not run");
                self.say(Severity::Error, "unsupported_evaluation", message, line);
            }
        }
    }
}

fn texts(node: Option<&Node>) -> Vec<String> {
    node.map(Node::items).unwrap_or_default().iter().filter_map(Node::text).collect()
}

fn variables(node: &Node) -> Vec<(String, String)> {
    node.entries().iter().filter_map(|(key, value)| Some((key.text.clone(), value.text()?))).collect()
}

/// `16g`, `512m`, as Docker reads them.
fn megabytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let text = text.trim_end_matches('b');
    let (number, unit) = match text.strip_suffix(['g', 'm']) {
        Some(number) => (number, if text.ends_with('g') { 1024.0 } else { 1.0 }),
        None => (text, 1.0 / (1024.0 * 1024.0)),
    };
    let mb = number.trim().parse::<f64>().ok()? * unit;
    (6.0..=16.0 * 1024.0 * 1024.0).contains(&mb).then_some(mb as u64)
}
