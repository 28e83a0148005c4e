//! Export and import through the program itself and its server: a data folder with one evaluation of its own, no container.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod home;
mod own;

use std::io::Read;
use std::path::Path;

use serde_json::Value;

use crate::home::{Home, SECRET, Site};

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
    let id = home.keep_own();
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

    let meaning = "Too few tasks to tell anything: with 1 task even the clearest outcome may be chance";
    let sentence = "With the skill 1 of 1 task passes, without it 0 (1 rescued, 0 broken); Δ +100 percentage points";
    let mark = "Scripted model: its answers came from a file; not a measurement";
    for format in ["markdown", "html"] {
        let text = home.export(id, format);
        assert_clean(format, &text);
        assert!([meaning, sentence, mark].iter().all(|words| text.contains(words)), "{format}: {text}");
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
    let id = home.keep_own();
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

/// Whoever edits an export must edit everything that it says twice.
#[test]
fn an_export_that_contradicts_itself_is_refused() {
    type Edit = fn(&mut Value);
    let home = Home::new();
    let export: Value = serde_json::from_str(&home.export(home.keep_own(), "json")).unwrap();
    let edits: [(Edit, &str); 10] = [
        (
            |json| json["trials"][0]["verdict"] = serde_json::json!({"verdict": "verifier_error", "message": "x"}),
            "its last attempt says another",
        ),
        (|json| json["evaluation"]["created_at"] = i64::MAX.into(), "is no instant of our times"),
        (
            |json| json["evaluation"]["treatment"] = serde_json::json!({"kind": "skills", "versions": []}),
            "no skill where skills are said",
        ),
        (|json| json["trials"] = Value::Array(Vec::new()), "no trial"),
        (|json| json["trials"][0]["attempts"][0]["result"]["usage"]["input"] = u64::MAX.into(), "more tokens than any"),
        (|json| json["trials"][1] = json["trials"][0].clone(), "is there twice"),
        (|json| json["trials"][0]["task_index"] = 7.into(), "is not the task"),
        (|json| json["trials"][0]["finished_at"] = Value::Null, "is not finished"),
        (|json| json["trials"][0]["attempts"][0]["result"]["reward"] = 2.into(), "a reward outside 0..=1"),
        (
            |json| {
                let files = json["files"].as_object_mut().unwrap();
                files.values_mut().next().unwrap()["text"] = "other".into();
            },
            "the content is not what its name promises",
        ),
    ];
    for (edit, want) in edits {
        let mut edited = export.clone();
        edit(&mut edited);
        std::fs::write(home.path("edited.json"), edited.to_string()).unwrap();
        let (code, out, err) = home.run(&["import", "edited.json"]);
        assert!(code == 2 && err.contains(want), "{want}: {code}\n{out}\n{err}");
    }
}

/// `analyze` gives for an exported table what the evaluation's own page says.
#[test]
fn our_own_tables_are_analysed_as_what_they_are() {
    let home = Home::new();
    let id = home.keep_own();
    let whole: Value = serde_json::from_str(&home.export(id, "json")).unwrap();
    for format in ["json", "csv"] {
        let file = format!("own.{format}");
        std::fs::write(home.path(&file), home.export(id, format)).unwrap();
        let (code, out, err) = home.run(&["analyze", &file, "--json"]);
        assert_eq!(code, 0, "{format}\n{out}\n{err}");
        let found: Value = serde_json::from_str(&out).unwrap();
        for part in ["/delta", "/delta_ci/low", "/p_value", "/rho", "/pairs_complete", "/rescued", "/broken"] {
            let [got, want] = [&found["totals"], &whole["report"]["totals"]].map(|totals| totals.pointer(part));
            let [got, want] = [got, want].map(|number| number.and_then(Value::as_f64).unwrap());
            // An export has fifteen digits.
            assert!((got - want).abs() < 1e-12, "{format}: {part}: {got}, not {want}");
        }
        assert!(out.contains("scripted"), "{format}: a demonstration stays one");
    }
    // Under another name and with its fields in another order it is the same.
    let sorted = whole.to_string();
    std::fs::write(home.path("a.json"), &sorted).unwrap();
    std::fs::write(home.path("b.json"), &sorted).unwrap();
    let first = home.import(&home.path("a.json"))["accepted"][0]["id"].clone();
    let again = home.import(&home.path("b.json"))["accepted"][0].clone();
    assert_eq!((&again["id"], &again["is_new"]), (&first, &false.into()));
}

#[test]
fn what_cannot_be_done_is_said_with_its_remedy() {
    let home = Home::new();
    let id = home.keep_own().to_string();
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
        (
            vec!["leaderboard", "export", "--format", "csv", "--view", "verdict=bogus&n=3"],
            2,
            "no such view: verdict=bogus",
        ),
        (
            vec!["leaderboard", "export", "--format", "csv", "--view", "data=snapshot-x"],
            2,
            "no such view: data=snapshot-x",
        ),
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
    let id = home.keep_own();
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
    assert_eq!(site.get(&format!("/evaluations/{id}/export/word")).0, 422);
    assert_eq!(site.get("/evaluations/999/export/json").0, 404);
    assert_eq!(site.get(&format!("/evaluations/{id}/export/patch")).0, 422);
}
