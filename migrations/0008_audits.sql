-- What the arms of an evaluation are: `evaluation` (without and with a skill) or `audit` (nothing done and the task's own solution). It is what the
-- plan says, so the two cannot disagree.
ALTER TABLE evaluations ADD COLUMN kind TEXT GENERATED ALWAYS AS (coalesce(plan ->> '$.kind.kind', 'evaluation')) VIRTUAL;

CREATE INDEX evaluations_by_kind ON evaluations (kind, id);
