//! The agents in real containers: what they do there, how their ends are told, and what their traces prove.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use domain::id::{AttemptId, EvaluationId, TrialId};
use domain::path::RelPath;
use domain::time::Timestamp;
use domain::trace::{Source, TraceStep};
use domain::tree::{LoadedFile, LoadedTree};
use engine::agent::activation::{InstalledSkill, activation};
use engine::agent::bash::{BashAgent, BashConfig};
use engine::agent::command::CommandAgent;
use engine::agent::{Agent, AgentContext, AgentEnd, AgentRun, OracleFiles, builtin};
use engine::sandbox::docker::DockerEngine;
use engine::sandbox::{Collect, Engine, ExecSpec, Labels, Redactor, Sandbox, SandboxSpec, Upload};
use gateway::upstream::scripted::ScriptedUpstream;
use gateway::{Caps, Gateway, RetryPolicy, TrialGateway, TrialTicket};
use serde_json::json;

const IMAGE: &str = "skilldelta-base:bookworm";
const SKILL: &str = "---\nname: count-sheep\ndescription: Counts sheep, awake.\n---\nThe answer is 42.\n";
const FOLDER: &str = "/root/.agents/skills/count-sheep";

struct Place {
    engine: DockerEngine,
    sandbox: Box<dyn Sandbox>,
}

/// A container; `None`, with the reason printed, where there is no engine.
async fn place() -> Option<Place> {
    let engine = match DockerEngine::connect(None).await {
        Ok(engine) => engine,
        Err(error) => {
            println!("skipped: {error}");
            return None;
        }
    };
    let labels = Labels {
        instance: "test-agents".to_owned(),
        evaluation: EvaluationId(1),
        trial: TrialId(1),
        attempt: AttemptId(1),
    };
    let spec = SandboxSpec {
        workdir: Some("/app".to_owned()),
        lifetime: Duration::from_secs(120),
        ..SandboxSpec::new(IMAGE, labels)
    };
    let sandbox = engine.create(&spec).await.unwrap().sandbox;
    Some(Place { engine, sandbox })
}

impl Place {
    async fn run(
        &self,
        agent: &dyn Agent,
        limit: u64,
        gateway: Option<&TrialGateway>,
        oracle: Option<OracleFiles<'_>>,
    ) -> Ran {
        let mut log = Collect::default();
        let mut steps = Vec::new();
        let run = agent
            .run(AgentContext {
                sandbox: self.sandbox.as_ref(),
                instruction: "Count the sheep.",
                workdir: "/app",
                home: "/root",
                user: None,
                env: &[("TASK_ENV".to_owned(), "set".to_owned())],
                gateway,
                access: None,
                oracle,
                limit: Duration::from_secs(limit),
                log: &mut log,
                steps: &mut |step| steps.push(step),
                redactor: &Redactor::new(["sk-secret-value"]),
                clock: &|| Timestamp(1),
            })
            .await;
        assert_eq!(run.trace.steps, steps, "every step is told once");
        Ran { run, log: log.out_text() }
    }

    async fn sh(&self, script: &str) -> String {
        let mut output = Collect::default();
        self.sandbox.exec(&ExecSpec::shell(script, Duration::from_secs(20)), &mut output).await.unwrap();
        output.out_text()
    }

    async fn place_skill(&self) {
        self.sandbox.upload(Upload::new().file(&format!("{FOLDER}/SKILL.md"), SKILL.as_bytes(), false)).await.unwrap();
    }

    async fn end(self) {
        self.sandbox.remove().await.unwrap();
        self.engine.settle().await;
    }
}

struct Ran {
    run: AgentRun,
    log: String,
}

impl Ran {
    fn agent_steps(&self) -> Vec<&TraceStep> {
        self.run.trace.steps.iter().filter(|step| step.source == Source::Agent).collect()
    }
}

fn bash(command: &str) -> serde_json::Value {
    json!({"name": "bash", "input": {"command": command}})
}

fn model(rules: serde_json::Value, caps: Caps) -> TrialGateway {
    let script = json!({"schema": "skilldelta-model-1", "rules": rules}).to_string();
    let upstream = ScriptedUpstream::parse("scripted", "test", script.as_bytes()).unwrap();
    let ticket = TrialTicket {
        caps,
        retry: RetryPolicy::default().never(),
        ..TrialTicket::new(AttemptId(1), "scripted-model", "scripted")
    };
    Gateway::new(vec![Arc::new(upstream)]).open(ticket).unwrap()
}

fn installed() -> InstalledSkill {
    InstalledSkill {
        name: "count-sheep".to_owned(),
        description: "Counts sheep, awake.".to_owned(),
        folder: FOLDER.to_owned(),
        files: vec![RelPath::new("SKILL.md").unwrap()],
    }
}

