//! The actor line: every number says whose it is.

use domain::comparison::Compared;
use domain::plan::AgentRef;
use domain::report::{EvaluationReport, ReportSkill};
use leptos::prelude::*;

use super::words::{DemonstrationChip, ImportedChip, Time};

/// Skill versions, agent, model, seed, date.
#[component]
pub fn ActorLine(report: EvaluationReport) -> impl IntoView {
    let demonstration = report.demonstration();
    let upstream =
        report.model_ref.as_ref().filter(|_| demonstration.is_none()).map(|model| format!(" by {}", model.upstream));
    let comparison = &report.comparison;
    let baseline = (comparison.kind != Compared::NoSkill)
        .then(|| view! { <div><dt>"Against"</dt><dd>{skills(&comparison.arms.without.skills)}</dd></div> });
    let distractors = (!comparison.distractors.is_empty())
        .then(|| view! { <div><dt>"In both arms"</dt><dd>{skills(&comparison.distractors)}</dd></div> });
    let network = report.network.words();
    let limits = report.limits.words();
    // What was compared with what stands in the headline; that this is in no row goes without saying.
    let unlisted = report.unlisted.filter(|_| report.comparison.is_plain());
    let given = (!report.approved_variables.is_empty()).then(|| {
        let names = report.approved_variables.join(", ");
        view! { <div><dt>"Given to verifiers"</dt><dd><code>{names}</code>" (approved)"</dd></div> }
    });
    view! {
        <dl class="actor">
            <div><dt>"Skill"</dt><dd>{skills(&report.skills)}</dd></div>
            {baseline}
            {distractors}
            <div><dt>"Agent"</dt><dd>{agent_name(&report.agent)}</dd></div>
            <div>
                <dt>"Model"</dt>
                <dd>{report.model.clone().unwrap_or_else(|| "none called".to_owned())}{upstream} <DemonstrationChip demonstration=demonstration/></dd>
            </div>
            {network.map(|words| view! { <div><dt>"Network"</dt><dd>{words}" "<span class="quiet">"in place of the tasks' own"</span></dd></div> })}
            {limits.map(|words| view! { <div><dt>"Limits"</dt><dd>{words}" "<span class="quiet">"in both arms"</span></dd></div> })}
            {given}
            <div><dt>"Seed"</dt><dd class="num">{report.seed.to_string()}</dd></div>
            <div><dt>"Planned"</dt><dd><Time at=report.created_at/></dd></div>
            {unlisted.map(|why| view! { <div><dt>"Leaderboard"</dt><dd class="quiet">{format!("in no row: {}", why.words())}</dd></div> })}
            {report.imported.map(|imported| {
                view! { <div><dt>"Source"</dt><dd>{imported.sentence()}<ImportedChip imported=Some(imported)/></dd></div> }
            })}
        </dl>
    }
}

/// Name and version of an agent, and how it knows the skills where that is not its own way.
#[must_use]
pub fn agent_name(agent: &AgentRef) -> String {
    agent.title()
}

fn skills(skills: &[ReportSkill]) -> impl IntoView + use<> {
    let none = skills.is_empty().then_some("no skill");
    view! { {none}{skills.iter().map(skill_name).collect_view()} }
}

/// A skill's name with the first digits of its version.
fn skill_name(skill: &ReportSkill) -> impl IntoView + use<> {
    let version = skill.version.as_ref().map(|version| version.chars().take(12).collect::<String>());
    view! {
        <span class="skill-name">
            {skill.name.clone()}
            {version.map(|version| view! { <code class="hash">{format!("@{version}")}</code> })}
        </span>
    }
}

/// The names of a treatment's skills, in one line.
#[must_use]
pub fn skill_names(skills: &[ReportSkill]) -> String {
    skills.iter().map(|skill| skill.name.as_str()).collect::<Vec<_>>().join(", ")
}
