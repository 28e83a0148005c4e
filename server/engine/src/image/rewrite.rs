//! Makes a Dockerfile fit the classic builder, with the base images that are really used; refuses what cannot be built or opens the host.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::finding::Finding;

use super::IMAGE_LABEL;
use super::dockerfile::{Dockerfile, Instruction, substitute};
use crate::sandbox::SandboxError;

/// Longest heredoc, in bytes: a command line can hold no more.
const LONGEST_HEREDOC: usize = 64 << 10;
/// Length of the lines that a rewritten heredoc is put on.
const LINE: usize = 1000;

/// A Dockerfile that the classic builder takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The new text.
    pub text: String,
    /// For each instruction of the new text, the line and words of the one it was made from.
    pub steps: Vec<(u32, String)>,
    /// What was changed.
    pub notes: Vec<Finding>,
}

/// Every outside image that the file names, variables replaced by `args` or their defaults, in order and once each.
#[must_use]
pub fn outside_images(dockerfile: &Dockerfile, args: &BTreeMap<String, String>) -> Vec<String> {
    let mut images = Vec::new();
    let mut stages = Stages::new(args);
    for instruction in &dockerfile.instructions {
        let image = match instruction.keyword.as_str() {
            "FROM" => stages.from(instruction).and_then(|from| from.outside.then_some(from.image)),
            "COPY" | "ADD" => stages.copied_from(instruction),
            _ => stages.arg(instruction),
        };
        images.extend(image.filter(|image| !images.contains(image)));
    }
    images
}

/// Rewrites the file. `reference` answers what to write for an outside image. Every stage is labelled as ours, so that what a failed
/// build or an inner stage leaves in the engine's cache can be found and pruned.
///
/// # Errors
/// [`SandboxError::Refused`] with the line.
pub fn rewrite(
    file: &str,
    dockerfile: &Dockerfile,
    args: &BTreeMap<String, String>,
    reference: impl Fn(&str) -> String,
) -> Result<Rewritten, SandboxError> {
    let mut rewriting = Rewriting { file, escape: dockerfile.escape, notes: Vec::new() };
    let mut stages = Stages::new(args);
    let mut text = if dockerfile.escape == '\\' { String::new() } else { format!("# escape={}\n", dockerfile.escape) };
    let mut steps = Vec::new();
    for instruction in &dockerfile.instructions {
        let new = match instruction.keyword.as_str() {
            "FROM" => rewriting.from(instruction, &mut stages, &reference)?,
            "COPY" | "ADD" => rewriting.copy(instruction, &stages, &reference)?,
            "RUN" => rewriting.run(instruction)?,
            _ => {
                stages.arg(instruction);
                instruction.raw.clone()
            }
        };
        // An ARG before the first FROM is no step.
        if stages.begun {
            steps.push((instruction.line, format!("{} {}", instruction.keyword, instruction.text)));
        }
        text.push_str(&new);
        text.push('\n');
        if instruction.keyword == "FROM" {
            steps.push((instruction.line, "label what is built".to_owned()));
            text.push_str(&format!("LABEL {IMAGE_LABEL}=cache\n"));
        }
    }
    if !stages.begun {
        return Err(refused(file, 1, "a Dockerfile without FROM", "begin it with FROM and the image to build on"));
    }
    Ok(Rewritten { text, steps, notes: rewriting.notes })
}

struct From {
    image: String,
    outside: bool,
    rest: String,
}

/// Which names are stages, and which variables images may be named by.
struct Stages {
    begun: bool,
    names: BTreeSet<String>,
    vars: BTreeMap<String, String>,
    args: BTreeMap<String, String>,
}

impl Stages {
    fn new(args: &BTreeMap<String, String>) -> Self {
        Self { begun: false, names: BTreeSet::new(), vars: BTreeMap::new(), args: args.clone() }
    }

    /// Takes an ARG before the first FROM in. Always answers `None`, for use as a match arm.
    fn arg(&mut self, instruction: &Instruction) -> Option<String> {
        if instruction.keyword == "ARG" && !self.begun {
            for word in instruction.text.split_whitespace() {
                let (name, default) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
                let given = self.args.get(name).cloned();
                let default = default.map(|value| value.trim_matches(['"', '\'']).to_owned());
                self.vars.extend(given.or(default).map(|value| (name.to_owned(), value)));
            }
        }
        None
    }

    fn from(&mut self, instruction: &Instruction) -> Option<From> {
        self.begun = true;
        let (_, words) = instruction.flags();
        let (image, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let image = substitute(image, &self.vars)?;
        let outside = image != "scratch" && !self.names.contains(&image.to_ascii_lowercase());
        let rest = rest.trim().to_owned();
        if let Some(name) = rest.get(..3).filter(|word| word.eq_ignore_ascii_case("as ")).and_then(|_| rest.get(3..)) {
            self.names.insert(name.trim().to_ascii_lowercase());
        }
        Some(From { image, outside, rest })
    }

    fn copied_from(&self, instruction: &Instruction) -> Option<String> {
        let (flags, _) = instruction.flags();
        let (_, source) = flags.into_iter().find(|(name, _)| *name == "from")?;
        let source = substitute(source, &self.vars)?;
        let inside = self.names.contains(&source.to_ascii_lowercase()) || source.parse::<u32>().is_ok();
        (!inside).then_some(source)
    }
}

struct Rewriting<'a> {
    file: &'a str,
    escape: char,
    notes: Vec<Finding>,
}

