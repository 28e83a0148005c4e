//! What each phase of a trial reaches: nothing, named hosts, or everything; in one container by turns, or in two.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod trial_support;

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};

use domain::network::{AllowList, NetworkChoice};
use domain::plan::RunSettings;
use domain::task::{NetworkPolicy, ResultPlace};
use domain::verdict::Verdict;
use engine::network::{Addresses, Networks, Outside, Reach};
use engine::sandbox::{Engine, SandboxSpec};
use trial_support::{Bench, Case, Ended, Rig, run, text, workspace};

/// Names of a small world: two on this machine, which may be reached, and one that leads to where no trial may.
fn look_up(name: String, port: u16) -> Addresses {
    Box::pin(async move {
        let address: &[[u8; 4]] = match name.as_str() {
            "allowed.example" | "one.wild.example" => &[[127, 0, 0, 1]],
            "metadata.example" => &[[169, 254, 169, 254], [10, 0, 0, 1]],
            _ => return Err(std::io::Error::other("no such name")),
        };
        Ok(address.iter().map(|octets| SocketAddr::from((*octets, port))).collect())
    })
}

const fn is_this_machine(address: IpAddr) -> bool {
    address.is_loopback()
}

const WORLD: Outside = Outside { look_up, permits: is_this_machine };

/// A service of this machine's loopback that repeats what it is told, until it is told no more.
fn service() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut told = String::new();
            if stream.read_to_string(&mut told).is_ok() {
                let _gone_already = stream.write_all(format!("heard {told}").as_bytes());
            }
        }
    });
    port
}

/// Says hello to `HOST PORT`; prints the answer, or why there is none. A connection that is reset was closed as much as one that is ended.
const SAY: &str = r#"import socket, sys
try:
    with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=20) as stream:
        stream.sendall(b"hello")
        stream.shutdown(socket.SHUT_WR)
        print(stream.makefile().read() or "closed")
except socket.gaierror:
    print("no name")
except (ConnectionResetError, BrokenPipeError):
    print("closed")
except OSError as error:
    print("refused")
"#;

fn hosts(names: &[&str], port: u16) -> AllowList {
    AllowList::of(&names.iter().map(|name| format!("{name}:{port}")).collect::<Vec<_>>()).unwrap()
}

#[tokio::test]
async fn a_list_of_hosts_opens_these_and_nothing_else() {
    let rig = Rig::new("hosts").await;
    let folder = tempfile::tempdir().unwrap();
    let port = service();
    let reach = Reach::Hosts(hosts(&["allowed.example", "*.wild.example", "metadata.example", "gone.example"], port));
    let networks = Networks::with_outside(rig.engine.clone(), folder.path(), WORLD);
    let mut network = networks.open(&rig.labels(1), None, &[&reach]).await.unwrap();
    assert!(network.access().is_none());
    let spec = SandboxSpec { network: network.join(), ..rig.spec() };
    let sandbox = rig.engine.create(&spec).await.unwrap().sandbox;
    network.enter(&reach, sandbox.as_ref()).await.unwrap();
    let upload = engine::sandbox::Upload::new().file("/say.py", SAY.as_bytes(), false);
    sandbox.upload(upload).await.unwrap();
    let own = port.to_string();
    for (host, port, want) in [
        ("allowed.example", own.as_str(), "heard hello"),
        ("ALLOWED.example", &own, "heard hello"),
        ("one.wild.example", &own, "heard hello"),
        // On the list, but it leads to the metadata service and to a private network.
        ("metadata.example", &own, "closed"),
        ("gone.example", &own, "closed"),
        // Another port, another name, and no name at all.
        ("allowed.example", "22", "refused"),
        ("other.example", &own, "no name"),
        ("127.0.0.1", &own, "closed"),
        ("172.17.0.1", &own, "refused"),
        ("1.1.1.1", "443", "refused"),
    ] {
        let answer = text(sandbox.as_ref(), &format!("python3 /say.py {host} {port}")).await;
        let answer = answer.trim();
        let is_dead = matches!((want, answer), ("closed", "refused") | ("refused", "closed"));
        assert!(answer == want || is_dead, "{host}:{port}: {answer}");
    }
    let refused = network.hosts_refused().join(", ");
    assert!(
        refused.contains(&format!("metadata.example:{port} (no address of it is of the public internet)")),
        "{refused}"
    );
    assert!(refused.contains("gone.example") && network.names_wanted() == ["other.example"], "{refused}");
    // The way is open for this phase alone.
    network.enter(&Reach::ModelOnly, sandbox.as_ref()).await.unwrap();
    assert_eq!(text(sandbox.as_ref(), &format!("python3 /say.py allowed.example {port}")).await.trim(), "closed");
    let (_, seen) = run(sandbox.as_ref(), "ls /; cat /proc/net/dev").await;
    assert!(!seen.out_text().contains("egress") && !seen.out_text().contains("eth0"), "{}", seen.out_text());
    sandbox.remove().await.unwrap();
    network.close().await.unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    rig.finish().await;
}

