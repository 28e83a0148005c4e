//! A task's Dockerfile, checked by sight: that it builds on something, and that it asks for nothing which opens the host.

use domain::finding::Finding;

/// One instruction: its first line, from 1, and its text with continuation lines joined.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Instruction {
    line: u32,
    text: String,
}

/// Findings about a Dockerfile. `file` is its path in the task.
pub(super) fn check(file: &str, bytes: &[u8], out: &mut Vec<Finding>) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        out.push(Finding::error("not_utf8", file, "the Dockerfile is not UTF-8").hint("save the file as UTF-8"));
        return;
    };
    let instructions = instructions(text);
    if !instructions.iter().any(|instruction| word(&instruction.text) == "FROM") {
        let finding = Finding::error("dockerfile_without_base", file, "the Dockerfile has no `FROM` line");
        out.push(finding.hint("begin it with `FROM ubuntu:24.04` or another image"));
    }
    out.extend(instructions.iter().filter_map(|instruction| opens_host(file, instruction)));
    out.extend(instructions.iter().filter_map(|instruction| needs_buildkit(file, instruction)));
}

/// BuildKit options by which a build step reaches the host's network, keys or devices.
fn opens_host(file: &str, instruction: &Instruction) -> Option<Finding> {
    let mut flags = flags(&instruction.text);
    let flag = flags.find(|flag| {
        let flag = flag.to_ascii_lowercase();
        ["--security=insecure", "--network=host", "--device"].iter().any(|bad| flag.starts_with(bad))
            || (flag.starts_with("--mount=") && (flag.contains("type=ssh") || flag.contains("type=secret")))
    })?;
    let finding =
        Finding::error("opens_host", file, format!("`{flag}` opens the host to the build")).at(instruction.line, None);
    Some(finding.hint("remove it; a build may reach the network and its own files only"))
}

fn needs_buildkit(file: &str, instruction: &Instruction) -> Option<Finding> {
    let what = if heredoc_end(&instruction.text).is_some() {
        "a heredoc"
    } else if flags(&instruction.text).any(|flag| flag.starts_with("--mount=")) {
        "`--mount`"
    } else {
        return None;
    };
    let message = format!("{what} is understood by BuildKit only");
    let finding = Finding::warning("needs_buildkit", file, message).at(instruction.line, None);
    Some(finding.hint("an engine with the older builder cannot build this image"))
}

/// The first word, in capitals; `ONBUILD` is looked through.
fn word(text: &str) -> String {
    let mut words = text.split_whitespace().map(str::to_ascii_uppercase);
    let first = words.next().unwrap_or_default();
    if first == "ONBUILD" { words.next().unwrap_or_default() } else { first }
}

/// The `--flags` behind the instruction's word.
fn flags(text: &str) -> impl Iterator<Item = &str> {
    let skipped = if text.trim_start().to_ascii_uppercase().starts_with("ONBUILD") { 2 } else { 1 };
    text.split_whitespace().skip(skipped).take_while(|part| part.starts_with("--"))
}

fn instructions(text: &str) -> Vec<Instruction> {
    let mut found: Vec<Instruction> = Vec::new();
    let mut joining = false;
    let mut heredoc: Option<String> = None;
    for (index, line) in text.lines().enumerate() {
        let bare = line.trim();
        if let Some(end) = &heredoc {
            if bare == end {
                heredoc = None;
            }
            continue;
        }
        if bare.is_empty() || bare.starts_with('#') {
            continue;
        }
        let continues = bare.ends_with('\\');
        let part = bare.trim_end_matches('\\').trim_end();
        match found.last_mut().filter(|_| joining) {
            Some(last) => last.text = format!("{} {part}", last.text),
            None => {
                found.push(Instruction { line: u32::try_from(index + 1).unwrap_or(u32::MAX), text: part.to_owned() })
            }
        }
        joining = continues;
        if !continues {
            heredoc = found.last().and_then(|last| heredoc_end(&last.text));
        }
    }
    found
}

/// The word that ends the heredoc which a `RUN`, `COPY` or `ADD` opens.
fn heredoc_end(text: &str) -> Option<String> {
    if !matches!(word(text).as_str(), "RUN" | "COPY" | "ADD") {
        return None;
    }
    let (_, rest) = text.split_once("<<")?;
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start_matches(['\'', '"']);
    let end: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    (!end.is_empty() && !end.starts_with(|c: char| c.is_ascii_digit())).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::check;

    fn codes(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        check("environment/Dockerfile", text.as_bytes(), &mut out);
        out.into_iter().map(|finding| format!("{} {:?}", finding.code, finding.line.unwrap_or(0))).collect()
    }

    #[test]
    fn what_opens_the_host_is_named_with_its_line() {
        for (text, want) in [
            ("FROM a\nRUN x \\\n  && y << 2\n", vec![]),
            ("# FROM a\n", vec!["dockerfile_without_base 0"]),
            ("FROM a\n# c\nRUN --network=host x\n", vec!["opens_host 3"]),
            ("FROM a\nRUN \\\n  --security=insecure x\n", vec!["opens_host 2"]),
            ("FROM a\nRUN --mount=type=ssh x\n", vec!["opens_host 2", "needs_buildkit 2"]),
            ("FROM a\nRUN --mount=type=cache,target=/c x\n", vec!["needs_buildkit 2"]),
            ("FROM a\nRUN python3 - <<'PY'\nRUN --network=host\nPY\nRUN y\n", vec!["needs_buildkit 2"]),
            ("FROM a\nRUN echo --network=host\n", vec![]),
        ] {
            assert_eq!(codes(text), want, "{text:?}");
        }
    }
}
