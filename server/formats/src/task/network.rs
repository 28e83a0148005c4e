//! What a phase may reach: `network_mode`, `allowed_hosts`, and the older `allow_internet`.

use domain::finding::{Finding, Severity};
use domain::network::{AllowList, NetworkWordError};
use domain::task::NetworkPolicy;

use super::settings::{Section, brief};

/// The policy that a section sets; `None` where it sets none.
pub(super) fn policy(section: &Section<'_>, out: &mut Vec<Finding>) -> Option<NetworkPolicy> {
    let mode = section.text("network_mode", out);
    let hosts = section.texts("allowed_hosts", out);
    let named = mode.and_then(|mode| by_name(section, &mode, hosts.clone(), out));
    if !hosts.is_empty() && !matches!(named, Some(NetworkPolicy::Allowlist { .. })) {
        let message = format!("{} has an effect only with `network_mode: allowlist`", section.label("allowed_hosts"));
        out.push(section.error("network_conflict", "allowed_hosts", message));
    }
    let internet = section.flag("allow_internet", out);
    match (named, internet) {
        (Some(policy), Some(false)) if policy != NetworkPolicy::None => {
            let message = "`allow_internet: false` contradicts `network_mode`";
            out.push(section.error("network_conflict", "allow_internet", message).hint("keep `network_mode` only"));
            Some(policy)
        }
        (Some(policy), _) => Some(policy),
        (None, Some(true)) => Some(NetworkPolicy::Public),
        (None, Some(false)) => Some(NetworkPolicy::None),
        (None, None) => None,
    }
}

fn wrong_host(error: &NetworkWordError) -> (&'static str, &'static str) {
    match error {
        NetworkWordError::Host(_) | NetworkWordError::Policy(_) => {
            ("is no host name", "write `example.com`, `*.example.com` or `example.com:8443`, without scheme and path")
        }
        NetworkWordError::GatewayPort(_) => {
            ("cannot be reached: its port is where a trial finds its model", "let the host be served at another port")
        }
    }
}

fn by_name(section: &Section<'_>, mode: &str, hosts: Vec<String>, out: &mut Vec<Finding>) -> Option<NetworkPolicy> {
    match mode.to_ascii_lowercase().as_str() {
        "public" => Some(NetworkPolicy::Public),
        "no-network" | "none" | "disabled" | "off" => Some(NetworkPolicy::None),
        "allowlist" => {
            if hosts.is_empty() {
                let message = "`network_mode: allowlist` needs at least one host in `allowed_hosts`";
                out.push(section.error("network_conflict", "network_mode", message));
            }
            for host in &hosts {
                let Err(error) = AllowList::of(std::slice::from_ref(host)) else { continue };
                let (why, hint) = wrong_host(&error);
                let message = format!("{:?} in {} {why}", brief(host), section.label("allowed_hosts"));
                out.push(section.error("bad_host", "allowed_hosts", message).hint(hint));
            }
            Some(NetworkPolicy::Allowlist { hosts: hosts.iter().map(|host| host.to_ascii_lowercase()).collect() })
        }
        _ => {
            let message = format!("{} is {:?}", section.label("network_mode"), brief(mode));
            let finding = section.finding(Severity::Error, "bad_network_mode", "network_mode", message);
            out.push(finding.hint("it must be `public`, `no-network` or `allowlist`"));
            None
        }
    }
}
