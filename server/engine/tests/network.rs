//! What a trial with a closed network can reach: its model, and nothing else at all.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod sandbox_support;

use std::collections::{BTreeSet, HashSet};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

use domain::id::AttemptId;
use engine::network::{Access, Networks, Reach, TrialNetwork};
use engine::sandbox::{Engine, Limits, Sandbox, SandboxSpec, Upload};
use gateway::upstream::scripted::ScriptedUpstream;
use gateway::{Gateway, TrialGateway, TrialTicket};
use sandbox_support::{Rig, text};

const SCRIPT: &str = r#"{"schema": "skilldelta-model-1", "rules": [{"turns": [{"text": "I am the model."}]}]}"#;
/// Tries to connect to each `HOST PORT` of its input; says which are open.
const PROBE: &str = "import socket, sys
for line in sys.stdin:
    host, port = line.split()
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
        print(host, port)
    except OSError:
        pass
";
/// Asks the model with the key given; prints the status and the body.
const ASK: &str = "import sys, urllib.request, urllib.error
url, key = sys.argv[1:]
body = b'{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}'
try:
    answer = urllib.request.urlopen(urllib.request.Request(url + '/v1/messages', body, {'x-api-key': key}))
except urllib.error.HTTPError as error:
    answer = error
print(answer.status, answer.read().decode())
";
/// Asks many times at once; prints how many whole answers came.
const ASK_MANY: &str = "import sys, threading, urllib.request
url, key, many = sys.argv[1], sys.argv[2], int(sys.argv[3])
body = b'{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"' + b'x' * 20000 + b'\"}]}'
together, whole = threading.Barrier(many), []
def ask():
    together.wait()
    answer = urllib.request.urlopen(urllib.request.Request(url + '/v1/messages', body, {'x-api-key': key})).read()
    if answer.endswith(b'\"type\":\"message_stop\"}\\n\\n'):
        whole.append(1)
threads = [threading.Thread(target=ask) for _ in range(many)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(whole))
";
/// Looks a name up; prints the resolver's error.
const LOOK_UP: &str = "import socket, sys
try:
    print(socket.getaddrinfo(sys.argv[1], 443))
except socket.gaierror as error:
    print(error.errno == socket.EAI_NONAME, error)
";

/// A trial: its network, and its container.
struct Trial {
    gateway: TrialGateway,
    network: TrialNetwork,
    sandbox: Box<dyn Sandbox>,
}

fn gateway(attempt: i64) -> TrialGateway {
    let upstream = ScriptedUpstream::parse("scripted", "test", SCRIPT.as_bytes()).unwrap();
    let ticket = TrialTicket::new(AttemptId(attempt), "m", "scripted");
    Gateway::new(vec![Arc::new(upstream)]).open(ticket).unwrap()
}

fn folder(rig: &Rig) -> std::path::PathBuf {
    // Long on purpose: longer than the path of a socket may be.
    std::env::temp_dir().join(&rig.instance).join("a-folder-with-a-long-name/".repeat(4))
}

async fn trial(rig: &Rig, networks: &Networks, attempt: i64, reach: Reach) -> Trial {
    let gateway = gateway(attempt);
    let network = networks.open(&rig.labels(attempt), Some(&gateway), &[&reach]).await.unwrap();
    let limits = Limits { pids: 600, ..rig.spec().limits };
    let spec = SandboxSpec { network: network.join(), labels: rig.labels(attempt), limits, ..rig.spec() };
    let sandbox = rig.engine.create(&spec).await.unwrap().sandbox;
    let scripts = [("probe", PROBE), ("ask", ASK), ("ask_many", ASK_MANY), ("look_up", LOOK_UP)];
    let upload = scripts.into_iter().fold(Upload::new(), |upload, (name, script)| {
        upload.file(&format!("/{name}.py"), script.as_bytes().to_vec(), false)
    });
    sandbox.upload(upload).await.unwrap();
    Trial { gateway, network, sandbox }
}

