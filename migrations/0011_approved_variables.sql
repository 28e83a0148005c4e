-- Variables of this machine that a person approved for the verifier of a task version. No foreign key: an approval is of the task's bytes,
-- whichever rows hold them. The values are never stored.
CREATE TABLE approved_variables (
    task_hash   TEXT    NOT NULL CHECK (length(task_hash) = 64),
    name        TEXT    NOT NULL,
    approved_at INTEGER NOT NULL,
    PRIMARY KEY (task_hash, name)
) STRICT, WITHOUT ROWID;
