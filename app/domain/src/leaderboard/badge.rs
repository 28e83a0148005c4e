//! What a badge says: Δ with its interval, and whose it is. It has a colour only where the adjusted verdict is settled, the row has a place, and
//! both stand in a published snapshot; all else is grey.

use super::published::PublishedSnapshot;
use super::row::{LeaderboardRow, Says};
use crate::comparison::Compared;
use crate::report::{Sight, delta_in_short, number};

/// Longest name on a badge, in characters.
const MOST_NAME: usize = 32;

/// The colour of a badge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// A gain that is settled.
    Up,
    /// A loss that is settled.
    Down,
    /// Anything else.
    Grey,
}

/// The words of a badge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Badge {
    /// On the right, beside the program's name.
    pub message: String,
    /// The whole sentence, for those who hear it or point at it.
    pub title: String,
    /// Its colour.
    pub tone: Tone,
}

/// The badge of a skill's row as it was published, or as it stands where it never was; or of a skill that has none.
#[must_use]
pub fn badge(skill: &str, row: Option<(&LeaderboardRow, Option<PublishedSnapshot>)>) -> Badge {
    let skill = plain(skill);
    let Some((row, snapshot)) = row else {
        return Badge {
            message: "not evaluated".to_owned(),
            title: format!("Skilldelta: {skill} has no finished evaluation here"),
            tone: Tone::Grey,
        };
    };
    let (record, measured) = (&row.record, &row.record.measured);
    let says = row.says();
    let settled = row.is_settled() && snapshot.is_some();
    let model = plain(record.model.as_deref().unwrap_or(&record.agent.name));
    let version = record.skills.first().and_then(super::RowSkill::version_in_short);
    let mut message = vec![delta_in_short(measured.delta, measured.delta_ci())];
    if !settled {
        message.push(match record.unranked {
            Some(why) if says.is_settled() || !record.attestation.competes() => why.to_string(),
            None if says.is_settled() => "not published".to_owned(),
            _ => says.to_string().to_lowercase(),
        });
    }
    message.push(model);
    message.extend(version.clone());
    Badge { message: message.join(" · "), title: title(&skill, version, row, snapshot), tone: tone(says, settled) }
}

/// The badge of a skill that is not here.
#[must_use]
pub fn unknown() -> Badge {
    Badge {
        message: "unknown skill".to_owned(),
        title: "Skilldelta: there is no such skill here".to_owned(),
        tone: Tone::Grey,
    }
}

fn tone(says: Says, settled: bool) -> Tone {
    match says {
        Says::Improves if settled => Tone::Up,
        Says::Harms if settled => Tone::Down,
        _ => Tone::Grey,
    }
}

fn title(skill: &str, version: Option<String>, row: &LeaderboardRow, snapshot: Option<PublishedSnapshot>) -> String {
    let (record, standing, measured) = (&row.record, &row.standing, &row.record.measured);
    let version = version.map(|version| format!(" {version}")).unwrap_or_default();
    let adjusted = match (standing.adjusted, standing.family_size) {
        (true, 2..) => format!(", p adjusted for {} rows", standing.family_size),
        _ => String::new(),
    };
    let mark = if record.attestation.competes() {
        String::new()
    } else {
        format!("; {}, never ranked", record.attestation.word())
    };
    let published = match snapshot {
        Some(snapshot) => format!("published snapshot {} of {}", snapshot.id, snapshot.at),
        None => "not published".to_owned(),
    };
    let seen = match Sight::of_row(measured) {
        Some(seen) => seen.sentence(Compared::NoSkill),
        None => format!("Δ pass rate {}.", number::points(measured.delta)),
    };
    format!(
        "Skilldelta: {skill}{version}: {}{adjusted}. {seen} On {} of {} by {}{mark}; {published}",
        row.says(),
        number::counted(measured.tasks, "task"),
        plain(&record.task_set.name),
        plain(&record.actor()),
    )
}

/// A name as it may stand on a badge: on one line, without signs that turn or hide text, not too long.
fn plain(name: &str) -> String {
    let turns = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{61c}');
    let mut chars = name.chars().filter(|c| !c.is_control() && !turns(*c));
    let mut text: String = chars.by_ref().take(MOST_NAME).collect();
    if chars.next().is_some() {
        text.pop();
        text.push('…');
    }
    text
}
