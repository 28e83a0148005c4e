//! Alignments by hand, and alignments that no other beats.

use serde_json::json;

use super::align::{Item, align};
use super::{RowClass, TraceDiff};
use crate::condition::Pair;
use crate::draw::Draw;
use crate::trace::{Source, ToolCall, ToolKind, ToolResult, Trace, TraceStep};

/// A step in one word: `sh:COMMAND`, `sh:COMMAND=ANSWER`, `edit:FILE:TEXT`, `skill:NAME`, or words.
fn step(text: &str) -> TraceStep {
    let call = |tool, name: &str, arguments, answer: Option<&str>| {
        let result = ToolResult {
            text: answer.unwrap_or("ok").into(),
            exit_code: Some(0),
            is_error: false,
            duration_ms: Some(1),
        };
        vec![ToolCall { id: String::new(), tool, name: name.into(), arguments, result: Some(result) }]
    };
    let calls = match text.split_once(':') {
        Some(("sh", line)) => {
            let (line, answer) = line.split_once('=').map_or((line, None), |(line, answer)| (line, Some(answer)));
            call(ToolKind::Shell, "bash", json!({ "command": line }), answer)
        }
        Some(("edit", rest)) => {
            let (file, new) = rest.split_once(':').unwrap();
            call(ToolKind::Edit, "Edit", json!({ "file_path": file, "new_string": new }), None)
        }
        Some(("skill", name)) => call(ToolKind::Skill, "Skill", json!({ "skill": name }), None),
        _ => return TraceStep::said(Source::Agent, text),
    };
    TraceStep { calls, ..TraceStep::said(Source::Agent, "") }
}

fn trace(steps: &[&str]) -> Trace {
    Trace { steps: steps.iter().map(|text| step(text)).collect() }
}

/// The rows as `NO|WITH CLASS`, steps by number from 1.
fn told(without: &[&str], with: &[&str]) -> Vec<String> {
    let (without, with) = (trace(without), trace(with));
    let diff = TraceDiff::compute(Pair { without: &without, with: &with });
    let number = |at: Option<super::UnitRef>| at.map_or_else(|| "-".to_owned(), |at| (at.step + 1).to_string());
    let row = |row: &super::DiffRow| {
        let twin = row.twin.map(|twin| format!(" {twin}")).unwrap_or_default();
        format!("{}|{} {}{twin}", number(row.sides.without), number(row.sides.with), row.class.word())
    };
    diff.rows.iter().map(row).collect()
}

#[test]
fn rows_and_their_classes() {
    for (what, without, with, expected) in [
        ("nothing", &[][..], &[][..], &[][..]),
        ("one is empty", &["sh:ls"], &[], &["1|- only-without"]),
        ("the same", &["sh:ls", "done"], &["sh:ls", "done"], &["1|1 same", "2|2 same"]),
        ("another answer", &["sh:ls=a"], &["sh:ls=b"], &["1|1 result-differs"]),
        (
            "a time in the answer is no difference",
            &["sh:t=2 passed in 0.12s"],
            &["sh:t=2 passed in 0.31s"],
            &["1|1 same"],
        ),
        ("words are style", &["I look.", "sh:ls"], &["Let me look.", "sh:ls"], &["1|1 words-differ", "2|2 same"]),
        (
            "the skill is opened",
            &["sh:ls", "sh:cat a.txt"],
            &["sh:ls", "skill:x", "sh:cat a.txt"],
            &["1|1 same", "-|2 only-with", "2|3 same"],
        ),
        (
            "opening the skill by the shell is not another use of the shell",
            &["sh:head a.txt"],
            &["sh:cat /s/SKILL.md"],
            &["1|- only-without", "-|1 only-with"],
        ),
        ("the same tool otherwise", &["sh:cat a.txt"], &["sh:cat b.txt"], &["1|1 arguments-differ"]),
        ("tools are not mixed", &["sh:cat a.txt"], &["edit:a.txt:x"], &["1|- only-without", "-|1 only-with"]),
        (
            "a call at another time",
            &["sh:git status", "sh:ls -l", "edit:a:1"],
            &["edit:a:1", "sh:git status", "sh:find . -name x"],
            &["1|- moved 3", "2|- only-without", "3|1 same", "-|2 moved 0", "-|3 only-with"],
        ),
        (
            "the first change of a file is a landmark",
            &["sh:a", "edit:m.rs:one", "edit:m.rs:two", "sh:pytest=1"],
            &["edit:m.rs:three", "sh:b x", "sh:pytest=2"],
            &["1|- only-without", "2|1 arguments-differ", "3|- only-without", "-|2 only-with", "4|3 result-differs"],
        ),
    ] {
        assert_eq!(told(without, with), expected, "{what}");
    }
}

