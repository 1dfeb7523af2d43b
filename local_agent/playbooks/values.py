"""What steps hand to later steps: paths, arguments, conditions and templates.  Pure.

A path is ``STEP.result`` and then keys and indices, each behind a dot.  Only dicts and lists are
walked, never attributes; there are no expressions, and nothing is evaluated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from pydantic import JsonValue

from common.errors import InputError
from common.text import ELLIPSIS
from local_agent.playbooks.tools import ToolSpec, check_arguments

if TYPE_CHECKING:
    from local_agent.playbooks.definition import StepDefinition

Words = Mapping[str, str]  # what was given to the run: ``message``, and ``inputs.NAME``
Results = Mapping[str, JsonValue]  # by the name of the step; of skipped ones there is none

MAX_RENDERED_CHARS: Final = 200_000
MAX_ASKED_CHARS: Final = 4_000  # of a question, which a person is to read

_RESULT: Final = re.compile(r"\.result(?![\w-])")
# Of a step that there is not: a name, and no expression.
_UNKNOWN_STEP: Final = re.compile(r"(?!not\s)\w[\w .:/-]*")
_KEY: Final = re.compile(r"[\w-]+")
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")
_OPERATOR: Final = re.compile(r"\s*(==|!=)\s*")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,16})(?:\.[0-9]{1,17})?(?:[eE][-+]?[0-9]{1,2})?")
_QUOTED: Final = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_BARE: Final = re.compile(r"[\w.+/:@#%~*-]+")
_CONSTANTS: Final[Mapping[str, JsonValue]] = {"true": True, "false": False, "null": None}
_PLACE: Final = re.compile(r"{([^{}]{1,1000})}")
_INPUT: Final = re.compile(r"inputs\.[a-z][a-z0-9_]*", re.ASCII)
NONE: Final[Words] = {}


class MissingValueError(InputError):
    """There is nothing under a path: the step was skipped, or its result has no such key.

    Args:
        path: As it is written.
    """

    def __init__(self, path: str) -> None:
        super().__init__("playbook.missing-value", path=path)
        self.path = path


@dataclass(frozen=True, slots=True)
class Asking:
    """What a gate says.

    Attributes:
        text: All of it.
        own: The words of its author, with ``⟨1⟩`` where something was put in.
        inserted: What was put in, with where that is from: ``message``, ``input:NAME``,
            ``agent:STEP`` or ``tool:STEP``.
    """

    text: str
    own: str = ""
    inserted: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Path:
    """Where a value is found: in the result of a step, below keys and indices."""

    step: str
    keys: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        """Return it as it is written."""
        return ".".join((self.step, "result", *map(str, self.keys)))


@dataclass(frozen=True, slots=True)
class Condition:
    """When a step is run: where the value is true (``op`` is None), or equals another, or not."""

    path: Path
    op: Literal["==", "!="] | None = None
    value: JsonValue = None


def parse_path(text: str, steps: Collection[str]) -> Path:
    """Return the path that a text writes.

    Args:
        text: ``STEP.result``, then ``.KEY`` or ``.INDEX`` as often as wanted.
        steps: Names of steps; of those that fit, the longest is meant.

    Raises:
        InputError: ``playbook.path`` (given).
    """
    step, rest = _divide(text.strip(), steps)
    keys = rest.split(".")[1:]
    if rest.partition(".")[0] or not all(map(_KEY.fullmatch, keys)):
        raise InputError("playbook.path", given=text)
    return Path(step, tuple(int(key) if _INDEX.fullmatch(key) else key for key in keys))


def find(path: Path, results: Results) -> JsonValue:
    """Return the value under a path.

    Raises:
        MissingValueError: there is none.
    """
    if path.step not in results:
        raise MissingValueError(str(path))
    value = results[path.step]
    for key in path.keys:
        if isinstance(value, dict) and str(key) in value:
            value = value[str(key)]
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            raise MissingValueError(str(path))
    return value


def parse_condition(text: str, steps: Collection[str]) -> Condition:
    """Return the condition that a text writes: ``PATH``, ``PATH == VALUE`` or ``PATH != VALUE``.

    Raises:
        InputError: ``playbook.condition`` (given).
    """
    try:
        _, rest = _divide(text.strip(), steps)
        compared = _OPERATOR.search(rest)
        if compared is None:
            return Condition(parse_path(text, steps))
        path = parse_path(text.strip().removesuffix(rest) + rest[: compared.start()], steps)
        value = _parse_value(rest[compared.end() :])
    except InputError:
        raise InputError("playbook.condition", given=text) from None
    return Condition(path, "==" if compared[1] == "==" else "!=", value)


def holds(condition: Condition, results: Results) -> bool | None:
    """Tell whether a condition holds; None where there is nothing under its path: skip the step.

    Text equals text; numbers equal numbers and booleans booleans, each by value.
    """
    try:
        found = find(condition.path, results)
    except MissingValueError:
        return None
    if condition.op is None:
        return bool(found)
    return _equal(found, condition.value) == (condition.op == "==")


def render(template: str, words: Words, results: Results, steps: Collection[str]) -> str:
    """Return a template with what it was given and what steps gave in their places.

    Each place is replaced once; what was put in is not looked at again, and what cannot be found
    stays as written.  Ends in an ellipsis after `MAX_RENDERED_CHARS`.
    """
    parts: list[str] = []
    size = 0
    for _, text in filled(template, words, results, steps):
        parts.append(text)
        size += len(text)
        if size > MAX_RENDERED_CHARS:
            break
    text = "".join(parts)
    return text if size <= MAX_RENDERED_CHARS else text[: MAX_RENDERED_CHARS - 1] + ELLIPSIS


def filled(
    template: str, words: Words, results: Results, steps: Collection[str], *, strict: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield the pieces of a template: its own text under no name, what is put in under its own.

    Args:
        words: What it was given: ``message``, and ``inputs.NAME``.
        strict: What is missing of a step or an input is an error, and not left as written.

    Raises:
        MissingValueError: so it is.
    """
    known: dict[str, str | None] = {**words}
    end = 0
    for place in _PLACE.finditer(template):
        name = place[1]
        if name not in known:
            known[name] = _shown(name, results, steps, strict=strict)
        if (value := known[name]) is not None:
            yield "", template[end : place.start()]
            yield name, value
            end = place.end()
    yield "", template[end:]


