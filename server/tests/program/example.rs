//! The bundled example: what `make demo` shows, run once and shown again at the next start.

use std::path::Path;

use domain::condition::Condition;

use crate::common::Home;

/// A copy whose images carry the test's label.
fn copy(home: &Home, from: &Path, to: &str) {
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let below = format!("{to}/{}", entry.file_name().to_string_lossy());
        if entry.file_type().unwrap().is_dir() {
            copy(home, &entry.path(), &below);
        } else {
            let mut bytes = std::fs::read(entry.path()).unwrap();
            if below.ends_with("/Dockerfile") {
                bytes.extend_from_slice(format!("\nLABEL test={}\n", home.mark).as_bytes());
            }
            home.write(&below, bytes);
        }
    }
}

#[test]
fn the_example_is_run_once_and_shows_what_a_skill_does() {
    let home = Home::new("example");
    copy(&home, &Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples"), "examples");
    let stand_in = format!("skilldelta-base:bookworm={}", home.base);
    let args = ["--example", "examples", "--image-stand-in", &stand_in];
    for start in 1..=2 {
        let mut site = home.serve(&args);
        site.running.out_line("result", |line| line.starts_with("look at it on"));
        let page = site.get("/evaluations/1");
        assert_eq!(page.status, 200);
        assert!(page.body.to_lowercase().contains("scripted model"), "{}", page.body);
        let ended = site.stop();
        assert_eq!(ended.code, 0, "{ended}");
        assert!(ended.out.contains("scripted model: not a measurement") && ended.out.contains("Δ +"), "{ended}");
        assert_eq!(home.evaluations(&home.data()), 1, "start {start}");
    }
    let report = home.report(1);
    assert!(report.is_scripted() && report.totals.delta.unwrap() > 0.0, "{:?}", report.totals);
    assert!(report.totals.pairs_with_tokens == 8 && report.totals.rho.is_some(), "{:?}", report.totals);
    let kept = home.kept(1);
    for trial in &kept {
        let result = trial.last();
        let found = &result.audit.as_ref().unwrap().found;
        let opened = result.activation.opened.unwrap();
        match trial.row.condition {
            Condition::NoSkill => assert!(found.is_empty() && !opened, "{}", trial.name()),
            Condition::WithSkill => assert_eq!(found.len(), 1, "{}", trial.name()),
        }
    }
    assert!(kept.iter().filter(|trial| trial.last().activation.opened == Some(true)).count() >= 4);
    home.finish();
}
