"""What linters, compilers and test runners print, read as places in files.  Pure and bounded.

The text comes from outside: nothing of it is obeyed, names that lead out of the workspace are
dropped, and every pattern takes linear time.  Whether a file may be read is decided elsewhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from common.redact import redact
from common.text import clip_bytes, one_line, strip_ansi

MAX_DIAGNOSTICS: Final = 100
MAX_TEXT_BYTES: Final = 512 * 1024
MAX_MESSAGE_BYTES: Final = 300
_MAX_LINE_CHARS: Final = 2000
_MAX_LINES: Final = 20_000
_MAX_DIGITS: Final = 8

_CHAR: Final = r"[^\s:()\"'<>|,;\[\]`（）：，；“”「」]"
_PATH: Final = rf"(?P<path>{_CHAR}{{1,400}})"
_LINE: Final = r"(?P<line>\d{1,8})"
_COLUMN: Final = r"(?P<column>\d{1,6})"
_SUFFIX: Final = r"\.[A-Za-z][A-Za-z0-9]{0,9}"
_NAMED: Final = rf"(?P<path>{_CHAR}{{1,400}}?{_SUFFIX})"

_PATTERNS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        # tsc: src/a.ts(3,5): error TS2304: Cannot find name 'x'.
        rf"^\s*{_PATH}\({_LINE},{_COLUMN}\):\s*(?P<message>.*)$",
        # tsc --pretty: src/a.ts:3:5 - error TS2304: Cannot find name 'x'.
        rf"^\s*{_NAMED}:{_LINE}:{_COLUMN} - (?P<message>.*)$",
        # maven: [ERROR] /home/me/src/App.java:[3,8] cannot find symbol
        rf"^\[(?:ERROR|WARNING)\]\s+{_NAMED}:\[{_LINE},{_COLUMN}\]\s*(?P<message>.*)$",
        # Python: File "src/app.py", line 10, in load
        rf"^\s*File \"(?P<path>[^\"\n]{{1,400}})\", line {_LINE}(?P<message>.*)$",
        # rustc:  --> src/main.rs:2:5
        rf"^\s*-->\s*{_NAMED}:{_LINE}:{_COLUMN}(?P<message>)\s*$",
        # pytest: FAILED tests/test_a.py::test_b - assert …
        rf"^(?:FAILED|ERROR)\s+{_NAMED}(?P<message>(?:::|\s|$).*)$",
        # Node, Java, Go: at load (src/app.ts:3:5), at App.main(App.java:12), app.go:12 +0x1d
        rf"^\s*at\s(?:[^()]{{0,300}}\()?{_NAMED}:{_LINE}(?::{_COLUMN})?\)?(?P<message>)\s*$",
        rf"^\s+{_NAMED}:{_LINE}(?P<message>) \+0x[0-9a-f]+$",
        # ruff, flake8, mypy, pylint, gcc, go vet, eslint unix, pytest: path:line[:column]: message
        rf"^\s*(?:vet: )?{_NAMED}:{_LINE}(?::{_COLUMN})?:\s*(?P<message>.*)$",
        # Said in passing: see src/app.py:12
        rf"(?:^|[\s(（\"'`：，“「]){_NAMED}:{_LINE}(?::{_COLUMN})?(?P<message>)(?![\w:])",
    )
)
_STYLISH: Final = re.compile(
    rf"^\s+{_LINE}:{_COLUMN}\s+(?P<level>error|warning)\s+(?P<message>\S.*)$"
)
_STYLISH_FILE: Final = re.compile(rf"^{_NAMED}$")
_WARNING: Final = re.compile(r"^(?:warning|warn|note|info|hint|W\d|[CR]\d{4})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One remark about one place.

    Attributes:
        path: Relative to the workspace.
        line: From 1; 0 where only the file is named.
        column: From 1; 0 where none is named.
        level: ``error``, or ``warning`` for whatever is less.
        message: On one line, bounded.
    """

    path: str
    line: int = 0
    column: int = 0
    level: str = "error"
    message: str = ""


def parse_diagnostics(text: str, *, workspace: str) -> tuple[Diagnostic, ...]:
    """Return the places that a text names, in its order, each once.

    Args:
        text: What a program printed, or what a person pasted among other words.
        workspace: Real path; absolute names inside it become relative, others are dropped.
    """
    found: dict[tuple[str, int], Diagnostic] = {}
    for one in _read(clip_bytes(text, MAX_TEXT_BYTES, marker=""), workspace):
        older = found.get((one.path, one.line))
        if older is None or (not older.message and one.message):
            found[one.path, one.line] = one
        if len(found) >= MAX_DIAGNOSTICS:
            break
    return tuple(found.values())


def render(diagnostics: Sequence[Diagnostic]) -> str:
    """Return them one a line, as most tools print them."""
    return "".join(map(_rendered, diagnostics))


