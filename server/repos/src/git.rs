//! The program `git`, started so that neither a repository nor this machine's settings can make it do anything else than asked.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

use crate::RepositoriesConfig;
use crate::error::{RepoError, told};

/// Bytes kept of what git prints on an ordinary command.
const MOST_OUTPUT: u64 = 256 << 20;
/// Bytes kept of its messages.
const MOST_WORDS: u64 = 64 << 10;
/// How often the size of a fetch is looked at.
const LOOK: Duration = Duration::from_millis(250);
/// Longest command that reads what is already here.
pub(crate) const LOCAL_TIME: Duration = Duration::from_secs(600);

/// Everything that git reads besides its arguments. A fetched object that git's own check finds dangerous is refused; what is merely
/// untidy in old repositories is not.
const SETTINGS: &str = "[safe]
\tdirectory = *
[core]
\thooksPath = /dev/null
\tfsmonitor = false
\tattributesFile = /dev/null
\texcludesFile = /dev/null
[gc]
\tauto = 0
[maintenance]
\tauto = false
[pack]
\tthreads = 1
[credential]
\thelper =
[submodule]
\trecurse = false
[http]
\tlowSpeedLimit = 1000
\tlowSpeedTime = 60
[fetch]
\tfsckObjects = true
\trecurseSubmodules = false
[fetch \"fsck\"]
\tzeroPaddedFilemode = ignore
\tmissingSpaceBeforeDate = ignore
\tmissingSpaceBeforeEmail = ignore
\tbadTimezone = ignore
\tmissingNameBeforeEmail = ignore
\tmissingEmail = ignore
\tbadEmail = ignore
\tbadName = ignore
";

/// A way to start git.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    settings: PathBuf,
    home: PathBuf,
    search_path: Option<OsString>,
    more: Vec<(String, String)>,
}

/// What may happen while a command runs.
pub(crate) struct Guard<'a> {
    /// Longest run.
    pub(crate) time: Duration,
    /// A folder that may grow to so many bytes.
    pub(crate) room: Option<(&'a Path, u64)>,
}

/// Why a command did not end well.
pub(crate) enum Ended {
    /// It could not be started or talked to.
    Io(std::io::Error),
    /// It said no.
    Failed(String),
    /// The guard's time was over.
    Late,
    /// The guard's room was full.
    Full(u64),
}

impl Git {
    /// Writes the settings beside the kept repositories.
    pub(crate) fn new(config: &RepositoriesConfig) -> Self {
        let more = [
            ("http.sslCAInfo", config.ca_bundle.as_ref().map(|path| path.display().to_string())),
            ("http.proxy", config.proxy.clone()),
        ];
        Self {
            settings: config.cache.join("gitconfig"),
            home: config.cache.join("home"),
            search_path: config.search_path.clone(),
            more: more.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect(),
        }
    }

    /// Makes what the commands below need. The settings are never seen empty or in part: gits of other trials read them meanwhile.
    pub(crate) fn prepare(&self) -> Result<(), RepoError> {
        std::fs::create_dir_all(&self.home).map_err(|error| RepoError::disk(&self.home, error))?;
        if std::fs::read(&self.settings).is_ok_and(|kept| kept == SETTINGS.as_bytes()) {
            return Ok(());
        }
        self.write_settings().map_err(|error| RepoError::disk(&self.settings, error))
    }

    fn write_settings(&self) -> std::io::Result<()> {
        let mut beside = tempfile::NamedTempFile::new_in(&self.home)?;
        beside.write_all(SETTINGS.as_bytes())?;
        beside.persist(&self.settings)?;
        Ok(())
    }

