//! Trials as comma-, semicolon- or tab-separated values with a header.

use csv::{ReaderBuilder, StringRecord};
use domain::analysis::TrialTable;
use domain::finding::Finding;

use super::cell::{Cell, Cells};
use super::column::Column;
use super::place::small;
use super::trial::{At, Builder};

/// The text after its first comment lines, how many those were, and its separator.
pub(super) fn body(text: &str) -> (&str, u32, u8) {
    let (mut rest, mut skipped) = (text, 0);
    while rest.starts_with('#') || rest.starts_with('\n') || rest.starts_with("\r\n") {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
        skipped += 1;
    }
    let header = rest.lines().next().unwrap_or_default();
    let count = |separator: u8| header.bytes().filter(|byte| *byte == separator).count();
    let separator = [b',', b';', b'\t'].into_iter().max_by_key(|separator| (count(*separator), *separator == b','));
    (rest, skipped, separator.unwrap_or(b','))
}

/// Reads a table.
pub(super) fn table(file: &str, text: &str, pass_mark: f64) -> Result<TrialTable, Vec<Finding>> {
    let (body, skipped, separator) = body(text);
    let mut reader = ReaderBuilder::new().delimiter(separator).flexible(true).from_reader(body.as_bytes());
    let mut builder = Builder::new(file, pass_mark);
    let headers = reader.headers().cloned().unwrap_or_default();
    let columns: Vec<Option<(Column, usize)>> = headers.iter().map(|header| builder.headers.column(header)).collect();
    let missing = missing(&builder);
    if !missing.is_empty() {
        return Err(missing
            .into_iter()
            .map(|(message, hint)| Finding::error("missing_column", file, message).at(skipped + 1, None).hint(hint))
            .collect());
    }
    if let Some(twice) =
        headers.iter().enumerate().find(|(at, name)| headers.iter().take(*at).any(|other| other == *name))
    {
        let message = format!("two columns are called {:?}", twice.1);
        return Err(vec![
            Finding::error("column_twice", file, message).at(skipped + 1, None).hint("remove one of them"),
        ]);
    }
    let mut record = StringRecord::new();
    loop {
        match reader.read_record(&mut record) {
            Ok(false) => break,
            Ok(true) => {}
            Err(error) => {
                builder.refuse(Finding::error("csv_syntax", file, format!("this is no CSV: {error}")));
                break;
            }
        }
        let position = record.position();
        let line = skipped + small(usize::try_from(position.map_or(0, csv::Position::line)).unwrap_or(usize::MAX));
        let raw = position.and_then(|position| body.get(usize::try_from(position.byte()).ok()?..)).unwrap_or_default();
        if take(&mut builder, line, &record, &columns, raw, separator) {
            break;
        }
    }
    builder.finish()
}

fn missing(builder: &Builder<'_>) -> Vec<(String, String)> {
    let mut missing = Vec::new();
    for column in [Column::Task, Column::Condition] {
        if !builder.headers.has(column) {
            missing.push((
                format!("there is no column `{}`", column.name()),
                format!("the first line must name it; it may also be called {}", column.names().join(", ")),
            ));
        }
    }
    if ![Column::Verdict, Column::Status, Column::Reward].into_iter().any(|column| builder.headers.has(column)) {
        missing.push((
            "there is no column `verdict` and no `reward`".to_owned(),
            "the first line must name one; `status`, `outcome`, `passed` or `score` will do as well".to_owned(),
        ));
    }
    missing
}

fn take(
    builder: &mut Builder<'_>,
    line: u32,
    record: &StringRecord,
    columns: &[Option<(Column, usize)>],
    raw: &str,
    separator: u8,
) -> bool {
    if record.len() != columns.len() {
        let open = record.iter().any(|field| field.contains('\n')) && raw.matches('"').count() % 2 == 1;
        let (message, hint) = if open {
            (
                "a quote is opened in this row and never closed".to_owned(),
                "close the quote, or double quotes inside a text",
            )
        } else {
            (
                format!("this row has {} values, the header {}", record.len(), columns.len()),
                "put texts with a separator in them in double quotes",
            )
        };
        let finding = Finding::error("csv_row", builder.file(), message).at(line, None);
        return builder.refuse(finding.hint(hint));
    }
    let mut cells = Cells::default();
    for (column, field) in columns.iter().zip(record) {
        if let Some((column, rank)) = column {
            cells.put(*column, *rank, Cell::of_text(field));
        }
    }
    builder.row(At { line, column: 1 }, &cells, |wanted| {
        // Where several columns mean the same, the one that is filled.
        let filled = |at: &usize| record.get(*at).is_some_and(|field| !field.trim().is_empty());
        let mut named =
            columns.iter().enumerate().filter(|(_, column)| column.is_some_and(|(column, _)| column == wanted));
        let at = named.clone().map(|(at, _)| at).find(filled).or_else(|| named.next().map(|(at, _)| at))?;
        column_of(raw, at, separator)
    })
}

/// The column, in characters, where the field with this index begins, if it is still on the row's first line.
fn column_of(raw: &str, field: usize, separator: u8) -> Option<u32> {
    let (mut quoted, mut fields) = (false, 0);
    for (column, character) in (1_u32..).zip(raw.chars()) {
        if fields == field {
            return Some(column);
        }
        match character {
            '"' => quoted = !quoted,
            '\n' => return None,
            separating if !quoted && separating == char::from(separator) => fields += 1,
            _ => {}
        }
    }
    None
}
