//! How an attempt stands with its provider: what fails, since when, and which answer mends it. One model may fail while another answers.

use tokio::time::Instant;

use crate::protocol::Action;
use crate::trouble::ProviderTrouble;

/// What is asked of the provider: a model for one kind of answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked<'a> {
    pub(crate) model: &'a str,
    pub(crate) action: Action,
}

#[derive(Debug)]
struct Failing {
    model: String,
    action: Action,
    since: Instant,
    /// `None` while it may yet be mended by another try.
    trouble: Option<ProviderTrouble>,
}

impl Failing {
    fn begun(asked: Asked<'_>) -> Self {
        Self { model: asked.model.to_owned(), action: asked.action, since: Instant::now(), trouble: None }
    }

    fn is(&self, asked: Asked<'_>) -> bool {
        self.model == asked.model && self.action == asked.action
    }
}

/// What fails, the latest last. The models that may be asked for are few, so it is short.
#[derive(Debug, Default)]
pub(crate) struct Standing(Vec<Failing>);

impl Standing {
    /// A try has failed; answers since when they do.
    pub(crate) fn failed(&mut self, asked: Asked<'_>) -> Instant {
        if let Some(failing) = self.0.iter().find(|failing| failing.is(asked)) {
            return failing.since;
        }
        let begun = Failing::begun(asked);
        let since = begun.since;
        self.0.push(begun);
        since
    }

    /// A call has failed with all its tries.
    pub(crate) fn troubled(&mut self, asked: Asked<'_>, trouble: ProviderTrouble) {
        let since = self.failed(asked);
        self.0.retain(|failing| !failing.is(asked));
        self.0.push(Failing { since, trouble: Some(trouble), ..Failing::begun(asked) });
    }

    /// The provider has answered. A count of tokens mends nothing but counts; a side model nothing but itself; and after an answer of the
    /// evaluation's `main` model the agent has gone on without whatever failed before.
    pub(crate) fn answered(&mut self, asked: Asked<'_>, main: &str) {
        self.0.retain(|failing| match asked.action {
            Action::CountTokens => !failing.is(asked),
            Action::Generate => asked.model != main && failing.model != asked.model,
        });
    }

    /// The trouble that nothing has mended: that of the `main` model's answers, else the latest.
    pub(crate) fn trouble(&self, main: &str) -> Option<&ProviderTrouble> {
        let of_main = self.of(Asked { model: main, action: Action::Generate });
        of_main.map(|(_, trouble)| trouble).or_else(|| self.0.iter().rev().find_map(|failing| failing.trouble.as_ref()))
    }

    /// Since when it fails, and with what trouble.
    pub(crate) fn of(&self, asked: Asked<'_>) -> Option<(Instant, &ProviderTrouble)> {
        let failing = self.0.iter().find(|failing| failing.is(asked))?;
        Some((failing.since, failing.trouble.as_ref()?))
    }
}
