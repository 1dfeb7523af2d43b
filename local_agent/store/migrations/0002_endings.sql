-- How a task ended, for whoever sits at this machine: the words in both languages, and what a
-- command did (its last lines, its log, the files it changed).  Never told to a gateway.
ALTER TABLE tasks ADD COLUMN ending_json TEXT;
