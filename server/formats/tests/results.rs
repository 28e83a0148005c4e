//! Results files at their boundary: every form gives the same trials, and what is wrong is told with place and remedy.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use domain::analysis::{CaseResults, FileTrial, Outcome, TrialTable};
use domain::condition::Condition;
use domain::published::PublishedReport;
use formats::results::{ResultsFile, published, read};

fn table(text: &str) -> TrialTable {
    match read("f", text.as_bytes(), 1.0) {
        Ok(ResultsFile::Trials(table)) => table,
        other => panic!("{other:?}"),
    }
}

/// Every problem, one a line.
fn problems(bytes: &[u8]) -> String {
    let findings = read("f", bytes, 1.0).unwrap_err();
    assert!(findings.iter().all(|finding| finding.is_error() && finding.hint.is_some()), "{findings:?}");
    findings.iter().map(ToString::to_string).collect::<Vec<String>>().join("\n")
}

fn told(table: &TrialTable) -> Vec<&str> {
    table.findings.iter().map(|finding| finding.code.as_str()).collect()
}

/// The same trials without their places.
fn placeless(table: &TrialTable) -> Vec<FileTrial> {
    table.trials.iter().map(|trial| FileTrial { line: 0, column: 0, ..trial.clone() }).collect()
}

#[test]
fn all_forms_give_the_same_trials() {
    let lines = "{\"task\":\"t1\",\"condition\":\"no-skill\",\"repeat\":1,\"verdict\":\"fail\",\"reward\":0.5,\"input\":10,\"output\":2}\n\
                 {\"task\":\"t1\",\"condition\":\"with-skill\",\"repeat\":1,\"verdict\":\"pass\",\"reward\":1,\"input\":12,\"output\":3}\n";
    let list = format!("[{}]", lines.trim_end().replace('\n', ",\n  "));
    let csv =
        "task,condition,repeat,verdict,reward,input,output\nt1,no-skill,1,fail,0.5,10,2\nt1,with-skill,1,pass,1,12,3\n";
    let document = format!("{{\n \"schema\": \"x\",\n \"trials\": {list}}}");
    let expected = placeless(&table(lines));
    assert_eq!(expected.len(), 2);
    assert_eq!((expected[0].usage.total(), expected[1].usage.total()), (Some(12), Some(15)));
    let forms = [
        list.clone(),
        list.replace('\n', ""),
        csv.to_owned(),
        csv.replace(',', ";"),
        csv.replace(',', "\t"),
        csv.replace('\n', "\r\n"),
        format!("\u{feff}{csv}"),
        format!("# where it comes from\n{csv}"),
        csv.replace("no-skill", "\"no-skill\""),
        csv.replace("condition", "arm").replace("with-skill", "with").replace("no-skill", "without"),
        csv.replace("condition", "with_skill").replace("with-skill", "true").replace("no-skill", "false"),
        csv.replace("verdict", "passed").replace("fail", "False").replace("pass,", "True,").replace("Trueed", "passed"),
        document.clone(),
        lines
            .replace("\"input\":10,\"output\":2", "\"usage\":{\"input_tokens\":10,\"output_tokens\":2}")
            .replace("\"input\":12,\"output\":3", "\"usage\":{\"input_tokens\":12,\"output_tokens\":3}"),
    ];
    for form in forms {
        assert_eq!(placeless(&table(&form)), expected, "{form}");
    }
    let places = |text: &str| table(text).trials.iter().map(|trial| (trial.line, trial.column > 1)).collect::<Vec<_>>();
    assert_eq!(places(lines), [(1, false), (2, false)]);
    assert_eq!(places(&format!("# a\n{csv}")), [(3, false), (4, false)]);
    assert_eq!(places(&list.replace('\n', "")), [(1, true), (1, true)]);
    assert_eq!(places(&document), [(3, true), (4, true)]);
}

