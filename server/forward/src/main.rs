//! Runs alone in the sidecar of a closed trial, whose network it shares: what the trial sends to a port of its loopback goes to the
//! gateway's socket, and every name it asks for does not exist. Usage: `forward PORT SOCKET [DNS_ADDRESS]`.
//!
//! Says `ready` on its output when it listens, and `name NAME` once for each name that it is asked for.

mod names;
mod pipe;

use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("forward: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Vec<String>) -> Result<(), String> {
    let (port, socket, dns) = match arguments.as_slice() {
        [port, socket] => (port, socket, None),
        [port, socket, dns] => (port, socket, Some(dns)),
        _ => return Err("usage: forward PORT SOCKET [DNS_ADDRESS]".to_owned()),
    };
    let port: u16 = port.parse().map_err(|_| format!("'{port}' is no port"))?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| format!("port {port}: {error}"))?;
    if let Some(address) = dns {
        let asked = UdpSocket::bind(address).map_err(|error| format!("names at {address}: {error}"))?;
        std::thread::spawn(move || names::refuse_all(&asked));
    }
    println!("ready");
    pipe::serve(&listener, &PathBuf::from(socket))
}
