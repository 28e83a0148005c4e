//! Copies among tasks: the same bytes under several names. They look like many tasks and tell no more than one.

use std::collections::BTreeMap;

use domain::finding::Finding;
use domain::hash::ContentHash;
use domain::report::number::counted;

/// Names that are told at most.
const MOST_NAMES: usize = 6;

/// A warning for every task that is there under several names. `tasks` are place, name and version.
pub fn copies<'a>(tasks: impl IntoIterator<Item = (&'a str, &'a str, ContentHash)>) -> Vec<Finding> {
    let mut places: BTreeMap<ContentHash, BTreeMap<&str, &str>> = BTreeMap::new();
    for (place, name, version) in tasks {
        places.entry(version).or_default().entry(name).or_insert(place);
    }
    let mut groups: Vec<_> = places.into_values().filter(|names| names.len() > 1).collect();
    groups.sort();
    let told = |names: BTreeMap<&str, &str>| {
        let place = names.values().next_back().copied().unwrap_or_default();
        let message = format!(
            "{} are the same bytes: copies of one task are not independent, so Δ and its interval would count it {} times",
            listed(names.keys().copied()),
            names.len()
        );
        Finding::warning("same_task_twice", place, message)
            .hint("leave the copies out; repeats give more trials of a task")
    };
    groups.into_iter().map(told).collect()
}

/// `a, b and 3 others`.
pub(super) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let (told, others) = names.split_at(if names.len() > MOST_NAMES + 1 { MOST_NAMES } else { names.len() });
    match (others.len(), told) {
        (0, [rest @ .., last]) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        (0, _) => told.concat(),
        (n, _) => format!("{} and {}", told.join(", "), counted(n as u64, "other")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bytes_under_several_names_are_told_once() {
        let hash = |text: &str| ContentHash::of(text.as_bytes());
        let told = |tasks: &[(&str, &str, &str)]| {
            let found = copies(tasks.iter().map(|(place, name, text)| (*place, *name, hash(text))));
            found.iter().map(|finding| format!("{} {}", finding.file, finding.message)).collect::<Vec<_>>()
        };
        assert!(told(&[("t/a", "a", "1"), ("t/b", "b", "2"), ("u/a", "a", "1")]).is_empty(), "one name is one task");
        let found =
            told(&[("t/c", "c", "1"), ("t/a", "a", "1"), ("t/b", "b", "2"), ("t/d", "d", "2"), ("t/e", "e", "1")]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("t/e a, c and e are the same bytes") && found[0].contains("3 times"), "{found:?}");
        assert!(found[1].starts_with("t/d b and d are"), "{found:?}");
    }

    #[test]
    fn of_many_names_some_are_told() {
        for (names, want) in [
            (vec!["a"], "a"),
            (vec!["a", "b"], "a and b"),
            (vec!["a", "b", "c", "d", "e", "f", "g"], "a, b, c, d, e, f and g"),
            (vec!["a", "b", "c", "d", "e", "f", "g", "h"], "a, b, c, d, e, f and 2 others"),
        ] {
            assert_eq!(listed(names.into_iter()), want);
        }
    }
}
