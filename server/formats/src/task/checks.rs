//! A verifier that is commands instead of a script: build checks and one test command in `task.toml`, and the `test.sh` made of them.
//! Its reward is the share of test cases that passed.

use std::time::Duration;

use domain::finding::Finding;
use domain::task::Scoring;
use serde_json::{Map, Value};

use super::limits;
use super::settings::{Section, Source, brief, scalar};

/// Keys of `[verifier]` that are read here.
pub(super) const KEYS: [&str; 5] = ["test_command", "test_timeout_sec", "tests_folder", "min_pass_rate", "builds"];
/// Where a verifier's files lie while it runs.
const TESTS: &str = "/tests";
const LIMIT: Duration = Duration::from_secs(600);
/// For what happens between the commands.
const SLACK: Duration = Duration::from_secs(60);

/// The commands of a verifier.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Checks {
    builds: Vec<Check>,
    tests: Check,
    folder: String,
    /// Least share of test cases that is a pass.
    pub(super) pass_mark: f64,
}

/// One command, run by bash in the task's working folder.
#[derive(Debug, Clone, PartialEq)]
struct Check {
    command: String,
    wanted: i64,
    limit: Duration,
}

/// The commands, where the settings name a test command.
pub(super) fn read(source: &Source, out: &mut Vec<Finding>) -> Option<Checks> {
    let section = source.section("verifier", out);
    let Some(command) = section.text("test_command", out) else {
        for key in KEYS.iter().skip(1).filter(|key| section.get(key).is_some()) {
            let message = format!("{} has an effect only with `test_command`", section.label(key));
            out.push(section.error("no_test_command", key, message).hint("name the command that runs the tests"));
        }
        return None;
    };
    let limit = limits::seconds(&section, "test_timeout_sec", out).unwrap_or(LIMIT);
    Some(Checks {
        builds: builds(&section, out),
        tests: Check { command, wanted: 0, limit },
        folder: folder(&section, out),
        pass_mark: pass_mark(&section, out),
    })
}

fn pass_mark(section: &Section<'_>, out: &mut Vec<Finding>) -> f64 {
    let Some(value) = section.get("min_pass_rate") else { return 1.0 };
    match value.as_f64().filter(|rate| (0.0..=1.0).contains(rate)) {
        Some(rate) => rate,
        None => {
            let message = format!("{} must be a number from 0 to 1", section.label("min_pass_rate"));
            out.push(section.error("bad_pass_rate", "min_pass_rate", message));
            1.0
        }
    }
}

fn folder(section: &Section<'_>, out: &mut Vec<Finding>) -> String {
    let Some(folder) = section.text("tests_folder", out) else { return TESTS.to_owned() };
    let parts = || folder.split('/').skip(1);
    // It is emptied before the tests come, so it must be somebody's own.
    if folder.starts_with('/') && parts().count() > 1 && parts().all(|part| !matches!(part, "" | "." | "..")) {
        return folder;
    }
    let message = format!(
        "{} must be an absolute path two folders deep at least, not {:?}",
        section.label("tests_folder"),
        brief(&folder)
    );
    out.push(
        section.error("bad_tests_folder", "tests_folder", message).hint("write it as /tmp/tests, or leave it out"),
    );
    TESTS.to_owned()
}

fn builds(section: &Section<'_>, out: &mut Vec<Finding>) -> Vec<Check> {
    let empty = Vec::new();
    let entries = match section.get("builds") {
        None => &empty,
        Some(Value::Array(entries)) => entries,
        Some(other) => {
            out.push(section.wrong_type("builds", "a list of tables", other));
            &empty
        }
    };
    let build = |entry: &Value| {
        let Some((entry, command, wanted)) = entry.as_object().and_then(one_build) else {
            let message = format!("an entry of {} cannot be read", section.label("builds"));
            let hint = "write { command = \"…\", expected_exit_code = 0, timeout_sec = 600 }";
            out.push(section.error("bad_build", "builds", message).hint(hint));
            return None;
        };
        let mut said = Vec::new();
        let limit = limits::seconds(&section.part("verifier.builds", entry), "timeout_sec", &mut said);
        let limit = limit.unwrap_or(LIMIT);
        // Its key has no line of its own.
        out.extend(said.into_iter().map(|found| section.error(&found.code, "builds", found.message)));
        Some(Check { command, wanted, limit })
    };
    entries.iter().filter_map(build).collect()
}

/// An entry with its command and the exit code that is wanted.
fn one_build(entry: &Map<String, Value>) -> Option<(&Map<String, Value>, String, i64)> {
    let command = entry.get("command").and_then(scalar).filter(|command| !command.trim().is_empty())?;
    let wanted =
        entry.get("expected_exit_code").map_or(Some(0), Value::as_i64).filter(|code| (0..=255).contains(code))?;
    Some((entry, command, wanted))
}

impl Checks {
    /// Where the reward comes from.
    pub(super) const SCORING: Scoring = Scoring::PassRate;

    /// What all commands take at most, and no more than any verifier may.
    pub(super) fn time(&self) -> Duration {
        let commands = self.builds.iter().chain([&self.tests]);
        commands.fold(SLACK, |time, check| time.saturating_add(check.limit)).min(limits::LONGEST)
    }

    /// The script: every command with its own limit, how each ended on a line of its own, and a report of pytest's.
    pub(super) fn script(&self, workdir: &str) -> String {
        let mut script = format!(
            "#!/bin/bash\n\
             # Made from the verifier's settings: build checks, then the tests. The reward is the share of tests that passed.\n\
             check() {{\n    \
                 timeout -k 10 \"$3\" bash -c \"$4\"\n    \
                 printf '%s %s %s %s\\n' \"$1\" \"$2\" \"$?\" \"$(printf %s \"$4\" | tr '\\n' ' ')\" >> /logs/verifier/checks.txt\n\
             }}\n\
             cd {}\n",
            quoted(workdir)
        );
        for build in &self.builds {
            script.push_str(&build.line("build"));
        }
        if self.folder != TESTS {
            let folder = quoted(&self.folder);
            script.push_str(&format!(
                "rm -rf {folder}\nmkdir -p {folder}\ncp -a {TESTS}/. {folder}/\nrm -f {folder}/test.sh\n"
            ));
        }
        script.push_str("export PYTEST_ADDOPTS=\"-p no:cacheprovider --junitxml=/logs/verifier/junit.xml\"\n");
        script.push_str(&self.tests.line("tests"));
        script.push_str("exit 0\n");
        script
    }
}

impl Check {
    fn line(&self, kind: &str) -> String {
        format!("check {kind} {} {} {}\n", self.wanted, self.limit.as_secs_f64(), quoted(&self.command))
    }
}

/// One word of the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
