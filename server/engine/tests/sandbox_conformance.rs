//! What any sandbox must keep, shown on the real engine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod sandbox_support;

use std::collections::HashSet;
use std::time::Duration;

use domain::id::AttemptId;
use domain::path::RelPath;
use domain::tamper::ChangeKind;
use domain::tree::{LoadedFile, LoadedTree};
use engine::sandbox::{
    CappedLog, Caps, Collect, Discard, Engine, ExecSpec, Exit, Limits, Mount, MountSource, Network, Owner, Redacting,
    Redactor, Sandbox, SandboxError, SandboxSpec, StdStream, TextDecoder, Upload, plain_text,
};
use sandbox_support::{LONG, Rig, run, run_for, text};

/// Starts a child that ignores what it can and writes on, then spins.
const STUBBORN: &str =
    r#"( trap "" TERM INT HUP; while :; do echo x >> /tmp/heartbeat; sleep 0.1; done ) & while :; do :; done"#;

/// Processes of the container by name, PID 1 and the asking shell left out.
const OTHERS: &str = r#"for p in /proc/[0-9]*; do n=${p#/proc/}; [ $n = 1 ] || [ $n = $$ ] || { read -r w < $p/comm && echo $w; } done 2>/dev/null"#;

async fn others(sandbox: &dyn Sandbox) -> Vec<String> {
    let listed = text(sandbox, OTHERS).await;
    // The wrapper's shell and PID 1's sleeper are ours.
    listed.lines().filter(|name| !matches!(*name, "sh" | "sleep")).map(str::to_owned).collect()
}

#[tokio::test]
async fn a_command_ends_with_its_code_and_its_two_outputs() {
    let rig = Rig::new("exec").await;
    let sandbox = rig.sandbox().await;
    for (script, want, out, err) in [
        ("echo a; echo b >&2; exit 3", Exit::Exited(3), "a\n", "b\n"),
        ("exit 0", Exit::Exited(0), "", ""),
        ("kill -TERM $$", Exit::Signalled(15), "", ""),
        ("kill -9 $$", Exit::Signalled(9), "", ""),
        ("exit 255", Exit::Exited(255), "", ""),
        ("printf no-newline", Exit::Exited(0), "no-newline", ""),
    ] {
        let (end, output) = run(&*sandbox, script).await;
        assert_eq!((end.exit, output.out_text().as_str(), output.err_text().as_str()), (want, out, err), "{script}");
        assert!(end.peak_memory.is_some_and(|peak| peak > 0), "{script}: {end:?}");
    }
    let spec = ExecSpec {
        env: vec![("A".to_owned(), "1 \"x\" $y".to_owned())],
        workdir: Some("/tmp".to_owned()),
        user: Some("65534:65534".to_owned()),
        ..ExecSpec::shell("echo \"$A\"; pwd; id -u", LONG)
    };
    let mut output = Collect::default();
    sandbox.exec(&spec, &mut output).await.unwrap();
    assert_eq!(output.out_text(), "1 \"x\" $y\n/tmp\n65534\n");
    let missing = sandbox.exec(&ExecSpec::new(["/no/such/program"], LONG), &mut Discard).await.unwrap();
    assert_eq!(missing.exit, Exit::Exited(127));
    sandbox.remove().await.unwrap();
    rig.finish().await;
}

#[tokio::test]
async fn a_background_process_does_not_hold_its_command_up() {
    let rig = Rig::new("background").await;
    let sandbox = rig.sandbox().await;
    // A limit that no clock reaches is none.
    let (end, output) = run_for(&*sandbox, "sleep 1000 & echo started", Duration::MAX).await;
    assert_eq!((end.exit, output.out_text().as_str()), (Exit::Exited(0), "started\n"));
    assert!(end.duration < Duration::from_secs(30), "{end:?}");
    assert_eq!(
        text(&*sandbox, "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; echo; done | grep -c '^sleep 1000'")
            .await,
        "1\n"
    );
    drop(sandbox);
    rig.finish().await;
}

