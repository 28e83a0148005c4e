-- Evaluations (plans and how far they are) and campaigns of them.
CREATE TABLE campaigns (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    title      TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- `concurrency` and `max_attempts` repeat what the plan says, for the claim query.
-- `plan_key` is the hash of the plan without its title: equal exactly when two plans ask for the same runs.
CREATE TABLE evaluations (
    id                  INTEGER PRIMARY KEY AUTOINCREMENT,
    campaign_id         INTEGER REFERENCES campaigns (id) ON DELETE SET NULL,
    plan                TEXT    NOT NULL,
    plan_key            TEXT    NOT NULL,
    concurrency         INTEGER NOT NULL CHECK (concurrency > 0),
    max_attempts        INTEGER NOT NULL CHECK (max_attempts > 0),
    created_at          INTEGER NOT NULL,
    started_at          INTEGER,
    finished_at         INTEGER,
    cancel_requested_at INTEGER
) STRICT;

CREATE INDEX evaluations_open ON evaluations (id) WHERE finished_at IS NULL;
CREATE INDEX evaluations_by_key ON evaluations (plan_key);
CREATE INDEX evaluations_by_campaign ON evaluations (campaign_id) WHERE campaign_id IS NOT NULL;

CREATE TABLE evaluation_skills (
    evaluation_id    INTEGER NOT NULL REFERENCES evaluations (id) ON DELETE CASCADE,
    skill_version_id INTEGER NOT NULL REFERENCES skill_versions (id),
    PRIMARY KEY (evaluation_id, skill_version_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX evaluation_skills_by_version ON evaluation_skills (skill_version_id);
