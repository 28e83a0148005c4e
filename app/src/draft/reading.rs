//! From the texts of a draft to what is asked for, with what is wrong beside the field it is wrong in.

use std::ops::RangeInclusive;
use std::str::FromStr;

use domain::id::{SkillVersionId, TaskId};
use domain::listing::{BaselineRequest, Choices, PlanRequest};
use domain::network::{NetworkChoice, NetworkWordError};
use domain::plan::{SkillDelivery, TIMEOUT_MULTIPLIERS};
use domain::spending::SpendingCaps;
use domain::stop::StopRule;
use domain::task::NetworkPolicy;

use super::{Draft, HOSTS, IN_PROMPT, ITSELF, NOTHING, Problem, TASKS_OWN};

/// What is wrong so far.
#[derive(Default)]
struct Reader(Vec<Problem>);

impl Draft {
    /// Reads the texts. The model of an agent that calls none is left out.
    ///
    /// # Errors
    /// A [`Problem`] for each field that cannot be read.
    pub fn request(&self, choices: &Choices) -> Result<PlanRequest, Vec<Problem>> {
        let mut reader = Reader::default();
        let skills = self.read_skills(&mut reader);
        let baseline = self.read_baseline(&mut reader);
        let distractors = reader.rows("distractor", &self.distractor);
        let agent = choices.agents.iter().find(|choice| choice.agent.name == self.agent);
        let chosen = self.model.split_once('/').filter(|_| agent.is_none_or(|choice| choice.needs_model));
        let (upstream, model) = chosen.unwrap_or(("", ""));
        if agent.is_none() {
            reader.wrong("agent", "choose an agent");
        }
        let tasks: Vec<TaskId> = reader.rows("task", &self.task);
        if self.task.is_empty() {
            reader.wrong("task", "choose at least one task");
        }
        let request = PlanRequest {
            title: self.title.clone(),
            skills,
            baseline,
            distractors,
            tasks,
            task_set: (!self.task_set.is_empty()).then(|| self.task_set.clone()),
            agent: self.agent.clone(),
            model: model.to_owned(),
            upstream: upstream.to_owned(),
            repeats: reader.within("k", &self.k, 1, 1..=100),
            concurrency: reader.within("concurrency", &self.concurrency, 2, 1..=64),
            seed: reader.whole("seed", &self.seed),
            timeout_multiplier: reader.amount("timeout", &self.timeout, TIMEOUT_MULTIPLIERS).unwrap_or(1.0),
            agent_seconds: reader.whole("agent_time", &self.agent_time),
            verifier_seconds: reader.whole("verifier_time", &self.verifier_time),
            token_cap: reader.whole("cap", &self.cap),
            rebuild_images: !self.rebuild.is_empty(),
            spending: SpendingCaps {
                trial_calls: reader.whole("calls", &self.calls),
                trial_money: reader.amount("money", &self.money, 0.0..=1e9),
                trial_seconds: reader.whole("seconds", &self.seconds),
                evaluation_tokens: reader.whole("all_tokens", &self.all_tokens),
                evaluation_money: reader.amount("all_money", &self.all_money, 0.0..=1e9),
                evaluation_calls: reader.whole("all_calls", &self.all_calls),
                evaluation_seconds: reader.whole("all_seconds", &self.all_seconds),
            },
            skill_delivery: if self.delivery == IN_PROMPT {
                SkillDelivery::InPrompt
            } else {
                SkillDelivery::Discovered
            },
            network: NetworkChoice {
                agent: reader.network(["agent_network", "agent_hosts"], [&self.agent_network, &self.agent_hosts]),
                verifier: reader
                    .network(["verifier_network", "verifier_hosts"], [&self.verifier_network, &self.verifier_hosts]),
            },
            stop: StopRule {
                futility: self.stop.iter().any(|stop| stop == "futility"),
                evidence: self.stop.iter().any(|stop| stop == "evidence"),
            },
        };
        if reader.0.is_empty() { Ok(request) } else { Err(reader.0) }
    }

