//! The likely cause of a YAML syntax error, told from the text around it: parsers speak of tokens, people wrote a colon.

/// What most likely went wrong, and where. Lines and columns count from 1 within the YAML text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cause {
    pub(super) code: &'static str,
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) message: String,
    pub(super) hint: String,
}

/// The cause of an error that the parser met on `line` with the words `message`; `None` where it cannot be told.
pub(super) fn cause(yaml: &str, line: usize, message: &str) -> Option<Cause> {
    let lines: Vec<&str> = yaml.lines().collect();
    // A parser sees a fault at its token or only after it, so the line before counts as well.
    let near = [line, line.saturating_sub(1), line.saturating_add(1)];
    let at = |number: usize| Some((number, *lines.get(number.checked_sub(1)?)?));
    let tabbed = near.into_iter().filter_map(at).find_map(|(number, text)| tab_indent(number, text));
    let tab_said = || at(line).filter(|_| message.contains("tab")).and_then(|(number, text)| any_tab(number, text));
    let key_lines = [line, line.saturating_sub(1)];
    let valued = || key_lines.into_iter().filter_map(at).find_map(|(number, text)| in_value(number, text));
    let shifted = || at(line).filter(|_| message.contains("mapping values")).map(|(number, text)| shift(number, text));
    tabbed.or_else(tab_said).or_else(valued).or_else(shifted)
}

fn shift(line: usize, text: &str) -> Cause {
    Cause {
        code: "yaml_syntax",
        line,
        column: text.chars().take_while(|c| *c == ' ').count() + 1,
        message: "the indentation of this line does not fit the line above".to_owned(),
        hint: "begin top-level fields in the first column".to_owned(),
    }
}

fn tab_indent(line: usize, text: &str) -> Option<Cause> {
    let column = text.chars().take_while(|c| c.is_whitespace()).position(|c| c == '\t')? + 1;
    Some(Cause {
        code: "yaml_tab",
        line,
        column,
        message: "a tab is used for indentation".to_owned(),
        hint: "use spaces".to_owned(),
    })
}

fn any_tab(line: usize, text: &str) -> Option<Cause> {
    let column = text.chars().position(|c| c == '\t')? + 1;
    Some(Cause {
        code: "yaml_tab",
        line,
        column,
        message: "a tab stands where only spaces may stand".to_owned(),
        hint: "replace the tab by a space".to_owned(),
    })
}

/// A fault in the value of a `key: value` line, or in a further line of a value without quotes.
fn in_value(line: usize, text: &str) -> Option<Cause> {
    let (key, value) = text.split_once(':')?;
    let indented = text.starts_with(' ');
    let (label, rest, skipped) = if indented && key.trim().contains(' ') {
        (None, text, 0)
    } else {
        (Some(key.trim()), value, key.chars().count() + 1)
    };
    let blanks = rest.chars().take_while(|c| c.is_whitespace()).count();
    let value = rest.trim();
    let column = skipped + blanks + 1;
    let message = match value.chars().next()? {
        '[' | '{' => "square brackets or braces begin a list or a map here, and it does not end as one",
        '"' | '\'' => "the quotes of this value do not match, or text follows them",
        '@' | '`' | '%' | '*' | '&' | '!' => "a value without quotes cannot begin with this sign",
        '|' | '>' => return None,
        _ => {
            let colon = value.find(": ").or_else(|| value.ends_with(':').then_some(value.len() - 1))?;
            let colon = value.get(..colon)?.chars().count();
            let message = "a colon and a space stand in a value without quotes";
            return Some(syntax(line, column + colon, message, label, value));
        }
    };
    Some(syntax(line, column, message, label, value))
}

fn syntax(line: usize, column: usize, message: &str, key: Option<&str>, value: &str) -> Cause {
    let hint = match key {
        Some(key) if !value.starts_with(['"', '\'']) => {
            let start: String = value.chars().take(24).filter(|c| *c != '"').collect();
            let dots = if value.chars().nth(24).is_some() { "…" } else { "" };
            format!("put the value in quotes: `{key}: \"{start}{dots}\"`")
        }
        Some(_) => "quote the whole value; write a quote inside it as \\\" or use the other kind of quotes".to_owned(),
        None => "put the whole value in quotes, or begin it with `>-` on the line of its key".to_owned(),
    };
    Cause { code: "yaml_syntax", line, column, message: message.to_owned(), hint }
}
