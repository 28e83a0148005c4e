-- When a queued trial may be tried again after trouble; NULL = at once. The index finds who is due next.
ALTER TABLE trials ADD COLUMN not_before INTEGER CHECK (not_before IS NULL OR state = 'queued');

CREATE INDEX trials_not_before ON trials (not_before) WHERE not_before IS NOT NULL;
