"""The file of answers of a dry run: which questions of which steps are approved or denied.  Pure.

    [{"step": "write notes", "decision": "approve"}, {"step": "*", "decision": "deny"}]

An entry that names a step answers one question of that step; ``*`` answers every other one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from common import strict_json
from common.errors import InputError, RemoteProtocolError

MAX_BYTES: Final = 256 * 1024
MAX_ENTRIES: Final = 4_000
MAX_STEP_CHARS: Final = 200
ANY: Final = "*"
APPROVE_ALL: Final = '[{"step":"*","decision":"approve"}]'

Answer = Literal["approve", "deny"]
_KEYS: Final = frozenset({"step", "decision"})
_DECISIONS: Final[Mapping[object, Answer]] = {"approve": "approve", "deny": "deny"}


class Answers:
    """What is left to be answered by a file.

    Args:
        data: The file.

    Raises:
        InputError: ``playbook.answers`` (why): it is none: nothing was run.
    """

    def __init__(self, data: bytes | str) -> None:
        self._named: dict[str, list[Answer]] = {}
        self._other: Answer | None = None
        for step, decision in _entries(data):
            if step != ANY:
                self._named.setdefault(step, []).append(decision)
            elif self._other is None:
                self._other = decision
            else:
                raise InputError("playbook.answers", why="repeated")

    def take(self, step: str) -> Answer | None:
        """Return the answer to a question of a step, which is used up; None where there is none."""
        if left := self._named.get(step):
            return left.pop(0)
        return self._other


def _entries(data: bytes | str) -> list[tuple[str, Answer]]:
    try:
        given = strict_json.loads(data, max_bytes=MAX_BYTES)
    except RemoteProtocolError as error:
        why = "too-large" if error.code == "json.too-large" else "json"
        raise InputError("playbook.answers", why=why, limit=MAX_BYTES) from None
    if not isinstance(given, list):
        raise InputError("playbook.answers", why="shape")
    if len(given) > MAX_ENTRIES:
        raise InputError("playbook.answers", why="too-many", limit=MAX_ENTRIES)
    return [_entry(number, one) for number, one in enumerate(given, 1)]


def _entry(number: int, given: Any) -> tuple[str, Answer]:
    if not isinstance(given, dict) or given.keys() != _KEYS:
        raise InputError("playbook.answers", why="entry", number=number)
    step, decision = given["step"], given["decision"]
    known = isinstance(step, str) and 0 < len(step) <= MAX_STEP_CHARS
    if not known or not isinstance(decision, str) or decision not in _DECISIONS:
        raise InputError("playbook.answers", why="entry", number=number)
    return step, _DECISIONS[decision]
