//! One value of a results file, whether it came from CSV or JSON.

use serde_json::Value;

use super::column::Column;

/// A value. Text is trimmed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Cell<'a> {
    /// Not there, empty, or a word for unknown.
    #[default]
    Empty,
    Text(&'a str),
    Number(f64),
    Bool(bool),
    Nested(&'a Value),
}

/// Why a value cannot be used, and what to write instead.
#[derive(Debug)]
pub(super) struct Problem {
    pub column: Column,
    pub code: &'static str,
    pub message: String,
    pub hint: String,
}

/// All values of one row.
#[derive(Debug, Default)]
pub(super) struct Cells<'a>([(Cell<'a>, usize); Column::COUNT]);

impl<'a> Cells<'a> {
    pub fn get(&self, column: Column) -> Cell<'a> {
        self.0.get(column as usize).map_or(Cell::Empty, |(cell, _)| *cell)
    }

    /// Puts a value in its column; of two names for a column the earlier counts, unless it is empty.
    pub fn put(&mut self, column: Column, rank: usize, cell: Cell<'a>) {
        let Some(place) = self.0.get_mut(column as usize) else { return };
        let free = matches!(place.0, Cell::Empty);
        if !matches!(cell, Cell::Empty) && (free || rank < place.1) {
            *place = (cell, rank);
        }
    }
}

impl<'a> Cell<'a> {
    pub fn of_text(text: &'a str) -> Self {
        let text = text.trim();
        if text.is_empty() { Self::Empty } else { Self::Text(text) }
    }

    pub fn of_json(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Empty,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => number.as_f64().map_or(Self::Empty, Self::Number),
            Value::String(text) => Self::of_text(text),
            Value::Array(_) | Value::Object(_) => Self::Nested(value),
        }
    }

    /// As written, for messages.
    pub fn shown(self) -> String {
        const MOST: usize = 60;
        let text = match self {
            Self::Empty => "nothing".to_owned(),
            Self::Text(text) => format!("{text:?}"),
            Self::Number(number) => number.to_string(),
            Self::Bool(value) => value.to_string(),
            Self::Nested(Value::Array(_)) => "a list".to_owned(),
            Self::Nested(_) => "an object".to_owned(),
        };
        if text.chars().count() > MOST { text.chars().take(MOST).chain("…".chars()).collect() } else { text }
    }

    /// The same, but words for unknown (`null`, `NaN`, `-`) are empty.
    pub fn known(self) -> Self {
        const UNKNOWN: [&str; 8] = ["null", "none", "nan", "na", "n/a", "-", "—", "unknown"];
        match self {
            Self::Text(text) if UNKNOWN.iter().any(|word| word.eq_ignore_ascii_case(text)) => Self::Empty,
            other => other,
        }
    }

    /// A name.
    pub fn name(self, column: Column) -> Result<Option<String>, Problem> {
        match self.known() {
            Self::Empty => Ok(None),
            Self::Text(text) => Ok(Some(text.to_owned())),
            Self::Number(number) => Ok(Some(number.to_string())),
            other => Err(other.wrong(column, "a name", "write it as text")),
        }
    }

    /// A number, decimal or not.
    pub fn number(self, column: Column) -> Result<Option<f64>, Problem> {
        let wrong = |cell: Self| cell.wrong(column, "a number", "leave it empty where it is unknown");
        match self.known() {
            Self::Empty => Ok(None),
            Self::Number(number) => Ok(Some(number)),
            Self::Bool(value) => Ok(Some(f64::from(u8::from(value)))),
            Self::Text(text) => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Some(number)),
                _ => Err(wrong(self)),
            },
            Self::Nested(_) => Err(wrong(self)),
        }
    }

    /// A whole number, as large as survives JSON.
    pub fn whole(self, column: Column) -> Result<Option<i64>, Problem> {
        const LARGEST: f64 = 9_007_199_254_740_992.0;
        match self.number(column)? {
            None => Ok(None),
            Some(number) if number.fract() == 0.0 && number.abs() <= LARGEST => Ok(Some(number as i64)),
            Some(_) => Err(self.wrong(column, "a whole number", "write it without decimals")),
        }
    }

    /// A count: whole and not negative.
    pub fn count(self, column: Column) -> Result<Option<u64>, Problem> {
        match self.whole(column)? {
            None => Ok(None),
            Some(number) => match u64::try_from(number) {
                Ok(count) => Ok(Some(count)),
                Err(_) => Err(self.wrong(column, "a count", "leave it empty where it is unknown")),
            },
        }
    }

    /// Yes or no.
    pub fn truth(self, column: Column) -> Result<Option<bool>, Problem> {
        let wrong = || self.wrong(column, "yes or no", "write true or false, or leave it empty where it is unknown");
        match self.known() {
            Self::Empty => Ok(None),
            Self::Bool(value) => Ok(Some(value)),
            Self::Number(0.0) => Ok(Some(false)),
            Self::Number(1.0) => Ok(Some(true)),
            Self::Text(text) => match text.to_lowercase().as_str() {
                "true" | "yes" | "1" => Ok(Some(true)),
                "false" | "no" | "0" => Ok(Some(false)),
                _ => Err(wrong()),
            },
            Self::Number(_) | Self::Nested(_) => Err(wrong()),
        }
    }

    /// A value that is not what it should be.
    pub fn wrong(self, column: Column, wanted: &str, hint: &str) -> Problem {
        Problem {
            column,
            code: "wrong_value",
            message: format!("`{}` is {}, which is not {wanted}", column.name(), self.shown()),
            hint: hint.to_owned(),
        }
    }
}
