//! A plan as it stands in the form: texts as they were typed, addressable as a query string. What they mean is read in `reading`.

mod reading;

pub(crate) use self::reading::network_of_hosts;

use domain::comparison::Baseline;
use domain::plan::{EvaluationPlan, SkillDelivery, SkillRef, Treatment};
use domain::task::NetworkPolicy;
use leptos_router::params::ParamsMap;
use serde::{Deserialize, Serialize};

/// The form of a new evaluation. Fields have the names of the form's inputs; empty = not said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Draft {
    /// What people call it.
    pub title: String,
    /// Rows of skill versions, or [`TASKS_OWN`] alone.
    pub skill: Vec<String>,
    /// `no-skill`, `previous-version`, `control`, [`ITSELF`] or [`NOTHING`]; empty = `no-skill`.
    pub baseline: String,
    /// Rows of skill versions for the baselines that have some.
    pub baseline_skill: Vec<String>,
    /// Rows of skill versions that lie in both arms.
    pub distractor: Vec<String>,
    /// Rows of tasks.
    pub task: Vec<String>,
    /// Name of a task set, where the tasks are of one.
    pub task_set: String,
    /// Adapter name.
    pub agent: String,
    /// Upstream and model with a slash between; empty for agents that call none.
    pub model: String,
    /// [`IN_PROMPT`] = the skills stand in the prompt; empty = the agent finds them.
    pub delivery: String,
    /// Repeats.
    pub k: String,
    /// Trials at the same time.
    pub concurrency: String,
    /// Empty = drawn.
    pub seed: String,
    /// Multiplies the tasks' limits; empty = 1.
    pub timeout: String,
    /// Seconds for agents in place of the tasks' own; empty = the tasks'.
    pub agent_time: String,
    /// Seconds for verifiers in place of the tasks' own; empty = the tasks'.
    pub verifier_time: String,
    /// Most tokens per trial; empty = no cap, as with all that follow.
    pub cap: String,
    /// Most money per trial.
    pub money: String,
    /// Most model calls per trial.
    pub calls: String,
    /// Most seconds per trial.
    pub seconds: String,
    /// Most tokens in all.
    pub all_tokens: String,
    /// Most money in all.
    pub all_money: String,
    /// Most model calls in all.
    pub all_calls: String,
    /// Seconds after which no trial is begun.
    pub all_seconds: String,
    /// What the agent may reach: `none`, `model-only`, `public` or [`HOSTS`]; empty = as each task says.
    pub agent_network: String,
    /// The hosts that [`HOSTS`] means.
    pub agent_hosts: String,
    /// What the verifier may reach, alike.
    pub verifier_network: String,
    /// The hosts that [`HOSTS`] means.
    pub verifier_hosts: String,
    /// `futility`, `evidence`: when it may end early.
    pub stop: Vec<String>,
    /// `1` = images are built again.
    pub rebuild: String,
    /// `all` or `none` = choose tasks so, once.
    pub select: String,
}

