//! Puts together what is known of the use of a skill: from the wire first, then from the agent's own record, then from its trace.

use domain::skill_audit::Activation;
use formats::trace::SkillsSeen;

use super::activation::InstalledSkill;

/// The activation of a run. `traced` = what the trace proves; `sighted` = the descriptions that were put before the model, `None` where no
/// wire was watched or no call was made.
#[must_use]
pub fn combine(
    traced: Activation,
    skills: &[InstalledSkill],
    record: &SkillsSeen,
    sighted: Option<&[String]>,
) -> Activation {
    let on_wire = sighted.map(|seen| skills.iter().any(|skill| seen.contains(&skill.description)));
    let in_record =
        record.listed.as_ref().map(|names| skills.iter().any(|skill| names.iter().any(|name| is(skill, name))));
    let by_tool = skills.iter().any(|skill| record.opened.iter().any(|name| is(skill, name)));
    Activation {
        listed: on_wire.or(in_record).or(traced.listed),
        opened: if by_tool { Some(true) } else { traced.opened },
        files_read: traced.files_read,
    }
}

/// By name, or by folder; also where the agent puts the owner before it (`plugin:name`).
fn is(skill: &InstalledSkill, name: &str) -> bool {
    let folder = skill.folder.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let name = name.rsplit(':').next().unwrap_or(name);
    name == skill.name || name == folder
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(listed: Option<&[&str]>, opened: &[&str], sighted: Option<&[&str]>, want: (Option<bool>, Option<bool>)) {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let skill = InstalledSkill {
            name: "count-sheep".to_owned(),
            description: "Counts sheep.".to_owned(),
            folder: "/root/.claude/skills/count-sheep".to_owned(),
            files: vec![],
        };
        let record = SkillsSeen { listed: listed.map(owned), opened: owned(opened) };
        let sighted = sighted.map(owned);
        let traced = Activation { listed: None, opened: Some(false), files_read: vec![] };
        let got = combine(traced, &[skill], &record, sighted.as_deref());
        assert_eq!((got.listed, got.opened), want, "{record:?} {sighted:?}");
    }

    #[test]
    fn the_wire_comes_before_the_agents_own_word() {
        check(None, &[], None, (None, Some(false)));
        check(Some(&["init", "count-sheep"]), &[], None, (Some(true), Some(false)));
        check(Some(&["count-sheep"]), &[], Some(&[]), (Some(false), Some(false)));
        check(Some(&["init"]), &[], Some(&["Counts sheep."]), (Some(true), Some(false)));
        check(None, &["init", "count-sheep"], Some(&["Counts sheep."]), (Some(true), Some(true)));
        check(None, &["own:count-sheep"], None, (None, Some(true)));
        check(None, &["recount-sheep"], None, (None, Some(false)));
    }
}
