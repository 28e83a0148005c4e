//! Which unit of one trace stands beside which of the other: equal beginnings and ends first, then anchors that are unique in
//! both (patience), and between the anchors the cheapest alignment with affine gaps (Gotoh 1982). The same input gives the same rows.

use std::collections::BTreeMap;
use std::ops::Range;

use super::gotoh;

/// A unit as the alignment sees it; equal numbers mean equal texts, in both traces.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub key: u32,
    pub kind: u32,
    /// Sorted, each once.
    pub features: Vec<u32>,
    /// Numbers of the landmarks at this unit: the first change of a file, the nth run of the tests.
    pub landmark: Option<u32>,
}

/// A place of the alignment; at least one side is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub left: Option<usize>,
    pub right: Option<usize>,
    /// The cheapest alignment was looked for near the diagonal only, since the whole was too large.
    pub approximate: bool,
}

/// Aligns two traces. Every unit appears once, in its own order.
pub(super) fn align(left: &[Item], right: &[Item]) -> Vec<Place> {
    let mut out = Vec::with_capacity(left.len().max(right.len()));
    // Regions still to do, the next one last, so that places come out in order without recursion.
    let mut regions = vec![(0..left.len(), 0..right.len())];
    while let Some((a, b)) = regions.pop() {
        let (a, b, ends) = trimmed(left, right, a, b, &mut out);
        let anchors = if a.is_empty() || b.is_empty() { Vec::new() } else { anchors(left, right, &a, &b) };
        // What stands after this region was pushed earlier; what ends it comes after its own middle.
        for end in ends.into_iter().rev() {
            regions.push(end);
        }
        if anchors.is_empty() {
            gotoh::align(left, right, a, b, &mut out);
            continue;
        }
        let mut parts = Vec::new();
        let (mut from_a, mut from_b) = (a.start, b.start);
        for (i, j) in anchors {
            parts.push((from_a..i, from_b..j));
            parts.push((i..i + 1, j..j + 1));
            (from_a, from_b) = (i + 1, j + 1);
        }
        parts.push((from_a..a.end, from_b..b.end));
        regions.extend(parts.into_iter().rev());
    }
    out
}

type Region = (Range<usize>, Range<usize>);

/// Places the equal beginning at once and gives what is between it and the equal end, which is given as regions of one.
fn trimmed(
    left: &[Item],
    right: &[Item],
    mut a: Range<usize>,
    mut b: Range<usize>,
    out: &mut Vec<Place>,
) -> (Range<usize>, Range<usize>, Vec<Region>) {
    let equal = |i: usize, j: usize| match (left.get(i), right.get(j)) {
        (Some(one), Some(other)) => one.key == other.key,
        _ => false,
    };
    while !a.is_empty() && !b.is_empty() && equal(a.start, b.start) {
        out.push(Place { left: Some(a.start), right: Some(b.start), approximate: false });
        (a.start, b.start) = (a.start + 1, b.start + 1);
    }
    let mut ends = 0;
    while a.len() > ends && b.len() > ends && equal(a.end - 1 - ends, b.end - 1 - ends) {
        ends += 1;
    }
    let (a_end, b_end) = (a.end - ends, b.end - ends);
    let ends = (0..ends).map(|k| (a_end + k..a_end + k + 1, b_end + k..b_end + k + 1)).collect();
    (a.start..a_end, b.start..b_end, ends)
}

/// Pairs that are fixed before the rest: keys that are unique on both sides, and landmarks, as far as they are in the same order.
fn anchors(left: &[Item], right: &[Item], a: &Range<usize>, b: &Range<usize>) -> Vec<(usize, usize)> {
    let here = left.get(a.clone()).unwrap_or_default();
    let there = right.get(b.clone()).unwrap_or_default();
    let of_keys = unique(here, there, |item| Some(item.key));
    let of_landmarks = unique(here, there, |item| item.landmark);
    let mut candidates: BTreeMap<usize, usize> = BTreeMap::new();
    for (i, j) in of_landmarks.into_iter().chain(of_keys) {
        let same_kind = here.get(i).map(|item| item.kind) == there.get(j).map(|item| item.kind);
        if same_kind {
            candidates.insert(a.start + i, b.start + j);
        }
    }
    // A region that is one anchor and nothing else is not cut any further.
    if a.len() == 1 && b.len() == 1 {
        return Vec::new();
    }
    longest_increasing(&candidates.into_iter().collect::<Vec<_>>())
}

/// Pairs of places whose mark appears once on each side.
fn unique(here: &[Item], there: &[Item], mark: impl Fn(&Item) -> Option<u32>) -> Vec<(usize, usize)> {
    let once = |items: &[Item]| {
        let mut seen: BTreeMap<u32, Option<usize>> = BTreeMap::new();
        for (place, item) in items.iter().enumerate() {
            if let Some(mark) = mark(item) {
                seen.entry(mark).and_modify(|place| *place = None).or_insert(Some(place));
            }
        }
        seen
    };
    let other = once(there);
    let pairs = once(here).into_iter().filter_map(|(mark, place)| Some((place?, (*other.get(&mark)?)?)));
    pairs.collect()
}

/// The longest part of `pairs` (in order of their first) whose seconds rise; the first one found among equals.
fn longest_increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // `tails[n]` = index of the pair with the smallest second that ends a rising run of n + 1.
    let mut tails: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    let second = |index: usize| pairs.get(index).map_or(usize::MAX, |pair| pair.1);
    for index in 0..pairs.len() {
        let length = tails.partition_point(|tail| second(*tail) < second(index));
        before.push(length.checked_sub(1).and_then(|shorter| tails.get(shorter)).copied());
        match tails.get_mut(length) {
            Some(tail) => *tail = index,
            None => tails.push(index),
        }
    }
    let mut rising = Vec::with_capacity(tails.len());
    let mut at = tails.last().copied();
    while let Some(index) = at {
        rising.extend(pairs.get(index).copied());
        at = before.get(index).copied().flatten();
    }
    rising.reverse();
    rising
}
