//! Tables over whole reports: what is said of them, state by state.

use super::tests::{Row, report, report_of, report_under};
use super::*;
use crate::comparison::{Baseline, Comparison};
use crate::hash::ContentHash;
use crate::id::SkillVersionId;
use crate::plan::{SkillRef, Treatment};
use crate::stop::{Seen, StopReason, StopRule, Stopped};

use Condition::{NoSkill, WithSkill};

#[test]
fn the_sentence_says_what_the_numbers_say() {
    let flips = |rescued: usize, broken: usize, both: usize, neither: usize| {
        let kinds = [(rescued, 'p', 'f'), (broken, 'f', 'p'), (both, 'p', 'p'), (neither, 'f', 'f')];
        let names: Vec<String> = (0..rescued + broken + both + neither).map(|i| format!("t{i:03}")).collect();
        let verdicts = kinds.iter().flat_map(|(n, with, without)| vec![(*with, *without); *n]);
        let rows: Vec<Row<'_>> = names
            .iter()
            .zip(verdicts)
            .flat_map(|(name, (with, without))| {
                [(name.as_str(), WithSkill, with, Some(110)), (name.as_str(), NoSkill, without, Some(100))]
            })
            .collect();
        headline(&report(&rows))
    };
    for (counts, class, meaning, sentence) in [
        (
            (1, 0, 0, 0),
            "cannot_be_resolved",
            "Too few tasks to tell anything: with 1 task even the clearest outcome may be chance",
            "With the skill 1 of 1 task passes, without it 0 (1 rescued, 0 broken); Δ +100 percentage points",
        ),
        (
            (1, 0, 9, 0),
            "inconclusive",
            "This cannot tell whether the skill helps or harms: the true difference may be anything from a loss of",
            "With the skill 10 of 10 tasks pass, without it 9 (1 rescued, 0 broken); Δ +10 percentage points",
        ),
        (
            (16, 2, 20, 2),
            "improves",
            "With the skill more tasks pass than without it, by more than chance explains.",
            "With the skill 36 of 40 tasks pass, without it 22 (16 rescued, 2 broken); Δ +35 percentage points",
        ),
        (
            (2, 16, 20, 2),
            "harms",
            "With the skill fewer tasks pass than without it, by more than chance explains.",
            "With the skill 22 of 40 tasks pass, without it 36 (2 rescued, 16 broken); Δ −35 percentage points",
        ),
        (
            (0, 0, 200, 200),
            "no_effect",
            "With the skill about the same share of tasks passes as without it: any true difference is smaller than 5 percentage points.",
            "With the skill 200 of 400 tasks pass, without it 200 (0 rescued, 0 broken); Δ 0 percentage points",
        ),
    ] {
        let got = flips(counts.0, counts.1, counts.2, counts.3);
        assert_eq!(got.class, class, "{counts:?}");
        assert!(got.meaning.starts_with(meaning), "{:?} does not start with {meaning:?}", got.meaning);
        assert!(got.sentence.starts_with(sentence), "{:?} does not start with {sentence:?}", got.sentence);
        assert!(got.sentence.ends_with("; 10 % more tokens."), "{:?}", got.sentence);
        assert!(got.lines()[0].starts_with(&format!("{}. {meaning}", got.word)), "{:?}", got.lines());
    }
}

#[test]
fn what_tasks_cannot_show_is_said_instead_of_asking_for_more_of_them() {
    for (verdicts, advice) in [
        (['p', 'p'], "Every task passes in the baseline arm, so no gain can show here: choose harder tasks."),
        (['f', 'p'], "Every task passes in the baseline arm, so no gain can show here: choose harder tasks."),
        (['f', 'f'], "No task passes in either arm, so no difference can show here: choose easier tasks."),
        (['p', 'f'], "More tasks would narrow the interval."),
    ] {
        let names: Vec<String> = (0..12).map(|i| format!("t{i:02}")).collect();
        let rows: Vec<Row<'_>> = names
            .iter()
            .enumerate()
            .flat_map(|(at, name)| {
                let [with, without] = if at < 2 { verdicts } else { [verdicts[1]; 2] };
                [(name.as_str(), WithSkill, with, None), (name.as_str(), NoSkill, without, None)]
            })
            .collect();
        let got = headline(&report(&rows));
        assert_eq!((got.class.as_str(), got.advice.as_str()), ("inconclusive", advice), "{verdicts:?}");
    }
}

