-- Runs of playbooks, and how each of their steps ended.  A step's question is a task of its own.
ALTER TABLE tasks ADD COLUMN run TEXT;
ALTER TABLE tasks ADD COLUMN step TEXT;
CREATE INDEX tasks_run ON tasks (run) WHERE run IS NOT NULL;
CREATE TABLE runs (
  run_id        TEXT PRIMARY KEY,
  task_id       TEXT NOT NULL,
  name          TEXT NOT NULL,
  definition    TEXT NOT NULL,
  client        TEXT NOT NULL,
  workspace     TEXT NOT NULL,
  folder        TEXT NOT NULL,
  message       TEXT NOT NULL,
  gate_ms       INTEGER NOT NULL,
  answers       TEXT,
  started_at    INTEGER NOT NULL,
  status        TEXT NOT NULL CHECK (status IN
                  ('pending', 'running', 'completed', 'failed', 'rolled_back')),
  current_step  INTEGER NOT NULL DEFAULT 0,
  resumes       INTEGER NOT NULL DEFAULT 0,
  carrying      TEXT NOT NULL DEFAULT 'run' CHECK (carrying IN ('run', 'rollback', 'nothing'))
) STRICT;
CREATE INDEX runs_by_age ON runs (started_at);
CREATE TABLE run_steps (
  run_id        TEXT NOT NULL REFERENCES runs,
  place         TEXT NOT NULL,
  seq           INTEGER NOT NULL,
  step_name     TEXT NOT NULL,
  type          TEXT NOT NULL,
  status        TEXT NOT NULL,
  result        TEXT,
  stored        TEXT,
  error         TEXT,
  started_at    INTEGER NOT NULL,
  completed_at  INTEGER NOT NULL,
  PRIMARY KEY (run_id, place)
) STRICT;
