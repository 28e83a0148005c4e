//! How far reviewers agree beyond chance (F19). Sources: J. Cohen 1960, with the standard error of Fleiss, Cohen & Everitt 1969; J. L. Fleiss 1971.

use serde::{Deserialize, Serialize};

use super::alpha::Alpha;
use super::interval::Interval;

/// κ of two reviewers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CohenKappa {
    /// 1 = they always agree, 0 = as chance would.
    pub kappa: f64,
    /// By the normal approximation; `None` where they agree (or disagree) without spread.
    pub ci: Option<Interval>,
}

/// κ from a square table: `table[i][j]` items that the first reviewer put in category i and the second in j. `None` where the table is not
/// square or empty, or where both use one category only.
#[must_use]
pub fn cohen_kappa(table: &[Vec<u32>], alpha: Alpha) -> Option<CohenKappa> {
    if table.iter().any(|row| row.len() != table.len()) {
        return None;
    }
    let n: f64 = table.iter().flatten().map(|count| f64::from(*count)).sum();
    let share = |count: &u32| f64::from(*count) / n;
    let rows: Vec<f64> = table.iter().map(|row| row.iter().map(share).sum()).collect();
    let columns: Vec<f64> =
        (0..table.len()).map(|j| table.iter().filter_map(|row| row.get(j)).map(share).sum()).collect();
    let diagonal: Vec<f64> = table.iter().enumerate().filter_map(|(i, row)| row.get(i)).map(share).collect();
    let agreed: f64 = diagonal.iter().sum();
    let by_chance: f64 = rows.iter().zip(&columns).map(|(row, column)| row * column).sum();
    let kappa = (agreed - by_chance) / (1.0 - by_chance);
    if n <= 0.0 || !kappa.is_finite() {
        return None;
    }
    let on: f64 = diagonal
        .iter()
        .zip(rows.iter().zip(&columns))
        .map(|(share, (row, column))| share * (1.0 - (row + column) * (1.0 - kappa)).powi(2))
        .sum();
    let off: f64 = table
        .iter()
        .enumerate()
        .zip(&columns)
        .flat_map(|((i, row), column)| {
            row.iter()
                .zip(&rows)
                .enumerate()
                .filter(move |(j, _)| *j != i)
                .map(move |(_, (count, other))| share(count) * (column + other).powi(2))
        })
        .sum();
    let variance = on + (1.0 - kappa).powi(2) * off - (kappa - by_chance * (1.0 - kappa)).powi(2);
    let half = alpha.z() * (variance.max(0.0) / n).sqrt() / (1.0 - by_chance);
    let ci = if half > 0.0 { Interval::new(kappa - half, kappa + half) } else { None };
    Some(CohenKappa { kappa, ci })
}

/// κ of several reviewers: `table[i][j]` reviewers who put item i in category j, each item with the same number of at least two. `None` otherwise,
/// or where all use one category only.
#[must_use]
pub fn fleiss_kappa(table: &[Vec<u32>]) -> Option<f64> {
    let reviews = |item: &Vec<u32>| item.iter().map(|count| f64::from(*count)).sum::<f64>();
    let (reviewers, categories) = table.first().map(|item| (reviews(item), item.len()))?;
    if reviewers < 2.0 || table.iter().any(|item| item.len() != categories || reviews(item) != reviewers) {
        return None;
    }
    let n = table.len() as f64;
    let pairs_agreed =
        |item: &Vec<u32>| item.iter().map(|count| f64::from(*count) * (f64::from(*count) - 1.0)).sum::<f64>();
    let agreed = table.iter().map(pairs_agreed).sum::<f64>() / (n * reviewers * (reviewers - 1.0));
    let by_chance: f64 = (0..categories)
        .map(|j| {
            table.iter().filter_map(|item| item.get(j)).map(|count| f64::from(*count)).sum::<f64>() / (n * reviewers)
        })
        .map(|share| share * share)
        .sum();
    let kappa = (agreed - by_chance) / (1.0 - by_chance);
    kappa.is_finite().then_some(kappa)
}

#[cfg(test)]
mod tests {
    use super::{Alpha, cohen_kappa, fleiss_kappa};

    #[test]
    fn known_values() {
        let cohen = cohen_kappa(&[vec![20, 5], vec![10, 15]], Alpha::FIVE_PERCENT).unwrap();
        let ci = cohen.ci.unwrap();
        assert!((cohen.kappa - 0.4).abs() < 1e-12, "{cohen:?}");
        assert!(
            (ci.low - 0.151_092_290_476_661).abs() < 1e-9 && (ci.high - 0.648_907_709_523_339).abs() < 1e-9,
            "{ci:?}"
        );
        let fleiss = fleiss_kappa(&[vec![3, 0], vec![2, 1], vec![0, 3], vec![3, 0], vec![1, 2]]).unwrap();
        assert!((fleiss - 0.444_444_444_444_444_3).abs() < 1e-12, "{fleiss}");
    }

    #[test]
    fn without_disagreement_to_expect_there_is_no_kappa() {
        for table in
            [vec![], vec![vec![7]], vec![vec![5, 0], vec![0, 0]], vec![vec![1, 2]], vec![vec![0, 0], vec![0, 0]]]
        {
            assert_eq!(cohen_kappa(&table, Alpha::FIVE_PERCENT), None, "{table:?}");
        }
        for table in [vec![], vec![vec![3, 0], vec![3, 0]], vec![vec![1, 0], vec![0, 1]], vec![vec![2, 1], vec![2, 2]]]
        {
            assert_eq!(fleiss_kappa(&table), None, "{table:?}");
        }
    }
}
