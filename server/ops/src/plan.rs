//! Planning: what is asked for, checked, counted, and started. What lies in the arms is checked in `arms`.

use std::collections::BTreeSet;

use domain::comparison::{Compared, Comparison};
use domain::finding::Finding;
use domain::id::{EvaluationId, TaskId};
use domain::listing::{AgentChoice, PlanCard, PlanRequest};
use domain::network::NetworkChoice;
use domain::plan::{AgentRef, EvaluationPlan, PlanKind, PromptIntake, RunSettings, SkillDelivery, TaskRef, Treatment};
use domain::planner::PlanEstimate;
use domain::report::{ComparisonReport, number};
use domain::skill::SkillPackage;
use domain::stats::alpha::Alpha;
use domain::task::{NetworkPolicy, Task};
use formats::task::{copies, names_skill};

use crate::arms::Arms;
use crate::limits::{seconds, timeout_multiplier, within};
use crate::{Ops, OpsError, Result};

/// Most repeats of a task in each arm.
pub(crate) const MAX_REPEATS: u32 = 100;
/// Most trials at the same time that a plan may ask for.
pub(crate) const MAX_CONCURRENCY: u32 = 64;

/// A request whose parts were found.
struct Checked {
    plan: EvaluationPlan,
    tasks: Vec<Task>,
    findings: Vec<Finding>,
}

impl Ops {
    /// What a plan will take and what it can tell. Nothing is stored.
    ///
    /// # Errors
    /// [`OpsError::Invalid`] with what is wrong and how to mend it.
    pub async fn plan(&self, request: &PlanRequest) -> Result<PlanCard> {
        let checked = self.check(request).await?;
        let estimate = self.estimate(&checked.plan).await?;
        Ok(card(&checked, estimate))
    }

    /// Starts an evaluation: stores its plan and its trials, queued.
    ///
    /// # Errors
    /// As [`Ops::plan`], or storage trouble.
    pub async fn start(&self, request: &PlanRequest) -> Result<EvaluationId> {
        let checked = self.check(request).await?;
        Ok(self.store.create_evaluation(&checked.plan, self.now()).await?)
    }

    /// The plan that [`Ops::start`] would store.
    ///
    /// # Errors
    /// As [`Ops::plan`].
    pub async fn resolve(&self, request: &PlanRequest) -> Result<EvaluationPlan> {
        Ok(self.check(request).await?.plan)
    }

    async fn check(&self, request: &PlanRequest) -> Result<Checked> {
        let agent = self.agent(request)?;
        let model = self.model(agent, request)?;
        let repeats = within("k", "repeats", request.repeats, MAX_REPEATS)?;
        let concurrency = within("concurrency", "concurrency", request.concurrency, MAX_CONCURRENCY)?;
        let timeout_multiplier = timeout_multiplier(request.timeout_multiplier)?;
        for (field, what, value) in [
            ("agent_time", "the agent's seconds", request.agent_seconds),
            ("verifier_time", "the verifier's seconds", request.verifier_seconds),
            ("seconds", "the seconds of a trial", request.spending.trial_seconds),
            ("all_seconds", "the seconds of the evaluation", request.spending.evaluation_seconds),
        ] {
            seconds(field, what, value)?;
        }
        if let Some(fault) = request.spending.fault() {
            return Err(OpsError::field("money", fault));
        }
        self.money_counts(model.as_ref(), &request.spending)?;
        network_fits(agent, &request.network)?;
        let (task_refs, tasks) = self.tasks_of(&request.tasks).await?;
        let task_set = self.task_set_of(request.task_set.as_deref(), &task_refs).await?;
        let Arms { treatment, comparison, skills, findings } = self.arms(request, &tasks).await?;
        fits(agent, request.skill_delivery, &tasks, &skills)?;
        let audits = self.audit_findings(&task_refs).await?;
        let (approved, given) = self.approved_for(&task_refs, &tasks).await?;
        let mut findings: Vec<Finding> =
            lint(&tasks, &skills).into_iter().chain(findings).chain(audits).chain(given).collect();
        let seed = match request.seed {
            Some(seed) => seed,
            None => drawn_seed()?,
        };
        let plan = EvaluationPlan {
            title: title(request, &treatment, &comparison, tasks.len()),
            treatment,
            comparison,
            tasks: task_refs,
            task_set,
            agent: AgentRef { skills: request.skill_delivery, ..agent.agent.clone() },
            model,
            repeats,
            seed,
            settings: RunSettings {
                concurrency,
                timeout_multiplier,
                agent_seconds: request.agent_seconds,
                verifier_seconds: request.verifier_seconds,
                token_cap: request.token_cap,
                rebuild_images: request.rebuild_images,
                spending: request.spending,
                network: request.network.clone(),
                stop: request.stop,
                approved,
                ..RunSettings::default()
            },
            kind: PlanKind::Evaluation,
        };
        ends_at_once(&plan)?;
        findings.extend(copies(plan.tasks.iter().map(|task| (task.name.as_str(), task.name.as_str(), task.version))));
        findings.extend(too_few_to_stop(&plan));
        findings.extend(plan.settings.network.differences(&tasks));
        Ok(Checked { plan, tasks, findings })
    }

