//! A task's compose file: runners before this one used it to pass variables to a single container. That is read from it; several
//! services, and whatever opens the host, are refused with the line.

use std::collections::BTreeMap;

use domain::finding::{Finding, Severity};
use domain::tree::LoadedTree;
use serde_json::{Map, Value};

use super::env_vars::{Template, is_name, template};
use super::settings::{brief, line_with, placed, says_something, scalar};
use crate::skill::yaml;

const FILES: [&str; 4] = [
    "environment/docker-compose.yaml",
    "environment/docker-compose.yml",
    "environment/compose.yaml",
    "environment/compose.yml",
];
/// Without effect here: the container is always started as the engine needs it, limits come from the task's settings.
const IGNORED: [&str; 21] = [
    "build",
    "image",
    "command",
    "entrypoint",
    "environment",
    "deploy",
    "working_dir",
    "init",
    "tty",
    "stdin_open",
    "container_name",
    "hostname",
    "restart",
    "labels",
    "logging",
    "platform",
    "pull_policy",
    "stop_grace_period",
    "mem_limit",
    "cpus",
    "shm_size",
];
/// Keys by which a container reaches the host or gets more rights.
const OPENING: [&str; 17] = [
    "privileged",
    "devices",
    "device_cgroup_rules",
    "cap_add",
    "security_opt",
    "volumes_from",
    "cgroup_parent",
    "cgroup",
    "pid",
    "ipc",
    "uts",
    "userns_mode",
    "runtime",
    "gpus",
    "sysctls",
    "secrets",
    "configs",
];

/// What the compose file adds to the environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Compose {
    pub(super) env: BTreeMap<String, String>,
    pub(super) workdir: Option<String>,
}

/// Reads the compose file, where there is one.
pub(super) fn read(files: &LoadedTree, out: &mut Vec<Finding>) -> Compose {
    let Some((file, content)) = FILES.iter().find_map(|name| Some((*name, files.get(name)?))) else {
        return Compose::default();
    };
    let Ok(text) = std::str::from_utf8(&content.bytes) else {
        out.push(Finding::error("not_utf8", file, "the compose file is not UTF-8").hint("save the file as UTF-8"));
        return Compose::default();
    };
    let top: Map<String, Value> = match yaml::fields(text.trim_start_matches('\u{feff}'), 1) {
        Ok(fields) => fields.into_iter().map(|field| (field.key, field.value)).collect(),
        Err(fault) => {
            out.push(fault.finding(file));
            return Compose::default();
        }
    };
    let mut reader = Reader { file, text, out };
    reader.top(&top)
}

struct Reader<'r> {
    file: &'static str,
    text: &'r str,
    out: &'r mut Vec<Finding>,
}

