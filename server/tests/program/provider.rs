//! A provider that fails, a server that dies while one is asked, and what the phases reach.

use serde_json::{Value, json};

use crate::common::{Home, Running, Site, Task};

fn model(home: &Home, turns: &Value) -> String {
    home.write("model.json", json!({"schema": "skilldelta-model-1", "rules": [{"turns": turns}]}).to_string());
    home.path("model.json").display().to_string()
}

fn bash(command: &str, tokens: u64) -> Value {
    let usage = json!({"input": tokens, "cache_read": 0, "cache_write": 0, "output": 0});
    json!({"text": "I work.", "tools": [{"name": "bash", "input": {"command": command}}], "usage": usage})
}

/// What such a call has spent nobody can know: what is told of the attempt is the least that it can be.
#[test]
fn a_call_under_way_when_the_server_is_killed_is_known_to_be_uncounted() {
    let home = Home::new("uncounted");
    home.task(&Task::new("one"));
    let hangs = model(&home, &json!([bash("true", 1234), {"text": "Half of an answer", "fault": "hang"}]));
    let site = home.serve(&["--scripted-model", &hangs]);
    let id = site.start_with(&[("agent", "bash"), ("model", "scripted/scripted")]);
    let second_call = r#""calls":2,"uncounted":1"#;
    let events = format!("/api/evaluations/{id}/events");
    site.events(&events, Some("0"), |text| text.matches(second_call).count() >= 2);
    site.running.stop("KILL");

    let last = json!({"text": "Done.", "usage": {"input": 1, "cache_read": 0, "cache_write": 0, "output": 0}});
    let answers = json!([bash("echo done > answer.txt", 10), last]);
    let site = home.serve(&["--scripted-model", &model(&home, &answers)]);
    site.idle_after(id);
    let pair = site.get(&format!("/evaluations/{id}/pairs/1/1")).body;
    let told = "at least 1234 tokens in 2 model calls, of which 1 not counted to the end";
    assert_eq!(pair.matches(told).count(), 2, "{pair}");
    let export = site.json(&format!("/evaluations/{id}/export/json"));
    for trial in export["trials"].as_array().unwrap() {
        let [killed, last] = trial["attempts"].as_array().unwrap().as_slice() else { panic!("{trial}") };
        assert_eq!((&killed["result"], &killed["told"]["uncounted"]), (&Value::Null, &1.into()), "{killed}");
        assert_eq!((&last["told"], &last["result"]["model_calls"]), (&Value::Null, &2.into()), "{last}");
    }
    let page = site.get(&format!("/evaluations/{id}")).body;
    assert!(page.contains("All attempts of all trials together: at least 2490 tokens in 8 model calls"), "{page}");
    site.stop();
    let spent = home.report(id).spent.unwrap();
    assert_eq!((spent.tokens, spent.calls, spent.uncounted), (2 * 1234 + 2 * 11, 8, 2));
    home.finish();
}

/// A trial's own cap is for its agent to keep. What other trials spent is no result of its agent.
#[test]
fn a_trial_that_the_evaluations_budget_stops_has_no_score_and_one_over_its_own_fails() {
    let home = Home::new("budget");
    for name in ["a", "b"] {
        home.task(&Task::new(name));
    }
    let last = json!({"text": "Done.", "usage": {"input": 1, "cache_read": 0, "cache_write": 0, "output": 0}});
    let answers = model(&home, &json!([bash("echo done > answer.txt", 10), last]));
    let agent = ["--agent", "bash", "--upstream", "scripted", "--model", "scripted", "--scripted-model", &answers];
    let eval = |caps: &[&str]| home.eval(&[&agent[..], caps].concat());
    let verdicts = |report: &Value| {
        let trials = report["trials"].as_array().unwrap().iter();
        let word = |trial: &Value| trial["verdict"].as_str().unwrap().to_owned();
        let mut counts = std::collections::BTreeMap::<String, u32>::new();
        trials.map(word).for_each(|word| *counts.entry(word).or_default() += 1);
        counts.into_iter().collect::<Vec<_>>()
    };
    // Four trials side by side with two calls each: whichever comes last has one too few.
    let (ended, report) = eval(&["--evaluation-call-cap", "7"]);
    assert_eq!(verdicts(&report), [("cancelled".to_owned(), 1), ("pass".to_owned(), 3)], "{ended}");
    let totals = &report["totals"];
    assert_eq!((&totals["pairs_complete"], &totals["pairs_not_run"]), (&1.into(), &1.into()), "{totals}");
    assert_eq!(report["spent"]["calls"], 7, "{}", report["spent"]);
    let (ended, report) = eval(&["--evaluation-call-cap", "0"]);
    assert_eq!((ended.code, verdicts(&report)), (1, vec![("cancelled".to_owned(), 4)]), "{ended}");
    for trial in home.kept(2) {
        let told = &trial.last().findings;
        assert!(told.iter().any(|told| told.message.contains("0 model calls for the whole evaluation")), "{told:?}");
    }

    let (ended, report) = eval(&["--call-cap", "1", "--seed", "2"]);
    assert_eq!(verdicts(&report), [("fail".to_owned(), 4)], "{ended}");
    assert!(report["trials"].as_array().unwrap().iter().all(|trial| trial["model_calls"] == 1), "{report}");
    home.finish();
}

