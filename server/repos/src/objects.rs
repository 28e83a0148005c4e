//! The contents of a commit's files, raw: no filter, line-end conversion or substitution that a repository asks for is applied.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::cache::Pinned;
use crate::error::RepoError;
use crate::git::no_start;

/// Reads contents by id; for threads that may block.
pub struct Objects {
    child: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Pinned {
    /// A reader of the contents.
    ///
    /// # Errors
    /// [`RepoError::NoGit`].
    pub fn objects(&self) -> Result<Objects, RepoError> {
        let git = self.repositories.git();
        let (env, settings) = git.surroundings();
        let mut command = Command::new("git");
        command.env_clear().envs(env).args(settings).arg("--git-dir").arg(&self.folder);
        command.args(["cat-file", "--batch"].map(OsStr::new));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(no_start)?;
        let missing = || no_start(io::ErrorKind::BrokenPipe.into());
        let asks = child.stdin.take().ok_or_else(missing)?;
        let answers = child.stdout.take().map(BufReader::new).ok_or_else(missing)?;
        Ok(Objects { child, asks, answers })
    }
}

impl Objects {
    /// Hands the content of a file to `take` as it comes.
    ///
    /// # Errors
    /// A content that is not there or is not a file's, and what `take` says.
    pub fn with<T>(&mut self, id: &str, take: impl FnOnce(u64, &mut dyn Read) -> io::Result<T>) -> io::Result<T> {
        let odd =
            |why: &str| io::Error::new(io::ErrorKind::InvalidData, format!("git cannot read the object {id}: {why}"));
        writeln!(self.asks, "{id}")?;
        self.asks.flush()?;
        let mut head = String::new();
        self.answers.by_ref().take(200).read_line(&mut head)?;
        let mut words = head.split_ascii_whitespace().skip(1);
        let size = match (words.next(), words.next().map(str::parse::<u64>)) {
            (Some("blob"), Some(Ok(size))) => size,
            _ => return Err(odd("it is missing")),
        };
        let mut content = self.answers.by_ref().take(size);
        let taken = take(size, &mut content)?;
        // What was not taken, and the line feed behind it.
        io::copy(&mut content, &mut io::sink())?;
        let mut end = [0];
        self.answers.read_exact(&mut end)?;
        Ok(taken)
    }

    /// A whole content.
    ///
    /// # Errors
    /// As [`Objects::with`]; one larger than `most` bytes is `FileTooLarge`.
    pub fn read(&mut self, id: &str, most: u64) -> io::Result<Vec<u8>> {
        self.with(id, |size, content| {
            if size > most {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            let mut bytes = Vec::new();
            content.read_to_end(&mut bytes)?;
            Ok(bytes)
        })
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // It only reads, and waits for questions that will not come.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
