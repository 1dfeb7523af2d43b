"""What test runners, compilers and linters report: read from their output.  Pure."""
