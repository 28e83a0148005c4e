//! Export and import through the program itself and its server: a data folder with one evaluation of its own, made by the store, no container.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use domain::attempt::{AttemptResult, PhaseTimes};
use domain::condition::Condition;
use domain::hash::ContentHash;
use domain::id::EvaluationId;
use domain::order::{Happening, TrialEvent};
use domain::path::RelPath;
use domain::plan::{AgentRef, EvaluationPlan, ModelRef, RunSettings, TaskRef, Treatment};
use domain::task::{
    AgentPhase, Environment, ImageSource, NetworkPolicy, Task, TaskLayout, TaskMetadata, VerifierPhase,
};
use domain::test_case::{TestCase, TestStatus};
use domain::time::Timestamp;
use domain::trace::{Source, Trace, TraceStep};
use domain::tree::{Tree, TreeEntry};
use domain::usage::TokenUsage;
use domain::verdict::{FailReason, InfraClass, Verdict};
use serde_json::Value;
use store::{Claim, DataDir, Store};
use tempfile::TempDir;

/// Stands in the settings as a value that must not appear anywhere, and in everything that the evaluation left behind.
const SECRET: &str = "sk-\"very\" secret-0123456789";

fn at(seconds: i64) -> Timestamp {
    Timestamp(1_772_323_200_000 + seconds * 1000)
}

/// A data folder.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(home.path("data")).unwrap();
        std::fs::write(home.path("data/skilldelta.toml"), "secret_env = [\"TEST_SECRET\"]\n").unwrap();
        home
    }

    fn path(&self, below: &str) -> PathBuf {
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
    fn run(&self, args: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } = self.command(args).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (status.code().unwrap(), text(stdout), text(stderr))
    }

    /// The same for what must succeed; answers the output.
    fn done(&self, args: &[&str]) -> String {
        let (code, out, err) = self.run(args);
        assert_eq!(code, 0, "{args:?}\n{out}\n{err}");
        out
    }

    fn export(&self, id: i64, format: &str) -> String {
        self.done(&["export", &id.to_string(), "--format", format, "--out", "-"])
    }

    fn import(&self, path: &Path) -> Value {
        serde_json::from_str(&self.done(&["import", path.to_str().unwrap(), "--json"])).unwrap()
    }

    fn keep_own(&self) -> EvaluationId {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(own_evaluation(&self.path("data")))
    }
}

fn task(name: &str) -> Task {
    let bytes = name.as_bytes();
    let entry = TreeEntry { executable: false, size: bytes.len() as u64, hash: ContentHash::of(bytes) };
    let timeout = Duration::from_secs(30);
    Task {
        name: name.to_owned(),
        layout: TaskLayout::SkillsBench10,
        instruction: "Count the sheep.".to_owned(),
        environment: Environment {
            image: ImageSource::Named { image: "debian:bookworm".to_owned() },
            env: Default::default(),
            workdir: None,
            cpus: 1.0,
            memory_mb: 256,
            storage_mb: 512,
            gpus: 0,
            build_timeout: timeout,
            network: NetworkPolicy::None,
        },
        agent: AgentPhase { timeout, user: None, network: None },
        verifier: VerifierPhase {
            folder: RelPath::new("tests").unwrap(),
            timeout,
            env: Default::default(),
            env_from_host: Default::default(),
            user: None,
            network: None,
            pass_mark: 1.0,
        },
        oracle: None,
        bundled_skills: Vec::new(),
        metadata: TaskMetadata::default(),
        tree: [(RelPath::new("instruction.md").unwrap(), entry)].into_iter().collect::<Tree>(),
    }
}

