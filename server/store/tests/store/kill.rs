//! `kill -9` at any instant: nothing finished is lost, nothing counts twice, and the next start goes on.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use domain::attempt::AttemptResult;
use domain::id::TrialId;
use domain::trial::Phase;
use domain::verdict::Verdict;
use store::{DataDir, Store};

use crate::fixtures::{at, claim, end, ended, log, plan, reached};

const CHILD: &str = "STORE_TEST_KILLED_IN";
const DONE: &str = "done ";

/// The server to be killed: works through trials and says of each that it is kept.
async fn work(data: &Path) {
    let store = Store::open(&DataDir::open(data).unwrap()).await.unwrap();
    while let Some(got) = claim(&store, 1).await {
        let trace = store.blobs().put(format!("trace of {}", got.attempt)).await.unwrap();
        let result = AttemptResult { reward: Some(1.0), trace: Some(trace), ..AttemptResult::bare(Verdict::Pass) };
        for event in [
            reached(got.attempt, 2, Phase::Agent),
            log(got.attempt, 3, "baa"),
            reached(got.attempt, 4, Phase::Verifying),
            ended(got.attempt, 5, result),
        ] {
            store.record_event(got.trial.evaluation, got.trial.id, &event).await.unwrap();
        }
        eprintln!("{DONE}{}", got.trial.id);
    }
}

/// Lets a child work until it has said `lines` times that something is kept, kills it, and answers all that it said.
fn kill_after(data: &Path, lines: usize) -> BTreeSet<TrialId> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::a_killed_server_loses_nothing", "--nocapture"])
        .env(CHILD, data)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut kept = BTreeSet::new();
    let mut note = |line: String| kept.extend(line.strip_prefix(DONE).map(|id| id.parse::<TrialId>().unwrap()));
    said.by_ref().take(lines).for_each(|line| note(line.unwrap()));
    child.kill().unwrap();
    said.for_each(|line| note(line.unwrap()));
    child.wait().unwrap();
    kept
}

#[tokio::test]
async fn a_killed_server_loses_nothing() {
    if let Some(data) = std::env::var_os(CHILD) {
        return work(Path::new(&data)).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let open = async || Store::open(&DataDir::open(folder.path()).unwrap()).await.unwrap();
    let store = open().await;
    let plan = plan(&store, 10, 30).await;
    let id = store.create_evaluation(&plan, at(0)).await.unwrap();
    store.close().await;
    drop(store);

    let mut kept = BTreeSet::new();
    for lines in [1, 17, 40] {
        kept.extend(kill_after(folder.path(), lines));
        let store = open().await;
        let finished: BTreeSet<_> =
            store.trials(id).await.unwrap().iter().filter(|t| t.state.verdict().is_some()).map(|t| t.id).collect();
        assert!(kept.is_subset(&finished), "lost {:?}", kept.difference(&finished));
        assert!(store.close_all_running(at(9)).await.unwrap().len() <= 1, "the child ran one at a time");
        store.close().await;
    }
    assert!(kept.len() >= 58, "{}", kept.len());

    let store = open().await;
    while let Some(got) = claim(&store, 10).await {
        end(&store, &got, 11, Verdict::Pass).await;
    }
    assert!(store.evaluation(id).await.unwrap().finished_at.is_some());
    for (trial, last) in store.results(id).await.unwrap() {
        let attempts = store.attempts(trial.id).await.unwrap();
        let passes = attempts.iter().filter(|a| a.verdict == Some(Verdict::Pass)).count();
        assert_eq!(passes, 1, "trial {} counts once", trial.id);
        if let Some(trace) = last.unwrap().result.unwrap().trace {
            store.blobs().get(trace.hash).await.expect("what a row names is there");
        }
    }
}
