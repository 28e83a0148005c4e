//! A task whose result lies in its workspace is judged in a fresh container: the workspace passes over, and nothing else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod trial_support;

use domain::order::Happening;
use domain::trial::Phase;
use domain::verdict::{InfraClass, Verdict};
use engine::trial::EVENTS_AHEAD;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use trial_support::{Bench, Case, workspace};

/// What the agent does to all that the verifier might use, and what it sees of the verifier.
const AGENT: &str = r#"cat seeded.txt
echo done > result.txt
chmod 750 result.txt
echo changed > /etc/marked
printf '#!/bin/sh\nexit 0\n' > /usr/local/bin/python3
chmod +x /usr/local/bin/python3
echo 'nothing.so' > /etc/ld.so.preload
(while :; do date >> /app/heartbeat; sleep 0.05; done) >/dev/null 2>&1 &
ls -d /tests /verifier /logs 2>/dev/null
tail -n +3 /proc/net/dev | cut -d: -f1
"#;
/// Says what of it is to be seen.
const TEST: &str = r#"cat /app/seeded.txt /app/result.txt
stat -c '%a %U' /app/result.txt /app/seeded.txt
ls -d /etc/marked /etc/ld.so.preload /usr/local/bin/python3 2>/dev/null
before=$(wc -l < /app/heartbeat); sleep 0.3; [ "$before" = "$(wc -l < /app/heartbeat)" ] && echo still
tail -n +3 /proc/net/dev | cut -d: -f1
echo "$PWD"
echo 1 > /logs/verifier/reward.txt
"#;

#[tokio::test]
async fn the_workspace_passes_to_a_fresh_container_and_nothing_else_does() {
    let bench = Bench::new("fresh").await;
    let case = Case {
        agent: AGENT,
        image: "RUN echo from the image > /app/seeded.txt && chmod 640 /app/seeded.txt && chown nobody /app/seeded.txt",
        test: TEST,
        environment: "allow_internet = true",
        place: workspace(),
        ..Case::default()
    };
    let ended = bench.trial(&case).await;
    assert_eq!(ended.result.verdict, Verdict::Pass, "{:?}", ended.result);
    // What the preload says on standard error may come before it.
    assert!(ended.agent.lines().any(|line| line == "from the image"), "{}", ended.agent);
    assert!(ended.agent.contains("eth0") && !ended.agent.contains("/tests"), "{}", ended.agent);
    let want = "from the image\ndone\n750 root\n640 nobody\nstill\n    lo\n/app\n";
    assert_eq!(ended.verifier, want, "{:?}", ended.result.findings);
    bench.finish().await;
}

#[tokio::test]
async fn the_workspace_goes_when_its_trial_is_stopped() {
    let bench = Bench::new("fresh-stopped").await;
    let order = bench.order(&Case { agent: "echo started; sleep 60\n", place: workspace(), ..Case::default() }).await;
    let (events, mut received) = mpsc::channel(EVENTS_AHEAD);
    let stop = CancellationToken::new();
    let (running, stopping) = (bench.executor.run(order, events, stop.clone()), async {
        while let Some(event) = received.recv().await {
            match event.what {
                Happening::PhaseReached { phase: Phase::Agent } => stop.cancel(),
                Happening::Ended { result } => return result.verdict,
                _ => {}
            }
        }
        panic!("it has no end")
    });
    let ((), verdict) = tokio::join!(running, stopping);
    assert_eq!(verdict, Verdict::Cancelled);
    bench.finish().await;
}

#[tokio::test]
async fn a_workspace_that_is_no_folder_is_told_before_anything_is_made() {
    let bench = Bench::new("fresh-nowhere").await;
    for path in ["/", "app", "/app/../etc", "/proc"] {
        let place = domain::task::ResultPlace::Workspace { path: path.to_owned() };
        let ended = bench.trial(&Case { place, ..Case::default() }).await;
        match ended.result.verdict {
            Verdict::InfraError { class: InfraClass::Container, message } => {
                assert!(message.contains(&format!("'{path}'")) && message.contains("such as /app"), "{message}");
            }
            other => panic!("{path}: {other:?}"),
        }
    }
    bench.finish().await;
}