#[test]
fn words_of_others_are_understood() {
    for (row, outcome) in [
        ("{\"verdict\":\"PASSED\"}", Outcome::Pass),
        ("{\"status\":\"done\",\"reward\":1}", Outcome::Pass),
        ("{\"status\":\"completed\",\"reward\":0.4}", Outcome::Fail),
        ("{\"status\":\"done\",\"resolved\":false}", Outcome::Fail),
        ("{\"reward\":1.0}", Outcome::Pass),
        ("{\"reward\":true}", Outcome::Pass),
        ("{\"verdict\":\"timed out\"}", Outcome::AgentTimeout),
        ("{\"verdict\":\"agent-oom\",\"reward\":0}", Outcome::AgentOom),
        ("{\"status\":\"infra_error\",\"verdict\":null,\"reward\":null}", Outcome::InfraError),
        ("{\"status\":\"infra_error\",\"verdict\":\"fail\"}", Outcome::InfraError),
        ("{\"verdict\":\"verifier_error\"}", Outcome::VerifierError),
        ("{\"state\":\"queued\",\"verdict\":null}", Outcome::Unfinished),
        ("{\"state\":\"finished\",\"verdict\":\"cancelled\"}", Outcome::Cancelled),
    ] {
        let line = row.replace('{', "{\"task\":\"t\",\"arm\":\"with\",");
        assert_eq!(table(&line).trials[0].outcome, outcome, "{line}");
    }
    let arms = ["with-skill", "no_skill", "Without Skill", "baseline", "none", "treatment"];
    let found = arms.map(|arm| table(&format!("task,arm,passed\nt,{arm},1\n")).trials[0].condition);
    use Condition::{NoSkill, WithSkill};
    assert_eq!(found, [WithSkill, NoSkill, NoSkill, NoSkill, NoSkill, WithSkill]);
}

#[test]
fn tokens_say_what_they_add_up_and_unknown_stays_unknown() {
    let csv = |header: &str, row: &str| table(&format!("task,arm,passed,{header}\nt,with,1,{row}\n"));
    for (header, row, total, sum, notes) in [
        ("tokens", "100", Some(100), Some("as given in `tokens`"), vec![]),
        ("tokens", "", None, None, vec![]),
        ("input,output", "10,5", Some(15), Some("input + output"), vec!["token_classes"]),
        ("input,output", "10,", None, Some("input + output"), vec!["token_classes"]),
        (
            "input,cache_read,cache_write,output",
            "1,2,3,4",
            Some(10),
            Some("input + cache_read + cache_write + output"),
            vec![],
        ),
        (
            "input,cache_read,cache_write,output",
            "1,nan,3,4",
            None,
            Some("input + cache_read + cache_write + output"),
            vec![],
        ),
        ("tokens,input,output", "20,10,5", Some(20), Some("as given in `tokens`"), vec!["tokens_disagree"]),
        ("seconds", "3", None, None, vec!["unused_columns"]),
    ] {
        let found = csv(header, row);
        assert_eq!(found.trials[0].usage.total(), total, "{header} {row}");
        assert_eq!(found.tokens_are.as_deref(), sum, "{header} {row}");
        assert_eq!(told(&found), notes, "{header} {row}");
    }
}

#[test]
fn test_cases_come_by_name_or_by_number() {
    let row = |tests: &str| {
        table(&format!("{{\"task\":\"t\",\"arm\":\"with\",\"passed\":true,{tests}}}")).trials[0].cases.clone()
    };
    let named = row("\"tests\":[{\"name\":\"a\",\"status\":\"passed\"},{\"name\":\"b\",\"outcome\":\"failed\"}]");
    let Some(CaseResults::Named(cases)) = named else { panic!("{named:?}") };
    assert_eq!(cases.iter().map(|case| case.status.word()).collect::<Vec<_>>(), ["passed", "failed"]);
    assert!(matches!(row("\"tests\":{\"a\":true}"), Some(CaseResults::Named(cases)) if cases.len() == 1));
    assert_eq!(row("\"tests_passed\":7,\"tests_total\":10"), Some(CaseResults::Counted { passed: 7, total: 10 }));
}

#[test]
fn an_evaluations_own_json_says_skill_agent_and_model_once() {
    let document = "{\"schema\":\"skilldelta.evaluation.v1\",\"title\":\"a \\\"trials\\\": [ in a title\",\"skill\":{\"name\":\"s\",\"version\":null},\
        \"agent\":{\"name\":\"bash\",\"version\":\"2\"},\"model\":\"m\",\"model_ref\":{\"name\":\"m\",\"upstream\":\"u\",\"scripted\":true},\
        \"tasks\":[{\"pairs\":[{\"trials\":{\"without\":1,\"with\":2}}]}],\
        \"trials\":[{\"id\":1,\"task\":\"t\",\"condition\":\"no-skill\",\"repeat\":1,\"state\":\"finished\",\"attempts\":1,\"verdict\":\"pass\",\"reward\":1.0,\
        \"tests\":[],\"usage\":{\"input\":1,\"cache_read\":null,\"cache_write\":0,\"output\":2},\"activated\":null,\"phases_ms\":{},\"error\":null}]}";
    let found = table(document);
    let trial = &found.trials[0];
    assert_eq!(
        (trial.skill.as_deref(), trial.agent.as_deref(), trial.model.as_deref(), trial.scripted),
        (Some("s"), Some("bash 2"), Some("m"), true)
    );
    assert_eq!((trial.outcome, trial.usage.total(), trial.usage.output), (Outcome::Pass, None, Some(2)));
}

