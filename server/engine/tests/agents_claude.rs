//! Claude Code itself, headless in containers, against a scripted model.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod agents_support;

use agents_support::{BODY, Bench, DESCRIPTION, script, tokens};
use domain::condition::Condition;

const SKILL_FILE: &str = "/root/.claude/skills/count-animals/SKILL.md";

#[tokio::test]
async fn the_skill_decides_both_tasks_and_the_wire_counts_every_token() {
    let Some(bench) = Bench::new("claude-code", &script(), "").await else { return };
    let mut delta = 0.0;
    for (animal, answer) in [("sheep", 42), ("goats", 43)] {
        let without = bench.trial(animal, answer, Condition::NoSkill).await;
        let with = bench.trial(animal, answer, Condition::WithSkill).await;
        delta += (f64::from(u8::from(with.passed())) - f64::from(u8::from(without.passed()))) / 2.0;

        let seen = &with.result.activation;
        assert_eq!((seen.listed, seen.opened), (Some(true), Some(true)), "{:?}", with.calls());
        assert_eq!(seen.files_read, [SKILL_FILE]);
        // Listed in three requests; of them two hold the body as well.
        let text = seen.skill_text.unwrap();
        let (listing, body) = (DESCRIPTION.len() as u64, BODY.len() as u64);
        assert_eq!((text.characters, text.characters_sent), (listing + body, 3 * listing + 2 * body));
        assert_eq!(with.calls(), ["Skill", "Bash"]);
        assert_eq!(with.result.usage, tokens(36, 1230, 2200, 66));
        assert_eq!(with.result.model_calls, Some(3));

        let absent = &without.result.activation;
        assert_eq!((absent.listed, absent.opened, absent.skill_text), (Some(false), Some(false), None));
        assert_eq!(without.calls(), ["Bash"]);
        assert_eq!(without.result.usage, tokens(29, 940, 900, 49));
        assert_eq!(without.result.model_calls, Some(2));

        for ended in [&with, &without] {
            assert_eq!(ended.told.len(), ended.trace.steps.len(), "every step is told once");
            assert_eq!(ended.finding("self_report"), None, "its own count agrees");
            assert!(
                ended.finding("agent_preflight").unwrap().starts_with("version 2.1.332"),
                "{:?}",
                ended.result.findings
            );
            assert!(ended.finding("agent_tree").unwrap().starts_with("claude-code 2.1.332 from tree "));
            let sum = ended.trace.steps.iter().filter_map(|step| step.usage);
            let sum = sum.reduce(|sum, usage| sum.plus(&usage)).unwrap();
            assert_eq!(sum, ended.result.usage, "the steps have the tokens of their calls");
        }
    }
    assert!((delta - 1.0).abs() < f64::EPSILON, "{delta}");
    bench.finish().await;
}
