"""What came of a command: in words for the chat and this machine, and as facts for this machine.

Pure.  Machine and task ID are not named here: the gateway puts them in front.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any, Final

from common.model.state import Reason
from common.redact import redact
from common.sentences import Lang, Sentence, say
from common.text import clip_bytes, one_line, reveal
from local_agent import replies, report_texts
from local_agent.actions.operation import render_drift, render_names
from local_agent.actions.run_command.perform import Outcome, Progress
from local_agent.workspace.manifest import Differences

COMMAND_BYTES: Final = 200
_RIGHTS_NAMED: Final = 3
_FACT_COMMAND_BYTES: Final = 400
_FACT_NAME_BYTES: Final = 300  # of each file's path: 200 of them must fit into one answer
_CHANGES: Final = {"+": "new", "-": "deleted", "~": "changed"}


def render_outcome(outcome: Outcome, command: str, lang: Lang) -> str:
    """Return what came of a command, short enough for a phone: the verdict first.

    What a runner reported is told by its counts and first failures; the raw last lines only where
    no report tells why.
    """
    lines = [*_verdict(outcome, command, lang, most=report_texts.CHAT_FAILURES)]
    if started(outcome) and not _is_told(outcome):
        lines.append(outcome.brief or ("" if outcome.tail else say(replies.NO_OUTPUT, lang)))
    return "\n".join(filter(None, lines))


def render_ending(outcome: Outcome, command: str, lang: Lang) -> str:
    """Return how a command ended and what it reported, without its output."""
    return "\n".join(_verdict(outcome, command, lang, most=report_texts.HERE_FAILURES))


def started(outcome: Outcome) -> bool:
    """Tell whether the command began, so that there may be output of it."""
    return not (
        outcome.code in replies.NOT_STARTED
        or outcome.reason is Reason.DRIFTED
        or _never_began(outcome)
    )


def render_progress(progress: Progress, lang: Lang) -> str:
    """Return where a running command stands."""
    duration = replies.render_duration(progress.elapsed_s * 1000, lang)
    return say(replies.RUNNING, lang, duration=duration, lines=progress.lines)


def render_interruption(command: str | None, lang: Lang) -> str:
    """Return that nobody knows how it ended."""
    shown = one_line(redact(command or "?"), COMMAND_BYTES)
    return say(replies.UNKNOWN, lang, command=shown)


def run_facts(outcome: Outcome, command: str, *, sandbox: str) -> dict[str, Any]:
    """Return how a command ended, what it reported, its last lines, and the changed files (R46).

    Args:
        outcome: From the executor.
        command: On one line, as people know it.
        sandbox: Level it ran at; ``none`` means that it could change more than is listed.
    """
    return {
        "command": one_line(command, _FACT_COMMAND_BYTES),
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
        "files": _file_facts(outcome.differences) if outcome.differences else None,
    }


def _verdict(outcome: Outcome, command: str, lang: Lang, *, most: int) -> Iterator[str]:
    """Give the lines that tell how a command ended; the first stands for itself."""
    if outcome.reason is Reason.DRIFTED:
        yield render_drift(outcome.drift, lang)
    elif _never_began(outcome):
        yield say(replies.CANCELLED, lang)
    elif outcome.report is not None:
        yield report_texts.verdict(outcome.report, lang, duration_ms=outcome.duration_ms)
        yield from report_texts.failure_lines(outcome.report, lang, most=most)
    else:
        yield say(
            _ending(outcome),
            lang,
            command=one_line(redact(command), COMMAND_BYTES),
            duration=replies.render_duration(outcome.duration_ms, lang),
            exit_code=outcome.exit_code,
            signal=_signal(outcome.signal),
        )
    if outcome.survivors:
        yield say(replies.SURVIVORS, lang, count=outcome.survivors)
    if outcome.differences and (paths := outcome.differences.rights):
        named = render_names(paths[:_RIGHTS_NAMED], lang)
        yield say(replies.RIGHTS_TAKEN, lang, count=len(paths), paths=named)


def _is_told(outcome: Outcome) -> bool:
    return outcome.report is not None and report_texts.tells_why(outcome.report)


def _signal(number: int | None) -> str:
    known = {int(one): one.name for one in signal.Signals}
    return known.get(number or 0, str(number))


def _never_began(outcome: Outcome) -> bool:
    cancelled = outcome.reason is Reason.CANCELLED
    return cancelled and outcome.exit_code is None and not outcome.signal


def _ending(outcome: Outcome) -> Sentence:
    if outcome.reason is Reason.CANCELLED:
        return replies.CANCELLED_RUNNING
    if outcome.code == "command.timeout":
        return replies.TIMED_OUT
    if outcome.code in replies.NOT_STARTED:
        return replies.NOT_STARTED[outcome.code]
    if outcome.code in replies.EXCEEDED:
        return replies.EXCEEDED[outcome.code]
    if outcome.signal:
        return replies.KILLED
    return replies.RAN_OK if outcome.exit_code == 0 else replies.RAN_BADLY


def _file_facts(found: Differences) -> dict[str, Any]:
    links, surfaces = set(found.links), set(found.surfaces)
    return {
        "new": found.added,
        "changed": found.changed,
        "deleted": found.removed,
        "incomplete": found.incomplete,
        "rights_taken": [clip_bytes(reveal(path), _FACT_NAME_BYTES) for path in found.rights],
        "listed": [
            {
                "path": clip_bytes(reveal(name[2:]), _FACT_NAME_BYTES),
                "change": _CHANGES[name[0]],
                "link": name[2:] in links,
                "surface": name[2:] in surfaces,
            }
            for name in found.names
        ],
    }
