//! Files that a skill's text points to: links, and paths of its own folders in code. What is pointed to and was not shipped is a trap
//! for the agent that follows.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use domain::finding::{Finding, Severity};
use domain::path::RelPath;
use domain::tree::LoadedTree;
use percent_encoding::percent_decode_str;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use regex::Regex;

use super::contents::Texts;
use super::frontmatter::Frontmatter;
use super::layout::SKILL_MD;
use super::lint::short;

/// A path in one of the folders that the specification gives a skill's files (and `reference`, as many spell it), with what stands before
/// it up to a blank or quote.
const MENTION: &str = r#"(?P<before>[^\s`'"(=:,]*?)(?P<path>(?:scripts|references|reference|assets)/[A-Za-z0-9_][A-Za-z0-9_./-]*\.[A-Za-z0-9]{1,10})(?P<after>[^\s`'"),;:]*)"#;
static MENTIONS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(MENTION).ok());
/// Pointers of one file that are looked at.
const MOST: usize = 2_000;
/// Findings of one file that are told one by one.
const TOLD: usize = 50;

/// One file that a text points to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pointer {
    /// As the skill's folder has it; `None` where it leads out of the skill.
    target: Option<RelPath>,
    /// As the text has it.
    shown: String,
    /// Whether it is a link, which means a file and nothing else.
    link: bool,
    /// Bytes from the start of the text.
    at: usize,
}

/// What is to be said about the files that `SKILL.md` and the Markdown files beside it point to. `folder` is the skill's own; `name` gives a
/// file of the skill its name in findings.
pub(super) fn check(
    front: &Frontmatter,
    folder: &str,
    tree: &LoadedTree,
    texts: &Texts<'_>,
    name: &dyn Fn(&str) -> String,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let pointers = pointers(&front.body, None, folder);
    let file = name(SKILL_MD);
    let own = Place { file: &file, text: &front.body, first_line: front.body_start_line };
    missing(&pointers, &own, Severity::Warning, tree, &mut findings);
    let first_level: BTreeSet<&str> =
        pointers.iter().filter_map(|pointer| pointer.target.as_ref()).map(RelPath::as_str).collect();
    for (path, text) in
        texts.iter().filter(|(path, _)| **path != SKILL_MD && path.to_ascii_lowercase().ends_with(".md"))
    {
        let above = path.rsplit_once('/').and_then(|(above, _)| RelPath::new(above).ok());
        let mut links = self::pointers(text, above.as_ref(), folder);
        links.retain(|pointer| pointer.link);
        let file = name(path);
        let beside = Place { file: &file, text, first_line: 1 };
        missing(&links, &beside, Severity::Note, tree, &mut findings);
        findings.extend(nested(&links, &first_level, path, &beside, tree));
    }
    findings
}

/// A text and where it stands.
struct Place<'t> {
    file: &'t str,
    text: &'t str,
    first_line: u32,
}

impl Place<'_> {
    /// The finding at a byte of the text.
    fn at(&self, finding: Finding, byte: usize) -> Finding {
        let before = self.text.get(..self.text.floor_char_boundary(byte)).unwrap_or_default();
        let line = u32::try_from(before.matches('\n').count()).unwrap_or(u32::MAX).saturating_add(self.first_line);
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        finding.at(line, u32::try_from(column).ok())
    }
}

/// A finding for each file that is not there, once.
fn missing(pointers: &[Pointer], place: &Place<'_>, severity: Severity, tree: &LoadedTree, out: &mut Vec<Finding>) {
    let mut told = BTreeSet::new();
    for pointer in pointers.iter().filter(|pointer| !is_there(tree, pointer)) {
        if told.len() < TOLD && told.insert(pointer.target.clone().ok_or(&pointer.shown)) {
            out.push(place.at(finding(severity, place.file, pointer), pointer.at));
        }
    }
}

fn finding(severity: Severity, file: &str, pointer: &Pointer) -> Finding {
    let shown = short(&pointer.shown);
    match pointer.target {
        Some(_) => Finding::new(severity, "missing_file", file, format!("`{shown}` is referred to and not shipped"))
            .hint("ship the file or take the mention out: an agent that follows it finds nothing"),
        None => Finding::new(severity, "link_leaves_skill", file, format!("`{shown}` leads out of the skill"))
            .hint("put the file into the skill's folder: nothing else of its repository reaches the agent"),
    }
}

