//! `skilldelta check`: every finding of a skill, tasks, or a checkout.

use serde_json::Value;

use crate::common::{Home, Task, shared};

#[test]
fn a_checkout_is_told_with_all_its_findings() {
    let home = Home::new("check");
    home.write(
        "checkout/skills/fine/SKILL.md",
        "---\nname: fine\ndescription: Is fine. Use when all is.\nlicense: MIT\n---\n\nDo it well.\n",
    );
    home.write("checkout/skills/broken/SKILL.md", "---\nname: broken\ndescription: one: two\n---\nx\n");
    let task = Task::new("windows");
    let test = shared("H23/crlf-test.sh").unwrap_or(task.test.clone()).replace("\r\n", "\n").replace('\n', "\r\n");
    Task { test, ..task }.write(&home, "checkout/tasks/windows");
    let checkout = home.path("checkout").display().to_string();
    let ended = home.run(&["check", &checkout, "--json"]);
    assert_eq!(ended.code, 1, "{ended}");
    let report: Value = serde_json::from_str(&ended.out).unwrap();
    let skills = report["skills"].as_array().unwrap();
    let names: Vec<&Value> = skills.iter().map(|skill| &skill["name"]).collect();
    assert!(names.contains(&&"fine".into()) && skills.len() == 2, "{report}");
    assert!(
        skills.iter().any(|skill| skill["version"].is_string() && skill["findings"].as_array().unwrap().is_empty()),
        "{report}"
    );
    let broken = skills.iter().flat_map(|skill| skill["findings"].as_array().unwrap()).next().unwrap();
    assert_eq!((&broken["line"], &broken["severity"]), (&3.into(), &"error".into()), "{report}");
    for field in ["file", "line", "code", "severity", "message", "hint"] {
        assert!(broken.get(field).is_some(), "no {field} in {broken}");
    }
    let task = &report["tasks"][0];
    assert_eq!((&task["name"], &task["layout"]), (&"windows".into(), &"skillsbench-1.0".into()), "{report}");
    let told = task["findings"].to_string();
    assert!(told.contains("line ends") && told.contains("test.sh"), "{told}");
    let lines = home.run(&["check", &checkout]);
    assert!(lines.code == 1 && lines.out.contains("2 skills, 1 task:"), "{lines}");
    home.run(&["check", "no/such/place"]).told(2, &["no/such/place", "check the path"]);
    assert!(!home.path("data/skilldelta.sqlite").exists(), "a check stores nothing");
    home.finish();
}

#[test]
fn findings_are_written_as_sarif_for_code_hosts() {
    let home = Home::new("sarif");
    home.write(
        "repo/my skills/pens/SKILL.md",
        "---\nname: pens\ndescription: Counts. Use when asked.\nlicense: MIT\n---\nRun `scripts/tally.sh`.\n",
    );
    home.write(
        "repo/my skills/pens/evals/evals.json",
        "{\"evals\": [\n{\"id\": 1, \"prompt\": \"x\", \"assertions\": [\"nice\"]}]}",
    );
    let ended = home.run(&["check", "repo/my skills/pens", "--sarif", "out.sarif"]);
    assert_eq!(ended.code, 0, "a case for people and models is no fault of a skill: {ended}");
    let log: Value = serde_json::from_slice(&std::fs::read(home.path("out.sarif")).unwrap()).unwrap();
    let run = &log["runs"][0];
    assert_eq!((&log["version"], &run["tool"]["driver"]["name"]), (&"2.1.0".into(), &"skilldelta".into()), "{log}");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"], "{log}");
    }
    let place = |rule: &str| {
        let result =
            results.iter().find(|result| result["ruleId"] == rule).unwrap_or_else(|| panic!("no {rule}: {log}"));
        let place = &result["locations"][0]["physicalLocation"];
        (
            place["artifactLocation"]["uri"].as_str().unwrap(),
            place["region"]["startLine"].as_u64(),
            result["level"].as_str().unwrap(),
        )
    };
    assert_eq!(place("missing_file"), ("repo/my%20skills/pens/SKILL.md", Some(6), "warning"));
    assert_eq!(place("not_judged"), ("repo/my%20skills/pens/evals/evals.json", Some(2), "warning"));
    assert_eq!(place("nothing_to_check"), ("repo/my%20skills/pens/evals/evals.json", Some(2), "warning"));
    home.finish();
}