#[tokio::test]
async fn at_its_limit_everything_is_dead_and_the_container_lives_on() {
    let rig = Rig::new("h03").await;
    let sandbox = rig.sandbox().await;
    let limit = Duration::from_secs(3);
    let (end, _) = run_for(&*sandbox, STUBBORN, limit).await;
    assert_eq!((end.exit, end.duration), (Exit::TimedOut { limit }, limit));
    assert_eq!(others(&*sandbox).await, Vec::<String>::new());
    // The container's own clock: half a second without a beat.
    let beats = text(&*sandbox, "wc -l < /tmp/heartbeat; sleep 0.5; wc -l < /tmp/heartbeat").await;
    let counts: Vec<&str> = beats.lines().collect();
    assert!(counts[0] == counts[1] && counts[0] != "0", "{counts:?}");
    sandbox.remove().await.unwrap();
    rig.finish().await;
}

#[tokio::test]
async fn kill_all_reaches_every_kind_of_process() {
    let rig = Rig::new("kill").await;
    let sandbox = rig.sandbox().await;
    let plant = "cp /bin/sleep /tmp/planted; \
        setsid sh -c 'trap \"\" TERM HUP; /tmp/planted 1000 & /tmp/planted 1001; /tmp/planted 1002' >/dev/null 2>&1 & \
        ( ( /tmp/planted 1003 & ) & ) ; nohup /tmp/planted 1004 >/dev/null 2>&1 & \
        chmod 755 /tmp/planted; su -s /bin/sh nobody -c '/tmp/planted 1005 >/dev/null 2>&1 &'; sleep 0.3";
    for kill_after in [false, true] {
        let spec = ExecSpec { kill_after, ..ExecSpec::shell(plant, LONG) };
        assert_eq!(sandbox.exec(&spec, &mut Discard).await.unwrap().exit, Exit::Exited(0));
        assert_eq!(others(&*sandbox).await.contains(&"planted".to_owned()), !kill_after);
        sandbox.kill_all().await.unwrap();
        assert_eq!(others(&*sandbox).await, Vec::<String>::new(), "kill_after {kill_after}");
    }
    sandbox.remove().await.unwrap();
    rig.finish().await;
}

#[tokio::test]
async fn kill_all_works_when_no_process_can_be_started_and_when_the_shell_lies() {
    let rig = Rig::new("kill-hard").await;
    let sandbox = rig.sandbox().await;
    text(&*sandbox, "echo kept > /tmp/file").await;
    // Takes every process there is room for, detached.
    let (_, _) = run(
        &*sandbox,
        "setsid sh -c 'i=0; while [ $i -lt 400 ]; do sleep 1000 & i=$((i+1)); done' >/dev/null 2>&1; true",
    )
    .await;
    sandbox.kill_all().await.unwrap();
    assert_eq!(text(&*sandbox, "cat /tmp/file").await, "kept\n");

    let lying = "cp /bin/sleep /tmp/planted; setsid /tmp/planted 1000 >/dev/null 2>&1 & \
        cp /bin/sh /bin/real; rm /bin/sh; printf '#!/bin/real\\nexit 0\\n' > /bin/lying; chmod +x /bin/lying; ln -s lying /bin/sh";
    run(&*sandbox, lying).await;
    // Either it is killed all the same, or the sandbox says that it must not be used.
    if sandbox.kill_all().await.is_ok() {
        let top = rig.docker.top_processes(sandbox.id(), None).await.ok().and_then(|top| top.processes);
        assert!(!top.iter().flatten().flatten().any(|word| word.contains("planted")), "{top:?}");
    }
    drop(sandbox);
    rig.finish().await;
}

