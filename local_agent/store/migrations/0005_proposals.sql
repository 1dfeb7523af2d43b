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
