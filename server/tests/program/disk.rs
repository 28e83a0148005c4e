//! A disk that is full pauses the queue with the reason, and spends no trial (H26).

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