    fn read_skills(&self, reader: &mut Reader) -> Vec<SkillVersionId> {
        if self.baseline == NOTHING {
            return Vec::new();
        }
        let own = self.skill.iter().any(|skill| skill == TASKS_OWN);
        if own && self.skill.len() > 1 {
            reader.wrong("skill", "each task's own skills stand alone: leave out the others, or them");
        }
        if self.skill.is_empty() {
            reader.wrong("skill", "choose the skill to evaluate");
        }
        if own { Vec::new() } else { reader.rows("skill", &self.skill) }
    }

    fn read_baseline(&self, reader: &mut Reader) -> BaselineRequest {
        let mut versions = || {
            if self.baseline_skill.is_empty() {
                reader.wrong("baseline_skill", "choose the skill of the baseline arm");
            }
            reader.rows("baseline_skill", &self.baseline_skill)
        };
        match self.baseline.as_str() {
            "" | "no-skill" => BaselineRequest::NoSkill,
            "previous-version" => BaselineRequest::PreviousVersion { versions: versions() },
            "control" => BaselineRequest::Control { versions: versions() },
            ITSELF => BaselineRequest::Itself,
            NOTHING => BaselineRequest::Nothing,
            _ => {
                reader.wrong("baseline", "choose what it is compared with");
                BaselineRequest::NoSkill
            }
        }
    }
}

impl Reader {
    fn wrong(&mut self, field: &str, message: impl Into<String>) {
        self.0.push(Problem::new(field, message));
    }

    /// Rows that were chosen from a list.
    fn rows<T: FromStr>(&mut self, field: &str, texts: &[String]) -> Vec<T> {
        let rows: Vec<T> = texts.iter().filter_map(|text| text.parse().ok()).collect();
        if rows.len() != texts.len() {
            self.wrong(field, "one of these is not known here; choose again");
        }
        rows
    }

    /// A whole number within `range`; `default` where nothing was typed.
    fn within(&mut self, field: &str, text: &str, default: u32, range: RangeInclusive<u32>) -> u32 {
        if text.is_empty() {
            return default;
        }
        match text.parse::<u32>() {
            Ok(value) if range.contains(&value) => value,
            _ => {
                self.wrong(field, format!("a whole number from {} to {}", range.start(), range.end()));
                default
            }
        }
    }

    /// A whole number, or nothing.
    fn whole(&mut self, field: &str, text: &str) -> Option<u64> {
        let value = text.parse().ok();
        if value.is_none() && !text.is_empty() {
            self.wrong(field, "a whole number, or nothing");
        }
        value
    }

    /// A choice of network with its hosts, or nothing.
    fn network(&mut self, [field, hosts_field]: [&str; 2], [choice, hosts]: [&str; 2]) -> Option<NetworkPolicy> {
        let of_hosts = network_of_hosts(hosts);
        let (wrong_field, policy) = match choice {
            HOSTS if of_hosts.is_none() => {
                self.wrong(hosts_field, "name at least one host");
                return None;
            }
            HOSTS => (hosts_field, of_hosts?),
            _ if of_hosts.is_some() => {
                self.wrong(
                    hosts_field,
                    "these hosts hold only where named hosts are chosen; choose that, or leave them out",
                );
                return None;
            }
            "" => return None,
            other => (field, other.to_owned()),
        };
        policy.parse().map_err(|error: NetworkWordError| self.wrong(wrong_field, error.to_string())).ok()
    }

    /// A number within `range`, or nothing; a decimal comma will do.
    fn amount(&mut self, field: &str, text: &str, range: RangeInclusive<f64>) -> Option<f64> {
        let value = text.replace(',', ".").parse::<f64>().ok().filter(|value| range.contains(value));
        if value.is_none() && !text.is_empty() {
            self.wrong(field, format!("a number from {} to {}, or nothing", range.start(), range.end()));
        }
        value
    }
}

/// The network of these hosts as it is written elsewhere; `None` where none is named.
pub(crate) fn network_of_hosts(hosts: &str) -> Option<String> {
    let hosts: Vec<&str> = hosts.split([',', ' ', '\n']).map(str::trim).filter(|host| !host.is_empty()).collect();
    (!hosts.is_empty()).then(|| format!("allow:{}", hosts.join(",")))
}

