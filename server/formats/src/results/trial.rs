//! Values of one row → a trial. What a whole table decides, such as what its token columns add up, is settled at the end.

use domain::analysis::{CaseResults, FileTrial, TrialTable};
use domain::finding::Finding;
use domain::test_case::{TestCase, TestStatus};
use domain::usage::TokenUsage;
use serde_json::{Map, Value};

use super::cell::{Cell, Cells, Problem};
use super::column::{Column, Headers};
use super::outcome::{condition, outcome};

/// Most problems told at once.
const MOST_TOLD: usize = 20;
/// Classes in the order of `RawTokens::classes`.
const CLASSES: [Column; 4] = [Column::Input, Column::CacheRead, Column::CacheWrite, Column::Output];

/// Where a row stands, from 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    pub line: u32,
    pub column: u32,
}

/// What a document says once for all its rows.
#[derive(Debug, Default)]
pub(super) struct Common {
    pub skill: Option<String>,
    pub agent: Option<String>,
    pub model: Option<String>,
    pub scripted: bool,
    /// What was compared, where it was not a skill with none.
    pub compared: Option<String>,
}

/// The word for a skill against none.
pub(super) const PLAIN: &str = "no-skill";

/// A table under construction.
pub(super) struct Builder<'f> {
    file: &'f str,
    pass_mark: f64,
    pub headers: Headers,
    pub common: Common,
    trials: Vec<FileTrial>,
    tokens: Vec<RawTokens>,
    problems: Vec<Finding>,
    contradicted: Option<(u32, u64)>,
    compared: Option<String>,
}

/// Tokens as written, before it is known which columns the table has.
#[derive(Debug, Default, Clone, Copy)]
struct RawTokens {
    total: Option<u64>,
    classes: [Option<u64>; 4],
    /// Keys of a nested `usage` object, as columns of the table.
    nested: [bool; 4],
}

impl<'f> Builder<'f> {
    pub fn new(file: &'f str, pass_mark: f64) -> Self {
        Self {
            file,
            pass_mark,
            headers: Headers::default(),
            common: Common::default(),
            trials: Vec::new(),
            tokens: Vec::new(),
            problems: Vec::new(),
            contradicted: None,
            compared: None,
        }
    }

    /// Tells a problem of the file; `true` once there are so many that reading on is no use.
    pub fn refuse(&mut self, problem: Finding) -> bool {
        self.problems.push(problem);
        self.problems.len() >= MOST_TOLD
    }

