//! What the bash agent makes of a provider or a container that fails under it. The container is a stand-in: a real one cannot be made to
//! fail at a chosen moment.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use domain::id::AttemptId;
use domain::tamper::ChangeKind;
use domain::time::Timestamp;
use engine::agent::bash::BashAgent;
use engine::agent::{Agent, AgentContext, AgentEnd, AgentRun};
use engine::sandbox::{
    Caps as DownloadCaps, Collect, Download, ExecEnd, ExecSpec, Exit, Redactor, Sandbox, SandboxError, Sink, Upload,
    Usage,
};
use futures::{StreamExt, stream};
use gateway::{ByteStream, Gateway, RetryPolicy, TrialTicket, Upstream, UpstreamError};
use http::{Request, Response};

type Done<T> = Result<T, SandboxError>;

/// Answers every command with success until it is lost, at the given call.
struct Fake {
    calls: AtomicUsize,
    lost_at: usize,
}

fn lost() -> SandboxError {
    SandboxError::Lost { reason: "gone".to_owned() }
}

#[async_trait]
impl Sandbox for Fake {
    fn id(&self) -> &str {
        "fake"
    }
    async fn exec(&self, _: &ExecSpec, _: &mut dyn Sink) -> Done<ExecEnd> {
        if self.calls.fetch_add(1, Ordering::SeqCst) == self.lost_at {
            return Err(lost());
        }
        Ok(ExecEnd { exit: Exit::Exited(0), oom_kills: None, peak_memory: Some(5), duration: Duration::ZERO })
    }
    async fn upload(&self, _: Upload) -> Done<()> {
        Err(lost())
    }
    async fn download(&self, _: &str, _: DownloadCaps) -> Done<Option<Download>> {
        Err(lost())
    }
    async fn usage(&self) -> Done<Usage> {
        Err(lost())
    }
    async fn changes(&self) -> Done<Vec<(ChangeKind, String)>> {
        Err(lost())
    }
    async fn open_network(&self, _: bool) -> Done<()> {
        Err(lost())
    }
    async fn freeze(&self) -> Done<()> {
        Err(lost())
    }
    async fn thaw(&self) -> Done<()> {
        Err(lost())
    }
    async fn kill_all(&self) -> Done<()> {
        Err(lost())
    }
    async fn remove(&self) -> Done<()> {
        Err(lost())
    }
}

const TOOL: &str = concat!(
    "event: x\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":4,\"output_tokens\":1}}}\n\n",
    "event: x\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"bash\",\"input\":{}}}\n\n",
    "event: x\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"command\\\":\\\"ls\\\"}\"}}\n\n",
    "event: x\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":2}}\n\n",
    "event: x\ndata: {\"type\":\"message_stop\"}\n\n",
);
const DONE: &str = concat!(
    "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":6,\"output_tokens\":1}}}\n\n",
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"Done.\"}}\n\n",
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}\n\n",
    "data: {\"type\":\"message_stop\"}\n\n",
);

/// Gives its answers in order, the last for ever. `None` never answers.
struct Provider(Mutex<Vec<Option<Vec<&'static str>>>>);

#[async_trait]
impl Upstream for Provider {
    fn name(&self) -> &str {
        "provider"
    }
    fn is_scripted(&self) -> bool {
        true
    }
    async fn send(&self, _: Request<Bytes>) -> Result<Response<ByteStream>, UpstreamError> {
        let answer = {
            let mut answers = self.0.lock().unwrap();
            if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() }
        };
        let Some(pieces) = answer else { return std::future::pending().await };
        let body = stream::iter(pieces.into_iter().map(|piece| match piece {
            "cut" => Err(UpstreamError::Cut { reason: "reset".to_owned() }),
            text => Ok(Bytes::from(text)),
        }));
        Ok(Response::builder().header("content-type", "text/event-stream").body(body.boxed()).unwrap())
    }
}

async fn run(answers: Vec<Option<Vec<&'static str>>>, lost_at: usize) -> (AgentRun, usize) {
    let provider: Arc<dyn Upstream> = Arc::new(Provider(Mutex::new(answers)));
    let ticket = TrialTicket {
        retry: RetryPolicy { within: Duration::from_secs(10), ..RetryPolicy::default() },
        ..TrialTicket::new(AttemptId(1), "m", "provider")
    };
    let gateway = Gateway::new(vec![provider]).open(ticket).unwrap();
    let sandbox = Fake { calls: AtomicUsize::new(0), lost_at };
    let run = BashAgent::default()
        .run(AgentContext {
            sandbox: &sandbox,
            instruction: "x",
            workdir: "/app",
            home: "/root",
            user: None,
            env: &[],
            gateway: Some(&gateway),
            access: None,
            oracle: None,
            limit: Duration::from_secs(60),
            log: &mut Collect::default(),
            steps: &mut |_| (),
            redactor: &Redactor::new::<&str>([]),
            clock: &|| Timestamp(0),
        })
        .await;
    (run, gateway.records().len())
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_breaks_off_is_asked_again_within_the_stated_time() {
    let (half, _) = TOOL.split_at(TOOL.len() / 2);
    let (run, calls) =
        run(vec![Some(vec![TOOL]), Some(vec![half, "cut"]), Some(vec![half]), Some(vec![DONE])], 99).await;
    assert_eq!((run.end, calls, run.note.as_deref()), (AgentEnd::Completed, 4, Some("Done.")));
    assert_eq!(
        (run.trace.turns(), run.trace.tool_calls(), run.peak_memory),
        (2, 1, Some(5)),
        "half an answer is no step"
    );
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_stays_broken_is_trouble_and_no_score() {
    let (half, _) = TOOL.split_at(TOOL.len() / 2);
    let begun = tokio::time::Instant::now();
    let (ended, _) = run(vec![Some(vec![TOOL]), Some(vec![half, "cut"])], 99).await;
    assert!(
        matches!(&ended.end, AgentEnd::ProviderTrouble { message } if message.contains("cut off")),
        "{:?}",
        ended.end
    );
    assert!(begun.elapsed() <= Duration::from_secs(10));
    assert_eq!(ended.trace.turns(), 1, "what was done before stays");

    let (ended, _) = run(vec![None], 99).await;
    assert_eq!(
        ended.end,
        AgentEnd::TimedOut { limit: Duration::from_secs(60) },
        "the run's limit is shorter than the provider's"
    );
}

#[tokio::test(start_paused = true)]
async fn a_lost_container_ends_the_run_with_its_trace() {
    for (lost_at, turns) in [(0, 0), (1, 1)] {
        let (run, _) = run(vec![Some(vec![TOOL]), Some(vec![DONE])], lost_at).await;
        assert_eq!((run.end, run.trace.turns()), (AgentEnd::SandboxFailed(lost()), turns));
    }
}
