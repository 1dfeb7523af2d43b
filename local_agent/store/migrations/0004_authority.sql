-- The authority: a diff that a person brought, by the name of its blob.
ALTER TABLE tasks ADD COLUMN attachment TEXT;
