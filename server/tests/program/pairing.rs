//! What makes a pair a pair: the skill is the only difference, and chance decides the order.

use domain::condition::Condition;
use domain::report::TrialReport;

use crate::common::{Home, KeptTrial, PASS, SKILL, Task};

/// An agent that tells every skill it can find anywhere.
const LIST: [&str; 4] =
    ["--agent", "command", "--command", "find / -xdev -iname SKILL.md -not -path '/proc/*' | sort; echo end"];

fn listed(home: &Home, kept: &KeptTrial) -> Vec<String> {
    let log = String::from_utf8(home.blob(kept.last().agent_log)).unwrap();
    assert!(log.ends_with("end\n"), "{log}");
    log.lines().filter(|line| *line != "end").map(str::to_owned).collect()
}

/// Asserts that each trial's agent could see these skills and no others, and that the audit says the same.
fn assert_seen(home: &Home, kept: &[KeptTrial], with: &[&str], removed: &[&str]) {
    for trial in kept {
        let want = if trial.row.condition == Condition::WithSkill { with } else { &[] };
        assert_eq!(listed(home, trial), want, "{}", trial.name());
        let audit = trial.last().audit.as_ref().unwrap();
        let found: Vec<&str> = audit.found.iter().map(|found| found.path.as_str()).collect();
        assert_eq!(found, want, "{}", trial.name());
        assert_eq!(audit.removed, removed, "{}", trial.name());
    }
}

#[test]
fn bundled_skills_are_in_one_arm_alone() {
    let home = Home::new("bundled");
    let task =
        Task { dockerfile: "COPY skills /root/.claude/skills\n".to_owned(), test: PASS.to_owned(), ..Task::new("own") };
    home.task(&task.file("environment/skills/measured-words/SKILL.md", SKILL));
    let (ended, report) = home.eval_with("task", &LIST);
    assert_eq!((ended.code, &report["totals"]["both"]), (0, &1.into()), "{ended}");
    assert_seen(&home, &home.kept(1), &["/root/.agents/skills/measured-words/SKILL.md"], &[]);
    // Another skill in its place: the bundled one is in neither arm.
    home.write("skills/other-words/SKILL.md", SKILL.replace("measured", "other"));
    let other = home.path("skills/other-words").display().to_string();
    home.eval_with(&other, &LIST);
    assert_seen(&home, &home.kept(2), &["/root/.agents/skills/other-words/SKILL.md"], &[]);
    home.finish();
}

#[test]
fn skills_of_the_image_are_removed_in_both_arms() {
    let home = Home::new("residue");
    let make = |folder: &str| format!("RUN mkdir -p {folder}/foreign && echo x > {folder}/foreign/SKILL.md\n");
    let folders = ["/app/.claude/skills", "/root/.agents/skills"];
    let dockerfile = folders.map(make).concat();
    home.task(&Task { dockerfile, test: PASS.to_owned(), ..Task::new("residue") });
    let (ended, _) = home.eval(&LIST);
    assert_eq!(ended.code, 0, "{ended}");
    assert_seen(&home, &home.kept(1), &["/root/.agents/skills/measured-words/SKILL.md"], &folders);
    home.finish();
}

#[test]
fn an_instruction_that_names_the_skill_is_told() {
    let home = Home::new("named");
    let instruction = "Use the skill measured-words and write done to /app/answer.txt.\n".to_owned();
    home.task(&Task { instruction, ..Task::new("named") });
    let (ended, _) = home.eval(&["--agent", "nop"]);
    ended.told(0, &["names_skill", "measured-words"]);
    home.finish();
}

#[test]
fn the_seed_decides_the_order_and_pairs_stand_side_by_side() {
    let home = Home::new("order");
    for name in ["a", "b", "c", "d"] {
        home.task(&Task::new(name));
    }
    let mut orders = Vec::new();
    for (number, seed) in [(1, "11"), (2, "11"), (3, "12")] {
        let (ended, report) = home.eval(&["--agent", "nop", "-k", "2", "--seed", seed]);
        assert_eq!(ended.code, 0, "{ended}");
        let trials: Vec<TrialReport> = serde_json::from_value(report["trials"].clone()).unwrap();
        assert_eq!(trials.len(), 16);
        let kept = home.kept(number);
        // They were begun in the order that was planned.
        assert!(kept.is_sorted_by_key(|kept| kept.attempts[0].id), "{kept:?}");
        let order: Vec<_> = kept.iter().map(|kept| (kept.task.clone(), kept.row.repeat, kept.row.condition)).collect();
        for pair in order.chunks(2) {
            assert_eq!((&pair[0].0, pair[0].1), (&pair[1].0, pair[1].1), "{order:?}");
            assert_ne!(pair[0].2, pair[1].2, "{order:?}");
        }
        orders.push(order);
    }
    assert!(orders[0] == orders[1] && orders[0] != orders[2], "{orders:?}");
    home.finish();
}
