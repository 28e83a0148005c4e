//! Reads a Dockerfile into instructions with their lines. Knows continuations, comments, parser directives and heredocs; judges nothing.

use std::collections::BTreeMap;

/// A Dockerfile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dockerfile {
    /// In order.
    pub instructions: Vec<Instruction>,
    /// What ends a line that goes on; a backslash unless the file says otherwise.
    pub escape: char,
}

/// One instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// Of its first line, from 1.
    pub line: u32,
    /// In capitals.
    pub keyword: String,
    /// What follows the keyword, on one line, continuations joined, comments within left out.
    pub text: String,
    /// As written, all lines, heredocs included.
    pub raw: String,
    /// Heredocs of a RUN, COPY or ADD.
    pub heredocs: Vec<Heredoc>,
}

/// A heredoc.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heredoc {
    /// Its terminator.
    pub name: String,
    /// Whether variables in it are left alone.
    pub quoted: bool,
    /// Its lines, each with its end.
    pub body: String,
}

impl Dockerfile {
    /// Reads any text; what is no instruction becomes one with an odd keyword, which the builder will refuse.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines: Vec<&str> = text.lines().collect();
        let escape = escape_directive(&lines);
        let mut reader = Reader { lines: &lines, next: 0, escape };
        let mut instructions = Vec::new();
        while let Some(instruction) = reader.instruction() {
            instructions.push(instruction);
        }
        Self { instructions, escape }
    }

    /// The working folder that the last stage ends in, as far as the file alone tells: `None` where it comes from the base image.
    #[must_use]
    pub fn workdir(&self) -> Option<String> {
        let mut folder: Option<String> = None;
        for instruction in &self.instructions {
            match instruction.keyword.as_str() {
                "FROM" => folder = None,
                "WORKDIR" => {
                    let path = instruction.text.trim().trim_matches('"');
                    let above = folder.as_deref().unwrap_or("").trim_end_matches('/');
                    folder = Some(if path.starts_with('/') { path.to_owned() } else { format!("{above}/{path}") });
                }
                _ => {}
            }
        }
        folder
    }
}

impl Instruction {
    /// Leading `--name=value` (or `--name`) words, and the rest.
    #[must_use]
    pub fn flags(&self) -> (Vec<(&str, &str)>, &str) {
        let mut flags = Vec::new();
        let mut rest = self.text.trim_start();
        while let Some(flag) = rest.strip_prefix("--") {
            let (word, after) = flag.split_once(char::is_whitespace).unwrap_or((flag, ""));
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            flags.push((name, value));
            rest = after.trim_start();
        }
        (flags, rest)
    }

    /// Sources and destination of a COPY or ADD, in either form; `None` where it has none.
    #[must_use]
    pub fn copied(&self) -> Option<(Vec<String>, String)> {
        let (_, rest) = self.flags();
        let mut words: Vec<String> = match serde_json::from_str(rest.trim()) {
            Ok(words) => words,
            Err(_) => rest.split_whitespace().map(str::to_owned).collect(),
        };
        let destination = words.pop()?;
        (!words.is_empty()).then_some((words, destination))
    }
}

/// Replaces `$NAME`, `${NAME}`, `${NAME:-word}` and `${NAME:+word}`. `None` when a variable has no value.
#[must_use]
pub fn substitute(text: &str, vars: &BTreeMap<String, String>) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        if let Some(braced) = after.strip_prefix('{') {
            let (inside, after) = braced.split_once('}')?;
            out.push_str(&braced_value(inside, vars)?);
            rest = after;
        } else {
            let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
            let (name, after) = after.split_at(end);
            out.push_str(vars.get(name)?);
            rest = after;
        }
    }
    out.push_str(rest);
    Some(out)
}

fn braced_value(inside: &str, vars: &BTreeMap<String, String>) -> Option<String> {
    let set = |name: &str| vars.get(name).filter(|value| !value.is_empty());
    if let Some((name, word)) = inside.split_once(":-") {
        return Some(set(name).cloned().unwrap_or_else(|| word.to_owned()));
    }
    if let Some((name, word)) = inside.split_once(":+") {
        return Some(set(name).map(|_| word.to_owned()).unwrap_or_default());
    }
    if let Some((name, word)) = inside.split_once('-') {
        return Some(vars.get(name).cloned().unwrap_or_else(|| word.to_owned()));
    }
    vars.get(inside).cloned()
}

fn escape_directive(lines: &[&str]) -> char {
    for line in lines {
        let Some((name, value)) = line.trim().strip_prefix('#').and_then(|directive| directive.split_once('=')) else {
            break;
        };
        if name.trim().eq_ignore_ascii_case("escape") {
            return value.trim().chars().next().unwrap_or('\\');
        }
    }
    '\\'
}

struct Reader<'a> {
    lines: &'a [&'a str],
    next: usize,
    escape: char,
}

