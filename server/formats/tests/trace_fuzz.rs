//! Readers of records never panic, whatever they are given, and give the same however it is cut.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use formats::trace::{TraceFormat, TraceReader, read};

/// A small generator: the same noise on every run.
struct Noise(u64);

impl Noise {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below as u64).unwrap()
    }
}

/// Lines that the readers know, to be broken.
const SEEDS: &[&str] = &[
    r#"{"type":"system","subtype":"init","skills":["a",{"name":"b"},3],"tools":[]}"#,
    r#"{"type":"assistant","parent_tool_use_id":"u","message":{"id":"m1","content":[{"type":"tool_use","id":"u1","name":"Skill","input":{"skill":"x"}},{"type":"thinking","thinking":"t"}],"usage":{"input_tokens":10,"output_tokens":1}}}"#,
    r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"u1","content":[{"type":"text","text":"ok"},{"type":"image"}],"is_error":true}]},"tool_use_result":{"totalTokens":7000}}"#,
    r#"{"type":"result","subtype":"success","is_error":true,"usage":{"input_tokens":15},"permission_denials":[{"tool_name":"Write"}],"errors":["x"]}"#,
    r#"{"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":120}}}"#,
    r#"{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"ls","aggregated_output":"","exit_code":null,"status":"failed"}}"#,
    r#"{"type":"turn.failed","error":{"message":"unexpected status 99999999 x"}}"#,
    r#"{"timestamp":"2026-01-02T00:00:01Z","type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":1,"cached_input_tokens":9},"total_token_usage":{"input_tokens":18446744073709551615}}}}"#,
    r#"{"type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"c","arguments":"{\"a\":"}}"#,
    r#"{"type":"step_finish","timestamp":9223372036854775807,"part":{"reason":"stop","tokens":{"input":-1,"output":1e300,"cache":[]},"cost":1e308}}"#,
    r#"{"type":"tool_use","part":{"tool":"bash","callID":"c","state":{"status":"error","time":{"start":5,"end":1}}}}"#,
    r#"{"type":"message","role":"assistant","content":"é","delta":true}"#,
    r#"{"ok":false,"usage":{"cacheRead":1,"input":2,"total":"x"},"toolSummary":[]}"#,
    r#"{"messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"bash","arguments":"{}"}}],"extra":{"response":{"usage":{"prompt_tokens":1}}}},{"role":"tool"}],"info":{"exit_status":"RateLimitError"}}"#,
    r#"{"events":[{"kind":"ActionEvent","thought":[{"text":"x"}],"llm_response_id":"r"},{"kind":"ObservationEvent","observation":{"exit_code":-1}}],"metrics":{"token_usages":[]}}"#,
    r#"{"schema_version":"ATIF-v1.9","agent":[],"steps":[{"source":"agent","message":[{"type":"image"}],"tool_calls":[{}],"observation":{"results":[{"source_call_id":"q"},{}]},"metrics":{"prompt_tokens":3}}]}"#,
    "not json",
    "\u{feff}{}",
];

fn broken(noise: &mut Noise) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..=noise.next(6) {
        let mut line = SEEDS[noise.next(SEEDS.len())].as_bytes().to_vec();
        for _ in 0..noise.next(4) {
            let at = noise.next(line.len());
            match noise.next(4) {
                0 => line[at] = u8::try_from(noise.next(256)).unwrap(),
                1 => drop(line.remove(at)),
                2 => line.truncate(at.max(1)),
                _ => line.insert(at, b"{}[]\",:0-\\\n\xff"[noise.next(12)]),
            }
            if line.is_empty() {
                line.push(b'{');
            }
        }
        bytes.extend_from_slice(&line);
        bytes.push(b'\n');
    }
    bytes
}

#[test]
fn noise_is_read_without_a_panic_and_the_same_however_it_is_cut() {
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    for round in 0..3000 {
        let bytes = broken(&mut noise);
        for format in TraceFormat::ALL {
            let whole = read(format, &bytes);
            let mut reader = TraceReader::new(format);
            let mut steps = Vec::new();
            for piece in bytes.chunks(1 + noise.next(60)) {
                reader.push(piece);
                steps.extend(reader.take_steps());
            }
            let mut pieces = reader.finish();
            steps.append(&mut pieces.trace.steps);
            pieces.trace.steps = steps;
            assert_eq!(pieces.counts, whole.counts, "round {round}, {format:?}");
            assert_eq!(pieces.usage.tokens, whole.usage.tokens, "round {round}, {format:?}");
        }
    }
}

#[test]
fn depth_and_size_are_bounded() {
    let deep =
        format!("{}{}", r#"{"type":"assistant","message":{"content":"#.to_owned() + &"[".repeat(100_000), "\n{}");
    for format in TraceFormat::ALL {
        let got = read(format, deep.as_bytes());
        assert!(got.counts.unreadable >= 1, "{format:?}");
    }
    let long = "x".repeat(3_000_000);
    let line =
        format!(r#"{{"type":"assistant","message":{{"id":"m","content":[{{"type":"text","text":"{long}"}}]}}}}"#);
    let got = read(TraceFormat::ClaudeStream, line.as_bytes());
    let text = &got.trace.steps[0].text;
    assert!(text.len() < 200_000 && text.contains("bytes left out"), "{}", text.len());
}
