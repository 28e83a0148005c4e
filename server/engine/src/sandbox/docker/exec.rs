//! Runs a command, streams its output, and makes sure of its end.

use std::pin::pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bollard::container::LogOutput;
use bollard::exec::{CreateExecOptions, StartExecOptions, StartExecResults};
use bollard::query_parameters::InspectContainerOptions;
use futures::{Stream, StreamExt};
use tokio::time::{Instant, Sleep, sleep, timeout, timeout_at};

use super::errors::classify;
use super::kill;
use super::operate::Container;
use super::trailer::{Report, Trailer, wrap};
use crate::sandbox::{Discard, ExecEnd, ExecSpec, Exit, SandboxError, Sink, StdStream};

/// Size of the read buffer; the engine sends pieces of up to 32 KiB.
const BUFFER: usize = 64 << 10;
/// The engine is asked whether the command has ended although its output has not (something it left behind may hold it open): soon at
/// first, then ever more seldom.
const FIRST_POLL: Duration = Duration::from_millis(250);
const LAST_POLL: Duration = Duration::from_secs(4);
/// How long output may still come after the command has ended.
const DRAIN: Duration = Duration::from_millis(100);
/// Longest run of our own short commands.
const SHORT: Duration = Duration::from_secs(20);
/// Looks at a container that does not tell its counters.
const LOOKS: usize = 10;
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

type Chunk = Result<LogOutput, bollard::errors::Error>;

/// Runs `spec` under the wrapper.
pub(super) async fn exec(container: &Container, spec: &ExecSpec, sink: &mut dyn Sink) -> Result<ExecEnd, SandboxError> {
    container.killed.store(false, Ordering::Release);
    let token = container.token();
    let options = CreateExecOptions {
        cmd: Some(wrap(&token, spec.kill_after, &spec.argv)),
        env: Some(spec.env.iter().map(|(name, value)| format!("{name}={value}")).collect()),
        user: spec.user.clone(),
        working_dir: spec.workdir.clone(),
        ..attached()
    };
    let started = Instant::now();
    // Asked of the clock by `sleep`, which takes any length.
    let late = sleep(spec.limit);
    let (id, output) = start(container, options).await?;
    let mut copy = Copying { sink, trailer: Trailer::new(&token) };
    let in_time = copy.until_end(container, &id, output, late).await?;
    copy.finish();
    let report = copy.trailer.report;
    let duration = if in_time { started.elapsed() } else { spec.limit };
    if !in_time {
        let before = container.counters.usage().oom_kills;
        let oom_kills = read_counters(container).await.ok().and_then(|_| container.counters.usage().oom_kills);
        let oom_kills = oom_kills.map(|now| now.saturating_sub(before.unwrap_or(0)));
        let exit = Exit::TimedOut { limit: spec.limit };
        return Ok(ExecEnd { exit, oom_kills, peak_memory: container.counters.usage().peak_memory, duration });
    }
    if spec.kill_after && report.is_some() {
        container.killed.store(true, Ordering::Release);
    }
    let (code, oom_kills) = outcome(container, &id, report).await?;
    let exit = exit(code, oom_kills, container.memory_mb);
    Ok(ExecEnd { exit, oom_kills, peak_memory: container.counters.usage().peak_memory, duration })
}

/// A short command of our own as root, without the wrapper; answers its code.
pub(super) async fn plain(container: &Container, argv: &[&str]) -> Result<i64, SandboxError> {
    let options = CreateExecOptions {
        cmd: Some(argv.iter().map(|word| (*word).to_owned()).collect()),
        user: Some("0:0".to_owned()),
        ..attached()
    };
    let run = async {
        let (id, output) = start(container, options).await?;
        let mut output = pin!(output);
        while let Some(Ok(_)) = output.next().await {}
        code(container, &id).await
    };
    let late = SandboxError::Timeout { what: "a command of our own".to_owned(), seconds: SHORT.as_secs() };
    timeout(SHORT, run).await.map_err(|_| late)?
}