impl Reader<'_> {
    fn take(&mut self) -> Option<&str> {
        let line = self.lines.get(self.next)?;
        self.next += 1;
        Some(line)
    }

    fn instruction(&mut self) -> Option<Instruction> {
        let first = loop {
            let line = self.take()?.trim_start();
            if !line.is_empty() && !line.starts_with('#') {
                break self.next - 1;
            }
        };
        self.next = first;
        let logical = self.logical_line();
        let (keyword, text) = logical.trim_start().split_once(char::is_whitespace).unwrap_or((logical.trim(), ""));
        let keyword = keyword.to_ascii_uppercase();
        let heredocs = match keyword.as_str() {
            "RUN" | "COPY" | "ADD" => self.heredocs(text),
            _ => Vec::new(),
        };
        let raw = self.lines.get(first..self.next).unwrap_or_default().join("\n");
        let line = u32::try_from(first + 1).unwrap_or(u32::MAX);
        Some(Instruction { line, keyword, text: text.trim().to_owned(), raw, heredocs })
    }

    fn logical_line(&mut self) -> String {
        let escape = self.escape;
        let mut logical = String::new();
        let mut first = true;
        while let Some(line) = self.take() {
            // Comments and empty lines inside a continuation do not end it.
            if !first && (line.trim().is_empty() || line.trim_start().starts_with('#')) {
                continue;
            }
            first = false;
            match line.trim_end().strip_suffix(escape) {
                Some(head) => logical.push_str(head),
                None => {
                    logical.push_str(line);
                    break;
                }
            }
        }
        logical
    }

    fn heredocs(&mut self, text: &str) -> Vec<Heredoc> {
        let starts = heredoc_starts(text);
        let mut heredocs = Vec::new();
        for (name, quoted, strip_tabs) in starts {
            let mut body = String::new();
            while let Some(line) = self.take() {
                let line = if strip_tabs { line.trim_start_matches('\t') } else { line };
                if line == name {
                    break;
                }
                body.push_str(line);
                body.push('\n');
            }
            heredocs.push(Heredoc { name, quoted, body });
        }
        heredocs
    }
}

/// Names of the heredocs that a command line begins: name, whether quoted, whether leading tabs go.
fn heredoc_starts(text: &str) -> Vec<(String, bool, bool)> {
    let mut starts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<<") {
        rest = after;
        if before.ends_with('<') || after.starts_with('<') {
            rest = after.trim_start_matches('<');
            continue;
        }
        let (strip_tabs, word) = after.strip_prefix('-').map_or((false, after), |word| (true, word));
        let quote = word.chars().next().filter(|c| matches!(c, '"' | '\''));
        let word = quote.map_or(word, |quote| word.trim_start_matches(quote));
        let end =
            word.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.' | '-')).unwrap_or(word.len());
        let (name, _) = word.split_at(end);
        if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            starts.push((name.to_owned(), quote.is_some(), strip_tabs));
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keywords(text: &str) -> Vec<(u32, String, String)> {
        Dockerfile::parse(text).instructions.into_iter().map(|i| (i.line, i.keyword, i.text)).collect()
    }

    #[test]
    fn lines_continuations_comments_and_directives() {
        let text = "# escape=`\n# note\n\nfrom a AS b\nRUN x `\n  # inside\n\n  && y\nWORKDIR /w\n";
        let want = [(4, "FROM", "a AS b"), (5, "RUN", "x   && y"), (9, "WORKDIR", "/w")];
        assert_eq!(keywords(text), want.map(|(l, k, t)| (l, k.to_owned(), t.to_owned())));
        assert_eq!(keywords(""), []);
        assert_eq!(keywords("FROM x \\"), [(1, "FROM".to_owned(), "x".to_owned())]);
    }

    #[test]
    fn heredocs_are_taken_whole() {
        let text =
            "RUN python3 - <<'PY'\nprint(1 << 2)\nFROM not\nPY\nRUN <<-EOF\n\ta\n\tEOF\nRUN cat <<<x $((1<<2))\nCMD x";
        let got = Dockerfile::parse(text).instructions;
        let heredocs: Vec<Vec<(&str, bool, &str)>> = got
            .iter()
            .map(|i| i.heredocs.iter().map(|h| (h.name.as_str(), h.quoted, h.body.as_str())).collect())
            .collect();
        let want = [vec![("PY", true, "print(1 << 2)\nFROM not\n")], vec![("EOF", false, "a\n")], vec![], vec![]];
        assert_eq!(heredocs, want);
        assert_eq!(got.iter().map(|i| i.line).collect::<Vec<_>>(), [1, 5, 8, 9]);
    }

    #[test]
    fn the_last_stage_tells_the_working_folder() {
        for (text, want) in [
            ("FROM a\nWORKDIR /root", Some("/root")),
            ("FROM a\nWORKDIR /app\nWORKDIR workspace", Some("/app/workspace")),
            ("FROM a AS x\nWORKDIR /x\nFROM b", None),
            ("FROM a", None),
        ] {
            assert_eq!(Dockerfile::parse(text).workdir().as_deref(), want, "{text}");
        }
    }

    #[test]
    fn variables_are_replaced_or_missed() {
        let vars = BTreeMap::from([("V".to_owned(), "3.12".to_owned()), ("E".to_owned(), String::new())]);
        for (text, want) in [
            ("python:$V-slim", Some("python:3.12-slim")),
            ("python:${V}-slim", Some("python:3.12-slim")),
            ("a:${X:-1}", Some("a:1")),
            ("a:${E:-1}${E-2}", Some("a:1")),
            ("a${V:+-x}", Some("a-x")),
            ("a:$X", None),
            ("a:${V", None),
        ] {
            assert_eq!(substitute(text, &vars).as_deref(), want, "{text}");
        }
    }
}