#[tokio::test]
async fn out_of_memory_is_told_from_a_kill() {
    let rig = Rig::new("h05").await;
    let limits = Limits { memory_mb: 64, ..Limits::default() };
    let sandbox = rig.engine.create(&SandboxSpec { limits, ..rig.spec() }).await.unwrap().sandbox;
    let (end, _) = run(&*sandbox, "kill -9 $$").await;
    assert_eq!((end.exit.to_string().as_str(), end.oom_kills), ("killed by signal 9", Some(0)));
    let (end, _) = run(&*sandbox, "exec tail /dev/zero").await;
    assert_eq!(end.exit.to_string(), "out of memory (limit 64 MB)");
    assert!(end.oom_kills > Some(0) && end.peak_memory > Some(32 << 20), "{end:?}");
    // A script that goes on after its test was killed ends well; the evidence is there all the same.
    let (end, _) = run(&*sandbox, "tail /dev/zero || true").await;
    assert_eq!((end.exit, end.oom_kills), (Exit::Exited(0), Some(1)));
    let (end, _) = run(&*sandbox, "true").await;
    assert_eq!((end.exit, end.oom_kills), (Exit::Exited(0), Some(0)));
    assert_eq!(sandbox.usage().await.unwrap().oom_kills, Some(2));
    sandbox.remove().await.unwrap();
    rig.finish().await;
}

#[tokio::test]
async fn output_that_is_no_text_is_kept_as_bytes_and_shown_as_text() {
    let rig = Rig::new("h19").await;
    let sandbox = rig.sandbox().await;
    let emit = r#"printf "\347\276"; sleep 0.3; printf "\212\n"; printf "bad \377\376 bytes\n"; printf "nul \000 here\n"
        printf "\033[31mred\033[0m\n"; for i in 1 2 3; do printf "\rstep %s/3" $i; done; echo; printf '\036odd\036' >&2"#;
    let mut decoder = TextDecoder::new();
    let (mut raw, mut err, mut shown) = (Vec::new(), Vec::new(), String::new());
    let mut sink = |stream: StdStream, bytes: &[u8]| match stream {
        StdStream::Out => {
            raw.extend_from_slice(bytes);
            shown.push_str(&decoder.push(bytes));
        }
        StdStream::Err => err.extend_from_slice(bytes),
    };
    sandbox.exec(&ExecSpec::shell(emit, LONG), &mut sink).await.unwrap();
    assert_eq!(
        raw,
        b"\xe7\xbe\x8a\nbad \xff\xfe bytes\nnul \0 here\n\x1b[31mred\x1b[0m\n\rstep 1/3\rstep 2/3\rstep 3/3\n"
    );
    assert_eq!(plain_text(&shown), "羊\nbad \u{fffd}\u{fffd} bytes\nnul \u{fffd} here\nred\nstep 3/3\n");
    assert_eq!(err, b"\x1eodd\x1e");
    sandbox.remove().await.unwrap();
    rig.finish().await;
}

#[tokio::test]
async fn a_flood_is_counted_and_capped() {
    let rig = Rig::new("h20").await;
    let sandbox = rig.sandbox().await;
    let flood = r#"yes "counting sheep again and again and again" | head -c 200000000; head -c 50000000 /dev/zero | tr "\0" x; echo; echo END"#;
    let mut log = CappedLog::new(64 << 10, 64 << 10);
    let mut longest = 0;
    let mut sink = |_: StdStream, bytes: &[u8]| {
        longest = longest.max(bytes.len());
        log.push(bytes);
    };
    let end = sandbox.exec(&ExecSpec::shell(flood, LONG * 3), &mut sink).await.unwrap();
    let kept = log.finish();
    assert_eq!((end.exit, kept.total, kept.left_out), (Exit::Exited(0), 250_000_005, 250_000_005 - (128 << 10)));
    assert!(kept.bytes.ends_with(b"x\nEND\n") && kept.bytes.starts_with(b"counting sheep"));
    assert!(longest <= 1 << 20, "a piece of {longest} bytes");
    sandbox.remove().await.unwrap();
    rig.finish().await;
}