#[test]
fn a_running_evaluation_gives_interim_numbers_and_no_verdict() {
    let report = report(&[
        ("t1", WithSkill, 'p', None),
        ("t1", NoSkill, 'f', None),
        ("t2", WithSkill, '.', None),
        ("t2", NoSkill, 'p', None),
    ]);
    let early = headline(&report);
    assert_eq!((early.class.as_str(), report.finished), ("interim", false));
    assert_eq!(early.sentence, "With the skill 1 of 1 task passes so far, without it 0.");
    assert_eq!(early.advice, "Interim: 1 pair is still to come.");
    // Repeats do not make two tasks six.
    let repeated = EvaluationReport {
        totals: Totals { pairs_complete: 12, ..report.totals.clone() },
        repeats: 12,
        ..report.clone()
    };
    assert!(!headline(&repeated).sentence.contains('Δ'), "{}", headline(&repeated).sentence);
    // Δ is told from where an outcome could be told from chance.
    let names: Vec<String> = (0..7).map(|i| format!("t{i}")).collect();
    for (complete, told) in [(5, false), (6, true)] {
        let rows: Vec<Row<'_>> = names
            .iter()
            .enumerate()
            .flat_map(|(at, name)| {
                let with = if at < complete { 'p' } else { '.' };
                [(name.as_str(), WithSkill, with, None), (name.as_str(), NoSkill, 'f', None)]
            })
            .collect();
        let sentence = headline(&self::report(&rows)).sentence;
        assert_eq!(sentence.contains('Δ'), told, "{sentence}");
    }
}

/// Rows of `rescued`, `broken` and both-passed tasks, in this order.
fn rows_of(rescued: usize, broken: usize, both: usize) -> Vec<(String, Condition, char, Option<u64>)> {
    let kinds = [(rescued, 'p', 'f'), (broken, 'f', 'p'), (both, 'p', 'p')];
    let verdicts = kinds.iter().flat_map(|(n, with, without)| vec![(*with, *without); *n]);
    let task = |(i, (with, without)): (usize, (char, char))| {
        let name = format!("t{i:03}");
        [(name.clone(), WithSkill, with, Some(110)), (name, NoSkill, without, Some(100))]
    };
    verdicts.enumerate().flat_map(task).collect()
}

fn headline_compared(
    treatment: Treatment,
    baseline: Baseline,
    distractors: &[SkillRef],
    [rescued, broken, both]: [usize; 3],
) -> Headline {
    let rows = rows_of(rescued, broken, both);
    let rows: Vec<Row<'_>> =
        rows.iter().map(|(name, arm, verdict, tokens)| (name.as_str(), *arm, *verdict, *tokens)).collect();
    headline(&report_of(treatment, Comparison { baseline, distractors: distractors.to_vec() }, &rows))
}

#[test]
fn the_sentence_names_what_was_compared() {
    let skill = |name: &str, bytes: &[u8]| SkillRef {
        id: SkillVersionId(1),
        name: name.into(),
        version: ContentHash::of(bytes),
    };
    let (new, old, other) = (skill("sheep", b"new"), skill("sheep", b"old"), skill("goats", b"g"));
    let [at_new, at_old, at_other] =
        [&new, &old, &other].map(|skill| format!("{}@{}", skill.name, skill.version.short()));
    let treatment = || Treatment::Skills { versions: vec![new.clone()] };
    for (treatment, baseline, distractors, class, sentence) in [
        (treatment(), Baseline::NoSkill, vec![], "improves", "With the skill 20 of 20 tasks pass, without it 8 (12 rescued, 0 broken); Δ +60 percentage points".to_owned()),
        (
            treatment(),
            Baseline::NoSkill,
            vec![other.clone()],
            "improves",
            format!("{at_new} against no skill, beside 1 distractor skill: with the skill 20 of 20 tasks pass, without it 8 (12 rescued, 0 broken); Δ +60 percentage points"),
        ),
        (
            treatment(),
            Baseline::PreviousVersion { versions: vec![old.clone()] },
            vec![],
            "improves",
            format!("{at_new} against {at_old}: with the new version 20 of 20 tasks pass, with the previous one 8 (12 rescued, 0 broken); Δ +60 percentage points"),
        ),
        (
            treatment(),
            Baseline::Control { versions: vec![other.clone()] },
            vec![],
            "improves",
            format!("{at_new} against the unrelated {at_other}: with the skill 20 of 20 tasks pass, with an unrelated one 8 (12 rescued, 0 broken); Δ +60 percentage points"),
        ),
        (
            Treatment::Nothing,
            Baseline::Same,
            vec![],
            "noise_floor",
            "A/A: no skill against no skill: in arm B 20 of 20 tasks pass, in arm A 8 (12 flipped); Δ +60 percentage points, 95 % interval".to_owned(),
        ),
        (
            treatment(),
            Baseline::Same,
            vec![],
            "noise_floor",
            format!("A/A: {at_new} against {at_new}: in arm B 20 of 20 tasks pass, in arm A 8 (12 flipped); Δ +60"),
        ),
    ] {
        let headline = headline_compared(treatment, baseline, &distractors, [12, 0, 8]);
        assert_eq!(headline.class, class);
        assert!(headline.sentence.starts_with(&sentence), "{:?} does not start with {sentence:?}", headline.sentence);
        let costs = headline.sentence.ends_with("; 10 % more tokens.");
        assert_eq!(costs, class != "noise_floor", "{:?}", headline.sentence);
    }
}

