//! Trials as JSON: one object a line, a list of objects, or a document with a list `trials` in it.

use domain::analysis::TrialTable;
use domain::finding::Finding;
use serde_json::{Deserializer, Map, Value};

use super::cell::{Cell, Cells};
use super::column::{Column, Headers};
use super::place::{of_end, small};
use super::trial::{At, Builder, Common, PLAIN, named_agent};

type Object = Map<String, Value>;

/// `[{…}, {…}]`.
pub(super) fn list(file: &str, text: &str, pass_mark: f64) -> Result<TrialTable, Vec<Finding>> {
    let mut builder = Builder::new(file, pass_mark);
    let start = text.find('[').unwrap_or(0) + 1;
    if let Some(end) = elements(&mut builder, text, start) {
        let rest = text.get(end..).unwrap_or_default();
        if !rest.trim().is_empty() {
            let (line, column) = of_end(text.get(..end).unwrap_or_default());
            builder.refuse(syntax(file, line, column, "something stands after the end of the list"));
        }
    }
    builder.finish()
}

/// One object a line; or, where the first line is no whole object, one document.
pub(super) fn lines_or_document(file: &str, text: &str, pass_mark: f64) -> Result<TrialTable, Vec<Finding>> {
    let first = text.trim_start().lines().next().unwrap_or_default();
    let many = text.trim_start().lines().skip(1).any(|line| !line.trim().is_empty());
    match serde_json::from_str::<Object>(first) {
        Ok(object) if many || !object.contains_key("trials") => lines(file, text, pass_mark),
        Err(_) if many && text.lines().filter(|line| line.starts_with('{')).count() > 1 => lines(file, text, pass_mark),
        Ok(_) | Err(_) => document(file, text, pass_mark),
    }
}

fn lines(file: &str, text: &str, pass_mark: f64) -> Result<TrialTable, Vec<Finding>> {
    let mut builder = Builder::new(file, pass_mark);
    let cut_short = !text.ends_with('\n');
    let mut lines = text.lines().zip(1_u32..).peekable();
    while let Some((line, number)) = lines.next() {
        if line.trim().is_empty() {
            continue;
        }
        let enough = match serde_json::from_str::<Value>(line) {
            Ok(Value::Object(object)) => take(&mut builder, At { line: number, column: 1 }, &object, line),
            Ok(_) => {
                let finding = Finding::error("not_an_object", file, "this line is no JSON object").at(number, None);
                builder.refuse(finding.hint("write one object for each trial"))
            }
            Err(error) if error.is_eof() && cut_short && lines.peek().is_none() => {
                let finding = Finding::error("json_syntax", file, "the last line is cut short");
                builder.refuse(finding.at(number, None).hint("the writer was interrupted: complete or remove the line"))
            }
            Err(error) => builder.refuse(syntax(file, number, small(error.column()), &reason(&error))),
        };
        if enough {
            break;
        }
    }
    builder.finish()
}

/// The document's `trials`; an evaluation's JSON says skill, agent and model once for all.
fn document(file: &str, text: &str, pass_mark: f64) -> Result<TrialTable, Vec<Finding>> {
    let mut builder = Builder::new(file, pass_mark);
    let document: Object = match serde_json::from_str(text) {
        Ok(document) => document,
        Err(error) => {
            return Err(vec![syntax(file, small(error.line()), small(error.column()), &reason(&error))]);
        }
    };
    // Our whole export has the same evaluation's JSON within it.
    if let Some(report @ Value::Object(_)) = document.get("report").filter(|_| is_export(&document)) {
        return self::document(file, &report.to_string(), pass_mark);
    }
    match list_of_trials(text) {
        Some(start) if document.get("trials").is_some_and(Value::is_array) => {
            builder.common = common(&document);
            elements(&mut builder, text, start);
            builder.finish()
        }
        _ => {
            // A file of one trial is one object.
            take(&mut builder, At { line: 1, column: 1 }, &document, text);
            builder.finish()
        }
    }
}

fn is_export(document: &Object) -> bool {
    document.get("schema").and_then(Value::as_str) == Some(crate::export::document::SCHEMA)
}

