//! Verifiers that write no reward: reports of JUnit's kind, the lines of test programs, and the verdict by the share of tests that passed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use domain::task::Scoring;
use domain::test_case::{TestCase, TestStatus};
use formats::verdict::junit::read_junit;
use formats::verdict::printed::read_printed;
use formats::verdict::{VerifierEnding, VerifierRun, judge};

/// As pytest 9.2.0 wrote it for one test of each kind; paths and times shortened.
const PYTEST: &str = include_str!("cases/verdict/pytest-9.2.0.junit.xml");
const UNCOLLECTED: &str = include_str!("cases/verdict/pytest-9.2.0-collection-error.junit.xml");

fn seen(tests: &[TestCase]) -> Vec<String> {
    tests.iter().map(|test| format!("{} {}", test.name, test.status.word())).collect()
}

#[test]
fn reports_of_junits_kind_are_read() {
    let tests = read_junit(PYTEST.as_bytes()).unwrap();
    assert_eq!(
        seen(&tests),
        [
            "test_pen::test_good passed",
            "test_pen::test_bad failed",
            "test_pen::test_away skipped",
            "test_pen::test_broken failed",
            "test_pen::test_each[a b] passed",
            "test_pen.TestPen::test_in_class passed",
        ]
    );
    assert!(tests[1].message.as_deref().unwrap().contains("assert 1 == 2") && tests[0].message.is_none());
    let uncollected = read_junit(UNCOLLECTED.as_bytes()).unwrap();
    assert_eq!((uncollected.len(), uncollected[0].status), (1, TestStatus::Other));
    assert_eq!(uncollected[0].message.as_deref(), Some("ModuleNotFoundError: No module named 'sheepfold'"));
    let maven = r#"<testsuite name="Pen" tests="2"><properties/><testcase name="counts" classname="farm.PenTest" time="1,000.5"/>
        <testcase name="shears" classname="farm.PenTest"><failure message="a &lt; b &#10; c" type="E"><![CDATA[<at>]]></failure></testcase></testsuite>"#;
    let tests = read_junit(maven.as_bytes()).unwrap();
    assert_eq!(seen(&tests), ["farm.PenTest::counts passed", "farm.PenTest::shears failed"]);
    assert_eq!((tests[0].duration_ms, tests[1].message.as_deref()), (Some(1_000_500), Some("a < b \n c")));
}

#[test]
fn what_is_no_report_is_told_and_no_entity_grows() {
    for (xml, want) in [
        ("<coverage><class name='x'/></coverage>", "it has no `testsuite`"),
        ("", "it has no `testsuite`"),
        ("<testsuite><testcase name='a'", "it is no valid XML"),
        ("<testsuite></testcase>", "it is no valid XML"),
    ] {
        let said = read_junit(xml.as_bytes()).unwrap_err().to_string();
        assert!(said.starts_with(want), "{xml}: {said}");
    }
    let bomb = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]>\
                <testsuite><testcase name='&b;'><failure message='&b;'/></testcase></testsuite>";
    let tests = read_junit(bomb.as_bytes()).unwrap();
    assert_eq!((tests[0].name.as_str(), tests[0].message.as_deref()), ("&b;", Some("&b;")));
}

