//! What a trivial trial costs on this engine, step by step. Run by hand beside `engine-floor`: prints, decides nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod sandbox_support;

use std::time::{Duration, Instant};

use engine::sandbox::{Caps, Discard, Engine, ExecSpec, Exit, Upload};
use futures::StreamExt;
use sandbox_support::{LONG, Rig};

const TRIALS: usize = 20;
const CONCURRENCY: usize = 4;
/// The same work as in `engine-floor`.
const TEST: &str = r#"mkdir -p /logs/verifier
if python3 -m pytest -q -p no:cacheprovider /tests/test_outputs.py -rA; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi"#;
const PYTEST: &str = "from pathlib import Path\ndef test_exists():\n    assert Path('/app/hello.txt').is_file()\ndef test_content():\n    assert Path('/app/hello.txt').read_text().strip() == 'hello'\n";
const STEPS: [&str; 7] = ["create", "upload", "agent", "kill", "verify", "download", "remove"];

async fn trial(rig: &Rig) -> [Duration; 7] {
    let mut spent = [Duration::ZERO; 7];
    let mut last = Instant::now();
    let mut lap = |step: usize| {
        spent[step] += last.elapsed();
        last = Instant::now();
    };
    let sandbox = rig.engine.create(&rig.spec()).await.unwrap().sandbox;
    lap(0);
    sandbox.upload(Upload::new().file("/solution/solve.sh", "echo hello > /app/hello.txt\n", true)).await.unwrap();
    lap(1);
    let agent = ExecSpec { kill_after: true, ..ExecSpec::new(["bash", "/solution/solve.sh"], LONG) };
    assert_eq!(sandbox.exec(&agent, &mut Discard).await.unwrap().exit, Exit::Exited(0));
    lap(2);
    sandbox.kill_all().await.unwrap();
    lap(3);
    let tests = Upload::new().file("/tests/test.sh", TEST, true).file("/tests/test_outputs.py", PYTEST, false);
    sandbox.upload(tests).await.unwrap();
    lap(1);
    assert_eq!(
        sandbox.exec(&ExecSpec::new(["bash", "/tests/test.sh"], LONG), &mut Discard).await.unwrap().exit,
        Exit::Exited(0)
    );
    lap(4);
    let reward = sandbox.download("/logs/verifier", Caps::default()).await.unwrap().unwrap();
    assert_eq!(reward.files.get("reward.txt").unwrap().bytes, b"1\n");
    lap(5);
    sandbox.remove().await.unwrap();
    lap(6);
    spent
}

#[tokio::test]
#[ignore = "a measurement; run it alone"]
async fn the_cost_of_a_trivial_trial() {
    let rig = Rig::new("bench").await;
    let started = Instant::now();
    let all: Vec<_> =
        futures::stream::iter((0..TRIALS).map(|_| trial(&rig))).buffer_unordered(CONCURRENCY).collect().await;
    let wall = started.elapsed();
    println!("{TRIALS} trials, concurrency {CONCURRENCY}: {:.2} s", wall.as_secs_f64());
    for (step, name) in STEPS.iter().enumerate() {
        let mean = all.iter().map(|spent| spent[step]).sum::<Duration>() / TRIALS as u32;
        println!("{name:>10} {:>5} ms", mean.as_millis());
    }
    assert_eq!(all.len(), TRIALS);
    rig.finish().await;
}
