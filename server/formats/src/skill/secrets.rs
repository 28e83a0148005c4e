//! Keys and passwords by their shape, in the files of a skill: whoever gets the skill gets them, and so does the agent's model.

use std::sync::LazyLock;

use domain::finding::Finding;
use regex::{Regex, RegexSet};

/// What is looked for: what it is called, and its shape. Only shapes that vendors give their keys on purpose, so that text is not taken for one.
const SHAPES: [(&str, &str); 13] = [
    ("a private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----\s*\\?[A-Za-z0-9+/=\r\n]{40,}"),
    ("an Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{24,}"),
    ("an OpenAI key", r"\bsk-(?:proj-|svcacct-|admin-)[A-Za-z0-9_-]{32,}|\bsk-[A-Za-z0-9]{40,}"),
    ("an AWS key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{36,}|\bgithub_pat_[A-Za-z0-9_]{60,}"),
    ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("a Google key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("a Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{20,}"),
    ("a Stripe key", r"\b[rs]k_live_[0-9A-Za-z]{20,}"),
    ("an npm token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("a PyPI token", r"\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{40,}"),
    (
        "a password in a URL",
        r"\b[a-z][a-z0-9+.-]{1,15}://[^\s:/@'\x22<>{}$]{1,64}:[^\s:/@'\x22<>{}$]{8,64}@[a-z0-9-]+\.[a-z]",
    ),
];
/// Characters of a key that are shown.
const SHOWN: usize = 8;
/// Fewer different characters than this are a stand-in such as `sk-ant-xxxxxxxx`.
const LEAST_VARIETY: usize = 10;

static SET: LazyLock<Option<RegexSet>> = LazyLock::new(|| RegexSet::new(SHAPES.map(|(_, shape)| shape)).ok());
static EACH: LazyLock<Vec<Option<Regex>>> =
    LazyLock::new(|| SHAPES.iter().map(|(_, shape)| Regex::new(shape).ok()).collect());

/// A warning for each kind of secret in a file, at the first of its kind. The secret itself is not repeated.
pub(super) fn check(file: &str, text: &str, out: &mut Vec<Finding>) {
    let Some(set) = SET.as_ref() else { return };
    for index in set.matches(text) {
        let (Some((what, _)), Some(Some(shape))) = (SHAPES.get(index), EACH.get(index)) else { continue };
        let Some(found) = shape.find_iter(text).find(|found| is_real(found.as_str())) else { continue };
        let before = text.get(..found.start()).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let shown: String = found.as_str().chars().take(SHOWN).collect();
        let message = format!("this looks like {what}: `{shown}…`");
        let finding = Finding::warning("secret", file, message)
            .at(u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).ok());
        out.push(
            finding.hint("take it out and revoke it: whoever gets the skill has it, and so has the agent's model"),
        );
    }
}

/// Whether it is no stand-in of a text that explains.
fn is_real(found: &str) -> bool {
    let lower = found.to_ascii_lowercase();
    let stand_in = ["example", "xxxx", "your", "placeholder", "1234567890", "abcdef", "dummy", "password", "changeme"];
    let variety: std::collections::BTreeSet<char> = found.chars().collect();
    variety.len() >= LEAST_VARIETY && !stand_in.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_a_regular_expression() {
        assert!(SET.is_some() && EACH.iter().all(Option::is_some));
    }

    /// The keys are put together here, so that no scanner takes this file for one that holds any.
    #[test]
    fn keys_are_told_and_stand_ins_are_not() {
        let noise = "q7Wm2ZrT9pLx4KdV8sBn3HcY6jFgU1eAo5Ri";
        for (text, want) in [
            (format!("key: sk-ant-{noise}"), "an Anthropic key"),
            (format!("OPENAI_API_KEY=sk-proj-{noise}"), "an OpenAI key"),
            (format!("token ghp_{noise}"), "a GitHub token"),
            (format!("AKIA{}", "Q7WM2ZRT9PLX4KDV"), "an AWS key"),
            (format!("-----BEGIN RSA PRIVATE KEY-----\n{noise}{noise}\n"), "a private key"),
            (format!("postgres://admin:{}@db.sheep.net/x", "q7Wm2ZrT9p"), "a password in a URL"),
            ("AKIAIOSFODNN7EXAMPLE".to_owned(), ""),
            (format!("sk-ant-{}", "x".repeat(40)), ""),
            ("sk-your-key-goes-here-and-nowhere-else-at-all".to_owned(), ""),
            ("postgres://user:password@host.example/db".to_owned(), ""),
            ("-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----".to_owned(), ""),
            ("task-based-orchestration-of-many-small-things-and-more".to_owned(), ""),
        ] {
            let mut out = Vec::new();
            check("SKILL.md", &format!("\n {text}"), &mut out);
            let told = out.first().map(|finding| finding.message.as_str()).unwrap_or_default();
            assert_eq!(told.split(" like ").nth(1).and_then(|rest| rest.split(": `").next()).unwrap_or_default(), want);
            assert!(out.iter().all(|finding| finding.line == Some(2) && !finding.message.contains(noise)), "{out:?}");
        }
    }
}
