//! Agents' records with troubles (R01, R03, R04, H17), on the pair's page and in the exported JSON.

use domain::attempt::AttemptResult;
use domain::condition::Condition;
use domain::finding::Finding;
use domain::skill_audit::Activation;
use domain::verdict::{FailReason, InfraClass, Verdict};
use formats::trace::{Reading, TraceFormat, read};

use crate::common::{Home, Task, shared};

/// A record, words that its page must show, and what must be told of it on the page and in the export.
type Record = (Vec<u8>, Vec<&'static str>, Option<&'static str>);

/// One for each kind of trouble.
fn records() -> Option<Vec<Record>> {
    let case = |path: &str| shared(path).map(String::into_bytes);
    let huge =
        |length: usize| [b"{\"type\":\"user\",\"text\":\"".to_vec(), vec![b'x'; length], b"\"}\n".to_vec()].concat();
    let after = b"{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"after it\"}]}}\n";
    Some(vec![
        (case("R01/torn-tail.jsonl")?, vec![], Some("last line incomplete")),
        (
            case("R01/bad-middle.jsonl")?,
            vec!["assistant\",\"message\":{\"id\":\"m1\"", "two"],
            Some("line 2 unreadable"),
        ),
        (case("R01/empty.jsonl")?, vec!["No trace was recorded"], None),
        ([huge(40_000_000), after.to_vec()].concat(), vec!["after it"], Some("event of 40 MB left out (line 1)")),
        (case("R04/mixed.log")?, vec!["ExperimentalWarning: something", "npm notice new version", "[1,2,3]"], None),
        (case("H17/seen.jsonl")?, vec![], None),
        (case("H17/unseen.jsonl")?, vec![], None),
        (case("H17/listed-not-used.jsonl")?, vec![], None),
    ])
}

/// `skill` = it is a record in which the skill was to be listed.
fn attempt(reading: &Reading, condition: Condition, skill: bool) -> AttemptResult {
    let has = |names: &[String]| names.iter().any(|name| name == "count-sheep");
    let with = skill && condition == Condition::WithSkill;
    let listed = reading.skills.listed.as_deref().map(has).filter(|_| with);
    let verdict = match listed {
        // As the engine ends it: see `Attempt::is_skill_available`.
        Some(false) => {
            Verdict::InfraError { class: InfraClass::Audit, message: "the skill was not available".to_owned() }
        }
        _ => Verdict::Fail { reason: FailReason::WrongResult },
    };
    AttemptResult {
        reward: verdict.scored().map(|_| 0.0),
        activation: Activation { listed, opened: listed.map(|_| has(&reading.skills.opened)), ..Activation::default() },
        findings: reading.notes.iter().map(|note| Finding::note("agent_record", "agent", note)).collect(),
        ..AttemptResult::bare(verdict)
    }
}

#[test]
fn a_record_with_troubles_is_shown_as_far_as_it_can_be_read() {
    let Some(records) = records() else { return };
    let home = Home::new("records");
    home.task(&Task::new("one"));
    assert_eq!(home.eval(&["--agent", "nop"]).0.code, 0);
    let readings: Vec<Reading> = records.iter().map(|(bytes, _, _)| read(TraceFormat::ClaudeStream, bytes)).collect();
    let repeats = u32::try_from(readings.len()).unwrap();
    let id = home.keep(1, repeats, |repeat, condition| {
        let reading = &readings[repeat as usize - 1];
        (attempt(reading, condition, repeat >= 6), serde_json::to_vec(&reading.trace).unwrap())
    });
    let site = home.serve(&[]);
    for ((_, words, note), repeat) in records.iter().zip(1..) {
        let page = site.get(&format!("/evaluations/{id}/pairs/1/{repeat}"));
        assert_eq!(page.status, 200, "{repeat}");
        for word in words.iter().chain(note) {
            assert!(page.body.contains(word), "no {word:?} on the page of repeat {repeat}: {}", page.body);
        }
    }
    for (repeat, offered, opened) in [(6, "yes", "yes"), (7, "no", "no"), (8, "yes", "no")] {
        let page = site.get(&format!("/evaluations/{id}/pairs/1/{repeat}")).body;
        let after = |head: &str| {
            let facts = page.rsplit(&format!("{head}</dt><dd>")).next().unwrap();
            facts.split('<').next().unwrap().to_owned()
        };
        assert_eq!(
            (after("Offered to the model"), after("Opened by the agent")),
            (offered.into(), opened.into()),
            "{repeat}"
        );
    }
    site.stop();
    let exported =
        home.run(&["export", &id.to_string(), "--format", "json", "--out", &home.path("out").display().to_string()]);
    assert_eq!(exported.code, 0, "{exported}");
    let text = std::fs::read_dir(home.path("out")).map_or_else(
        |_| std::fs::read_to_string(home.path("out")).unwrap(),
        |mut files| std::fs::read_to_string(files.next().unwrap().unwrap().path()).unwrap(),
    );
    for note in records.iter().filter_map(|(_, _, note)| *note) {
        assert!(text.contains(note), "no {note:?} in the export");
    }
    let report = home.report(id);
    assert_eq!(report.totals.pairs_complete, u64::from(repeats) - 1, "the pair without the skill is left out");
    home.finish();
}