#[tokio::test]
async fn a_secret_of_the_run_is_not_in_the_log() {
    let rig = Rig::new("h21").await;
    let sandbox = rig.sandbox().await;
    let key = "sk-test-0000EXAMPLE0000KEY";
    let leak = r#"env; echo "curl https://api.example.invalid/v1?apikey=$TEST_KEY"; echo "x-api-key: $TEST_KEY" >&2; printf %.10s $TEST_KEY; sleep 0.3
        printf %s "${TEST_KEY#??????????}""#;
    let spec = ExecSpec { env: vec![("TEST_KEY".to_owned(), key.to_owned())], ..ExecSpec::shell(leak, LONG) };
    let mut sink = Redacting::new(Collect::default(), &Redactor::new([key]));
    sandbox.exec(&spec, &mut sink).await.unwrap();
    let (output, hits) = sink.into_parts();
    let all = output.out_text() + &output.err_text();
    assert!(!all.contains(key) && all.contains("TEST_KEY=[secret]\n") && all.contains("apikey=[secret]\n"), "{all}");
    assert_eq!(hits, 4, "{all}");
    sandbox.remove().await.unwrap();
    rig.finish().await;
}

#[tokio::test]
async fn files_of_any_owner_and_mode_come_out_and_links_are_not_followed() {
    let rig = Rig::new("h24").await;
    let sandbox = rig.sandbox().await;
    let make = "mkdir -p /out/d && cd /out && echo secretish > a.txt && chmod 600 a.txt && mkdir locked && echo x > locked/x && chmod 000 locked \
        && echo ro > ro.txt && chmod 444 ro.txt && ln -s /etc/passwd link && mkfifo pipe && chown -R 1234:1234 d && head -c 5000 /dev/zero > big \
        && ln a.txt twin && mkdir reward.txt && printf '#!/bin/sh\n' > d/run && chmod 755 d/run";
    text(&*sandbox, make).await;
    let got = sandbox.download("/out", Caps { file_bytes: 1000, ..Caps::default() }).await.unwrap().unwrap();
    let files: Vec<(&str, bool)> = got.files.iter().map(|(path, file)| (path.as_str(), file.executable)).collect();
    let plain = [("a.txt", false), ("d/run", true), ("locked/x", false), ("ro.txt", false), ("twin", false)];
    assert_eq!(files, plain);
    let mut skipped: Vec<&str> = got.skipped.iter().map(|skipped| skipped.path.as_str()).collect();
    skipped.sort_unstable();
    assert_eq!((skipped.as_slice(), got.complete), (["out/big", "out/link", "out/pipe"].as_slice(), true));
    let one = sandbox.download("/out/a.txt", Caps::default()).await.unwrap().unwrap();
    assert_eq!(one.single(), Some(b"secretish\n".as_slice()));
    assert!(!sandbox.download("/out/reward.txt", Caps::default()).await.unwrap().unwrap().is_file);
    assert_eq!(sandbox.download("/out/none", Caps::default()).await.unwrap(), None);
    let few = sandbox.download("/out", Caps { files: 2, ..Caps::default() }).await.unwrap().unwrap();
    assert!(!few.complete && few.files.len() <= 2);
    sandbox.remove().await.unwrap();
    rig.finish().await;
}

#[tokio::test]
async fn uploads_keep_bits_and_owners_and_leave_folders_alone() {
    let rig = Rig::new("upload").await;
    let sandbox = rig.sandbox().await;
    let file = |executable, text: &str| LoadedFile { executable, bytes: text.as_bytes().to_vec() };
    let long = format!("{}/deep.txt", "folder-with-a-long-name/".repeat(6).trim_end_matches('/'));
    let tree: LoadedTree = [("run.sh", file(true, "#!/bin/sh\necho ran\n")), (long.as_str(), file(false, "deep"))]
        .into_iter()
        .map(|(path, file)| (RelPath::new(path).unwrap(), file))
        .collect();
    let upload = Upload::new()
        .tree("/opt/one", &tree)
        .tree("/tmp", &tree)
        .owned_by(Owner { uid: 1234, gid: 4321 })
        .folder("/home/u", 0o750)
        .file("/home/u/.profile", "x", false);
    sandbox.upload(upload).await.unwrap();
    let seen = text(&*sandbox, "/opt/one/run.sh; stat -c '%a %u %g' /opt/one/run.sh /tmp /home/u /home/u/.profile; su -s /bin/sh nobody -c /opt/one/run.sh").await;
    assert_eq!(seen, "ran\n755 0 0\n1777 0 0\n750 1234 4321\n644 1234 4321\nran\n");
    assert_eq!(text(&*sandbox, &format!("cat '/opt/one/{long}'")).await, "deep");
    sandbox.upload(Upload::new()).await.unwrap();
    sandbox.remove().await.unwrap();
    rig.finish().await;
}