def read_asking(template: str, words: Words, results: Results, types: Mapping[str, str]) -> Asking:
    """Return what a gate says, its author's words apart from what was put in.

    Args:
        types: Of all steps, by their names.
    """
    text = own = ""
    found: dict[str, tuple[str, str]] = {}
    for name, whole in filled(template, words, results, types):
        left = MAX_ASKED_CHARS - len(text)
        piece = whole if len(whole) <= left else whole[:left] + ELLIPSIS
        text += piece
        if name:
            source = name.replace("inputs.", "input:", 1)
            if name not in words:
                step = parse_path(name, types).step
                source = f"{types[step]}:{step}"
            found.setdefault(name, (source, piece))
        own += f"⟨{[*found].index(name) + 1}⟩" if name else piece
        if len(text) > MAX_ASKED_CHARS:
            break
    return Asking(text, own, tuple(found.values()))


def paths_in(step: StepDefinition, steps: Collection[str]) -> Iterator[Path]:
    """Yield the paths in the texts that a step's tool is given."""
    for value in step.args.values():
        for text in value if isinstance(value, list) else (value,):
            yield from _paths_in(str(text), steps)


def _paths_in(text: str, steps: Collection[str]) -> Iterator[Path]:
    for place in _PLACE.finditer(text):
        with suppress(InputError):  # it is no path, and stays as written
            yield parse_path(place[1], steps)


