//! Planning: what can be chosen, and what a plan would take.

use domain::listing::{Choices, PlanCard, TaskListing, VersionChoice};
use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};

use super::SameBuild;
use crate::AppError;
use crate::draft::{Draft, Problem};

/// All that the form of a new evaluation shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanFormView {
    /// Skill versions to choose from.
    pub skills: Vec<VersionChoice>,
    /// Tasks to choose from.
    pub tasks: Vec<TaskListing>,
    /// Agents, models and limits.
    pub choices: Choices,
    /// As it stands, with defaults filled in.
    pub draft: Draft,
    /// What the plan comes to; `None` where nothing was chosen yet.
    pub checked: Option<Checked>,
}

/// What a plan comes to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// What it takes and can tell; `None` where it cannot be run as it is.
    pub card: Option<PlanCard>,
    /// Field by field.
    pub problems: Vec<Problem>,
}

/// The form, filled from a draft.
#[server(prefix = "/api", endpoint = "new_evaluation", input = GetUrl, client = SameBuild)]
pub async fn new_evaluation(draft: Draft) -> Result<PlanFormView, AppError> {
    let ops = super::ops()?;
    let (skills, tasks, choices) = (ops.version_choices().await?, ops.tasks().await?, ops.choices());
    let asked = !draft.agent.is_empty();
    let draft = with_defaults(selected(draft, &tasks), asked, &skills, &choices);
    let checked = if asked { Some(check(&ops, &draft).await?) } else { None };
    Ok(PlanFormView { skills, tasks, choices, draft, checked })
}

/// What the draft comes to.
#[server(prefix = "/api", endpoint = "check_plan", input = GetUrl, client = SameBuild)]
pub async fn check_plan(draft: Draft) -> Result<Checked, AppError> {
    check(&super::ops()?, &draft).await
}

/// Answers the buttons that choose all tasks or none.
#[cfg(feature = "ssr")]
fn selected(mut draft: Draft, tasks: &[TaskListing]) -> Draft {
    match std::mem::take(&mut draft.select).as_str() {
        "all" => draft.task = tasks.iter().map(|task| task.id.to_string()).collect(),
        "none" => draft.task.clear(),
        _ => {}
    }
    draft
}

/// Fields that were not asked for get what most people want.
#[cfg(feature = "ssr")]
fn with_defaults(mut draft: Draft, asked: bool, skills: &[VersionChoice], choices: &Choices) -> Draft {
    let fill = |field: &mut String, value: String| {
        if field.is_empty() {
            *field = value;
        }
    };
    let agent = choices.agents.iter().find(|choice| choice.needs_model).or(choices.agents.first());
    fill(&mut draft.agent, agent.map(|choice| choice.agent.name.clone()).unwrap_or_default());
    let model = choices.models.first().map(|model| format!("{}/{}", model.upstream, model.name));
    fill(&mut draft.model, model.unwrap_or_default());
    fill(&mut draft.baseline, "no-skill".to_owned());
    fill(&mut draft.k, "1".to_owned());
    fill(&mut draft.concurrency, "2".to_owned());
    // Only where there is no choice: another's skill is measured too easily.
    let only = skills.first().filter(|first| skills.iter().all(|skill| skill.name == first.name));
    if !asked && draft.skill.is_empty() {
        draft.skill.extend(only.map(|skill| skill.id.to_string()));
    }
    draft
}

/// Problems of the texts first, then those of the plan.
#[cfg(feature = "ssr")]
async fn check(ops: &super::backend::Ops, draft: &Draft) -> Result<Checked, AppError> {
    let request = match draft.request(&ops.choices()) {
        Ok(request) => request,
        Err(problems) => return Ok(Checked { card: None, problems }),
    };
    match ops.plan(&request).await.map_err(AppError::from) {
        Ok(card) => Ok(Checked { card: Some(card), problems: Vec::new() }),
        Err(AppError::Invalid { message, findings }) => {
            Ok(Checked { card: None, problems: problems(message, findings) })
        }
        // A skill or task that was deleted meanwhile is a matter of the form, not of the address.
        Err(AppError::NotFound { message }) => Ok(Checked { card: None, problems: vec![Problem::new("", message)] }),
        Err(other) => Err(other),
    }
}

/// Findings about a plan name the field in place of a file.
#[cfg(feature = "ssr")]
fn problems(message: String, findings: Vec<domain::finding::Finding>) -> Vec<Problem> {
    if findings.is_empty() {
        return vec![Problem::new("", message)];
    }
    let words = |finding: &domain::finding::Finding| match &finding.hint {
        Some(hint) => format!("{}. {hint}", finding.message),
        None => finding.message.clone(),
    };
    findings.iter().map(|finding| Problem::new(&finding.file, words(finding))).collect()
}
