-- The agent's journal.  Times are milliseconds since the epoch.  What happened is only ever added
-- to (events, audit); the other tables are projections changed in the same transaction.

-- What is counted with one gateway: `peer` names the pairing, so that a new pairing starts at 1.
CREATE TABLE peers (
  peer          TEXT PRIMARY KEY,
  sent_seq      INTEGER NOT NULL DEFAULT 0,
  received_seq  INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Every message accepted from the gateway, so that none is accepted twice (R17).
CREATE TABLE inbox (
  peer             TEXT NOT NULL REFERENCES peers,
  seq              INTEGER NOT NULL,
  jti              TEXT NOT NULL,
  typ              TEXT NOT NULL,
  task_id          TEXT NOT NULL,
  envelope_sha256  TEXT NOT NULL,
  received_at      INTEGER NOT NULL,
  PRIMARY KEY (peer, seq),
  UNIQUE (peer, jti)
) STRICT;

-- Signed frames that the gateway has not acknowledged.
CREATE TABLE outbox (
  peer        TEXT NOT NULL REFERENCES peers,
  seq         INTEGER NOT NULL,
  typ         TEXT NOT NULL CHECK (typ IN ('event', 'result')),
  jti         TEXT NOT NULL,
  task_id     TEXT NOT NULL,
  body        TEXT NOT NULL,
  expires_at  INTEGER NOT NULL,
  frame       BLOB NOT NULL,
  PRIMARY KEY (peer, seq)
) STRICT;

-- `named` is 0 where the short ID does not lead to this task: refused on arrival, or set free.
CREATE TABLE tasks (
  task_id           TEXT PRIMARY KEY,
  short_id          TEXT NOT NULL,
  named             INTEGER NOT NULL CHECK (named IN (0, 1)),
  source            TEXT NOT NULL CHECK (source IN ('wecom', 'local_ui')),
  channel           TEXT NOT NULL,
  claimed_user      TEXT NOT NULL,
  thread_id         TEXT NOT NULL,
  text              TEXT NOT NULL,
  lang              TEXT NOT NULL,
  workspace         TEXT,
  envelope_sha256   TEXT,
  gateway_key_id    TEXT,
  state             TEXT NOT NULL,
  reason            TEXT,
  intent_json       TEXT,
  proposal_json     TEXT,
  summary           TEXT,
  cancel_requested  INTEGER NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1)),
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX tasks_by_short_id ON tasks (short_id) WHERE named = 1;
CREATE INDEX tasks_open ON tasks (created_at) WHERE reason IS NULL;

CREATE TABLE events (
  task_id  TEXT NOT NULL REFERENCES tasks,
  seq      INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  body     TEXT NOT NULL,
  PRIMARY KEY (task_id, seq)
) STRICT;

CREATE TABLE approvals (
  approval_id      TEXT PRIMARY KEY,
  task_id          TEXT NOT NULL REFERENCES tasks,
  digest           TEXT NOT NULL,
  seal             BLOB NOT NULL,
  subject_sha256   TEXT NOT NULL,
  gateway          TEXT NOT NULL,
  requester        TEXT NOT NULL,
  risk             TEXT NOT NULL CHECK (risk IN ('normal', 'high')),
  risk_reasons     TEXT NOT NULL,
  state            TEXT NOT NULL CHECK (state IN
    ('pending', 'approved', 'rejected', 'expired', 'superseded', 'consumed')),
  created_at       INTEGER NOT NULL,
  expires_at       INTEGER NOT NULL,
  decided_at       INTEGER,
  approver         TEXT,
  decision_reason  TEXT,
  statement        BLOB,
  signature        BLOB
) STRICT;
CREATE UNIQUE INDEX approvals_live ON approvals (task_id) WHERE state IN ('pending', 'approved');
CREATE INDEX approvals_by_gateway ON approvals (gateway, created_at);

-- One row for each consumed approval: the primary key keeps an effect from being begun twice.
CREATE TABLE effects (
  approval_id  TEXT PRIMARY KEY REFERENCES approvals,
  task_id      TEXT NOT NULL REFERENCES tasks,
  digest       TEXT NOT NULL,
  opened_at    INTEGER NOT NULL,
  outcome      TEXT,
  closed_at    INTEGER
) STRICT;

CREATE TABLE audit (
  seq   INTEGER PRIMARY KEY,
  prev  BLOB NOT NULL,
  body  BLOB NOT NULL,
  hash  BLOB NOT NULL
) STRICT;

CREATE TRIGGER events_stay BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_remain BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER audit_stays BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
CREATE TRIGGER audit_remains BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
CREATE TRIGGER seals_stay BEFORE UPDATE OF
  approval_id, task_id, digest, seal, subject_sha256, risk, created_at, expires_at ON approvals
BEGIN SELECT RAISE(ABORT, 'a seal never changes'); END;
CREATE TRIGGER approvals_go_forward BEFORE UPDATE OF state ON approvals
WHEN NOT (
  (OLD.state = 'pending' AND NEW.state IN ('approved', 'rejected', 'expired', 'superseded'))
  OR (OLD.state = 'approved' AND NEW.state IN ('consumed', 'expired', 'superseded')))
BEGIN SELECT RAISE(ABORT, 'no such transition of an approval'); END;
CREATE TRIGGER outcomes_stay BEFORE UPDATE ON effects WHEN OLD.outcome IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'an outcome never changes'); END;
CREATE TRIGGER effects_remain BEFORE DELETE ON effects
BEGIN SELECT RAISE(ABORT, 'effects are append-only'); END;
