//! What is exported as our own JSON comes back without loss, whatever is in it; and no bytes whatever make an importer panic. Generators with
//! fixed seeds.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::collections::BTreeMap;
use std::path::Path;

use domain::attempt::{AttemptResult, BlobRef, PhaseTimes};
use domain::condition::Condition;
use domain::draw::Draw;
use domain::finding::Finding;
use domain::hash::ContentHash;
use domain::history::{AttemptHistory, EvaluationHistory, TrialHistory};
use domain::id::{EvaluationId, SkillVersionId, TaskId, TrialId};
use domain::imported::{Imported, ResultFormat};
use domain::plan::{AgentRef, EvaluationPlan, ModelRef, RunSettings, SkillRef, TaskRef, Treatment};
use domain::skill_audit::{Activation, FoundSkill, SkillAudit};
use domain::test_case::{TestCase, TestStatus};
use domain::time::Timestamp;
use domain::trial::TrialState;
use domain::usage::TokenUsage;
use domain::verdict::{FailReason, InfraClass, Verdict};
use formats::export::{ExportFormat, Exported, render, zipped};
use formats::import::{Files, Reading, read_files};

const NOW: Timestamp = Timestamp(1_800_000_000_000);

/// A generator of evaluations: everything that may be there is there now and then, and text is hostile.
struct Any(Draw);

type Contents = BTreeMap<ContentHash, Vec<u8>>;

impl Any {
    fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    fn maybe<T>(&mut self, some: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.0.coin() { Some(some(self)) } else { None }
    }

    fn text(&mut self) -> String {
        const TEXTS: [&str; 12] = [
            "count-sheep",
            "</script><b>x",
            "=cmd()",
            "a|b\n\"c\",d",
            "../../etc",
            "é🐑\u{202e}",
            "",
            "'",
            "{\"a\":1}",
            "\u{0}\u{1b}[0m",
            "-x",
            "`*_[x](y)",
        ];
        TEXTS[self.below(TEXTS.len())].to_owned()
    }

    fn number(&mut self) -> u64 {
        [0, 1, 999, 1 << 40][self.below(4)]
    }

    fn verdict(&mut self) -> Verdict {
        let message = self.text();
        match self.below(9) {
            0 | 1 => Verdict::Pass,
            2 => Verdict::Fail { reason: FailReason::WrongResult },
            3 => Verdict::Fail { reason: FailReason::TimedOut { limit_ms: 900_500 } },
            4 => Verdict::Fail { reason: FailReason::BudgetExceeded { cap: message } },
            5 => Verdict::Fail { reason: FailReason::AgentError { message } },
            6 => Verdict::InfraError { class: InfraClass::Provider, message },
            7 => Verdict::VerifierError { message },
            _ => Verdict::Cancelled,
        }
    }

    fn file(&mut self, files: &mut Contents) -> Option<BlobRef> {
        let bytes = self.maybe(|any| match any.below(3) {
            0 => any.text().into_bytes(),
            1 => vec![0xff, 0xfe, 0, any.below(256) as u8],
            _ => br#"{"steps":[{"at":null,"source":"agent","text":"hi","reasoning":null,"calls":[],"usage":null}]}"#
                .to_vec(),
        })?;
        let blob = BlobRef { hash: ContentHash::of(&bytes), size: bytes.len() as u64 };
        files.insert(blob.hash, bytes);
        Some(blob)
    }

