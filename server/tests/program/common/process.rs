//! The program as a process: its lines as they come, its end, and signals.

use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// Longest that anything here may take on a busy machine. Reached only by a test that fails.
pub const PATIENCE: Duration = Duration::from_secs(600);
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Looks again and again until there is something to see.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(start.elapsed() < PATIENCE, "waited too long for {what}");
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

/// A process that has ended.
#[derive(Debug)]
pub struct Ended {
    /// Exit code; a signal is 128 + its number.
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit {}\n--- out\n{}\n--- err\n{}", self.code, self.out, self.err)
    }
}

impl Ended {
    /// Asserts the exit code and that the error output has every text.
    pub fn told(&self, code: i32, texts: &[&str]) {
        assert_eq!(self.code, code, "{self}");
        for text in texts {
            assert!(self.err.contains(text), "no {text:?} in {self}");
        }
    }
}

/// A process under way; killed if the test ends before it.
pub struct Running {
    child: Child,
    out: Lines,
    err: Lines,
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = Lines::of(child.stdout.take().unwrap());
        let err = Lines::of(child.stderr.take().unwrap());
        Self { child, out, err }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Reads error output up to a line that `wanted` accepts.
    pub fn line(&mut self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        self.err.find(what, wanted)
    }

    /// Reads standard output up to a line that `wanted` accepts; if it ends before, so does the test.
    pub fn out_line(&mut self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        match self.out.look(wanted) {
            Some(line) => line,
            None => panic!("no {what} in {} and {}", self.out.rest(), self.err.rest()),
        }
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Sends a signal by name, such as `TERM`.
    pub fn signal(&self, name: &str) {
        let kill = Command::new("sh").args(["-c", &format!("kill -{name} {}", self.child.id())]).status().unwrap();
        assert!(kill.success());
    }

    /// Sends a signal and waits for the end.
    pub fn stop(self, signal: &str) -> Ended {
        self.signal(signal);
        self.end()
    }

    /// Waits for the end.
    pub fn end(mut self) -> Ended {
        let status = until("the program's end", || self.child.try_wait().unwrap());
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
        Ended { code, out: self.out.rest(), err: self.err.rest() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One of a process's outputs, read as it comes, so that the process never waits for its reader.
struct Lines {
    coming: Receiver<String>,
    seen: Vec<String>,
}

impl Lines {
    fn of(output: impl Read + Send + 'static) -> Self {
        let (send, coming) = mpsc::channel();
        std::thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| send.send(line))
        });
        Self { coming, seen: Vec::new() }
    }

    /// The next line that `wanted` accepts; `None` where the output ends, or nothing more comes for too long.
    fn look(&mut self, wanted: impl Fn(&str) -> bool) -> Option<String> {
        let start = Instant::now();
        while let Ok(line) = self.coming.recv_timeout(PATIENCE.saturating_sub(start.elapsed())) {
            self.seen.push(line.clone());
            if wanted(&line) {
                return Some(line);
            }
        }
        None
    }

    fn find(&mut self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        self.look(wanted).unwrap_or_else(|| panic!("no {what} in {}", self.seen.join("\n")))
    }

    /// Everything, once the process has ended.
    fn rest(&mut self) -> String {
        while let Ok(line) = self.coming.recv_timeout(Duration::from_secs(5)) {
            self.seen.push(line);
        }
        self.seen.join("\n")
    }
}