/// A file that is reached only by way of another: agents tend to read such a file in part or not at all.
fn nested(
    links: &[Pointer],
    first_level: &BTreeSet<&str>,
    from: &str,
    place: &Place<'_>,
    tree: &LoadedTree,
) -> Option<Finding> {
    let deeper = links.iter().find(|pointer| {
        let target = pointer.target.as_ref().map(RelPath::as_str);
        target.is_some_and(|target| {
            ![SKILL_MD, from].contains(&target) && !first_level.contains(target) && tree.get(target).is_some()
        })
    })?;
    let message = format!("`{}` is pointed to here and not in SKILL.md", short(&deeper.shown));
    let finding = place.at(Finding::note("reference_nested", place.file, message), deeper.at);
    Some(finding.hint("name it in SKILL.md too: the specification recommends references one level deep"))
}

/// Where a file is that a pointer means: at its path, or anywhere below where a path is only mentioned.
fn is_there(tree: &LoadedTree, pointer: &Pointer) -> bool {
    let Some(target) = &pointer.target else { return false };
    let ends_so = |path: &RelPath| path.as_str().strip_suffix(target.as_str()).is_some_and(|rest| rest.ends_with('/'));
    tree.get(target.as_str()).is_some()
        || tree.iter().any(|(path, _)| path.below(target.as_str()).is_some() || (!pointer.link && ends_so(path)))
}

/// Links to files, and mentions in code spans and in code blocks that are a shell's.
fn pointers(text: &str, base: Option<&RelPath>, folder: &str) -> Vec<Pointer> {
    let mut found = Vec::new();
    let mut in_shell = false;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                found.extend(link(&dest_url, base, range.start));
            }
            Event::Start(Tag::CodeBlock(kind)) => in_shell = is_shell(&kind),
            Event::End(TagEnd::CodeBlock) => in_shell = false,
            Event::Text(code) if in_shell => mentions(&code, folder, range.start, &mut found),
            Event::Code(code) => {
                let ticks = text.get(range.clone()).and_then(|span| span.find(&*code)).unwrap_or(0);
                mentions(&code, folder, range.start + ticks, &mut found);
            }
            _ => {}
        }
        if found.len() >= MOST {
            break;
        }
    }
    found
}

fn is_shell(kind: &CodeBlockKind<'_>) -> bool {
    match kind {
        CodeBlockKind::Indented => true,
        CodeBlockKind::Fenced(info) => {
            let language = info.split([' ', ',', '{']).next().unwrap_or_default().to_ascii_lowercase();
            matches!(language.as_str(), "" | "sh" | "bash" | "shell" | "zsh" | "console" | "text" | "txt")
        }
    }
}

/// A link to a file, seen from the skill's folder. Web addresses, anchors and places of a site are none; neither is a word that stands for
/// an address, as in `[text](url)`.
fn link(url: &str, base: Option<&RelPath>, at: usize) -> Option<Pointer> {
    let path = url.split(['#', '?']).next().unwrap_or_default();
    let scheme = path
        .split_once(':')
        .is_some_and(|(scheme, _)| scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c)));
    let path = percent_decode_str(path).decode_utf8().ok()?;
    let placeholder = path.contains(['<', '>', '{', '}', '*', '$', '|', ' ']);
    let names_file = path.rsplit('/').next().is_some_and(|name| name.contains('.')) || path.contains('/');
    if path.is_empty() || path.starts_with(['/', '~']) || scheme || placeholder || !names_file {
        return None;
    }
    Some(Pointer { target: resolved(&path, base), shown: path.into_owned(), link: true, at })
}

/// The path with `.` and `..` taken out; `None` where it climbs out of the skill.
fn resolved(path: &str, base: Option<&RelPath>) -> Option<RelPath> {
    let mut segments: Vec<&str> = base.map(|base| base.as_str().split('/').collect()).unwrap_or_default();
    for segment in path.split('/').filter(|segment| !matches!(*segment, "" | ".")) {
        match segment {
            ".." => drop(segments.pop()?),
            name => segments.push(name),
        }
    }
    RelPath::new(&segments.join("/")).ok()
}

/// Paths in code that begin with a folder of the skill, bare or behind what stands for the skill's own place.
fn mentions(code: &str, folder: &str, at: usize, found: &mut Vec<Pointer>) {
    for captures in MENTIONS.iter().flat_map(|mention| mention.captures_iter(code)) {
        let part = |name: &str| captures.name(name).map_or("", |part| part.as_str());
        let (before, path, after) = (part("before"), part("path"), part("after"));
        let own_folder = !folder.is_empty()
            && before.strip_suffix('/').is_some_and(|above| above.rsplit('/').next() == Some(folder));
        let own = matches!(before, "" | "./") || before.ends_with("}/") || own_folder;
        let placeholder = after.starts_with(['*', '<', '{', '[', '$', '/']);
        let Some(target) = RelPath::new(path).ok().filter(|_| own && !placeholder) else { continue };
        let start = captures.name("path").map_or(0, |part| part.start());
        found.push(Pointer { target: Some(target), shown: path.to_owned(), link: false, at: at + start });
    }
}
