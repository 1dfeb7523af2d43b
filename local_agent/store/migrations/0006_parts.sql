-- Several operations under one approval: one row for each part that was begun, in their order.
-- Part 0 is what there was of every approval until now.
CREATE TABLE effects_of_parts (
  approval_id  TEXT NOT NULL REFERENCES approvals,
  part         INTEGER NOT NULL CHECK (part >= 0),
  task_id      TEXT NOT NULL REFERENCES tasks,
  digest       TEXT NOT NULL,
  opened_at    INTEGER NOT NULL,
  outcome      TEXT,
  closed_at    INTEGER,
  PRIMARY KEY (approval_id, part)
) STRICT;
INSERT INTO effects_of_parts
  SELECT approval_id, 0, task_id, digest, opened_at, outcome, closed_at FROM effects ORDER BY rowid;
DROP TABLE effects;
ALTER TABLE effects_of_parts RENAME TO effects;
CREATE INDEX effects_by_task ON effects (task_id);
CREATE TRIGGER outcomes_stay BEFORE UPDATE ON effects WHEN OLD.outcome IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'an outcome never changes'); END;
CREATE TRIGGER effects_remain BEFORE DELETE ON effects
BEGIN SELECT RAISE(ABORT, 'effects are append-only'); END;
CREATE TRIGGER parts_in_order BEFORE INSERT ON effects WHEN NEW.part > 0 AND NOT EXISTS (
  SELECT 1 FROM effects AS earlier WHERE earlier.approval_id = NEW.approval_id
    AND earlier.part = NEW.part - 1 AND earlier.outcome = 'completed')
BEGIN SELECT RAISE(ABORT, 'the part before it did not end well'); END;
