//! The program `skilldelta`: wiring of configuration, pages, scheduler and command line.

mod cli;
mod config;
mod host_values;
mod http;
mod runtime;
mod scheduler;
mod upstreams;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    cli::run(cli::Cli::parse())
}
