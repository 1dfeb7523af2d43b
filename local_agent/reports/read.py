"""From the output of a runner to its `Report`.  Pure."""

from __future__ import annotations

from local_agent.reports.report import Report


def read_report(output: str, *, exit_code: int, workspace: str) -> Report | None:
    """Return what a runner reported, or None where no reader fits."""
    del output, exit_code, workspace
    return None
