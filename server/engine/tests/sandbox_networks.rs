//! The address pool used up (case H01). A program of its own, because for its time no other test can make a network.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod sandbox_support;

use std::collections::HashMap;

use bollard::models::NetworkCreateRequest;
use engine::sandbox::docker::label;
use engine::sandbox::{Engine, SandboxError};
use sandbox_support::Rig;

/// Takes every address range there is; answers how many.
async fn fill(rig: &Rig, owner: &Rig, prefix: &str) -> Vec<String> {
    let mut names = Vec::new();
    for number in 0..200 {
        let name = format!("{prefix}-{}-{number}", owner.instance);
        let labels = HashMap::from([(label::INSTANCE.to_owned(), owner.instance.clone())]);
        let request =
            NetworkCreateRequest { name: name.clone(), labels: Some(labels), ..NetworkCreateRequest::default() };
        if rig.docker.create_network(request).await.is_err() {
            break;
        }
        names.push(name);
    }
    names
}

#[tokio::test]
async fn a_used_up_pool_is_cleared_of_our_own_stale_networks_and_of_no_others() {
    let (rig, foreign) = (Rig::new("h01").await, Rig::new("h01-foreign").await);
    let name = format!("{}-net", rig.instance);
    let stale = fill(&rig, &rig, "stale").await;
    assert!(!stale.is_empty());
    rig.engine.create_network(&name, &rig.labels(1)).await.unwrap();
    assert_eq!(rig.left().await, [name.as_str()]);
    rig.engine.remove_network(&name).await.unwrap();

    let others = fill(&rig, &foreign, "foreign").await;
    let none = rig.engine.create_network(&name, &rig.labels(1)).await.unwrap_err();
    let left = foreign.left().await.len();
    for name in &others {
        rig.docker.remove_network(name).await.unwrap();
    }
    assert!(
        matches!(none, SandboxError::NoNetwork { .. }) && none.to_string().starts_with("no free network"),
        "{none}"
    );
    assert_eq!(left, others.len(), "foreign networks were touched");
    rig.finish().await;
    foreign.finish().await;
}
