//! What is asked of a sandbox, and what it answers.

use std::fmt;
use std::time::Duration;

use domain::id::{AttemptId, EvaluationId, TrialId};

/// Whose a container, volume or network is. Everything we make carries these labels, and clean-up goes by them alone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Labels {
    /// The data folder's own id; two servers on one engine do not touch each other's containers.
    pub instance: String,
    /// The plan.
    pub evaluation: EvaluationId,
    /// The trial.
    pub trial: TrialId,
    /// The try at it.
    pub attempt: AttemptId,
}

/// What a container may use. Values above the engine's own are clamped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// CPUs; may be a fraction.
    pub cpus: f64,
    /// MiB of memory; there is no swap on top.
    pub memory_mb: u64,
    /// Processes and threads.
    pub pids: u32,
    /// MiB the task says it needs on disk; compared with nothing here and enforced by few engines.
    pub storage_mb: Option<u64>,
    /// MiB of `/dev/shm`; `None` = the engine's own (64).
    pub shm_mb: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { cpus: 1.0, memory_mb: 2048, pids: 2048, storage_mb: None, shm_mb: None }
    }
}

/// What a container can reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Network {
    /// Nothing; the cheapest.
    #[default]
    None,
    /// The engine's shared default bridge: everything the host reaches.
    Public,
    /// A network made by [`super::Engine::create_network`].
    Named(String),
    /// The network of another container (a sidecar), by id.
    Join(String),
}

/// A volume's name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct VolumeName(pub String);

impl fmt::Display for VolumeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Something mounted into the container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Absolute path in the container.
    pub target: String,
    /// What is seen there.
    pub source: MountSource,
    /// Whether it can only be read.
    pub read_only: bool,
}

/// What is mounted. Never taken from a task's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MountSource {
    /// A named volume; an empty one is filled from the image's folder at the target.
    Volume(VolumeName),
    /// A file or folder of the engine's host, by absolute path.
    Host(String),
    /// Memory, of at most so many MiB. Uploads and downloads do not see into it.
    Memory(u64),
}

/// A container to make.
#[derive(Debug, Clone, PartialEq)]
pub struct SandboxSpec {
    /// Image id (`sha256:…`) or name, present on the engine.
    pub image: String,
    /// What it may use.
    pub limits: Limits,
    /// What it can reach.
    pub network: Network,
    /// Set for every process. Never secrets.
    pub env: Vec<(String, String)>,
    /// Whose it is.
    pub labels: Labels,
    /// Working folder; `None` = the image's own.
    pub workdir: Option<String>,
    /// Mounted things.
    pub mounts: Vec<Mount>,
    /// Default user of commands (`name`, `uid` or `uid:gid`); `None` = the image's own.
    pub user: Option<String>,
    /// The container ends by itself after about this long, whatever happened to us.
    pub lifetime: Duration,
}

impl SandboxSpec {
    /// A container with default limits, no network, no mounts, and a day to live.
    #[must_use]
    pub fn new(image: impl Into<String>, labels: Labels) -> Self {
        Self {
            image: image.into(),
            limits: Limits::default(),
            network: Network::None,
            env: Vec::new(),
            labels,
            workdir: None,
            mounts: Vec::new(),
            user: None,
            lifetime: Duration::from_secs(24 * 3600),
        }
    }
}

/// Numeric owner of uploaded files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Owner {
    /// User.
    pub uid: u32,
    /// Group.
    pub gid: u32,
}

/// A command to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecSpec {
    /// Program and arguments; no shell is put between.
    pub argv: Vec<String>,
    /// `None` = the container's.
    pub workdir: Option<String>,
    /// Set on top of the container's.
    pub env: Vec<(String, String)>,
    /// `None` = the container's.
    pub user: Option<String>,
    /// Longest run.
    pub limit: Duration,
    /// Whether every other process in the container is killed right after the command, in the same call. Saves [`super::Sandbox::kill_all`]
    /// a call; that must still be asked, as it makes sure. Works for root only.
    pub kill_after: bool,
}

impl ExecSpec {
    /// A command without extras.
    pub fn new<S: Into<String>>(argv: impl IntoIterator<Item = S>, limit: Duration) -> Self {
        let argv = argv.into_iter().map(Into::into).collect();
        Self { argv, workdir: None, env: Vec::new(), user: None, limit, kill_after: false }
    }

    /// `sh -c script`.
    #[must_use]
    pub fn shell(script: &str, limit: Duration) -> Self {
        Self::new(["/bin/sh", "-c", script], limit)
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Exited(u8),
    /// By this signal.
    Signalled(u8),
    /// At its limit; every process was killed.
    TimedOut {
        /// The limit.
        limit: Duration,
    },
    /// Not well, and the engine killed one of its processes for memory.
    OutOfMemory {
        /// MiB.
        limit_mb: u64,
    },
}

impl Exit {
    /// Whether the code was 0.
    #[must_use]
    pub fn is_success(self) -> bool {
        self == Self::Exited(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit {code}"),
            Self::Signalled(signal) => write!(f, "killed by signal {signal}"),
            Self::TimedOut { limit } => write!(f, "timed out after {} s", limit.as_secs_f64()),
            Self::OutOfMemory { limit_mb } => write!(f, "out of memory (limit {limit_mb} MB)"),
        }
    }
}

/// A command's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExecEnd {
    /// How it ended.
    pub exit: Exit,
    /// Processes killed for memory during this command, also when it ended well in spite of them; `None` = unknown.
    pub oom_kills: Option<u64>,
    /// Peak of the container so far, in bytes, page cache included on cgroup v1; `None` = unknown.
    pub peak_memory: Option<u64>,
    /// From start to end; exactly the limit for one that timed out.
    pub duration: Duration,
}

/// What a container has used since it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processes killed for memory; `None` = unknown.
    pub oom_kills: Option<u64>,
    /// Bytes; `None` = unknown.
    pub peak_memory: Option<u64>,
}
