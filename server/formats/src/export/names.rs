//! Names of files made from names of tasks, which are hostile text.

use domain::history::TrialHistory;

/// Longest stem, in characters.
const MOST: usize = 80;

/// A file's stem for a trial: the task's name in harmless characters, then what tells its trials apart. The task's place is put in where the name
/// had to be changed, so that two names never become one.
pub(super) fn stem(task: &str, index: usize) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let safe: String = task.chars().map(|c| if plain(c) { c } else { '_' }).take(MOST).collect();
    let safe = safe.trim_start_matches(['.', '-']);
    if safe == task && !safe.is_empty() { task.to_owned() } else { format!("{:03}-{safe}", index.saturating_add(1)) }
}

/// A file's stem for one trial: its task, arm and repeat, in the order of the plan.
pub(super) fn trial(task: &str, index: usize, trial: &TrialHistory) -> String {
    format!("{:03}-{}.{}.{}", index.saturating_add(1), stem(task, index), trial.condition, trial.repeat)
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn no_name_leaves_its_folder() {
        for (task, want) in [
            ("count-sheep.2", "count-sheep.2"),
            ("../../etc/passwd", "004-_.._etc_passwd"),
            ("..", "004-"),
            ("", "004-"),
            ("a/b", "004-a_b"),
            ("é\n", "004-__"),
        ] {
            assert_eq!(stem(task, 3), want, "{task:?}");
        }
        assert_eq!(stem(&"x".repeat(500), 0).len(), 84);
    }
}
