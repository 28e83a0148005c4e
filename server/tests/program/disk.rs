//! A disk that is full pauses the queue with the reason, and spends no trial (H26).

use std::io::Write as _;
use std::process::Command;

use crate::common::{Home, Running, Task};

/// The program with its data on a disk of `mb`, in a mount namespace of its own; `None` where that is not allowed here.
fn on_small_disk(home: &Home, mb: u32, args: &[&str]) -> Option<Running> {
    let mount = |then: &str| {
        format!(
            "mount -t tmpfs -o size={mb}m none \"$SKILLDELTA_DATA\" && printf %s {} > \"$SKILLDELTA_DATA/instance\" && {then}",
            home.instance
        )
    };
    let mut probe = Command::new("unshare");
    home.prepare(&mut probe);
    if !probe.args(["--mount", "sh", "-c", &mount("true")]).output().is_ok_and(|probe| probe.status.success()) {
        eprintln!("left out: no file system can be mounted here");
        return None;
    }
    let mut command = Command::new("unshare");
    home.prepare(&mut command);
    command.args(["--mount", "sh", "-c", &mount("exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_skilldelta")]).args(args);
    Some(Running::start(command))
}

#[test]
fn a_full_disk_pauses_the_queue_with_the_reason() {
    let home = Home::new("disk");
    home.task(&Task::new("fine"));
    let (skill, tasks) = (home.skill(), home.tasks());
    let args = ["eval", "--skill", &skill, "--tasks", &tasks, "--agent", "nop"];
    let Some(mut eval) = on_small_disk(&home, 200, &args) else { return };
    let line = eval.line("the pause", |line| line.starts_with("paused: "));
    assert!(line.contains("MB are free") && line.contains("512 MB") && line.contains("disk_floor_mb"), "{line}");
    let ended = eval.stop("TERM");
    ended.told(1, &["interrupted"]);
    assert!(!ended.err.contains("infra_error") && !ended.err.contains("preparing"), "{ended}");
    home.finish();
}

#[test]
fn a_disk_that_fills_up_midway_costs_no_result_once_it_has_room_again() {
    let home = Home::new("filled");
    let solve = "sleep 3; echo done > /app/answer.txt\n".to_owned();
    home.task(&Task { solve, ..Task::new("slow") });
    home.write("settings.toml", "disk_floor_mb = 0\n");
    let (skill, tasks) = (home.skill(), home.tasks());
    let args = ["eval", "--skill", &skill, "--tasks", &tasks, "--agent", "oracle", "--config", "settings.toml"];
    let Some(mut eval) = on_small_disk(&home, 8, &args) else { return };
    eval.line("an agent at work", |line| line.ends_with(": agent"));
    // The program's own view of the disk, which nobody else has mounted.
    let filler = format!("/proc/{}/root/{}/filler", eval.pid(), home.data().display());
    let mut file = std::fs::File::create(&filler).unwrap();
    while file.write_all(&[0; 4096]).is_ok() {}
    let line = eval.line("the trouble", |line| line.contains("could not be stored"));
    assert!(line.contains("is full") && line.contains("free some space"), "{line}");
    std::fs::remove_file(&filler).unwrap();
    drop(file);
    let ended = eval.end();
    assert_eq!(ended.code, 0, "{ended}");
    assert!(ended.out.contains("both 1"), "{ended}");
    home.finish();
}
