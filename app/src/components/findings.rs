//! Findings: where, what, how grave, and how to mend it.

use domain::finding::{Finding, Severity};
use domain::listing::FindingCounts;
use leptos::prelude::*;

use super::icon::{Icon, Sign};
use crate::format::plural;

/// Class and sign of a severity.
const fn look(severity: Severity) -> (&'static str, Sign) {
    match severity {
        Severity::Error => ("finding finding-error", Sign::Error),
        Severity::Warning => ("finding finding-warning", Sign::Warning),
        Severity::Note => ("finding finding-note", Sign::Note),
    }
}

/// The place in the form `file:line:column`.
fn place(finding: &Finding) -> String {
    let mut place = finding.file.clone();
    for part in [finding.line, finding.line.and(finding.column)].into_iter().flatten() {
        place.push_str(&format!(":{part}"));
    }
    place
}

/// All findings, one under the other; nothing where there are none.
#[component]
pub fn FindingList(findings: Vec<Finding>) -> impl IntoView {
    (!findings.is_empty()).then(|| {
        view! { <ul class="findings">{findings.into_iter().map(item).collect_view()}</ul> }
    })
}

fn item(finding: Finding) -> impl IntoView {
    let (class, sign) = look(finding.severity);
    view! {
        <li class=class>
            <Icon sign=sign/>
            <div>
                <p class="finding-head">
                    <strong>{finding.severity.word()}</strong>
                    <code class="place">{place(&finding)}</code>
                    <code class="code">{finding.code.clone()}</code>
                </p>
                <p class="finding-message">{finding.message.clone()}</p>
                {finding.hint.map(|hint| view! { <p class="finding-hint"><span class="quiet">"Hint: "</span>{hint}</p> })}
            </div>
        </li>
    }
}

/// How many findings, in one line.
#[component]
pub fn FindingNumbers(counts: FindingCounts) -> impl IntoView {
    if counts == FindingCounts::default() {
        return view! { <span class="finding-count ok"><Icon sign=Sign::Pass/>"no findings"</span> }.into_any();
    }
    let part = |n: u32, one: &'static str, many: &'static str, severity: Severity| {
        let class = match severity {
            Severity::Error => "finding-count error",
            Severity::Warning => "finding-count warning",
            Severity::Note => "finding-count",
        };
        (n > 0)
            .then(|| view! { <span class=class><Icon sign=look(severity).1/>{plural(u64::from(n), one, many)}</span> })
    };
    view! {
        <span class="finding-counts">
            {part(counts.errors, "error", "errors", Severity::Error)}
            {part(counts.warnings, "warning", "warnings", Severity::Warning)}
            {part(counts.notes, "note", "notes", Severity::Note)}
        </span>
    }
    .into_any()
}
