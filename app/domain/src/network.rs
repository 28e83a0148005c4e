//! What a phase may reach, as people write it: `none`, `model-only`, `public`, or the hosts, such as `allow:example.com,*.b.org:8443`.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::report::number::counted;
use crate::task::{NetworkPolicy, Task};

/// Ports of a host that names none: those of the web.
const WEB: [u16; 2] = [80, 443];
/// The port of its own loopback at which every trial reaches its model.
pub const GATEWAY_PORT: u16 = 8420;

/// A host, or with a leading `*.` all below it, with the port that is meant where one is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AllowedHost {
    /// In small letters.
    name: String,
    port: Option<u16>,
}

/// Hosts that may be reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowList(Vec<AllowedHost>);

/// A text that is no host and no policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetworkWordError {
    /// No host.
    #[error("'{0}' is no host; write it as example.com, *.example.com or example.com:8443, without scheme and path")]
    Host(String),
    /// A host at [`GATEWAY_PORT`].
    #[error(
        "'{0}' cannot be reached: port {GATEWAY_PORT} is where a trial finds its model; let the host be served at another port"
    )]
    GatewayPort(String),
    /// No policy.
    #[error(
        "'{0}' is no network; choose none, model-only, public, or allow:HOST[:PORT],… with the hosts that may be reached"
    )]
    Policy(String),
}

impl AllowList {
    /// The list of these hosts.
    ///
    /// # Errors
    /// The first that is none, or lies at the one port that is taken.
    pub fn of(hosts: &[String]) -> Result<Self, NetworkWordError> {
        hosts.iter().map(|text| host(text)).collect::<Result<_, _>>().map(Self)
    }

    /// Whether it holds this host and port. Letters count alike in both sizes.
    #[must_use]
    pub fn allows(&self, name: &str, port: u16) -> bool {
        let name = name.to_ascii_lowercase();
        self.0.iter().any(|host| {
            let is_name = match host.name.strip_prefix('*') {
                Some(end) => name.len() > end.len() && name.ends_with(end),
                None => host.name == name,
            };
            is_name && host.port.map_or(WEB.contains(&port), |only| only == port)
        })
    }

    /// What both hold.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Every name and pattern in it, each once.
    #[must_use]
    pub fn names(&self) -> BTreeSet<&str> {
        self.0.iter().map(|host| host.name.as_str()).collect()
    }

    /// Every port in it, each once.
    #[must_use]
    pub fn ports(&self) -> BTreeSet<u16> {
        self.0.iter().flat_map(|host| host.port.map_or(WEB.to_vec(), |port| vec![port])).collect()
    }

    /// Whether it holds no host.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Dot-separated labels of letters, digits and inner hyphens (underscores occur in service names), a `*.` before them at will.
fn host(text: &str) -> Result<AllowedHost, NetworkWordError> {
    let brief = || text.chars().take(80).collect();
    let wrong = || NetworkWordError::Host(brief());
    let (name, port) = match text.split_once(':') {
        Some((name, port)) => (name, Some(port.parse::<u16>().ok().filter(|port| *port > 0).ok_or_else(wrong)?)),
        None => (text, None),
    };
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let plain = name.strip_prefix("*.").unwrap_or(name);
    if name.len() > 253 || !plain.split('.').all(label) {
        return Err(wrong());
    }
    if port == Some(GATEWAY_PORT) {
        return Err(NetworkWordError::GatewayPort(brief()));
    }
    Ok(AllowedHost { name: name.to_ascii_lowercase(), port })
}

impl FromStr for NetworkPolicy {
    type Err = NetworkWordError;

    fn from_str(text: &str) -> Result<Self, NetworkWordError> {
        match text.trim() {
            "none" => Ok(Self::None),
            "model-only" => Ok(Self::ModelOnly),
            "public" => Ok(Self::Public),
            other => {
                let hosts = other.strip_prefix("allow:").ok_or_else(|| NetworkWordError::Policy(other.to_owned()))?;
                let hosts: Vec<String> = hosts.split(',').map(|host| host.trim().to_ascii_lowercase()).collect();
                AllowList::of(&hosts)?;
                Ok(Self::Allowlist { hosts })
            }
        }
    }
}

impl fmt::Display for NetworkPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Public => f.write_str("public"),
            Self::None => f.write_str("none"),
            Self::ModelOnly => f.write_str("model-only"),
            Self::Allowlist { hosts } => write!(f, "allow:{}", hosts.join(",")),
        }
    }
}

/// What is chosen instead of what the tasks say; `None` = as the task says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkChoice {
    /// In the agent's phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<NetworkPolicy>,
    /// In the verifier's phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verifier: Option<NetworkPolicy>,
}

