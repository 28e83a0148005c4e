//! A trial's way out to the hosts that it may reach, and to no other. The forwarder in the sidecar says which host and port a connection is
//! meant for; what is allowed, where the name leads, and whether that is the public internet is decided here, outside every container.

use std::collections::BTreeSet;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::network::AllowList;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, copy_bidirectional};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use super::address::is_public;

/// Connections that one trial may hold open.
const MAX_CONNECTIONS: usize = 256;
/// Longest first line, in bytes: a name and a port.
const LONGEST_LINE: u64 = 300;
const PATIENCE: Duration = Duration::from_secs(15);
/// Refused targets that are remembered.
const MOST_REFUSED: usize = 200;

/// The addresses of a name.
pub type Addresses = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// How names are looked up, and which addresses may be connected to.
#[derive(Clone, Copy)]
pub struct Outside {
    /// Asks for a name's addresses.
    pub look_up: fn(name: String, port: u16) -> Addresses,
    /// Whether an address may be reached.
    pub permits: fn(IpAddr) -> bool,
}

impl Outside {
    /// The internet as this machine sees it: private, loopback, link-local and metadata addresses are not part of it.
    pub const INTERNET: Self = Self { look_up: system, permits: is_public };
}

fn system(name: String, port: u16) -> Addresses {
    Box::pin(async move { Ok(tokio::net::lookup_host((name, port)).await?.collect()) })
}

/// The way out while it is open. Dropping it ends every connection and removes the socket.
pub(super) struct Egress {
    socket: PathBuf,
    rules: Arc<Rules>,
    accepting: JoinHandle<()>,
}

struct Rules {
    outside: Outside,
    /// What may be reached just now.
    allowed: Mutex<AllowList>,
    refused: Mutex<BTreeSet<String>>,
}

impl Egress {
    /// Opens it at a new socket. Nothing is allowed yet.
    pub(super) fn open(listener: UnixListener, socket: PathBuf, outside: Outside) -> Self {
        let rules = Rules { outside, allowed: Mutex::default(), refused: Mutex::default() };
        let rules = Arc::new(rules);
        let accepting = tokio::spawn(accept(listener, Arc::clone(&rules)));
        Self { socket, rules, accepting }
    }

    pub(super) fn socket(&self) -> &Path {
        &self.socket
    }

    /// What may be reached from now on. Connections that are open stay.
    pub(super) fn allow(&self, hosts: AllowList) {
        *self.rules.allowed.lock().unwrap_or_else(PoisonError::into_inner) = hosts;
    }

    /// Targets that were asked for and refused, with the reason.
    pub(super) fn refused(&self) -> Vec<String> {
        self.rules.refused.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

impl Drop for Egress {
    fn drop(&mut self) {
        self.accepting.abort();
        let _gone_already = std::fs::remove_file(&self.socket);
    }
}

async fn accept(listener: UnixListener, rules: Arc<Rules>) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    // Dropped with this task, and with them every connection.
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let rules = Arc::clone(&rules);
                connections.spawn(async move {
                    if let Err(error) = connection(stream, &rules).await {
                        tracing::debug!(%error, "a trial's connection to the outside ended early");
                    }
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a trial's connection to the outside was not accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
}

/// One connection: a line `NAME PORT`, then whatever the trial and the host say to each other. Closed at once where it may not be.
async fn connection(stream: UnixStream, rules: &Rules) -> io::Result<()> {
    let mut trial = BufReader::new(stream);
    let mut line = String::new();
    let mut head = tokio::io::AsyncReadExt::take(&mut trial, LONGEST_LINE);
    timeout(PATIENCE, head.read_line(&mut line)).await??;
    let Some((name, port)) = target(&line) else { return Ok(()) };
    let mut host = match rules.connect(name, port).await {
        Ok(host) => host,
        Err(reason) => {
            let mut refused = rules.refused.lock().unwrap_or_else(PoisonError::into_inner);
            if refused.len() < MOST_REFUSED {
                refused.insert(format!("{name}:{port} ({reason})"));
            }
            return Ok(());
        }
    };
    // What the reader has read beyond the line belongs to the host.
    let early = trial.buffer().to_vec();
    host.write_all(&early).await?;
    copy_bidirectional(&mut trial.into_inner(), &mut host).await?;
    Ok(())
}

fn target(line: &str) -> Option<(&str, u16)> {
    let (name, port) = line.strip_suffix('\n')?.split_once(' ')?;
    Some((name, port.parse().ok()?))
}

impl Rules {
    /// Connects to an address that was looked at, never to the name: looked up again, it may lead elsewhere.
    async fn connect(&self, name: &str, port: u16) -> Result<TcpStream, String> {
        let allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner).allows(name, port);
        if !allowed {
            return Err("not allowed in this phase".to_owned());
        }
        let found = timeout(PATIENCE, (self.outside.look_up)(name.to_owned(), port)).await;
        let found = found
            .map_err(|_| "its name was not found in time")?
            .map_err(|error| format!("its name was not found: {error}"))?;
        let mut last = "no address of it is of the public internet".to_owned();
        for address in found.into_iter().filter(|address| (self.outside.permits)(address.ip())) {
            match timeout(PATIENCE, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    let _without_it_it_is_only_slower = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(error)) => last = format!("it could not be reached: {error}"),
                Err(_) => last = "it could not be reached in time".to_owned(),
            }
        }
        Err(last)
    }
}
