//! The leaderboard's rules: who is judged with whom, what has a place, what a badge may say, and that every view can be linked to.

use super::badge::{Tone, badge};
use super::*;
use crate::analysis::rank::{Direction, Fraction, Unranked};
use crate::hash::ContentHash;
use crate::id::{EvaluationId, SkillId, SnapshotId};
use crate::plan::AgentRef;
use crate::stats::alpha::Alpha;
use crate::stats::counts::PairCounts;
use crate::stats::delta::delta;
use crate::stats::quadrant::Quadrant;
use crate::stats::verdict::{DeltaVerdict, VerdictRule};
use crate::time::Timestamp;

/// A row of one pair for each task: rescued, broken, and both passed.
pub(crate) fn row(name: &str, family: &str, flips: (u32, u32, u32)) -> RowRecord {
    let kind = |n: u32, counts: PairCounts| std::iter::repeat_n(counts, n as usize);
    let one = PairCounts::default();
    let (rescued, broken, both) = flips;
    let tasks: Vec<PairCounts> = kind(rescued, PairCounts { rescued: 1, ..one })
        .chain(kind(broken, PairCounts { broken: 1, ..one }))
        .chain(kind(both, PairCounts { both: 1, ..one }))
        .collect();
    let estimate = delta(&tasks, Alpha::FIVE_PERCENT);
    let n = rescued + broken + both;
    let number = name.bytes().next().map(u32::from).unwrap_or(1);
    RowRecord {
        key: format!("{family}-{name}"),
        family: family.to_owned(),
        attestation: Attestation::Own,
        skills: vec![RowSkill {
            name: name.to_owned(),
            owner: Some("ada".to_owned()),
            skill: Some(SkillId(i64::from(number))),
            version: Some(ContentHash::of(name.as_bytes())),
            number: Some(2),
        }],
        category: Some("writing".to_owned()),
        agent: AgentRef::new("bash", "1"),
        model: Some("large".to_owned()),
        task_set: RowTaskSet { name: family.to_owned(), tasks: None },
        measured: Measured {
            tasks: n,
            pairs: u64::from(n),
            delta: estimate.map(|estimate| estimate.delta),
            with: estimate.map(|estimate| estimate.rate_with),
            without: estimate.map(|estimate| estimate.rate_without),
            estimate,
            ..Measured::default()
        },
        exact_delta: Fraction::new(i64::from(rescued) - i64::from(broken), i64::from(n)),
        unranked: match n {
            0 => Some(Unranked::NoResult),
            1..6 => Some(Unranked::TooFewTasks { tasks: n, needed: 6 }),
            _ => None,
        },
        evaluations: vec![EvaluationId(i64::from(number))],
        date: Some(Timestamp(1_772_323_200_000)),
    }
}

fn marked(row: RowRecord, attestation: Attestation, why: Unranked) -> RowRecord {
    RowRecord { key: format!("{}-marked", row.key), attestation, unranked: Some(why), ..row }
}

fn view(rows: Vec<RowRecord>, query: &str) -> LeaderboardPage {
    Snapshot::of(rows, String::new()).page(&LeaderboardQuery::parse(query), 0)
}

fn names(page: &LeaderboardPage) -> Vec<String> {
    page.rows.iter().map(|row| row.record.skill_names()).collect()
}

#[test]
fn rows_are_judged_among_those_of_their_family_alone() {
    // 6 of 6 is p 0.031: enough alone, not among twenty, where so few tasks leave the family.
    let mut rows = vec![row("six", "small", (6, 0, 0))];
    rows.push(row("six", "large", (6, 0, 0)));
    rows.extend((0..19).map(|i| row(&format!("x{i}"), "large", (4, 4, 12))));
    rows.push(row("many", "large", (18, 1, 21)));
    let page = view(rows, "");
    let of = |family: &str, name: &str| {
        page.rows.iter().find(|row| row.record.key == format!("{family}-{name}")).unwrap().standing
    };
    assert_eq!((of("small", "six").says, of("small", "six").tier), (Says::Improves, Some(1)));
    assert_eq!((of("large", "six").says, of("large", "six").p_holm), (Says::CannotBeResolved, None));
    let many = of("large", "many");
    assert_eq!((many.says, many.family_size, many.adjusted), (Says::Improves, 20, true));
    assert!(many.p_holm.unwrap() < 0.01 && many.q_bh.unwrap() < 0.01, "{many:?}");
    assert_eq!(of("large", "x3").says, Says::Inconclusive);
}

