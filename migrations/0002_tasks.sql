-- Tasks and named lists of them.
CREATE TABLE tasks (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL,
    hash       TEXT    NOT NULL CHECK (length(hash) = 64),
    layout     TEXT    NOT NULL,
    spec       TEXT    NOT NULL,
    findings   TEXT    NOT NULL,
    source     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (name, hash)
) STRICT;

CREATE TABLE task_sets (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE task_set_members (
    task_set_id INTEGER NOT NULL REFERENCES task_sets (id) ON DELETE CASCADE,
    position    INTEGER NOT NULL,
    task_id     INTEGER NOT NULL REFERENCES tasks (id),
    PRIMARY KEY (task_set_id, position),
    UNIQUE (task_set_id, task_id)
) STRICT, WITHOUT ROWID;
