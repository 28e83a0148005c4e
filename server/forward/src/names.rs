//! Answers every question for a name at once, as resolvers that get no answer wait for seconds: with its address where the trial may reach
//! it, else with "there is no such name".

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, UdpSocket};

use crate::allowed::Allowed;

const HEADER: usize = 12;
const NO_SUCH_NAME: u8 = 3;
const FORMAT_ERROR: u8 = 1;
const NO_ERROR: u8 = 0;
/// The types of question that are answered with an address: for one of version 4, and for whatever there is.
const ADDRESS_TYPES: [u16; 2] = [1, 255];
/// Seconds that an answer holds.
const LIFETIME: u32 = 60;
/// Names that are told at most.
const TOLD: usize = 200;

/// Serves for ever.
pub fn answer_all(socket: &UdpSocket, allowed: &Allowed) {
    let mut packet = [0; 1024];
    let mut told = BTreeSet::new();
    loop {
        let Ok((count, from)) = socket.recv_from(&mut packet) else { continue };
        let Some((answer, refused)) = packet.get(..count).and_then(|packet| answer(packet, allowed)) else { continue };
        let _it_will_ask_again = socket.send_to(&answer, from);
        if let Some(name) = refused.filter(|_| told.len() < TOLD)
            && told.insert(name.clone())
        {
            println!("name {name}");
        }
    }
}

/// The answer to a packet, and the name that it refuses. `None` = it is no question.
fn answer(packet: &[u8], allowed: &Allowed) -> Option<(Vec<u8>, Option<String>)> {
    let mut answer = packet.get(..HEADER)?.to_vec();
    let flags = *packet.get(2)?;
    if flags & 0x80 != 0 {
        return None;
    }
    let question = question(packet.get(HEADER..)?);
    let address = question.as_ref().and_then(|question| allowed.address(&question.name));
    let code = match (&question, address) {
        (None, _) => FORMAT_ERROR,
        (Some(_), None) => NO_SUCH_NAME,
        (Some(_), Some(_)) => NO_ERROR,
    };
    let told = address.filter(|_| question.as_ref().is_some_and(|question| ADDRESS_TYPES.contains(&question.kind)));
    // An answer, to the same operation, with recursion wanted as it was; available.
    let (asked, answered) = (u8::from(question.is_some()), u8::from(told.is_some()));
    let head = [(flags & 0x79) | 0x80, 0x80 | code, 0, asked, 0, answered, 0, 0, 0, 0];
    answer.truncate(2);
    answer.extend(head);
    answer.extend(packet.get(HEADER..HEADER + question.as_ref().map_or(0, |question| question.length))?);
    answer.extend(told.into_iter().flat_map(record));
    let refused = question.filter(|_| address.is_none()).map(|question| question.name);
    Some((answer, refused))
}

/// An address as an answer to the question that stands right after the header.
fn record(address: Ipv4Addr) -> Vec<u8> {
    let name_type_class = [0xc0, HEADER as u8, 0, 1, 0, 1];
    [&name_type_class[..], &LIFETIME.to_be_bytes(), &[0, 4], &address.octets()].concat()
}

struct Question {
    /// In bytes, type and class included.
    length: usize,
    name: String,
    kind: u16,
}

/// The first question.
fn question(bytes: &[u8]) -> Option<Question> {
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
    let [high, low, _, _] = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(Question { length: at + 4, name, kind: u16::from_be_bytes([high, low]) })
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

    fn asking_for(name: &[u8], kind: u8) -> Vec<u8> {
        let header = [0xab, 0xcd, 0x01, 0x20, 0, 1, 0, 0, 0, 0, 0, 1];
        [&header, name, &[0, kind, 0, 1], &[0, 0, 41, 16, 0, 0, 0, 0, 0, 0, 0]].concat()
    }

    fn asking(name: &[u8]) -> Vec<u8> {
        asking_for(name, 28)
    }

    fn refusal(packet: &[u8]) -> Option<(Vec<u8>, Option<String>)> {
        answer(packet, &Allowed::default())
    }

    #[test]
    fn an_allowed_name_has_an_address_of_version_4_and_nothing_else() {
        let allowed = Allowed::new(["example.com"].into_iter());
        let name = b"\x07Example\x03com\x00";
        let (told, refused) = answer(&asking_for(name, 1), &allowed).unwrap();
        let header = [0xab, 0xcd, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0];
        let record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 1, 0, 1];
        assert_eq!((told, refused), ([&header[..], name, &[0, 1, 0, 1], &record].concat(), None));
        let (silent, refused) = answer(&asking_for(name, 28), &allowed).unwrap();
        let header = [0xab, 0xcd, 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0];
        assert_eq!((silent, refused), ([&header[..], name, &[0, 28, 0, 1]].concat(), None));
        assert_eq!(answer(&asking(b"\x04evil\x00"), &allowed).unwrap().1.as_deref(), Some("evil"));
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
