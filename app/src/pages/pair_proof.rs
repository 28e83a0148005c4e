//! The proof that the skill was there in one arm and not in the other, and what the agent did with it.

use domain::condition::{Condition, Pair as Arms};
use domain::listing::ArmDetail;
use domain::skill_audit::{SkillAudit, SkillText};
use leptos::prelude::*;

use crate::components::arms::ArmName;
use crate::components::icon::{Icon, Sign};
use crate::format::{UNKNOWN, count, plural};

/// What the audit found where the agent looks, and what the trace proves.
#[component]
pub fn Proof(arms: Arms<Option<ArmDetail>>) -> impl IntoView {
    view! {
        <section class="section">
            <h2>"Proof of the treatment"</h2>
            <div class="columns">
                {Condition::BOTH.map(|arm| proof(arm, arms.get(arm).as_ref())).into_iter().collect_view()}
            </div>
        </section>
    }
}

fn proof(condition: Condition, arm: Option<&ArmDetail>) -> AnyView {
    let result = arm.and_then(|arm| arm.result.as_ref());
    let activation = result.map(|result| result.activation.clone()).unwrap_or_default();
    let file = |(path, step): (String, Option<usize>)| {
        let step = step.map(|step| view! { <span class="quiet">{format!("step {step}")}</span> });
        view! { <li><span class="foreign">{path}</span>" "{step}</li> }
    };
    // Without a trace nobody knows what was read.
    let files = arm.filter(|arm| arm.trace.is_some()).map(|arm| arm.files_read.clone());
    view! {
        <div class="proof">
            <h3><ArmName condition=condition/></h3>
            {match result.and_then(|result| result.audit.as_ref()) {
                Some(audit) => audit_words(condition, audit).into_any(),
                None => view! { <p class="quiet">"No audit: the trial has not come that far."</p> }.into_any(),
            }}
            <dl class="facts">
                <div><dt>"Offered to the model"</dt><dd>{yes_no(activation.listed)}</dd></div>
                <div><dt>"Opened by the agent"</dt><dd>{yes_no(activation.opened)}</dd></div>
                <div><dt>"Its text in the context"</dt><dd class="num">{result.map_or_else(|| UNKNOWN.to_owned(), |_| skill_text(activation.skill_text))}</dd></div>
                <div>
                    <dt>"Files read"</dt>
                    <dd>
                        {match files {
                            None => UNKNOWN.into_any(),
                            Some(files) if files.is_empty() => "none".into_any(),
                            Some(files) => {
                                view! { <ol class="files-read">{files.into_iter().map(file).collect_view()}</ol> }.into_any()
                            }
                        }}
                    </dd>
                </div>
            </dl>
        </div>
    }
    .into_any()
}

/// An estimate that says so.
fn skill_text(text: Option<SkillText>) -> String {
    match text {
        None => "not seen on the wire".to_owned(),
        Some(text) => format!(
            "about {} tokens, about {} over all requests (estimated: {} characters each)",
            count(text.estimated_tokens()),
            count(text.estimated_tokens_sent()),
            SkillText::CHARACTERS_PER_TOKEN,
        ),
    }
}

const fn yes_no(known: Option<bool>) -> &'static str {
    match known {
        Some(true) => "yes",
        Some(false) => "no",
        None => "cannot be told",
    }
}

fn audit_words(condition: Condition, audit: &SkillAudit) -> impl IntoView + use<> {
    let as_it_should = audit.found.is_empty() == (condition == Condition::NoSkill);
    let (sign, class) = if as_it_should { (Sign::Pass, "state state-pass") } else { (Sign::Error, "state state-fail") };
    let words = match (condition, audit.found.len()) {
        (Condition::NoSkill, 0) => "no skill where the agent looks".to_owned(),
        (_, 0) => "no skill found".to_owned(),
        (_, n) => format!("{} found", plural(n as u64, "skill", "skills")),
    };
    let found = audit.found.iter().map(|skill| view! { <li><b class="foreign">{skill.name.clone()}</b>" " <code class="foreign">{skill.path.clone()}</code></li> }).collect_view();
    let removed = audit.removed.join(", ");
    view! {
        <p><span class=class><Icon sign=sign/><span>{words}</span></span></p>
        <ul class="plain-list">{found}</ul>
        <p class="quiet foreign">{format!("Looked in {}", audit.looked_in.join(", "))}</p>
        {(!removed.is_empty()).then(|| view! { <p class="quiet foreign">{format!("Removed in both arms: {removed}")}</p> })}
    }
}
