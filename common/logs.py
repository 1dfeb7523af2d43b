"""The one way to write a log: events with named facts, one line each, nothing secret (R54, R73).

An event is a dotted constant such as ``callback.refused``; what varies stands in facts.  Facts are
bounded, their hidden characters shown, their secrets taken out.  What must never become a fact:
bodies, keys, and whatever failed to verify.  Blocks as long as the stream does (stderr by use).
"""

from __future__ import annotations

import json as json_module
import logging
import re
import sys
from collections.abc import Iterable, Mapping, MutableMapping
from datetime import UTC, datetime
from pathlib import PurePath
from types import TracebackType
from typing import Any, Final, TextIO, TypeAlias, cast

import structlog
from structlog.typing import FilteringBoundLogger, WrappedLogger

from common.clock import Clock, SystemClock
from common.redact import redact, spellings_of, without_spellings
from common.text import one_line

Log: TypeAlias = FilteringBoundLogger

MAX_VALUE_BYTES: Final = 500
MAX_FRAMES: Final = 8
_NOT_IN_NAMES: Final = re.compile(r"[^\w.-]")
_QUOTED: Final = re.compile(r'[ ="]|\A\Z')
_MARKS: Final = {"warning": "! ", "error": "✗ ", "critical": "✗ "}  # as the doctor's
_LEVELS: Final = {"exception": "error", "warn": "warning", "msg": "info"}

_Facts: TypeAlias = MutableMapping[str, Any]


class Secrets:
    """The product's own secrets: every spelling of them is taken out of a log.

    Those that are no more stay known: what is left of them may still be said.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self.spellings = spellings_of(values)

    def learn(self, values: Iterable[str]) -> None:
        """Take out these, too, from now on."""
        found = {*self.spellings, *spellings_of(values)}
        self.spellings = tuple(sorted(found, key=len, reverse=True))


def open_log(
    component: str,
    *,
    stream: TextIO | None = None,
    level: int = logging.INFO,
    json: bool = False,
    secrets: Secrets | None = None,
    clock: Clock | None = None,
) -> Log:
    """Return a log.  Nothing global is set: two logs never share their configuration.

    Args:
        component: Which part writes, such as ``gateway``.
        stream: Where to; standard error when not given.
        level: Least level that is written, as in `logging`.
        json: One JSON object per line instead of ``time LEVEL component event name=value``, which
            on a terminal is shorter, and a sentence where the event has one.
        secrets: Taken out by exact match before any other rule.
        clock: Tells the time of an event.
    """
    known = secrets or Secrets()
    ticking = clock or SystemClock()

    def stamp(_logger: WrappedLogger, method: str, facts: _Facts) -> _Facts:
        at = datetime.fromtimestamp(ticking.now().wall_ms / 1000, UTC)
        head = {"at": at.isoformat(timespec="milliseconds"), "level": _LEVELS.get(method, method)}
        return head | {"component": component} | dict(facts)

    def clean(_logger: WrappedLogger, _method: str, facts: _Facts) -> _Facts:
        return {
            _NOT_IN_NAMES.sub("_", name[:40]): _value(value, known.spellings)
            for name, value in facts.items()
        }

    written = stream or sys.stderr  # None where whoever started us has closed it
    as_text = _for_a_person if written and written.isatty() else _as_line
    logger = structlog.wrap_logger(
        structlog.WriteLogger(written),
        processors=[_flatten_exception, clean, stamp, _as_json if json else as_text],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
    return cast("Log", logger)


def adopt_libraries(log: Log) -> None:
    """Lead what libraries write through `logging` into the log, under the same rules.

    Replaces the handlers of the root logger of this process.
    """
    root = logging.getLogger()
    root.handlers[:] = [_Adopted(log)]
    root.setLevel(logging.WARNING)


class _Adopted(logging.Handler):
    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write a library's record as one event of ours."""
        try:
            message = record.getMessage()
        except (TypeError, ValueError):
            message = str(record.msg)
        facts: dict[str, object] = {"library": record.name, "message": message}
        if record.exc_info:
            facts["exc_info"] = record.exc_info
        self._log.log(record.levelno, "library", **facts)


def _flatten_exception(_logger: WrappedLogger, _method: str, facts: _Facts) -> _Facts:
    given = facts.pop("exc_info", None)
    if given is True:
        given = sys.exc_info()
    error = given if isinstance(given, BaseException) else given[1] if given else None
    if error is not None:
        facts["error"] = f"{type(error).__name__}: {error}"
        facts["where"] = _frames(error.__traceback__)
    return facts


def _frames(traceback: TracebackType | None) -> str:
    # Places only: source lines and local values could hold anything.
    places: list[str] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        places.append(f"{PurePath(code.co_filename).name}:{traceback.tb_lineno} {code.co_name}")
        traceback = traceback.tb_next
    return " < ".join(reversed(places[-MAX_FRAMES:]))


def _value(value: object, known: tuple[str, ...]) -> str | int | float | bool | None:
    if value is None or isinstance(value, bool | int | float):
        return value
    # Bounded before the costlier rules look at it, with room for what they take out.
    text = without_spellings(str(value), known)[: 8 * MAX_VALUE_BYTES]
    return one_line(redact(text), MAX_VALUE_BYTES)


def _as_json(_logger: WrappedLogger, _method: str, facts: _Facts) -> str:
    return json_module.dumps(facts, ensure_ascii=False, separators=(",", ":"))


def _as_line(_logger: WrappedLogger, _method: str, facts: _Facts) -> str:
    rest = dict(facts)
    head = " ".join(str(rest.pop(name, "")) for name in ("at", "level", "component", "event"))
    return " ".join([head, *_named(rest)])


def _for_a_person(_logger: WrappedLogger, _method: str, facts: _Facts) -> str:
    rest = dict(facts)
    at = datetime.fromisoformat(rest.pop("at")).astimezone()
    mark = _MARKS.get(rest.pop("level"), "")
    event, _ = rest.pop("event", ""), rest.pop("component")
    if said := rest.get("said"):
        told = [f"{rest.get('check', event)}: {said}", *filter(None, (rest.get("mend"),))]
        return f"{at:%H:%M:%S} {mark}{' → '.join(told)}"
    return " ".join([f"{at:%H:%M:%S} {mark}{event}", *_named(rest)])


def _named(facts: Mapping[str, Any]) -> list[str]:
    return [f"{name}={_shown(value)}" for name, value in facts.items()]


def _shown(value: object) -> str:
    text = str(value)
    return json_module.dumps(text, ensure_ascii=False) if _QUOTED.search(text) else text