    /// The file's name, for findings.
    pub const fn file(&self) -> &'f str {
        self.file
    }

    /// Takes one row. `place` gives the column of a value in characters, for a problem with it.
    pub fn row(&mut self, at: At, cells: &Cells<'_>, place: impl Fn(Column) -> Option<u32>) -> bool {
        match self.trial(at, cells) {
            Ok((trial, tokens)) => {
                self.trials.push(trial);
                self.tokens.push(tokens);
                false
            }
            Err(problem) => {
                let column = place(problem.column).or((at.column > 1).then_some(at.column));
                let finding = Finding::error(problem.code, self.file, problem.message).at(at.line, column);
                self.refuse(finding.hint(problem.hint))
            }
        }
    }

    fn trial(&mut self, at: At, cells: &Cells<'_>) -> Result<(FileTrial, RawTokens), Problem> {
        let (task, condition, reward) = (task(cells)?, condition(cells)?, reward(cells)?);
        let (outcome, contradicted) = outcome(cells, reward, self.pass_mark)?;
        if contradicted {
            let (_, times) = self.contradicted.get_or_insert((at.line, 0));
            *times += 1;
        }
        let compared = cells.get(Column::Comparison).name(Column::Comparison)?.filter(|word| word != PLAIN);
        self.compared = self.compared.take().or(compared).or_else(|| self.common.compared.clone());
        let name = |column: Column, common: &Option<String>| -> Result<Option<String>, Problem> {
            Ok(cells.get(column).name(column)?.or_else(|| common.clone()))
        };
        let trial = FileTrial {
            line: at.line,
            column: at.column,
            task,
            condition,
            repeat: cells.get(Column::Repeat).whole(Column::Repeat)?,
            attempt: cells.get(Column::Attempt).whole(Column::Attempt)?,
            outcome,
            reward,
            usage: TokenUsage::UNKNOWN,
            cluster: name(Column::Cluster, &None)?,
            skill: name(Column::Skill, &self.common.skill)?,
            agent: agent(cells)?.or_else(|| self.common.agent.clone()),
            model: name(Column::Model, &self.common.model)?,
            scripted: cells.get(Column::Scripted).truth(Column::Scripted)?.unwrap_or(self.common.scripted),
            activated: cells.get(Column::Activated).truth(Column::Activated)?,
            cases: cases(cells)?,
        };
        Ok((trial, tokens(cells)?))
    }

    /// The table, or what is wrong with it.
    pub fn finish(self) -> Result<TrialTable, Vec<Finding>> {
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        let mut findings = self.notes();
        let present: [bool; 4] = std::array::from_fn(|class| {
            let column = CLASSES.get(class).copied().is_some_and(|column| self.headers.has(column));
            column || self.tokens.iter().any(|tokens| tokens.nested.get(class) == Some(&true))
        });
        let has_total = self.tokens.iter().any(|tokens| tokens.total.is_some());
        let mut disagree = 0_u64;
        let mut trials = self.trials;
        for (trial, tokens) in trials.iter_mut().zip(&self.tokens) {
            trial.usage = tokens.usage(present);
            disagree += u64::from(tokens.disagrees(present));
        }
        if disagree > 0 {
            let message = format!("in {disagree} trials `tokens` is not the sum of the classes; `tokens` is used");
            findings.push(Finding::warning("tokens_disagree", self.file, message));
        }
        let tokens_are = tokens_are(present, has_total);
        if !has_total && present.contains(&true) && present.contains(&false) {
            let message = format!(
                "the file has not all token classes: a trial's total is {}",
                tokens_are.as_deref().unwrap_or_default()
            );
            findings.push(
                Finding::note("token_classes", self.file, message)
                    .hint("columns input, cache_read, cache_write and output make the whole"),
            );
        }
        Ok(TrialTable { trials, findings, tokens_are })
    }

    fn notes(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let unused = self.headers.unused();
        if !unused.is_empty() {
            let message = format!("columns that are not used: {}", unused.join(", "));
            findings.push(Finding::note("unused_columns", self.file, message));
        }
        if let Some(compared) = &self.compared {
            let message = format!("this compares something else than a skill with none: {compared}");
            findings.push(Finding::warning("other_comparison", self.file, message).hint(
                "read `with` and `without` below as its two arms; the page of the evaluation says it in its words",
            ));
        }
        if let Some((line, times)) = self.contradicted {
            let message =
                format!("in {times} trials, first here, the verdict contradicts the reward; the verdict is used");
            findings.push(
                Finding::warning("verdict_against_reward", self.file, message)
                    .at(line, None)
                    .hint("a reward passes from 1.0 on; say --pass-mark where it is another"),
            );
        }
        findings
    }
}

fn task(cells: &Cells<'_>) -> Result<String, Problem> {
    let cell = cells.get(Column::Task);
    match cell {
        // A task may be called `none`.
        Cell::Text(text) => Ok(text.to_owned()),
        other => other
            .name(Column::Task)?
            .ok_or_else(|| other.wrong(Column::Task, "a task's name", "name the task of each trial")),
    }
}

/// A name, or an object with one.
fn agent(cells: &Cells<'_>) -> Result<Option<String>, Problem> {
    match cells.get(Column::Agent) {
        Cell::Nested(Value::Object(agent)) => Ok(named_agent(agent)),
        cell => cell.name(Column::Agent),
    }
}

/// `bash 1` from an agent with name and version.
pub(super) fn named_agent(agent: &Map<String, Value>) -> Option<String> {
    let text = |key: &str| agent.get(key).and_then(Value::as_str);
    Some(match text("version") {
        Some(version) => format!("{} {version}", text("name")?),
        None => text("name")?.to_owned(),
    })
}

fn reward(cells: &Cells<'_>) -> Result<Option<f64>, Problem> {
    let cell = cells.get(Column::Reward);
    match cell.number(Column::Reward)? {
        Some(reward) if !(0.0..=1.0).contains(&reward) => {
            Err(cell.wrong(Column::Reward, "between 0 and 1", "divide rewards by their largest value"))
        }
        reward => Ok(reward),
    }
}

fn tokens(cells: &Cells<'_>) -> Result<RawTokens, Problem> {
    let mut tokens = RawTokens { total: cells.get(Column::Tokens).count(Column::Tokens)?, ..RawTokens::default() };
    for (class, column) in tokens.classes.iter_mut().zip(CLASSES) {
        *class = cells.get(column).count(column)?;
    }
    let usage = match cells.get(Column::Usage) {
        Cell::Empty => return Ok(tokens),
        Cell::Nested(Value::Object(usage)) => usage,
        other => {
            return Err(other.wrong(
                Column::Usage,
                "an object of token classes",
                "use the columns input, cache_read, cache_write and output",
            ));
        }
    };
    let mut headers = Headers::default();
    for (key, value) in usage {
        let cell = Cell::of_json(value);
        match headers.column(key) {
            Some((Column::Tokens, _)) => tokens.total = tokens.total.or(cell.count(Column::Usage)?),
            Some((column, _)) => {
                let class = CLASSES.iter().position(|class| *class == column);
                let places =
                    class.and_then(|class| Some((tokens.classes.get_mut(class)?, tokens.nested.get_mut(class)?)));
                if let Some((class, nested)) = places {
                    *nested = true;
                    *class = class.or(cell.count(Column::Usage)?);
                }
            }
            None => {}
        }
    }
    Ok(tokens)
}