#[test]
fn what_is_wrong_is_told_with_line_column_reason_and_remedy() {
    let head = "task,condition,verdict,reward,tokens\n";
    for (text, want) in [
        ("", "f: error[empty_file]: the file is empty"),
        (" \n\n", "f: error[empty_file]"),
        ("task,verdict\nt,pass\n", "f:1: error[missing_column]: there is no column `condition`"),
        ("a,b\n1,2\n", "f:1: error[missing_column]: there is no column `verdict` and no `reward`"),
        ("task,arm,arm,passed\nt,with,with,1\n", "f:1: error[column_twice]: two columns are called \"arm\""),
        (
            &format!("{head}t,maybe,pass,1,5\n"),
            "f:2:3: error[wrong_value]: `condition` is \"maybe\", which is not an arm of a pair (write no-skill or with-skill)",
        ),
        (&format!("{head}\"a,b\",control,pass,1,5\n"), "f:2:7: error[wrong_value]: `condition` is \"control\""),
        (
            &format!("{head}t,with,error,,5\n"),
            "it does not say whose error it was (write agent_error where the agent failed",
        ),
        (
            &format!("{head}t,with,pass,57,5\n"),
            "f:2:13: error[wrong_value]: `reward` is \"57\", which is not between 0 and 1",
        ),
        (&format!("{head}t,with,pass,1,-5\n"), "f:2:15: error[wrong_value]: `tokens` is \"-5\", which is not a count"),
        (&format!("{head}t,with,pass,1,1.5\n"), "`tokens` is \"1.5\", which is not a whole number"),
        (&format!("{head}t,with,pass,1,inf\n"), "`tokens` is \"inf\", which is not a number"),
        (&format!("{head},with,pass,1,5\n"), "f:2:1: error[wrong_value]: `task` is nothing"),
        (&format!("{head}t,with,,,5\n"), "f:2:8: error[no_verdict]: the trial has neither a verdict nor a reward"),
        (&format!("{head}t,with,pass,1\n"), "f:2: error[csv_row]: this row has 4 values, the header 5"),
        (
            &format!("{head}\"t,with,pass,1,5\nt,with,pass,1,5\n"),
            "f:2: error[csv_row]: a quote is opened in this row and never closed",
        ),
        (
            "{\"task\":\"t\",\"arm\":\"with\",\"reward\":1}\n{\"task\":\"t\",\"arm\":5,\"reward\":1}\n",
            "f:2:13: error[wrong_value]: `condition` is 5",
        ),
        ("{\"task\":\"t\",\"arm\":\"with\",\"reward\":1}\n{\"task\" \"t\"}\n", "f:2:9: error[json_syntax]"),
        (
            "{\"task\":\"t\",\"arm\":\"with\",\"reward\":1}\n{\"task\":\"t\",\"ar",
            "f:2: error[json_syntax]: the last line is cut short",
        ),
        ("{\"task\":\"t\",\"arm\":\"with\",\"reward\":1}\n[1]\n", "f:2: error[not_an_object]"),
        (
            "[{\"task\":\"t\",\"arm\":\"with\",\"reward\":1}, {\"task\":\"t\",\"arm\":\"x\",\"reward\":1}]",
            "f:1:52: error[wrong_value]: `condition` is \"x\"",
        ),
        (
            "[{\"task\":\"t\",\"arm\":\"with\",\"reward\":1},\n 7]",
            "f:2:2: error[json_syntax]: this is no JSON: here should be an object",
        ),
        ("[{\"task\":\"t\",\"arm\":\"with\",\"reward\":1}", "error[json_syntax]: this is no JSON: the list has no end"),
        ("[{\"task\":\"t\",\"arm\":\"with\",\"reward\":1}] tail", "something stands after the end of the list"),
        ("[{\"task\":\"t\",\n\"arm\" 5}]", "f:2:7: error[json_syntax]"),
        ("{\"hello\": 1}", "`task` is nothing"),
    ] {
        let found = problems(text.as_bytes());
        assert!(found.contains(want), "{text:?}\n found {found}\n want  {want}");
    }
    assert!(problems(b"\xff\xfet\x00").contains("UTF-16"));
    assert!(problems(b"task,condition,verdict\nt,wi\xffth,pass\n").starts_with("f:2:5: error[not_utf8]"));
}

