-- Skills and their versions. A version is the exact bytes; the bytes themselves lie in the blob store.
CREATE TABLE skills (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    owner      TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (owner, name)
) STRICT;

CREATE TABLE skill_versions (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    skill_id   INTEGER NOT NULL REFERENCES skills (id) ON DELETE CASCADE,
    hash       TEXT    NOT NULL CHECK (length(hash) = 64),
    manifest   TEXT    NOT NULL,
    tree       TEXT    NOT NULL,
    findings   TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (skill_id, hash)
) STRICT;

CREATE INDEX skill_versions_by_hash ON skill_versions (hash);