/// Value of [`Draft::skill`] for the skills bundled with each task.
pub const TASKS_OWN: &str = "task";
/// Value of [`Draft::baseline`]: the treatment in both arms.
pub const ITSELF: &str = "itself";
/// Value of [`Draft::baseline`]: no skill in either arm.
pub const NOTHING: &str = "nothing";
/// Value of [`Draft::delivery`].
pub const IN_PROMPT: &str = "in-prompt";
/// Value of [`Draft::agent_network`] and [`Draft::verifier_network`]: the hosts beside it.
pub const HOSTS: &str = "hosts";
/// Values of [`Draft::stop`].
pub const STOPS: [&str; 2] = ["futility", "evidence"];

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
    /// Names of all fields, in the order of the form.
    pub const FIELDS: [&str; 31] = [
        "skill",
        "baseline",
        "baseline_skill",
        "distractor",
        "agent",
        "model",
        "delivery",
        "k",
        "title",
        "task",
        "task_set",
        "stop",
        "agent_network",
        "agent_hosts",
        "verifier_network",
        "verifier_hosts",
        "concurrency",
        "seed",
        "timeout",
        "agent_time",
        "verifier_time",
        "seconds",
        "all_seconds",
        "cap",
        "all_tokens",
        "money",
        "all_money",
        "calls",
        "all_calls",
        "rebuild",
        "select",
    ];

    /// From a query string or a posted form; unknown names are ignored, a missing one is empty.
    pub fn from_params(params: &ParamsMap) -> Self {
        let mut draft = Self::default();
        for (name, field) in draft.single_mut() {
            *field = params.get(name).map(|text| text.trim().to_owned()).unwrap_or_default();
        }
        for (name, field) in draft.several_mut() {
            *field = params.get_all(name).unwrap_or_default();
        }
        draft
    }

    /// Fields and values as a form posts them; empty ones are left out.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        let mut draft = self.clone();
        let single = draft.single_mut().map(|(name, text)| (name, std::mem::take(text)));
        let mut pairs: Vec<(&'static str, String)> = single.into_iter().filter(|(_, text)| !text.is_empty()).collect();
        for (name, texts) in draft.several_mut() {
            pairs.extend(texts.drain(..).map(|text| (name, text)));
        }
        pairs
    }

    /// The query string with its `?`.
    pub fn to_query(&self) -> String {
        let mut params = ParamsMap::new();
        for (name, value) in self.pairs() {
            params.insert(name, value);
        }
        params.to_query_string()
    }

    /// What would plan the same again; a seed of its own is drawn.
    #[must_use]
    pub fn of_plan(plan: &EvaluationPlan) -> Self {
        let rows = |skills: &[SkillRef]| skills.iter().map(|skill| skill.id.to_string()).collect::<Vec<_>>();
        let (settings, spending) = (&plan.settings, &plan.settings.spending);
        let whole = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        let money = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        let (baseline, baseline_skill) = match (&plan.comparison.baseline, &plan.treatment) {
            (Baseline::NoSkill, _) => (String::new(), Vec::new()),
            (Baseline::PreviousVersion { versions }, _) => (plan.comparison.kind().word().to_owned(), rows(versions)),
            (Baseline::Control { versions }, _) => (plan.comparison.kind().word().to_owned(), rows(versions)),
            (Baseline::Same, Treatment::Nothing) => (NOTHING.to_owned(), Vec::new()),
            (Baseline::Same, _) => (ITSELF.to_owned(), Vec::new()),
        };
        let stops = [settings.stop.futility, settings.stop.evidence];
        let (agent_network, agent_hosts) = network(settings.network.agent.as_ref());
        let (verifier_network, verifier_hosts) = network(settings.network.verifier.as_ref());
        Self {
            title: plan.title.clone(),
            skill: match &plan.treatment {
                Treatment::Skills { versions } => rows(versions),
                Treatment::TasksOwn => vec![TASKS_OWN.to_owned()],
                Treatment::Nothing => Vec::new(),
            },
            baseline,
            baseline_skill,
            distractor: rows(&plan.comparison.distractors),
            task: plan.tasks.iter().map(|task| task.id.to_string()).collect(),
            task_set: plan.task_set.clone().unwrap_or_default(),
            agent: plan.agent.name.clone(),
            model: plan.model.as_ref().map(|model| format!("{}/{}", model.upstream, model.name)).unwrap_or_default(),
            delivery: match plan.agent.skills {
                SkillDelivery::Discovered => String::new(),
                SkillDelivery::InPrompt => IN_PROMPT.to_owned(),
            },
            k: plan.repeats.to_string(),
            concurrency: settings.concurrency.to_string(),
            seed: String::new(),
            timeout: if settings.timeout_multiplier == 1.0 {
                String::new()
            } else {
                settings.timeout_multiplier.to_string()
            },
            agent_time: whole(settings.agent_seconds),
            verifier_time: whole(settings.verifier_seconds),
            cap: whole(settings.token_cap),
            money: money(spending.trial_money),
            calls: whole(spending.trial_calls),
            seconds: whole(spending.trial_seconds),
            all_tokens: whole(spending.evaluation_tokens),
            all_money: money(spending.evaluation_money),
            all_calls: whole(spending.evaluation_calls),
            all_seconds: whole(spending.evaluation_seconds),
            stop: STOPS.into_iter().zip(stops).filter(|(_, chosen)| *chosen).map(|(stop, _)| stop.to_owned()).collect(),
            agent_network,
            agent_hosts,
            verifier_network,
            verifier_hosts,
            rebuild: if settings.rebuild_images { "1".to_owned() } else { String::new() },
            select: String::new(),
        }
    }

    /// The A/A evaluation of the same tasks, agent and model: no skill in either arm.
    #[must_use]
    pub fn alike(self) -> Self {
        Self {
            title: String::new(),
            skill: Vec::new(),
            baseline: NOTHING.to_owned(),
            baseline_skill: Vec::new(),
            stop: Vec::new(),
            ..self
        }
    }

    fn single_mut(&mut self) -> [(&'static str, &mut String); 26] {
        [
            ("title", &mut self.title),
            ("baseline", &mut self.baseline),
            ("task_set", &mut self.task_set),
            ("agent", &mut self.agent),
            ("model", &mut self.model),
            ("delivery", &mut self.delivery),
            ("k", &mut self.k),
            ("concurrency", &mut self.concurrency),
            ("seed", &mut self.seed),
            ("timeout", &mut self.timeout),
            ("agent_time", &mut self.agent_time),
            ("verifier_time", &mut self.verifier_time),
            ("cap", &mut self.cap),
            ("money", &mut self.money),
            ("calls", &mut self.calls),
            ("seconds", &mut self.seconds),
            ("all_tokens", &mut self.all_tokens),
            ("all_money", &mut self.all_money),
            ("all_calls", &mut self.all_calls),
            ("all_seconds", &mut self.all_seconds),
            ("agent_network", &mut self.agent_network),
            ("agent_hosts", &mut self.agent_hosts),
            ("verifier_network", &mut self.verifier_network),
            ("verifier_hosts", &mut self.verifier_hosts),
            ("rebuild", &mut self.rebuild),
            ("select", &mut self.select),
        ]
    }

    fn several_mut(&mut self) -> [(&'static str, &mut Vec<String>); 5] {
        [
            ("skill", &mut self.skill),
            ("baseline_skill", &mut self.baseline_skill),
            ("distractor", &mut self.distractor),
            ("task", &mut self.task),
            ("stop", &mut self.stop),
        ]
    }
}

/// A network as the form says it: the choice, and the hosts beside it.
fn network(policy: Option<&NetworkPolicy>) -> (String, String) {
    match policy {
        None => (String::new(), String::new()),
        Some(NetworkPolicy::Allowlist { hosts }) => (HOSTS.to_owned(), hosts.join(", ")),
        Some(other) => (other.to_string(), String::new()),
    }
}