#[tokio::test]
async fn a_container_is_closed_and_yet_fit_for_ordinary_scripts() {
    let rig = Rig::new("closed").await;
    let limits = Limits { cpus: 0.5, memory_mb: 128, pids: 50, ..Limits::default() };
    let sandbox = rig.engine.create(&SandboxSpec { limits, ..rig.spec() }).await.unwrap().sandbox;
    let seen = text(&*sandbox, "grep NoNewPrivs /proc/self/status; ls /sys/class/net; cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null || true").await;
    assert_eq!(seen, format!("NoNewPrivs:\t1\nlo\n{}\n", 128 << 20));
    for refused in ["mknod /tmp/d c 1 3", "mount -t tmpfs x /mnt", "chroot / unshare -m true"] {
        let (end, _) = run(&*sandbox, refused).await;
        assert!(!end.exit.is_success(), "{refused}");
    }
    let fit = "cd /tmp && touch f && chown nobody f && su -s /bin/sh nobody -c 'id -un' && chmod u+s f && chroot / true && \
        install -d -o nobody -m 700 d && echo x > d/x && rm -r d";
    assert_eq!(text(&*sandbox, fit).await, "nobody\n");
    sandbox.remove().await.unwrap();

    let limits = Limits { cpus: 1e6, memory_mb: 1 << 40, ..Limits::default() };
    let created = rig.engine.create(&SandboxSpec { limits, ..rig.spec() }).await.unwrap();
    assert_eq!(created.findings.len(), 2, "{:?}", created.findings);
    drop(created);
    rig.finish().await;
}

#[tokio::test]
async fn a_workspace_is_handed_from_one_container_to_the_next() {
    let rig = Rig::new("volume").await;
    let volume = rig.engine.create_volume(&rig.labels(1)).await.unwrap();
    let mount = Mount { target: "/work".to_owned(), source: MountSource::Volume(volume.clone()), read_only: false };
    let spec = SandboxSpec { mounts: vec![mount], workdir: Some("/work".to_owned()), ..rig.spec() };
    let first = rig.engine.create(&spec).await.unwrap().sandbox;
    text(&*first, "echo result > r.txt; echo outside > /o.txt").await;
    let changes = first.changes().await.unwrap();
    assert!(changes.contains(&(ChangeKind::Added, "/o.txt".to_owned())), "{changes:?}");
    assert!(!changes.iter().any(|(_, path)| path.starts_with("/work/")), "{changes:?}");
    first.remove().await.unwrap();
    let memory = Mount { target: "/scratch".to_owned(), source: MountSource::Memory(1), read_only: false };
    let network = Network::None;
    let spec = SandboxSpec { mounts: spec.mounts.into_iter().chain([memory]).collect(), network, ..rig.spec() };
    let second = rig.engine.create(&spec).await.unwrap().sandbox;
    assert_eq!(
        text(
            &*second,
            "cat /work/r.txt; ls /o.txt 2>/dev/null || echo gone; df -k --output=size /scratch | tail -1 | tr -d ' '"
        )
        .await,
        "result\ngone\n1024\n"
    );
    assert!(rig.engine.remove_volume(&volume).await.is_err(), "it is in use");
    second.remove().await.unwrap();
    rig.engine.remove_volume(&volume).await.unwrap();
    rig.engine.remove_volume(&volume).await.unwrap();
    rig.finish().await;
}