#[test]
fn the_first_difference_is_a_decision() {
    let one = trace(&["I look.", "sh:ls=a", "sh:pytest=1 failed", "sh:cat x"]);
    let other = trace(&["Well.", "sh:ls=b", "sh:pytest=1 passed", "skill:s", "sh:cat x"]);
    let diff = TraceDiff::compute(Pair { without: &one, with: &other });
    assert_eq!(diff.first_decision(), Some(3));
    assert_eq!(diff.first_test_difference(), Some(2));
    assert!(diff.rows[3].opens_skill);
}

#[test]
fn calls_of_one_step_have_a_row_each() {
    let mut both = step("sh:ls");
    both.calls.extend(step("sh:pwd").calls);
    let (one, other) = (Trace { steps: vec![both] }, trace(&["sh:ls", "sh:pwd"]));
    let diff = TraceDiff::compute(Pair { without: &one, with: &other });
    assert_eq!(diff.rows.iter().map(|row| row.class).collect::<Vec<_>>(), [RowClass::Same; 2]);
    assert_eq!(diff.rows[1].sides.without.unwrap().call, Some(1));
}

/// Random items: a few kinds, keys that repeat.
fn random(draw: &mut Draw, length: usize, keys: usize) -> Vec<Item> {
    (0..length)
        .map(|_| {
            let key = u32::try_from(draw.below(keys)).unwrap();
            let mut features = vec![100 + key % 5, 200 + key % 3];
            features.sort_unstable();
            Item { key, kind: 1000 + key % 2, features, landmark: None }
        })
        .collect()
}

#[test]
fn every_unit_appears_once_and_in_order() {
    let mut draw = Draw::from_seed(5);
    for round in 0..400 {
        let (n, m, keys) = (draw.below(30), draw.below(30), 1 + draw.below(40));
        let (left, right) = (random(&mut draw, n, keys), random(&mut draw, m, keys));
        let places = align(&left, &right);
        assert_eq!(
            places.iter().filter_map(|place| place.left).collect::<Vec<_>>(),
            (0..n).collect::<Vec<_>>(),
            "{round}"
        );
        assert_eq!(
            places.iter().filter_map(|place| place.right).collect::<Vec<_>>(),
            (0..m).collect::<Vec<_>>(),
            "{round}"
        );
        assert_eq!(places, align(&left, &right));
    }
}

/// The cheapest alignment, by trying all.
fn cheapest(left: &[Item], right: &[Item], i: usize, j: usize, places: &mut Vec<super::Place>, best: &mut u32) {
    if i == left.len() && j == right.len() {
        *best = (*best).min(super::gotoh::cost::of(left, right, places));
        return;
    }
    for (up, back) in [(1, 1), (1, 0), (0, 1)] {
        if i + up > left.len() || j + back > right.len() {
            continue;
        }
        places.push(super::Place { left: (up == 1).then_some(i), right: (back == 1).then_some(j), approximate: false });
        cheapest(left, right, i + up, j + back, places, best);
        places.pop();
    }
}

#[test]
fn no_alignment_of_a_stretch_is_cheaper() {
    let mut draw = Draw::from_seed(9);
    for _ in 0..200 {
        let (n, m) = (draw.below(6), draw.below(6));
        let (left, right) = (random(&mut draw, n, 4), random(&mut draw, m, 4));
        let mut places = Vec::new();
        super::gotoh::align(&left, &right, 0..n, 0..m, &mut places);
        let mut best = u32::MAX;
        cheapest(&left, &right, 0, 0, &mut Vec::new(), &mut best);
        assert_eq!(super::gotoh::cost::of(&left, &right, &places), best, "{left:?} {right:?}");
    }
}

#[test]
fn long_stretches_without_anything_in_common_are_aligned_about_the_diagonal() {
    let item = |key: u32| Item { key, kind: 7, features: Vec::new(), landmark: None };
    let left: Vec<Item> = (0..6_000).map(|key| item(key % 50)).collect();
    let right: Vec<Item> = (0..5_000).map(|key| item(60 + key % 50)).collect();
    let places = align(&left, &right);
    assert!(places.iter().all(|place| place.approximate));
    assert_eq!(places.iter().filter(|place| place.left.is_some()).count(), 6_000);
    assert_eq!(places.iter().filter(|place| place.right.is_some()).count(), 5_000);
}
