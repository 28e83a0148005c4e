//! A secret of the run that an agent prints is nowhere to be found afterwards (H21).

use std::path::{Path, PathBuf};

use crate::common::{Home, Running, Task, shared, trial};

const SECRET: &str = "sk-test-0000EXAMPLE0000KEY";

#[test]
fn a_secret_that_is_printed_is_kept_nowhere() {
    let home = Home::new("secret");
    let Some(leak) = shared("H21/leak.sh") else { return };
    home.write("data/skilldelta.toml", "secret_env = [\"TEST_KEY\"]\n");
    // The verifier and the reward file leak it as well.
    let test = "cat /app/leaked.json; echo \"not a number: $(cat /app/leaked.json)\" > /logs/verifier/reward.txt\n";
    home.task(&Task::script("leaky", &leak, test));
    let (skill, tasks) = (home.skill(), home.tasks());
    // Split over two writes, so that no single piece of output holds it.
    let script = format!(
        "export TEST_KEY={SECRET}; sh \"$INSTRUCTION_FILE\"; printf %s sk-test-0000; sleep 1; echo EXAMPLE0000KEY; echo $TEST_KEY >&2"
    );
    let mut command = home.command(&[
        "eval",
        "--skill",
        &skill,
        "--tasks",
        &tasks,
        "--agent",
        "command",
        "--command",
        &script,
        "--json",
        "result.json",
    ]);
    command.env("TEST_KEY", SECRET).env("SKILLDELTA_LOG", "debug");
    let ended = Running::start(command).end();
    let json = std::fs::read_to_string(home.path("result.json")).unwrap();
    let report = serde_json::from_str(&json).unwrap();
    assert!(trial(&report, "leaky", "no-skill")["error"].as_str().unwrap().contains("not a number"), "{json}");
    for trial in home.kept(1) {
        let findings = &trial.last().findings;
        assert!(findings.iter().any(|finding| finding.code == "secret_printed"), "{findings:?}");
        let log = String::from_utf8(home.blob(trial.last().agent_log)).unwrap();
        assert!(log.contains("x-api-key: ") && log.contains("apikey="), "{log}");
    }
    for (name, text) in [("out", &ended.out), ("err", &ended.err), ("json", &json)] {
        assert!(!text.contains(SECRET), "in {name}: {text}");
    }
    let files = files(&home.data());
    assert!(files.len() > 5, "{files:?}");
    let holds = |path: &PathBuf| contains(&std::fs::read(path).unwrap(), SECRET.as_bytes());
    assert_eq!(files.into_iter().filter(holds).collect::<Vec<_>>(), Vec::<PathBuf>::new());
    home.finish();
}

#[test]
fn a_provider_key_never_reaches_a_container() {
    let home = Home::new("keys");
    home.task(&Task::new("one"));
    let (skill, tasks) = (home.skill(), home.tasks());
    let script = "env; cat /proc/1/environ /proc/self/environ | tr '\\0' '\\n'; echo end";
    let args = ["eval", "--skill", &skill, "--tasks", &tasks, "--agent", "command", "--command", script];
    let mut command = home.command(&args);
    command.env("ANTHROPIC_API_KEY", SECRET);
    let ended = Running::start(command).end();
    assert_eq!(ended.code, 0, "{ended}");
    for trial in home.kept(1) {
        let log = String::from_utf8(home.blob(trial.last().agent_log)).unwrap();
        // Neither itself nor the mark that is left where it was taken out.
        assert!(log.ends_with("end\n") && !log.contains("sk-test") && !log.contains("[secret]"), "{log}");
        assert!(!log.contains("ANTHROPIC"), "{log}");
    }
    home.finish();
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
