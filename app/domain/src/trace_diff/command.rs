//! A shell line taken apart as far as a comparison needs it: which programs it runs, with which subcommand, on which files.

/// One program of a shell line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Command {
    /// Its name without a path.
    pub program: String,
    /// The first word that is no option, for programs that have subcommands.
    pub subcommand: Option<String>,
    /// Words that look like files, in order, each once.
    pub files: Vec<String>,
}

/// Programs whose first word says what they do.
const WITH_SUBCOMMAND: [&str; 17] = [
    "git", "cargo", "go", "npm", "pnpm", "yarn", "npx", "pip", "pip3", "uv", "docker", "kubectl", "apt", "apt-get",
    "make", "poetry", "bundle",
];

/// Programs before the program: they change how it runs, not what.
const WRAPPERS: [&str; 8] = ["sudo", "env", "time", "timeout", "nohup", "exec", "command", "nice"];

/// The programs of a shell line, in order. Quoting is followed as far as the separators need it; what cannot be told stays a word.
pub(super) fn commands(line: &str) -> Vec<Command> {
    pieces(line).iter().filter_map(|words| command(words)).collect()
}

/// Words between `&&`, `||`, `;`, `|`, `&` and line ends that are not quoted.
fn pieces(line: &str) -> Vec<Vec<String>> {
    let (mut pieces, mut words, mut word) = (Vec::new(), Vec::new(), String::new());
    let mut quote = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => word.push(c),
            (None, '\'' | '"') => quote = Some(c),
            (None, '\\') => word.extend(chars.next()),
            (None, '&' | '|' | ';' | '\n') => {
                push(&mut words, &mut word);
                pieces.push(std::mem::take(&mut words));
            }
            (None, _) if c.is_whitespace() => push(&mut words, &mut word),
            (None, _) => word.push(c),
        }
    }
    push(&mut words, &mut word);
    pieces.push(words);
    pieces
}

fn push(words: &mut Vec<String>, word: &mut String) {
    if !word.is_empty() {
        words.push(std::mem::take(word));
    }
}

fn command(words: &[String]) -> Option<Command> {
    let is_setting =
        |word: &str| word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains(['/', '-']));
    let is_plain = |word: &&String| !word.starts_with('-') && !word.starts_with(['<', '>']);
    let mut rest = words.iter().skip_while(|word| {
        is_setting(word)
            || WRAPPERS.contains(&word.as_str())
            || word.starts_with('-')
            || word.bytes().all(|b| b.is_ascii_digit())
    });
    let program = rest.next()?;
    let program = program.rsplit('/').next().unwrap_or(program).to_owned();
    let rest: Vec<&String> = rest.collect();
    let runs_module = program.starts_with("python") && rest.first().is_some_and(|word| *word == "-m");
    let subcommand = if runs_module {
        rest.get(1).map(|word| (*word).clone())
    } else if WITH_SUBCOMMAND.contains(&program.as_str()) {
        rest.iter().find(|word| is_plain(word)).map(|word| (*word).clone())
    } else {
        None
    };
    let mut files: Vec<String> = Vec::new();
    for word in rest.iter().filter(|word| is_plain(word)) {
        let looks =
            word.contains('/') || word.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && end.len() <= 5);
        if looks && !files.contains(word) && word.len() < 200 {
            files.push((*word).clone());
        }
    }
    Some(Command { program, subcommand, files })
}

/// Whether a program of this kind runs tests.
pub(super) fn is_test_run(command: &Command) -> bool {
    let by_name =
        ["pytest", "py.test", "tox", "nox", "jest", "vitest", "mocha", "rspec", "phpunit", "ctest", "unittest"];
    let subcommand = command.subcommand.as_deref().unwrap_or_default();
    let file = |command: &Command| {
        command.files.iter().any(|file| file.ends_with("test.sh") || file.ends_with("run_tests.sh"))
    };
    by_name.contains(&command.program.as_str())
        || by_name.contains(&subcommand)
        || subcommand == "test"
        || subcommand == "nextest"
        || command.program == "test.sh"
        || (matches!(command.program.as_str(), "bash" | "sh") && file(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> Vec<String> {
        let words = |command: Command| {
            let sub = command.subcommand.map(|sub| format!(" {sub}")).unwrap_or_default();
            format!("{}{sub} {:?}", command.program, command.files)
        };
        commands(line).into_iter().map(words).collect()
    }

    #[test]
    fn a_line_is_its_programs() {
        for (line, expected) in [
            ("cd /app && git status -s", vec!["cd [\"/app\"]", "git status []"]),
            (
                "X=1 sudo /usr/bin/python3 -m pytest tests/a.py | tail -5",
                vec!["python3 pytest [\"tests/a.py\"]", "tail []"],
            ),
            ("echo 'a && b' > out.txt; cat out.txt", vec!["echo [\"out.txt\"]", "cat [\"out.txt\"]"]),
            ("timeout 60 cargo test --all", vec!["cargo test []"]),
            ("", vec![]),
            ("\"unclosed", vec!["unclosed []"]),
        ] {
            assert_eq!(told(line), expected, "{line}");
        }
    }

    #[test]
    fn test_runs_are_known() {
        let runs = |line: &str| commands(line).iter().any(is_test_run);
        for line in [
            "pytest -q",
            "python -m unittest",
            "cargo nextest run",
            "npm test",
            "bash tests/test.sh",
            "cd x && go test ./...",
        ] {
            assert!(runs(line), "{line}");
        }
        for line in ["cat test.py", "git test-thing", "test -f x", "ls tests/"] {
            assert!(!runs(line), "{line}");
        }
    }
}