#[test]
fn several_places_are_told_one_by_one_and_copies_among_them() {
    let home = Home::new("check-places");
    home.write(
        "skills/fine/SKILL.md",
        "---\nname: fine\ndescription: Is fine. Use when it must be.\nlicense: MIT\n---\nx\n",
    );
    home.write("skills/broken/SKILL.md", "no frontmatter\n");
    for name in ["first", "second"] {
        home.task(&Task::new(name));
    }
    let check = |args: &[&str]| home.run(&[&["check"], args].concat());
    let ended = check(&["skills/fine", "skills/broken", "tasks/first", "tasks/second", "tasks/first"]);
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(ended.code, 1, "as for the one with a fault: {ended}");
    assert!(!ended.out.contains("skills/fine:"), "nothing is to be said of it: {ended}");
    let place = lines.iter().position(|line| *line == "skills/broken:").unwrap_or_else(|| panic!("{ended}"));
    assert!(lines[place + 1].starts_with("  ") && lines[place + 1].contains("SKILL.md"), "{ended}");
    let copies = "tasks/second: warning[same_task_twice]: first and second are the same bytes: copies of one task are not independent";
    assert_eq!(lines.iter().filter(|line| line.starts_with(copies)).count(), 1, "{ended}");
    assert!(lines.last().unwrap().starts_with("4 places: 2 skills, 2 tasks: 1 error, 1 warning,"), "{ended}");

    let tasks = check(&["tasks/first", "tasks/second", "--json", "--sarif", "out.sarif"]);
    assert_eq!(tasks.code, 0, "copies are no error: {tasks}");
    let report: Value = serde_json::from_str(&tasks.out).unwrap();
    assert_eq!(
        (&report["places"][1]["place"], &report["places"][1]["tasks"][0]["name"]),
        (&"tasks/second".into(), &"second".into())
    );
    assert_eq!(report["findings"][0]["code"], "same_task_twice", "{report}");
    let versions = [0, 1].map(|place| &report["places"][place]["tasks"][0]["version"]);
    assert!(versions[0].is_string() && versions[0] == versions[1], "{report}");
    let sarif = std::fs::read_to_string(home.path("out.sarif")).unwrap();
    for uri in ["\"uri\": \"tasks/second\"", "same_task_twice"] {
        assert!(sarif.contains(uri), "no {uri} in {sarif}");
    }
    let one: Value = serde_json::from_str(&check(&["tasks", "--json"]).out).unwrap();
    assert!(one.get("places").is_none() && one["findings"][0]["code"] == "same_task_twice", "{one}");
    home.write("cases/mine.json", "{\"evals\": []}");
    let cases = check(&["cases/mine.json"]);
    assert!(cases.code == 1 && cases.out.starts_with("cases/mine.json: error[no_case]"), "{cases}");
    check(&["tasks", "no/such/place"]).told(2, &["nothing at no/such/place"]);
    home.finish();
}

#[test]
fn the_skills_of_a_repository_are_checked_by_its_address() {
    let home = Home::new("check-url");
    home.write(
        "repo/skills/fine/SKILL.md",
        "---\nname: fine\ndescription: Is fine. Use when it must be.\nlicense: MIT\n---\nx\n",
    );
    home.write("repo/skills/broken/SKILL.md", "no frontmatter\n");
    for arguments in [["init", "-q", "-b", "main", "."].as_slice(), &["add", "-A"], &["commit", "-q", "-m", "x"]] {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@example.invalid"]).args(arguments);
        assert!(git.current_dir(home.path("repo")).status().unwrap().success(), "{arguments:?}");
    }
    let url = "https://git.example.com/farm/skills";
    let mirror = format!("{url}={}", home.path("repo").display());
    let check = |place: &str| home.run(&["check", place, "--repository-mirror", &mirror, "--json"]);
    let ended = check(url);
    assert_eq!(ended.code, 1, "{ended}");
    for words in [
        "skills/broken/SKILL.md",
        "no_frontmatter",
        "fetched from https://git.example.com/farm/skills@",
        "\"name\": \"fine\"",
    ] {
        assert!(ended.out.contains(words), "no {words:?} in {ended}");
    }
    assert_eq!(check(&format!("{url}@main#skills/fine")).code, 0, "a folder of a branch");
    check(&format!("{url}@nosuch")).told(2, &["nosuch", "name one that it has"]);
    check("git@github.com:farm/skills").told(2, &["cannot be fetched"]);
    assert!(!home.path("data/repositories").exists(), "a check stores nothing");
}
