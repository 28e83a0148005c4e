//! Puts together what is known of the use of a skill: from the wire first, then from the agent's own record, then from its trace.

use domain::skill_audit::{Activation, SkillText};
use formats::trace::SkillsSeen;
use gateway::TrialGateway;

use super::activation::InstalledSkill;

/// Letters and digits of a telling line.
const LEAST_LETTERS: usize = 20;

/// What the wire tells of one trial's skills.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OnTheWire {
    /// A request told the model of one of them.
    pub listed: bool,
    /// A line of the body of one came before the model; `None` where no body has a line to be known by.
    pub opened: Option<bool>,
    /// How much of their text came before the model; `None` where none was seen.
    pub text: Option<SkillText>,
}

/// Asks a gateway that was told what to look for.
#[must_use]
pub fn on_the_wire(gateway: &TrialGateway) -> OnTheWire {
    let opened = gateway.watches_anywhere().then(|| !gateway.sighted_anywhere().is_empty());
    OnTheWire { listed: !gateway.sighted().is_empty(), opened, text: gateway.skill_text() }
}

/// The activation of a run. `traced` = what the trace proves; `wire` = `None` where no wire was watched or no call was made.
#[must_use]
pub fn combine(
    traced: Activation,
    skills: &[InstalledSkill],
    record: &SkillsSeen,
    wire: Option<&OnTheWire>,
) -> Activation {
    let in_record =
        record.listed.as_ref().map(|names| skills.iter().any(|skill| names.iter().any(|name| is(skill, name))));
    let by_tool = skills.iter().any(|skill| record.opened.iter().any(|name| is(skill, name)));
    let read = wire.and_then(|wire| wire.opened);
    let is_opened = by_tool || read == Some(true) || traced.opened == Some(true);
    Activation {
        listed: wire.map(|wire| wire.listed).or(in_record).or(traced.listed),
        opened: if is_opened { Some(true) } else { traced.opened.or(read) },
        files_read: traced.files_read,
        skill_text: wire.and_then(|wire| wire.text),
    }
}

/// A line by which a skill's body is known on the wire: its longest one that encodings leave alone. `None` where none is long enough to be
/// no other text's by chance.
#[must_use]
pub fn telling_line(skill_md: &str) -> Option<String> {
    let body = skill_md.split_once("\n---").map_or(skill_md, |(_, body)| body);
    let is_plain = |line: &&str| line.is_ascii() && !line.contains(['"', '\\']);
    let letters = |line: &str| line.chars().filter(char::is_ascii_alphanumeric).count();
    let line = body.lines().map(str::trim).filter(is_plain).max_by_key(|line| letters(line))?;
    (letters(line) >= LEAST_LETTERS).then(|| line.to_owned())
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

    fn check(
        listed: Option<&[&str]>,
        opened: &[&str],
        wire: Option<(bool, Option<bool>)>,
        want: (Option<bool>, Option<bool>),
    ) {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let skill = InstalledSkill {
            name: "count-sheep".to_owned(),
            description: "Counts sheep.".to_owned(),
            folder: "/root/.claude/skills/count-sheep".to_owned(),
            files: vec![],
        };
        let record = SkillsSeen { listed: listed.map(owned), opened: owned(opened) };
        let wire = wire.map(|(listed, opened)| OnTheWire { listed, opened, text: None });
        let got = combine(Activation::default(), &[skill], &record, wire.as_ref());
        assert_eq!((got.listed, got.opened), want, "{record:?} {wire:?}");
    }

    #[test]
    fn the_wire_comes_before_the_agents_own_word() {
        check(None, &[], None, (None, None));
        check(Some(&["init", "count-sheep"]), &[], None, (Some(true), None));
        check(Some(&["count-sheep"]), &[], Some((false, Some(false))), (Some(false), Some(false)));
        check(Some(&["init"]), &[], Some((true, None)), (Some(true), None));
        check(None, &["init", "count-sheep"], Some((true, Some(false))), (Some(true), Some(true)));
        check(None, &[], Some((true, Some(true))), (Some(true), Some(true)));
        check(None, &["own:count-sheep"], None, (None, Some(true)));
        check(None, &["recount-sheep"], None, (None, None));
    }

    #[test]
    fn a_telling_line_is_long_plain_and_of_the_body() {
        let body = "# Counting\n\n  Sheep are counted by their ears, two a sheep.  \nSay \"this is the longest line of all\".\n";
        let line = |text: &str| telling_line(text);
        let want = Some("Sheep are counted by their ears, two a sheep.".to_owned());
        assert_eq!(
            line(&format!("---\nname: x\ndescription: a description that is longer than all of it\n---\n{body}")),
            want
        );
        assert_eq!(line("---\nname: x\n---\n# Short\n----------------------------------\n"), None);
    }
}
