//! The command line that does what the form would.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use domain::listing::{TaskListing, VersionChoice};

use crate::api::PlanFormView;
use crate::draft::{Draft, HOSTS, ITSELF, NOTHING, TASKS_OWN, network_of_hosts};

/// `skilldelta eval …` for the draft as it was checked last; `None` where it could not be started. Skills stand by their names.
#[must_use]
pub fn command(view: &PlanFormView) -> Option<String> {
    view.checked.as_ref()?.card.as_ref()?;
    let draft = &view.draft;
    let mut words = String::from("skilldelta eval");
    let mut flag = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = write!(words, " \\\n  --{name} {}", quoted(value));
        }
    };
    let skills = |rows: &[String]| rows.iter().filter_map(|row| name(&view.skills, row)).collect::<Vec<_>>();
    if draft.baseline != NOTHING {
        skills(&draft.skill).iter().for_each(|skill| flag("skill", skill));
    }
    let baseline = match draft.baseline.as_str() {
        "previous-version" => Some("baseline-skill"),
        "control" => Some("control"),
        _ => None,
    };
    if let Some(baseline) = baseline {
        skills(&draft.baseline_skill).iter().for_each(|skill| flag(baseline, skill));
    }
    skills(&draft.distractor).iter().for_each(|skill| flag("distractor", skill));
    let chosen: Vec<&TaskListing> =
        view.tasks.iter().filter(|task| draft.task.contains(&task.id.to_string())).collect();
    let folders: BTreeSet<&str> = chosen.iter().map(|task| parent(&task.source)).collect();
    folders.iter().for_each(|folder| flag("tasks", folder));
    let names: Vec<&str> = chosen.iter().map(|task| task.name.as_str()).collect();
    flag("task-ids", &names.join(","));
    flag("agent", &draft.agent);
    let calls_model = view.choices.agents.iter().any(|choice| choice.agent.name == draft.agent && choice.needs_model);
    if let Some((upstream, model)) = draft.model.split_once('/').filter(|_| calls_model) {
        flag("upstream", upstream);
        flag("model", model);
    }
    for (name, value) in texts(draft) {
        flag(name, value);
    }
    flag("agent-network", &network(&draft.agent_network, &draft.agent_hosts));
    flag("verifier-network", &network(&draft.verifier_network, &draft.verifier_hosts));
    flag("stop-early", &draft.stop.join(","));
    for (name, is_set) in [
        ("a-a", [ITSELF, NOTHING].contains(&draft.baseline.as_str())),
        ("inject-skills", !draft.delivery.is_empty()),
        ("rebuild", !draft.rebuild.is_empty()),
    ] {
        if is_set {
            let _ = write!(words, " \\\n  --{name}");
        }
    }
    Some(words)
}

fn texts(draft: &Draft) -> [(&'static str, &str); 14] {
    [
        ("repeats", &draft.k),
        ("concurrency", &draft.concurrency),
        ("seed", &draft.seed),
        ("timeout-multiplier", &draft.timeout),
        ("agent-timeout", &draft.agent_time),
        ("verifier-timeout", &draft.verifier_time),
        ("token-cap", &draft.cap),
        ("money-cap", &draft.money),
        ("call-cap", &draft.calls),
        ("time-cap", &draft.seconds),
        ("evaluation-token-cap", &draft.all_tokens),
        ("evaluation-money-cap", &draft.all_money),
        ("evaluation-call-cap", &draft.all_calls),
        ("evaluation-time-cap", &draft.all_seconds),
    ]
}

fn network(choice: &str, hosts: &str) -> String {
    if choice == HOSTS { network_of_hosts(hosts).unwrap_or_default() } else { choice.to_owned() }
}

fn name(skills: &[VersionChoice], row: &str) -> Option<String> {
    if row == TASKS_OWN {
        return Some(row.to_owned());
    }
    let skill = skills.iter().find(|skill| skill.id.to_string() == row)?;
    Some(if skill.newest { skill.name.clone() } else { format!("{}@{}", skill.name, skill.version.short()) })
}

fn parent(folder: &str) -> &str {
    folder.trim_end_matches('/').rsplit_once('/').map_or(".", |(parent, _)| parent)
}

/// As a shell takes it for one word, whatever is in it.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:@".contains(c);
    if !text.is_empty() && text.chars().all(plain) && !text.starts_with('-') {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        for (text, want) in [
            ("count-sheep", "count-sheep"),
            ("my skill", "'my skill'"),
            ("it's; rm -rf /", "'it'\\''s; rm -rf /'"),
            ("--flag", "'--flag'"),
            ("$(id)", "'$(id)'"),
        ] {
            assert_eq!(quoted(text), want);
        }
    }
}