#[tokio::test]
async fn the_skill_decides_and_its_use_is_proven_in_one_arm_alone() {
    let rules = json!([
        {"when": {"skill_listed": "Counts sheep, awake.", "task_contains": "Count the sheep."}, "turns": [
            {"text": "There is a skill.", "tools": [bash(&format!("cat {FOLDER}/SKILL.md"))]},
            {"tools": [bash("pwd; echo $TASK_ENV; echo 42 > answer; sleep 0"), bash("cat nothing-here")]},
            {"text": "Counted."}]},
        {"when": {"skill_listed": false}, "turns": [{"tools": [bash("echo 41 > answer")]}, {"text": "Guessed."}]}
    ]);
    for with_skill in [true, false] {
        let Some(place) = place().await else { return };
        if with_skill {
            place.place_skill().await;
        }
        let gateway = model(rules.clone(), Caps::default());
        let ran = place.run(&BashAgent::default(), 30, Some(&gateway), None).await;
        assert_eq!(
            (&ran.run.end, ran.run.note.as_deref()),
            (&AgentEnd::Completed, Some(if with_skill { "Counted." } else { "Guessed." }))
        );
        assert_eq!(place.sh("cat /app/answer").await.trim(), if with_skill { "42" } else { "41" });

        let steps = ran.agent_steps();
        let sum = steps.iter().fold(domain::usage::TokenUsage::ZERO, |sum, step| sum.plus(&step.usage.unwrap()));
        assert_eq!((sum, sum.total().is_some()), (gateway.usage(), true), "the trace and the wire agree");
        let used = activation(&ran.run.trace, &[installed()]);
        assert_eq!((used.listed, used.opened), (Some(with_skill), Some(with_skill)));
        if with_skill {
            assert_eq!(used.files_read, [format!("{FOLDER}/SKILL.md")]);
            let texts: Vec<_> = steps[1].calls.iter().map(|call| call.result.clone().unwrap()).collect();
            assert_eq!((texts[0].text.as_str(), texts[0].is_error), ("/app\nset", false));
            assert!(texts[1].text.ends_with("[exit 1]") && texts[1].is_error, "{}", texts[1].text);
            assert!(ran.log.contains("$ cat nothing-here\n") && ran.log.contains("The answer is 42."));
        }
        place.end().await;
    }
}

#[tokio::test]
async fn a_command_that_hangs_floods_or_leaks_is_told_to_the_model_and_the_run_goes_on() {
    let Some(place) = place().await else { return };
    let gateway = model(
        json!([{"turns": [
            {"tools": [
                bash("sleep 0.1 & trap '' TERM; while :; do sleep 0.1; done"),
                bash("yes flood | head -c 3000000; printf 'caf\\303\\251 \\377\\033[31mred\\033[0m END'"),
                bash("echo sk-secret-value"),
                {"name": "browser", "input": {}},
                {"name": "bash", "input": {"command": 5}}]},
            {"text": "Done."}]}]),
        Caps::default(),
    );
    let agent = BashAgent::new(BashConfig { command_limit: Duration::from_secs(1), ..BashConfig::default() });
    let ran = place.run(&agent, 60, Some(&gateway), None).await;
    assert_eq!(ran.run.end, AgentEnd::Completed);
    let results: Vec<_> = ran.agent_steps()[0].calls.iter().map(|call| call.result.clone().unwrap().text).collect();
    assert!(results[0].contains("timed out after 1 s"), "{}", results[0]);
    assert!(
        results[1].starts_with("flood\n") && results[1].ends_with("café \u{fffd}red END") && results[1].len() < 20_000
    );
    assert!(results[1].contains("bytes left out]"));
    assert_eq!(results[2], "[secret]");
    assert_eq!(ran.run.secrets, 2, "once in the command, once in its output");
    assert_eq!(results[3], "there is no tool 'browser'; use 'bash'");
    assert!(results[4].starts_with("'bash' needs an input"));
    place.end().await;
}

