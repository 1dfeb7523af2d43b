-- How the words of a task were read, once for all its steps (`local_agent.understand.reading`).
ALTER TABLE tasks ADD COLUMN reading_json TEXT;
