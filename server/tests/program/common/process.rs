//! The program as a process: its lines as they come, its end, and signals.

use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Longest that anything here may take on a busy machine. Reached only by a test that fails.
pub const PATIENCE: Duration = Duration::from_secs(180);
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
    lines: Receiver<String>,
    out: std::thread::JoinHandle<String>,
    seen: Vec<String>,
    first_out: Receiver<String>,
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (send, lines) = mpsc::channel();
        let err = child.stderr.take().unwrap();
        std::thread::spawn(move || {
            BufReader::new(err).lines().map_while(Result::ok).try_for_each(|line| send.send(line))
        });
        let (send, first_out) = mpsc::channel();
        let out = child.stdout.take().unwrap();
        let out = std::thread::spawn(move || {
            let mut reader = BufReader::new(out);
            let mut text = String::new();
            let _ = reader.read_line(&mut text);
            let _ = send.send(text.clone());
            let _ = reader.read_to_string(&mut text);
            text
        });
        Self { child, lines, out, seen: Vec::new(), first_out }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The first line of standard output.
    pub fn first_line(&mut self) -> String {
        let line = self.first_out.recv_timeout(PATIENCE).unwrap();
        if line.is_empty() {
            panic!("it ended: {}", self.rest());
        }
        line
    }

    /// Reads error output up to a line that `wanted` accepts.
    pub fn line(&mut self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(start.elapsed());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    self.seen.push(line.clone());
                    if wanted(&line) {
                        return line;
                    }
                }
                Err(RecvTimeoutError::Timeout) => panic!("waited too long for {what}: {}", self.seen.join("\n")),
                Err(RecvTimeoutError::Disconnected) => panic!("it ended before {what}: {}", self.seen.join("\n")),
            }
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
        use std::os::unix::process::ExitStatusExt as _;
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
        let err = self.rest();
        let out = std::mem::replace(&mut self.out, std::thread::spawn(String::new)).join().unwrap();
        Ended { code, out, err }
    }

    fn rest(&mut self) -> String {
        while let Ok(line) = self.lines.recv_timeout(Duration::from_secs(5)) {
            self.seen.push(line);
        }
        self.seen.join("\n")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
