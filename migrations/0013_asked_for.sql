-- What is asked for by its value is a column (rule 7) or has an index, so that no JSON is read for it: the agent and model of a plan, the image of
-- an attempt, and which attempts were interrupted or had a skill that was not listed to the model.
ALTER TABLE evaluations ADD COLUMN agent TEXT GENERATED ALWAYS AS (plan ->> '$.agent.name') VIRTUAL;
ALTER TABLE evaluations ADD COLUMN model TEXT GENERATED ALWAYS AS (plan ->> '$.model.name') VIRTUAL;
ALTER TABLE evaluations ADD COLUMN scripted INTEGER GENERATED ALWAYS AS (plan ->> '$.model.scripted') VIRTUAL;

CREATE INDEX evaluations_by_actor ON evaluations (kind, agent, model, scripted, id);

ALTER TABLE attempts ADD COLUMN image TEXT GENERATED ALWAYS AS (result ->> '$.image') VIRTUAL;

CREATE INDEX attempts_by_image ON attempts (image, ended_at) WHERE image IS NOT NULL;
CREATE INDEX attempts_interrupted ON attempts (trial_id) WHERE verdict ->> '$.class' = 'interrupted';
CREATE INDEX attempts_unlisted ON attempts (trial_id, number) WHERE result ->> '$.activation.listed' = 0;

-- By which form of the arithmetic a finished evaluation was put into a row, or into none: what an older form left out may be in one by a newer.
ALTER TABLE leaderboard_members ADD COLUMN form INTEGER NOT NULL DEFAULT 0;

UPDATE leaderboard_members SET form = coalesce(
    (SELECT r.form FROM leaderboard_rows r WHERE r.pool_key = leaderboard_members.pool_key), 0);
