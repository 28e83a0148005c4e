//! Answers every question for a name with "there is no such name", at once: resolvers that get no answer wait for seconds.

use std::collections::BTreeSet;
use std::net::UdpSocket;

const HEADER: usize = 12;
const NO_SUCH_NAME: u8 = 3;
const FORMAT_ERROR: u8 = 1;
/// Names that are told at most.
const TOLD: usize = 200;

/// Serves for ever.
pub fn refuse_all(socket: &UdpSocket) {
    let mut packet = [0; 1024];
    let mut told = BTreeSet::new();
    loop {
        let Ok((count, from)) = socket.recv_from(&mut packet) else { continue };
        let Some((answer, name)) = packet.get(..count).and_then(refusal) else { continue };
        let _it_will_ask_again = socket.send_to(&answer, from);
        if let Some(name) = name.filter(|_| told.len() < TOLD)
            && told.insert(name.clone())
        {
            println!("name {name}");
        }
    }
}

/// The answer to a packet, and the name it asks for. `None` = it is no question.
fn refusal(packet: &[u8]) -> Option<(Vec<u8>, Option<String>)> {
    let mut answer = packet.get(..HEADER)?.to_vec();
    let flags = *packet.get(2)?;
    if flags & 0x80 != 0 {
        return None;
    }
    let question = question(packet.get(HEADER..)?);
    let code = if question.is_some() { NO_SUCH_NAME } else { FORMAT_ERROR };
    // An answer, to the same operation, with recursion wanted as it was; available.
    let head = [(flags & 0x79) | 0x80, 0x80 | code, 0, u8::from(question.is_some()), 0, 0, 0, 0, 0, 0];
    answer.truncate(2);
    answer.extend(head);
    let (length, name) = question.map_or((0, None), |(length, name)| (length, Some(name)));
    answer.extend(packet.get(HEADER..HEADER + length)?);
    Some((answer, name))
}

/// The first question: its length in bytes, type and class included, and its name.
fn question(bytes: &[u8]) -> Option<(usize, String)> {
    let mut name = String::new();
    let mut at = 0;
    loop {
        let length = usize::from(*bytes.get(at)?);
        at += 1;
        match length {
            0 => break,
            1..=63 => {
                if !name.is_empty() {
                    name.push('.');
                }
                name.extend(bytes.get(at..at + length)?.iter().map(|byte| shown(*byte)));
                at += length;
            }
            // A pointer has nothing to point at in a question.
            _ => return None,
        }
        if name.len() > 255 {
            return None;
        }
    }
    bytes.get(at..at + 4)?;
    Some((at + 4, name))
}

fn shown(byte: u8) -> char {
    match byte.to_ascii_lowercase() {
        plain @ (b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_') => char::from(plain),
        _ => '?',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(name: &[u8]) -> Vec<u8> {
        let header = [0xab, 0xcd, 0x01, 0x20, 0, 1, 0, 0, 0, 0, 0, 1];
        [&header, name, &[0, 28, 0, 1], &[0, 0, 41, 16, 0, 0, 0, 0, 0, 0, 0]].concat()
    }

    #[test]
    fn a_question_is_repeated_and_denied() {
        let (answer, name) = refusal(&asking(b"\x03aPi\x07example\x03com\x00")).unwrap();
        assert_eq!(name.as_deref(), Some("api.example.com"));
        let header = [0xab, 0xcd, 0x81, 0x83, 0, 1, 0, 0, 0, 0, 0, 0];
        assert_eq!(answer, [&header[..], b"\x03aPi\x07example\x03com\x00", &[0, 28, 0, 1]].concat());
    }

    #[test]
    fn what_is_no_question_is_an_error_or_nothing() {
        for (packet, code) in [
            (asking(b"\xc0\x0c"), Some(FORMAT_ERROR)),
            (asking(b"\x3fshort"), Some(FORMAT_ERROR)),
            (asking(&[b'\x01'; 600]), Some(FORMAT_ERROR)),
            (vec![0; HEADER], Some(FORMAT_ERROR)),
            (vec![0; HEADER - 1], None),
            (vec![0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], None),
        ] {
            let got = refusal(&packet).map(|(answer, name)| (answer[3] & 15, name));
            assert_eq!(got, code.map(|code| (code, None)), "{packet:?}");
        }
        assert_eq!(refusal(&asking(b"\x02a\n\x00")).unwrap().1.as_deref(), Some("a?"));
    }
}