/// Brings the counters up to date; `false` when the container does not tell.
pub(super) async fn read_counters(container: &Container) -> Result<bool, SandboxError> {
    let killed = container.killed.load(Ordering::Acquire);
    let token = container.token();
    let options = CreateExecOptions {
        cmd: Some(wrap(&token, false, &["true".to_owned()])),
        user: Some("0:0".to_owned()),
        ..attached()
    };
    let (id, output) = start(container, options).await?;
    let mut discard = Discard;
    let mut copy = Copying { sink: &mut discard, trailer: Trailer::new(&token) };
    copy.until_end(container, &id, output, sleep(SHORT)).await?;
    container.killed.store(killed, Ordering::Release);
    let Some(report) = copy.trailer.report else { return Ok(false) };
    container.counters.take(report.reading);
    Ok(true)
}

fn attached() -> CreateExecOptions<String> {
    CreateExecOptions { attach_stdout: Some(true), attach_stderr: Some(true), ..CreateExecOptions::default() }
}

async fn start(
    container: &Container,
    options: CreateExecOptions<String>,
) -> Result<(String, impl Stream<Item = Chunk> + Send + use<>), SandboxError> {
    let docker = container.engine.docker();
    let id = docker.create_exec(&container.id, options).await.map_err(|error| classify("run a command", error))?.id;
    let options = StartExecOptions { output_capacity: Some(BUFFER), ..StartExecOptions::default() };
    match docker.start_exec(&id, Some(options)).await.map_err(|error| classify("run a command", error))? {
        StartExecResults::Attached { output, .. } => Ok((id, output)),
        StartExecResults::Detached => Err(SandboxError::other("run a command", "the engine does not send its output")),
    }
}

struct Copying<'a> {
    sink: &'a mut dyn Sink,
    trailer: Trailer,
}

impl Copying<'_> {
    /// Copies output until the command's end or until it is `late`, when everything is killed. Answers whether it ended in time.
    async fn until_end(
        &mut self,
        container: &Container,
        exec: &str,
        output: impl Stream<Item = Chunk>,
        late: Sleep,
    ) -> Result<bool, SandboxError> {
        let mut output = pin!(output);
        let mut late = pin!(late);
        let mut pause = FIRST_POLL;
        let mut poll = pin!(sleep(pause));
        loop {
            tokio::select! {
                biased;
                () = &mut late => {
                    // Read on meanwhile: the engine takes no command for ended whose output is still to be taken.
                    let mut killing = pin!(kill::kill_all(container));
                    loop {
                        tokio::select! {
                            killed = &mut killing => break killed?,
                            Some(chunk) = output.next() => if let Ok(chunk) = chunk { self.take(chunk) },
                        }
                    }
                    self.drain(output).await;
                    return Ok(false);
                }
                chunk = output.next() => match chunk {
                    Some(Ok(chunk)) => {
                        self.take(chunk);
                        // A command whose time is over while it waits is found so by the next turn.
                        let _late = timeout_at(late.deadline(), self.sink.ready()).await;
                    }
                    // A broken stream: the command's code, or the lost container, tells the rest.
                    Some(Err(_)) | None => return Ok(true),
                },
                () = &mut poll => {
                    if self.trailer.report.is_some() || !is_running(container, exec).await? {
                        self.drain(output).await;
                        return Ok(true);
                    }
                    pause = (pause * 2).min(LAST_POLL);
                    poll.set(sleep(pause));
                }
            }
        }
    }

    async fn drain(&mut self, mut output: impl Stream<Item = Chunk> + Unpin) {
        while let Ok(Some(Ok(chunk))) = timeout(DRAIN, output.next()).await {
            self.take(chunk);
        }
    }

    fn take(&mut self, chunk: LogOutput) {
        match chunk {
            LogOutput::StdErr { message } => {
                let output = self.trailer.push(&message);
                if !output.is_empty() {
                    self.sink.write(StdStream::Err, &output);
                }
            }
            LogOutput::StdOut { message } | LogOutput::Console { message } => self.sink.write(StdStream::Out, &message),
            LogOutput::StdIn { .. } => {}
        }
    }

    fn finish(&mut self) {
        let held = self.trailer.finish();
        if !held.is_empty() {
            self.sink.write(StdStream::Err, &held);
        }
        self.sink.finish();
    }
}

