-- What happened, in the order in which it was committed: there is one writer, so ids never become visible out of order.
CREATE TABLE events (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    evaluation_id INTEGER NOT NULL REFERENCES evaluations (id) ON DELETE CASCADE,
    trial_id      INTEGER NOT NULL REFERENCES trials (id) ON DELETE CASCADE,
    attempt_id    INTEGER REFERENCES attempts (id) ON DELETE CASCADE,
    at            INTEGER NOT NULL,
    kind          TEXT    NOT NULL,
    body          TEXT    NOT NULL
) STRICT;

CREATE INDEX events_by_evaluation ON events (evaluation_id, id);
CREATE INDEX events_by_trial ON events (trial_id);
CREATE INDEX events_by_attempt ON events (attempt_id, id) WHERE attempt_id IS NOT NULL;
