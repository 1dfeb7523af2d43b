-- Passkeys that a person accepted at a terminal; one that was removed stays, without being of use.
CREATE TABLE passkeys (
  credential_id  BLOB PRIMARY KEY,
  public_key     BLOB NOT NULL,      -- COSE, as the authenticator gave it
  sign_count     INTEGER NOT NULL,   -- of its last use; always 0 from one that does not count
  name           TEXT NOT NULL,
  aaguid         TEXT NOT NULL,      -- which kind of authenticator, by its own word
  created_at     INTEGER NOT NULL,
  last_used_at   INTEGER,
  revoked_at     INTEGER
) STRICT;
CREATE UNIQUE INDEX passkeys_by_name ON passkeys (name) WHERE revoked_at IS NULL;