    fn result(&mut self, verdict: Verdict, files: &mut Contents) -> AttemptResult {
        let count = self.below(4);
        let statuses = [TestStatus::Passed, TestStatus::Failed, TestStatus::Skipped, TestStatus::Other];
        let mut tests = Vec::new();
        for status in statuses.iter().take(count) {
            let (duration_ms, message) = (self.maybe(Self::number), self.maybe(Self::text));
            tests.push(TestCase { name: self.text(), status: *status, duration_ms, message });
        }
        AttemptResult {
            verdict,
            // At most fifteen digits, as the document says.
            reward: self.maybe(|any| (any.below(1_000_001) as f64) / 1_000_000.0),
            tests,
            usage: TokenUsage {
                input: self.maybe(Self::number),
                cache_read: self.maybe(Self::number),
                cache_write: self.maybe(Self::number),
                output: self.maybe(Self::number),
            },
            model_calls: self.maybe(Self::number),
            audit: self.maybe(|any| SkillAudit {
                looked_in: vec![any.text()],
                found: vec![FoundSkill { path: any.text(), name: any.text() }],
                removed: vec![any.text()],
            }),
            activation: Activation {
                listed: self.maybe(|any| any.0.coin()),
                opened: self.maybe(|any| any.0.coin()),
                files_read: vec![self.text()],
            },
            phases: PhaseTimes {
                preparing: self.maybe(Self::number),
                agent: self.maybe(Self::number),
                verifying: self.maybe(Self::number),
            },
            image: self.maybe(Self::text),
            build_context: self.maybe(|any| ContentHash::of(any.text().as_bytes())),
            peak_memory: self.maybe(Self::number),
            trace: self.file(files),
            agent_log: self.file(files),
            verifier_log: self.file(files),
            findings: self.maybe(|any| Finding::warning("w", any.text(), any.text()).at(3, None)).into_iter().collect(),
        }
    }

    fn trial(
        &mut self,
        id: i64,
        task: TaskId,
        condition: Condition,
        repeat: u32,
        files: &mut Contents,
    ) -> TrialHistory {
        let mut attempts = Vec::new();
        let count = self.below(3) as u32;
        for number in 1..=count {
            let verdict = self.verdict();
            let result = self.maybe(|any| any.result(verdict.clone(), files));
            attempts.push(AttemptHistory {
                number,
                started_at: Some(Timestamp(1_000 + i64::from(number))),
                ended_at: self.maybe(|any| Timestamp(any.number() as i64)),
                verdict: Some(verdict),
                result,
            });
        }
        let verdict = attempts.last().and_then(|attempt| attempt.verdict.clone()).unwrap_or(Verdict::Cancelled);
        let state = TrialState::Finished { attempts: count, verdict, at: Timestamp(5_000 + id) };
        TrialHistory { id: TrialId(id), task, condition, repeat, state, attempts }
    }

    fn evaluation(&mut self) -> (EvaluationHistory, Contents) {
        let (tasks, repeats) = (1 + self.below(4), 1 + self.below(3) as u32);
        let mut files = Contents::new();
        let tasks: Vec<TaskRef> = (0..tasks)
            .map(|i| TaskRef { id: TaskId(10_001 + i as i64), name: self.text(), version: ContentHash::of(&[i as u8]) })
            .collect();
        let mut trials = Vec::new();
        for task in &tasks {
            for repeat in 1..=repeats {
                for condition in Condition::BOTH {
                    // Not every trial need exist.
                    if self.below(8) > 0 {
                        trials.push(self.trial(20_001 + trials.len() as i64, task.id, condition, repeat, &mut files));
                    }
                }
            }
        }
        let skill = |any: &mut Self| SkillRef {
            id: SkillVersionId(30_001),
            name: any.text(),
            version: ContentHash::of(b"skill"),
        };
        let plan = EvaluationPlan {
            title: self.text(),
            treatment: self
                .maybe(|any| Treatment::Skills { versions: vec![skill(any)] })
                .unwrap_or(Treatment::TasksOwn),
            tasks,
            agent: AgentRef { name: self.text(), version: self.text() },
            model: self.maybe(|any| ModelRef { name: any.text(), upstream: any.text(), scripted: any.0.coin() }),
            repeats,
            seed: self.0.bits(),
            settings: RunSettings {
                timeout_multiplier: 2.5,
                token_cap: self.maybe(Self::number),
                ..RunSettings::default()
            },
        };
        (EvaluationHistory { id: EvaluationId(42), created_at: Timestamp(7), plan, imported: None, trials }, files)
    }
}

