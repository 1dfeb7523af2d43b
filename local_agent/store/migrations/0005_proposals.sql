-- Proposals: what a model was shown of a workspace, as names, sizes and reasons, without content.
ALTER TABLE tasks ADD COLUMN context_json TEXT;
-- What the person had in front of them when they asked: a file, lines of it.
ALTER TABLE tasks ADD COLUMN around_json TEXT;
-- Each turn of a model, for the account of what was used.
CREATE TABLE turns (
  turn INTEGER PRIMARY KEY,
  task_id TEXT NOT NULL,
  model TEXT NOT NULL,
  at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  outcome TEXT NOT NULL
) STRICT;
CREATE INDEX turns_of_task ON turns (task_id);
CREATE INDEX tasks_thread ON tasks (thread_id, created_at);
-- What was read for somebody in the chat, and how much of it they were told: one row a task, so that
-- nothing is charged twice.  `day` is local, such as 2026-05-04; rows of earlier days are removed.
CREATE TABLE disclosures (
  task_id       TEXT PRIMARY KEY,
  workspace     TEXT NOT NULL,
  channel       TEXT NOT NULL,
  claimed_user  TEXT NOT NULL,
  day           TEXT NOT NULL,
  bytes         INTEGER NOT NULL CHECK (bytes >= 0)
) STRICT;
CREATE INDEX disclosures_of_day ON disclosures (workspace, day, channel, claimed_user);
