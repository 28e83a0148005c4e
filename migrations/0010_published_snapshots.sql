-- The leaderboard as it was published: each document is a blob. No cache, but what badges and papers cite: a row is never changed and never removed.
CREATE TABLE published_snapshots (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    hash         TEXT    NOT NULL UNIQUE CHECK (length(hash) = 64),
    rows         INTEGER NOT NULL CHECK (rows > 0),
    published_at INTEGER NOT NULL
) STRICT;

CREATE TRIGGER published_snapshots_are_not_changed BEFORE UPDATE ON published_snapshots
BEGIN
    SELECT RAISE(ABORT, 'a published snapshot is never changed');
END;

CREATE TRIGGER published_snapshots_are_not_removed BEFORE DELETE ON published_snapshots
BEGIN
    SELECT RAISE(ABORT, 'a published snapshot is never removed');
END;