fn exported(history: &EvaluationHistory, files: &Contents, format: ExportFormat) -> Vec<formats::export::ExportFile> {
    let report = history.report();
    let exported = Exported { history, report: &report, files, left_out: &[], chart: "<svg></svg>" };
    render(format, &exported).unwrap()
}

fn imported(bytes: Vec<u8>) -> Reading {
    let mut files = Files::at_hand("e.json", BTreeMap::from([("e.json".to_owned(), bytes)]));
    read_files(&mut files, None, NOW).unwrap_or_else(|findings| panic!("{findings:#?}"))
}

/// The same evaluation with the ids that an import gives.
fn renumbered(mut history: EvaluationHistory) -> EvaluationHistory {
    let ids: BTreeMap<TaskId, TaskId> =
        history.plan.tasks.iter().zip(1..).map(|(task, n)| (task.id, TaskId(-n))).collect();
    history.plan.tasks.iter_mut().for_each(|task| task.id = ids[&task.id]);
    for (trial, n) in history.trials.iter_mut().zip(1..) {
        (trial.id, trial.task) = (TrialId(-n), ids[&trial.task]);
    }
    if let Treatment::Skills { versions } = &mut history.plan.treatment {
        versions.iter_mut().zip(1..).for_each(|(skill, n)| skill.id = SkillVersionId(-n));
    }
    history
}

#[test]
fn our_own_json_comes_back_without_loss() {
    for seed in 0..400 {
        let (history, files) = Any(Draw::from_seed(seed)).evaluation();
        let bytes = exported(&history, &files, ExportFormat::Json).remove(0).bytes;
        let reading = imported(bytes.clone());
        let [read] = reading.evaluations.as_slice() else { panic!("{reading:#?}") };
        assert_eq!((&read.files, read.findings.len()), (&files, 0), "seed {seed}");
        let back = EvaluationHistory {
            id: history.id,
            created_at: read.created_at,
            plan: read.plan.clone(),
            imported: None,
            trials: read.trials.clone(),
        };
        assert_eq!(back, renumbered(history.clone()), "seed {seed}");
        let again = exported(&back, &read.files, ExportFormat::Json).remove(0).bytes;
        let without_report = |bytes: &[u8]| {
            let mut value: serde_json::Value = serde_json::from_slice(bytes).unwrap();
            value.as_object_mut().unwrap().remove("report").unwrap();
            value
        };
        assert_eq!(without_report(&again), without_report(&bytes), "seed {seed}");
        assert_eq!(back.report().totals, history.report().totals, "seed {seed}");
    }
}

#[test]
fn an_imported_evaluation_keeps_where_it_came_from() {
    let (mut history, files) = Any(Draw::from_seed(1)).evaluation();
    let imported_before = Imported {
        format: ResultFormat::Harbor,
        source: "job".to_owned(),
        hash: ContentHash::of(b"job"),
        at: Timestamp(1),
        findings: vec![Finding::note("n", "f", "m")],
        before: None,
    };
    history.imported = Some(imported_before.clone());
    let bytes = exported(&history, &files, ExportFormat::Json).remove(0).bytes;
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(text.contains("\"seed\": null") && text.contains("\"settings\": null"), "another runner's are unknown");
    let reading = imported(bytes);
    assert_eq!(reading.evaluations[0].before, Some(imported_before));
}

