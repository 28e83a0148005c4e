//! Both test results as one table: test by test, what the skill changed.

use std::collections::BTreeMap;

use domain::condition::{Condition, Flip, Pair as Arms};
use domain::listing::ArmDetail;
use domain::test_case::{TestCase, TestStatus};
use leptos::prelude::*;

use crate::components::arms::ArmName;
use crate::components::flip::FlipMark;
use crate::components::fold::LongText;
use crate::components::icon::{Icon, Sign};
use crate::format::{UNKNOWN, plural};

/// A test with its result in each arm.
type Row = (String, Arms<Option<TestCase>>);

/// The tests in the order of the arm that has more, then those that only the other one has.
fn rows(arms: &Arms<Option<ArmDetail>>) -> Vec<Row> {
    let tests = |arm: &Option<ArmDetail>| arm.as_ref().map(|arm| arm.trial.tests.clone()).unwrap_or_default();
    let (without, with) = (tests(&arms.without), tests(&arms.with));
    let mut order: Vec<String> = Vec::new();
    let mut found: BTreeMap<String, Arms<Option<TestCase>>> = BTreeMap::new();
    let longer_first = if without.len() > with.len() {
        [(Condition::NoSkill, without), (Condition::WithSkill, with)]
    } else {
        [(Condition::WithSkill, with), (Condition::NoSkill, without)]
    };
    for (condition, tests) in longer_first {
        for test in tests {
            let row = found.entry(test.name.clone()).or_insert_with(|| {
                order.push(test.name.clone());
                Arms::default()
            });
            *row.get_mut(condition) = Some(test);
        }
    }
    order.into_iter().filter_map(|name| found.remove_entry(&name)).collect()
}

/// What the pair says about one test; `None` where it is not there, or neither passed nor failed, in both arms.
fn flip(row: &Arms<Option<TestCase>>) -> Option<Flip> {
    let passed = |test: &Option<TestCase>| match test.as_ref()?.status {
        TestStatus::Passed => Some(true),
        TestStatus::Failed => Some(false),
        TestStatus::Skipped | TestStatus::Other => None,
    };
    Some(Flip::of(Arms { without: passed(&row.without)?, with: passed(&row.with)? }))
}

/// What is known of which test cases measure anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Measures {
    /// It does not matter here.
    NotAsked,
    /// The task version was not audited.
    NotAudited,
    /// By an audit; those named pass where nothing was done.
    Audited { pass_to_pass: Vec<String> },
}

impl Measures {
    /// By what an audit says; `None` = there was none.
    pub fn of(pass_to_pass: Option<Vec<String>>) -> Self {
        pass_to_pass.map_or(Self::NotAudited, |pass_to_pass| Self::Audited { pass_to_pass })
    }

    /// Whether a test case is known to pass where nothing was done.
    fn is_nothing(&self, name: &str) -> bool {
        matches!(self, Self::Audited { pass_to_pass } if pass_to_pass.iter().any(|other| other == name))
    }
}

/// The table, and apart from it the test cases that measure nothing.
#[component]
pub fn Tests(arms: Arms<Option<ArmDetail>>, measures: Measures) -> impl IntoView {
    let (apart, rows): (Vec<Row>, Vec<Row>) = rows(&arms).into_iter().partition(|(name, _)| measures.is_nothing(name));
    let changed = |wanted: Flip| rows.iter().filter(|(_, row)| flip(row) == Some(wanted)).count();
    let summary = format!(
        "{}: {} rescued, {} broken{}",
        plural(rows.len() as u64, "test", "tests"),
        changed(Flip::Rescued),
        changed(Flip::Broken),
        match (&measures, apart.len()) {
            (Measures::Audited { .. }, 0) => ". By the audit of this task, each of them measures something.".to_owned(),
            (Measures::Audited { .. }, n) => format!("; {n} more measure nothing and stand apart."),
            (Measures::NotAudited, _) =>
                ". The task was not audited, so that some of them may measure nothing.".to_owned(),
            (Measures::NotAsked, _) => String::new(),
        }
    );
    let none = rows.is_empty() && apart.is_empty();
    view! {
        <section class="section">
            <h2>"Test results"</h2>
            {if none {
                view! { <p class="quiet">"The verifier named no tests; its reward and output stand above and below."</p> }.into_any()
            } else {
                view! { <p class="quiet">{summary}</p>{table(rows)} }.into_any()
            }}
            {(!apart.is_empty()).then(|| {
                view! {
                    <h3>"Tests that pass without doing anything"</h3>
                    <p class="quiet">"By the audit of this task they pass where nothing was done, so they measure nothing, and are counted apart."</p>
                    {table(apart)}
                }
            })}
        </section>
    }
}

/// Nothing for no row.
fn table(rows: Vec<Row>) -> Option<impl IntoView> {
    (!rows.is_empty()).then(|| {
        view! {
            <div class="table-scroll">
                <table class="table table-tests">
                    <thead>
                        <tr>
                            <th scope="col">"Test"</th>
                            {Condition::BOTH.map(|arm| view! { <th scope="col"><ArmName condition=arm/></th> }).into_iter().collect_view()}
                            <th scope="col">"Change"</th>
                        </tr>
                    </thead>
                    <tbody>{rows.into_iter().map(table_row).collect_view()}</tbody>
                </table>
            </div>
        }
    })
}

fn table_row((name, row): Row) -> impl IntoView {
    let change = flip(&row);
    let messages = Condition::BOTH
        .into_iter()
        .filter_map(|condition| {
            let message = row.get(condition).as_ref()?.message.clone()?;
            Some(view! { <details class="message"><summary><ArmName condition=condition/>" message"</summary><LongText text=message/></details> })
        })
        .collect_view();
    view! {
        <tr>
            <th scope="row" class="foreign"><code>{name}</code>{messages}</th>
            {Condition::BOTH.map(|condition| view! { <td>{status(row.get(condition).as_ref())}</td> }).into_iter().collect_view()}
            <td>{change.map(|flip| view! { <FlipMark flip=Some(flip)/> })}</td>
        </tr>
    }
}

fn status(test: Option<&TestCase>) -> AnyView {
    let (sign, class) = match test.map(|test| test.status) {
        Some(TestStatus::Passed) => (Sign::Pass, "state state-pass"),
        Some(TestStatus::Failed) => (Sign::Fail, "state state-fail"),
        Some(TestStatus::Skipped) => (Sign::Barred, "state state-none"),
        Some(TestStatus::Other) => (Sign::NotScored, "state state-none"),
        None => {
            return view! { <span class="quiet">{UNKNOWN}<span class="visually-hidden">"not run"</span></span> }
                .into_any();
        }
    };
    let word = test.map(|test| test.status.word()).unwrap_or_default();
    view! { <span class=class><Icon sign=sign/><span>{word}</span></span> }.into_any()
}