impl Trial {
    async fn open_of(&self, targets: &BTreeSet<(String, u16)>) -> BTreeSet<(String, u16)> {
        let lines: String = targets.iter().map(|(host, port)| format!("{host} {port}\n")).collect();
        let script = format!("python3 /probe.py <<'END'\n{lines}END\n");
        let open = text(self.sandbox.as_ref(), &script).await;
        let open = open.lines().filter_map(|line| line.split_once(' '));
        open.map(|(host, port)| (host.to_owned(), port.parse().unwrap())).collect()
    }

    fn access(&self) -> Access<'_> {
        self.network.access().unwrap()
    }

    async fn ask(&self, key: &str) -> String {
        text(self.sandbox.as_ref(), &format!("python3 /ask.py {} {key}", self.access().base_url)).await
    }

    async fn end(self) {
        self.sandbox.remove().await.unwrap();
        self.network.close().await.unwrap();
    }
}

/// Every address that this machine answers to, on any interface.
fn own_addresses() -> BTreeSet<String> {
    let v4 = std::fs::read_to_string("/proc/net/fib_trie").unwrap();
    let lines: Vec<_> = v4.lines().map(str::trim).collect();
    let local = lines.windows(2).filter(|pair| pair[1].contains("host LOCAL"));
    let mut addresses: BTreeSet<_> = local.filter_map(|pair| pair[0].strip_prefix("|-- ").map(str::to_owned)).collect();
    for line in std::fs::read_to_string("/proc/net/if_inet6").unwrap_or_default().lines() {
        let hex = line.split(' ').next().unwrap();
        let groups: Vec<_> = hex.as_bytes().chunks(4).map(|group| std::str::from_utf8(group).unwrap()).collect();
        addresses.insert(groups.join(":"));
    }
    addresses
}

fn at(hosts: &BTreeSet<String>, port: u16) -> BTreeSet<(String, u16)> {
    hosts.iter().map(|host| (host.clone(), port)).collect()
}

#[tokio::test]
async fn a_closed_trial_reaches_its_model_and_nothing_else() {
    let rig = Rig::new("closed").await;
    let networks = Networks::new(rig.engine.clone(), folder(&rig));
    let service = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    let port = service.local_addr().unwrap().port();
    let (one, other, public) = tokio::join!(
        trial(&rig, &networks, 1, Reach::ModelOnly),
        trial(&rig, &networks, 2, Reach::ModelOnly),
        trial(&rig, &networks, 3, Reach::Public)
    );

    // The model, by this trial's key alone.
    let answer = one.ask(one.access().token).await;
    assert!(answer.starts_with("200 ") && answer.contains("I am the model."), "{answer}");
    assert!(one.gateway.usage().total().is_some_and(|tokens| tokens > 0));
    for key in [other.access().token, public.access().token, "none"] {
        let refused = one.ask(key).await;
        assert!(refused.starts_with("401 ") && refused.contains("authentication_error"), "{refused}");
    }

    // The host on every address, other trials, the world, metadata services.
    text(other.sandbox.as_ref(), "(python3 -m http.server 8000 >/dev/null 2>&1 &); until python3 /probe.py <<END | grep -q 8000\n127.0.0.1 8000\nEND\ndo :; done").await;
    let hosts = own_addresses();
    assert!(hosts.len() > 1, "{hosts:?}");
    let mut targets = at(&hosts, port);
    for (host, port) in [
        ("127.0.0.1", 8000),
        ("172.17.0.1", port),
        ("172.17.0.2", 8000),
        ("172.17.0.3", 8420),
        ("host.docker.internal", port),
        ("169.254.169.254", 80),
        ("fd00:ec2::254", 80),
        ("100.100.100.200", 80),
        ("1.1.1.1", 443),
        ("8.8.8.8", 53),
        ("2606:4700:4700::1111", 443),
        ("example.com", 443),
    ] {
        targets.insert((host.to_owned(), port));
    }
    assert_eq!(one.open_of(&targets).await, BTreeSet::new());
    // The probe does find what there is, where there is a way.
    assert_eq!(one.open_of(&at(&["127.0.0.1".to_owned()].into(), 8420)).await.len(), 1);
    assert!(!public.open_of(&at(&hosts, port)).await.is_empty(), "{hosts:?}");
    assert!(public.ask(public.access().token).await.starts_with("200 "));

    // No name exists, and that is an answer, not a silence.
    let looked_up = text(one.sandbox.as_ref(), "python3 /look_up.py api.example.com").await;
    assert!(looked_up.starts_with("True"), "{looked_up}");
    let wanted: BTreeSet<_> = one.network.names_wanted().into_iter().collect();
    assert!(wanted.contains("api.example.com") && wanted.contains("example.com"), "{wanted:?}");

    // Neither the forwarder nor the socket is to be seen, and there is no interface but loopback.
    let seen = text(one.sandbox.as_ref(), "ls /; cat /proc/[0-9]*/cmdline | tr '\\0' ' '; ls /sys/class/net").await;
    assert!(!seen.contains("gateway.sock") && !seen.contains("forward"), "{seen}");
    assert_eq!(text(one.sandbox.as_ref(), "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '").await.trim(), "lo");

    for trial in [one, other, public] {
        trial.end().await;
    }
    let left: Vec<_> = std::fs::read_dir(folder(&rig)).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    std::fs::remove_dir_all(std::env::temp_dir().join(&rig.instance)).unwrap();
    rig.finish().await;
}

