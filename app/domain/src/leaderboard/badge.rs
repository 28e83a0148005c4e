//! What a badge says: Δ with its interval, and whose it is. It has a colour only where the adjusted verdict is settled and the row has a place;
//! all else is grey.

use super::row::{LeaderboardRow, Says};
use crate::report::{delta_in_short, number};

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

/// The badge of a skill's row, or of a skill that has none.
#[must_use]
pub fn badge(skill: &str, row: Option<&LeaderboardRow>) -> Badge {
    let skill = plain(skill);
    let Some(row) = row else {
        return Badge {
            message: "not evaluated".to_owned(),
            title: format!("Skilldelta: {skill} has no finished evaluation here"),
            tone: Tone::Grey,
        };
    };
    let (record, measured) = (&row.record, &row.record.measured);
    let says = row.says();
    let settled = says.is_settled() && record.unranked.is_none();
    let model = plain(record.model.as_deref().unwrap_or(&record.agent.name));
    let version = record.skills.first().and_then(super::RowSkill::version_in_short);
    let mut message = vec![delta_in_short(measured.delta, measured.delta_ci())];
    if !settled {
        message.push(match record.unranked {
            Some(why) if says.is_settled() || !record.attestation.competes() => why.to_string(),
            _ => says.to_string().to_lowercase(),
        });
    }
    message.push(model);
    message.extend(version.clone());
    Badge { message: message.join(" · "), title: title(&skill, version, row), tone: tone(says, settled) }
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

fn title(skill: &str, version: Option<String>, row: &LeaderboardRow) -> String {
    let (record, standing) = (&row.record, &row.standing);
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
    let date = record.date.map(|at| format!("; {at}")).unwrap_or_default();
    format!(
        "Skilldelta: {skill}{version}: {}; Δ pass rate {} on {} of {}{adjusted}; {}{mark}{date}",
        row.says(),
        delta_in_short(record.measured.delta, record.measured.delta_ci()).trim_start_matches("Δ "),
        number::counted(record.measured.tasks, "task"),
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
