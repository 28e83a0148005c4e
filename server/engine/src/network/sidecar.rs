//! How the sidecar's container is made: of any user, without rights, able to write nowhere.

use std::collections::HashMap;
use std::path::Path;

use bollard::models::{ContainerCreateBody, HostConfig, HostConfigLogConfig, Mount, MountType};

use super::Reach;

/// Where the gateway's socket is, in the sidecar.
const SOCKET: &str = "/gateway.sock";
/// Where names are refused.
const RESOLVER: &str = "127.0.0.1";
const NOBODY: &str = "65534:65534";
/// The forwarder takes a few; this is for hundreds of connections at the same time.
const MEMORY: i64 = 128 << 20;
const PIDS: i64 = 1200;

pub(super) fn body(image: &str, socket: &Path, port: u16, reach: Reach) -> ContainerCreateBody {
    let mut arguments = vec![port.to_string(), SOCKET.to_owned()];
    if reach == Reach::ModelOnly {
        arguments.push(format!("{RESOLVER}:53"));
    }
    ContainerCreateBody {
        image: Some(image.to_owned()),
        cmd: Some(arguments),
        user: Some(NOBODY.to_owned()),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        host_config: Some(host_config(socket, reach)),
        ..ContainerCreateBody::default()
    }
}

fn host_config(socket: &Path, reach: Reach) -> HostConfig {
    let gateway = Mount {
        typ: Some(MountType::BIND),
        source: Some(socket.to_string_lossy().into_owned()),
        target: Some(SOCKET.to_owned()),
        read_only: Some(true),
        ..Mount::default()
    };
    let closed = reach == Reach::ModelOnly;
    // The container that joins gets this resolv.conf; one try, so that even a resolver that stays silent costs a second only.
    let resolver = closed.then(|| vec![RESOLVER.to_owned()]);
    let options = closed.then(|| vec!["timeout:1".to_owned(), "attempts:1".to_owned()]);
    // Names are refused at a port that otherwise only root may listen on.
    let low_ports = HashMap::from([("net.ipv4.ip_unprivileged_port_start".to_owned(), "0".to_owned())]);
    HostConfig {
        network_mode: Some(if closed { "none" } else { "bridge" }.to_owned()),
        dns: resolver,
        dns_options: options,
        sysctls: closed.then_some(low_ports),
        mounts: Some(vec![gateway]),
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
