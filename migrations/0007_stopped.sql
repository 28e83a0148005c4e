-- Why an evaluation was ended before all of its trials, as its plan allowed; NULL = it was not. The index finds A/A evaluations.
ALTER TABLE evaluations ADD COLUMN stopped TEXT;

CREATE INDEX evaluations_alike ON evaluations (finished_at) WHERE plan ->> '$.comparison.baseline.kind' = 'same';