    fn agent(&self, request: &PlanRequest) -> Result<&AgentChoice> {
        let name = &request.agent;
        let names = || self.config.agents.iter().map(|choice| choice.agent.name.clone()).collect::<Vec<_>>().join(", ");
        let is_it = |agent: &AgentRef| agent.name == *name || format!("{}@{}", agent.name, agent.version) == *name;
        let found = self.config.agents.iter().find(|choice| is_it(&choice.agent));
        let found = found
            .ok_or_else(|| OpsError::field("agent", format!("there is no agent '{name}'; there are: {}; others are installed by `skilldelta agents install NAME`", names())))?;
        match (request.skill_delivery, &found.skill_obstacle, found.prompt) {
            (SkillDelivery::Discovered, Some(why), _) if request.places_skills() => {
                Err(OpsError::field("agent", why.clone()))
            }
            (SkillDelivery::InPrompt, _, PromptIntake::Unread) => Err(OpsError::field(
                "agent",
                format!("the agent '{name}' reads no prompt, so skills cannot stand in it; choose another agent"),
            )),
            (SkillDelivery::Discovered, ..) | (SkillDelivery::InPrompt, ..) => Ok(found),
        }
    }

    /// The chosen tasks, each once.
    pub(crate) async fn tasks_of(&self, chosen: &[TaskId]) -> Result<(Vec<TaskRef>, Vec<Task>)> {
        if chosen.is_empty() {
            return Err(OpsError::field("task", "choose at least one task"));
        }
        let (mut refs, mut tasks) = (Vec::new(), Vec::new());
        let mut seen = BTreeSet::new();
        for id in chosen.iter().filter(|id| seen.insert(**id)) {
            let row = self.store.task(*id).await?;
            refs.push(TaskRef { id: *id, name: row.task.name.clone(), version: row.hash });
            tasks.push(row.task);
        }
        Ok((refs, tasks))
    }
}

/// A task that the agent cannot be given whole is refused before anything is spent.
fn fits(agent: &AgentChoice, delivery: SkillDelivery, tasks: &[Task], skills: &[SkillPackage]) -> Result<()> {
    let PromptIntake::AtMost { bytes: most } = agent.prompt else { return Ok(()) };
    let more: u64 = match delivery {
        SkillDelivery::Discovered => 0,
        SkillDelivery::InPrompt => skills.iter().filter_map(|skill| Some(skill.tree.get("SKILL.md")?.size)).sum(),
    };
    let too_long = |task: &&Task| (task.instruction.len() as u64).saturating_add(more) > most;
    match tasks.iter().find(too_long) {
        None => Ok(()),
        Some(task) => Err(OpsError::field(
            "task",
            format!(
                "the task {} has {} bytes of instruction{}, and the agent '{}' takes at most {most}; shorten it or choose another agent",
                task.name,
                task.instruction.len(),
                if more > 0 { format!(" beside {more} bytes of skills") } else { String::new() },
                agent.agent.name,
            ),
        )),
    }
}