impl RawTokens {
    /// A class without a column counts as 0; an empty cell makes the total unknown.
    fn sum(&self, present: [bool; 4]) -> Option<u64> {
        if !present.contains(&true) {
            return None;
        }
        self.classes
            .iter()
            .zip(present)
            .filter(|(_, present)| *present)
            .try_fold(0_u64, |sum, (class, _)| Some(sum.saturating_add((*class)?)))
    }

    fn usage(&self, present: [bool; 4]) -> TokenUsage {
        if let Some(total) = self.total {
            return TokenUsage { input: Some(total), ..TokenUsage::ZERO };
        }
        if !present.contains(&true) {
            return TokenUsage::UNKNOWN;
        }
        let mut classes =
            self.classes.iter().zip(present).map(|(class, present)| if present { *class } else { Some(0) });
        let mut next = || classes.next().flatten();
        TokenUsage { input: next(), cache_read: next(), cache_write: next(), output: next() }
    }

    fn disagrees(&self, present: [bool; 4]) -> bool {
        self.total.zip(self.sum(present)).is_some_and(|(total, sum)| total != sum)
    }
}

fn tokens_are(present: [bool; 4], has_total: bool) -> Option<String> {
    if has_total {
        return Some("as given in `tokens`".to_owned());
    }
    let named: Vec<&str> =
        CLASSES.iter().zip(present).filter(|(_, present)| *present).map(|(class, _)| class.name()).collect();
    (!named.is_empty()).then(|| named.join(" + "))
}

fn cases(cells: &Cells<'_>) -> Result<Option<CaseResults>, Problem> {
    match cells.get(Column::Tests) {
        Cell::Empty => {}
        Cell::Nested(tests) => return named_cases(tests).map(Some),
        other => {
            return Err(other.wrong(
                Column::Tests,
                "a list of test cases",
                "give counts in tests_passed and tests_total",
            ));
        }
    }
    let (passed, total) = (cells.get(Column::TestsPassed), cells.get(Column::TestsTotal));
    match (passed.count(Column::TestsPassed)?, total.count(Column::TestsTotal)?) {
        (Some(of_them), Some(all)) => {
            let counted =
                u32::try_from(of_them).ok().zip(u32::try_from(all).ok()).filter(|(passed, all)| passed <= all);
            let (passed, total) = counted
                .ok_or_else(|| passed.wrong(Column::TestsPassed, "at most tests_total", "check the two columns"))?;
            Ok(Some(CaseResults::Counted { passed, total }))
        }
        (None, None) => Ok(None),
        (None, Some(_)) => {
            Err(passed.wrong(Column::TestsPassed, "a count", "give tests_passed and tests_total, or neither"))
        }
        (Some(_), None) => {
            Err(total.wrong(Column::TestsTotal, "a count", "give tests_passed and tests_total, or neither"))
        }
    }
}

/// `[{"name": …, "status": …}]`, or `{name: passed}`.
fn named_cases(tests: &Value) -> Result<CaseResults, Problem> {
    let wrong = || {
        Cell::Nested(tests).wrong(
            Column::Tests,
            "a list of named test cases",
            "write [{\"name\": \"test_a\", \"status\": \"passed\"}, …]",
        )
    };
    let case = |name: &str, status: &Value| {
        let status = match status {
            Value::Bool(true) => TestStatus::Passed,
            Value::Bool(false) => TestStatus::Failed,
            Value::String(word) => match word.to_lowercase().as_str() {
                "passed" | "pass" => TestStatus::Passed,
                "failed" | "fail" | "error" => TestStatus::Failed,
                "skipped" | "skip" => TestStatus::Skipped,
                _ => TestStatus::Other,
            },
            _ => return None,
        };
        Some(TestCase { name: name.to_owned(), status, duration_ms: None, message: None })
    };
    let cases: Option<Vec<TestCase>> = match tests {
        Value::Array(tests) => tests
            .iter()
            .map(|test| {
                let status = ["status", "outcome", "passed"].into_iter().find_map(|key| test.get(key))?;
                case(test.get("name")?.as_str()?, status)
            })
            .collect(),
        Value::Object(tests) => tests.iter().map(|(name, status)| case(name, status)).collect(),
        _ => None,
    };
    cases.map(CaseResults::Named).ok_or_else(wrong)
}
