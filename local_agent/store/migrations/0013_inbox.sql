-- How many keys were announced today, and which run a task carries, without reading what stays.
CREATE INDEX inbox_rekeys ON inbox (peer, received_at) WHERE typ = 'rekey';
CREATE INDEX runs_of_task ON runs (task_id);
