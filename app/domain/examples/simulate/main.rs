//! Remakes the table of what intervals, tests and verdicts do in simulation: `cargo run --release -p domain --example simulate -- FILE`. The seeds are fixed,
//! so the same code gives the same file; without FILE it is printed.

mod alarms;
mod chance;
mod coverage;
mod power;
mod sequential;
mod stopping;

use std::process::ExitCode;

const HEAD: &str = "# What simulation shows

Made by `cargo run --release -p domain --example simulate -- docs/statistics-simulation.md`; do not edit. Seeds are fixed. Single pairs are
enumerated exactly up to 100 tasks; the rest is drawn, and a drawn share of 95 % in 1,500 runs is known to ±1.1 pp (two standard errors), so the
least of a grid lies a little below the truth. `sure` is the share of tasks that always end the same way; it decides how much repeats help.

";

fn main() -> ExitCode {
    let sections = [
        coverage::single_pairs(),
        coverage::repeats(),
        coverage::tokens(),
        alarms::equal_arms(),
        alarms::at_the_margin(),
        power::single_pairs(),
        power::repeats(),
        sequential::looks(),
        stopping::early_ends(),
    ];
    let text = format!("{HEAD}{}", sections.join("\n"));
    match std::env::args().nth(1) {
        None => print!("{text}"),
        Some(path) => {
            if let Err(error) = std::fs::write(&path, text) {
                eprintln!("error: {path} could not be written: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
