//! How the sidecar's container is made: of any user, without rights, able to write nowhere.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use bollard::models::{ContainerCreateBody, HostConfig, HostConfigLogConfig, Mount, MountType};
use domain::network::AllowList;

/// Where the gateway's socket is, in the sidecar.
const GATEWAY: &str = "/gateway.sock";
/// Where the way out is.
const EGRESS: &str = "/egress.sock";
/// Where names are answered.
pub(super) const RESOLVER: &str = "127.0.0.1";
const NOBODY: &str = "65534:65534";
/// The forwarder takes a few; this is for hundreds of connections at the same time.
const MEMORY: i64 = 128 << 20;
const PIDS: i64 = 1200;

/// What the forwarder in the sidecar is to do.
pub(super) struct Wiring {
    /// The gateway: a port of loopback, and the socket.
    pub gateway: Option<(u16, PathBuf)>,
    /// The way out: the socket, and what is ever reached by it.
    pub egress: Option<(PathBuf, AllowList)>,
    /// Whether it begins with the engine's shared network.
    pub open: bool,
    /// Who answers for names.
    pub names: Names,
}

/// Who answers for names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// Whoever the engine says.
    Engine,
    /// The forwarder.
    Forwarder,
    /// The forwarder in some phases: the trial's container is told by turns.
    ByTurns,
}

pub(super) fn body(image: &str, wiring: &Wiring) -> ContainerCreateBody {
    let mut arguments = Vec::new();
    let mut mounts = Vec::new();
    if let Some((port, socket)) = &wiring.gateway {
        arguments.extend(["gateway".to_owned(), port.to_string(), GATEWAY.to_owned()]);
        mounts.push(mount(socket, GATEWAY));
    }
    if wiring.names != Names::Engine {
        arguments.extend(["names".to_owned(), format!("{RESOLVER}:53")]);
    }
    if let Some((socket, hosts)) = &wiring.egress {
        let ports = hosts.ports().iter().map(u16::to_string).collect::<Vec<_>>().join(",");
        let names = hosts.names().into_iter().collect::<Vec<_>>().join(",");
        arguments.extend(["allow".to_owned(), EGRESS.to_owned(), ports, names]);
        mounts.push(mount(socket, EGRESS));
    }
    ContainerCreateBody {
        image: Some(image.to_owned()),
        cmd: Some(arguments),
        user: Some(NOBODY.to_owned()),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        host_config: Some(host_config(wiring, mounts)),
        ..ContainerCreateBody::default()
    }
}

fn mount(socket: &Path, target: &str) -> Mount {
    Mount {
        typ: Some(MountType::BIND),
        source: Some(socket.to_string_lossy().into_owned()),
        target: Some(target.to_owned()),
        read_only: Some(true),
        ..Mount::default()
    }
}

fn host_config(wiring: &Wiring, mounts: Vec<Mount>) -> HostConfig {
    let always_ours = wiring.names == Names::Forwarder;
    // The container that joins gets this resolv.conf; one try, so that even a resolver that stays silent costs a second only.
    let resolver = always_ours.then(|| vec![RESOLVER.to_owned()]);
    let options = always_ours.then(|| OPTIONS.map(str::to_owned).to_vec());
    // The forwarder listens at ports that otherwise only root may listen on.
    let low_ports = HashMap::from([("net.ipv4.ip_unprivileged_port_start".to_owned(), "0".to_owned())]);
    HostConfig {
        network_mode: Some(if wiring.open { "bridge" } else { "none" }.to_owned()),
        dns: resolver,
        dns_options: options,
        sysctls: (wiring.names != Names::Engine).then_some(low_ports),
        mounts: Some(mounts),
        readonly_rootfs: Some(true),
        cap_drop: Some(vec!["ALL".to_owned()]),
        security_opt: Some(vec!["no-new-privileges".to_owned()]),
        memory: Some(MEMORY),
        memory_swap: Some(MEMORY),
        pids_limit: Some(PIDS),
        log_config: Some(HostConfigLogConfig { typ: Some("none".to_owned()), config: None }),
        ..HostConfig::default()
    }
}

/// Of a resolver that is near and always answers.
pub(super) const OPTIONS: [&str; 2] = ["timeout:1", "attempts:1"];
