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

const REQUEST_WORDS: [&[u8]; 12] = [
    b"\"tools\":[{\"type\":7}]",
    b"\"messages\":{}",
    b"\"input\":[[[[",
    b"\"contents\":[{\"role\":null,\"parts\":\"x\"}],",
    b"null",
    b"\"image_url\":\"\xff\",",
    b"\"type\":\"url\",\"url\":{},",
    b"\\u0000",
    b"call_scripted_99999999999999999999_0",
    b"}}}}",
    b"\"model\":\"m\",",
    b"1e999",
];

const REQUEST: &str = concat!(
    r#"{"model":"m","stream":true,"system":"s","instructions":"s","systemInstruction":{"parts":[{"text":"s"}]},"#,
    r#""tools":[{"name":"bash","type":"function","function":{"name":"bash"},"functionDeclarations":[{"name":"bash"}]}],"#,
    r#""messages":[{"role":"user","content":[{"type":"text","text":"t"}]},{"role":"assistant","content":"a"}],"#,
    r#""input":[{"type":"message","role":"user","content":"t"},{"type":"function_call","call_id":"call_scripted_0_0"}],"#,
    r#""contents":[{"role":"user","parts":[{"text":"t"}]},{"role":"model","parts":[{"functionCall":{"name":"bash"}}]}]}"#,
);

#[tokio::test]
async fn mangled_requests_are_answered_in_every_protocol() {
    let script = r#"{"schema":"skilldelta-model-1","rules":[{"turns":[{"text":"x","tools":[{"name":"bash","input":{"command":"ls"}}]}]}]}"#;
    let scripted = gateway::upstream::scripted::ScriptedUpstream::parse("acting", "s", script.as_bytes()).unwrap();
    let gateway = support::open(std::sync::Arc::new(scripted), gateway::Caps::default());
    let mut dice = Dice(0xfeed);
    let mut answered = 0;
    for round in 0..800 {
        let mut bytes = REQUEST.as_bytes().to_vec();
        for _ in 0..dice.roll(4) {
            let at = dice.roll(bytes.len());
            match dice.roll(4) {
                0 => bytes[at] = u8::try_from(dice.roll(256)).unwrap(),
                1 if round % 8 == 0 => bytes.truncate(at.max(1)),
                _ => drop(bytes.splice(at..at, REQUEST_WORDS[dice.roll(REQUEST_WORDS.len())].iter().copied())),
            }
        }
        for protocol in Protocol::ALL {
            let request = support::post(support::path(protocol), bytes.clone());
            let (status, _, whole) = support::call(&gateway, request).await;
            assert!(
                whole && (status == 200 || status == 400 || status == 404),
                "{status}: {}",
                String::from_utf8_lossy(&bytes)
            );
            answered += usize::from(status == 200);
        }
    }
    assert!(answered > 400 && gateway.records().len() as u64 + gateway.left_out() == 3200, "{answered}");
}
