"""YAML read strictly, as plain data that knows its lines.  Pure.

The events of the parser are read, and nothing is constructed: no tags, no anchors and aliases, no
repeated keys, one document, bounded in depth and in number.  Of unquoted scalars those are no text
that YAML 1.2 (core) has for others: `true`, `null`, numbers.  `yes`, `on` and dates are text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import yaml
from pydantic import JsonValue

MAX_DEPTH: Final = 16  # mappings and lists in each other
MAX_NODES: Final = 60_000  # keys, values, mappings and lists
MAX_INTEGER: Final = 2**53
_MAX_NUMBER_CHARS: Final = 40

# libyaml where it is there, as in every wheel: many times faster.
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# What YAML does not take, and line ends of YAML 1.1 that nobody sees: the line that a person reads
# would not be the one that the parser does.
_REFUSED: Final = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER: Final = re.compile(r"[-+]?[0-9]+|0x[0-9a-fA-F]+|0o[0-7]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NO_NUMBER: Final = re.compile(
    r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)  # of which JSON has none


class MalformedError(Exception):
    """The text cannot be taken.

    Args:
        why: Names the sentence, ``playbook.parse/why`` of `error_texts.playbooks`.
        line: Where, from 1; 0 where it is no one line.
        facts: What the sentence tells.
    """

    def __init__(self, why: str, line: int = 0, **facts: object) -> None:
        super().__init__(why)
        self.why = why
        self.line = line
        self.facts = facts


@dataclass(frozen=True, slots=True)
class Node:
    """A value, and the line where it stands: of what has a key, the line of the key."""

    value: str | int | float | bool | list[Node] | dict[str, Node] | None
    line: int

    def plain(self) -> JsonValue:
        """Return the value without the lines."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value


def read_yaml(text: str, *, first_line: int = 1) -> Node:
    """Return what one YAML document says.

    Args:
        text: Its lines, each ended by a line feed.
        first_line: The number of its first line within the file.

    Raises:
        MalformedError: ``character``, ``yaml``, ``documents``, ``tag``, ``reference``, ``key``,
            ``repeated-key``, ``too-deep``, ``too-many-nodes`` or ``number``, with the line.
    """
    if found := _REFUSED.search(text):
        line = text.count("\n", 0, found.start()) + first_line
        raise MalformedError("character", line, given=f"U+{ord(found[0]):04X}")
    reader = _Reader(yaml.parse(text, Loader=_LOADER), first_line)
    try:
        return reader.document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + first_line if mark else 0
        raise MalformedError("yaml", line, problem=error.problem or error.context) from None
    except ValueError:
        # An escape that names no character; the parser in Python lets some of them pass.
        raise MalformedError("yaml", first_line, problem="invalid escape") from None


class _Reader:
    """Takes the events one by one, and ends at the first that is refused."""

    def __init__(self, events: Iterator[Any], first_line: int) -> None:
        self._events = events
        self._first_line = first_line
        self._left = MAX_NODES

    def document(self) -> Node:
        """Return the one document, and None as its value where there is none."""
        next(self._events)  # the stream begins
        begin = next(self._events)
        if isinstance(begin, yaml.StreamEndEvent):
            return Node(None, self._first_line)
        if begin.explicit:
            raise MalformedError("documents", self._line(begin))
        node = self._node(next(self._events), 1)
        next(self._events)  # the document ends
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            raise MalformedError("documents", self._line(after))
        return node

    def _node(self, event: Any, depth: int) -> Node:
        self._check(event)
        line = self._line(event)
        if isinstance(event, yaml.ScalarEvent):
            event.value.encode()
            plain = not event.style
            return Node(_scalar(event.value, line) if plain else event.value, line)
        if depth > MAX_DEPTH:
            raise MalformedError("too-deep", line, limit=MAX_DEPTH)
        if isinstance(event, yaml.SequenceStartEvent):
            return Node([self._node(item, depth + 1) for item in self._until_end()], line)
        found: dict[str, Node] = {}
        for key in self._until_end():
            name = self._key(key)
            if name in found:
                raise MalformedError("repeated-key", self._line(key), key=name)
            value = self._node(next(self._events), depth + 1)
            found[name] = Node(value.value, self._line(key))
        return Node(found, line)

    def _until_end(self) -> Iterator[Any]:
        ends = (yaml.SequenceEndEvent, yaml.MappingEndEvent)
        while not isinstance(event := next(self._events), ends):
            yield event

    def _key(self, event: Any) -> str:
        self._check(event)
        if not isinstance(event, yaml.ScalarEvent):
            raise MalformedError("key", self._line(event))
        event.value.encode()
        return str(event.value)  # as written: a key is text always

    def _check(self, event: Any) -> None:
        line = self._line(event)
        if isinstance(event, yaml.AliasEvent):
            raise MalformedError("reference", line, given=f"*{event.anchor}")
        if event.anchor is not None:
            raise MalformedError("reference", line, given=f"&{event.anchor}")
        if event.tag is not None:
            raise MalformedError("tag", line, given=event.tag)
        self._left -= 1
        if self._left < 0:
            raise MalformedError("too-many-nodes", line, limit=MAX_NODES)

    def _line(self, event: Any) -> int:
        return int(event.start_mark.line) + self._first_line


def _scalar(text: str, line: int) -> str | int | float | bool | None:
    if text in _WORDS:
        return _WORDS[text]
    number = _number(text)
    if number is None:
        return text
    if math.isfinite(number) and (type(number) is float or abs(number) <= MAX_INTEGER):
        return number
    raise MalformedError("number", line, given=text)


def _number(text: str) -> int | float | None:
    """Return the number that a text is, infinite where it is none that can be taken."""
    if _NO_NUMBER.fullmatch(text):
        return math.inf
    whole = _INTEGER.fullmatch(text)
    if not whole and not _FLOAT.fullmatch(text):
        return None
    if len(text) > _MAX_NUMBER_CHARS:
        return math.inf
    if not whole:
        return float(text)
    return int(text, 0) if text[:2] in ("0x", "0o") else int(text)