#[test]
fn many_problems_are_cut_short_and_contradictions_are_told() {
    let rows = "t,nobody,pass,0\n".repeat(5000);
    assert_eq!(problems(format!("task,arm,verdict,reward\n{rows}").as_bytes()).lines().count(), 20);
    let found = table("task,arm,verdict,reward\nt,with,pass,0.5\nt,without,fail,0\n");
    assert_eq!((told(&found), found.trials[0].outcome), (vec!["verdict_against_reward"], Outcome::Pass));
    match read("f", b"task,arm,reward\nt,with,0.5\n", 0.5).unwrap() {
        ResultsFile::Trials(table) => assert_eq!(table.trials[0].outcome, Outcome::Pass),
        other => panic!("{other:?}"),
    }
}

/// SplitMix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut bits = *state;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[test]
fn no_bytes_make_it_panic_and_every_refusal_has_a_reason() {
    let seeds: [&[u8]; 4] = [
        b"task,condition,repeat,verdict,tokens,cluster\n\"t,1\",no-skill,1,fail,10,r\nt2,with-skill,1,pass,12,r\n",
        b"{\"task\":\"t\",\"arm\":\"with\",\"reward\":1,\"usage\":{\"input\":1}}\n{\"task\":\"t\",\"arm\":\"without\",\"status\":\"done\",\"reward\":0}\n",
        b"[{\"task\":\"t\",\"arm\":\"with\",\"reward\":1,\"tests\":[{\"name\":\"a\",\"status\":\"passed\"}]},\n{\"task\":\"t\"}]",
        b"# s\nskill_id,pass_with_pct,pass_without_pct,delta_pp,tokens_with,tokens_without,rho_pct,ce_reported,n_batch1_pytest_cases,k_with,k_without\na,84.0,84.0,0.0,243000,232000,4.4,,25,21,21\n",
    ];
    let mut state = 7;
    let (mut read_well, mut refused) = (0, 0);
    for round in 0..20_000_usize {
        let mut bytes = seeds[round % seeds.len()].to_vec();
        for _ in 0..next(&mut state) % 4 {
            if bytes.is_empty() {
                break;
            }
            let at = (next(&mut state) % bytes.len() as u64) as usize;
            match next(&mut state) % 4 {
                0 => bytes[at] = (next(&mut state) % 256) as u8,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, b"\"{}[],\n\\:#\xe2-9"[(next(&mut state) % 13) as usize]),
                _ => bytes.truncate(at + 1),
            }
        }
        match read("f", &bytes, 1.0) {
            Ok(_) => read_well += 1,
            Err(findings) => {
                refused += 1;
                assert!(!findings.is_empty() && findings.iter().all(|finding| !finding.message.is_empty()));
            }
        }
    }
    assert!(read_well > 1000 && refused > 1000, "{read_well} {refused}");
}

#[test]
fn the_papers_table_is_reproduced_and_none_of_its_rows_can_be_resolved() {
    let table = published::swe_skills_bench().unwrap();
    let report = PublishedReport::of(&table);
    assert_eq!(report.rows.len(), 49);
    assert_eq!(
        (report.delta_reproduced, report.rho_reproduced, report.ce_printed, report.ce_reproduced),
        (49, 49, 7, 7)
    );
    assert_eq!(report.resolvable, 0);
    let overall = &report.overall;
    assert_eq!((overall.cases, overall.gains, overall.losses), (565, 7, 3));
    let near =
        |found: f64, expected: f64, within: f64| assert!((found - expected).abs() <= within, "{found} {expected}");
    near(overall.pass_rate_with, 0.9099, 5e-5);
    near(overall.pass_rate_without, 0.8981, 5e-5);
    near(overall.delta, 0.0119, 5e-5);
    near(overall.p_sign, 0.34375, 1e-9);
    near(overall.rho.unwrap(), 0.088, 5e-4);
    near(overall.rho_mean.unwrap(), 0.395, 5e-4);
    near(overall.rho_median.unwrap(), 0.188, 5e-4);
    near(overall.rho_geometric.unwrap(), 0.160, 5e-4);
    near(overall.correlation.unwrap(), -0.09, 5e-3);
    let risk = report.rows.iter().find(|row| row.skill == "risk-metrics-calculation").unwrap();
    assert_eq!(
        (risk.delta_cases, risk.rescued.least, risk.rescued.most, risk.broken.least, risk.broken.most),
        (3, 3, 3, 0, 0)
    );
    near(risk.best_p, 0.25, 1e-12);
    let tdd = report.rows.iter().find(|row| row.skill == "tdd-workflow").unwrap();
    assert_eq!((tdd.rescued.least, tdd.rescued.most, tdd.broken.least, tdd.broken.most), (1, 4, 0, 3));
    let disagree: Vec<&str> =
        report.claims.iter().filter(|claim| !claim.agrees).map(|claim| claim.text.split(' ').next().unwrap()).collect();
    assert_eq!(disagree, ["approximately", "larger", "average"], "{:#?}", report.claims);
}