#[tokio::test]
async fn every_end_has_its_own_name() {
    let Some(place) = place().await else { return };
    let end = |run: Ran| run.run.end;
    let loops = json!([{"turns": [{"tools": [bash("true")]}]}]);

    let gateway = model(loops.clone(), Caps { calls: Some(2), ..Caps::default() });
    let ended = end(place.run(&BashAgent::default(), 30, Some(&gateway), None).await);
    assert_eq!(ended, AgentEnd::BudgetExceeded { cap: "2 model calls".to_owned() });

    let agent = BashAgent::new(BashConfig { max_turns: 2, ..BashConfig::default() });
    let ended = end(place.run(&agent, 30, Some(&model(loops, Caps::default())), None).await);
    assert_eq!(ended, AgentEnd::BudgetExceeded { cap: "2 turns".to_owned() });

    for (turn, want) in [
        (json!({"text": "No.", "stop_reason": "refusal"}), "Refused"),
        (json!({"error": {"status": 529, "type": "overloaded_error", "message": "busy"}}), "ProviderTrouble"),
        (json!({"error": {"status": 401, "type": "authentication_error", "message": "no key"}}), "ProviderDenied"),
        (
            json!({"error": {"status": 400, "type": "invalid_request_error", "message": "prompt is too long"}}),
            "Crashed",
        ),
    ] {
        let gateway = model(json!([{"turns": [turn]}]), Caps::default());
        let ended = format!("{:?}", end(place.run(&BashAgent::default(), 30, Some(&gateway), None).await));
        assert!(ended.starts_with(want), "{ended}");
    }

    let gateway = model(json!([{"turns": [{"tools": [bash("sleep 60"), bash("never")]}]}]), Caps::default());
    let ran = place.run(&BashAgent::default(), 5, Some(&gateway), None).await;
    let results: Vec<_> = ran.agent_steps()[0].calls.iter().map(|call| call.result.is_some()).collect();
    assert_eq!((end(ran), results), (AgentEnd::TimedOut { limit: Duration::from_secs(5) }, vec![true, false]));
    place.end().await;
}

#[tokio::test]
async fn an_own_command_gets_the_task_and_its_exit_counts() {
    let Some(place) = place().await else { return };
    let usage = |agent: &dyn Agent| agent.uncounted_usage().total();
    assert_eq!((usage(&CommandAgent::new("true")), usage(&BashAgent::default())), (None, Some(0)));
    let command = r#"test "$INSTRUCTION" = "$(cat "$INSTRUCTION_FILE")" && echo "$INSTRUCTION $TASK_ENV" > seen"#;
    let ran = place.run(&CommandAgent::new(command), 20, None, None).await;
    assert_eq!((ran.run.end, place.sh("cat /app/seen").await.trim()), (AgentEnd::Completed, "Count the sheep. set"));
    for (command, limit, want) in [
        ("exit 3", 20, AgentEnd::Crashed { message: "exit 3".to_owned() }),
        ("kill -9 $$", 20, AgentEnd::Crashed { message: "killed by signal 9".to_owned() }),
        (
            "(trap '' TERM INT HUP; while :; do date +%s >> /tmp/beat; sleep 0.1; done) & while :; do :; done",
            2,
            AgentEnd::TimedOut { limit: Duration::from_secs(2) },
        ),
    ] {
        let ran = place.run(&CommandAgent::new(command), limit, None, None).await;
        assert_eq!(ran.run.end, want, "{command}");
        let used = activation(&ran.run.trace, &[installed()]);
        assert_eq!((used.listed, used.opened), (None, None), "nobody saw inside");
    }
    assert_eq!(
        place.sh("grep -l 'be[a]t' /proc/[0-9]*/cmdline 2>/dev/null | wc -l").await.trim().lines().last(),
        Some("0"),
        "the heart has stopped"
    );
    place.end().await;
}

#[tokio::test]
async fn the_oracle_finds_itself_under_both_names_and_nop_does_nothing() {
    let Some(place) = place().await else { return };
    let solve = "set -e\ntest -f /oracle/solve.sh -a -f /solution/solve.sh\ncat \"$(dirname \"$0\")/part.txt\" > answer\necho \"$TASK_ENV $ORACLE_ENV $0\" >> answer\nexit $CODE\n";
    let file = |text: &str| LoadedFile { executable: false, bytes: text.as_bytes().to_vec() };
    let files: LoadedTree = [("solve.sh", solve), ("part.txt", "part\n")]
        .map(|(path, text)| (RelPath::new(path).unwrap(), file(text)))
        .into_iter()
        .collect();
    for (folder, code, note) in [("oracle", "0", None), ("solution", "4", Some("solve.sh: exit 4"))] {
        let folder = RelPath::new(folder).unwrap();
        let env: BTreeMap<_, _> =
            [("ORACLE_ENV", "too"), ("CODE", code)].map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let oracle = OracleFiles { folder: &folder, files: &files, env: &env };
        let ran = place.run(builtin("oracle").unwrap().as_ref(), 20, None, Some(oracle)).await;
        assert_eq!((ran.run.end, ran.run.note.as_deref()), (AgentEnd::Completed, note));
        assert_eq!(place.sh("cat /app/answer; rm /app/answer").await, format!("part\nset too /{folder}/solve.sh\n"));
    }
    let ran = place.run(builtin("nop").unwrap().as_ref(), 20, None, None).await;
    assert_eq!((ran.run.end, ran.run.trace.turns(), place.sh("ls -A /app").await.trim()), (AgentEnd::Completed, 0, ""));
    place.end().await;
}