async fn is_running(container: &Container, exec: &str) -> Result<bool, SandboxError> {
    let state =
        container.engine.docker().inspect_exec(exec).await.map_err(|error| classify("watch a command", error))?;
    Ok(state.running.unwrap_or(false))
}

async fn code(container: &Container, exec: &str) -> Result<i64, SandboxError> {
    let state =
        container.engine.docker().inspect_exec(exec).await.map_err(|error| classify("read an exit code", error))?;
    state.exit_code.ok_or_else(|| SandboxError::other("read an exit code", "the engine does not know it"))
}

/// The code and the memory kills. Without a report the wrapper was killed too: then the engine and a fresh look tell.
async fn outcome(
    container: &Container,
    exec: &str,
    report: Option<Report>,
) -> Result<(i64, Option<u64>), SandboxError> {
    if let Some(report) = report {
        return Ok((report.code, container.counters.take(report.reading)));
    }
    let before = container.counters.usage().oom_kills.unwrap_or(0);
    for _ in 0..LOOKS {
        if let Some(end) = own_end(container).await? {
            return Ok(end);
        }
        if read_counters(container).await? {
            let oom_kills = container.counters.usage().oom_kills.map(|now| now.saturating_sub(before));
            return Ok((code(container, exec).await?, oom_kills));
        }
        // A container that is ending still looks alive for a moment.
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
    Ok((code(container, exec).await?, None))
}

/// How the container itself ended; `None` while it runs.
async fn own_end(container: &Container) -> Result<Option<(i64, Option<u64>)>, SandboxError> {
    let options = None::<InspectContainerOptions>;
    let state = container.engine.docker().inspect_container(&container.id, options).await;
    let state = state.map_err(|error| classify("look at a container", error))?.state.unwrap_or_default();
    if state.running.unwrap_or(false) {
        return Ok(None);
    }
    if state.oom_killed.unwrap_or(false) {
        return Ok(Some((137, Some(1))));
    }
    let code = state.exit_code.unwrap_or_default();
    Err(SandboxError::Lost { reason: format!("it ended with code {code} while a command ran") })
}

/// What a code means. The engine and shells tell a signal as 128 plus its number.
fn exit(code: i64, oom_kills: Option<u64>, limit_mb: u64) -> Exit {
    let code = u8::try_from(code).unwrap_or(u8::MAX);
    if code != 0 && oom_kills.is_some_and(|kills| kills > 0) {
        return Exit::OutOfMemory { limit_mb };
    }
    match code {
        129..=192 => Exit::Signalled(code - 128),
        _ => Exit::Exited(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kill_is_out_of_memory_only_with_evidence() {
        for (code, oom_kills, want) in [
            (0, Some(0), Exit::Exited(0)),
            (0, Some(2), Exit::Exited(0)),
            (1, None, Exit::Exited(1)),
            (137, Some(0), Exit::Signalled(9)),
            (137, None, Exit::Signalled(9)),
            (137, Some(1), Exit::OutOfMemory { limit_mb: 64 }),
            (1, Some(1), Exit::OutOfMemory { limit_mb: 64 }),
            (143, Some(0), Exit::Signalled(15)),
            (255, Some(0), Exit::Exited(255)),
        ] {
            assert_eq!(exit(code, oom_kills, 64), want, "{code} {oom_kills:?}");
        }
    }
}
