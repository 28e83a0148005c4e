//! A plan as it stands in the form: texts as they were typed, addressable as a query string, and their way to a [`PlanRequest`].

use domain::listing::{BaselineRequest, Choices, PlanRequest};
use domain::network::NetworkChoice;
use domain::plan::SkillDelivery;
use domain::spending::SpendingCaps;
use leptos_router::params::ParamsMap;
use serde::{Deserialize, Serialize};

/// The form of a new evaluation. Fields have the names of the form's inputs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Draft {
    /// What people call it.
    pub title: String,
    /// Row of a skill version, or [`TASKS_OWN`].
    pub skill: String,
    /// Rows of tasks.
    pub task: Vec<String>,
    /// Adapter name.
    pub agent: String,
    /// Upstream and model with a slash between; empty for agents that call none.
    pub model: String,
    /// Repeats.
    pub k: String,
    /// Trials at the same time.
    pub concurrency: String,
    /// Empty = drawn.
    pub seed: String,
    /// Multiplies the tasks' limits; empty = 1.
    pub timeout: String,
    /// Most tokens per trial; empty = no cap.
    pub cap: String,
    /// `1` = images are built again.
    pub rebuild: String,
    /// `all` or `none` = choose tasks so, once.
    pub select: String,
}

/// Value of [`Draft::skill`] for the skills bundled with each task.
pub const TASKS_OWN: &str = "task";

/// What is wrong with one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Name of the field; empty where no single one is meant.
    pub field: String,
    /// What is wrong and what to do.
    pub message: String,
}

impl Problem {
    /// A problem of `field`.
    pub fn new(field: &str, message: impl Into<String>) -> Self {
        Self { field: field.to_owned(), message: message.into() }
    }
}

impl Draft {
    /// From a query string or a posted form; unknown names are ignored, a missing one is empty.
    pub fn from_params(params: &ParamsMap) -> Self {
        let one = |name: &str| params.get(name).map(|text| text.trim().to_owned()).unwrap_or_default();
        Self {
            title: one("title"),
            skill: one("skill"),
            task: params.get_all("task").unwrap_or_default(),
            agent: one("agent"),
            model: one("model"),
            k: one("k"),
            concurrency: one("concurrency"),
            seed: one("seed"),
            timeout: one("timeout"),
            cap: one("cap"),
            rebuild: one("rebuild"),
            select: one("select"),
        }
    }

    /// The query string with its `?`; empty fields are left out.
    pub fn to_query(&self) -> String {
        let mut params = ParamsMap::new();
        for (name, value) in self.single() {
            if !value.is_empty() {
                params.insert(name, value.to_owned());
            }
        }
        for task in &self.task {
            params.insert("task", task.clone());
        }
        params.to_query_string()
    }

