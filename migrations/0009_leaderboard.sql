-- Rows of the leaderboard: what pooling the finished evaluations of a key gives, kept because pooling reads all their trials. A cache: both
-- tables may be emptied at any time and are filled again from `trials` and `attempts`. `form` is the number of the arithmetic that made the row.
CREATE TABLE leaderboard_rows (
    pool_key TEXT    NOT NULL PRIMARY KEY,
    form     INTEGER NOT NULL,
    record   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- Which finished evaluation is in which row; NULL = in none. One that is not here has not been looked at yet.
CREATE TABLE leaderboard_members (
    evaluation_id INTEGER NOT NULL PRIMARY KEY REFERENCES evaluations (id) ON DELETE CASCADE,
    pool_key      TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX leaderboard_members_by_key ON leaderboard_members (pool_key) WHERE pool_key IS NOT NULL;