#[cfg(test)]
mod tests {
    use domain::comparison::{Baseline, Comparison};
    use domain::hash::ContentHash;
    use domain::listing::AgentChoice;
    use domain::plan::{
        AgentRef, EvaluationPlan, ModelRef, PlanKind, PromptIntake, RunSettings, SkillRef, TaskRef, Treatment,
    };
    use leptos_router::params::ParamsMap;

    use super::*;

    fn draft() -> Draft {
        Draft {
            title: "A & B = ?".to_owned(),
            skill: vec!["7".to_owned()],
            task: vec!["1".to_owned(), "2".to_owned()],
            agent: "bash".to_owned(),
            model: "scripted/demo".to_owned(),
            k: "3".to_owned(),
            ..Draft::default()
        }
    }

    fn choices() -> Choices {
        let agent = |name: &str, needs_model| AgentChoice {
            agent: AgentRef::new(name, "1"),
            about: String::new(),
            needs_model,
            calls_from_container: false,
            skill_obstacle: None,
            prompt: PromptIntake::Any,
        };
        Choices { agents: vec![agent("bash", true), agent("nop", false)], ..Choices::default() }
    }

    fn fields(draft: &Draft) -> Vec<String> {
        draft.request(&choices()).err().unwrap_or_default().into_iter().map(|problem| problem.field).collect()
    }

    #[test]
    fn a_draft_survives_its_query_string() {
        let full = Draft {
            skill: vec!["7".to_owned(), "9".to_owned()],
            baseline: "control".to_owned(),
            baseline_skill: vec!["8".to_owned()],
            distractor: vec!["3".to_owned()],
            all_money: "2.5".to_owned(),
            agent_network: HOSTS.to_owned(),
            agent_hosts: "a.org, *.b.org:8443".to_owned(),
            stop: vec!["futility".to_owned(), "evidence".to_owned()],
            ..draft()
        };
        for draft in [draft(), full] {
            let mut params = ParamsMap::new();
            for pair in draft.to_query().trim_start_matches('?').split('&') {
                let (name, value) = pair.split_once('=').unwrap();
                let unescape = leptos_router::location::Url::unescape;
                params.insert(unescape(name), unescape(value));
            }
            assert_eq!(Draft::from_params(&params), draft);
            assert!(draft.pairs().iter().all(|(name, _)| Draft::FIELDS.contains(name)));
        }
    }

    #[test]
    fn a_complete_draft_is_a_request() {
        let request = draft().request(&choices()).unwrap();
        assert_eq!((request.upstream.as_str(), request.model.as_str(), request.repeats), ("scripted", "demo", 3));
        assert_eq!((request.tasks.len(), request.skills.len(), request.seed), (2, 1, None));
        assert_eq!((request.baseline, request.stop), (BaselineRequest::NoSkill, StopRule::default()));
        let own = Draft { skill: vec![TASKS_OWN.to_owned()], seed: "42".to_owned(), ..draft() };
        let own = own.request(&choices()).unwrap();
        assert_eq!((own.skills.len(), own.seed), (0, Some(42)));
        let capped = Draft { all_money: "2,5".to_owned(), seconds: "600".to_owned(), ..draft() };
        let capped = capped.request(&choices()).unwrap().spending;
        assert_eq!((capped.evaluation_money, capped.trial_seconds, capped.trial_money), (Some(2.5), Some(600), None));
    }

    #[test]
    fn an_agent_that_calls_no_model_gets_none() {
        let request = Draft { agent: "nop".to_owned(), ..draft() }.request(&choices()).unwrap();
        assert_eq!((request.model.as_str(), request.upstream.as_str()), ("", ""));
    }

