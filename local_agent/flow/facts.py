"""What was done, as facts for this machine: kept with the end of its task, never sent.

Words for it are made where it is shown (`local_agent.cli`), in the language of that terminal.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from common.text import clip_bytes, one_line, reveal
from local_agent import report_texts
from local_agent.actions.changes.perform import ChangeOutcome
from local_agent.actions.git_sync.perform import SyncOutcome
from local_agent.actions.run_command.perform import Outcome
from local_agent.flow.summaries import started
from local_agent.workspace.manifest import Differences

_NAME_BYTES: Final = 300  # of each file's path: 200 of them must fit into one answer
_COMMAND_BYTES: Final = 400
_CHANGES: Final = {"+": "new", "-": "deleted", "~": "changed"}


def of_run(outcome: Outcome, command: str, *, sandbox: str) -> dict[str, Any]:
    """Return how a command ended, what it reported, its last lines, and the changed files (R46).

    Args:
        outcome: From the executor.
        command: On one line, as people know it.
        sandbox: Level it ran at; ``none`` means that it could change more than is listed.
    """
    return {
        "command": one_line(command, _COMMAND_BYTES),
        "sandbox": sandbox,
        "started": started(outcome),
        "code": outcome.code,
        "exit_code": outcome.exit_code,
        "signal": outcome.signal,
        "duration_ms": outcome.duration_ms,
        "survivors": outcome.survivors,
        "drift": list(outcome.drift),
        "report": report_texts.to_facts(outcome.report) if outcome.report else None,
        "output": {
            "lines": outcome.lines,
            "tail": outcome.tail,
            "before": outcome.output_before,
            "log_sha256": outcome.log_sha256,
        },
        "files": _files(outcome.differences) if outcome.differences else None,
    }


def of_change(outcome: ChangeOutcome, *, undoes: str | None) -> dict[str, Any]:
    """Return how a change ended, and each of its files.

    Args:
        undoes: Short ID of the task whose change it took back; None when it took none back.
    """
    return {
        "code": outcome.code,
        "drift": list(outcome.drift),
        "undoes": undoes,
        "files": [
            {"op": change.op, "path": change.path, "old_path": change.old_path}
            for change in outcome.files
        ],
        "mixture": asdict(outcome.mixture) if outcome.mixture else None,
    }


def of_sync(outcome: SyncOutcome) -> dict[str, Any]:
    """Return how a commit and push ended."""
    return {
        "code": outcome.code,
        "drift": list(outcome.drift),
        "committed": outcome.committed,
        "pushed": outcome.pushed,
    }


def _files(found: Differences) -> dict[str, Any]:
    links, surfaces = set(found.links), set(found.surfaces)
    return {
        "new": found.added,
        "changed": found.changed,
        "deleted": found.removed,
        "incomplete": found.incomplete,
        "rights_taken": [clip_bytes(reveal(path), _NAME_BYTES) for path in found.rights],
        "listed": [
            {
                "path": clip_bytes(reveal(name[2:]), _NAME_BYTES),
                "change": _CHANGES[name[0]],
                "link": name[2:] in links,
                "surface": name[2:] in surfaces,
            }
            for name in found.names
        ],
    }
