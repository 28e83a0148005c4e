//! One connection of the trial is one connection to the gateway. Each side waits for the other, so that neither runs ahead.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Connections at the same time; further ones are closed at once.
const MOST: usize = 512;
const BUFFER: usize = 32 * 1024;
const STACK: usize = 128 * 1024;

/// Serves for ever. `preface` is what the socket is told before a connection's own bytes; without one the connection is closed.
pub fn serve(listener: &TcpListener, socket: &Path, preface: impl Fn(&TcpStream) -> Option<String>) {
    let open = Arc::new(AtomicUsize::new(0));
    loop {
        let Ok((trial, _)) = listener.accept() else {
            // Out of descriptors, most likely: some will be closed.
            thread::sleep(Duration::from_millis(20));
            continue;
        };
        if open.load(Ordering::Relaxed) >= MOST {
            continue;
        }
        let Some(preface) = preface(&trial) else { continue };
        let place = Place::take(&open);
        let socket = socket.to_owned();
        let connection = thread::Builder::new().stack_size(STACK).spawn(move || {
            connect(trial, &socket, &preface);
            drop(place);
        });
        if let Err(error) = connection {
            eprintln!("forward: no thread for a connection: {error}");
        }
    }
}

/// A counted connection.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(open: &Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(open))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn connect(trial: TcpStream, socket: &Path, preface: &str) {
    // Closed when dropped, which is all that the trial is told: the gateway is gone.
    let Ok(mut gateway) = UnixStream::connect(socket) else { return };
    if gateway.write_all(preface.as_bytes()).is_err() {
        return;
    }
    let _without_it_it_is_only_slower = trial.set_nodelay(true);
    let (Ok(mut from_trial), Ok(mut to_gateway)) = (trial.try_clone(), gateway.try_clone()) else { return };
    let sending = thread::Builder::new().stack_size(STACK).spawn(move || {
        copy(&mut from_trial, &mut to_gateway);
        let _closed_already = to_gateway.shutdown(Shutdown::Write);
    });
    if sending.is_err() {
        return;
    }
    let (mut from_gateway, mut to_trial) = (gateway, trial);
    copy(&mut from_gateway, &mut to_trial);
    // Whichever way it ended: the gateway has said its last word, or the trial does not listen any more.
    let _closed_already = to_trial.shutdown(Shutdown::Both);
    let _closed_already = from_gateway.shutdown(Shutdown::Both);
}

fn copy(from: &mut impl Read, to: &mut impl Write) {
    let mut buffer = vec![0; BUFFER];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                let Some(bytes) = buffer.get(..count) else { return };
                if to.write_all(bytes).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    /// A forwarder to a gateway that does what it is told.
    fn forwarder(gateway: impl Fn(UnixStream) + Send + 'static) -> TcpStream {
        let folder = std::env::temp_dir().join(format!("forward-{}-{:?}", std::process::id(), thread::current().id()));
        std::fs::create_dir_all(&folder).unwrap();
        let socket = folder.join("gw.sock");
        let accepting = UnixListener::bind(&socket).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || serve(&listener, &socket, |_| Some("to you ".to_owned())));
        let trial = TcpStream::connect(address).unwrap();
        let (stream, _) = accepting.accept().unwrap();
        std::fs::remove_dir_all(folder).unwrap();
        thread::spawn(move || gateway(stream));
        trial
    }

    #[test]
    fn bytes_pass_both_ways_and_an_end_passes_on() {
        let mut trial = forwarder(|mut gateway| {
            let mut asked = Vec::new();
            gateway.read_to_end(&mut asked).unwrap();
            asked.reverse();
            gateway.write_all(&asked).unwrap();
        });
        let preface = b"to you ".as_slice();
        let asked: Vec<u8> = (0..300_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        trial.write_all(&asked).unwrap();
        trial.shutdown(Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        trial.read_to_end(&mut answer).unwrap();
        answer.reverse();
        assert!(answer == [preface, &asked].concat());
    }

    #[test]
    fn a_trial_that_goes_away_is_an_end_to_the_gateway() {
        let (sender, seen) = std::sync::mpsc::channel();
        let trial = forwarder(move |mut gateway| {
            let mut all = Vec::new();
            gateway.read_to_end(&mut all).unwrap();
            sender.send(all).unwrap();
        });
        drop(trial);
        assert_eq!(seen.recv().as_deref(), Ok(b"to you ".as_slice()));
    }
}
