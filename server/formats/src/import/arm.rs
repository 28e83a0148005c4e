//! Which arm a run belongs to, where nothing but its place tells. Never guessed from an order.

use domain::condition::Condition;

/// What to do where an arm cannot be told.
pub(super) const HINT: &str =
    "put the runs without the skill below a folder called no-skill and those with it below one called with-skill";

/// The arm that a folder's name in the path tells; the innermost one counts.
pub(super) fn of_path(source: &str, path: &str) -> Option<Condition> {
    path.rsplit('/').chain([source]).find_map(of_name)
}

fn of_name(name: &str) -> Option<Condition> {
    let name = name.to_ascii_lowercase().replace(['_', ' '], "-");
    let has = |words: [&str; 4]| words.iter().any(|word| !word.is_empty() && name.contains(word));
    let without = has(["no-skill", "without-skill", "noskill", "use-skill-false"]);
    let with = has(["with-skill", "withskill", "use-skill-true", ""]);
    match (without, with) {
        (true, false) => Some(Condition::NoSkill),
        (false, true) => Some(Condition::WithSkill),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_say_so_tell_the_arm() {
        for (source, path, want) in [
            ("results", "no-skill/details/a.json", Some(Condition::NoSkill)),
            ("results", "run_without_skill/a.json", Some(Condition::NoSkill)),
            ("results", "with_skills/no-skill/a.json", Some(Condition::NoSkill)),
            ("with-skill", "details/a.json", Some(Condition::WithSkill)),
            ("results", "with-skill-or-no-skill/a.json", None),
            ("results", "details/skillful.json", None),
            ("baseline", "a/b", None),
        ] {
            assert_eq!(of_path(source, path), want, "{source} {path}");
        }
    }
}