    fn single(&self) -> [(&'static str, &str); 11] {
        [
            ("title", &self.title),
            ("skill", &self.skill),
            ("agent", &self.agent),
            ("model", &self.model),
            ("k", &self.k),
            ("concurrency", &self.concurrency),
            ("seed", &self.seed),
            ("timeout", &self.timeout),
            ("cap", &self.cap),
            ("rebuild", &self.rebuild),
            ("select", &self.select),
        ]
    }

    /// Reads the texts. The model of an agent that calls none is left out.
    ///
    /// # Errors
    /// A [`Problem`] for each field that cannot be read.
    pub fn request(&self, choices: &Choices) -> Result<PlanRequest, Vec<Problem>> {
        let mut problems = Vec::new();
        let skills = self.read_skill(&mut problems);
        let tasks = self.read_tasks(&mut problems);
        let agent = choices.agents.iter().find(|choice| choice.agent.name == self.agent);
        let chosen = self.model.split_once('/').filter(|_| agent.is_none_or(|choice| choice.needs_model));
        let (upstream, model) = chosen.unwrap_or(("", ""));
        if agent.is_none() {
            problems.push(Problem::new("agent", "choose an agent"));
        }
        let request = PlanRequest {
            title: self.title.clone(),
            skills,
            baseline: BaselineRequest::NoSkill,
            distractors: Vec::new(),
            tasks,
            task_set: None,
            agent: self.agent.clone(),
            model: model.to_owned(),
            upstream: upstream.to_owned(),
            repeats: whole(&mut problems, "k", &self.k, 1, 1..=100),
            concurrency: whole(&mut problems, "concurrency", &self.concurrency, 2, 1..=64),
            seed: optional(&mut problems, "seed", &self.seed),
            timeout_multiplier: self.read_multiplier(&mut problems),
            token_cap: optional(&mut problems, "cap", &self.cap),
            rebuild_images: !self.rebuild.is_empty(),
            spending: SpendingCaps::default(),
            skill_delivery: SkillDelivery::Discovered,
            network: NetworkChoice::default(),
        };
        if problems.is_empty() { Ok(request) } else { Err(problems) }
    }

    fn read_skill(&self, problems: &mut Vec<Problem>) -> Vec<domain::id::SkillVersionId> {
        if self.skill == TASKS_OWN {
            return Vec::new();
        }
        let version = self.skill.parse().ok();
        if version.is_none() {
            problems.push(Problem::new("skill", "choose the skill to evaluate"));
        }
        version.into_iter().collect()
    }

    fn read_tasks(&self, problems: &mut Vec<Problem>) -> Vec<domain::id::TaskId> {
        let tasks: Vec<_> = self.task.iter().filter_map(|task| task.parse().ok()).collect();
        if tasks.is_empty() {
            problems.push(Problem::new("task", "choose at least one task"));
        } else if tasks.len() != self.task.len() {
            problems.push(Problem::new("task", "one of the tasks is not known here; choose again"));
        }
        tasks
    }

    fn read_multiplier(&self, problems: &mut Vec<Problem>) -> f64 {
        if self.timeout.is_empty() {
            return 1.0;
        }
        match self.timeout.replace(',', ".").parse::<f64>() {
            Ok(value) if (0.1..=20.0).contains(&value) => value,
            _ => {
                problems.push(Problem::new("timeout", "a number from 0.1 to 20"));
                1.0
            }
        }
    }
}

/// A whole number within `range`; `default` where nothing was typed.
fn whole(
    problems: &mut Vec<Problem>,
    field: &str,
    text: &str,
    default: u32,
    range: std::ops::RangeInclusive<u32>,
) -> u32 {
    if text.is_empty() {
        return default;
    }
    match text.parse::<u32>() {
        Ok(value) if range.contains(&value) => value,
        _ => {
            problems.push(Problem::new(field, format!("a whole number from {} to {}", range.start(), range.end())));
            default
        }
    }
}

/// A whole number, or nothing.
fn optional(problems: &mut Vec<Problem>, field: &str, text: &str) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let value = text.parse().ok();
    if value.is_none() {
        problems.push(Problem::new(field, "a whole number, or nothing"));
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::listing::AgentChoice;
    use domain::plan::{AgentRef, PromptIntake};

    fn draft() -> Draft {
        Draft {
            title: "A & B = ?".to_owned(),
            skill: "7".to_owned(),
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
        let query = draft().to_query();
        let mut params = ParamsMap::new();
        for pair in query.trim_start_matches('?').split('&') {
            let (name, value) = pair.split_once('=').unwrap();
            params.insert(name.to_owned(), leptos_router::location::Url::unescape(value));
        }
        assert_eq!(Draft::from_params(&params), draft());
    }

    #[test]
    fn a_complete_draft_is_a_request() {
        let request = draft().request(&choices()).unwrap();
        assert_eq!((request.upstream.as_str(), request.model.as_str(), request.repeats), ("scripted", "demo", 3));
        assert_eq!((request.tasks.len(), request.skills.len(), request.seed), (2, 1, None));
        let own = Draft { skill: TASKS_OWN.to_owned(), seed: "42".to_owned(), ..draft() }.request(&choices()).unwrap();
        assert_eq!((own.skills.len(), own.seed), (0, Some(42)));
    }

    #[test]
    fn an_agent_that_calls_no_model_gets_none() {
        let request = Draft { agent: "nop".to_owned(), ..draft() }.request(&choices()).unwrap();
        assert_eq!((request.model.as_str(), request.upstream.as_str()), ("", ""));
    }

    #[test]
    fn each_field_that_cannot_be_read_is_named() {
        let cases: [(Draft, &[&str]); 6] = [
            (Draft::default(), &["skill", "task", "agent"]),
            (Draft { k: "0".to_owned(), ..draft() }, &["k"]),
            (Draft { concurrency: "many".to_owned(), ..draft() }, &["concurrency"]),
            (Draft { seed: "-1".to_owned(), cap: "1e9".to_owned(), ..draft() }, &["seed", "cap"]),
            (Draft { timeout: "NaN".to_owned(), ..draft() }, &["timeout"]),
            (Draft { task: vec!["1".to_owned(), "'".to_owned()], ..draft() }, &["task"]),
        ];
        for (draft, want) in cases {
            assert_eq!(fields(&draft), want, "{draft:?}");
        }
    }
}