#[tokio::test]
async fn many_streams_at_once_pass_the_sidecar_whole() {
    const MANY: usize = 200;
    let rig = Rig::new("closed-many").await;
    let trial = trial(&rig, &Networks::new(rig.engine.clone(), folder(&rig)), 1, Reach::ModelOnly).await;
    let script = format!("python3 /ask_many.py {} {} {MANY}", trial.access().base_url, trial.access().token);
    assert_eq!(text(trial.sandbox.as_ref(), &script).await.trim(), MANY.to_string());
    assert_eq!(trial.gateway.records().len(), MANY);
    trial.end().await;
    std::fs::remove_dir_all(std::env::temp_dir().join(&rig.instance)).unwrap();
    rig.finish().await;
}

#[tokio::test]
async fn a_network_goes_with_its_owner_or_is_found_by_its_label() {
    let rig = Rig::new("closed-left").await;
    let networks = Networks::new(rig.engine.clone(), folder(&rig));
    drop(networks.open(&rig.labels(1), Some(&gateway(1)), &[&Reach::ModelOnly]).await.unwrap());
    rig.engine.settle().await;
    assert_eq!(rig.left().await, Vec::<String>::new());

    // As after `kill -9`: nobody is there to remove it.
    let network = networks.open(&rig.labels(2), Some(&gateway(2)), &[&Reach::ModelOnly]).await.unwrap();
    let lost = network.join();
    std::mem::forget(network);
    assert_eq!(std::fs::read_dir(folder(&rig)).unwrap().count(), 1);
    let live = HashSet::from([AttemptId(2)]);
    assert!(rig.engine.reap(&rig.instance, &live).await.unwrap().is_empty());
    let reaped = rig.engine.reap(&rig.instance, &HashSet::new()).await.unwrap();
    assert_eq!(reaped.containers.into_iter().map(engine::sandbox::Network::Join).collect::<Vec<_>>(), [lost]);
    let _next_life = Networks::new(rig.engine.clone(), folder(&rig));
    assert_eq!(std::fs::read_dir(folder(&rig)).unwrap().count(), 0);
    std::fs::remove_dir_all(std::env::temp_dir().join(&rig.instance)).unwrap();
    rig.finish().await;
}
