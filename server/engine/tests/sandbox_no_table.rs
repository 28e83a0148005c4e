//! An engine that cannot list processes, as one whose machine has no usable `ps`, and a shell that the agent has replaced: what cannot be seen
//! to be dead is not taken for dead.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod sandbox_support;

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use engine::sandbox::Engine;
use engine::sandbox::docker::{DEFAULT_HOST, DockerEngine};
use sandbox_support::{Rig, run, text};

/// Answers at `socket` for the engine; asked for a process table, it says that there is none.
fn without_process_table(socket: &Path) {
    let listener = UnixListener::bind(socket).unwrap();
    std::thread::spawn(move || {
        listener.incoming().flatten().for_each(|client| drop(std::thread::spawn(|| pass(client))))
    });
}

/// One request of a client, and its answer.
fn pass(mut client: UnixStream) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte).ok()?;
        head.extend(byte);
    }
    let mut head = String::from_utf8(head).unwrap();
    if head.lines().next()?.contains("/top?") {
        let words = r#"{"message":"ps: not found"}"#;
        let (status, length) = ("HTTP/1.1 500 Internal Server Error", words.len());
        let kind = "Content-Type: application/json\r\nConnection: close";
        return client
            .write_all(format!("{status}\r\n{kind}\r\nContent-Length: {length}\r\n\r\n{words}").as_bytes())
            .ok();
    }
    // A connection that is upgraded carries nothing further; of any other, the next request would not be seen here.
    if !head.to_ascii_lowercase().contains("upgrade:") {
        head = head.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    }
    let mut engine = UnixStream::connect(DEFAULT_HOST.strip_prefix("unix://")?).unwrap();
    engine.write_all(head.as_bytes()).ok()?;
    let (mut from, mut to) = (client.try_clone().unwrap(), engine.try_clone().unwrap());
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    });
    let _ = std::io::copy(&mut engine, &mut client);
    client.shutdown(Shutdown::Both).ok()
}

#[tokio::test]
async fn where_no_process_can_be_seen_a_kill_is_not_believed() {
    let rig = Rig::new("no-table").await;
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("engine.sock");
    without_process_table(&socket);
    let engine = DockerEngine::connect(Some(&format!("unix://{}", socket.display()))).await.unwrap();
    let sandbox = engine.create(&rig.spec()).await.unwrap().sandbox;
    let lying = r##"cp /bin/sleep /tmp/planted; setsid /tmp/planted 1000 >/dev/null 2>&1 &
        cp /bin/sh /bin/real; printf '#!/bin/real\n[ "$2" = "kill -9 -1" ] || exec /bin/real "$@"\n' > /bin/lying
        chmod +x /bin/lying; rm /bin/sh; ln -s lying /bin/sh; while ! [ -e /tmp/planted ]; do :; done"##;
    run(&*sandbox, lying).await;
    let planted = async || {
        let table = rig.docker.top_processes(sandbox.id(), None).await.unwrap().processes.unwrap();
        table.iter().flatten().any(|word| word.contains("planted"))
    };
    assert!(planted().await);
    sandbox.kill_all().await.unwrap();
    assert!(!planted().await);
    assert_eq!(text(&*sandbox, "echo goes on").await, "goes on\n");
    sandbox.remove().await.unwrap();
    engine.settle().await;
    rig.finish().await;
}
