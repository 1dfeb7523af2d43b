-- What a run was given beside its message, and what the chat hears of it, as its questions say.
ALTER TABLE runs ADD COLUMN inputs TEXT NOT NULL DEFAULT '{}';
ALTER TABLE runs ADD COLUMN tells TEXT NOT NULL DEFAULT '';
-- As commands of a run have left the files that it had changed before.
CREATE TABLE run_files (
  run_id  TEXT NOT NULL REFERENCES runs,
  path    TEXT NOT NULL,
  sha256  TEXT NOT NULL,
  PRIMARY KEY (run_id, path)
) STRICT;