    /// The environment, as pairs, and arguments before any command. Also for `std::process`.
    pub(crate) fn surroundings(&self) -> (Vec<(&'static str, OsString)>, Vec<String>) {
        let null = || OsString::from("/dev/null");
        let word = |text: &str| OsString::from(text);
        let mut env = vec![
            ("HOME", self.home.clone().into_os_string()),
            ("XDG_CONFIG_HOME", self.home.clone().into_os_string()),
            ("GIT_CONFIG_NOSYSTEM", word("1")),
            ("GIT_CONFIG_SYSTEM", null()),
            ("GIT_CONFIG_GLOBAL", self.settings.clone().into_os_string()),
            ("GIT_ATTR_NOSYSTEM", word("1")),
            ("GIT_TERMINAL_PROMPT", word("0")),
            ("GIT_ASKPASS", word("true")),
            ("SSH_ASKPASS", word("true")),
            ("GIT_SSH_COMMAND", word("false")),
            ("GIT_ALLOW_PROTOCOL", word("https")),
            ("GIT_PROTOCOL_FROM_USER", word("0")),
            ("GIT_NO_LAZY_FETCH", word("1")),
            ("GIT_NO_REPLACE_OBJECTS", word("1")),
            ("GIT_LFS_SKIP_SMUDGE", word("1")),
            ("GIT_OPTIONAL_LOCKS", word("0")),
            ("LC_ALL", word("C")),
            ("TZ", word("UTC")),
        ];
        env.extend(self.search_path.clone().map(|path| ("PATH", path)));
        let settings = self.more.iter().flat_map(|(key, value)| ["-c".to_owned(), format!("{key}={value}")]);
        (env, settings.collect())
    }

    /// A command on the repository in `folder`.
    pub(crate) fn command(&self, folder: &Path, arguments: &[&OsStr]) -> Command {
        let (env, settings) = self.surroundings();
        let mut command = Command::new("git");
        command.env_clear().envs(env).args(settings).arg("--git-dir").arg(folder).args(arguments);
        // A group of its own, so that the helpers it starts can be ended with it.
        command.kill_on_drop(true).process_group(0).current_dir(&self.home);
        command
    }

    /// Runs a command with `input`, and answers what it printed.
    pub(crate) async fn output(&self, mut command: Command, input: &[u8], guard: &Guard<'_>) -> Result<Vec<u8>, Ended> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(Ended::Io)?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let work = async {
            let write = async {
                if let Some(mut stdin) = stdin {
                    // A command that has seen enough closes its input.
                    let _ = stdin.write_all(input).await;
                }
            };
            let (mut printed, mut said) = (Vec::new(), Vec::new());
            let read = async {
                if let Some(stdout) = stdout {
                    stdout.take(MOST_OUTPUT).read_to_end(&mut printed).await?;
                }
                Ok::<_, std::io::Error>(())
            };
            let listen = async {
                if let Some(mut stderr) = stderr {
                    let mut words = (&mut stderr).take(MOST_WORDS);
                    words.read_to_end(&mut said).await?;
                    tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await?;
                }
                Ok::<_, std::io::Error>(())
            };
            let ((), read, heard) = tokio::join!(write, read, listen);
            read.and(heard).map_err(Ended::Io)?;
            let status = child.wait().await.map_err(Ended::Io)?;
            if status.success() { Ok(printed) } else { Err(Ended::Failed(String::from_utf8_lossy(&said).into_owned())) }
        };
        let end = tokio::select! {
            end = work => return end,
            end = watch(guard) => end,
        };
        if let Some(group) = group {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        Err(end)
    }

    /// Runs a command on what is already here.
    pub(crate) async fn local(&self, what: &str, command: Command, input: &[u8]) -> Result<Vec<u8>, RepoError> {
        let guard = Guard { time: LOCAL_TIME, room: None };
        self.output(command, input, &guard).await.map_err(|ended| match ended {
            Ended::Io(error) => no_start(error),
            Ended::Failed(said) => RepoError::Failed { what: what.to_owned(), reason: told(&said) },
            Ended::Late | Ended::Full(_) => RepoError::Failed {
                what: what.to_owned(),
                reason: format!("it did not end in {} s", LOCAL_TIME.as_secs()),
            },
        })
    }
}

/// A command that could not be started.
pub(crate) fn no_start(error: std::io::Error) -> RepoError {
    RepoError::NoGit(error)
}

async fn watch(guard: &Guard<'_>) -> Ended {
    let late = tokio::time::sleep(guard.time);
    let Some((folder, most)) = guard.room else {
        late.await;
        return Ended::Late;
    };
    let full = async {
        loop {
            tokio::time::sleep(LOOK).await;
            let folder = folder.to_owned();
            let size = tokio::task::spawn_blocking(move || size(&folder)).await.unwrap_or(0);
            if size > most {
                return size;
            }
        }
    };
    tokio::select! {
        () = late => Ended::Late,
        size = full => Ended::Full(size),
    }
}

/// Bytes of all files below a folder that changes while it is looked at.
pub(crate) fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let size_of = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(kind) if kind.is_dir() => size(&entry.path()),
        Ok(kind) => kind.len(),
        Err(_) => 0,
    };
    entries.map(size_of).sum()
}