/// Two tasks: the skill rescues one and breaks the verifier of the other, after a first attempt that the engine failed.
async fn own_evaluation(data: &Path) -> EvaluationId {
    let store = Store::open(&DataDir::open(data).unwrap()).await.unwrap();
    let mut tasks = Vec::new();
    for name in ["count-sheep", "name <b>clouds</b>|=1"] {
        let task = task(name);
        let (id, _) = store.put_task(&task, &[], "tests", at(0)).await.unwrap();
        tasks.push(TaskRef { id, name: name.to_owned(), version: task.version() });
    }
    let plan = EvaluationPlan {
        title: format!("Sheep {SECRET}"),
        treatment: Treatment::TasksOwn,
        tasks,
        agent: AgentRef { name: "bash".to_owned(), version: "1".to_owned() },
        model: Some(ModelRef { name: "test-model-1".to_owned(), upstream: "scripted".to_owned(), scripted: true }),
        repeats: 1,
        seed: 7,
        settings: RunSettings::default(),
    };
    let id = store.create_evaluation(&plan, at(1)).await.unwrap();
    let first = plan.tasks[0].id;
    let mut failed_once = false;
    while let Some(claim) = store.claim_next(at(2), at(90), 1).await.unwrap() {
        let verdict = match (claim.trial.task == first, claim.trial.condition) {
            (true, Condition::NoSkill) => Verdict::Fail { reason: FailReason::WrongResult },
            (true, Condition::WithSkill) if !failed_once => {
                failed_once = true;
                Verdict::InfraError { class: InfraClass::Engine, message: format!("no answer to {SECRET}") }
            }
            (true, Condition::WithSkill) | (false, Condition::NoSkill) => Verdict::Pass,
            (false, Condition::WithSkill) => Verdict::VerifierError { message: "no reward".to_owned() },
        };
        end(&store, &claim, verdict).await;
    }
    store.close().await;
    id
}

async fn end(store: &Store, claim: &Claim, verdict: Verdict) {
    let said = format!("I was told {SECRET}");
    let trace = Trace { steps: vec![TraceStep::said(Source::User, "Count."), TraceStep::said(Source::Agent, &said)] };
    let passed = verdict == Verdict::Pass;
    let tests = vec![TestCase {
        name: "test_count".to_owned(),
        status: if passed { TestStatus::Passed } else { TestStatus::Failed },
        duration_ms: Some(12),
        message: Some(said.clone()),
    }];
    let tokens = Some(if claim.trial.condition == Condition::WithSkill { 120 } else { 100 });
    let result = AttemptResult {
        reward: verdict.scored().map(|passed| f64::from(u8::from(passed))),
        tests,
        usage: TokenUsage { input: tokens, cache_read: Some(0), cache_write: Some(0), output: Some(5) },
        phases: PhaseTimes { preparing: Some(1_000), agent: Some(2_000), verifying: Some(500) },
        trace: Some(store.blobs().put(serde_json::to_vec(&trace).unwrap()).await.unwrap()),
        agent_log: Some(store.blobs().put(said.clone().into_bytes()).await.unwrap()),
        verifier_log: Some(store.blobs().put([said.as_bytes(), b"\xff"].concat()).await.unwrap()),
        ..AttemptResult::bare(verdict)
    };
    let event = TrialEvent { attempt: claim.attempt, at: at(60), what: Happening::Ended { result: Box::new(result) } };
    assert!(store.record_event(claim.trial.evaluation, claim.trial.id, &event).await.unwrap().is_yes());
}

/// All files below a folder: path and text.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                let path = entry.path().strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                all.push((path, String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned()));
            }
        }
    }
    all.sort();
    all
}

fn assert_clean(what: &str, text: &str) {
    for form in
        [SECRET.to_owned(), SECRET.replace('"', "\\\""), SECRET.replace('"', "&quot;"), SECRET.replace('"', "\"\"")]
    {
        assert!(!text.contains(&form), "{what} gives the secret away");
    }
    assert!(!text.contains("secret-0123456789"), "{what} gives a part of the secret away");
}

