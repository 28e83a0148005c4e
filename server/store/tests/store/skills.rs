//! Versions by exact bytes.

use domain::comparison::{Baseline, Comparison};
use domain::finding::Finding;
use domain::id::{SkillId, SkillVersionId};
use domain::plan::{EvaluationPlan, SkillRef, Treatment};
use store::{Store, StoreError, Wanted};

use crate::fixtures::{at, plan, skill};

#[tokio::test]
async fn the_same_bytes_are_the_same_version() {
    let store = Store::temp().await.unwrap();
    let first = store.put_skill_version("ada", &skill("sheep", "v1"), &[], Wanted::Itself, at(1)).await.unwrap();
    let again = store.put_skill_version("ada", &skill("sheep", "v1"), &[], Wanted::Itself, at(2)).await.unwrap();
    assert!(first.was_new && !again.was_new);
    assert_eq!((again.skill, again.version), (first.skill, first.version));

    let second = store.put_skill_version("ada", &skill("sheep", "v2"), &[], Wanted::Itself, at(3)).await.unwrap();
    assert!(second.was_new);
    assert_eq!(second.skill, first.skill);

    let other = store.put_skill_version("bob", &skill("sheep", "v1"), &[], Wanted::Itself, at(4)).await.unwrap();
    assert!(other.was_new);
    assert_ne!((other.skill, other.version), (first.skill, first.version));

    let skills = store.skills().await.unwrap();
    let seen: Vec<_> = skills.iter().map(|s| (s.owner.as_str(), s.versions, s.latest.id, s.latest.number)).collect();
    assert_eq!(seen, [("ada", 2, second.version, 2), ("bob", 1, other.version, 1)]);
    let versions: Vec<_> = store.versions(first.skill).await.unwrap().iter().map(|v| (v.id, v.number)).collect();
    assert_eq!(versions, [(second.version, 2), (first.version, 1)]);
}

#[tokio::test]
async fn what_came_only_to_be_compared_with_is_never_the_newest() {
    let store = Store::temp().await.unwrap();
    let put = async |text: &str, wanted: Wanted| {
        store.put_skill_version("ada", &skill("sheep", text), &[], wanted, at(1)).await.unwrap()
    };
    let versions = async |skill: SkillId| {
        let versions = store.versions(skill).await.unwrap();
        let told: Vec<_> = versions.iter().map(|version| (version.number, version.only_compared)).collect();
        let latest = store.skill(skill).await.unwrap().latest;
        assert_eq!((latest.number, latest.only_compared), told[0]);
        let choices = store.version_choices().await.unwrap();
        let chosen: Vec<_> = choices.iter().map(|choice| (choice.number, choice.only_compared)).collect();
        assert_eq!(chosen, told);
        assert_eq!(choices.iter().map(|choice| choice.newest).filter(|newest| *newest).count(), 1);
        assert!(choices[0].newest);
        told
    };
    // Where there is no other, it has to do.
    let control = put("control", Wanted::ToCompare).await;
    assert_eq!(versions(control.skill).await, [(1, true)]);
    let new = put("new", Wanted::Itself).await;
    let old = put("old", Wanted::ToCompare).await;
    assert_eq!(versions(new.skill).await, [(2, false), (3, true), (1, true)]);
    put("new", Wanted::ToCompare).await;
    assert_eq!(versions(new.skill).await, [(2, false), (3, true), (1, true)], "it stays what it was uploaded for");

    let on_trial = |put: store::PutOutcome, text: &str| SkillRef {
        id: put.version,
        name: "sheep".to_owned(),
        version: skill("sheep", text).version(),
    };
    let comparison = Comparison {
        baseline: Baseline::PreviousVersion { versions: vec![on_trial(old, "old")] },
        ..Comparison::default()
    };
    let treatment = Treatment::Skills { versions: vec![on_trial(new, "new")] };
    let compared = EvaluationPlan { treatment, comparison, ..plan(&store, 1, 1).await };
    store.create_evaluation(&compared, at(2)).await.unwrap();
    assert_eq!(versions(new.skill).await, [(2, false), (3, true), (1, true)]);
    let treatment = Treatment::Skills { versions: vec![on_trial(old, "old")] };
    let tried = EvaluationPlan { treatment, comparison: Comparison::default(), ..compared };
    store.create_evaluation(&tried, at(3)).await.unwrap();
    assert_eq!(versions(new.skill).await, [(3, false), (2, false), (1, true)], "what is on trial stands by itself");
    put("control", Wanted::Itself).await;
    assert_eq!(versions(new.skill).await, [(3, false), (2, false), (1, false)], "an upload counts as one");
}

#[tokio::test]
async fn a_version_comes_back_as_it_went_in() {
    let store = Store::temp().await.unwrap();
    let hostile = skill("sheep\0'; DROP TABLE skills; --", "v1 \u{202e}");
    let finding = Finding::warning("no_license", "SKILL.md", "no license").at(3, None).hint("add one");
    let put =
        store.put_skill_version("ada", &hostile, std::slice::from_ref(&finding), Wanted::Itself, at(5)).await.unwrap();
    let row = store.skill_version(put.version).await.unwrap();
    assert_eq!((row.package, row.hash, row.created_at), (hostile.clone(), hostile.version(), at(5)));
    assert_eq!(row.findings, [finding]);
    let named = store.skill_named("ada", &hostile.manifest.name).await.unwrap().unwrap();
    assert_eq!(named.id, put.skill);

    store.put_skill_version("ada", &hostile, &[], Wanted::Itself, at(6)).await.unwrap();
    let row = store.skill_version(put.version).await.unwrap();
    assert_eq!((row.findings.len(), row.created_at), (0, at(5)), "a later check of the same bytes counts");
}

#[tokio::test]
async fn what_is_not_there_is_named() {
    let store = Store::temp().await.unwrap();
    let message = store.skill(SkillId(5)).await.unwrap_err().to_string();
    assert_eq!(message, "there is no skill 5");
    assert!(matches!(store.skill_version(SkillVersionId(5)).await, Err(StoreError::NotFound { .. })));
    assert!(store.skill_named("ada", "none").await.unwrap().is_none());
    assert!(store.versions(SkillId(5)).await.unwrap().is_empty());
}