def _rendered(one: Diagnostic) -> str:
    place = ":".join(str(part) for part in (one.path, one.line, one.column) if part)
    return f"{one_line(place, 600)}: {one.level}: {one.message}".rstrip(": ") + "\n"


def _read(text: str, workspace: str) -> Iterator[Diagnostic]:
    if (document := _as_json(text)) is not None:
        yield from _of_json(document, workspace)
        return
    file = ""  # eslint's "stylish" and others: the file stands above its remarks
    for raw in text.split("\n", _MAX_LINES)[:_MAX_LINES]:
        line = strip_ansi(raw[:_MAX_LINE_CHARS]).rstrip()
        if line.startswith("{") and (document := _as_json(line)) is not None:
            yield from _of_json(document, workspace)
        elif file and (match := _STYLISH.match(line)):
            yield from _found(match, workspace, path=file)
        elif match := _STYLISH_FILE.match(line):
            file = match["path"]
        else:
            match = next((found for one in _PATTERNS if (found := one.search(line))), None)
            if match is not None:
                yield from _found(match, workspace)


def _found(
    match: re.Match[str], workspace: str, *, path: str | None = None
) -> Iterator[Diagnostic]:
    parts = match.groupdict()
    message = parts.get("message") or ""
    level = parts.get("level") or ("warning" if _WARNING.match(message) else "error")
    yield from _one(
        workspace, path or parts["path"], parts.get("line"), parts.get("column"), level, message
    )


def _one(
    workspace: str, path: Any, line: Any, column: Any, level: str, message: Any
) -> Iterator[Diagnostic]:
    name = _relative(path, workspace) if isinstance(path, str) else None
    if name is not None:
        # Secrets first: of one that is cut, nobody knows the half.
        text = redact(message[:_MAX_LINE_CHARS]) if isinstance(message, str) else ""
        text = one_line(text, MAX_MESSAGE_BYTES)
        text = re.sub(r"^(?:fatal )?(?:error|warning|note)[:\s]\s*", "", text.lstrip("-: "))
        yield Diagnostic(name, _number(line), _number(column), level, text)


def _number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return 0
    digits = str(value)
    plain = digits.isascii() and digits.isdigit() and len(digits) <= _MAX_DIGITS
    return int(digits) if plain else 0


def _relative(path: str, workspace: str) -> str | None:
    """Return the path within the workspace; None for what is elsewhere, or no path of ours."""
    plain = path.replace("\\", "/") if "\\" in path and "/" not in path else path
    plain = plain.removeprefix("file://")
    if plain.startswith("/"):
        inside = f"{workspace.rstrip('/')}/"
        if not plain.startswith(inside):
            return None
        plain = plain.removeprefix(inside)
    parts = [part for part in plain.split("/") if part not in ("", ".")]
    strange = not parts or ".." in parts or not plain.isprintable() or "://" in plain
    return None if strange or ":" in parts[0] else "/".join(parts)


# --- the JSON of eslint, ruff, and cargo -----------------------------------------------------


def _as_json(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _of_json(document: Any, workspace: str) -> Iterator[Diagnostic]:
    for one in document if isinstance(document, list) else [document]:
        if not isinstance(one, dict):
            continue
        if isinstance(one.get("messages"), list):
            yield from _of_eslint(one, workspace)
        elif isinstance(one.get("message"), dict):
            yield from _of_cargo(one["message"], workspace)
        else:
            yield from _of_ruff(one, workspace)


def _of_eslint(file: dict[str, Any], workspace: str) -> Iterator[Diagnostic]:
    for one in file["messages"]:
        if isinstance(one, dict):
            level = "warning" if one.get("severity") == 1 else "error"
            place = (file.get("filePath"), one.get("line"), one.get("column"))
            yield from _one(workspace, *place, level, one.get("message"))


def _of_cargo(message: dict[str, Any], workspace: str) -> Iterator[Diagnostic]:
    spans = message.get("spans")
    for span in spans if isinstance(spans, list) else []:
        if isinstance(span, dict) and span.get("is_primary"):
            level = "error" if message.get("level") == "error" else "warning"
            place = (span.get("file_name"), span.get("line_start"), span.get("column_start"))
            yield from _one(workspace, *place, level, message.get("message"))


def _of_ruff(one: dict[str, Any], workspace: str) -> Iterator[Diagnostic]:
    # ruff, pylint and pyright each have names of their own for the same.
    spot = one.get("location")
    place = spot if isinstance(spot, dict) else one
    path = one.get("filename") or one.get("path") or one.get("file")
    line = place.get("row") or place.get("line")
    said = [one.get("code") or one.get("message-id"), one.get("message")]
    message = " ".join(part for part in said if isinstance(part, str))
    yield from _one(workspace, path, line, place.get("column"), "error", message)
