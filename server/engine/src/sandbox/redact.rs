//! Takes secrets out of a stream by their value and its printed forms, also where one is split over chunks.

use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use async_trait::async_trait;

use super::sink::{Sink, StdStream};

/// Shorter values are not looked for: they would blot out ordinary text.
const SHORTEST_SECRET: usize = 4;
const REPLACEMENT: &[u8] = b"[secret]";

/// Replaces every secret in a stream of bytes. One per stream.
#[derive(Debug, Clone)]
pub struct Redactor {
    secrets: Arc<[Vec<u8>]>,
    finder: Option<AhoCorasick>,
    pending: Vec<u8>,
    hits: u64,
}

impl Redactor {
    /// Looks for these values, also as programs print them ([`domain::secret::forms`]). What has less than four bytes is ignored.
    pub fn new<S: AsRef<[u8]>>(secrets: impl IntoIterator<Item = S>) -> Self {
        Self::of_forms(secrets.into_iter().flat_map(|secret| forms_of(secret.as_ref())))
    }

    fn of_forms(forms: impl Iterator<Item = Vec<u8>>) -> Self {
        let secrets: Vec<Vec<u8>> = forms.filter(|secret| secret.len() >= SHORTEST_SECRET).collect();
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&secrets);
        let finder = finder.ok().filter(|_| !secrets.is_empty());
        Self { secrets: secrets.into(), finder, pending: Vec::new(), hits: 0 }
    }

    /// One that looks for more values as well, with nothing replaced yet.
    #[must_use]
    pub fn and<S: AsRef<[u8]>>(&self, more: impl IntoIterator<Item = S>) -> Self {
        Self::of_forms(
            self.secrets.iter().cloned().chain(more.into_iter().flat_map(|secret| forms_of(secret.as_ref()))),
        )
    }

    /// How many secrets were replaced so far; above zero, something printed one.
    #[must_use]
    pub const fn hits(&self) -> u64 {
        self.hits
    }

    /// The clean form of `bytes`, less an end that may be the start of a secret, which is held until the next call.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        if self.finder.is_none() {
            return bytes.to_vec();
        }
        self.pending.extend_from_slice(bytes);
        let buffer = std::mem::take(&mut self.pending);
        let (clean, held) = self.clean(&buffer, true);
        self.pending = held;
        clean
    }

    /// What was held.
    pub fn finish(&mut self) -> Vec<u8> {
        let buffer = std::mem::take(&mut self.pending);
        self.clean(&buffer, false).0
    }

    /// A whole text at once, such as an error message.
    #[must_use]
    pub fn clean_text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.clean_bytes(text.as_bytes())).into_owned()
    }

    /// A whole file at once.
    #[must_use]
    pub fn clean_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut once = Self { pending: Vec::new(), ..self.clone() };
        let mut clean = once.push(bytes);
        clean.extend(once.finish());
        clean
    }

    fn clean(&mut self, buffer: &[u8], more_may_come: bool) -> (Vec<u8>, Vec<u8>) {
        let Some(finder) = &self.finder else { return (buffer.to_vec(), Vec::new()) };
        let mut clean = Vec::with_capacity(buffer.len());
        let mut rest = buffer;
        loop {
            let hold = if more_may_come { self.start_of_unfinished(rest) } else { rest.len() };
            // A match that begins at `hold` may still grow into a longer secret.
            let Some(found) = finder.find(rest).filter(|found| found.start() < hold) else {
                let (done, held) = rest.split_at(hold);
                clean.extend_from_slice(done);
                return (clean, held.to_vec());
            };
            let (before, _) = rest.split_at(found.start());
            clean.extend_from_slice(before);
            clean.extend_from_slice(REPLACEMENT);
            self.hits += 1;
            rest = rest.split_at(found.end()).1;
        }
    }

    /// Where the longest end of `buffer` begins that is a proper beginning of a secret; its length if there is none.
    fn start_of_unfinished(&self, buffer: &[u8]) -> usize {
        let starts = self.secrets.iter().filter_map(|secret| {
            let first = buffer.len().saturating_sub(secret.len().saturating_sub(1));
            (first..buffer.len()).find(|start| secret.starts_with(buffer.split_at(*start).1))
        });
        starts.min().unwrap_or(buffer.len())
    }
}

