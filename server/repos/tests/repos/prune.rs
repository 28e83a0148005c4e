//! What is kept, and what goes: commits by their last use, and what a killed fetch left.

use std::time::{Duration, SystemTime};

use crate::support::{World, limits, url};

const DAY: Duration = Duration::from_secs(86_400);

#[tokio::test]
async fn commits_go_by_their_last_use_and_are_fetched_again_when_they_are_missed() {
    let world = World::new();
    let (url, repositories) = (url(), world.repositories(limits()));
    let (one, two) = (world.write("a", "1").commit("one"), world.write("a", "2").commit("two"));
    let now = SystemTime::now();
    assert_eq!(repositories.kept().unwrap(), [], "nothing was fetched yet");
    assert_eq!(repositories.prune(now + DAY, || true).await.unwrap(), []);
    for commit in [&one, &two] {
        repositories.fetch(&url, commit).await.unwrap();
    }
    let cache = world.room.path().join("cache");
    let used_at = |commit: &str, at: SystemTime| {
        std::fs::File::create(cache.join(commit).join("used")).unwrap().set_modified(at).unwrap();
    };
    used_at(one.as_str(), now - 40 * DAY);
    used_at(two.as_str(), now - 50 * DAY);
    let names = |kept: Vec<repos::KeptCommit>| kept.into_iter().map(|kept| kept.commit).collect::<Vec<_>>();
    assert_eq!(names(repositories.kept().unwrap()), [two.clone(), one.clone()], "least recently used first");
    // To be asked for again is a use.
    repositories.fetch(&url, &two).await.unwrap();
    std::fs::create_dir(cache.join("fetch-left")).unwrap();
    assert_eq!(repositories.prune(now - 30 * DAY, || false).await.unwrap(), [], "only while it is wanted");
    assert_eq!(names(repositories.prune(now - 30 * DAY, || true).await.unwrap()), std::slice::from_ref(&one));
    assert!(cache.join("fetch-left").exists(), "it may be at work");
    assert_eq!(names(repositories.prune(now + DAY, || true).await.unwrap()), [two]);
    assert_eq!(repositories.kept().unwrap(), []);
    assert!(!cache.join("fetch-left").exists() && !cache.join(one.as_str()).exists());
    let again = repositories.fetch(&url, &one).await.unwrap();
    assert_eq!(again.entries().await.unwrap().len(), 1);
}
