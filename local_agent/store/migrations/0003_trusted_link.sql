-- The trusted link: rotated keys, and heads of the audit chains that both halves signed.

-- A key that was rotated since the pairing; NULL while the one of the pairing is in use.
ALTER TABLE peers ADD COLUMN gateway_key BLOB;     -- the gateway's, pinned now
ALTER TABLE peers ADD COLUMN own_key_name TEXT;    -- ours, by its name in the keystore
ALTER TABLE peers ADD COLUMN old_key_name TEXT;    -- ours before, until the gateway keeps the new

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

-- Heads of this chain that this machine signed itself, so that a cut end shows without a gateway.
CREATE TABLE signed_heads (
  seq         INTEGER PRIMARY KEY,
  hash        BLOB NOT NULL,
  at          INTEGER NOT NULL,
  public_key  BLOB NOT NULL,
  signature   BLOB NOT NULL
) STRICT;
