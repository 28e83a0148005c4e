//! Whoever ends waits for what is still being made: a container that comes into being after the last look would outlive the program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod sandbox_support;

use std::time::Duration;

use engine::sandbox::Engine;
use sandbox_support::Rig;

#[tokio::test]
async fn what_is_being_made_when_everything_stops_is_removed_as_well() {
    let rig = Rig::new("settle").await;
    let spec = rig.spec();
    // Given up sooner and later on the way; whether one is made already when it is given up does not matter.
    for ms in [0, 1, 3, 10, 30, 100] {
        drop(tokio::time::timeout(Duration::from_millis(ms), rig.engine.create(&spec)).await);
    }
    rig.engine.settle().await;
    assert_eq!(rig.left().await, Vec::<String>::new());
    rig.finish().await;
}
