-- Trials and the attempts at them. The CHECK is the state machine's shape: each state has exactly its own data.
CREATE TABLE trials (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    evaluation_id INTEGER NOT NULL REFERENCES evaluations (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    task_id       INTEGER NOT NULL REFERENCES tasks (id),
    condition     TEXT    NOT NULL,
    repeat        INTEGER NOT NULL CHECK (repeat > 0),
    state         TEXT    NOT NULL,
    attempts      INTEGER NOT NULL,
    attempt_id    INTEGER REFERENCES attempts (id),
    since         INTEGER,
    lease_until   INTEGER,
    verdict       TEXT,
    verdict_word  TEXT GENERATED ALWAYS AS (verdict ->> '$.verdict') VIRTUAL,
    finished_at   INTEGER,
    revision      INTEGER NOT NULL,
    UNIQUE (evaluation_id, position),
    UNIQUE (evaluation_id, task_id, condition, repeat),
    CHECK (CASE
        WHEN state = 'queued' THEN
            attempt_id IS NULL AND since IS NULL AND lease_until IS NULL AND verdict IS NULL AND finished_at IS NULL
        WHEN state IN ('preparing', 'agent', 'verifying') THEN
            attempt_id IS NOT NULL AND since IS NOT NULL AND lease_until IS NOT NULL
            AND verdict IS NULL AND finished_at IS NULL
        WHEN state = 'finished' THEN
            attempt_id IS NULL AND since IS NULL AND lease_until IS NULL
            AND verdict IS NOT NULL AND finished_at IS NOT NULL
        ELSE 0
    END)
) STRICT;

CREATE INDEX trials_by_state ON trials (evaluation_id, state);
CREATE INDEX trials_queued ON trials (evaluation_id, position) WHERE state = 'queued';
CREATE INDEX trials_unfinished ON trials (evaluation_id, position) WHERE state <> 'finished';
CREATE INDEX trials_running ON trials (evaluation_id) WHERE attempt_id IS NOT NULL;
CREATE UNIQUE INDEX trials_by_attempt ON trials (attempt_id) WHERE attempt_id IS NOT NULL;
CREATE INDEX trials_by_task ON trials (task_id);

-- Append-only. `verdict` is what counts; `result` is what the executor reported, NULL where it reported nothing.
-- Reward and tokens repeat parts of `result`, for leaderboards; NULL is unknown.
CREATE TABLE attempts (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    trial_id           INTEGER NOT NULL REFERENCES trials (id) ON DELETE CASCADE,
    number             INTEGER NOT NULL CHECK (number > 0),
    started_at         INTEGER NOT NULL,
    ended_at           INTEGER,
    verdict            TEXT,
    verdict_word       TEXT GENERATED ALWAYS AS (verdict ->> '$.verdict') VIRTUAL,
    result             TEXT,
    reward             REAL CHECK (reward BETWEEN 0.0 AND 1.0),
    tokens_input       INTEGER,
    tokens_cache_read  INTEGER,
    tokens_cache_write INTEGER,
    tokens_output      INTEGER,
    UNIQUE (trial_id, number),
    CHECK ((ended_at IS NULL) = (verdict IS NULL)),
    CHECK (result IS NULL OR ended_at IS NOT NULL)
) STRICT;