#[test]
fn two_arms_that_are_the_same_show_noise_and_never_a_skill() {
    let quiet = headline_compared(Treatment::Nothing, Baseline::Same, &[], [1, 1, 8]);
    assert_eq!((quiet.class.as_str(), quiet.word.as_str()), ("noise_floor", "Noise floor"));
    // q = 2.5/11, √(q/10) = 15.08 pp, ±29.5 pp.
    assert!(
        quiet.advice.starts_with("Every flip was chance, so this is the noise floor: with as many tasks and repeats, chance alone keeps Δ within ±30 percentage points 19 times in 20."),
        "{}",
        quiet.advice
    );
    let loud = headline_compared(Treatment::Nothing, Baseline::Same, &[], [9, 0, 1]);
    assert!(loud.advice.ends_with("look whether the arms were alike indeed."), "{:?}", loud.advice);
}

/// An early end is told with its reason; the p of a fixed number of tasks is not, since it would not hold.
#[test]
fn an_early_end_is_marked_and_judged_by_the_evidence() {
    const NONE: StopRule = StopRule { futility: false, evidence: false };
    const EVIDENCE: StopRule = StopRule { futility: false, evidence: true };
    const FUTILITY: StopRule = StopRule { futility: true, evidence: false };
    let seen = |rescued: u32, broken: u32, e_value: f64| Seen { tasks: 10, rescued, broken, e_value };
    for (rule, why, [rescued, broken, both], class, e_value, sentence, advice) in [
        (NONE, None, [8, 0, 2], "improves", None, "With the skill 10 of 10 tasks pass, without it 2", ""),
        (
            EVIDENCE,
            Some((StopReason::Evidence, seen(8, 0, 50.3))),
            [8, 0, 2],
            "improves",
            Some(50.273_437_5),
            "; ended early.",
            "Ended after 10 of 10 tasks because the evidence sufficed (e-value 50, at least 20 needed)",
        ),
        (
            EVIDENCE,
            Some((StopReason::Evidence, seen(0, 8, 50.3))),
            [0, 8, 2],
            "harms",
            Some(50.273_437_5),
            "; ended early.",
            "Ended after 10 of 10",
        ),
        // Six of six is enough for McNemar's test (p = 0.031), and not for the e-value (14).
        (
            EVIDENCE,
            None,
            [6, 0, 4],
            "inconclusive",
            Some(14.4375),
            "With the skill 10 of 10 tasks pass, without it 4",
            "Judged by the evidence (e-value 14, at least 20 needed)",
        ),
        (FUTILITY, None, [6, 0, 4], "improves", None, "With the skill 10 of 10 tasks pass, without it 4", ""),
        (
            FUTILITY,
            Some((StopReason::Futility, seen(2, 1, 0.5))),
            [2, 1, 7],
            "inconclusive",
            Some(1.5),
            "; ended early.",
            "Ended after 10 of 10 tasks because no outcome of the others",
        ),
        (
            NONE,
            Some((StopReason::OutOfTime, seen(6, 0, 14.4))),
            [6, 0, 4],
            "improves",
            None,
            "; ended early.",
            "Ended after 10 of 10 tasks: the plan's time was over.",
        ),
        (
            NONE,
            Some((StopReason::ByHand, seen(6, 0, 14.4))),
            [6, 0, 4],
            "inconclusive",
            Some(14.4375),
            "; ended early.",
            "Cancelled after 10 of 10 tasks. Whoever cancels may have seen how it stood, so it is judged by the evidence (e-value 14,",
        ),
        (
            NONE,
            Some((StopReason::ByHand, seen(8, 0, 50.3))),
            [8, 0, 2],
            "improves",
            Some(50.273_437_5),
            "; ended early.",
            "Cancelled after 10 of 10 tasks.",
        ),
    ] {
        let rows = rows_of(rescued, broken, both);
        let rows: Vec<Row<'_>> =
            rows.iter().map(|(name, arm, verdict, tokens)| (name.as_str(), *arm, *verdict, *tokens)).collect();
        let stopped = why.map(|(why, seen)| Stopped { why, at: Timestamp(1), seen, told: None });
        let report = report_under(rule, Treatment::TasksOwn, Comparison::default(), &rows).ended_early(stopped);
        let without_tasks = EvaluationReport { tasks: Vec::new(), ..report.clone() };
        assert_eq!(headline(&without_tasks), headline(&report), "pages get a report without its tasks");
        let headline = headline(&report);
        let name = format!("{rule:?} {why:?}");
        assert_eq!((headline.class.as_str(), report.totals.p_value.is_none()), (class, e_value.is_some()), "{name}");
        assert!(headline.sentence.contains(sentence), "{name}: {}", headline.sentence);
        assert!(headline.advice.starts_with(advice), "{name}: {}", headline.advice);
        let told = report.totals.e_value;
        assert!(
            told.zip(e_value).is_none_or(|(told, want)| (told / want - 1.0).abs() < 0.01)
                && told.is_some() == e_value.is_some(),
            "{name}: {told:?}"
        );
        let again: EvaluationReport = serde_json::from_value(serde_json::to_value(&report).unwrap()).unwrap();
        assert_eq!(again, report, "{name}");
    }
}

