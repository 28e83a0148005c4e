-- Evaluations that others ran, as they reported them. Their trials are kept here whole and never in `trials`: nothing claims, retries, counts
-- or ranks them. `hash` covers the files that were read; `place` tells several evaluations of one source apart.
CREATE TABLE imported_evaluations (
    evaluation_id INTEGER NOT NULL PRIMARY KEY REFERENCES evaluations (id) ON DELETE CASCADE,
    hash          TEXT    NOT NULL CHECK (length(hash) = 64),
    place         INTEGER NOT NULL CHECK (place >= 0),
    imported      TEXT    NOT NULL,
    trials        TEXT    NOT NULL,
    UNIQUE (hash, place)
) STRICT, WITHOUT ROWID;
