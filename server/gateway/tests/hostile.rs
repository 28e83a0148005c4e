//! Bytes of an upstream are foreign: whatever comes, in whatever pieces, the readers answer the same and never panic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use gateway::Protocol;
use gateway::protocol::anthropic::{Reply, ReplyReader, error_message};
use gateway::usage::UsageReader;
use support::STREAM;

/// xorshift: the same bytes in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides).unwrap()).unwrap()
    }
}

const WORDS: [&[u8]; 12] = [
    b"data: ",
    b"\n\n",
    b"\r",
    b"event: error\n",
    b"18446744073709551616",
    b"-1",
    b"{\"type\":\"content_block_delta\",\"index\":99999999999,\"delta\":{\"partial_json\":\"{\"}}",
    b"{\"type\":\"content_block_start\",\"content_block\":[1]}",
    b"\xff\xfe",
    b"null",
    b"\"usage\":7",
    b"[[[[[[[[",
];

fn mangled(dice: &mut Dice) -> Vec<u8> {
    let mut bytes = STREAM.as_bytes().to_vec();
    for _ in 0..=dice.roll(6) {
        let at = dice.roll(bytes.len());
        match dice.roll(3) {
            0 => bytes[at] = u8::try_from(dice.roll(256)).unwrap(),
            1 => bytes.truncate(at.max(1)),
            _ => drop(bytes.splice(at..at, WORDS[dice.roll(WORDS.len())].iter().copied())),
        }
    }
    bytes
}

#[test]
fn mangled_streams_read_the_same_whole_and_in_pieces() {
    let mut dice = Dice(0x5eed);
    for _ in 0..3000 {
        let bytes = mangled(&mut dice);
        let size = 1 + dice.roll(40);
        for (protocol, kind) in
            Protocol::ALL.into_iter().flat_map(|p| [(p, "text/event-stream"), (p, "application/json")])
        {
            let (mut whole, mut pieces) = (UsageReader::new(protocol, kind), UsageReader::new(protocol, kind));
            whole.push(&bytes);
            bytes.chunks(size).for_each(|piece| pieces.push(piece));
            assert_eq!(whole.reading(true), pieces.reading(true), "{}", String::from_utf8_lossy(&bytes));
        }
        let (mut whole, mut pieces) = (ReplyReader::new(), ReplyReader::new());
        whole.push(&bytes);
        bytes.chunks(size).for_each(|piece| pieces.push(piece));
        let (reply, finished) = whole.finish();
        assert_eq!((reply.clone(), finished), pieces.finish());
        let shown = (reply.text(), reply.reasoning(), Reply::from_json(&bytes).is_ok(), error_message(&bytes));
        assert!(!shown.3.is_empty() && shown.3.chars().count() <= 500);
    }
}
