//! Takes bundled skills out of a task's image build, so that the placing of the treatment is all that differs between the arms.

use domain::finding::Finding;
use domain::path::RelPath;

use super::dockerfile::{Dockerfile, Instruction};

/// The folder of a build context that bundled skills lie in.
pub const SKILLS_FOLDER: &str = "skills";

/// A Dockerfile without the lines that copy whole skill folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stripped {
    /// The new text, with as many lines as before.
    pub text: String,
    /// What was dropped, and what is left that names skills.
    pub notes: Vec<Finding>,
    /// Paths below `skills/` that a remaining line copies by name. Keep these in the context (the rest of `skills/` goes, the folder
    /// itself stays, empty), or the build fails.
    pub kept: Vec<RelPath>,
    /// Absolute folders that the dropped lines would have filled with the bundled skills.
    pub destinations: Vec<String>,
}

/// Drops `COPY skills …` lines. The same text is built for both arms. Whether skills are really absent is proved at run time, not here.
#[must_use]
pub fn strip_skill_copies(file: &str, text: &str) -> Stripped {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut notes = Vec::new();
    let mut kept = Vec::new();
    let mut destinations = Vec::new();
    for instruction in &Dockerfile::parse(text).instructions {
        let copied = match instruction.keyword.as_str() {
            "COPY" | "ADD" if !instruction.flags().0.iter().any(|(name, _)| *name == "from") => instruction.copied(),
            _ => None,
        };
        let Some((sources, destination)) = copied else {
            notes.extend(residue(file, instruction));
            continue;
        };
        let (whole, others): (Vec<String>, Vec<String>) =
            sources.into_iter().partition(|source| is_whole_folder(source));
        if !whole.is_empty() {
            replace(&mut lines, instruction, &others, &destination);
            destinations.extend(destination.starts_with('/').then(|| destination.trim_end_matches('/').to_owned()));
            let message = format!("bundled skills are not built in: {} {}", instruction.keyword, instruction.text);
            notes.push(Finding::note("skills_stripped", file, message).at(instruction.line, None));
        }
        for source in &others {
            kept.extend(below_skills(source));
            if mentions_skills(source) {
                let message = format!(
                    "copies a part of the bundled skills into both arms: {} {}",
                    instruction.keyword, instruction.text
                );
                notes.push(Finding::warning("skills_residue", file, message).at(instruction.line, None));
            }
        }
    }
    let mut text = lines.join("\n");
    text.push('\n');
    Stripped { text, notes, kept, destinations }
}

fn residue(file: &str, instruction: &Instruction) -> Option<Finding> {
    let named =
        mentions_skills(&instruction.text) || instruction.heredocs.iter().any(|heredoc| mentions_skills(&heredoc.body));
    let message =
        format!("names a skills folder, which is empty in both arms: {} {}", instruction.keyword, instruction.text);
    named.then(|| Finding::note("skills_residue", file, message).at(instruction.line, None))
}

/// Puts what is left of an instruction on its first line and empties the others, so that line numbers stay.
fn replace(lines: &mut [String], instruction: &Instruction, others: &[String], destination: &str) {
    let first = instruction.line.saturating_sub(1) as usize;
    let count = instruction.raw.lines().count().max(1);
    for (index, line) in lines.iter_mut().skip(first).take(count).enumerate() {
        *line = if index == 0 && !others.is_empty() {
            let flags: String =
                instruction.flags().0.iter().map(|(name, value)| format!("--{name}={value} ")).collect();
            let words = serde_json::json!(others.iter().map(String::as_str).chain([destination]).collect::<Vec<_>>());
            format!("{} {flags}{words}", instruction.keyword)
        } else {
            String::new()
        };
    }
}

fn plain(source: &str) -> &str {
    source.trim_start_matches("./").trim_start_matches('/').trim_end_matches('/')
}

fn is_whole_folder(source: &str) -> bool {
    let source = plain(source).trim_end_matches("/*").trim_end_matches("/.");
    matches!(source, SKILLS_FOLDER | "skill[s]" | "skills*" | "_deps/skills")
}

fn below_skills(source: &str) -> Option<RelPath> {
    let path = plain(source);
    RelPath::new(path).ok().filter(|path| path.below(SKILLS_FOLDER).is_some())
}

/// Whether a word is a folder of that name; a URL or file name that merely holds the word is not.
fn mentions_skills(text: &str) -> bool {
    text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '=' | ':' | ',' | ';' | '(' | ')'))
        .filter(|word| word.contains('/') || *word == SKILLS_FOLDER)
        .any(|word| word.split('/').any(|segment| matches!(segment, SKILLS_FOLDER | "skill")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, want: &str, notes: &[(&str, u32)], kept: &[&str]) {
        let got = strip_skill_copies("Dockerfile", text);
        let got_notes: Vec<(&str, u32)> = got.notes.iter().map(|n| (n.code.as_str(), n.line.unwrap_or(0))).collect();
        let got_kept: Vec<&str> = got.kept.iter().map(RelPath::as_str).collect();
        assert_eq!((got.text.as_str(), got_notes.as_slice(), got_kept.as_slice()), (want, notes, kept), "{text}");
    }

    #[test]
    fn whole_folders_go_and_line_numbers_stay() {
        check(
            "FROM a\nCOPY skills /root/.claude/skills\nCOPY ./skills/ /root/.codex/skills\nCOPY skill[s] /tmp/s/\nCMD x\n",
            "FROM a\n\n\n\nCMD x\n",
            &[("skills_stripped", 2), ("skills_stripped", 3), ("skills_stripped", 4)],
            &[],
        );
        check("FROM a\nCOPY skills \\\n  /x\nRUN y", "FROM a\n\n\nRUN y\n", &[("skills_stripped", 2)], &[]);
        check(
            "FROM a\nCOPY --chown=u data skills /app/\n",
            "FROM a\nCOPY --chown=u [\"data\",\"/app/\"]\n",
            &[("skills_stripped", 2)],
            &[],
        );
        check("FROM a\nCOPY [\"skills\", \"/x\"]\n", "FROM a\n\n", &[("skills_stripped", 2)], &[]);
    }

    #[test]
    fn parts_and_other_names_stay_with_a_word_about_them() {
        check(
            "FROM a\nCOPY skills/mail /root/verifier-skills/mail\n",
            "FROM a\nCOPY skills/mail /root/verifier-skills/mail\n",
            &[("skills_residue", 2)],
            &["skills/mail"],
        );
        check(
            "FROM a\nRUN mkdir -p /etc/claude-code/.claude/skills\nENV PYTHONPATH=/app/skills/x:/y\n",
            "FROM a\nRUN mkdir -p /etc/claude-code/.claude/skills\nENV PYTHONPATH=/app/skills/x:/y\n",
            &[("skills_residue", 2), ("skills_residue", 3)],
            &[],
        );
        for text in [
            "FROM a\nRUN wget https://x.invalid/skillsbench-files/a.zip\n",
            "FROM a\nCOPY data /app\n",
            "FROM a AS b\nCOPY --from=b /opt /opt\n",
        ] {
            check(text, text, &[], &[]);
        }
    }
}
