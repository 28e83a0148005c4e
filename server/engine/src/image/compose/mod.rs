//! Reads a task's compose file of one service. What it may say is a list; everything else is refused with its line, above all what would
//! open the host.

mod node;
mod service;

use std::collections::BTreeMap;

use domain::finding::Finding;
use domain::task::NetworkPolicy;

use self::node::{Node, Value};

/// A compose file, as far as it says something for a trial.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Compose {
    /// Name of the one service.
    pub service: String,
    /// Folder with the Dockerfile, relative to the compose file; `None` = no build, or the folder of the file itself.
    pub context: Option<String>,
    /// Name of the Dockerfile, where another than that.
    pub dockerfile: Option<String>,
    /// Values for its ARGs.
    pub args: BTreeMap<String, String>,
    /// Image by name; `None` where it is built.
    pub image: Option<String>,
    /// Literal variables.
    pub env: BTreeMap<String, String>,
    /// Variables whose value comes from outside: variable by the name asked for.
    pub env_from_host: BTreeMap<String, String>,
    /// `None` where the file leaves it open.
    pub cpus: Option<f64>,
    /// MiB.
    pub memory_mb: Option<u64>,
    /// Processes and threads.
    pub pids: Option<u32>,
    /// MiB of `/dev/shm`.
    pub shm_mb: Option<u64>,
    /// `None` where the file leaves it open.
    pub network: Option<NetworkPolicy>,
    /// Working folder.
    pub workdir: Option<String>,
    /// User of commands.
    pub user: Option<String>,
    /// What was left out.
    pub notes: Vec<Finding>,
}

/// Reads a compose file. `file` is how messages call it; `vars` are values for its `${NAME}`s.
///
/// # Errors
/// Everything that is refused, with lines.
pub fn read(file: &str, text: &str, vars: &BTreeMap<String, String>) -> Result<Compose, Vec<Finding>> {
    let root = Node::parse(text).map_err(|error| {
        let finding = Finding::error("compose_syntax", file, format!("not readable as YAML: {error}"));
        vec![match error.location() {
            Some(place) => finding.at(u32::try_from(place.line()).unwrap_or(u32::MAX), None),
            None => finding,
        }]
    })?;
    let mut reading = Reading { file, vars, compose: Compose::default(), refused: Vec::new() };
    reading.root(&root);
    if reading.refused.is_empty() { Ok(reading.compose) } else { Err(reading.refused) }
}

struct Reading<'a> {
    file: &'a str,
    vars: &'a BTreeMap<String, String>,
    compose: Compose,
    refused: Vec<Finding>,
}

impl Reading<'_> {
    fn refuse(&mut self, line: u32, message: impl Into<String>, hint: &str) {
        self.refused.push(Finding::error("compose_refused", self.file, message).at(line, None).hint(hint));
    }

    fn note(&mut self, line: u32, message: impl Into<String>) {
        self.compose.notes.push(Finding::note("compose_ignored", self.file, message).at(line, None));
    }

    fn root(&mut self, root: &Node) {
        for (key, line, value) in root.entries() {
            match key.as_str() {
                "services" => self.services(*line, value),
                "version" | "name" => {}
                key if key.starts_with("x-") => {}
                "volumes" => self.note(*line, "named volumes are not kept: every trial starts from the image"),
                "networks" => self.note(*line, "networks are made by the trial, not by the file"),
                other => self.refuse(*line, format!("'{other}' is not supported"), "leave it out"),
            }
        }
        if root.get("services").is_none() {
            self.refuse(root.line, "no services", "describe the one container under 'services: main:'");
        }
    }

    fn services(&mut self, line: u32, services: &Node) {
        match services.entries() {
            [] => self.refuse(line, "no service", "describe the one container under 'services: main:'"),
            [(name, _, service)] => {
                self.compose.service.clone_from(name);
                self.service(service);
            }
            [_, (name, line, _), ..] => {
                let message = format!("several services ('{name}' is the second); a trial has one container");
                self.refuse(*line, message, "start helpers inside the one container");
            }
        }
    }

    /// A text with its variables; `None` when one has no value.
    fn text(&self, node: &Node) -> Option<String> {
        let text = node.scalar()?;
        super::substitute(&text.replace("$$", "\u{0}"), self.vars).map(|text| text.replace('\u{0}', "$"))
    }

    /// Pairs of a map, or of a list of `NAME=value`.
    fn pairs(node: &Node) -> Vec<(String, Option<Node>)> {
        match &node.value {
            Value::Map(entries) => entries
                .iter()
                .map(|(name, _, value)| (name.clone(), (!matches!(value.value, Value::Null)).then(|| value.clone())))
                .collect(),
            Value::List(items) => items
                .iter()
                .filter_map(|item| {
                    let text = item.scalar()?;
                    Some(match text.split_once('=') {
                        Some((name, value)) => {
                            let value = Node { line: item.line, value: Value::Scalar(value.to_owned()) };
                            (name.to_owned(), Some(value))
                        }
                        None => (text.to_owned(), None),
                    })
                })
                .collect(),
            Value::Null | Value::Scalar(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
