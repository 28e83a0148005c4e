//! One trial's gateway on a unix socket of its own, which only that trial's container is given. HTTP/1.1, streams passed on as they come,
//! at the pace at which they are read; a connection that is closed ends its calls upstream.

mod token;

use std::convert::Infallible;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt;
use http::{Method, Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, LengthLimitError, Limited, StreamBody};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};

pub use self::token::TrialToken;
use crate::protocol::Refusal;
use crate::protocol::headers::shown_key;
use crate::trial::TrialGateway;
use crate::upstream::{ByteStream, UpstreamError};

/// Longest request, in bytes: above what any vendor takes.
pub const MAX_REQUEST: usize = 64 << 20;
/// Bytes of all requests that one trial may have under way at once: each is kept until its answer begins, since it may have to be asked
/// again. What goes beyond waits.
pub const MAX_UNDER_WAY: usize = 4 * MAX_REQUEST;
/// Bytes in which that is counted.
const ROOM_UNIT: usize = 1 << 10;
/// Connections that one trial may hold open.
const MAX_CONNECTIONS: usize = 512;
/// Longest path of a socket that the system takes, with room to spare.
const MAX_SOCKET_PATH: usize = 100;

/// A trial's gateway while it can be reached. Dropping it ends every call and removes the socket.
#[derive(Debug)]
pub struct Served {
    socket: PathBuf,
    token: TrialToken,
    accepting: JoinHandle<()>,
}

impl Served {
    /// Where it listens. Whoever may open it may be any user: its folder is closed to all others instead.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// What the trial must show.
    #[must_use]
    pub const fn token(&self) -> &TrialToken {
        &self.token
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.accepting.abort();
        let _gone_already = std::fs::remove_file(&self.socket);
    }
}

/// Offers a trial's gateway on a new socket in `folder`, which is made and closed to all but its owner. Needs a tokio runtime.
///
/// # Errors
/// Any of the file system's.
pub fn serve(gateway: TrialGateway, token: TrialToken, folder: &Path) -> io::Result<Served> {
    let (listener, socket) = listen(folder, &gateway.attempt().to_string())?;
    let room = Arc::new(Semaphore::new(MAX_UNDER_WAY / ROOM_UNIT));
    let shared = Arc::new(Shared { gateway, token: token.clone(), room });
    let accepting = tokio::spawn(accept(listener, shared));
    Ok(Served { socket, token, accepting })
}

/// A new socket `NAME.sock` in `folder`, which is made and closed to all but its owner. Needs a tokio runtime.
///
/// # Errors
/// Any of the file system's.
pub fn listen(folder: &Path, name: &str) -> io::Result<(UnixListener, PathBuf)> {
    private_folder(folder)?;
    let socket = folder.join(format!("{name}.sock"));
    let listener = bind(folder, &socket)?;
    // The container's users have other numbers than ours; what keeps others away is the folder.
    std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o666))?;
    Ok((listener, socket))
}

/// Removes the sockets that an earlier life has left in `folder`. Only for a folder that no other server uses.
pub fn clear(folder: &Path) {
    let left = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    for socket in left.filter(|path| path.extension().is_some_and(|end| end == "sock")) {
        let _gone_already = std::fs::remove_file(socket);
    }
}

fn private_folder(folder: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))
}

/// A path of a socket may hold some hundred bytes only; a longer one is reached by way of its opened folder.
fn bind(folder: &Path, socket: &Path) -> io::Result<UnixListener> {
    match std::fs::remove_file(socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    if socket.as_os_str().len() <= MAX_SOCKET_PATH {
        return UnixListener::bind(socket);
    }
    use std::os::fd::AsRawFd;
    let opened = std::fs::File::open(folder)?;
    let name = socket.file_name().unwrap_or_default();
    UnixListener::bind(Path::new(&format!("/proc/self/fd/{}", opened.as_raw_fd())).join(name))
}

struct Shared {
    gateway: TrialGateway,
    token: TrialToken,
    room: Arc<Semaphore>,
}

/// Units that so many bytes take.
fn room(bytes: usize) -> usize {
    bytes.div_ceil(ROOM_UNIT).max(1)
}

async fn accept(listener: UnixListener, shared: Arc<Shared>) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    // Dropped with this task, and with them every connection.
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let shared = Arc::clone(&shared);
                connections.spawn(async move {
                    connection(stream, shared).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a trial's connection was not accepted");
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn connection(stream: UnixStream, shared: Arc<Shared>) {
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(answer(&shared, request).await) }
    });
    // An error here is the agent's going away, or bytes that are no HTTP.
    if let Err(error) = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%error, "a trial's connection ended early");
    }
}

type Body = StreamBody<futures::stream::BoxStream<'static, Result<Frame<Bytes>, UpstreamError>>>;

async fn answer(shared: &Shared, request: Request<Incoming>) -> Response<Body> {
    let response = respond(shared, request).await;
    response.map(|body: ByteStream| StreamBody::new(body.map(|piece| piece.map(Frame::data)).boxed()))
}

async fn respond(shared: &Shared, request: Request<Incoming>) -> Response<ByteStream> {
    let (parts, body) = request.into_parts();
    let known = shown_key(&parts.headers, &parts.uri).is_some_and(|key| shared.token.matches(key));
    // A probe tells nothing and costs nothing, and agents send it without a key.
    if !known && parts.method != Method::HEAD {
        return shared.gateway.refuse(&parts.headers, parts.uri.path(), &Refusal::BadToken);
    }
    let refuse = |refusal| shared.gateway.refuse(&parts.headers, parts.uri.path(), &refusal);
    if body.size_hint().lower() > MAX_REQUEST as u64 {
        return refuse(Refusal::TooLarge { limit: MAX_REQUEST });
    }
    let most = body.size_hint().upper().and_then(|most| usize::try_from(most).ok()).unwrap_or(MAX_REQUEST);
    let wanted = u32::try_from(room(most.min(MAX_REQUEST))).unwrap_or(u32::MAX);
    let Ok(mut taken) = Arc::clone(&shared.room).acquire_many_owned(wanted).await else {
        return refuse(Refusal::Unreadable { reason: "the trial is over".to_owned() });
    };
    match Limited::new(body, MAX_REQUEST).collect().await {
        Ok(body) => {
            let body = body.to_bytes();
            let _kept = taken.split(room(body.len()));
            drop(taken);
            shared.gateway.handle(Request::from_parts(parts, body)).await
        }
        Err(error) if error.is::<LengthLimitError>() => refuse(Refusal::TooLarge { limit: MAX_REQUEST }),
        Err(_) => refuse(Refusal::Unreadable { reason: "it was cut off".to_owned() }),
    }
}
