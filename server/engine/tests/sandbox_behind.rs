//! Whoever takes a command's output may be behind: then the command waits, and its limit holds all the same.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod sandbox_support;

use std::time::Duration;

use async_trait::async_trait;
use engine::sandbox::{ExecSpec, Exit, Sink, StdStream};
use sandbox_support::Rig;

/// Takes so many pieces, and no more.
struct Behind {
    pieces: usize,
    taken: usize,
}

#[async_trait]
impl Sink for Behind {
    fn write(&mut self, _: StdStream, bytes: &[u8]) {
        self.pieces = self.pieces.saturating_sub(1);
        self.taken += bytes.len();
    }

    async fn ready(&mut self) {
        if self.pieces == 0 {
            std::future::pending::<()>().await;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_command_whose_output_nobody_takes_waits_and_is_ended_at_its_limit() {
    let rig = Rig::new("behind").await;
    let sandbox = rig.sandbox().await;
    let limit = Duration::from_secs(3);
    for pieces in [1, 5] {
        let mut sink = Behind { pieces, taken: 0 };
        let flood = "yes baa | head -c 200000000; echo all >&2";
        let end = sandbox.exec(&ExecSpec::shell(flood, limit), &mut sink).await.unwrap();
        assert_eq!(end.exit, Exit::TimedOut { limit }, "{pieces}");
        assert!(sink.taken > 0 && sink.taken < 100_000_000, "{} bytes were taken", sink.taken);
    }
    drop(sandbox);
    rig.finish().await;
}

#[tokio::test]
async fn a_sink_that_is_ready_in_the_end_gets_everything() {
    let rig = Rig::new("behind-late").await;
    let sandbox = rig.sandbox().await;
    let mut sink = Behind { pieces: usize::MAX, taken: 0 };
    let end = sandbox.exec(&ExecSpec::shell("yes baa | head -c 3000000", Duration::from_secs(60)), &mut sink).await;
    assert_eq!((end.unwrap().exit, sink.taken), (Exit::Exited(0), 3_000_000));
    drop(sandbox);
    rig.finish().await;
}