def resolve_arguments(
    step: StepDefinition,
    results: Results,
    tool: ToolSpec,
    *,
    steps: Collection[str] = (),
    words: Words = NONE,
) -> dict[str, JsonValue]:
    """Return what the tool of a step is called with: `args`, and what `args_from` finds beside it.

    Places in texts of `args` are filled in once: each stays one text, or one entry of argv.

    Args:
        step: A tool step.
        results: Of the steps before it.
        tool: What it names.
        steps: Names of all steps, where some of them gave no result.
        words: As of `filled`.

    Raises:
        MissingValueError: there is nothing under a path.
        InputError: ``playbook.not-an-object`` (path), or ``playbook.argument`` as by
            `tools.check_arguments`.
    """
    names = {*steps, *results}
    found: dict[str, JsonValue] = {}
    if isinstance(step.args_from, str):
        whole = find(parse_path(step.args_from, names), results)
        if not isinstance(whole, dict):
            raise InputError("playbook.not-an-object", path=step.args_from)
        found = {name: value for name, value in whole.items() if name in tool.arguments}
    elif step.args_from is not None:
        wanted = {name: path for name, path in step.args_from.items() if name not in step.args}
        found = {name: find(parse_path(path, names), results) for name, path in wanted.items()}

    def fill(value: JsonValue) -> JsonValue:
        if isinstance(value, list):
            return [fill(one) for one in value]
        if not isinstance(value, str) or "{" not in value:
            return value
        return "".join(text for _, text in filled(value, words, results, names, strict=True))

    arguments = {**found, **{name: fill(value) for name, value in step.args.items()}}
    check_arguments(tool, arguments)
    return arguments


def steps_read(step: StepDefinition, steps: Collection[str]) -> frozenset[str]:
    """Return the names of the steps whose results a step needs: for its condition or arguments."""
    sources = step.args_from or {}
    texts = [sources] if isinstance(sources, str) else [*sources.values()]
    found = {parse_path(text, steps).step for text in texts}
    found.update(path.step for path in paths_in(step, steps) if path.step in steps)
    if step.condition is not None:
        found.add(parse_condition(step.condition, steps).path.step)
    return frozenset(found)


def steps_named(step: StepDefinition, steps: Collection[str]) -> frozenset[str]:
    """Return the names of all steps that a step names: those that it needs, and in its template."""
    found = set(steps_read(step, steps))
    found.update(path.step for path in _paths_in(step.message_template or "", steps))
    return frozenset(found)


def _divide(text: str, steps: Collection[str]) -> tuple[str, str]:
    """Return the name of the step, and what follows ``.result``."""
    places = list(_RESULT.finditer(text))
    for place in reversed(places):
        if text[: place.start()] in steps:
            return text[: place.start()], text[place.end() :]
    if not places or not _UNKNOWN_STEP.fullmatch(text[: places[0].start()]):
        raise InputError("playbook.path", given=text)
    return text[: places[0].start()], text[places[0].end() :]


def _parse_value(text: str) -> JsonValue:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _NUMBER.fullmatch(text):
        number: int | float = json.loads(text)
        return number
    if quoted := _QUOTED.fullmatch(text):
        return quoted[1] if quoted[1] is not None else quoted[2]
    if not _BARE.fullmatch(text):
        raise InputError("playbook.condition", given=text)
    return text


def _equal(found: JsonValue, wanted: JsonValue) -> bool:
    numbers = (int, float)
    # To Python, True is the number 1.
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    alike = isinstance(found, numbers) and isinstance(wanted, numbers)
    return (alike or type(found) is type(wanted)) and found == wanted


def _shown(text: str, results: Results, steps: Collection[str], *, strict: bool) -> str | None:
    """Return the value under a path as text; None where there is none."""
    if strict and _INPUT.fullmatch(text):
        raise MissingValueError(text)
    try:
        path = parse_path(text, steps)
        value = find(path, results)
    except MissingValueError:
        if strict and path.step in steps:
            raise
        return None
    except InputError:
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