/// Six tasks are enough for the interval, and one too few for the evidence.
#[test]
fn too_few_tasks_for_the_evidence_are_said_to_be_too_few() {
    let by_evidence = StopRule { futility: false, evidence: true };
    let rows = rows_of(6, 0, 0);
    let rows: Vec<Row<'_>> =
        rows.iter().map(|(name, arm, verdict, tokens)| (name.as_str(), *arm, *verdict, *tokens)).collect();
    let few = headline(&report_under(by_evidence, Treatment::TasksOwn, Comparison::default(), &rows));
    assert_eq!(
        (few.class.as_str(), few.meaning.as_str()),
        (
            "cannot_be_resolved",
            "Too few tasks to tell anything: with 6 tasks even the clearest outcome may be chance, so an interval that leaves out 0 settles nothing."
        )
    );
}

/// Whom the provider let in nowhere reads what stood in the way and what to do, in place of advice on numbers.
#[test]
fn an_evaluation_that_its_provider_denied_says_so() {
    let (why, at, seen) = (StopReason::ProviderDenied, Timestamp(1), Seen::NOTHING);
    let told = "the model's provider denies access (401): invalid x-api-key; set the upstream's key anew";
    let ended = |rows: &[Row<'_>], told: Option<&str>| {
        let stopped = Stopped { why, at, seen, told: told.map(str::to_owned) };
        headline(&report(rows).ended_early(Some(stopped)))
    };
    let pair = |task, without, with| [(task, NoSkill, without, None), (task, WithSkill, with, None)];
    let denied = [pair("a", 'i', 'i'), pair("b", 'c', 'c')].concat();
    let headline = ended(&denied, Some(told));
    assert_eq!((headline.class.as_str(), headline.word.as_str()), ("no_result", "No result"));
    assert!(headline.meaning.contains("the others were not run"), "{headline:?}");
    assert_eq!(headline.sentence, "No pair of 2 is complete; ended early.");
    assert_eq!(headline.advice, format!("What stood in the way: {told}. Mend that, and run it again."));
    assert!(ended(&denied, None).advice.contains("denied access"), "an import may not tell more");
    // What ran was let finish, and may have a score all the same.
    let late = ended(&[pair("a", 'i', 'i'), pair("b", 'f', 'p'), pair("c", 'c', 'c')].concat(), Some(told));
    assert_eq!(late.class, "cannot_be_resolved");
    assert!(late.sentence.ends_with("; ended early."), "{late:?}");
    assert!(late.advice.starts_with("Ended after 0 of 3 tasks: the model's provider denied access."), "{late:?}");
    // While the last ones run it is no result yet.
    assert_eq!(ended(&[pair("a", 'i', 'i'), pair("b", 'c', '-')].concat(), Some(told)).class, "interim");
}
