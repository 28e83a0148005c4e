//! Orders and ranks of tables that went wrong elsewhere.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use domain::analysis::rank::{Contender, Direction, Fraction, order, places};
use serde_json::Value;

/// Rows and what is right; `None` where this machine does not have them.
fn case(name: &str) -> Option<(Vec<Value>, Value)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases").join(name);
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).ok();
    let Some((rows, expect)) = read("rows.json").zip(read("expect.json")) else {
        eprintln!("skipped: there is no {}", folder.display());
        return None;
    };
    Some((serde_json::from_str(&rows).unwrap(), serde_json::from_str(&expect).unwrap()))
}

fn contender(row: &Value, id: i64) -> Contender {
    let whole = |key: &str| row[key].as_i64();
    let value = match row["delta"].as_f64() {
        Some(delta) => Fraction::new((delta * 1000.0).round() as i64, 1000),
        None => whole("won").zip(whole("pairs")).and_then(|(won, pairs)| Fraction::new(won, pairs)),
    };
    Contender {
        value,
        ci: None,
        pairs: whole("pairs").unwrap_or(0) as u64,
        name: row["skill"].as_str().unwrap().to_owned(),
        id,
        ranked: value.is_some(),
    }
}

fn check(name: &str, keys: [(Direction, &str); 2]) {
    let Some((rows, expect)) = case(name) else { return };
    let contenders: Vec<Contender> = rows.iter().zip(0..).map(|(row, id)| contender(row, id)).collect();
    let mut shuffled: Vec<Contender> = contenders.iter().rev().cloned().collect();
    shuffled.rotate_left(2);
    for rows in [&contenders, &shuffled] {
        for (direction, key) in keys {
            let sorted: Vec<&str> = order(rows, direction).into_iter().map(|at| rows[at].name.as_str()).collect();
            if let Some(want) = expect.get(key) {
                assert_eq!(serde_json::json!(sorted), *want, "{name} {direction:?}");
            }
        }
        let places = places(rows);
        for (place, at) in order(rows, Direction::Descending).into_iter().enumerate() {
            let want = &expect["ranks"];
            let want = want.get(&rows[at].name).or_else(|| want.get(place)).unwrap();
            assert_eq!(serde_json::json!(places[at].rank), *want, "{name} {}", rows[at].name);
        }
    }
}

#[test]
fn unknown_never_sorts_above_known() {
    check("L01", [(Direction::Descending, "desc"), (Direction::Ascending, "asc")]);
}

#[test]
fn ties_keep_their_places_and_their_rank() {
    check("L02", [(Direction::Descending, "order"), (Direction::Descending, "order")]);
}
