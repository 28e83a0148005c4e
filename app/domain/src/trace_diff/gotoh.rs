//! The cheapest alignment of two stretches with affine gaps (Gotoh, J. Mol. Biol. 162:705, 1982). Costs: equal 0, the same kind 4 to 10 by
//! what they have in common, another kind never (24, more than two gaps of one); a gap 3, and 6 a step. Among equals: side by side, else left before right.

use std::ops::Range;

use super::align::{Item, Place};

const GAP_OPEN: u32 = 3;
const GAP_STEP: u32 = 6;
const OTHER_KIND: u32 = 24;
/// Cost that no alignment reaches.
const NEVER: u32 = u32::MAX / 4;
/// Cells of the table above which only a band about the diagonal is looked at.
const MOST_CELLS: usize = 25_000_000;
/// Steps on either side of the diagonal that the band holds.
const BAND: usize = 500;

/// The three ends that an alignment of two beginnings may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Both,
    Left,
    Right,
}

impl End {
    const fn bits(self) -> u8 {
        match self {
            Self::Both => 0,
            Self::Left => 1,
            Self::Right => 2,
        }
    }

    const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::Both,
            1 => Self::Left,
            _ => Self::Right,
        }
    }
}

/// The cost of each end, for one cell.
#[derive(Debug, Clone, Copy)]
struct Cell {
    both: u32,
    left: u32,
    right: u32,
}

const NO_CELL: Cell = Cell { both: NEVER, left: NEVER, right: NEVER };

impl Cell {
    /// The cheapest way here, where going on from each end costs `more` of it. The way is walked from its end, so that what comes
    /// later is decided first.
    fn cheapest(self, more: [u32; 3]) -> (u32, End) {
        let [both, left, right] = more;
        let mut best = (self.both + both, End::Both);
        for (cost, end) in [(self.right + right, End::Right), (self.left + left, End::Left)] {
            if cost < best.0 {
                best = (cost, end);
            }
        }
        best
    }
}

/// What it costs to put two units side by side.
fn pairing(one: &Item, other: &Item) -> u32 {
    if one.key == other.key {
        return 0;
    }
    if one.kind != other.kind {
        return OTHER_KIND;
    }
    let common = common(&one.features, &other.features);
    let all = one.features.len() + other.features.len() - common;
    let alike = (6 * common + all / 2).checked_div(all).unwrap_or(0);
    10 - u32::try_from(alike).unwrap_or(0)
}

/// How many numbers two rising rows share.
fn common(one: &[u32], other: &[u32]) -> usize {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    let mut shared = 0;
    while let (Some(a), Some(b)) = (one.peek(), other.peek()) {
        match a.cmp(b) {
            std::cmp::Ordering::Less => _ = one.next(),
            std::cmp::Ordering::Greater => _ = other.next(),
            std::cmp::Ordering::Equal => {
                shared += 1;
                (_, _) = (one.next(), other.next());
            }
        }
    }
    shared
}

/// Which columns of a row are looked at.
struct Band {
    rows: usize,
    columns: usize,
    /// `None` = all of them.
    half: Option<usize>,
}

impl Band {
    fn of(rows: usize, columns: usize) -> Self {
        let whole = (rows + 1).saturating_mul(columns + 1) <= MOST_CELLS;
        // Never so narrow that the bands of two rows do not meet, never so wide that the table grows with the product.
        let widest = (MOST_CELLS / (rows + 1) / 2).min(BAND).max(columns / rows.max(1) + 2);
        Self { rows, columns, half: (!whole).then_some(widest) }
    }

    fn of_row(&self, row: usize) -> Range<usize> {
        match self.half {
            None => 0..self.columns + 1,
            Some(half) => {
                let middle = usize::try_from(row as u128 * self.columns as u128 / self.rows.max(1) as u128)
                    .unwrap_or(self.columns);
                middle.saturating_sub(half)..(middle + half).min(self.columns) + 1
            }
        }
    }
}

/// Where each cell came from, a byte a cell: two bits for each of its three ends.
struct Table {
    rows: Vec<(usize, Vec<u8>)>,
}

impl Table {
    fn from(&self, row: usize, column: usize, end: End) -> End {
        let byte =
            self.rows.get(row).and_then(|(start, bytes)| bytes.get(column.checked_sub(*start)?)).copied().unwrap_or(0);
        End::from_bits(byte >> (2 * end.bits()))
    }
}