#[test]
fn tiers_are_those_of_the_family_and_the_marked_have_none() {
    let rows = vec![
        row("good", "a", (38, 0, 2)),
        row("fair", "a", (36, 1, 3)),
        row("poor", "a", (1, 20, 19)),
        row("alone", "b", (3, 3, 34)),
        row("few", "a", (3, 0, 0)),
        marked(row("made", "a", (40, 0, 0)), Attestation::Scripted, Unranked::Scripted),
    ];
    let page = view(rows, "");
    let places: Vec<(String, Option<u32>, u32)> =
        page.rows.iter().map(|row| (row.record.skill_names(), row.standing.tier, row.standing.tiers)).collect();
    let place = |name: &str, tier, tiers| (name.to_owned(), tier, tiers);
    assert_eq!(
        places,
        [
            place("good", Some(1), 2),
            place("fair", Some(1), 2),
            place("alone", Some(1), 1),
            place("poor", Some(2), 2),
            place("made", None, 0),
            place("few", None, 2),
        ],
        "ranked rows first, each with its family's tiers"
    );
}

#[test]
fn the_honest_line_counts_marked_rows_apart() {
    let mut rows: Vec<RowRecord> = (0..3).map(|i| row(&format!("n{i}"), &format!("f{i}"), (4, 4, 12))).collect();
    rows.push(row("up", "f4", (9, 0, 3)));
    rows.push(row("few", "f5", (1, 0, 0)));
    rows.push(marked(row("made", "f4", (9, 0, 3)), Attestation::Scripted, Unranked::Scripted));
    assert_eq!(
        view(rows.clone(), "").counts.sentence(),
        "4 of 5 rows are inconclusive or null: 3 inconclusive, 1 cannot be resolved. 1 improves, 0 harm. \
         1 row is scripted, imported or by no coding agent: shown, never ranked."
    );
    let only = view(rows, "resolvable=1");
    assert_eq!((only.matching, only.all, only.counts.cannot_be_resolved), (5, 6, 0));
    assert_eq!(VerdictCounts::default().sentence(), "");
}

#[test]
fn every_filter_leaves_out_what_it_says() {
    let mut other = row("Beta", "b", (0, 9, 3));
    other.category = Some("sums".to_owned());
    other.agent.name = "claude-code".to_owned();
    other.model = None;
    other.measured.quadrant = Some(Quadrant::Dominated);
    let rows = || vec![row("alpha", "a", (4, 4, 12)), other.clone()];
    let version = ContentHash::of(b"alpha").to_hex();
    let by_version = format!("q={}", version.get(..10).unwrap());
    for (query, want) in [
        ("", "alpha Beta"),
        ("q=ALPHA", "alpha"),
        ("q=ada+sums", "Beta"),
        (&by_version, "alpha"),
        ("cat=sums", "Beta"),
        ("agent=bash", "alpha"),
        ("model=large", "alpha"),
        ("set=b", "Beta"),
        ("verdict=harms", "Beta"),
        ("quadrant=dominated", "Beta"),
        ("n=13", "alpha"),
        ("skill=66", "Beta"),
        ("q=nothing", ""),
        ("sort=delta", "Beta alpha"),
        ("sort=skill", "alpha Beta"),
        ("sort=-skill", "Beta alpha"),
        ("sort=-n", "alpha Beta"),
        ("sort=model&verdict=none&n=-3&page=zero&cols=a,b", "alpha Beta"),
    ] {
        assert_eq!(names(&view(rows(), query)).join(" "), want, "{query}");
    }
}