#[test]
fn lines_of_test_programs_are_read() {
    for (output, want) in [
        (
            "=== RUN   TestCount\n    pen_test.go:3: x\n--- PASS: TestCount (0.02s)\n    --- FAIL: TestCount/two (0.00s)\n--- SKIP: TestWolf (0.00s)\nok  \tfarm\t0.1s\n",
            vec!["TestCount passed", "TestCount/two failed", "TestWolf skipped"],
        ),
        (
            "{\"Action\":\"run\",\"Package\":\"farm\",\"Test\":\"TestA\"}\n{\"Action\":\"pass\",\"Package\":\"farm\",\"Test\":\"TestA\",\"Elapsed\":0.5}\n{\"Action\":\"pass\",\"Package\":\"farm\"}\n",
            vec!["farm::TestA passed"],
        ),
        (
            "running 3 tests\ntest pen::counts ... ok\ntest pen::shears ... FAILED\ntest pen::dips ... ignored, no dip\n\ntest result: FAILED. 1 passed\n",
            vec!["pen::counts passed", "pen::shears failed", "pen::dips skipped"],
        ),
        (
            "test_a (pen.Count.test_a) ... ok\ntest_b (pen.Count) ... FAIL\ntest_c (pen.Count.test_c) ... skipped 'no wolf'\nRan 3 tests in 0.1s\n",
            vec!["pen.Count::test_a passed", "pen.Count::test_b failed", "pen.Count::test_c skipped"],
        ),
        (
            "TAP version 13\n1..4\nok 1 - counts\nnot ok 2 - shears\nok 3 # SKIP no dip\nnot ok 4 - herds # TODO later\nokay 5\n",
            vec!["counts passed", "shears failed", "3 skipped", "herds skipped"],
        ),
        ("t.py::test_a PASSED [ 50%]\nok 1 - x\n", vec!["t.py::test_a passed"]),
        ("all is well\nok\n", vec![]),
    ] {
        assert_eq!(seen(&read_printed(output)), want, "{output}");
    }
}

fn run(checks: &str, junit: &[&str], output: &str) -> VerifierRun {
    VerifierRun {
        ending: VerifierEnding::Exited { code: 0 },
        reward_txt: None,
        reward_json: None,
        ctrf: Vec::new(),
        junit: junit.iter().map(|xml| ("junit.xml".to_owned(), xml.as_bytes().to_vec())).collect(),
        checks: Some(checks.as_bytes().to_vec()),
        output: output.to_owned(),
        pass_mark: 1.0,
        scoring: Scoring::PassRate,
    }
}

/// Verdict, share, and the codes of the flags.
#[test]
fn the_share_decides_with_the_builds_beside_it() {
    let tests = "tests 0 1 python -m pytest /tests\n";
    let half = "t::a PASSED\nt::b FAILED\n";
    let green = "t::a PASSED\nt::b PASSED\n";
    let missing = "E: Unable to locate package python3-pytest\n";
    for (run, want) in [
        (run(tests, &[], green), "pass Some(1.0) []"),
        (run(tests, &[], half), "fail Some(0.5) []"),
        (VerifierRun { pass_mark: 0.5, ..run(tests, &[], half) }, "pass Some(0.5) []"),
        (run(tests, &[PYTEST], half), "fail Some(0.5) []"),
        (run(&format!("build 0 0 make\n{tests}"), &[], green), "pass Some(1.0) []"),
        (run(&format!("build 3 3 make\n{tests}"), &[], green), "pass Some(1.0) []"),
        (run(&format!("build 0 2 make\n{tests}"), &[], green), "fail Some(1.0) [\"build_failed\"]"),
        (run(&format!("build 0 124 make\n{tests}"), &[], green), "fail Some(1.0) [\"build_failed\"]"),
        (run("tests 0 124 pytest\n", &[], half), "fail Some(0.0) [\"tests_timed_out\"]"),
        (run(tests, &[], "t::a SKIPPED\nt::b SKIPPED\n"), "fail Some(0.0) [\"all_skipped\"]"),
        (run(tests, &[UNCOLLECTED], ""), "fail Some(0.0) [\"not_collected\"]"),
        (run(tests, &[], "Segmentation fault\n"), "verifier_error None []"),
        (run(tests, &[], missing), "verifier_error None []"),
        (run("", &[], green), "verifier_error None []"),
        (run("build 0 0 make\n", &[], green), "verifier_error None []"),
        (run("nonsense\ntests x y\n", &[], green), "verifier_error None []"),
    ] {
        let judgement = judge(&run);
        let flags: Vec<&str> = judgement.flags.iter().map(|flag| flag.code.as_str()).collect();
        assert_eq!(format!("{} {:?} {flags:?}", judgement.verdict.word(), judgement.reward), want, "{run:?}");
    }
}