#[test]
fn every_format_says_the_same_and_no_secret() {
    let home = Home::new();
    let id = home.keep_own().0;
    let json: Value = serde_json::from_str(&home.export(id, "json")).unwrap();
    assert_clean("json", &json.to_string());
    assert_eq!(json["schema"], "skilldelta.export.v1");
    assert_eq!(json["trials"].as_array().unwrap().len(), 4);
    let attempts: Vec<usize> =
        json["trials"].as_array().unwrap().iter().map(|trial| trial["attempts"].as_array().unwrap().len()).collect();
    assert_eq!(
        attempts.iter().max(),
        Some(&3),
        "all attempts are in it, those at the broken verifier too: {attempts:?}"
    );
    let report = &json["report"]["totals"];
    assert_eq!((&report["rescued"], &report["pairs_incomplete"]), (&1.into(), &1.into()));

    let table = home.export(id, "csv");
    assert_clean("csv", &table);
    assert_eq!(table.lines().count(), 5);
    assert!(table.lines().nth(1).unwrap().contains("bash,1,test-model-1,true,,"), "{table}");

    let sentence = "Rescues 1 of 1 task, breaks 0; Δ +100 pp";
    let mark = "Scripted model: its answers came from a file; not a measurement";
    for format in ["markdown", "html"] {
        let text = home.export(id, format);
        assert_clean(format, &text);
        assert!(text.contains(sentence) && text.contains(mark), "{format}: {text}");
        assert!(!text.contains("<b>clouds"), "{format}");
    }
    let page = home.export(id, "html");
    assert!(page.contains("<svg") && page.contains("default-src 'none'") && !page.contains("<script"), "{page}");

    let benchmark: Value = serde_json::from_str(&home.export(id, "skill-creator")).unwrap();
    assert_clean("skill-creator", &benchmark.to_string());
    let runs = benchmark["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3, "the trial without a score is not in the means");
    assert_eq!(benchmark["run_summary"]["delta"]["pass_rate"], "+0.50");
    assert_eq!(runs[0]["result"]["tokens"].as_u64().map(|tokens| tokens > 100), Some(true));

    home.done(&["export", &id.to_string(), "--format", "atif", "--out", "traces"]);
    home.done(&["export", &id.to_string(), "--format", "agentcompass", "--out", "compass"]);
    let traces = files(&home.path("traces"));
    assert_eq!(traces.len(), 4);
    assert!(traces.iter().all(|(_, text)| text.contains("\"ATIF-v1.8\"")), "{traces:?}");
    let compass = files(&home.path("compass"));
    assert_eq!(compass.len(), 6, "{compass:?}");
    let statuses: Vec<&str> = ["COMPLETED", "EVAL_ERROR"]
        .into_iter()
        .filter(|status| compass.iter().any(|(_, text)| text.contains(status)))
        .collect();
    assert_eq!(statuses, ["COMPLETED", "EVAL_ERROR"]);
    traces.iter().chain(&compass).for_each(|(path, text)| assert_clean(path, text));
}

#[test]
fn our_own_json_is_taken_back_as_what_it_is() {
    let home = Home::new();
    let id = home.keep_own().0;
    let first = home.export(id, "json");
    std::fs::write(home.path("first.json"), &first).unwrap();
    let intake = home.import(&home.path("first.json"));
    let accepted = &intake["accepted"][0];
    assert_eq!(
        (&accepted["is_new"], &accepted["pairs_complete"], &accepted["trials"]),
        (&true.into(), &1.into(), &4.into())
    );
    assert_eq!(home.import(&home.path("first.json"))["accepted"][0]["is_new"], false);
    let copy = accepted["id"].as_i64().unwrap();
    assert_ne!(copy, id);
    let (first, again): (Value, Value) =
        (serde_json::from_str(&first).unwrap(), serde_json::from_str(&home.export(copy, "json")).unwrap());
    for part in ["trials", "files", "files_left_out"] {
        assert_eq!(first[part], again[part], "{part}");
    }
    for part in ["title", "created_at", "treatment", "tasks", "agent", "model", "repeats", "seed", "settings"] {
        assert_eq!(first["evaluation"][part], again["evaluation"][part], "{part}");
    }
    assert_eq!(first["report"]["totals"], again["report"]["totals"]);
    assert_eq!(
        (&again["imported"]["format"], &again["imported"]["source"]),
        (&"skilldelta".into(), &"first.json".into())
    );
    assert_eq!(first["imported"], Value::Null);
    for format in ["markdown", "html"] {
        assert!(home.export(copy, format).contains("self-reported"), "{format} bears the mark");
    }
    assert!(home.export(copy, "csv").lines().nth(1).unwrap().contains(",skilldelta,"));
}

#[test]
fn what_cannot_be_done_is_said_with_its_remedy() {
    let home = Home::new();
    let id = home.keep_own().0.to_string();
    std::fs::create_dir_all(home.path("full")).unwrap();
    std::fs::write(home.path("full/old.json"), "{}").unwrap();
    std::fs::write(home.path("cut.json"), "{\"schema\": \"skilldelta.export.v1\",\n\"evaluation\": ").unwrap();
    for (args, code, want) in [
        (vec!["export", "999", "--format", "csv"], 2, "evaluation 999 does not exist"),
        (vec!["export", &id, "--format", "patch", "--out", "p"], 2, "has no patches to export"),
        (vec!["export", &id, "--format", "word"], 2, "there are: json, csv"),
        (vec!["export", &id, "--format", "atif", "--out", "-"], 2, "name one with --out"),
        (vec!["export", &id, "--format", "atif", "--out", "full"], 2, "name another folder"),
        (vec!["import", "nowhere"], 2, "check the path"),
        (vec!["import", "full"], 2, "results are told by"),
        (vec!["import", "cut.json"], 2, "cut.json:2:14: error[json_syntax]"),
        (vec!["import", "cut.json", "--format", "xml"], 2, "there are: auto, skilldelta"),
    ] {
        let (got, out, err) = home.run(&args);
        assert_eq!(got, code, "{args:?}\n{out}\n{err}");
        assert!(err.contains(want), "{args:?}: no {want:?} in\n{err}");
    }
}

#[test]
fn results_of_others_are_marked_in_lists_and_pages() {
    let home = Home::new();
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("formats/tests/import_cases");
    for (folder, tasks, pairs) in [
        ("swe-skills-bench", 3, 2),
        ("agentcompass", 4, 0),
        ("evalscope", 2, 1),
        ("harbor", 2, 1),
        ("skill-creator", 2, 3),
    ] {
        let intake = home.import(&cases.join(folder));
        let accepted = &intake["accepted"][0];
        let got = (accepted["format"].as_str(), accepted["tasks"].as_u64(), accepted["pairs_complete"].as_u64());
        assert_eq!(got, (Some(folder), Some(tasks), Some(pairs)), "{intake}");
    }
    let site = Site::serve(&home);
    let list = site.get("/evaluations").1;
    assert_eq!(list.matches(">imported, self-reported<").count(), 5, "{list}");
    let page = site.get("/evaluations/1").1;
    assert!(page.contains("Imported from SWE-Skills-Bench"), "{page}");
    let links = page.matches("href=\"/evaluations/1/export/").count();
    assert_eq!(links, 7, "every form that is always there has its link");
    let pair = site.get("/evaluations/1/pairs/-1/1");
    assert_eq!(pair.0, 200, "{}", pair.1);
}

#[test]
fn a_download_is_an_attachment() {
    let home = Home::new();
    let id = home.keep_own().0;
    let site = Site::serve(&home);
    for (format, media, name) in [
        ("json", "application/json", format!("evaluation-{id}.json")),
        ("csv", "text/csv; charset=utf-8", format!("evaluation-{id}.csv")),
        ("html", "text/html; charset=utf-8", format!("evaluation-{id}.html")),
        ("agentcompass", "application/zip", format!("evaluation-{id}-agentcompass.zip")),
        ("atif", "application/zip", format!("evaluation-{id}-traces.zip")),
    ] {
        let (status, body, headers) = site.fetch(&format!("/evaluations/{id}/export/{format}"));
        let header = |name: &str| headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
        assert_eq!((status, header("content-type").as_str()), (200, media), "{format}");
        assert_eq!(header("content-disposition"), format!("attachment; filename=\"{name}\""));
        assert_eq!(header("x-content-type-options"), "nosniff");
        if media == "application/zip" {
            let mut zip = zip::ZipArchive::new(std::io::Cursor::new(body)).unwrap();
            for index in 0..zip.len() {
                let mut text = String::new();
                zip.by_index(index).unwrap().read_to_string(&mut text).unwrap();
                assert_clean(format, &text);
            }
        } else {
            assert_clean(format, &String::from_utf8(body).unwrap());
        }
    }
    assert_eq!(site.get(&format!("/evaluations/{id}/export/word")).0, 404);
    assert_eq!(site.get("/evaluations/999/export/json").0, 404);
    assert_eq!(site.get(&format!("/evaluations/{id}/export/patch")).0, 422);
}

/// The program's server; ended with the test.
struct Site {
    child: Child,
    host: String,
    runtime: tokio::runtime::Runtime,
    client: reqwest::Client,
}

impl Site {
    fn serve(home: &Home) -> Self {
        let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let host = line.trim().rsplit("http://").next().unwrap().to_owned();
        // Nothing here is encrypted, but the client wants to know how it would be.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { child, host, runtime, client }
    }

    fn fetch(&self, path: &str) -> (u16, Vec<u8>, reqwest::header::HeaderMap) {
        self.runtime.block_on(async {
            let answer = self.client.get(format!("http://{}{path}", self.host)).send().await.unwrap();
            let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
            (status, answer.bytes().await.unwrap().to_vec(), headers)
        })
    }

    fn get(&self, path: &str) -> (u16, String) {
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
