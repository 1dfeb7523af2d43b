-- Tasks are listed page by page, newest first, and counted by the day on which they were asked.
CREATE INDEX tasks_listed ON tasks (created_at, task_id) WHERE step IS NULL;