impl Reader<'_> {
    fn top(&mut self, top: &Map<String, Value>) -> Compose {
        if top.get("include").is_some_and(says_something) {
            self.add(Severity::Error, "opens_host", "include", "`include` brings in files from elsewhere");
        }
        let services = top.get("services").and_then(Value::as_object);
        match services.map(|services| services.iter().collect::<Vec<_>>()).as_deref() {
            Some([(_, Value::Object(service))]) => self.service(service),
            Some([_, _, ..]) => {
                let names: Vec<String> = services.into_iter().flat_map(Map::keys).map(|name| brief(name)).collect();
                let message =
                    format!("the task has several services ({}); only one container is run", names.join(", "));
                self.add(Severity::Error, "several_services", "services", &message);
                Compose::default()
            }
            _ => {
                self.add(
                    Severity::Warning,
                    "no_service",
                    "services",
                    "the compose file describes no service and has no effect",
                );
                Compose::default()
            }
        }
    }

    fn service(&mut self, service: &Map<String, Value>) -> Compose {
        for (key, value) in service.iter().filter(|(_, value)| says_something(value)) {
            self.key(key, value);
        }
        Compose {
            env: self.environment(service.get("environment")),
            workdir: service.get("working_dir").and_then(scalar).filter(|dir| dir.starts_with('/')),
        }
    }

    fn key(&mut self, key: &str, value: &Value) {
        match key {
            "volumes" => self.volumes(value),
            "network_mode" => self.network(value),
            "build" => self.build(value),
            "deploy" if value.pointer("/resources/reservations/devices").is_some_and(says_something) => {
                self.opening("devices", "`deploy` reserves devices of the host");
            }
            // Off is the default.
            _ if OPENING.contains(&key) && *value == Value::Bool(false) => {}
            _ if OPENING.contains(&key) => self.opening(key, &format!("`{key}` opens the host to the container")),
            "env_file" | "extends" => {
                let message = format!("`{key}` is not supported");
                self.add(Severity::Error, "unsupported_environment", key, &message);
            }
            _ if IGNORED.contains(&key) => {}
            _ => {
                let message = format!("`{}` of the compose file has no effect", brief(key));
                self.add(Severity::Note, "not_applied", key, &message);
            }
        }
    }

    /// Only the log folders that other runners mount are let by; the engine has its own.
    fn volumes(&mut self, value: &Value) {
        for volume in value.as_array().into_iter().flatten() {
            let source = match volume {
                Value::String(text) => text.clone(),
                other => other.get("source").and_then(scalar).unwrap_or_default(),
            };
            let logs =
                source.starts_with("${HOST_VERIFIER_LOGS_PATH}") || source.starts_with("${HOST_AGENT_LOGS_PATH}");
            if !logs {
                let message = format!("the mount `{}` opens the host to the container", brief(&source));
                let line = self.text.lines().position(|line| !source.is_empty() && line.contains(&source));
                let line =
                    line.and_then(|index| u32::try_from(index + 1).ok()).or_else(|| line_with(self.text, "volumes"));
                let finding = placed(Finding::error("opens_host", self.file, message), line);
                self.out.push(finding.hint("put the files into `environment/` and copy them in the Dockerfile"));
            }
        }
    }

    fn network(&mut self, value: &Value) {
        let mode = scalar(value).unwrap_or_default();
        let mode = template(&mode).map_or(mode, |template| template.default.unwrap_or_default());
        match mode.as_str() {
            "" | "bridge" | "default" => {}
            "none" => {
                let message = "`network_mode: none` of the compose file has no effect";
                self.add(Severity::Warning, "not_applied", "network_mode", message);
            }
            _ => self
                .opening("network_mode", &format!("`network_mode: {}` opens the host to the container", brief(&mode))),
        }
    }

    fn build(&mut self, value: &Value) {
        let part = |key: &str| value.get(key).and_then(scalar);
        let context = if value.is_string() { scalar(value) } else { part("context") };
        if context.is_some_and(|context| !matches!(context.as_str(), "." | "./" | "${CONTEXT_DIR}")) {
            let message = "the image is built from another folder than `environment`";
            self.add(Severity::Error, "unsupported_environment", "context", message);
        }
        if part("dockerfile").is_some_and(|name| !matches!(name.as_str(), "Dockerfile" | "./Dockerfile")) {
            let message = "the image is built from another file than `environment/Dockerfile`";
            self.add(Severity::Error, "unsupported_environment", "dockerfile", message);
        }
        for key in ["privileged", "entitlements", "ssh", "secrets", "network", "additional_contexts"] {
            if value.get(key).is_some_and(says_something) {
                self.opening(key, &format!("`build.{key}` opens the host to the build"));
            }
        }
        if value.get("args").is_some_and(says_something) {
            self.add(Severity::Warning, "not_applied", "args", "build arguments of the compose file have no effect");
        }
    }

    /// A table, or a list of `KEY=value`. Values that come from the host are left out.
    fn environment(&mut self, value: Option<&Value>) -> BTreeMap<String, String> {
        let pairs: Vec<(String, Option<String>)> = match value {
            Some(Value::Object(table)) => table.iter().map(|(key, value)| (key.clone(), scalar(value))).collect(),
            Some(Value::Array(items)) => items.iter().filter_map(scalar).map(|item| split(&item)).collect(),
            _ => Vec::new(),
        };
        pairs.into_iter().filter(|(key, _)| is_name(key)).filter_map(|(key, value)| self.variable(key, value)).collect()
    }

    fn variable(&mut self, key: String, value: Option<String>) -> Option<(String, String)> {
        let from_host = match value.as_deref().map(|value| (value, template(value))) {
            None => key.clone(),
            Some((value, None)) => return Some((key, value.to_owned())),
            Some((_, Some(Template { default: Some(default), .. }))) => return Some((key, default)),
            Some((_, Some(Template { name, default: None }))) => name,
        };
        let message =
            format!("`{key}` asks for `{from_host}` of the host and is left out: only a verifier may get such values");
        self.add(Severity::Warning, "host_value_left_out", &key, &message);
        None
    }

    fn opening(&mut self, key: &str, message: &str) {
        let finding = placed(Finding::error("opens_host", self.file, message), line_with(self.text, key));
        self.out.push(finding.hint("remove it; a task's container gets nothing of the host"));
    }

    fn add(&mut self, severity: Severity, code: &str, key: &str, message: &str) {
        let finding = Finding::new(severity, code, self.file, message);
        self.out.push(placed(finding, line_with(self.text, key)));
    }
}

fn split(item: &str) -> (String, Option<String>) {
    match item.split_once('=') {
        Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
        None => (item.to_owned(), None),
    }
}
