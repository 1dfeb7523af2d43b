"""From a journaled task to its outcome: the steps, the one place that changes state, the bus."""
