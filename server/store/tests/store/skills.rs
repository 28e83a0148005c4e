//! Versions by exact bytes.

use domain::finding::Finding;
use domain::id::{SkillId, SkillVersionId};
use store::{Store, StoreError};

use crate::fixtures::{at, skill};

#[tokio::test]
async fn the_same_bytes_are_the_same_version() {
    let store = Store::temp().await.unwrap();
    let first = store.put_skill_version("ada", &skill("sheep", "v1"), &[], at(1)).await.unwrap();
    let again = store.put_skill_version("ada", &skill("sheep", "v1"), &[], at(2)).await.unwrap();
    assert!(first.was_new && !again.was_new);
    assert_eq!((again.skill, again.version), (first.skill, first.version));

    let second = store.put_skill_version("ada", &skill("sheep", "v2"), &[], at(3)).await.unwrap();
    assert!(second.was_new);
    assert_eq!(second.skill, first.skill);

    let other = store.put_skill_version("bob", &skill("sheep", "v1"), &[], at(4)).await.unwrap();
    assert!(other.was_new);
    assert_ne!((other.skill, other.version), (first.skill, first.version));

    let skills = store.skills().await.unwrap();
    let seen: Vec<_> = skills.iter().map(|s| (s.owner.as_str(), s.versions, s.latest.id, s.latest.number)).collect();
    assert_eq!(seen, [("ada", 2, second.version, 2), ("bob", 1, other.version, 1)]);
    let versions: Vec<_> = store.versions(first.skill).await.unwrap().iter().map(|v| (v.id, v.number)).collect();
    assert_eq!(versions, [(second.version, 2), (first.version, 1)]);
}

#[tokio::test]
async fn a_version_comes_back_as_it_went_in() {
    let store = Store::temp().await.unwrap();
    let hostile = skill("sheep\0'; DROP TABLE skills; --", "v1 \u{202e}");
    let finding = Finding::warning("no_license", "SKILL.md", "no license").at(3, None).hint("add one");
    let put = store.put_skill_version("ada", &hostile, std::slice::from_ref(&finding), at(5)).await.unwrap();
    let row = store.skill_version(put.version).await.unwrap();
    assert_eq!((row.package, row.hash, row.created_at), (hostile.clone(), hostile.version(), at(5)));
    assert_eq!(row.findings, [finding]);
    let named = store.skill_named("ada", &hostile.manifest.name).await.unwrap().unwrap();
    assert_eq!(named.id, put.skill);

    store.put_skill_version("ada", &hostile, &[], at(6)).await.unwrap();
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
