//! A value of this machine that a verifier asks for: refused until a person approves it, seen by the verifier alone, kept nowhere.

use std::path::PathBuf;

use crate::common::{Ended, Home, Running, Task, trial};
use crate::secrets::{contains, files};

const NAME: &str = "TEST_JUDGE_KEY";
const VALUE: &str = "judge-\"key\"-0000EXAMPLE";
/// SHA-256 of the value, which a verifier may print.
const HASH: &str = "874df4737a35bb7e27093c2037b18a10aea029bc8d5c715eae217175c7ab2b56";

/// A verifier that proves by a hash that it has the value, and gives it away in every way that it has.
const LEAKY: &str = "echo \"hash $(printf %s \"$JUDGE\" | sha256sum)\"; echo \"printed $JUDGE\"; env >&2\n\
    json=$(printf %s \"$JUDGE\" | sed 's/\"/\\\\\"/g')\n\
    echo \"{\\\"results\\\":{\\\"tests\\\":[{\\\"name\\\":\\\"a $json\\\",\\\"status\\\":\\\"failed\\\",\\\"duration\\\":1,\\\"message\\\":\\\"b $json\\\"}]}}\" \
    > /logs/verifier/ctrf.json\n\
    echo 0 > /logs/verifier/reward.txt\n";
/// An agent that looks for it wherever it may look.
const SNOOPING: &str = "env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; grep -rl 0000EX[A]MPLE /app /logs /tmp /root /etc 2>/dev/null; echo end";

fn asking(name: &str, test: &str) -> Task {
    let settings = format!("[verifier.env]\nJUDGE = \"${{{NAME}}}\"\n");
    Task { settings, test: test.to_owned(), ..Task::new(name) }
}

fn eval(home: &Home, value: Option<&str>, args: &[&str]) -> Ended {
    let (skill, tasks) = (home.skill(), home.tasks());
    let given = ["eval", "--skill", &skill, "--tasks", &tasks, "--agent", "command", "--command", SNOOPING];
    let mut command = home.command(&[given.as_slice(), &["--json", "result.json"], args].concat());
    command.env_remove(NAME).env("SKILLDELTA_LOG", "debug").env("ANTHROPIC_API_KEY", "sk-test-of-the-upstream");
    if let Some(value) = value {
        command.env(NAME, value);
    }
    Running::start(command).end()
}

#[test]
fn a_value_is_given_to_the_verifier_alone_once_it_is_approved() {
    let home = Home::new("approved");
    home.task(&asking("judged", LEAKY));
    let approve = ["--approve-verifier-env", NAME];
    eval(&home, Some(VALUE), &[])
        .told(2, &["judged", NAME, "which nobody approved", "--approve-verifier-env TEST_JUDGE_KEY"]);
    eval(&home, None, &approve).told(2, &[NAME, "is not set where the server runs"]);
    eval(&home, Some("short"), &approve).told(2, &["too short to be taken out"]);
    eval(&home, Some("sk-test-of-the-upstream"), &approve).told(2, &["holds the key of an upstream"]);
    eval(&home, Some(VALUE), &["--approve-verifier-env", "HOME"]).told(2, &["no chosen task asks for HOME"]);
    assert_eq!(home.evaluations(&home.data()), 0, "nothing was started");
    let ended = eval(&home, Some(VALUE), &approve);
    assert_eq!(ended.code, 0, "{ended}");
    let json = std::fs::read_to_string(home.path("result.json")).unwrap();
    let report = serde_json::from_str(&json).unwrap();
    assert!(ended.out.contains("given to verifiers, as approved: TEST_JUDGE_KEY"), "{ended}");
    assert_eq!(trial(&report, "judged", "no-skill")["tests"][0]["name"], "a [secret]");
    assert_eq!(report["approved_variables"], serde_json::json!([NAME]));
    for trial in home.kept(1) {
        let agent = String::from_utf8(home.blob(trial.last().agent_log)).unwrap();
        // Neither the value nor the mark that is left where it was taken out.
        assert!(agent.ends_with("end\n") && !agent.contains("JUDGE") && !agent.contains("[secret]"), "{agent}");
        let log = String::from_utf8(home.blob(trial.last().verifier_log)).unwrap();
        assert!(log.contains(&format!("hash {HASH}")) && log.contains("printed [secret]\n"), "{log}");
        let codes: Vec<&str> = trial.last().findings.iter().map(|finding| finding.code.as_str()).collect();
        assert!(codes.contains(&"variable_given") && codes.contains(&"secret_printed"), "{codes:?}");
    }
    for format in ["json", "csv", "markdown", "html", "agentcompass", "atif", "patch", "skill-creator"] {
        let to = home.path(&format!("export-{format}")).display().to_string();
        let ended = home.run(&["export", "1", "--format", format, "--out", &to]);
        assert!(ended.code == 0 || ended.err.contains("nothing"), "{format}: {ended}");
    }
    for (name, text) in [("out", &ended.out), ("err", &ended.err), ("json", &json)] {
        assert!(!text.contains("0000EXAMPLE"), "in {name}: {text}");
    }
    // What a file holds may be written with escapes: the rest of the value is looked for.
    let holds = |path: &PathBuf| contains(&std::fs::read(path).unwrap(), b"0000EXAMPLE");
    let kept = files(&home.path("")).into_iter().filter(holds).collect::<Vec<_>>();
    assert_eq!(kept, Vec::<PathBuf>::new());
    assert_eq!(eval(&home, Some(VALUE), &[]).code, 0, "what was approved stays approved");
    home.task(&asking("judged", "# changed\necho 0 > /logs/verifier/reward.txt\n"));
    eval(&home, Some(VALUE), &[]).told(2, &["which nobody approved"]);
    home.finish();
}

