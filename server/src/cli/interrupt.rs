//! The person, or the system, says stop.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Waits to be told to stop, once. Whoever says so again has no patience left: the program then ends at once, with the exit code of a
/// program that the signal killed. What is left behind is taken up at the next start, as after every crash.
pub async fn interrupted() {
    let signals = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    let (Ok(mut interrupt), Ok(mut terminate)) = signals else { return std::future::pending().await };
    told(&mut interrupt, &mut terminate).await;
    tokio::spawn(async move {
        let number = told(&mut interrupt, &mut terminate).await;
        std::process::exit(128 + number);
    });
}

/// The number of the next signal.
async fn told(interrupt: &mut Signal, terminate: &mut Signal) -> i32 {
    tokio::select! {
        _ = interrupt.recv() => SignalKind::interrupt().as_raw_value(),
        _ = terminate.recv() => SignalKind::terminate().as_raw_value(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    use super::*;

    const CHILD: &str = "SKILLDELTA_TEST_INTERRUPTED";

    /// This test again in a process of its own, which never comes to its end.
    #[tokio::test]
    async fn the_second_signal_ends_a_program_that_does_not_come_to_its_end() {
        if std::env::var_os(CHILD).is_some() {
            tokio::join!(interrupted(), async { eprintln!("ready") });
            eprintln!("told");
            return std::future::pending().await;
        }
        for (signal, code) in [("INT", 130), ("TERM", 143)] {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args([
                    "--exact",
                    "--nocapture",
                    "cli::interrupt::tests::the_second_signal_ends_a_program_that_does_not_come_to_its_end",
                ])
                .env(CHILD, "1")
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
            for said in ["ready", "told"] {
                assert_eq!(lines.next().unwrap().unwrap(), said);
                let sent = Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status();
                assert!(sent.unwrap().success());
            }
            assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
        }
    }
}
