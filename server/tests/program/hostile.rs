//! Text that would run as a page is shown as text, wherever it comes from (R06).

use crate::common::{Home, PASS, Running, Task, shared};

/// Each would run if it reached a page as it is.
const HOSTILE: &str = "<script>alert(1)</script><img src=x onerror=alert(2)><svg/onload=alert(3)></textarea></title>\
                       <a href=\"javascript:alert(4)\">x</a><iframe src=//evil.example></iframe>{{7*7}}";

/// Asserts that what is hostile stands in the page only as text.
fn assert_harmless(body: &str, path: &str) {
    let lower = body.to_lowercase();
    for bad in ["<script>alert", "<img src=x", "<svg/onload", "<iframe", "<a href=\"javascript:", "</script><img"] {
        if let Some(at) = lower.find(bad) {
            panic!("{path}: {}", lower.get(at.saturating_sub(200)..(at + 200).min(lower.len())).unwrap_or(bad));
        }
    }
}

#[test]
fn hostile_text_is_shown_as_text_on_every_page() {
    let home = Home::new("hostile");
    let skill = format!(
        "---\nname: measured-words\ndescription: {}\n---\n\n# {HOSTILE}\n\n{HOSTILE}\n",
        serde_json::to_string(HOSTILE).unwrap()
    );
    home.write("skills/measured-words/SKILL.md", &skill);
    home.write("skills/measured-words/references/<img src=x onerror=alert(5)>.md", HOSTILE);
    let trace = shared("R06/trace.jsonl").unwrap_or_default();
    let test =
        format!("cat \"$(dirname \"$0\")/said\"\ncp \"$(dirname \"$0\")/report\" /logs/verifier/ctrf.json\n{PASS}");
    let name = serde_json::to_string(HOSTILE).unwrap();
    let report = format!(
        "{{\"results\": {{\"tool\": {{\"name\": \"x\"}}, \"summary\": {{}}, \"tests\": \
         [{{\"name\": {name}, \"status\": \"failed\", \"message\": {name}, \"duration\": 1}}]}}}}"
    );
    let task = Task { instruction: format!("{HOSTILE}\n"), test, ..Task::new("hostile") };
    home.task(&task.file("tests/said", HOSTILE).file("tests/report", &report).file("environment/trace", &trace));
    home.write(
        "tasks/hostile/environment/Dockerfile",
        format!("FROM {}\nLABEL test={}\nWORKDIR /app\nCOPY trace /app/trace\n", home.base, home.mark),
    );
    let (skill, tasks) = (home.skill(), home.tasks());
    let script = "cat \"$INSTRUCTION_FILE\" trace; exit 4";
    let args = ["eval", "--skill", &skill, "--tasks", &tasks, "--agent", "command", "--command", script];
    let ended = Running::start(home.command(&args)).end();
    assert_eq!(ended.code, 0, "{ended}");
    let site = home.serve(&[]);
    for path in [
        "/",
        "/skills",
        "/skills/1",
        "/tasks",
        "/tasks/1",
        "/evaluations",
        "/evaluations/new?skill=1&task=1&agent=nop",
        "/evaluations/1",
        "/evaluations/1/pairs/1/1",
    ] {
        let page = site.get(path);
        assert_eq!(page.status, 200, "{path}");
        assert_harmless(&page.body, path);
    }
    // And what a form answers with.
    let echoed = format!("/evaluations/new?title={}", "%3Cscript%3Ealert(1)%3C/script%3E");
    assert_harmless(&site.get(&echoed).body, &echoed);
    let refused = site.upload(&site.csrf(), &[("<img src=x onerror=alert(6)>/SKILL.md", HOSTILE.as_bytes())]);
    assert_harmless(&refused.body, "/skills/upload");
    assert!(site.get("/evaluations/1/pairs/1/1").body.contains("&lt;script&gt;alert(1)"), "the trace is not shown");
    site.stop();
    home.finish();
}