/// Refuses networks that a phase cannot work in.
fn network_fits(agent: &AgentChoice, network: &NetworkChoice) -> Result<()> {
    match (&network.agent, &network.verifier) {
        (Some(NetworkPolicy::None), _) if agent.calls_from_container => Err(OpsError::field(
            "agent_network",
            format!(
                "the agent '{}' calls its model from inside its container, which a network of none forbids; choose model-only",
                agent.agent.name
            ),
        )),
        (_, Some(NetworkPolicy::ModelOnly)) => {
            Err(OpsError::field("verifier_network", "the verifier has no way to a model; choose none for its network"))
        }
        _ => Ok(()),
    }
}

pub(crate) fn drawn_seed() -> Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes)
        .map_err(|error| OpsError::field("seed", format!("no seed could be drawn: {error}; give one yourself")))?;
    // 53 bits, so that the seed survives JSON readers which keep numbers as doubles.
    Ok(u64::from_le_bytes(bytes) >> 11)
}

fn title(request: &PlanRequest, treatment: &Treatment, comparison: &Comparison, tasks: usize) -> String {
    if !request.title.trim().is_empty() {
        return request.title.trim().chars().take(200).collect();
    }
    let what = match treatment {
        Treatment::TasksOwn => "task's own skills".to_owned(),
        Treatment::Skills { versions } => {
            versions.iter().map(|version| version.name.as_str()).collect::<Vec<_>>().join(" + ")
        }
        Treatment::Nothing => "no skill".to_owned(),
    };
    let what = match comparison.kind() {
        Compared::NoSkill => what,
        Compared::PreviousVersion => format!("{what} new against old"),
        Compared::Control => format!("{what} against an unrelated skill"),
        Compared::Same => format!("A/A: {what} twice"),
    };
    format!("{what} on {}", number::counted(tasks as u64, "task"))
}

/// Where no outcome of all tasks could be told from chance, a stop on futility would end the evaluation before it began.
fn ends_at_once(plan: &EvaluationPlan) -> Result<()> {
    let needed = domain::stop::tasks_least(plan.settings.stop, Alpha::FIVE_PERCENT);
    if !plan.settings.stop.futility || plan.tasks.len() as u64 >= u64::from(needed) {
        return Ok(());
    }
    let tasks = number::counted(plan.tasks.len() as u64, "task");
    let message = format!(
        "with {tasks} no outcome could be told from chance, so a stop on futility would end the evaluation at once; take {needed} tasks or more, or plan without it"
    );
    Err(OpsError::field("early_stop", message))
}

/// A plan that is judged by its evidence needs more tasks than one that is judged at its end.
fn too_few_to_stop(plan: &EvaluationPlan) -> Option<Finding> {
    let rule = plan.settings.stop;
    let needed = domain::stop::tasks_least(rule, Alpha::FIVE_PERCENT);
    (rule.evidence && (plan.tasks.len() as u64) < u64::from(needed)).then(|| {
        let message =
            format!("a stop on evidence can be reached with {needed} tasks or more, all of which flip the same way");
        Finding::warning("stop_out_of_reach", "early_stop", message).hint("add tasks, or plan without it")
    })
}

/// An instruction that names the skill gives it away in both arms.
fn lint(tasks: &[Task], skills: &[SkillPackage]) -> Vec<Finding> {
    let names: BTreeSet<&str> = skills.iter().map(|skill| skill.manifest.name.as_str()).collect();
    let named =
        |task: &Task| names.iter().filter_map(|name| names_skill(&task.name, &task.instruction, name)).collect();
    tasks.iter().flat_map(|task| -> Vec<Finding> { named(task) }).collect()
}

fn card(checked: &Checked, estimate: PlanEstimate) -> PlanCard {
    let plan = &checked.plan;
    let per_arm: f64 = checked
        .tasks
        .iter()
        .map(|task| plan.settings.limited(task.clone()))
        .map(|task| {
            task.agent.timeout.saturating_add(task.verifier.timeout).as_secs_f64() * plan.settings.timeout_multiplier
        })
        .sum();
    let longest = per_arm * 2.0 * f64::from(plan.repeats) / f64::from(plan.settings.concurrency);
    PlanCard {
        trials: plan.trials() as u64,
        tasks: plan.tasks.len() as u64,
        compared: ComparisonReport::of(plan).words,
        longest_seconds: longest.ceil() as u64,
        smallest_delta: estimate.power.smallest_possible,
        advice: estimate.advice.clone(),
        estimate: Some(estimate),
        findings: checked.findings.clone(),
    }
}
