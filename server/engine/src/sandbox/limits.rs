//! What an engine has, and limits cut to it.

use domain::finding::Finding;

use super::spec::Limits;

/// MiB that no container works with less of.
const LEAST_MEMORY_MB: u64 = 8;
/// CPUs that no engine takes less of.
const LEAST_CPUS: f64 = 0.01;

/// Which limits an engine can enforce; a rootless one may lack some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enforced {
    /// CPU time.
    pub cpus: bool,
    /// Memory.
    pub memory: bool,
    /// Number of processes.
    pub pids: bool,
}

/// What an engine is and has.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineFacts {
    /// Such as `20.10.24`.
    pub version: String,
    /// API version in use, such as `1.41`.
    pub api: String,
    /// Such as `x86_64`.
    pub architecture: String,
    /// `1` or `2`; `None` = unknown.
    pub cgroup: Option<u8>,
    /// Number of CPUs.
    pub cpus: f64,
    /// MiB.
    pub memory_mb: u64,
    /// Which limits it can enforce.
    pub enforced: Enforced,
    /// Where it keeps its data, on its own host.
    pub root_dir: Option<String>,
}

impl EngineFacts {
    /// The limits that a container really gets, and what was changed.
    #[must_use]
    pub fn clamp(&self, asked: &Limits) -> (Limits, Vec<Finding>) {
        let mut limits = *asked;
        let mut findings = Vec::new();
        let mut note = |message: String| findings.push(Finding::warning("limit_clamped", "limits", message));
        if !asked.cpus.is_finite() || asked.cpus < LEAST_CPUS {
            limits.cpus = LEAST_CPUS.max(1.0).min(self.cpus);
            note(format!("{} CPUs asked for, {} given", asked.cpus, limits.cpus));
        } else if asked.cpus > self.cpus {
            limits.cpus = self.cpus;
            note(format!("{} CPUs asked for, the engine has {}", asked.cpus, self.cpus));
        }
        if asked.memory_mb > self.memory_mb {
            limits.memory_mb = self.memory_mb;
            note(format!("{} MB of memory asked for, the engine has {} MB", asked.memory_mb, self.memory_mb));
        } else if asked.memory_mb < LEAST_MEMORY_MB {
            limits.memory_mb = LEAST_MEMORY_MB;
            note(format!("{} MB of memory asked for, the least is {LEAST_MEMORY_MB} MB", asked.memory_mb));
        }
        let can = self.enforced;
        let missing = [("CPU", can.cpus), ("memory", can.memory), ("process", can.pids)];
        for (name, _) in missing.into_iter().filter(|(_, enforced)| !enforced) {
            let message = format!("this engine cannot enforce a {name} limit");
            findings.push(Finding::warning("limit_not_enforced", "limits", message));
        }
        (limits, findings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cpus: f64, memory_mb: u64, want: (f64, u64, usize)) {
        let facts = EngineFacts {
            version: String::new(),
            api: String::new(),
            architecture: String::new(),
            cgroup: None,
            cpus: 2.0,
            memory_mb: 4096,
            enforced: Enforced { cpus: true, memory: true, pids: true },
            root_dir: None,
        };
        let (got, findings) = facts.clamp(&Limits { cpus, memory_mb, ..Limits::default() });
        assert_eq!((got.cpus, got.memory_mb, findings.len()), want, "{cpus} {memory_mb}: {findings:?}");
    }

    #[test]
    fn limits_are_cut_to_what_the_engine_has_and_said_so() {
        check(1.5, 512, (1.5, 512, 0));
        check(8.0, 512, (2.0, 512, 1));
        check(8.0, 9000, (2.0, 4096, 2));
        check(f64::NAN, 512, (1.0, 512, 1));
        check(0.0, 0, (1.0, LEAST_MEMORY_MB, 2));
        check(-1.0, 512, (1.0, 512, 1));
    }
}
