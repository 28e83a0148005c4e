//! A view of the leaderboard as a file: JSON with every field, CSV with every number, Markdown with the columns that the view shows.

use std::fmt::Write as _;

use csv::Writer;
use domain::leaderboard::{Column, LeaderboardQuery, LeaderboardRow, SCHEMA, cell};
use serde::Serialize;

use super::csv::{instant, text};
use super::{ExportError, markdown};

/// The forms in which a view can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaderboardFormat {
    /// Every field of every row.
    Json,
    /// Every number, one row per row.
    Csv,
    /// The shown columns, as text.
    Markdown,
}

impl LeaderboardFormat {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Json, Self::Csv, Self::Markdown];

    /// The word in addresses.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Markdown => "markdown",
        }
    }

    /// The format of that word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.word() == word)
    }

    /// What a download of it is, for browsers.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Csv => "text/csv; charset=utf-8",
            Self::Markdown => "text/markdown; charset=utf-8",
        }
    }

    /// Name of the file.
    #[must_use]
    pub const fn file(self) -> &'static str {
        match self {
            Self::Json => "leaderboard.json",
            Self::Csv => "leaderboard.csv",
            Self::Markdown => "leaderboard.md",
        }
    }
}

/// A view as it is exported.
pub struct LeaderboardView<'a> {
    /// What was asked.
    pub query: &'a LeaderboardQuery,
    /// How many rows show something.
    pub honest: &'a str,
    /// What is to be known of them as a whole; may be empty.
    pub note: &'a str,
    /// All rows of the view, in its order.
    pub rows: &'a [&'a LeaderboardRow],
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    query: &'a LeaderboardQuery,
    honest: &'a str,
    note: &'a str,
    rows: &'a [&'a LeaderboardRow],
}

/// Writes a view.
///
/// # Errors
/// [`ExportError`] where it could not be written.
pub fn render_leaderboard(format: LeaderboardFormat, view: &LeaderboardView<'_>) -> Result<Vec<u8>, ExportError> {
    match format {
        LeaderboardFormat::Json => {
            let LeaderboardView { query, honest, note, rows } = *view;
            let document = Document { schema: SCHEMA, query, honest, note, rows };
            serde_json::to_vec_pretty(&document).map_err(ExportError::write)
        }
        LeaderboardFormat::Csv => table(view.rows),
        LeaderboardFormat::Markdown => Ok(summary(view).into_bytes()),
    }
}

const HEAD: [&str; 35] = [
    "row",
    "skill",
    "version",
    "author",
    "category",
    "agent",
    "agent_version",
    "model",
    "task_set",
    "tasks",
    "pairs",
    "pairs_incomplete",
    "pass_rate_without",
    "pass_rate_with",
    "delta",
    "delta_low",
    "delta_high",
    "rescued",
    "broken",
    "p",
    "p_holm",
    "q_bh",
    "verdict",
    "tier",
    "opened",
    "rho",
    "rho_low",
    "rho_high",
    "quadrant",
    "tokens_per_solve",
    "cost_per_solve",
    "gain",
    "error_rate",
    "newest",
    "source",
];

fn table(rows: &[&LeaderboardRow]) -> Result<Vec<u8>, ExportError> {
    let mut writer = Writer::from_writer(Vec::new());
    writer.write_record(HEAD).map_err(ExportError::write)?;
    for row in rows {
        writer.write_record(record(row)).map_err(ExportError::write)?;
    }
    writer.into_inner().map_err(|error| ExportError::write(error.into_error()))
}

fn record(row: &LeaderboardRow) -> [String; 35] {
    let (record, measured, standing) = (&row.record, &row.record.measured, &row.standing);
    let share = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let count = |value: Option<u32>| value.map(|value| value.to_string()).unwrap_or_default();
    let versions: Vec<String> = record.skills.iter().filter_map(|skill| Some(skill.version?.to_hex())).collect();
    let counts = measured.estimate.map(|estimate| estimate.counts);
    [
        text(&record.key),
        text(&record.skill_names()),
        versions.join(" + "),
        text(&record.author().unwrap_or_default()),
        text(record.category.as_deref().unwrap_or_default()),
        text(&record.agent.name),
        text(&record.agent.version),
        text(record.model.as_deref().unwrap_or_default()),
        text(&record.task_set.name),
        measured.tasks.to_string(),
        measured.pairs.to_string(),
        measured.pairs_incomplete.to_string(),
        share(measured.without),
        share(measured.with),
        share(measured.delta),
        share(measured.delta_ci().map(|ci| ci.low)),
        share(measured.delta_ci().map(|ci| ci.high)),
        count(counts.map(|counts| counts.rescued)),
        count(counts.map(|counts| counts.broken)),
        share(measured.estimate.map(|estimate| estimate.p_value)),
        share(standing.p_holm),
        share(standing.q_bh),
        row.says().word().to_owned(),
        count(standing.tier),
        share(measured.opened_rate()),
        share(measured.rho),
        share(measured.rho_ci.map(|ci| ci.low)),
        share(measured.rho_ci.map(|ci| ci.high)),
        measured.quadrant.map(|quadrant| quadrant.word().to_owned()).unwrap_or_default(),
        share(measured.tokens_per_solve),
        share(measured.money_per_solve),
        share(measured.gain),
        share(measured.error_rate()),
        instant(record.date),
        record.attestation.word().to_owned(),
    ]
}

fn summary(view: &LeaderboardView<'_>) -> String {
    let mut columns = view.query.shown();
    // A number never stands without who vouches for it.
    if !columns.contains(&Column::Source) {
        columns.push(Column::Source);
    }
    let mut summary = format!("# Leaderboard\n\n{}\n\n", markdown::escape(view.honest));
    if !view.note.is_empty() {
        let _ = writeln!(summary, "> {}\n", markdown::escape(view.note));
    }
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    summary += &line(columns.iter().map(|column| column.head().to_owned()).collect());
    summary += &line(columns.iter().map(|column| if column.is_number() { "---:" } else { "---" }.to_owned()).collect());
    for row in view.rows {
        summary += &line(columns.iter().map(|column| markdown::escape(&cell(*column, row))).collect());
    }
    summary
}
