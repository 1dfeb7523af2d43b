-- What a run was given beside its message, and what the chat hears of it, as its questions say.
ALTER TABLE runs ADD COLUMN inputs TEXT NOT NULL DEFAULT '{}';
ALTER TABLE runs ADD COLUMN tells TEXT NOT NULL DEFAULT '';
