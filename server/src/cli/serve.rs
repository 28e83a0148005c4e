//! `skilldelta serve`: the pages, and the scheduler behind them.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::Args;
use engine::agent::bash::NAME as BASH;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::beside::Beside;
use super::interrupt::interrupted;
use super::{Exit, Failure, example};
use crate::config::{CommonArgs, Config};
use crate::http::{Site, router};
use crate::runtime::Runtime;
use crate::scheduler::QueueStatus;

/// How to serve.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Where to listen; loopback unless you say otherwise.
    #[arg(long, env = "SKILLDELTA_LISTEN", value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// Task folders may be added from below this one. May be given several times.
    #[arg(long, value_name = "DIR")]
    task_root: Vec<PathBuf>,
    /// The folder that `cargo bundle` built the browser program into.
    #[arg(long, env = "LEPTOS_SITE_ROOT", default_value = "target/site", value_name = "DIR")]
    site: PathBuf,
    /// Run the example in this folder first (or show it, if it has been run), print its result and its page's address.
    #[arg(long, value_name = "DIR")]
    example: Option<PathBuf>,
    /// Who solves the example's tasks: bash, or an installed agent (see `skilldelta agents`).
    #[arg(long, requires = "example", default_value = BASH, value_name = "NAME")]
    example_agent: String,
}

/// Serves until it is told to stop.
///
/// # Errors
/// Unusable settings (exit 2), an address that is taken, a data folder in use.
pub async fn run(common: &CommonArgs, args: ServeArgs) -> Result<Exit, Failure> {
    let mut config = Config::load(common).map_err(Failure::unusable)?;
    config.listen = args.listen.unwrap_or(config.listen);
    config.task_roots.extend(args.task_root);
    if let Some(folder) = &args.example {
        example::configure(&mut config, folder)?;
    }
    if config.can_be_reached() {
        tracing::warn!("{}", exposed(&config));
    }
    let listener = listen(config.listen).await?;
    let listen = listener.local_addr().context("the address could not be read")?;
    let (public_hosts, example) = (config.public_hosts.clone(), args.example);
    for (upstream, missing) in &config.unusable_upstreams {
        tracing::warn!(%upstream, %missing, "an upstream of the settings cannot be asked");
    }
    let runtime = Runtime::open(config, None).await?;
    runtime.store.dir().is_served_at(&format!("http://{listen}"))?;
    let stop = CancellationToken::new();
    // Without a scheduler this is the queue that is told of.
    let none = watch::Sender::new(QueueStatus::default());
    let (queue, scheduler) = match runtime.scheduler().await {
        Ok(scheduler) => (scheduler.status(), Some(Beside::start(scheduler, &stop))),
        Err(error) if example.is_some() => return Err(error.into()),
        Err(error) => {
            tracing::error!(
                "no trial can run: {error:#}; the pages are served all the same, start again once it is mended"
            );
            none.send_modify(|status| status.paused = Some(format!("{error:#}")));
            (none.subscribe(), None)
        }
    };
    let site =
        Site { ops: runtime.ops.clone(), queue: queue.clone(), root: args.site, listen, public_hosts, csrf: token()? };
    let board = runtime.ops.clone();
    let board = tokio::spawn(async move { board.keep_leaderboard().await });
    let stopped = stop.clone();
    let server = axum::serve(listener, router(site)).with_graceful_shutdown(async move { stopped.cancelled().await });
    let server = tokio::spawn(server.into_future());
    println!("skilldelta serves on http://{listen}");
    let asked = async {
        if let Some(folder) = example {
            tokio::select! {
                shown = example::run(&runtime.ops, &folder, &args.example_agent, queue, listen) => shown?,
                () = interrupted() => return Ok::<(), Failure>(()),
            }
        }
        interrupted().await;
        Ok(())
    };
    let told = async {
        asked.await?;
        tracing::info!("stopping; trials under way will be made again at the next start");
        stop.cancel();
        Ok(Exit::Done)
    };
    let outcome = match scheduler {
        Some(scheduler) => scheduler.until(told).await,
        None => told.await,
    };
    // Event streams of open pages would keep the server for ever.
    server.abort();
    board.abort();
    outcome
}

/// What others can do whom these settings let in: nobody is asked who they are.
fn exposed(config: &Config) -> String {
    let approvals = match config.remote_approvals {
        true => ", and may approve variables of this machine for verifiers (remote_approvals)",
        false => "; variables of this machine are approved by nobody here (remote_approvals)",
    };
    let place = match config.listen.ip().is_loopback() {
        true => format!("the pages are also served as {}", config.public_hosts.join(", ")),
        false => format!("the pages are served on {}, not on loopback", config.listen),
    };
    format!(
        "{place}: WHOEVER REACHES THEM may read everything, start evaluations that spend what your keys allow, and publish{approvals}. \
         Let only people in whom you trust: by a proxy that asks who they are, or by listening on 127.0.0.1 and a tunnel"
    )
}

async fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => {
            anyhow!("{address} is in use; stop what listens there or choose another with --listen 127.0.0.1:PORT")
                .into()
        }
        std::io::ErrorKind::PermissionDenied => {
            anyhow!("{address} may not be used by this user; choose a port above 1023 with --listen").into()
        }
        _ => anyhow!(error).context(format!("cannot listen on {address}")).into(),
    })
}

/// 128 random bits as text.
fn token() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).context("no form token could be drawn")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