fn common(document: &Object) -> Common {
    let name = |key: &str| match document.get(key) {
        Some(Value::Object(named)) => named.get("name").and_then(Value::as_str).map(str::to_owned),
        Some(Value::String(name)) => Some(name.clone()),
        _ => None,
    };
    Common {
        skill: name("skill"),
        agent: document.get("agent").and_then(Value::as_object).and_then(named_agent).or_else(|| name("agent")),
        model: name("model"),
        scripted: document
            .get("model_ref")
            .and_then(|model| model.get("scripted"))
            .and_then(Value::as_bool)
            .unwrap_or(false),
        compared: document.get("comparison").and_then(|comparison| {
            let text = |key: &str| comparison.get(key).and_then(Value::as_str);
            text("words").filter(|_| text("kind") != Some(PLAIN)).map(str::to_owned)
        }),
    }
}

/// Where the elements of the list `trials` begin. A quote inside a string is escaped, so this text can only be a key.
fn list_of_trials(text: &str) -> Option<usize> {
    const KEY: &str = "\"trials\"";
    text.match_indices(KEY).find_map(|(at, _)| {
        let after = text.get(at + KEY.len()..)?;
        let inside = after.trim_start().strip_prefix(':')?.trim_start().strip_prefix('[')?;
        Some(text.len() - inside.len())
    })
}

/// Reads elements from inside a list to its end; gives the place after it, or `None` where it stopped at a problem.
fn elements(builder: &mut Builder<'_>, text: &str, start: usize) -> Option<usize> {
    let mut at = start;
    let (mut line, mut column) = of_end(text.get(..start)?);
    let mut counted = start;
    let mut first = true;
    loop {
        let rest = text.get(at..)?;
        at += rest.len() - rest.trim_start().len();
        let rest = text.get(at..)?;
        let passed = of_end(text.get(counted..at)?);
        (line, column) = (line + passed.0 - 1, if passed.0 > 1 { passed.1 } else { column + passed.1 - 1 });
        counted = at;
        let place = At { line, column };
        match rest.chars().next() {
            Some(']') => return Some(at + 1),
            Some(',') if !first => at += 1,
            Some('{') => {
                first = false;
                let mut stream = Deserializer::from_str(rest).into_iter::<Object>();
                match stream.next() {
                    Some(Ok(object)) => {
                        let end = stream.byte_offset();
                        if take(builder, place, &object, rest.get(..end)?) {
                            return None;
                        }
                        at += end;
                    }
                    Some(Err(error)) => {
                        let column = if error.line() <= 1 {
                            place.column + small(error.column())
                        } else {
                            small(error.column())
                        };
                        builder.refuse(syntax(
                            builder.file(),
                            line + small(error.line().saturating_sub(1)),
                            column,
                            &reason(&error),
                        ));
                        return None;
                    }
                    None => return None,
                }
            }
            other => {
                let message = match other {
                    None => "the list has no end",
                    Some(_) => "here should be an object for a trial",
                };
                builder.refuse(syntax(builder.file(), place.line, place.column, message));
                return None;
            }
        }
    }
}

/// `true` once there are so many problems that reading on is no use.
fn take(builder: &mut Builder<'_>, at: At, object: &Object, raw: &str) -> bool {
    let mut cells = Cells::default();
    for (key, value) in object {
        if let Some((column, rank)) = builder.headers.column(key) {
            cells.put(column, rank, Cell::of_json(value));
        }
    }
    builder.row(at, &cells, |column| place(object, raw, at.column, column))
}

/// The column, in characters, of the key that holds the value; only where the object stands on one line.
fn place(object: &Object, raw: &str, start: u32, wanted: Column) -> Option<u32> {
    let mut headers = Headers::default();
    let key = object.keys().find(|key| headers.column(key).is_some_and(|(column, _)| column == wanted))?;
    let before = raw.split_once(&format!("\"{key}\""))?.0;
    (!before.contains('\n')).then(|| start + small(before.chars().count()))
}

fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    // The place is told apart from the reason.
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

fn syntax(file: &str, line: u32, column: u32, message: &str) -> Finding {
    Finding::error("json_syntax", file, format!("this is no JSON: {message}"))
        .at(line, Some(column))
        .hint("write one JSON object a line, or one list of objects")
}