/// AgentCompass and skill-creator exports can be imported as what those runners write.
#[test]
fn other_runners_forms_come_back_with_their_verdicts() {
    for seed in 0..100 {
        let (history, files) = Any(Draw::from_seed(seed)).evaluation();
        let verdicts = |trials: &[TrialHistory], plan: &EvaluationPlan, scored_only: bool| {
            let name =
                |trial: &TrialHistory| plan.tasks.iter().find(|task| task.id == trial.task).unwrap().name.clone();
            let mut all: Vec<(String, Condition, u32, Option<bool>)> = trials
                .iter()
                .map(|trial| (name(trial), trial.condition, trial.repeat, trial.state.verdict().unwrap().scored()))
                .filter(|row| !scored_only || row.3.is_some())
                .collect();
            all.sort();
            all
        };
        let names: std::collections::BTreeSet<&str> = history.plan.tasks.iter().map(|task| task.name.trim()).collect();
        if names.len() < history.plan.tasks.len() || names.contains("") || history.trials.is_empty() {
            continue;
        }
        let compass = exported(&history, &files, ExportFormat::Agentcompass);
        let paths: std::collections::BTreeSet<&str> = compass.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths.len(), compass.len(), "seed {seed}: two files of one name");
        let at_hand = compass.iter().map(|file| (file.path.clone(), file.bytes.clone())).collect();
        let reading =
            read_files(&mut Files::at_hand("x", at_hand), None, NOW).unwrap_or_else(|findings| panic!("{findings:#?}"));
        let read = &reading.evaluations[0];
        assert_eq!(
            verdicts(&read.trials, &read.plan, false),
            verdicts(&history.trials, &history.plan, false),
            "seed {seed}"
        );
        let benchmark = exported(&history, &files, ExportFormat::SkillCreator).remove(0);
        let scored = verdicts(&history.trials, &history.plan, true);
        if scored.is_empty() {
            continue;
        }
        let at_hand = BTreeMap::from([("benchmark.json".to_owned(), benchmark.bytes)]);
        let reading =
            read_files(&mut Files::at_hand("x", at_hand), None, NOW).unwrap_or_else(|findings| panic!("{findings:#?}"));
        let read = &reading.evaluations[0];
        assert_eq!(verdicts(&read.trials, &read.plan, false), scored, "seed {seed}");
    }
}

#[test]
fn foreign_text_breaks_no_format() {
    for seed in 0..100 {
        let (history, files) = Any(Draw::from_seed(seed)).evaluation();
        let table = exported(&history, &files, ExportFormat::Csv).remove(0).bytes;
        let mut reader = csv::Reader::from_reader(table.as_slice());
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(rows.len(), history.trials.len());
        let formula = |cell: &str| cell.starts_with(['=', '@']) || cell.starts_with("-x");
        assert!(rows.iter().flat_map(csv::StringRecord::iter).all(|cell| !formula(cell)), "seed {seed}");
        let page = String::from_utf8(exported(&history, &files, ExportFormat::Html).remove(0).bytes).unwrap();
        assert!(!page.contains("<script") && !page.contains("</script") && !page.contains("<b>x"), "seed {seed}");
        assert!(
            !page.contains("http://") && !page.contains("https://") && !page.contains("url("),
            "a page that opens offline"
        );
        let markdown = String::from_utf8(exported(&history, &files, ExportFormat::Markdown).remove(0).bytes).unwrap();
        assert!(!markdown.contains("<b>") && !markdown.contains("[x](y)"), "seed {seed}");
        assert_eq!(markdown.lines().filter(|line| line.starts_with("| task |")).count(), 1);
        let widths = markdown
            .lines()
            .filter(|line| line.starts_with('|'))
            .map(|line| line.replace("\\|", "").matches('|').count());
        assert!(widths.into_iter().all(|bars| bars == 3 || bars == 9), "seed {seed}: {markdown}");
        let compass = exported(&history, &files, ExportFormat::Agentcompass);
        assert!(compass.iter().all(|file| domain::path::RelPath::new(&file.path).is_ok()), "seed {seed}");
        assert_eq!(zipped("folder", &compass).unwrap(), zipped("folder", &compass).unwrap());
    }
}