#[test]
fn the_unknown_stands_last_in_every_order() {
    let rows = || vec![row("a", "a", (4, 4, 12)), row("none", "b", (0, 0, 0)), row("z", "c", (9, 0, 3))];
    for column in [Column::Delta, Column::Without, Column::With, Column::Verdict, Column::Holm, Column::Tier] {
        for direction in [Direction::Ascending, Direction::Descending] {
            let query = LeaderboardQuery { sort: Sort { column, direction }, ..LeaderboardQuery::default() };
            let page = Snapshot::of(rows(), String::new()).page(&query, 0);
            assert_eq!(names(&page).last().unwrap(), "none", "{column:?} {direction:?}");
        }
    }
}

#[test]
fn a_view_is_its_address() {
    let query = LeaderboardQuery {
        data: DataSet::Paper,
        text: "two words & more".to_owned(),
        category: "ü".to_owned(),
        agent: "claude-code".to_owned(),
        model: "m".to_owned(),
        set: "a=b".to_owned(),
        verdict: Some(Says::NoEffect),
        quadrant: Some(Quadrant::NullCheaper),
        least_tasks: 7,
        skill: Some(SkillId(3)),
        resolvable: true,
        shape: Shape::Scatter,
        sort: Sort { column: Column::Rho, direction: Direction::Ascending },
        columns: vec![Column::Skill, Column::Delta, Column::Q],
        page: 4,
    };
    assert_eq!(LeaderboardQuery::parse(&query.to_query()), query);
    for data in [DataSet::Own, DataSet::Snapshot(SnapshotId(12))] {
        let query = LeaderboardQuery { data, ..query.clone() };
        assert_eq!(LeaderboardQuery::parse(&query.to_query()), query);
    }
    assert_eq!(LeaderboardQuery::parse("data=snapshot-x&view=y"), LeaderboardQuery::default());
    assert_eq!(LeaderboardQuery::default().to_query(), "");
    assert_eq!(LeaderboardQuery::parse("?q=&cat=&sort=-delta&cols="), LeaderboardQuery::default());
    let again = query.sorted_by(Column::Rho).sorted_by(Column::Rho);
    assert_eq!(again, query.on_page(0));
    for column in Column::ALL {
        assert_eq!(Column::from_word(column.word()), Some(column));
    }
}

#[test]
fn pages_hold_fifty_rows_and_a_page_too_far_is_the_last() {
    let rows: Vec<RowRecord> = (0..120).map(|i| row(&format!("s{i:03}"), &format!("f{i}"), (4, 4, 12))).collect();
    let snapshot = Snapshot::of(rows, String::new());
    let mut seen = Vec::new();
    for page in 1..=3 {
        let page = snapshot.page(&LeaderboardQuery::default().on_page(page), 0);
        assert_eq!((page.pages, page.matching, page.all), (3, 120, 120));
        seen.extend(names(&page));
    }
    let mut once = seen.clone();
    once.sort();
    once.dedup();
    assert_eq!((seen.len(), once.len()), (120, 120), "no row twice, none missing");
    assert_eq!(snapshot.page(&LeaderboardQuery::default().on_page(9), 0).query.page, 3);
}

