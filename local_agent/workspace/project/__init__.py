"""What a project runs for its tests, its build, its checks: read from its files, never executed."""
