//! Runs alone in the sidecar of a trial, whose network it shares. What the trial sends to a port of its loopback goes to the gateway's
//! socket; names do not exist, but for those that the trial may reach: these get addresses of the loopback, and what is sent to them goes
//! on to another socket, with the name. Usage, each part at will:
//! `forward [gateway PORT SOCKET] [names ADDRESS] [allow SOCKET PORT,… NAME,…]`.
//!
//! Says `ready` on its output when it listens, and `name NAME` once for each name that it is asked for in vain.

mod allowed;
mod names;
mod pipe;

use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use allowed::Allowed;

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("forward: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut arguments: &[String]) -> Result<(), String> {
    let (mut serving, mut resolver, mut allowed) = (Vec::new(), None, Arc::default());
    while let Some((word, rest)) = arguments.split_first() {
        arguments = match (word.as_str(), rest) {
            ("gateway", [port, socket, rest @ ..]) => {
                let (listener, socket) = (listen(Ipv4Addr::LOCALHOST, port)?, PathBuf::from(socket));
                serving.push(std::thread::spawn(move || pipe::serve(&listener, &socket, |_| Some(String::new()))));
                rest
            }
            ("names", [address, rest @ ..]) => {
                resolver = Some(UdpSocket::bind(address).map_err(|error| format!("names at {address}: {error}"))?);
                rest
            }
            ("allow", [socket, ports, names, rest @ ..]) => {
                allowed = Arc::new(Allowed::new(names.split(',')));
                for port in ports.split(',') {
                    // On every address, as there is one for each name.
                    let listener = listen(Ipv4Addr::UNSPECIFIED, port)?;
                    let (socket, allowed) = (PathBuf::from(socket), Arc::clone(&allowed));
                    let target = move |trial: &std::net::TcpStream| allowed.target(trial.local_addr().ok()?);
                    serving.push(std::thread::spawn(move || pipe::serve(&listener, &socket, target)));
                }
                rest
            }
            _ => return Err(format!("'{word}' is not understood")),
        };
    }
    if let Some(asked) = resolver {
        serving.push(std::thread::spawn(move || names::answer_all(&asked, &allowed)));
    }
    println!("ready");
    serving.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a part of it ended".to_owned()))
}

fn listen(address: Ipv4Addr, port: &str) -> Result<TcpListener, String> {
    let number: u16 = port.parse().map_err(|_| format!("'{port}' is no port"))?;
    TcpListener::bind((address, number)).map_err(|error| format!("port {port}: {error}"))
}