impl NetworkChoice {
    /// Whether everything is as the tasks say.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.agent.is_none() && self.verifier.is_none()
    }

    /// What is chosen, in words: `agent public, verifier none`. `None` where everything is as the tasks say.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let said = [("agent", &self.agent), ("verifier", &self.verifier)];
        let said: Vec<String> =
            said.into_iter().filter_map(|(phase, policy)| Some(format!("{phase} {}", policy.as_ref()?))).collect();
        (!said.is_empty()).then(|| said.join(", "))
    }

    /// Where this differs from what the tasks of a plan say themselves; a warning where something is opened that a task keeps closed.
    #[must_use]
    pub fn differences(&self, tasks: &[Task]) -> Vec<Finding> {
        let agent = self.agent.as_ref().and_then(|chosen| difference("agent", chosen, tasks, Task::agent_network));
        let verifier =
            self.verifier.as_ref().and_then(|chosen| difference("verifier", chosen, tasks, Task::verifier_network));
        agent.into_iter().chain(verifier).collect()
    }
}

fn difference(
    phase: &str,
    chosen: &NetworkPolicy,
    tasks: &[Task],
    own: fn(&Task) -> &NetworkPolicy,
) -> Option<Finding> {
    let other: Vec<&Task> = tasks.iter().filter(|task| own(task) != chosen).collect();
    let first = other.first()?;
    let is_open = |policy: &NetworkPolicy| match policy {
        NetworkPolicy::Public | NetworkPolicy::Allowlist { .. } => true,
        NetworkPolicy::None | NetworkPolicy::ModelOnly => false,
    };
    let opened = is_open(chosen) && other.iter().any(|task| !is_open(own(task)));
    let message = format!(
        "the {phase}'s network is {chosen} in both arms, in place of what {} of {} says (as {}: {})",
        other.len(),
        counted(tasks.len() as u64, "task"),
        first.name,
        own(first),
    );
    let finding = match opened {
        true => Finding::warning("network_opened", "network", message)
            .hint("what can be reached may hold the answer; choose it only where the tasks cannot be done without"),
        false => Finding::note("network_changed", "network", message),
    };
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_allows_what_it_names_and_no_more() {
        let list =
            |hosts: &[&str]| AllowList::of(&hosts.iter().map(|host| (*host).to_owned()).collect::<Vec<_>>()).unwrap();
        let hosts = list(&["a.org", "*.b.org", "c.org:8443"]);
        for (name, port, want) in [
            ("a.org", 443, true),
            ("A.org", 80, true),
            ("a.org", 22, false),
            ("x.a.org", 443, false),
            ("a.org.evil.net", 443, false),
            ("x.b.org", 443, true),
            ("y.x.b.org", 80, true),
            ("b.org", 443, false),
            ("xb.org", 443, false),
            ("c.org", 8443, true),
            ("c.org", 443, false),
            ("", 443, false),
        ] {
            assert_eq!(hosts.allows(name, port), want, "{name}:{port}");
        }
        assert_eq!(hosts.ports(), BTreeSet::from([80, 443, 8443]));
        assert!(!AllowList::default().allows("a.org", 443));
        assert_eq!(list(&["a.org"]).with(list(&["a.org", "b.org"])).names(), BTreeSet::from(["a.org", "b.org"]));
    }

    #[test]
    fn a_choice_is_told_in_words() {
        let choice =
            |agent: &str, verifier: &str| NetworkChoice { agent: agent.parse().ok(), verifier: verifier.parse().ok() };
        assert_eq!(choice("", "").words(), None);
        assert_eq!(choice("public", "").words().as_deref(), Some("agent public"));
        assert_eq!(
            choice("model-only", "allow:a.org").words().as_deref(),
            Some("agent model-only, verifier allow:a.org")
        );
    }

    #[test]
    fn a_policy_is_said_as_it_is_written() {
        for word in ["none", "model-only", "public", "allow:a.org,*.b.org:8443"] {
            assert_eq!(word.parse::<NetworkPolicy>().unwrap().to_string(), word);
        }
        for (word, part) in [
            ("sometimes", "choose none"),
            ("allow:", "'' is no host"),
            ("allow:http://a.org", "is no host"),
            ("allow:a.org:99999", "is no host"),
            ("allow:a.org:0", "is no host"),
            ("allow:a..org", "is no host"),
            ("allow:*", "is no host"),
            ("allow:a.org,b.org:8420", "'b.org:8420' cannot be reached"),
            ("allow:*.b.org:08420", "where a trial finds its model"),
            ("allow:-a.org", "is no host"),
        ] {
            let error = word.parse::<NetworkPolicy>().unwrap_err().to_string();
            assert!(error.contains(part), "{word}: {error}");
        }
    }
}
