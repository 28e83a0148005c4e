//! Several sites in one process.

use axum::http::StatusCode;
use store::Store;

use crate::support::{get, site_of};

/// What looks for the addresses of all pages must not keep a page of another site from its data: such a page would never be answered.
#[tokio::test(flavor = "multi_thread")]
async fn a_site_answers_while_others_are_made() {
    let store = Store::temp().await.unwrap();
    let site = site_of(store.clone());
    let others = tokio::task::spawn_blocking(move || {
        for _ in 0..300 {
            drop(site_of(store.clone()));
        }
    });
    let mut answers = 0;
    while !others.is_finished() {
        assert_eq!(get(&site, "/evaluations").await.status, StatusCode::OK);
        answers += 1;
    }
    others.await.unwrap();
    assert!(answers > 0);
}
