//! Output without end neither fills memory nor the disk (H20).

use crate::common::{Home, PASS, Running, Task, shared};

/// Far above what the program needs, far below what is printed.
const MOST_MB: u64 = 160;

#[test]
fn a_flood_of_output_leaves_memory_flat_and_its_end_is_kept() {
    let home = Home::new("flood");
    let Some(flood) = shared("H20/flood.sh") else { return };
    home.task(&Task::script("flood", &flood, PASS));
    let (skill, tasks) = (home.skill(), home.tasks());
    let script = "exec sh \"$INSTRUCTION_FILE\"";
    let mut eval = Running::start(home.command(&[
        "eval",
        "--skill",
        &skill,
        "--tasks",
        &tasks,
        "--agent",
        "command",
        "--command",
        script,
        "--concurrency",
        "2",
    ]));
    // The greatest memory is asked for once all output has come.
    eval.line("the second trial's verifier", {
        let seen = std::cell::Cell::new(0);
        move |line| {
            seen.set(seen.get() + u32::from(line.ends_with(": verifying")));
            seen.get() == 2
        }
    });
    let peak = peak_mb(eval.pid());
    let ended = eval.end();
    assert_eq!(ended.code, 0, "{ended}");
    assert!(peak < MOST_MB, "{peak} MB");
    for trial in home.kept(1) {
        let log = home.blob(trial.last().agent_log);
        assert!(log.len() < 4 << 20, "{} bytes", log.len());
        let text = String::from_utf8(log).unwrap();
        assert!(text.starts_with("counting sheep") && text.ends_with("END\n") && text.contains("left out"));
    }
    home.finish();
}

fn peak_mb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() >> 10
}