/// Aligns `a` of `left` with `b` of `right` and appends the places.
pub(super) fn align(left: &[Item], right: &[Item], a: Range<usize>, b: Range<usize>, out: &mut Vec<Place>) {
    let ones = left.get(a.clone()).unwrap_or_default();
    let others = right.get(b.clone()).unwrap_or_default();
    let band = Band::of(ones.len(), others.len());
    let approximate = band.half.is_some();
    let (table, last) = filled(ones, others, &band);
    let (mut row, mut column) = (ones.len(), others.len());
    let mut end = last.cheapest([0; 3]).1;
    let first = out.len();
    while row > 0 || column > 0 {
        // At the edges of the table only one way is open, whatever a cell says.
        let here = if row == 0 {
            End::Right
        } else if column == 0 {
            End::Left
        } else {
            end
        };
        let before = table.from(row, column, here);
        let (up, back) = match here {
            End::Both => (1, 1),
            End::Left => (1, 0),
            End::Right => (0, 1),
        };
        (row, column) = (row - up, column - back);
        out.push(Place {
            left: (up == 1).then_some(a.start + row),
            right: (back == 1).then_some(b.start + column),
            approximate,
        });
        end = before;
    }
    if let Some(new) = out.get_mut(first..) {
        new.reverse();
    }
}

/// The table, and the costs of its last cell.
fn filled(ones: &[Item], others: &[Item], band: &Band) -> (Table, Cell) {
    let mut rows = Vec::with_capacity(ones.len() + 1);
    let mut above: (usize, Vec<Cell>) = (0, Vec::new());
    for row in 0..=ones.len() {
        let columns = band.of_row(row);
        let (mut cells, mut bytes) = (Vec::with_capacity(columns.len()), Vec::with_capacity(columns.len()));
        for column in columns.clone() {
            let at = |row: &(usize, Vec<Cell>), column: Option<usize>| {
                column.and_then(|column| row.1.get(column.checked_sub(row.0)?)).copied().unwrap_or(NO_CELL)
            };
            let (diagonal, up) = (at(&above, column.checked_sub(1)), at(&above, Some(column)));
            let back = cells.last().copied().unwrap_or(NO_CELL);
            let (cell, byte) = match (row, column) {
                (0, 0) => (Cell { both: 0, left: NEVER, right: NEVER }, 0),
                _ => {
                    let pair = row
                        .checked_sub(1)
                        .and_then(|row| ones.get(row))
                        .zip(column.checked_sub(1).and_then(|column| others.get(column)));
                    reached(diagonal, up, back, pair)
                }
            };
            cells.push(cell);
            bytes.push(byte);
        }
        rows.push((columns.start, bytes));
        above = (columns.start, cells);
    }
    (Table { rows }, above.1.last().copied().unwrap_or(NO_CELL))
}

/// A cell from its three neighbours.
fn reached(diagonal: Cell, up: Cell, back: Cell, pair: Option<(&Item, &Item)>) -> (Cell, u8) {
    let open = GAP_OPEN + GAP_STEP;
    let (both, both_from) = diagonal.cheapest([0; 3]);
    let (left, left_from) = up.cheapest([open, GAP_STEP, open]);
    let (right, right_from) = back.cheapest([open, open, GAP_STEP]);
    let both = pair.map_or(NEVER, |(one, other)| both + pairing(one, other));
    let byte = both_from.bits() | left_from.bits() << 2 | right_from.bits() << 4;
    (Cell { both: both.min(NEVER), left: left.min(NEVER), right: right.min(NEVER) }, byte)
}

#[cfg(test)]
pub(super) mod cost {
    use super::*;

    /// What an alignment costs, for tests that look for a cheaper one.
    pub fn of(left: &[Item], right: &[Item], places: &[Place]) -> u32 {
        let mut cost = 0;
        let mut gap = None;
        for place in places {
            let (end, more) = match (place.left, place.right) {
                (Some(i), Some(j)) => (None, pairing(&left[i], &right[j])),
                (Some(_), None) => (Some(true), GAP_STEP),
                (None, _) => (Some(false), GAP_STEP),
            };
            cost += more + if end.is_some() && end != gap { GAP_OPEN } else { 0 };
            gap = end;
        }
        cost
    }
}