#[tokio::test]
async fn what_is_dropped_cancelled_or_forgotten_is_removed() {
    let rig = Rig::new("h02").await;
    drop(rig.sandbox().await);
    // A caller that goes away in the middle of making one.
    let spec = rig.spec();
    let cancelled = tokio::time::timeout(Duration::from_millis(1), rig.engine.create(&spec)).await;
    drop(cancelled);
    let sandbox = rig.sandbox().await;
    sandbox.remove().await.unwrap();
    sandbox.remove().await.unwrap();
    // Forgotten, as by a server that was killed: attempt 7 lives, attempt 1 does not. Another instance's is not touched.
    std::mem::forget(rig.sandbox().await);
    let live = rig.engine.create(&SandboxSpec { labels: rig.labels(7), ..rig.spec() }).await.unwrap().sandbox;
    let other = Rig::new("h02-other").await;
    let others = other.sandbox().await;
    rig.engine.create_network(&format!("{}-net", rig.instance), &rig.labels(1)).await.unwrap();
    rig.engine.create_volume(&rig.labels(1)).await.unwrap();
    let reaped = rig.engine.reap(&rig.instance, &HashSet::from([AttemptId(7)])).await.unwrap();
    assert!(!reaped.containers.is_empty() && reaped.networks.len() == 1 && reaped.volumes.len() == 1, "{reaped:?}");
    assert_eq!(rig.left().await, [live.id()]);
    assert_eq!(text(&*others, "echo here").await, "here\n");
    drop((live, others));
    other.finish().await;
    rig.finish().await;
}

#[tokio::test]
async fn a_container_that_ends_under_a_command_is_lost_and_no_verdict() {
    let rig = Rig::new("lost").await;
    let sandbox =
        rig.engine.create(&SandboxSpec { lifetime: Duration::from_secs(5), ..rig.spec() }).await.unwrap().sandbox;
    let lost = sandbox.exec(&ExecSpec::shell("sleep 60", LONG), &mut Discard).await.unwrap_err();
    assert!(matches!(lost, SandboxError::Lost { .. }), "{lost}");
    let after = sandbox.exec(&ExecSpec::shell("true", LONG), &mut Discard).await.unwrap_err();
    assert!(matches!(after, SandboxError::Lost { .. }), "{after}");
    sandbox.remove().await.unwrap();
    let removed = sandbox.download("/etc", Caps::default()).await.unwrap_err();
    assert!(matches!(removed, SandboxError::Lost { .. }), "{removed}");
    rig.finish().await;
}

#[tokio::test]
async fn a_frozen_container_stands_still() {
    let rig = Rig::new("freeze").await;
    let sandbox = rig.sandbox().await;
    text(&*sandbox, "(while :; do echo x >> /tmp/beat; sleep 0.02; done) >/dev/null 2>&1 &").await;
    sandbox.freeze().await.unwrap();
    let size = async || sandbox.download("/tmp/beat", Caps::default()).await.unwrap().unwrap().single().unwrap().len();
    let first = size().await;
    assert_eq!(size().await, first);
    sandbox.thaw().await.unwrap();
    sandbox.kill_all().await.unwrap();
    drop(sandbox);
    rig.finish().await;
}

#[tokio::test]
async fn errors_name_a_reason_and_a_remedy() {
    let rig = Rig::new("errors").await;
    let spec = SandboxSpec { image: "skilldelta-no-such-image:1".to_owned(), ..rig.spec() };
    let missing = rig.engine.create(&spec).await.err().unwrap();
    assert!(matches!(missing, SandboxError::ImageMissing { .. }), "{missing}");
    let nowhere =
        engine::sandbox::docker::DockerEngine::connect(Some("unix:///no/such/engine.sock")).await.err().unwrap();
    assert!(matches!(nowhere, SandboxError::EngineUnavailable { .. }), "{nowhere}");
    assert!(
        nowhere.to_string().contains("/no/such/engine.sock") && nowhere.to_string().contains("doctor"),
        "{nowhere}"
    );
    rig.finish().await;
}