/// Interfaces beside loopback, what the host answers, and who answers for names.
fn probe(port: u16) -> String {
    format!(
        "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | grep -v lo | tr '\\n' ' '
python3 - allowed.example {port} <<'END'\n{SAY}END
grep -q 'nameserver 127.0.0.1' /etc/resolv.conf && echo ours || echo theirs\n"
    )
}

async fn trial(bench: &Bench, port: u16, choice: [&NetworkPolicy; 2], place: ResultPlace) -> Ended {
    let [agent, verifier] = choice.map(|policy| Some(policy.clone()));
    let settings = RunSettings { network: NetworkChoice { agent, verifier }, ..RunSettings::default() };
    let (agent, test) = (probe(port), format!("{}echo 1 > /logs/verifier/reward.txt\n", probe(port)));
    bench.trial(&Case { agent: &agent, test: &test, place, settings, ..Case::default() }).await
}

#[tokio::test]
async fn each_phase_has_its_own_network() {
    let port = service();
    let bench = Bench::with("phases", WORLD).await;
    let policies = [
        NetworkPolicy::None,
        NetworkPolicy::Public,
        NetworkPolicy::Allowlist { hosts: vec![format!("allowed.example:{port}")] },
    ];
    // Where one container has both phases, a name of the other's list is known and leads nowhere.
    let interfaces_and_answers = |policy: &NetworkPolicy| match policy {
        NetworkPolicy::None | NetworkPolicy::ModelOnly => ["no name", "closed"],
        NetworkPolicy::Public => ["eth0 no name"; 2],
        NetworkPolicy::Allowlist { .. } => ["heard hello"; 2],
    };
    for agent in &policies {
        for verifier in &policies {
            for place in [ResultPlace::Anywhere, workspace()] {
                let ended = trial(&bench, port, [agent, verifier], place.clone()).await;
                let name = format!("{agent} then {verifier}, {place:?}: {:?}\n{}", ended.result, ended.verifier);
                assert_eq!(ended.result.verdict, Verdict::Pass, "{name}");
                for (policy, said) in [(agent, &ended.agent), (verifier, &ended.verifier)] {
                    let first = said.lines().next().unwrap_or_default();
                    assert!(interfaces_and_answers(policy).contains(&first), "{name}\n{said}");
                    // A public phase asks whom the engine says; one with a list asks the forwarder.
                    match policy {
                        NetworkPolicy::Public => assert!(said.ends_with("theirs\n"), "{name}\n{said}"),
                        NetworkPolicy::Allowlist { .. } => assert!(said.ends_with("ours\n"), "{name}\n{said}"),
                        NetworkPolicy::None | NetworkPolicy::ModelOnly => {}
                    }
                }
            }
        }
    }
    bench.finish().await;
}

#[tokio::test]
async fn the_task_says_what_each_phase_reaches_unless_the_plan_does() {
    let port = service();
    let bench = Bench::with("declared", WORLD).await;
    let environment = format!("network_mode = \"allowlist\"\nallowed_hosts = [\"Allowed.example:{port}\"]");
    let (agent, test) = (probe(port), format!("{}echo 1 > /logs/verifier/reward.txt\n", probe(port)));
    let case = Case { agent: &agent, test: &test, environment: &environment, ..Case::default() };
    let declared = bench.trial(&case).await;
    assert!(declared.agent.starts_with("heard hello\n"), "{}", declared.agent);
    assert!(declared.verifier.starts_with("heard hello\n"), "{}", declared.verifier);
    let network = NetworkChoice { verifier: Some(NetworkPolicy::None), agent: None };
    let settings = RunSettings { network, ..RunSettings::default() };
    let closed = bench.trial(&Case { settings, ..case }).await;
    assert!(closed.agent.starts_with("heard hello\n"), "{}", closed.agent);
    assert!(closed.verifier.starts_with("closed\n"), "{}", closed.verifier);
    bench.finish().await;
}
