-- The authority: a diff that a person brought, by the name of its blob.
ALTER TABLE tasks ADD COLUMN attachment TEXT;
-- The approval whose change a task tries out on a copy of the workspace.
ALTER TABLE tasks ADD COLUMN checks TEXT;
CREATE INDEX tasks_checks ON tasks (checks) WHERE checks IS NOT NULL;