#[test]
fn a_person_approves_and_withdraws_on_the_page_of_the_task() {
    let home = Home::new("approved-page");
    home.task(&asking("a", "echo 1 > /logs/verifier/reward.txt\n"));
    home.task(&asking("b", "echo 0 > /logs/verifier/reward.txt\n"));
    let tasks = home.tasks();
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0", "--task-root", &tasks]);
    command.env(NAME, VALUE);
    let site = home.site(command);
    let added = site.post("/tasks/add", &[("path", &tasks)]);
    assert!(added.body.contains("runs are refused until a person approves that"), "{}", added.body);
    let page = |words: &[&str]| {
        let page = site.get("/tasks/1");
        assert_eq!(page.status, 200);
        words.iter().for_each(|word| assert!(page.body.contains(word), "no {word:?} in {}", page.body));
        assert!(!page.body.contains("0000EXAMPLE"));
    };
    page(&[NAME, "no run is started", "has a value", "Approve for all 2 tasks of its folder that ask for it"]);
    page(&["Approve only a key made for this purpose", "the container that the agent worked in"]);
    let start = |task: &str| site.post("/audits/start", &[("task", task), ("k", "1")]);
    let refused = start("2");
    assert!(refused.status == 422 && refused.body.contains("which nobody approved"), "{}", refused.body);
    let post = |path: &str, fields: &[(&str, &str)]| site.post(path, fields).status;
    for (fields, status) in [
        (&[("variable", NAME), ("scope", "everything")][..], 422),
        (&[("variable", "HOME"), ("scope", "task")], 422),
        (&[("variable", NAME), ("scope", "folder")], 303),
    ] {
        assert_eq!(post("/tasks/1/approve", fields), status, "{fields:?}");
    }
    assert_eq!(post("/tasks/9/approve", &[("variable", NAME), ("scope", "task")]), 404);
    page(&["approved ", "Withdraw for this task"]);
    let started = start("2");
    assert_eq!(started.status, 303, "{}", started.body);
    assert_eq!(post("/tasks/2/withdraw", &[("variable", NAME), ("scope", "task")]), 303);
    assert_eq!(start("2").status, 422, "taken back");
    assert_eq!(start("1").status, 303, "the other stays");
    site.post("/audits/1/cancel", &[]);
    site.post("/audits/2/cancel", &[]);
    site.stop();
    home.finish();
}

/// Nobody is asked who they are, so whoever reaches the port could have the value printed.
#[test]
fn a_server_that_others_can_reach_says_so_and_approves_nothing_unless_it_is_told_to() {
    let home = Home::new("approved-remote");
    home.task(&asking("a", "echo 1 > /logs/verifier/reward.txt\n"));
    let tasks = home.tasks();
    let settings = home.path("settings.toml");
    for (listen, text, is_open) in [
        ("0.0.0.0:0", "", false),
        ("127.0.0.1:0", "public_hosts = [\"evals.example.org\"]\n", false),
        ("0.0.0.0:0", "remote_approvals = true\n", true),
        ("127.0.0.1:0", "", true),
    ] {
        std::fs::write(&settings, text).unwrap();
        let config = settings.display().to_string();
        let mut command = home.command(&["serve", "--listen", listen, "--task-root", &tasks, "--config", &config]);
        command.env(NAME, VALUE);
        let site = home.site(command);
        site.post("/tasks/add", &[("path", &tasks)]);
        let page = site.get("/tasks/1").body;
        assert_eq!(page.contains("Approve for this task"), is_open, "{listen} {text}: {page}");
        let approved = site.post("/tasks/1/approve", &[("variable", NAME), ("scope", "task")]);
        match is_open {
            true => assert_eq!(approved.status, 303, "{}", approved.body),
            false => assert!(approved.status == 422 && approved.body.contains("remote_approvals"), "{}", approved.body),
        }
        if is_open {
            assert_eq!(site.post("/tasks/1/withdraw", &[("variable", NAME), ("scope", "task")]).status, 303);
        }
        let said = site.stop();
        let is_reachable = !text.is_empty() || listen.starts_with("0.");
        assert_eq!(said.err.contains("WHOEVER REACHES THEM"), is_reachable, "{said}");
    }
    home.finish();
}