    #[test]
    fn each_field_that_cannot_be_read_is_named() {
        let cases: [(Draft, &[&str]); 16] = [
            (Draft::default(), &["skill", "agent", "task"]),
            (Draft { k: "0".to_owned(), ..draft() }, &["k"]),
            (Draft { concurrency: "many".to_owned(), ..draft() }, &["concurrency"]),
            (Draft { seed: "-1".to_owned(), cap: "1e9".to_owned(), ..draft() }, &["seed", "cap"]),
            (Draft { timeout: "NaN".to_owned(), ..draft() }, &["timeout"]),
            (Draft { money: "-1".to_owned(), all_calls: "x".to_owned(), ..draft() }, &["money", "all_calls"]),
            (Draft { task: vec!["1".to_owned(), "'".to_owned()], ..draft() }, &["task"]),
            (Draft { skill: vec![TASKS_OWN.to_owned(), "7".to_owned()], ..draft() }, &["skill"]),
            (Draft { baseline: "control".to_owned(), ..draft() }, &["baseline_skill"]),
            (Draft { baseline: "<script>".to_owned(), ..draft() }, &["baseline"]),
            (Draft { skill: vec![], baseline: NOTHING.to_owned(), ..draft() }, &[]),
            (Draft { agent_network: "some".to_owned(), ..draft() }, &["agent_network"]),
            (Draft { agent_network: HOSTS.to_owned(), ..draft() }, &["agent_hosts"]),
            (
                Draft { agent_network: HOSTS.to_owned(), agent_hosts: "a.org, http://b".to_owned(), ..draft() },
                &["agent_hosts"],
            ),
            (Draft { verifier_hosts: "a.org".to_owned(), ..draft() }, &["verifier_hosts"]),
            (Draft { verifier_network: "none".to_owned(), ..draft() }, &[]),
        ];
        for (draft, want) in cases {
            assert_eq!(fields(&draft), want, "{draft:?}");
        }
    }

    #[test]
    fn a_plan_can_be_planned_again() {
        let skill = |id: i64| SkillRef { id: SkillVersionId(id), name: "s".into(), version: ContentHash::of(&[]) };
        let plan = EvaluationPlan {
            title: "T".into(),
            treatment: Treatment::Skills { versions: vec![skill(7), skill(8)] },
            comparison: Comparison {
                baseline: Baseline::PreviousVersion { versions: vec![skill(6)] },
                distractors: vec![skill(5)],
            },
            tasks: vec![TaskRef { id: TaskId(1), name: "t".into(), version: ContentHash::of(&[]) }],
            task_set: None,
            agent: AgentRef { skills: SkillDelivery::InPrompt, ..AgentRef::new("bash", "1") },
            model: Some(ModelRef { name: "a/b".into(), upstream: "u".into(), scripted: false }),
            repeats: 2,
            seed: 9,
            settings: RunSettings {
                timeout_multiplier: 2.5,
                spending: SpendingCaps { evaluation_money: Some(0.5), ..SpendingCaps::default() },
                stop: StopRule { futility: true, evidence: false },
                network: NetworkChoice {
                    agent: "allow:a.org,*.b.org:8443".parse().ok(),
                    verifier: Some(NetworkPolicy::None),
                },
                ..RunSettings::default()
            },
            kind: PlanKind::Evaluation,
        };
        let request = Draft::of_plan(&plan).request(&choices()).unwrap();
        assert_eq!(request.skills, [SkillVersionId(7), SkillVersionId(8)]);
        assert_eq!(request.baseline, BaselineRequest::PreviousVersion { versions: vec![SkillVersionId(6)] });
        assert_eq!((request.distractors, request.model.as_str()), (vec![SkillVersionId(5)], "a/b"));
        assert_eq!((request.repeats, request.seed, request.timeout_multiplier), (2, None, 2.5));
        assert_eq!((request.spending, request.stop), (plan.settings.spending, plan.settings.stop));
        assert_eq!((request.skill_delivery, &request.network), (SkillDelivery::InPrompt, &plan.settings.network));
        let alike = Draft::of_plan(&plan).alike().request(&choices()).unwrap();
        assert_eq!(
            (alike.baseline, alike.skills.len(), alike.stop),
            (BaselineRequest::Nothing, 0, StopRule::default())
        );
        assert_eq!((alike.spending, alike.distractors.len()), (plan.settings.spending, 1));
    }
}
