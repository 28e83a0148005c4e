//! A data folder of a test's own, the program on it, and its server.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::own::own_evaluation;

/// Stands in the settings as a value that must not appear anywhere, and in everything that the evaluation left behind.
pub const SECRET: &str = "sk-\"very\" secret-0123456789";

/// A data folder.
pub struct Home(TempDir);

impl Home {
    pub fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(home.path("data")).unwrap();
        std::fs::write(home.path("data/skilldelta.toml"), "secret_env = [\"TEST_SECRET\"]\n").unwrap();
        home
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skilldelta"));
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy().into_owned();
            if ["SKILLDELTA_", "ANTHROPIC_", "LEPTOS_"].iter().any(|start| text.starts_with(start)) {
                command.env_remove(&name);
            }
        }
        command
            .env("SKILLDELTA_DATA", self.path("data"))
            .env("TEST_SECRET", SECRET)
            .current_dir(self.0.path())
            .args(args);
        command
    }

    /// Runs the program; answers its exit code, output and error output.
    pub fn run(&self, args: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } = self.command(args).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (status.code().unwrap(), text(stdout), text(stderr))
    }

    /// The same for what must succeed; answers the output.
    pub fn done(&self, args: &[&str]) -> String {
        let (code, out, err) = self.run(args);
        assert_eq!(code, 0, "{args:?}\n{out}\n{err}");
        out
    }

    pub fn export(&self, id: i64, format: &str) -> String {
        self.done(&["export", &id.to_string(), "--format", format, "--out", "-"])
    }

    pub fn import(&self, path: &Path) -> Value {
        serde_json::from_str(&self.done(&["import", path.to_str().unwrap(), "--json"])).unwrap()
    }

    pub fn keep_own(&self) -> i64 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(own_evaluation(&self.path("data"))).0
    }
}

/// The program's server; ended with the test.
pub struct Site {
    child: Child,
    host: String,
    runtime: tokio::runtime::Runtime,
    client: reqwest::Client,
}

impl Site {
    pub fn serve(home: &Home) -> Self {
        let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let host = line.trim().rsplit("http://").next().unwrap().to_owned();
        // Nothing here is encrypted, but the client wants to know how it would be.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(300)).build().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { child, host, runtime, client }
    }

    pub fn fetch(&self, path: &str) -> (u16, Vec<u8>, reqwest::header::HeaderMap) {
        self.runtime.block_on(async {
            let answer = self.client.get(format!("http://{}{path}", self.host)).send().await.unwrap();
            let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
            (status, answer.bytes().await.unwrap().to_vec(), headers)
        })
    }

    pub fn get(&self, path: &str) -> (u16, String) {
        let (status, body, _) = self.fetch(path);
        (status, String::from_utf8(body).unwrap())
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
