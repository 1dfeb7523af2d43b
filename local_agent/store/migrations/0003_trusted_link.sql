-- The trusted link: rotated keys, and heads of the audit chains that both halves signed.

-- A key that was rotated since the pairing; NULL while the one of the pairing is in use.
ALTER TABLE peers ADD COLUMN gateway_key BLOB;     -- the gateway's, pinned now
ALTER TABLE peers ADD COLUMN own_key_name TEXT;    -- ours, by its name in the keystore
ALTER TABLE peers ADD COLUMN old_key_name TEXT;    -- ours before, until the gateway keeps the new
ALTER TABLE peers ADD COLUMN rotated_at INTEGER;   -- when `own_key_name` was made

-- Which key a gateway announced in the place of which: all of them are one gateway.
CREATE TABLE gateway_rotations (
  old_key_id  TEXT NOT NULL,
  new_key_id  TEXT NOT NULL,
  PRIMARY KEY (old_key_id, new_key_id)
) STRICT;
CREATE INDEX gateway_rotations_by_new ON gateway_rotations (new_key_id);

-- The newest head that the gateway signed: its own chain's, and what it holds of ours.
CREATE TABLE heads (
  peer        TEXT PRIMARY KEY REFERENCES peers,
  seq         INTEGER NOT NULL,
  hash        BLOB NOT NULL,
  own_seq     INTEGER NOT NULL,
  own_hash    BLOB NOT NULL,
  public_key  BLOB NOT NULL,
  frame       BLOB NOT NULL,
  at          INTEGER NOT NULL
) STRICT;

-- The newest head of this chain, signed by this machine: one row, replaced with every entry, so that
-- the end of the chain is always covered.
CREATE TABLE signed_heads (
  seq         INTEGER PRIMARY KEY,
  hash        BLOB NOT NULL,
  at          INTEGER NOT NULL,
  public_key  BLOB NOT NULL,
  signature   BLOB NOT NULL
) STRICT;

-- The task that this one asks for again, at the machine itself.
ALTER TABLE tasks ADD COLUMN retry_of TEXT;

-- Tasks that ended long ago are forgotten (`local_agent.store.retention`); open ones never.
DROP TRIGGER events_remain;
CREATE TRIGGER events_remain BEFORE DELETE ON events
WHEN EXISTS (SELECT 1 FROM tasks WHERE tasks.task_id = OLD.task_id AND tasks.reason IS NULL)
BEGIN SELECT RAISE(ABORT, 'events of an open task remain'); END;
CREATE INDEX tasks_ended ON tasks (updated_at) WHERE reason IS NOT NULL;
CREATE INDEX tasks_of_the_chat ON tasks (created_at) WHERE source = 'wecom';
CREATE INDEX approvals_by_task ON approvals (task_id);
CREATE INDEX effects_by_task ON effects (task_id);

-- Since when what the gateway signed contradicts this chain, or its own: an alarm that stays.
ALTER TABLE peers ADD COLUMN forked_at INTEGER;

-- Which key signed a decision; NULL for one of before there were several.
ALTER TABLE approvals ADD COLUMN public_key BLOB;

-- Heads and new keys are told the gateway under the same numbers as reports.
CREATE TABLE outbox_of_all_kinds (
  peer        TEXT NOT NULL REFERENCES peers,
  seq         INTEGER NOT NULL,
  typ         TEXT NOT NULL CHECK (typ IN ('event', 'result', 'head', 'rekey')),
  jti         TEXT NOT NULL,
  task_id     TEXT NOT NULL,
  body        TEXT NOT NULL,
  expires_at  INTEGER NOT NULL,
  frame       BLOB NOT NULL,
  PRIMARY KEY (peer, seq)
) STRICT;
INSERT INTO outbox_of_all_kinds
  SELECT peer, seq, typ, jti, task_id, body, expires_at, frame FROM outbox;
DROP TABLE outbox;
ALTER TABLE outbox_of_all_kinds RENAME TO outbox;