/// Of a key that is refused the user hears at once, with what to do: no attempt is made twice, and no container started to hear it again.
#[test]
fn a_key_that_is_refused_ends_the_evaluation_and_a_good_one_starts_it_afresh() {
    let home = Home::new("denied");
    for name in ["a", "b", "c", "d", "e"] {
        home.task(&Task::new(name));
    }
    let eval = |answers: &Value| {
        let (skill, tasks, answers) = (home.skill(), home.tasks(), model(&home, answers));
        let json = home.path("result.json").display().to_string();
        let given = ["eval", "--skill", &skill, "--tasks", &tasks, "--concurrency", "1", "--json", &json];
        let agent = ["--agent", "bash", "--upstream", "scripted", "--model", "scripted", "--scripted-model", &answers];
        let ended = home.run(&[&given[..], &agent].concat());
        let report: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
        (ended, report)
    };
    let error = json!({"status": 401, "type": "authentication_error", "message": "invalid x-api-key"});
    let (ended, report) = eval(&json!([{ "error": error }]));
    let told = "the model's provider denies access (401): invalid x-api-key; set the upstream's key anew";
    assert_eq!(ended.code, 1, "{ended}");
    let words = format!("What stood in the way: {told}. Mend that, and run it again.");
    for words in ["No result. Nothing was measured", &words] {
        assert!(ended.out.contains(words), "no {words:?} in {ended}");
    }
    assert_eq!((&report["stopped"]["why"], &report["stopped"]["told"]), (&"provider-denied".into(), &told.into()));
    let trials = report["trials"].as_array().unwrap();
    let run: Vec<&Value> = trials.iter().filter(|trial| trial["attempts"] != 0).collect();
    // One of each arm; another may have begun in the moment in which the second ended.
    assert!(trials.len() == 10 && (2..=3).contains(&run.len()), "{report}");
    for trial in run {
        assert_eq!((&trial["verdict"], &trial["attempts"]), (&"infra_error".into(), &1.into()), "{trial}");
        assert_eq!(trial["error"], told, "{trial}");
    }
    assert!(trials.iter().filter(|trial| trial["attempts"] == 0).all(|trial| trial["verdict"] == "cancelled"));

    let last = json!({"text": "Done.", "usage": {"input": 1, "cache_read": 0, "cache_write": 0, "output": 0}});
    let (ended, report) = eval(&json!([bash("echo done > answer.txt", 10), last]));
    assert_eq!((&report["evaluation_id"], &report["totals"]["pairs_complete"]), (&2.into(), &5.into()), "{ended}");
    let site = home.serve(&[]);
    let page = site.get("/evaluations/1").body;
    assert!(page.contains("No result") && page.contains("(401): invalid x-api-key"), "{page}");
    assert!(page.contains("not run: the evaluation ended early.") && page.contains("Run again or change it"), "{page}");
    site.stop();
    home.finish();
}

/// Who sees the refusal go by and stops it, mends the key, and gives the command again, means all of it.
#[test]
fn an_interrupted_evaluation_that_was_denied_its_model_is_not_gone_on_with() {
    let home = Home::new("denied-interrupted");
    home.task(&Task::new("one"));
    let answers = |rules: &Value| {
        home.write("model.json", json!({"schema": "skilldelta-model-1", "rules": rules}).to_string());
        let (skill, tasks) = (home.skill(), home.tasks());
        let answers = home.path("model.json").display().to_string();
        let given = ["eval", "--skill", &skill, "--tasks", &tasks, "--concurrency", "2", "--agent", "bash"];
        let model = ["--upstream", "scripted", "--model", "scripted", "--scripted-model", &answers];
        Running::start(home.command(&[&given[..], &model].concat()))
    };
    let error = json!({"status": 401, "type": "authentication_error", "message": "invalid x-api-key"});
    let hangs = json!({"when": {"skill_listed": "Says how many words an answer may have."}, "turns": [{"text": "Half", "fault": "hang"}]});
    let mut eval = answers(&json!([hangs, {"turns": [{ "error": error }]}]));
    eval.line("a refusal", |line| line.contains("infra_error"));
    eval.stop("TERM").told(1, &["interrupted"]);
    let last = json!({"text": "Done.", "usage": {"input": 1, "cache_read": 0, "cache_write": 0, "output": 0}});
    let ended = answers(&json!([{"turns": [bash("echo done > answer.txt", 10), last]}])).end();
    ended.told(0, &["evaluation 1, of the same plan, was denied its model and is given up; evaluation 2 is started"]);
    assert!(home.kept(1).iter().all(|trial| trial.row.state.word() == "finished"), "nothing of it is left to run");
    assert!(home.kept(2).iter().all(|trial| trial.verdicts() == ["pass"]), "{:?}", home.kept(2));
    home.finish();
}

