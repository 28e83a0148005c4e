//! What can be compared: each arm holds exactly what the plan says, and the result says what that was.

use domain::condition::Condition;

use crate::common::{Home, PASS, SKILL, Task};

/// An agent that tells the words by which the skills here differ.
const TELL: [&str; 4] = [
    "--agent",
    "command",
    "--command",
    "cat /root/.agents/skills/*/SKILL.md 2>/dev/null | grep ^Answer | sort; echo end",
];

/// Evaluates, and asserts what the agents of the two arms found and how the result calls it.
fn check(home: &Home, number: i64, arms: &[&str], found: [&[&str]; 2], kind: &str, words: &str) {
    let (tasks, json) = (home.tasks(), home.path("result.json").display().to_string());
    let given = ["eval", "--tasks", &tasks, "--json", &json];
    let ended = home.run(&[given.as_slice(), arms, &TELL].concat());
    assert_eq!(ended.code, 0, "{ended}");
    let result: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    let comparison = &result["comparison"];
    assert_eq!(comparison["kind"], kind);
    assert!(comparison["words"].as_str().unwrap().starts_with(words), "{comparison}");
    ended.told(0, &[comparison["words"].as_str().unwrap()]);
    // Whoever analyses the tables of it learns that its arms are other ones.
    let csv = home.path("result.csv").display().to_string();
    home.run(&["export", &number.to_string(), "--format", "csv", "--out", &csv]);
    for table in [&json, &csv] {
        let analysed = home.run(&["analyze", table]);
        let told = format!("{analysed}").contains("compares something else than a skill with none");
        assert_eq!((analysed.code, told), (0, kind != "no-skill"), "{analysed}");
    }
    for trial in home.kept(number) {
        let log = String::from_utf8(home.blob(trial.last().agent_log)).unwrap();
        let want = found[usize::from(trial.row.condition == Condition::WithSkill)];
        assert_eq!(log.lines().filter(|line| *line != "end").collect::<Vec<_>>(), want, "{}", trial.name());
        assert_eq!(trial.last().audit.as_ref().unwrap().found.len(), want.len(), "{}", trial.name());
    }
}

#[test]
fn each_arm_holds_what_the_plan_says() {
    let home = Home::new("arms");
    home.task(&Task { test: PASS.to_owned(), ..Task::new("one") });
    home.write("old/measured-words/SKILL.md", SKILL.replace("five", "four"));
    home.write(
        "other/counted-sheep/SKILL.md",
        SKILL.replace("measured-words", "counted-sheep").replace("five", "nine"),
    );
    let path = |below: &str| home.path(below).display().to_string();
    let (new, old, other) = (home.skill(), path("old/measured-words"), path("other/counted-sheep"));
    let (five, four, nine) = ("Answer in five words.", "Answer in four words.", "Answer in nine words.");

    let previous = ["--skill", &new, "--baseline-skill", &old];
    check(&home, 1, &previous, [&[four], &[five]], "previous-version", "measured-words@");
    let beside = ["--skill", &new, "--distractor", &other];
    check(&home, 2, &beside, [&[nine], &[five, nine]], "no-skill", "measured-words@");
    check(&home, 3, &["--skill", &new, "--control", &other], [&[nine], &[five]], "control", "measured-words@");
    check(&home, 4, &["--a-a"], [&[], &[]], "a-a", "A/A: no skill against no skill");
    check(&home, 5, &["--a-a", "--skill", &new], [&[five], &[five]], "a-a", "A/A: measured-words@");
    home.finish();
}

#[test]
fn what_cannot_be_compared_is_refused_before_anything_runs() {
    let home = Home::new("refused-arms");
    home.task(&Task::new("one"));
    home.write("other/counted-sheep/SKILL.md", SKILL.replace("measured-words", "counted-sheep"));
    let (new, other) = (home.skill(), home.path("other/counted-sheep").display().to_string());
    let tasks = home.tasks();
    for (arms, words) in [
        (vec!["--skill", &new, "--baseline-skill", &new], "both arms have the same versions"),
        (vec!["--skill", &new, "--baseline-skill", &other], "no earlier version of a skill"),
        (vec!["--skill", &new, "--control", &new], "cannot be its own control"),
        (vec!["--skill", &new, "--distractor", &new], "would lie in one folder"),
        (vec!["--skill", &new, "--control", &other, "--a-a"], "cannot be used with"),
    ] {
        let ended = home.run(&[["eval", "--tasks", &tasks, "--agent", "nop"].as_slice(), &arms].concat());
        ended.told(2, &[words]);
    }
    home.finish();
}
