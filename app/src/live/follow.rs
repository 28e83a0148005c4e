//! How events reach an open page: an event stream, and polling while the stream is broken. Does nothing on the server.

use domain::id::EvaluationId;
use domain::listing::LiveEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{EventSource, MessageEvent};

use super::followed::Followed;
use super::state::{After, LOG_LINES, LogLine, log_lines};

/// Milliseconds between two reads while the stream is broken.
const POLL_MS: u64 = 3_000;

/// How the page gets its news.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Link {
    /// Not at all: a page without JavaScript, or one that has only just loaded.
    #[default]
    Still,
    /// By the event stream.
    Live,
    /// By polling: the stream broke.
    Paused,
}

/// What the page shows, kept up to date.
struct Follower<V: Followed> {
    id: EvaluationId,
    view: RwSignal<V>,
    log: RwSignal<Vec<LogLine>>,
    link: RwSignal<Link>,
    /// A read is under way; `Some(true)` = one more is wanted after it.
    reading: StoredValue<Option<bool>>,
}

// Not derived: a view itself need not be `Copy`.
impl<V: Followed> Clone for Follower<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V: Followed> Copy for Follower<V> {}

/// The event stream with the closures that it calls.
struct Stream {
    source: EventSource,
    _calls: Vec<Closure<dyn FnMut(MessageEvent)>>,
}

/// Keeps `view` and `log` up to date as long as what it shows runs and the page is open. Returns how the news come in.
pub fn follow<V: Followed>(view: RwSignal<V>, log: RwSignal<Vec<LogLine>>) -> RwSignal<Link> {
    let link = RwSignal::new(Link::Still);
    let id = view.with_untracked(Followed::id);
    let follower = Follower { id, view, log, link, reading: StoredValue::new(None) };
    Effect::new(move |started: Option<()>| {
        if started.is_none() && !follower.is_finished() {
            follower.open();
        }
    });
    link
}

impl<V: Followed> Follower<V> {
    fn is_finished(self) -> bool {
        self.view.try_with_untracked(Followed::is_finished).unwrap_or(true)
    }

    /// Opens the stream after the last event that the page knows, and starts the clock for the time when it breaks.
    fn open(self) {
        let last = self.view.with_untracked(|view| view.events().last().map_or(0, |event| event.id.0));
        let Ok(source) = EventSource::new(&format!("/api/evaluations/{}/events?after={last}", self.id)) else {
            self.link.set(Link::Paused);
            return;
        };
        let on_event = Closure::<dyn FnMut(MessageEvent)>::new(move |message: MessageEvent| self.take(&message));
        let on_done = Closure::<dyn FnMut(MessageEvent)>::new(move |_: MessageEvent| self.read());
        let on_open = Closure::<dyn FnMut(MessageEvent)>::new(move |_: MessageEvent| {
            self.set_link(Link::Live);
            // What happened between the rendering of the page and now.
            self.read();
        });
        let on_error = Closure::<dyn FnMut(MessageEvent)>::new(move |_: MessageEvent| self.set_link(Link::Paused));
        let listen = |name: &str, call: &Closure<dyn FnMut(MessageEvent)>| {
            // Refused only for a name that is no text.
            let _ = source.add_event_listener_with_callback(name, call.as_ref().unchecked_ref());
        };
        listen("trial", &on_event);
        listen("done", &on_done);
        listen("open", &on_open);
        listen("error", &on_error);
        let stream = Stream { source, _calls: vec![on_event, on_done, on_open, on_error] };
        self.keep(stream);
    }

    /// Holds the stream until all is finished or the page is left.
    fn keep(self, stream: Stream) {
        let stream = StoredValue::new_local(Some(stream));
        let close = move || {
            let _ = stream.try_update_value(|stream| stream.take().map(|stream| stream.source.close()));
        };
        let clock = set_interval_with_handle(
            move || {
                if self.is_finished() {
                    close();
                } else if self.link.try_get_untracked() == Some(Link::Paused) {
                    self.read();
                }
            },
            std::time::Duration::from_millis(POLL_MS),
        );
        on_cleanup(move || {
            close();
            if let Ok(clock) = clock {
                clock.clear();
            }
        });
    }

    fn set_link(self, link: Link) {
        if !self.is_finished() && self.link.try_get_untracked() != Some(link) {
            self.link.set(link);
        }
    }

    /// Takes one event of the stream.
    fn take(self, message: &MessageEvent) {
        self.set_link(Link::Live);
        let text = message.data().as_string().unwrap_or_default();
        // An event of a newer server that this page cannot read; the numbers are read anew at the next end of a trial.
        let Ok(event) = serde_json::from_str::<LiveEvent>(&text) else { return };
        let mut after = After::Nothing;
        self.view.try_update(|view| after = view.take(&event));
        self.log.try_update(|lines| {
            lines.extend(log_lines(std::slice::from_ref(&event)));
            let extra = lines.len().saturating_sub(LOG_LINES);
            lines.drain(..extra);
        });
        if after == After::Refresh {
            self.read();
        }
    }

    /// Reads the numbers anew; calls that come meanwhile are answered by one more read.
    fn read(self) {
        match self.reading.try_get_value() {
            None => return,
            Some(Some(_)) => return self.reading.set_value(Some(true)),
            Some(None) => self.reading.set_value(Some(false)),
        }
        spawn_local(async move {
            let fresh = V::read(self.id).await;
            let again = self.reading.try_update_value(Option::take).flatten().unwrap_or(false);
            if let Ok(mut fresh) = fresh {
                let paused = self.link.try_get_untracked() == Some(Link::Paused);
                if paused && !fresh.events().is_empty() {
                    self.log.try_set(log_lines(fresh.events()));
                }
                fresh.forget_events();
                self.view.try_set(fresh);
            }
            if again {
                self.read();
            }
        });
    }
}
