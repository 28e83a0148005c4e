//! The keys of a service: taken, left out with a word, or refused.

use domain::path::RelPath;
use domain::task::NetworkPolicy;

use super::Reading;
use super::node::{Node, Value};

const OPENS: &str = "a task can ask for nothing that opens the host; leave it out";

impl Reading<'_> {
    pub(super) fn service(&mut self, service: &Node) {
        for (key, line, value) in service.entries() {
            let line = *line;
            match key.as_str() {
                "build" => self.build(line, value),
                "image" => self.compose.image = self.text(value),
                "environment" => self.environment(value),
                "working_dir" => self.compose.workdir = self.text(value),
                "user" => self.compose.user = self.text(value),
                "deploy" => self.deploy(value),
                "cpus" => self.compose.cpus = self.number(value),
                "mem_limit" => self.compose.memory_mb = self.megabytes(value),
                "shm_size" => self.compose.shm_mb = self.megabytes(value),
                "pids_limit" => self.compose.pids = self.text(value).and_then(|text| text.parse().ok()),
                "network_mode" => self.network_mode(line, value),
                "volumes" => self.volumes(value),
                "privileged" | "init" | "tty" | "stdin_open" if is_false(value) => {}
                "command" | "entrypoint" | "init" | "tty" | "stdin_open" | "container_name" | "hostname"
                | "restart" | "healthcheck" | "stop_grace_period" | "stop_signal" | "labels" | "logging" | "expose"
                | "ports" | "networks" | "platform" | "pull_policy" | "memswap_limit" | "mem_reservation"
                | "ulimits" | "tmpfs" | "read_only" | "profiles" | "cap_drop" => {
                    self.note(line, format!("'{key}' has no effect: the trial sets it"));
                }
                key if key.starts_with("x-") => {}
                "privileged"
                | "cap_add"
                | "devices"
                | "device_cgroup_rules"
                | "device_requests"
                | "gpus"
                | "security_opt"
                | "pid"
                | "ipc"
                | "uts"
                | "userns_mode"
                | "cgroup"
                | "cgroup_parent"
                | "volumes_from"
                | "extra_hosts"
                | "links"
                | "external_links"
                | "sysctls"
                | "group_add"
                | "secrets"
                | "configs"
                | "env_file"
                | "extends"
                | "runtime"
                | "credential_spec"
                | "isolation"
                | "oom_kill_disable"
                | "oom_score_adj"
                | "dns"
                | "depends_on"
                | "storage_opt"
                | "develop" => {
                    self.refuse(line, format!("'{key}: {}' is refused", value.short()), OPENS);
                }
                other => self.refuse(line, format!("'{other}' is not supported"), "leave it out"),
            }
        }
        if self.compose.context.is_some() {
            // The name is only what the built image would be called.
            self.compose.image = None;
        }
    }

    fn build(&mut self, line: u32, build: &Node) {
        let short = build.scalar().map(|_| build);
        let context = short.or_else(|| build.get("context"));
        // A variable without a value is the runner's own name for the folder.
        let context_text = context.and_then(|context| self.text(context)).unwrap_or_else(|| ".".to_owned());
        let inside = context_text.trim_start_matches("./").trim_end_matches('/');
        if inside.is_empty() || inside == "." {
            self.compose.context = Some(".".to_owned());
        } else if RelPath::new(inside).is_ok() && !inside.contains("://") {
            self.compose.context = Some(inside.to_owned());
        } else {
            let line = context.map_or(line, |context| context.line);
            self.refuse(
                line,
                format!("build context '{context_text}' lies outside the task"),
                "use a folder of the task",
            );
        }
        for (key, line, value) in build.entries() {
            match key.as_str() {
                "context" => {}
                "dockerfile" => self.compose.dockerfile = self.text(value),
                "args" => {
                    for (name, value) in Self::pairs(value) {
                        let value = value.and_then(|value| self.text(&value));
                        self.compose.args.extend(value.map(|value| (name, value)));
                    }
                }
                "network" if value.scalar() == Some("host") => {
                    self.refuse(*line, "'build network: host' is refused", OPENS)
                }
                "privileged" | "secrets" | "ssh" | "additional_contexts" | "extra_hosts" | "entitlements" => {
                    self.refuse(*line, format!("'build {key}' is refused"), OPENS);
                }
                other => self.note(*line, format!("'build {other}' has no effect")),
            }
        }
    }

    fn environment(&mut self, environment: &Node) {
        for (name, value) in Self::pairs(environment) {
            let literal = value.as_ref().and_then(|value| self.text(value));
            match (literal, value.as_ref().and_then(|value| lone_variable(value.scalar()?))) {
                (Some(text), _) => drop(self.compose.env.insert(name, text)),
                (None, Some(asked)) => drop(self.compose.env_from_host.insert(name, asked)),
                (None, None) => drop(self.compose.env_from_host.insert(name.clone(), name)),
            }
        }
    }

    fn deploy(&mut self, deploy: &Node) {
        let Some(resources) = deploy.get("resources") else { return };
        if let Some(limits) = resources.get("limits") {
            self.compose.cpus = limits.get("cpus").and_then(|cpus| self.number(cpus));
            self.compose.memory_mb = limits.get("memory").and_then(|memory| self.megabytes(memory));
            self.compose.pids = limits.get("pids").and_then(|pids| self.text(pids)).and_then(|text| text.parse().ok());
        }
        if let Some(devices) = resources.get("reservations").and_then(|reservations| reservations.get("devices")) {
            self.refuse(devices.line, "'devices' is refused", OPENS);
        }
    }

    fn network_mode(&mut self, line: u32, value: &Node) {
        let mode = self.text(value);
        match mode.as_deref() {
            None | Some("") => {}
            Some("bridge" | "default") => self.compose.network = Some(NetworkPolicy::Public),
            Some("none") => self.compose.network = Some(NetworkPolicy::None),
            Some(other) => self.refuse(line, format!("'network_mode: {other}' is refused"), OPENS),
        }
    }

    fn volumes(&mut self, volumes: &Node) {
        for item in volumes.items() {
            let source = match &item.value {
                Value::Scalar(text) => split_volume(text),
                _ => item.get("source").map(Node::short),
            };
            let bind = item.get("type").and_then(Node::scalar) == Some("bind");
            match source {
                Some(source) if is_log_folder(&source) => {}
                Some(source) if bind || source.starts_with(['/', '.', '~', '$']) => {
                    self.refuse(item.line, format!("mount of the host's '{source}' is refused"), OPENS);
                }
                _ => self.note(item.line, format!("volume '{}' is not kept between trials", item.short())),
            }
        }
    }

    fn number(&self, node: &Node) -> Option<f64> {
        self.text(node)?.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0)
    }

    /// `512`, `512m`, `2G`, `2GiB`, in bytes where there is no unit.
    fn megabytes(&self, node: &Node) -> Option<u64> {
        let text = self.text(node)?.trim().to_ascii_lowercase();
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = text.strip_prefix(digits)?;
        let bytes_per_unit = match unit {
            "" | "b" => 1.0,
            "k" | "kb" | "kib" => 1024.0,
            "m" | "mb" | "mib" => 1_048_576.0,
            "g" | "gb" | "gib" => 1_073_741_824.0,
            _ => return None,
        };
        let bytes =
            digits.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0)? * bytes_per_unit;
        Some((bytes / 1_048_576.0).ceil() as u64)
    }
}

fn is_false(node: &Node) -> bool {
    node.scalar() == Some("false")
}

/// `$NAME` or `${NAME}` and nothing else.
fn lone_variable(text: &str) -> Option<String> {
    let name = text.trim().strip_prefix('$')?;
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    let name = name.split([':', '-', '?']).next().unwrap_or(name);
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_').then(|| name.to_owned())
}

/// Source of `source:target[:mode]`; `None` where there is a target alone. A colon inside `${…}` does not count.
fn split_volume(text: &str) -> Option<String> {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => return text.get(..at).map(str::to_owned),
            _ => {}
        }
    }
    None
}

/// The folders that other runners collect logs in; we take them out of the container instead.
fn is_log_folder(source: &str) -> bool {
    let name = source.trim_start_matches(['$', '{']);
    let name = name.split(['}', ':']).next().unwrap_or(name);
    source.starts_with('$')
        && name.starts_with("HOST_")
        && (name.ends_with("LOGS_PATH") || name.ends_with("ARTIFACTS_PATH"))
}
