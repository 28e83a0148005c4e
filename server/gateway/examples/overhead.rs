//! Measures what the gateway costs: the same calls to the same scripted provider, straight and through a trial's socket, in turn; then
//! many streams at once, each compared byte for byte. `cargo run --package gateway --example overhead [CALLS] [STREAMS]`.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use domain::id::AttemptId;
use futures::{StreamExt, stream};
use gateway::serve::{TrialToken, serve};
use gateway::upstream::http::{Credential, Dialect, HttpConfig, HttpUpstream};
use gateway::{Gateway, TrialTicket};
use http::{Request, Response};
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream, UnixStream};

type Failure = Box<dyn std::error::Error + Send + Sync>;
type Client = SendRequest<Full<Bytes>>;

/// Bytes of a request, as of an agent in the midst of its work.
const REQUEST: usize = 50_000;
/// Events of a streamed answer, and the pause between two of them where many streams run at once.
const EVENTS: usize = 100;
const PAUSE: Duration = Duration::from_millis(10);
const TARGET: Duration = Duration::from_millis(2);

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>());
    let calls = arguments.next().transpose()?.unwrap_or(400);
    let streams = arguments.next().transpose()?.unwrap_or(200);
    let provider = TcpListener::bind("127.0.0.1:0").await?;
    let address = provider.local_addr()?;
    tokio::spawn(provide(provider));

    let upstream = HttpUpstream::new(HttpConfig {
        name: "provider".to_owned(),
        dialect: Dialect::Anthropic,
        base_url: format!("http://{address}"),
        credential: Credential::None,
        proxy: None,
        extra_ca_pem: None,
    })?;
    let gateway = Gateway::new(vec![Arc::new(upstream)]).open(TrialTicket::new(AttemptId(1), "m", "provider"))?;
    let folder = tempfile::tempdir()?;
    let served = serve(gateway.clone(), TrialToken::random()?, folder.path())?;
    let key = served.token().expose().to_owned();

    let mut straight = connect(TcpStream::connect(address).await?).await?;
    let mut through = connect(UnixStream::connect(served.socket()).await?).await?;
    let (mut direct, mut by_gateway) = (Vec::new(), Vec::new());
    for call in 0..calls + 20 {
        let one = timed(&mut straight, &key, false).await?;
        let other = timed(&mut through, &key, false).await?;
        if call >= 20 {
            direct.push(one);
            by_gateway.push(other);
        }
    }
    let (direct, by_gateway) = (median(direct), median(by_gateway));
    let overhead = by_gateway.saturating_sub(direct);
    println!(
        "{calls} calls of {REQUEST} bytes: direct {direct:?}, gateway {by_gateway:?}, overhead {overhead:?} (under {TARGET:?})"
    );

    let begun = Instant::now();
    let running: Vec<_> =
        (0..streams).map(|_| tokio::spawn(one_stream(served.socket().to_owned(), key.clone()))).collect();
    let mut lost = 0;
    for stream in running {
        lost += usize::from(!stream.await?.unwrap_or(false));
    }
    let alone = PAUSE * u32::try_from(EVENTS)?;
    println!("{streams} streams at once, {lost} lost; {:?} in all, {alone:?} for one alone", begun.elapsed());
    let recorded = gateway.records().len();
    println!("{recorded} calls recorded, {:?} tokens", gateway.usage().total());
    let good = overhead < TARGET && lost == 0 && recorded == calls + 20 + streams;
    if good { Ok(()) } else { Err("not reached".into()) }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The answer, whole.
fn answer() -> Vec<String> {
    let start = r#"{"type":"message_start","message":{"usage":{"input_tokens":10,"output_tokens":1}}}"#;
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}"#;
    let delta = |number| format!(r#"{{"type":"content_block_delta","index":0,"delta":{{"text":"piece {number}"}}}}"#);
    let middle = (0..EVENTS).map(delta);
    let events = std::iter::once(start.to_owned())
        .chain(middle)
        .chain([end.to_owned(), r#"{"type":"message_stop"}"#.to_owned()]);
    events.map(|data| format!("data: {data}\n\n")).collect()
}

async fn provide(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        let _slower_without = stream.set_nodelay(true);
        tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(
            TokioIo::new(stream),
            hyper::service::service_fn(|request: Request<Incoming>| async move {
                let slow = request.uri().query() == Some("slow");
                let _whole = request.into_body().collect().await;
                let pieces = stream::iter(answer()).then(move |piece| async move {
                    if slow {
                        tokio::time::sleep(PAUSE).await;
                    }
                    Ok::<_, Infallible>(Frame::data(Bytes::from(piece)))
                });
                Response::builder().header("content-type", "text/event-stream").body(StreamBody::new(pieces.boxed()))
            }),
        ));
    }
}

async fn connect<S>(stream: S) -> Result<Client, Failure>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (client, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(client)
}

async fn timed(client: &mut Client, key: &str, slow: bool) -> Result<Duration, Failure> {
    let body =
        format!(r#"{{"model":"m","stream":true,"messages":[{{"role":"user","content":"{}"}}]}}"#, "x".repeat(REQUEST));
    let place = if slow { "/v1/messages?slow" } else { "/v1/messages" };
    let request =
        Request::post(place).header("host", "g").header("x-api-key", key).body(Full::new(Bytes::from(body)))?;
    let begun = Instant::now();
    client.ready().await?;
    let got = client.send_request(request).await?.into_body().collect().await?.to_bytes();
    let took = begun.elapsed();
    if got == answer().concat().as_bytes() { Ok(took) } else { Err("the answer differs".into()) }
}

async fn one_stream(socket: std::path::PathBuf, key: String) -> Result<bool, Failure> {
    let mut client = connect(UnixStream::connect(socket).await?).await?;
    timed(&mut client, &key, true).await.map(|_| true)
}
