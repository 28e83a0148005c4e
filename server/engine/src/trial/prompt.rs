//! The task as the agent is told it. Where an evaluation delivers its skills in the prompt, each arm's prompt begins with the text of the arm's
//! own skills, in the fixed words below, and holds none of the other arm's; that of an arm without skills is the bare instruction.

use domain::finding::Finding;
use domain::order::TrialOrder;
use domain::plan::SkillDelivery;
use domain::skill::SkillPackage;

use super::Executor;
use super::fault::Fault;
use crate::agent::evidence::telling_line;

/// Where the files of skills in the prompt lie, below HOME: no agent looks for skills there.
const FOLDER: &str = ".skills";
const BEFORE: &str = "These are skills for work of the kind that you are asked to do below. Follow them where they apply. The files that a skill \
                      speaks of lie in its folder.\n\n";
const TASK: &str = "This is the task:\n\n";

/// A skill with the text of its `SKILL.md`.
type Told<'a> = (&'a SkillPackage, String);

/// The folder of skills in the prompt.
pub(super) fn folder(home: &str) -> String {
    format!("{}/{FOLDER}", home.trim_end_matches('/'))
}

impl Executor {
    /// The prompt of an order's arm, for an agent whose home folder is `home`.
    pub(super) async fn prompt(&self, order: &TrialOrder, home: &str) -> Result<String, Fault> {
        let instruction = &order.task.instruction;
        if order.agent.skills.is_discovered() {
            return Ok(instruction.clone());
        }
        let mut told = Vec::new();
        for skill in order.placed() {
            told.push((skill, self.skill_text(skill).await?));
        }
        let mut watched = Vec::new();
        for skill in order.watched() {
            watched.push((skill, self.skill_text(skill).await?));
        }
        absent(instruction, &watched)?;
        Ok(if told.is_empty() { instruction.clone() } else { prompt(instruction, &told, &folder(home)) })
    }

    /// What its `SKILL.md` says; empty where it has none.
    pub(super) async fn skill_text(&self, skill: &SkillPackage) -> Result<String, Fault> {
        let Some(entry) = skill.tree.get("SKILL.md") else { return Ok(String::new()) };
        let bytes = self.blobs.get(entry.hash).await;
        let bytes = bytes.map_err(|source| Fault::Blobs { what: "a file of the skill", source })?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn prompt(instruction: &str, skills: &[Told<'_>], folder: &str) -> String {
    let mut prompt = BEFORE.to_owned();
    for (skill, text) in skills {
        let (name, place) = (&skill.manifest.name, skill.folder());
        prompt.push_str(&format!(
            "<skill name=\"{name}\" folder=\"{folder}/{place}\">\n{}\n</skill>\n\n",
            text.trim_end()
        ));
    }
    prompt.push_str(TASK);
    prompt.push_str(instruction);
    prompt
}

/// For a result's provenance: that and how much of the prompt is skills.
pub(super) fn said(prompt: &str, order: &TrialOrder) -> Option<Finding> {
    let more = prompt.len().saturating_sub(order.task.instruction.len());
    (more > 0).then(|| {
        let message = format!("{more} bytes of skills stand before the task in its prompt");
        Finding::note("skills_in_prompt", "agent", message)
    })
}

/// A task that tells the skill by itself would tell it in both arms.
fn absent(instruction: &str, skills: &[Told<'_>]) -> Result<(), Fault> {
    let told = skills.iter().find(|(_, text)| telling_line(text).is_some_and(|line| instruction.contains(&line)));
    match told {
        Some((skill, _)) => Err(Fault::Audit(format!(
            "the task's instruction holds text of the skill {}, so both arms would be told it; reword the instruction",
            skill.manifest.name
        ))),
        None => Ok(()),
    }
}

/// The folders that are audited, and that of the arm's skills.
pub(super) fn places(looked_in: Vec<String>, home: &str, delivery: SkillDelivery) -> (Vec<String>, String) {
    match delivery {
        SkillDelivery::Discovered => {
            let target = looked_in.first().cloned().unwrap_or_else(|| format!("{home}/.agents/skills"));
            (looked_in, target)
        }
        SkillDelivery::InPrompt => {
            let target = folder(home);
            (looked_in.into_iter().chain([target.clone()]).collect(), target)
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::skill::SkillManifest;
    use domain::tree::LoadedTree;

    use super::*;

    fn skill() -> SkillPackage {
        let manifest = SkillManifest { name: "count".to_owned(), description: "Counts.".to_owned(), license: None };
        SkillPackage { manifest, tree: LoadedTree::default().summary() }
    }

    #[test]
    fn the_prompt_tells_each_skill_and_then_the_task() {
        let skill = skill();
        let told = [(&skill, "---\nname: count\n---\nTwo ears are one sheep.\n".to_owned())];
        let want = format!(
            "{BEFORE}<skill name=\"count\" folder=\"/root/.skills/count\">\n---\nname: count\n---\nTwo ears are one sheep.\n</skill>\n\n\
             This is the task:\n\nCount them."
        );
        assert_eq!(prompt("Count them.", &told, &folder("/root/")), want);
    }

    #[test]
    fn an_instruction_that_holds_the_skill_is_refused() {
        let skill = skill();
        let told = [(&skill, "# Counting\nSheep are counted by their ears.\n".to_owned())];
        assert!(absent("Count the sheep by their ears.", &told).is_ok());
        assert!(matches!(absent("Note: Sheep are counted by their ears. Go.", &told), Err(Fault::Audit(_))));
    }

    #[test]
    fn skills_in_the_prompt_lie_where_no_agent_looks_and_are_audited_there() {
        let looked_in = || vec!["/root/.a/skills".to_owned()];
        assert_eq!(
            places(looked_in(), "/root", SkillDelivery::Discovered),
            (looked_in(), "/root/.a/skills".to_owned())
        );
        let (audited, target) = places(looked_in(), "/root", SkillDelivery::InPrompt);
        assert_eq!(
            (audited, target),
            (vec!["/root/.a/skills".to_owned(), "/root/.skills".to_owned()], "/root/.skills".to_owned())
        );
    }
}
