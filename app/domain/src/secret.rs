//! The forms in which a value that must stay secret may stand in what others print: as it is, and as programs print it that show an environment
//! or a document.

use serde_json::Value;

/// Lines and parts of a value that are shorter say too little to be looked for: they would blot out ordinary text.
const SHORTEST_PART: usize = 16;

/// Everything to look for where `value` must not appear, the value itself first: escaped as in JSON and as Python shows it, without white space
/// around it, each of its lines, and the texts within it where it is a JSON document.
#[must_use]
pub fn forms(value: &str) -> Vec<String> {
    let mut forms = vec![value.to_owned(), value.trim().to_owned()];
    forms.extend(escaped(value));
    let document =
        serde_json::from_str(value).ok().filter(|document: &Value| document.is_object() || document.is_array());
    let mut parts: Vec<String> = value.lines().map(str::to_owned).collect();
    if let Some(document) = &document {
        texts(document, &mut parts);
    }
    for part in parts {
        for form in [escaped(part.trim()), part.lines().map(|line| line.trim().to_owned()).collect()].concat() {
            if form.len() >= SHORTEST_PART && !is_mark(&form) {
                forms.push(form);
            }
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    forms.retain(|form| !form.is_empty() && seen.insert(form.clone()));
    forms
}

/// `-----BEGIN …`: it stands in every key.
fn is_mark(line: &str) -> bool {
    line.starts_with("-----") && line.ends_with("-----") && !line.contains(['\n', '\\'])
}

/// The texts of a document, of whatever depth.
fn texts(document: &Value, out: &mut Vec<String>) {
    match document {
        Value::String(text) => out.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, out)),
        Value::Object(fields) => fields.values().for_each(|value| texts(value, out)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// As JSON and Python write it within quotes: with every sign as it is or in ASCII alone, and with either kind of quote escaped, or none.
fn escaped(text: &str) -> Vec<String> {
    let mut forms = Vec::new();
    for quote in [Some('"'), Some('\''), None] {
        for style in [Style::Json, Style::JsonAscii, Style::Python] {
            let mut form = String::with_capacity(text.len());
            text.chars().for_each(|sign| style.write(sign, quote, &mut form));
            forms.push(form);
        }
    }
    forms
}

#[derive(Clone, Copy, PartialEq)]
enum Style {
    Json,
    JsonAscii,
    Python,
}

impl Style {
    fn write(self, sign: char, quote: Option<char>, out: &mut String) {
        match sign {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            '\u{8}' if self != Self::Python => out.push_str("\\b"),
            '\u{c}' if self != Self::Python => out.push_str("\\f"),
            _ if Some(sign) == quote => out.extend(['\\', sign]),
            _ if self == Self::Python && (sign.is_ascii_control() || ('\u{80}'..'\u{a0}').contains(&sign)) => {
                out.push_str(&format!("\\x{:02x}", u32::from(sign)));
            }
            _ if sign < ' ' || (self == Self::JsonAscii && !sign.is_ascii()) => {
                let mut units = [0; 2];
                sign.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
            }
            _ => out.push(sign),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_key_has_one_form() {
        assert_eq!(forms("sk-test-0000EXAMPLE0000KEY"), ["sk-test-0000EXAMPLE0000KEY"]);
        assert_eq!(forms("  spaced out key\n")[..2], ["  spaced out key\n", "spaced out key"]);
    }

    /// What `json.dumps` and `repr` of Python make of the values, taken from it.
    #[test]
    fn printed_forms_are_found() {
        let pem = "-----BEGIN KEY-----\nMIIEexampleexampleexample01\nMIIEexampleexampleexample02\n-----END KEY-----\n";
        let account = "{\n  \"type\": \"service_account\",\n  \"private_key\": \"-----BEGIN KEY-----\\nMIIEexampleexampleexample01\\n\"\n}\n";
        for (value, printed) in [
            (
                pem,
                r"-----BEGIN KEY-----\nMIIEexampleexampleexample01\nMIIEexampleexampleexample02\n-----END KEY-----\n",
            ),
            (pem, "MIIEexampleexampleexample02"),
            (pem, pem.trim()),
            (
                account,
                r#"{\n  \"type\": \"service_account\",\n  \"private_key\": \"-----BEGIN KEY-----\\nMIIEexampleexampleexample01\\n\"\n}\n"#,
            ),
            (
                account,
                r#"{\n  "type": "service_account",\n  "private_key": "-----BEGIN KEY-----\\nMIIEexampleexampleexample01\\n"\n}\n"#,
            ),
            (account, r"-----BEGIN KEY-----\nMIIEexampleexampleexample01"),
            (account, "MIIEexampleexampleexample01"),
            ("a'b\"c\\d", r#"a\'b"c\\d"#),
            ("a'b\"c\\d", r#"a'b\"c\\d"#),
            ("caf\u{e9} \u{1f411}\u{7f}", "caf\\u00e9 \\ud83d\\udc11\u{7f}"),
            ("caf\u{e9} \u{1f411}\u{7f}", "caf\u{e9} \u{1f411}\\x7f"),
            ("bell\u{7}", r"bell\x07"),
            ("bell\u{7}", r"bell\u0007"),
        ] {
            assert!(forms(value).iter().any(|form| form == printed), "{printed:?} of {value:?}");
        }
    }

    #[test]
    fn ordinary_text_is_not_looked_for() {
        let value = "{\"a\": \"no\", \"type\": \"short\"}\n-----BEGIN RSA PRIVATE KEY-----\nshort line\n";
        let found = forms(value);
        for text in ["no", "short", "short line", "-----BEGIN RSA PRIVATE KEY-----", ""] {
            assert!(!found.iter().any(|form| form == text), "{text}");
        }
    }
}
