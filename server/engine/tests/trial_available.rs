//! A skill that lies in its place and is put before no model was not on trial (case H17).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod trial_support;

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use domain::condition::{Condition, Pair};
use domain::order::TrialOrder;
use domain::path::RelPath;
use domain::plan::ModelRef;
use domain::skill::{SkillManifest, SkillPackage};
use domain::trace::Trace;
use domain::tree::{LoadedFile, LoadedTree};
use domain::verdict::{InfraClass, Verdict};
use engine::agent::{Agent, AgentContext, AgentEnd, AgentRun};
use engine::blobs::Blobs;
use formats::trace::SkillsSeen;
use futures::StreamExt;
use gateway::Gateway;
use gateway::upstream::scripted::ScriptedUpstream;
use serde_json::{Value, json};
use trial_support::{Bench, Case, Ended};

const DESCRIPTION: &str = "Counts sheep that stand in a pen.";
const BODY: &str = "# Counting\nThe sheep of the picture are 42, by whatever light.\n";

/// Looks for skills where others do, and tells its model what each test lets it tell.
struct Says(Value);

#[async_trait]
impl Agent for Says {
    fn name(&self) -> &str {
        "says"
    }

    fn version(&self) -> String {
        "1".to_owned()
    }

    fn skill_folders(&self, home: &str, _: &str) -> Vec<String> {
        vec![format!("{home}/.agents/skills")]
    }

    fn needs_model(&self) -> bool {
        true
    }

    async fn run(&self, context: AgentContext<'_>) -> AgentRun {
        let request = http::Request::post("/v1/messages").body(Bytes::from(self.0.to_string())).unwrap();
        let answer = context.gateway.unwrap().handle(request).await;
        assert_eq!(answer.status(), 200);
        answer.into_body().for_each(async |_| ()).await;
        AgentRun {
            end: AgentEnd::Completed,
            trace: Trace::default(),
            note: None,
            peak_memory: None,
            secrets: 0,
            skills: SkillsSeen::default(),
            findings: Vec::new(),
        }
    }
}

async fn trial(name: &str, condition: Condition, request: Value) -> Ended {
    let model = json!({"schema": "skilldelta-model-1", "rules": [{"turns": [{"text": "Done."}]}]});
    let upstream = ScriptedUpstream::parse("scripted", "test", model.to_string().as_bytes()).unwrap();
    let bench = Bench::of_agent(name, Arc::new(Says(request)), Gateway::new(vec![Arc::new(upstream)])).await;
    let text = format!("---\nname: count-sheep\ndescription: {DESCRIPTION}\n---\n{BODY}");
    let file = LoadedFile { executable: false, bytes: text.into_bytes() };
    bench.blobs.put(file.bytes.clone()).await.unwrap();
    let files: LoadedTree = [(RelPath::new("SKILL.md").unwrap(), file)].into_iter().collect();
    let manifest = SkillManifest { name: "count-sheep".to_owned(), description: DESCRIPTION.to_owned(), license: None };
    let skill = SkillPackage { manifest, tree: files.summary() };
    let order = TrialOrder {
        condition,
        skills: Pair { without: Vec::new(), with: vec![skill] },
        model: Some(ModelRef { name: "m".to_owned(), upstream: "scripted".to_owned(), scripted: true }),
        ..bench.order(&Case::default()).await
    };
    let ended = bench.run(order).await;
    bench.finish().await;
    ended
}

#[tokio::test]
async fn a_skill_that_no_request_tells_of_makes_no_score() {
    let asked = |system: &str, text: &str| {
        let messages = json!([{"role": "user", "content": text}]);
        json!({"model": "m", "max_tokens": 9, "stream": true, "system": system, "messages": messages})
    };
    let listing = format!("Skills: count-sheep: {DESCRIPTION}");
    for (name, condition, request, is_scored, listed, opened) in [
        ("unseen", Condition::WithSkill, asked("You help.", "Count."), false, Some(false), Some(false)),
        ("listed-not-used", Condition::WithSkill, asked(&listing, "Count."), true, Some(true), Some(false)),
        ("seen", Condition::WithSkill, asked(&listing, BODY), true, Some(true), Some(true)),
        ("without", Condition::NoSkill, asked("You help.", "Count."), true, Some(false), Some(false)),
    ] {
        let Ended { result, .. } = trial(name, condition, request).await;
        assert_eq!(result.verdict.scored().is_some(), is_scored, "{name}: {:?}", result.verdict);
        assert_eq!((result.activation.listed, result.activation.opened), (listed, opened), "{name}");
        let audit = result.audit.unwrap();
        assert_eq!(audit.looked_in, ["/root/.agents/skills"], "{name}: where it was installed is told");
        if !is_scored {
            let Verdict::InfraError { class: InfraClass::Audit, message } = result.verdict else { panic!("{name}") };
            assert!(
                message.contains("skill was not available") && message.contains("/root/.agents/skills"),
                "{message}"
            );
        }
    }
}
