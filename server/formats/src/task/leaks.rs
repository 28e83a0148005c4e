//! Whether a task's bundled skill gives its answer away: a skill that was written for the task measures nothing but itself.

use std::collections::HashMap;

use domain::finding::Finding;
use domain::tree::LoadedTree;

use super::lint::has_word;
use super::{skills, v1_0, v1_1};
use crate::skill::SKILL_MD;

/// Lines in a row that a skill and the answer must share: fewer are idioms.
const LEAST_RUN: usize = 8;
/// Shorter lines, such as braces and `else:`, do not count.
const LEAST_LINE: usize = 12;
/// A line that a text has more often tells nothing.
const MOST_REPEATS: usize = 20;
/// Larger files are data.
const MAX_BYTES: usize = 256 << 10;

/// A text with the lines that count, each with its number from 1.
struct Lines<'t> {
    path: &'t str,
    lines: Vec<(u32, &'t str)>,
}

/// Warnings about bundled skills that name the task or hold a part of its solution or verifier.
pub(super) fn check(name: &str, files: &LoadedTree, out: &mut Vec<Finding>) {
    let texts = |wanted: &dyn Fn(&str) -> bool| -> Vec<Lines<'_>> {
        files
            .iter()
            .filter(|(path, file)| wanted(path.as_str()) && file.bytes.len() <= MAX_BYTES)
            .filter_map(|(path, file)| {
                Some(Lines { path: path.as_str(), lines: counting(std::str::from_utf8(&file.bytes).ok()?) })
            })
            .collect()
    };
    let below = |path: &str, folders: &[&str]| {
        folders.iter().any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
    };
    let bundled = texts(&|path| below(path, &[skills::FOLDER]));
    let answers = texts(&|path| below(path, &[v1_0::ORACLE, v1_1::ORACLE, v1_0::VERIFIER, v1_1::VERIFIER]));
    for text in &bundled {
        out.extend(names_task(name, text));
        if let Some((from, line, run)) = longest(text, &answers) {
            let message = format!(
                "{run} lines in a row of `{from}` stand in this bundled skill: it holds a part of the task's answer"
            );
            let finding = Finding::warning("skill_holds_answer", text.path, message).at(line, None);
            out.push(finding.hint("with it in place Δ tells what copying brings; take the lines out of the skill"));
        }
    }
}

/// A name of several words is no accident.
fn names_task(name: &str, text: &Lines<'_>) -> Option<Finding> {
    if !text.path.ends_with(SKILL_MD) || !name.contains(['-', '_']) {
        return None;
    }
    let (line, _) = text.lines.iter().find(|(_, line)| has_word(&line.to_lowercase(), &name.to_lowercase()))?;
    let message = format!("this bundled skill names the task `{name}`: it was written for it");
    let finding = Finding::warning("skill_names_task", text.path, message).at(*line, None);
    Some(finding.hint("a skill is measured on tasks that it was not written for"))
}

fn counting(text: &str) -> Vec<(u32, &str)> {
    let numbered =
        text.lines().enumerate().map(|(index, line)| (u32::try_from(index + 1).unwrap_or(u32::MAX), line.trim()));
    numbered.filter(|(_, line)| line.len() >= LEAST_LINE).collect()
}

/// The longest run of lines that `text` shares with one of `answers`: whose, where in `text`, how many.
fn longest<'a>(text: &Lines<'_>, answers: &[Lines<'a>]) -> Option<(&'a str, u32, usize)> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, (_, line)) in text.lines.iter().enumerate() {
        places.entry(line).or_default().push(index);
    }
    places.retain(|_, places| places.len() <= MOST_REPEATS);
    let mut best: Option<(&str, u32, usize)> = None;
    for answer in answers {
        // The length of the run that ends at a line of `text`, for the answer's last line and for the one before it.
        let mut before: HashMap<usize, usize> = HashMap::new();
        for (_, line) in &answer.lines {
            let mut now = HashMap::new();
            for index in places.get(line).into_iter().flatten() {
                let run = index.checked_sub(1).and_then(|above| before.get(&above)).copied().unwrap_or(0) + 1;
                now.insert(*index, run);
                if run >= LEAST_RUN && best.is_none_or(|(_, _, longest)| run > longest) {
                    let first = text.lines.get(index + 1 - run).map_or(1, |(number, _)| *number);
                    best = Some((answer.path, first, run));
                }
            }
            before = now;
        }
    }
    best
}