#[test]
fn a_badge_has_a_colour_only_where_the_answer_is_settled() {
    let published = PublishedSnapshot {
        id: SnapshotId(3),
        hash: ContentHash::of(b"rows"),
        rows: 1,
        at: Timestamp(1_772_323_200_000),
    };
    let of_row = |record: RowRecord, snapshot| {
        let name = record.skill_names();
        let page = view(vec![record], "");
        badge(&name, page.rows.first().map(|row| (row, snapshot)))
    };
    let of = |record: RowRecord| {
        let found = of_row(record, Some(published));
        (found.tone, found.message)
    };
    let up = row("up", "a", (9, 0, 3));
    for (record, tone, message) in [
        (up.clone(), Tone::Up, "Δ +75 pp [32, 95] · large · v2"),
        (row("down", "a", (0, 9, 3)), Tone::Down, "Δ −75 pp [−95, −32] · large · v2"),
        (row("open", "a", (4, 4, 12)), Tone::Grey, "Δ 0 pp [−28, 28] · inconclusive · large · v2"),
        (row("few", "a", (2, 0, 0)), Tone::Grey, "Δ +100 pp [−68, 100] · cannot be resolved · large · v2"),
        (
            marked(up.clone(), Attestation::Scripted, Unranked::Scripted),
            Tone::Grey,
            "Δ +75 pp [32, 95] · scripted model · large · v2",
        ),
        (
            RowRecord {
                model: None,
                agent: AgentRef::new("oracle", "1"),
                ..marked(up.clone(), Attestation::NoCodingAgent, Unranked::NoCodingAgent)
            },
            Tone::Grey,
            "Δ +75 pp [32, 95] · no coding agent · oracle · v2",
        ),
        (
            RowRecord { unranked: Some(Unranked::Incomplete { complete: 0.5 }), ..up.clone() },
            Tone::Grey,
            "Δ +75 pp [32, 95] · incomplete (50 % of pairs) · large · v2",
        ),
    ] {
        let (found, words) = of(record);
        assert_eq!((found, words.as_str()), (tone, message));
    }
    let unpublished = of_row(up.clone(), None);
    assert_eq!(
        (unpublished.tone, unpublished.message.as_str()),
        (Tone::Grey, "Δ +75 pp [32, 95] · not published · large · v2"),
        "an adjusted verdict is cited with the rows that it was adjusted for, or not at all"
    );
    assert_eq!(
        of_row(up.clone(), Some(published)).title,
        "Skilldelta: up v2: Improves. With the skill 12 of 12 tasks pass, without it 3 (9 rescued, 0 broken); Δ +75 percentage points, \
         95 % interval +32 to +95. On 12 tasks of a by bash 1 · large; published snapshot 3 of 2026-03-01 00:00 UTC"
    );
    let none = badge("up", None);
    assert_eq!((none.tone, none.message.as_str()), (Tone::Grey, "not evaluated"));
    let hostile = RowRecord { model: Some("<b>\u{202e}evil\n".to_owned() + &"x".repeat(99)), ..up };
    let (_, words) = of(hostile);
    assert!(words.contains("<b>evilxxx") && words.contains('…') && words.chars().count() < 80, "{words}");
}

#[test]
fn the_words_are_those_of_the_verdict() {
    for flips in [(9, 0, 3), (0, 9, 3), (4, 4, 12), (1, 0, 0), (0, 0, 400)] {
        let estimate = row("s", "f", flips).measured.estimate.unwrap();
        let verdict = DeltaVerdict::raw(&estimate, &VerdictRule::default());
        let says = Says::of(Some(&verdict));
        assert_eq!((says.to_string(), says.word()), (verdict.to_string(), verdict.word()));
        assert_eq!(Says::from_word(says.word()), Some(says));
    }
}

#[test]
fn what_a_view_does_not_understand_is_known() {
    for (query, wrong) in [
        ("", &[][..]),
        ("?q=a+b&cat=&agent=x&model=&set=s&verdict=improves&quadrant=&n=3&skill=7&resolvable=1&view=forest", &[]),
        ("data=own&data=paper&data=snapshot-3&sort=-rho&cols=tier,skill&page=2", &[]),
        ("data=snapshot-x&data=zzz", &["data=snapshot-x", "data=zzz"]),
        ("verdict=bogus&quadrant=zzz&n=-1&n=abc&page=x", &["verdict=bogus", "quadrant=zzz", "n=-1", "n=abc", "page=x"]),
        (
            "sort=zzz&cols=tier,zzz&resolvable=2&view=list&skill=x",
            &["sort=zzz", "cols=tier,zzz", "resolvable=2", "view=list", "skill=x"],
        ),
        ("zzz=1&zzz=", &["zzz=1", "zzz="]),
    ] {
        assert_eq!(LeaderboardQuery::not_understood(query), wrong, "{query}");
        // Whatever a page links to is understood.
        assert!(LeaderboardQuery::not_understood(&LeaderboardQuery::parse(query).to_query()).is_empty(), "{query}");
    }
}
