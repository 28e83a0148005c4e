//! The wrapper that every command runs under, and the report it ends with on standard error.

use super::counters::Reading;

/// Begins and ends a report.
const MARK: u8 = 0x1e;
/// Longest report that is waited for.
const LONGEST: usize = 200;

/// Runs `$3…`, then (if `$2` is `kill`) kills everything else, reads the control group's counters, and writes
/// `RS token code oom_kills peak RS`. No programs of the image are needed but the shell. The inner shell makes the shell's own words on
/// a killed command go nowhere.
const WRAPPER: &str = r#"
token=$1 kill=$2
shift 2
exec 3>&2 2>/dev/null
/bin/sh -c 'exec "$@" 2>&3 3>&-' sh "$@"
code=$?
[ "$kill" = kill ] && kill -9 -1
for f in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
  [ -r $f ] && while read -r key value; do [ "$key" = oom_kill ] && oom=$value; done <$f
done
for f in /sys/fs/cgroup/memory.peak /sys/fs/cgroup/memory/memory.max_usage_in_bytes; do
  [ -r $f ] && read -r peak <$f
done
printf '\036%s %s %s %s\036' "$token" $code "${oom:--}" "${peak:--}" >&3
exit $code
"#;

/// The command line that runs `argv` under the wrapper.
pub(super) fn wrap(token: &str, kill_after: bool, argv: &[String]) -> Vec<String> {
    let kill = if kill_after { "kill" } else { "keep" };
    let head = ["/bin/sh", "-c", WRAPPER, "sh", token, kill].map(str::to_owned);
    head.into_iter().chain(argv.iter().cloned()).collect()
}

/// What the wrapper reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Report {
    pub code: i64,
    pub reading: Reading,
}

/// Takes the report out of the standard error it comes on; everything else passes through, held back only while it may be a report.
#[derive(Debug)]
pub(super) struct Trailer {
    begin: Vec<u8>,
    pending: Vec<u8>,
    pub report: Option<Report>,
}

impl Trailer {
    /// Looks for the report with this token.
    pub fn new(token: &str) -> Self {
        let mut begin = vec![MARK];
        begin.extend_from_slice(token.as_bytes());
        begin.push(b' ');
        Self { begin, pending: Vec::new(), report: None }
    }

    /// What of `bytes` (and of what was held) is output.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut buffer = std::mem::take(&mut self.pending);
        buffer.extend_from_slice(bytes);
        let mut output = Vec::with_capacity(buffer.len());
        let mut rest = buffer.as_slice();
        while let Some(mark) = rest.iter().position(|byte| *byte == MARK) {
            let (before, from_mark) = rest.split_at(mark);
            output.extend_from_slice(before);
            let length = match self.read(from_mark) {
                Seen::Report(report, length) => {
                    self.report = Some(report);
                    length
                }
                Seen::Other => {
                    output.push(MARK);
                    1
                }
                Seen::Unfinished => {
                    self.pending = from_mark.to_vec();
                    return output;
                }
            };
            rest = from_mark.get(length..).unwrap_or_default();
        }
        output.extend_from_slice(rest);
        output
    }

    /// What was held.
    pub fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.pending)
    }

    fn read(&self, from_mark: &[u8]) -> Seen {
        let Some(body) = from_mark.strip_prefix(self.begin.as_slice()) else {
            return if self.begin.starts_with(from_mark) { Seen::Unfinished } else { Seen::Other };
        };
        match body.iter().take(LONGEST).position(|byte| *byte == MARK) {
            Some(end) => match parse(body.split_at(end).0) {
                Some(report) => Seen::Report(report, self.begin.len() + end + 1),
                None => Seen::Other,
            },
            None if body.len() < LONGEST => Seen::Unfinished,
            None => Seen::Other,
        }
    }
}

enum Seen {
    /// With the length of it all.
    Report(Report, usize),
    Other,
    Unfinished,
}

fn parse(body: &[u8]) -> Option<Report> {
    let text = std::str::from_utf8(body).ok()?;
    let mut words = text.split(' ');
    let code = words.next()?.parse().ok()?;
    let oom_kills = words.next()?.parse().ok();
    let peak_memory = words.next()?.parse().ok();
    Some(Report { code, reading: Reading { oom_kills, peak_memory } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_is_found_wherever_the_chunks_end_and_nothing_else_is_lost() {
        let text = b"a\x1eb \x1eTOK \x1eTOK 3 1 - x\x1e\x1eTOK 137 1 4096\x1eafter\x1e";
        for cut in 0..=text.len() {
            let mut trailer = Trailer::new("TOK");
            let (one, two) = text.split_at(cut);
            let mut output = trailer.push(one);
            output.extend(trailer.push(two));
            output.extend(trailer.finish());
            let reading = Reading { oom_kills: Some(1), peak_memory: Some(4096) };
            assert_eq!(trailer.report, Some(Report { code: 137, reading }), "{cut}");
            assert!(output.starts_with(b"a\x1eb ") && output.ends_with(b"after\x1e"), "{cut}: {output:?}");
        }
    }

    #[test]
    fn unknown_counters_stay_unknown() {
        let mut trailer = Trailer::new("TOK");
        assert_eq!(trailer.push(b"\x1eTOK 0 - -\x1e"), b"");
        assert_eq!(trailer.report, Some(Report { code: 0, reading: Reading::default() }));
    }
}