#[test]
fn how_long_an_outage_is_borne_is_a_setting() {
    let home = Home::new("outage");
    home.task(&Task::new("one"));
    let down = model(&home, &json!([{"error": {"status": 529, "type": "overloaded_error", "message": "planted"}}]));
    let agent = ["--agent", "bash", "--upstream", "scripted", "--model", "scripted", "--scripted-model", &down];
    home.settings("outage_wait_s = 0\n");
    let (ended, report) = home.eval(&agent);
    assert_eq!(ended.code, 1, "{ended}");
    for trial in report["trials"].as_array().unwrap() {
        assert_eq!(trial["verdict"], "infra_error", "{trial}");
        assert!(trial["error"].as_str().unwrap().contains("529"), "{trial}");
    }
    for trial in home.kept(1) {
        let calls: Value = serde_json::from_slice(&home.blob(trial.last().calls)).unwrap();
        let calls: Vec<_> = calls.as_array().unwrap().iter().map(|call| call["retries"].clone()).collect();
        assert_eq!(calls, [0], "asked once, and no more");
    }
    let (skill, tasks) = (home.skill(), home.tasks());
    for (key, wanted) in [("outage_wait_s", "from 0 to 3600"), ("retry_wait_s", "from 0 to 600")] {
        home.write("data/skilldelta.toml", format!("{key} = 86400\n"));
        let ended = home.run(&[&["eval", "--skill", &skill, "--tasks", &tasks][..], &agent].concat());
        ended.told(2, &[key, wanted, "86400"]);
    }
    home.finish();
}

#[test]
fn a_network_that_is_chosen_in_the_form_is_told_with_the_plan_and_the_result() {
    let home = Home::new("chosen");
    home.task(&Task::new("one"));
    let site = home.serve(&[]);
    let chosen = [("agent", "nop"), ("agent_network", "hosts"), ("agent_hosts", "a.example, b.example:8443")];
    let id = site.start_with(&[&chosen[..], &[("verifier_network", "none")]].concat());
    let fields = [("skill", "1"), ("task", "1"), ("agent", "nop"), ("agent_network", "public")];
    let card = form(&site, &fields);
    let warning = "network is public in both arms, in place of what 1 of 1 task says (as one: none)";
    assert!(card.contains(warning) && card.contains("--agent-network public"), "{card}");
    let fields =
        [("skill", "1"), ("task", "1"), ("agent", "nop"), ("agent_network", "hosts"), ("agent_hosts", "http://a")];
    let refused = form(&site, &fields);
    assert!(refused.contains("is no host") && refused.contains("id=\"agent_hosts-problem\""), "{refused}");
    site.idle_after(id);
    let page = site.get(&format!("/evaluations/{id}")).body;
    assert!(page.contains("agent allow:a.example,b.example:8443, verifier none"), "{page}");
    assert!(page.contains("agent%5Fnetwork=hosts"), "to be run again alike: {page}");
    let told = "Network in place of the tasks&#39; own: agent allow:a.example,b.example:8443, verifier none";
    for (format, told) in [("html", told), ("markdown", &told.replace("&#39;", "'"))] {
        let export = site.get(&format!("/evaluations/{id}/export/{format}")).body;
        assert!(export.contains(told), "{format}: {export}");
    }
    site.stop();
    let report = serde_json::to_value(home.report(id)).unwrap();
    let hosts = json!({"allowlist": {"hosts": ["a.example", "b.example:8443"]}});
    assert_eq!(report["network"], json!({"agent": hosts, "verifier": "none"}));
    home.finish();
}

/// The form as it comes back from being checked.
fn form(site: &Site<'_>, fields: &[(&str, &str)]) -> String {
    let checked = site.post("/evaluations/check", fields);
    assert_eq!(checked.status, 303, "{}", checked.body);
    site.get(checked.header("location")).body
}
