//! Ends every process of a container but its PID 1, and makes sure of it from outside.

use std::sync::atomic::Ordering;
use std::time::Duration;

use bollard::models::ContainerTopResponse;
use bollard::query_parameters::{RestartContainerOptions, TopOptions};

use super::errors::classify;
use super::exec;
use super::operate::Container;
use crate::sandbox::SandboxError;

/// PID 1 and its sleeper.
const OWN_PROCESSES: usize = 2;
/// Looks at a process table that may still hold the dying.
const LOOKS: usize = 5;
const BETWEEN_LOOKS: Duration = Duration::from_millis(30);

/// Kills from inside (the kernel does it for all at once, sparing PID 1 and the one that asks), then looks at the process table through
/// the engine. What cannot be killed so (no process can be started, or the shell was tampered with), or cannot be seen to be dead, is killed by a
/// restart: that one is the engine's own doing, so where no table can be read it alone is believed.
pub(super) async fn kill_all(container: &Container) -> Result<(), SandboxError> {
    let asked = container.killed.load(Ordering::Acquire) || ask(container).await?;
    if asked && look(container).await? == Seen::Quiet {
        container.killed.store(true, Ordering::Release);
        return Ok(());
    }
    restart(container).await?;
    match look(container).await? {
        Seen::Others => Err(SandboxError::other("kill all processes", "some are still there after a restart")),
        Seen::Quiet | Seen::Nothing => {
            container.killed.store(true, Ordering::Release);
            Ok(())
        }
    }
}

async fn ask(container: &Container) -> Result<bool, SandboxError> {
    match exec::plain(container, &["/bin/sh", "-c", "kill -9 -1"]).await {
        Ok(_) => Ok(true),
        Err(lost @ (SandboxError::Lost { .. } | SandboxError::EngineUnavailable { .. })) => Err(lost),
        Err(_) => Ok(false),
    }
}

async fn restart(container: &Container) -> Result<(), SandboxError> {
    let options = RestartContainerOptions { t: Some(0), ..RestartContainerOptions::default() };
    let done = container.engine.docker().restart_container(&container.id, Some(options)).await;
    container.counters.restarted();
    done.map_err(|error| classify("restart a container", error))
}

/// What the process table says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// Nobody but PID 1 and its sleeper lives.
    Quiet,
    /// Others live.
    Others,
    /// It cannot be read: the engine's host has no usable `ps`.
    Nothing,
}

async fn look(container: &Container) -> Result<Seen, SandboxError> {
    for look in 0..LOOKS {
        if look > 0 {
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
        match process_count(container).await? {
            Some(0) => return Err(SandboxError::Lost { reason: "it ended when its processes were killed".to_owned() }),
            Some(count) if count > OWN_PROCESSES => {}
            Some(_) => return Ok(Seen::Quiet),
            None => return Ok(Seen::Nothing),
        }
    }
    Ok(Seen::Others)
}

/// How many processes live in the container; `None` where the engine's host has no usable `ps`.
async fn process_count(container: &Container) -> Result<Option<usize>, SandboxError> {
    for ps_args in ["-eo pid,stat", "-ef"] {
        let options = TopOptions { ps_args: ps_args.to_owned() };
        match container.engine.docker().top_processes(&container.id, Some(options)).await {
            Ok(table) => return Ok(Some(living(&table))),
            Err(error) => match classify("list processes", error) {
                lost @ (SandboxError::Lost { .. } | SandboxError::EngineUnavailable { .. }) => return Err(lost),
                other => tracing::debug!(%other, ps_args, "the process table cannot be read this way"),
            },
        }
    }
    Ok(None)
}

fn living(table: &ContainerTopResponse) -> usize {
    let titles = table.titles.as_deref().unwrap_or_default();
    let stat = titles.iter().position(|title| title == "STAT");
    let is_dead = |row: &Vec<String>| stat.and_then(|at| row.get(at)).is_some_and(|stat| stat.starts_with('Z'));
    table.processes.iter().flatten().filter(|row| !is_dead(row)).count()
}