impl Rewriting<'_> {
    fn note(&mut self, instruction: &Instruction, message: &str) {
        self.notes.push(Finding::note("dockerfile_rewritten", self.file, message).at(instruction.line, None));
    }

    fn from(
        &mut self,
        instruction: &Instruction,
        stages: &mut Stages,
        reference: &impl Fn(&str) -> String,
    ) -> Result<String, SandboxError> {
        let Some(from) = stages.from(instruction) else {
            let reason = format!("FROM names its image by a variable that has no value: {}", instruction.text);
            return Err(refused(self.file, instruction.line, &reason, "give the ARG before it a default"));
        };
        if from.image.is_empty() {
            return Err(refused(self.file, instruction.line, "FROM without an image", "name the image to build on"));
        }
        // The engine's own platform is the only one that can run here.
        if !instruction.flags().0.is_empty() {
            self.note(instruction, "--platform is left out: images are built for the engine's own platform");
        }
        let image = if from.outside { reference(&from.image) } else { from.image };
        Ok(format!("FROM {image} {}", from.rest).trim_end().to_owned())
    }

    fn copy(
        &mut self,
        instruction: &Instruction,
        stages: &Stages,
        reference: &impl Fn(&str) -> String,
    ) -> Result<String, SandboxError> {
        let refuse = |reason: &str, remedy: &str| Err(refused(self.file, instruction.line, reason, remedy));
        if !instruction.heredocs.is_empty() {
            return refuse("a heredoc in COPY or ADD needs BuildKit", "put the text into a file beside the Dockerfile");
        }
        let (flags, rest) = instruction.flags();
        let mut kept = Vec::new();
        let mut linked = false;
        for (name, value) in flags {
            match name {
                "from" => {
                    let source =
                        stages.copied_from(instruction).map_or_else(|| value.to_owned(), |image| reference(&image));
                    kept.push(format!("--from={source}"));
                }
                "chown" => kept.push(format!("--chown={value}")),
                "link" => linked = true,
                other => {
                    let reason = format!("{} --{other} needs BuildKit", instruction.keyword);
                    return refuse(
                        &reason,
                        "use a RUN after it (such as RUN chmod), or set the execute bit on the file",
                    );
                }
            }
        }
        if linked {
            self.note(instruction, "--link is left out: it needs BuildKit and changes nothing in the image");
        }
        let flags = kept.into_iter().map(|flag| flag + " ").collect::<String>();
        Ok(format!("{} {flags}{rest}", instruction.keyword))
    }

    fn run(&mut self, instruction: &Instruction) -> Result<String, SandboxError> {
        let (flags, command) = instruction.flags();
        for (name, value) in &flags {
            let reason = match (*name, *value) {
                ("mount", value) if value.contains("type=cache") || value.contains("type=tmpfs") => continue,
                ("network", "default") => continue,
                ("network", "host") => "RUN --network=host opens the host's network".to_owned(),
                ("security", _) => "RUN --security opens the host".to_owned(),
                (name, value) => format!("RUN --{name}={value} needs BuildKit"),
            };
            return Err(refused(self.file, instruction.line, &reason, "write the step without it"));
        }
        if !flags.is_empty() {
            self.note(instruction, "flags of RUN are left out: they need BuildKit and only save time");
        }
        if !instruction.heredocs.is_empty() {
            self.note(
                instruction,
                "a heredoc is built as the same script in another spelling, since heredocs need BuildKit",
            );
            return self.heredoc(instruction, command);
        }
        Ok(if flags.is_empty() { instruction.raw.clone() } else { format!("RUN {command}") })
    }

    /// The same shell reads the same script, decoded from one word.
    fn heredoc(&self, instruction: &Instruction, command: &str) -> Result<String, SandboxError> {
        let alone = instruction.heredocs.first().filter(|_| is_only_a_heredoc(command));
        let script = alone.map_or_else(|| spelled_out(command, instruction), |heredoc| heredoc.body.clone());
        if script.len() > LONGEST_HEREDOC {
            let reason = format!("a heredoc of more than {LONGEST_HEREDOC} bytes needs BuildKit");
            return Err(refused(
                self.file,
                instruction.line,
                &reason,
                "put it into a file beside the Dockerfile and COPY it",
            ));
        }
        let word = self.split_lines(&BASE64_STANDARD.encode(&script));
        Ok(if alone.is_some() && script.starts_with("#!") {
            let file = "/tmp/.heredoc";
            format!("RUN echo {word} | base64 -d > {file} && chmod +x {file} && {file} && rm {file}")
        } else {
            format!("RUN eval \"$(echo {word} | base64 -d)\"")
        })
    }

    /// The builder joins such lines without a blank between.
    fn split_lines(&self, word: &str) -> String {
        let lines: Vec<&str> = word.as_bytes().chunks(LINE).filter_map(|line| std::str::from_utf8(line).ok()).collect();
        lines.join(&format!("{}\n", self.escape))
    }
}

fn is_only_a_heredoc(command: &str) -> bool {
    command.starts_with("<<") && !command.trim().contains(char::is_whitespace)
}

fn spelled_out(command: &str, instruction: &Instruction) -> String {
    let mut script = format!("{command}\n");
    for heredoc in &instruction.heredocs {
        script.push_str(&heredoc.body);
        script.push_str(&heredoc.name);
        script.push('\n');
    }
    script
}

fn refused(file: &str, line: u32, reason: &str, remedy: &str) -> SandboxError {
    SandboxError::Refused { file: file.to_owned(), line, reason: reason.to_owned(), remedy: remedy.to_owned() }
}

#[cfg(test)]
mod tests;