fn mutated(draw: &mut Draw, seed: &[u8]) -> Vec<u8> {
    const PIECES: [&[u8]; 12] = [
        b"null",
        b"-1",
        b"1e999",
        b"{}",
        b"[]",
        b"\"\"",
        b",",
        b"\xff",
        b"99999999999999999999",
        b"true",
        b"\n",
        b"\"repeat\":4294967295,",
    ];
    let mut bytes = seed.to_vec();
    for _ in 0..=draw.below(3) {
        let at = draw.below(bytes.len().max(1));
        match draw.below(5) {
            0 => bytes.truncate(at),
            1 => drop(bytes.splice(at..at, PIECES[draw.below(PIECES.len())].iter().copied())),
            2 if !bytes.is_empty() => bytes[at] ^= 1 << draw.below(8),
            // A value in place of another keeps the rest readable.
            3 => {
                if let Some(colon) = bytes.iter().skip(at).position(|byte| *byte == b':').map(|colon| colon + at + 1) {
                    let end = bytes.iter().skip(colon).position(|byte| matches!(byte, b',' | b'}' | b']' | b'\n'));
                    let end = end.map_or(bytes.len(), |end| colon + end);
                    drop(bytes.splice(colon..end, PIECES[draw.below(PIECES.len())].iter().copied()));
                }
            }
            _ => {
                let end = at + draw.below((bytes.len() - at).clamp(1, 40));
                drop(bytes.drain(at..end.min(bytes.len())));
            }
        }
    }
    bytes
}

fn seeds(folder: &Path, at: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = format!("{at}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            seeds(&entry.path(), &format!("{path}/"), files);
        } else {
            files.insert(path, std::fs::read(entry.path()).unwrap());
        }
    }
}

#[test]
fn no_bytes_make_an_importer_panic() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import_cases");
    let mut sources: Vec<(ResultFormat, BTreeMap<String, Vec<u8>>)> = Vec::new();
    for format in ResultFormat::ALL.into_iter().filter(|format| *format != ResultFormat::Skilldelta) {
        let mut files = BTreeMap::new();
        seeds(&cases.join(format.word()), "", &mut files);
        sources.push((format, files));
    }
    let (history, files) = Any(Draw::from_seed(3)).evaluation();
    let own = exported(&history, &files, ExportFormat::Json).remove(0).bytes;
    sources.push((ResultFormat::Skilldelta, BTreeMap::from([("e.json".to_owned(), own)])));
    let result = serde_json::to_vec(&history.report()).unwrap();
    sources.push((ResultFormat::Skilldelta, BTreeMap::from([("r.json".to_owned(), result)])));
    let mut draw = Draw::from_seed(9);
    let (mut read, mut refused) = (0, 0);
    for round in 0..6_000 {
        let (format, mut files) = sources[round % sources.len()].clone();
        let victims: Vec<String> = files.keys().cloned().collect();
        let victim = &victims[draw.below(victims.len())];
        let bytes = mutated(&mut draw, &files[victim]);
        files.insert(victim.clone(), bytes);
        match read_files(&mut Files::at_hand("x", files), Some(format), NOW) {
            Err(findings) => {
                refused += 1;
                let errors: Vec<_> = findings.iter().filter(|finding| finding.is_error()).collect();
                assert!(!errors.is_empty() && errors.iter().all(|finding| finding.hint.is_some()), "{findings:#?}");
            }
            Ok(reading) => {
                read += 1;
                for evaluation in reading.evaluations {
                    let history = EvaluationHistory {
                        id: EvaluationId(1),
                        created_at: evaluation.created_at,
                        plan: evaluation.plan,
                        imported: None,
                        trials: evaluation.trials,
                    };
                    let json = serde_json::to_string(&history.report()).unwrap();
                    assert!(!json.contains("NaN"), "{json}");
                }
            }
        }
    }
    assert!(
        read > 1_000 && refused > 1_000,
        "the generator makes too little of one kind: {read} read, {refused} refused"
    );
}
