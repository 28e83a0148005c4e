//! The paper's Table 2 as CSV: one row for each skill, with pass rates, counts of test cases and rounded tokens.

use csv::{ReaderBuilder, StringRecord};
use domain::finding::Finding;
use domain::published::{PublishedRow, PublishedTable, RoundedTokens};

use super::csv::body;
use super::place::small;

/// All 49 rows, transcribed by a third party; its first line says by whom.
const SWE_SKILLS_BENCH: &str = include_str!("../../data/swe-skills-bench-table2.csv");
/// Columns of such a table, in the order of `Fields`.
const COLUMNS: [&str; 11] = [
    "skill_id",
    "pass_with_pct",
    "pass_without_pct",
    "delta_pp",
    "tokens_with",
    "tokens_without",
    "rho_pct",
    "ce_reported",
    "n_batch1_pytest_cases",
    "k_with",
    "k_without",
];

/// SWE-Skills-Bench (arXiv 2603.15401), Table 2, as it is built in.
///
/// # Errors
/// Never, as a test makes sure; a table from outside has findings with line and remedy.
pub fn swe_skills_bench() -> Result<PublishedTable, Vec<Finding>> {
    read("swe-skills-bench-table2.csv", SWE_SKILLS_BENCH)
}

/// Whether a CSV is such a table, by its header.
pub(super) fn is_table(text: &str) -> bool {
    let (body, _, _) = body(text);
    let header = body.lines().next().unwrap_or_default();
    ["skill_id", "pass_with_pct", "pass_without_pct"].iter().all(|column| header.contains(column))
}

/// Reads such a table.
pub(super) fn read(file: &str, text: &str) -> Result<PublishedTable, Vec<Finding>> {
    let (body, skipped, separator) = body(text);
    let source: Vec<&str> =
        text.lines().take_while(|line| line.starts_with('#')).map(|line| line.trim_start_matches(['#', ' '])).collect();
    let mut reader = ReaderBuilder::new().delimiter(separator).flexible(true).from_reader(body.as_bytes());
    let headers = reader.headers().cloned().unwrap_or_default();
    let places = places(&headers).map_err(|missing| {
        let message = format!("there is no column `{missing}`");
        vec![
            Finding::error("missing_column", file, message)
                .at(skipped + 1, None)
                .hint("take the file as it was published"),
        ]
    })?;
    let (mut rows, mut problems) = (Vec::new(), Vec::new());
    for record in reader.records() {
        match record {
            Err(error) => problems.push(Finding::error("csv_syntax", file, format!("this is no CSV: {error}"))),
            Ok(record) => {
                let line = record.position().map_or(0, |position| small(usize::try_from(position.line()).unwrap_or(0)));
                match (Fields { record: &record, places: &places }).row() {
                    Ok(row) => rows.push(row),
                    Err((message, hint)) => {
                        problems.push(Finding::error("wrong_value", file, message).at(skipped + line, None).hint(hint));
                    }
                }
            }
        }
    }
    if rows.is_empty() && problems.is_empty() {
        problems
            .push(Finding::error("no_rows", file, "there are no rows in it").hint("take the file as it was published"));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(PublishedTable {
        name: "SWE-Skills-Bench, Table 2".to_owned(),
        source: source.join(" "),
        agent: "Claude Code".to_owned(),
        model: "Claude Haiku 4.5".to_owned(),
        rows,
    })
}

fn places(headers: &StringRecord) -> Result<Vec<usize>, &'static str> {
    COLUMNS.into_iter().map(|column| headers.iter().position(|header| header.trim() == column).ok_or(column)).collect()
}

/// The values of one row.
struct Fields<'a> {
    record: &'a StringRecord,
    places: &'a [usize],
}

type Wrong = (String, &'static str);

impl Fields<'_> {
    fn text(&self, column: usize) -> &str {
        self.places.get(column).and_then(|place| self.record.get(*place)).unwrap_or_default().trim()
    }

    fn number(&self, column: usize) -> Result<f64, Wrong> {
        let number = self.text(column).parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| self.wrong(column, "a number"))
    }

    fn count(&self, column: usize) -> Result<u32, Wrong> {
        self.text(column).parse::<u32>().map_err(|_| self.wrong(column, "a count"))
    }

    fn wrong(&self, column: usize, wanted: &str) -> Wrong {
        let name = COLUMNS.get(column).copied().unwrap_or_default();
        let shown: String = self.text(column).chars().take(60).collect();
        (format!("`{name}` is {shown:?}, which is not {wanted}"), "take the file as it was published")
    }

    fn row(&self) -> Result<PublishedRow, Wrong> {
        if self.text(0).is_empty() {
            return Err(self.wrong(0, "a skill's name"));
        }
        let (cases, passed_with, passed_without) = (self.count(8)?, self.count(9)?, self.count(10)?);
        if cases == 0 || passed_with > cases || passed_without > cases {
            return Err((
                "more cases passed than there are, or there are none".to_owned(),
                "check n_batch1_pytest_cases, k_with and k_without",
            ));
        }
        let tokens = |column: usize| match self.number(column)? {
            tokens if tokens > 1000.0 => Ok(RoundedTokens::printed(tokens)),
            _ => Err(self.wrong(column, "a number of tokens above 1000")),
        };
        Ok(PublishedRow {
            skill: self.text(0).to_owned(),
            tasks: 1,
            cases,
            passed_with,
            passed_without,
            tokens_with: tokens(4)?,
            tokens_without: tokens(5)?,
            printed_with: self.number(1)?,
            printed_without: self.number(2)?,
            printed_delta: self.number(3)?,
            printed_rho: self.number(6)?,
            printed_ce: if self.text(7).is_empty() { None } else { Some(self.number(7)?) },
        })
    }
}
