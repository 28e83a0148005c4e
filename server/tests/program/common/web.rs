//! The program's server, and requests to it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::process::PATIENCE;
use super::{Ended, Home, Running};

/// A server under way.
pub struct Site<'a> {
    pub running: Running,
    /// `127.0.0.1:PORT`.
    pub host: String,
    pub client: reqwest::Client,
    home: &'a Home,
}

/// What was answered.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

impl Home {
    /// Serves this corner's data on a free port.
    pub fn serve(&self, args: &[&str]) -> Site<'_> {
        let tasks = self.tasks();
        let given = ["serve", "--listen", "127.0.0.1:0", "--task-root", &tasks];
        self.site(self.command(&[given.as_slice(), args].concat()))
    }

    /// A server that was prepared by hand.
    pub fn site(&self, command: std::process::Command) -> Site<'_> {
        let mut running = Running::start(command);
        let line = running.out_line("address", |line| line.contains("serves on http://"));
        let host = line.trim().rsplit("http://").next().unwrap().to_owned();
        // Nothing here is encrypted, but the client wants to know how it would be.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(PATIENCE)
            .build()
            .unwrap();
        Site { running, host, client, home: self }
    }
}

impl Site<'_> {
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host)
    }

    pub fn send(&self, request: reqwest::RequestBuilder) -> Answer {
        self.home.wait(answer(request))
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send(self.client.get(self.url(path)))
    }

    pub fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }

    /// The token that forms send back, as the page holds it.
    pub fn csrf(&self) -> String {
        let page = self.get("/").body;
        let rest = page.split("name=\"csrf\" content=\"").nth(1).unwrap_or_else(|| panic!("no token in {page}"));
        rest.split('"').next().unwrap().to_owned()
    }

    /// Posts a form as a page of this server does.
    pub fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let csrf = self.csrf();
        let fields = [&[("csrf", csrf.as_str())], fields].concat();
        self.send(self.form(path, &fields).header("origin", self.url("")))
    }

    /// A form without any proof of where it comes from.
    pub fn form(&self, path: &str, fields: &[(&str, &str)]) -> reqwest::RequestBuilder {
        let body: Vec<String> =
            fields.iter().map(|(name, value)| format!("{}={}", coded(name), coded(value))).collect();
        let request = self.client.post(self.url(path)).header("content-type", "application/x-www-form-urlencoded");
        request.body(body.join("&"))
    }

    /// Reads an event stream up to a chunk after which `enough` says so; answers the whole text.
    pub fn events(&self, path: &str, last: Option<&str>, enough: impl Fn(&str) -> bool) -> (Answer, String) {
        let mut request = self.client.get(self.url(path));
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        self.home.wait(async {
            let mut response = request.send().await.unwrap();
            let head = head(&response);
            let mut text = String::new();
            while !enough(&text) {
                let chunk = tokio::time::timeout(PATIENCE, response.chunk()).await;
                let chunk = chunk.unwrap_or_else(|_| panic!("nothing more after {text}")).unwrap();
                let Some(chunk) = chunk else { break };
                text.push_str(&String::from_utf8_lossy(&chunk));
            }
            (head, text)
        })
    }

    /// Uploads files as the form of the skills page does.
    pub fn upload(&self, csrf: &str, files: &[(&str, &[u8])]) -> Answer {
        self.home.wait(self.uploaded(csrf, files))
    }

    /// As [`Site::upload`], to be awaited.
    pub fn uploaded(&self, csrf: &str, files: &[(&str, &[u8])]) -> impl Future<Output = Answer> + use<> {
        let mut body = Vec::new();
        let mut part = |head: &str, bytes: &[u8]| {
            body.extend_from_slice(format!("--SEAM\r\ncontent-disposition: form-data; {head}\r\n\r\n").as_bytes());
            body.extend_from_slice(bytes);
            body.extend_from_slice(b"\r\n");
        };
        part("name=\"csrf\"", csrf.as_bytes());
        for (name, bytes) in files {
            part(&format!("name=\"file\"; filename=\"{name}\""), bytes);
        }
        body.extend_from_slice(b"--SEAM--\r\n");
        let request = self.client.post(self.url("/skills/upload")).header("origin", self.url(""));
        answer(request.header("content-type", "multipart/form-data; boundary=SEAM").body(body))
    }

    /// Uploads the corner's skill, adds its tasks and starts an evaluation, as the pages do.
    pub fn start(&self, agent: &str) -> i64 {
        self.start_with(&[("agent", agent)])
    }

    /// As [`Site::start`], with these fields of the form.
    pub fn start_with(&self, more: &[(&str, &str)]) -> i64 {
        let skill = std::fs::read(self.home.path("skills/measured-words/SKILL.md")).unwrap();
        assert_eq!(self.upload(&self.csrf(), &[("measured-words/SKILL.md", &skill)]).status, 200);
        let tasks = self.home.tasks();
        let added = self.post("/tasks/add", &[("path", &tasks)]);
        assert_eq!(added.status, 200, "{}", added.body);
        let ids: Vec<String> = (1..=std::fs::read_dir(&tasks).unwrap().count()).map(|id| id.to_string()).collect();
        let mut fields = vec![("skill", "1"), ("k", "1"), ("concurrency", "2")];
        fields.extend(more);
        fields.extend(ids.iter().map(|id| ("task", id.as_str())));
        let started = self.post("/evaluations/start", &fields);
        assert_eq!(started.status, 303, "{}", started.body);
        let place = started.header("location");
        place.strip_prefix("/evaluations/").and_then(|id| id.parse().ok()).unwrap_or_else(|| panic!("{place}"))
    }

    /// Waits until the queue is empty and nothing runs.
    pub fn idle_after(&self, evaluation: i64) {
        let path = format!("/api/evaluations/{evaluation}/events");
        let (_, text) = self.events(&path, Some("0"), |text| text.contains("event: done"));
        assert!(text.contains("event: done"), "{text}");
    }

    pub fn stop(self) -> Ended {
        self.running.stop("TERM")
    }
}

pub async fn answer(request: reqwest::RequestBuilder) -> Answer {
    let response = request.timeout(PATIENCE).send().await.unwrap();
    let mut answer = head(&response);
    answer.body = String::from_utf8_lossy(&response.bytes().await.unwrap()).into_owned();
    answer
}

fn head(response: &reqwest::Response) -> Answer {
    let text = |value: &reqwest::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = response.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    Answer { status: response.status().as_u16(), headers, body: String::new() }
}

fn coded(text: &str) -> String {
    text.bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