/// A value that is no text has one form.
fn forms_of(secret: &[u8]) -> Vec<Vec<u8>> {
    match std::str::from_utf8(secret) {
        Ok(text) => domain::secret::forms(text).into_iter().map(String::into_bytes).collect(),
        Err(_) => vec![secret.to_vec()],
    }
}

/// A sink that cleans both outputs before they reach another.
#[derive(Debug)]
pub struct Redacting<S> {
    inner: S,
    out: Redactor,
    err: Redactor,
}

impl<S: Sink> Redacting<S> {
    /// Cleans what goes to `inner`.
    pub fn new(inner: S, redactor: &Redactor) -> Self {
        Self { inner, out: redactor.clone(), err: redactor.clone() }
    }

    /// The other sink, and how many secrets were replaced.
    pub fn into_parts(self) -> (S, u64) {
        let hits = self.out.hits() + self.err.hits();
        (self.inner, hits)
    }
}

#[async_trait]
impl<S: Sink> Sink for Redacting<S> {
    fn write(&mut self, stream: StdStream, bytes: &[u8]) {
        let clean = match stream {
            StdStream::Out => self.out.push(bytes),
            StdStream::Err => self.err.push(bytes),
        };
        if !clean.is_empty() {
            self.inner.write(stream, &clean);
        }
    }

    fn finish(&mut self) {
        let rest = self.out.finish();
        if !rest.is_empty() {
            self.inner.write(StdStream::Out, &rest);
        }
        let rest = self.err.finish();
        if !rest.is_empty() {
            self.inner.write(StdStream::Err, &rest);
        }
        self.inner.finish();
    }

    async fn ready(&mut self) {
        self.inner.ready().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redact(secrets: &[&str], chunks: &[&str]) -> String {
        let mut redactor = Redactor::new(secrets);
        let mut clean: Vec<u8> = chunks.iter().flat_map(|chunk| redactor.push(chunk.as_bytes())).collect();
        clean.extend(redactor.finish());
        String::from_utf8(clean).unwrap()
    }

    #[test]
    fn a_secret_is_replaced_wherever_it_is_cut() {
        let text = "x-api-key: sk-test-0000EXAMPLE0000KEY\nsk-test-sk-test-0000EXAMPLE0000KEYsk-te";
        let want = "x-api-key: [secret]\nsk-test-[secret]sk-te";
        for first in 0..=text.len() {
            for second in first..=text.len() {
                let (head, third) = text.split_at(second);
                let (one, two) = head.split_at(first);
                let chunks = [one, two, third];
                assert_eq!(redact(&["sk-test-0000EXAMPLE0000KEY"], &chunks), want, "{first} {second}");
            }
        }
    }

    #[test]
    fn a_value_of_several_lines_is_found_as_programs_print_it_and_cut_anywhere() {
        let pem = "-----BEGIN KEY-----\nMIIEexampleexampleexample01\n\"quoted\"\n-----END KEY-----\n";
        let printed = [pem.to_owned(), format!("{pem:?}"), pem.escape_default().to_string(), pem.trim().to_owned()];
        for printed in printed {
            let text = format!("environ({printed})");
            for cut in (0..=text.len()).step_by(7) {
                let (head, tail) = text.split_at(cut);
                let clean = redact(&[pem], &[head, tail]);
                assert!(!clean.contains("MIIE") && clean.contains("[secret]"), "{clean}");
                assert!(clean.starts_with("environ(") && clean.ends_with(')'), "{clean}");
            }
        }
        assert_eq!(redact(&[pem], &["E   MIIEexampleexampleexample01\n"]), "E   [secret]\n");
    }

    #[test]
    fn overlapping_secrets_are_all_gone() {
        for (secrets, chunks, want) in [
            (vec!["abcd", "abcdef"], vec!["xabcd", "efx"], "x[secret]x"),
            (vec!["abcd", "abcdef"], vec!["xabcd", "egx"], "x[secret]egx"),
            (vec!["xabc", "abcz"], vec!["xabc", "z"], "[secret]z"),
            (vec!["aaaa"], vec!["aa", "aa", "aaa"], "[secret]aaa"),
            (vec!["a", ""], vec!["a"], "a"),
            (vec![], vec!["a", "b"], "ab"),
        ] {
            assert_eq!(redact(&secrets, &chunks), want, "{secrets:?} {chunks:?}");
        }
    }
}
