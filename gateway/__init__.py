"""The cloud half: receives chat messages, queues signed tasks, brings results back.  Cannot act."""
