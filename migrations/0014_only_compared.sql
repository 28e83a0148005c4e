-- A version that was stored only as what another was compared with (an earlier version, a control, a distractor) is not a skill's newest, however
-- late it came. What is here already cannot be told apart any more, and counts as uploaded.
ALTER TABLE skill_versions ADD COLUMN only_compared INTEGER NOT NULL DEFAULT 0;
