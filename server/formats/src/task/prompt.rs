//! The prompt in the body of a `task.md`: the whole body, unless reserved headings cut it into sections.

/// The body, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Prompt {
    /// The section `## prompt`; what stands before the first section where there is none; the whole body without sections.
    pub(super) instruction: String,
    /// Sections for other roles, with their line in the body, from 0.
    pub(super) other_sections: Vec<(String, usize)>,
    /// Headings that occur again, with their line in the body, from 0.
    pub(super) twice: Vec<(String, usize)>,
}

/// Reads a body with bare line feeds. `\## prompt` is a literal heading of the prompt itself.
pub(super) fn read(body: &str) -> Prompt {
    let mut prompt = Prompt::default();
    let mut sections: Vec<(String, String)> = vec![(String::new(), String::new())];
    for (number, line) in body.lines().enumerate() {
        if let Some(heading) = reserved(line) {
            if sections.iter().any(|(seen, _)| *seen == heading) {
                prompt.twice.push((heading.clone(), number));
            }
            if heading != "prompt" {
                prompt.other_sections.push((heading.clone(), number));
            }
            sections.push((heading, String::new()));
        } else if let Some((_, text)) = sections.last_mut() {
            text.push_str(unescaped(line));
            text.push('\n');
        }
    }
    let chosen = sections.iter().find(|(heading, _)| heading == "prompt").or(sections.first());
    prompt.instruction = chosen.map(|(_, text)| text.trim().to_owned()).unwrap_or_default();
    prompt
}

/// The name of a reserved heading: `prompt`, `role:x`, `scene:x` or `user-persona`.
fn reserved(line: &str) -> Option<String> {
    let rest = line.strip_prefix("##")?;
    let heading = rest.strip_prefix(char::is_whitespace)?.trim();
    let word = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
    };
    if let Some((kind, name)) = heading.split_once(':') {
        let kind = kind.to_ascii_lowercase();
        return (matches!(kind.as_str(), "role" | "scene") && word(name)).then(|| format!("{kind}:{name}"));
    }
    let heading = heading.to_ascii_lowercase();
    matches!(heading.as_str(), "prompt" | "user-persona").then_some(heading)
}

fn unescaped(line: &str) -> &str {
    match line.strip_prefix('\\') {
        Some(rest) if reserved(rest).is_some() => rest,
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn the_prompt_is_the_body_or_its_section() {
        for (body, want) in [
            ("\nDo it.\n\n---\n\nThen stop.\n", "Do it.\n\n---\n\nThen stop."),
            ("\n## prompt\n\nDo it.\n", "Do it."),
            ("# Title\n\n##  Prompt  \nDo it.\n## role:reviewer\nLook.\n", "Do it."),
            ("Do it.\n## user-persona\nAnna\n", "Do it."),
            ("Do it.\n\\## prompt\nmore\n", "Do it.\n## prompt\nmore"),
            (
                "Do it.\n### prompt\n## prompts\n##prompt\n## role:\nx",
                "Do it.\n### prompt\n## prompts\n##prompt\n## role:\nx",
            ),
            ("", ""),
        ] {
            assert_eq!(read(body).instruction, want, "{body:?}");
        }
        assert_eq!(read("## prompt\na\n## prompt\nb\n").twice, [("prompt".to_owned(), 2)]);
        assert_eq!(read("x\n## SCENE:Plan\n").other_sections, [("scene:Plan".to_owned(), 1)]);
    }
}
