"""What a playbook says: its fields, read strictly from the front matter of a Markdown file.  Pure.

The tables here say which fields there are; the parser and the JSON Schema (`schema`) follow them.
The first problem is told, with its line and its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from pydantic import JsonValue

from common.errors import InputError
from common.sentences import explain
from common.text import has_cjk, has_hidden
from local_agent.error_texts.playbooks import ERRORS, REASONS
from local_agent.playbooks.strict_yaml import MalformedError, Node, read_yaml
from local_agent.playbooks.tools import TOOLS, ToolSpec, check_arguments
from local_agent.playbooks.values import parse_condition, parse_path, paths_in

Risk = Literal["low", "medium", "high", "critical"]
StepType = Literal["tool", "agent", "gate"]
InputType = Literal["text", "integer", "choice"]
Phase = Literal["pre", "post"]

MAX_FILE_BYTES: Final = 1024 * 1024
MAX_STEPS: Final = 2_000
MAX_NAME_CHARS: Final = 64
MAX_KEYWORDS: Final = 50
MAX_INPUTS: Final = 50
MAX_HOOKS: Final = 16  # of a phase
MAX_TEXT_CHARS: Final = 65_536
MAX_LINE_CHARS: Final = 1_000
NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")  # of a playbook and of a hook

_SECOND_LINE: Final = re.compile(r"^---[ \t]*(?:\n|\Z)", re.MULTILINE)

INPUT_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)

FieldKind = Literal[
    "id", "label", "line", "text", "choice", "words", "steps", "hooks", "names", "args", "paths",
    "inputs", "value",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Field:
    """One key of the front matter, of its hooks or of a step.

    Attributes:
        kind: What may stand there.
        about: What it is for; the JSON Schema tells it.
        required: Whether it must be there; in steps also in which alone.
        only: The types of steps that may have it.
        choices: What it can be, if it is of the kind ``choice``.
    """

    kind: FieldKind
    about: str
    required: bool | StepType = False
    only: tuple[StepType, ...] = get_args(StepType)
    choices: tuple[str, ...] = ()

    def needed(self, step_type: StepType | None = None) -> bool:
        """Tell whether it must be there."""
        return self.required is True or self.required == step_type


PLAYBOOK_FIELDS: Final[Mapping[str, Field]] = {
    "name": Field("id", "Its name; in the playbooks folder that of its file.", True),
    "agent": Field("label", "Who carries it out, for people."),
    "trigger_keywords": Field("words", "Phrases by which a message asks for it."),
    "risk_level": Field(
        "choice", "With high or critical, a gate covers one change alone.", choices=get_args(Risk)
    ),
    "hooks": Field("hooks", "Playbooks of tool steps that run before the steps and after them."),
    "inputs": Field("inputs", "What it is given by name; {inputs.NAME} stands for it."),
    "steps": Field("steps", "What is done, in this order.", True),
}
INPUT_FIELDS: Final[Mapping[str, Field]] = {
    "type": Field("choice", "What it can be.", True, choices=get_args(InputType)),
    "default": Field("value", "What it is where it is not given; without it, it has to be."),
    "choices": Field("words", "Of the type choice: each that it can be."),
    "description": Field("line", "What it is for; whoever is asked for it is told."),
}
HOOK_FIELDS: Final[Mapping[str, Field]] = {
    "pre": Field("names", "Before the first step; where one fails, the run ends."),
    "post": Field("names", "After the last step; where one fails, that is told."),
}
STEP_FIELDS: Final[Mapping[str, Field]] = {
    "name": Field("label", "Its name, which no other step has.", True),
    "type": Field(
        "choice",
        "A tool is called, the model is asked, or a person is.",
        True,
        choices=get_args(StepType),
    ),
    "description": Field("text", "What it is for; the prompt of an agent step without template."),
    "tool": Field("choice", "The tool that is called.", "tool", ("tool",), tuple(TOOLS)),
    "args": Field("args", "What the tool is given.", only=("tool",)),
    "args_from": Field(
        "paths",
        "Where more arguments come from: a path to an object, or a path for each argument.",
        only=("tool",),
    ),
    "condition": Field("line", "PATH, PATH == VALUE or PATH != VALUE; else the step is skipped."),
    "message_template": Field(
        "text", "What is asked; {message} and {PATH} are filled in.", "gate", ("agent", "gate")
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDefinition:
    """One step, with the field names of the seed."""

    name: str
    type: StepType
    description: str = ""
    tool: str | None = None
    args: Mapping[str, JsonValue] = field(default_factory=dict)
    args_from: str | Mapping[str, str] | None = None
    condition: str | None = None
    message_template: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDefinition:
    """A whole playbook, with the field names of the seed.

    Attributes:
        hooks: Names of the hooks of each phase, ``pre`` and ``post``.
        inputs: What it is given by name, each as `INPUT_FIELDS` has it.
        description: The body of the file.
    """

    name: str
    agent: str = ""
    trigger_keywords: tuple[str, ...] = ()
    risk_level: Risk = "medium"
    inputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    steps: tuple[StepDefinition, ...]
    hooks: Mapping[Phase, tuple[str, ...]] = field(default_factory=dict)
    description: str = ""


class TaskParseError(InputError):
    """A playbook cannot be taken as it is written.

    Args:
        file_path: The file, for people.
        why: Names the reason, one of `error_texts.playbooks.REASONS`.
        facts: What the reason tells.

    Attributes:
        message: The reason, in English.
    """

    def __init__(self, file_path: str, why: str, **facts: object) -> None:
        super().__init__("playbook.parse", **facts, why=why, path=file_path)
        self.file_path = file_path
        self.message = explain(InputError(why, **facts), REASONS, "en")

    def __str__(self) -> str:
        """Return the sentence that people read, in English."""
        return explain(self, ERRORS, "en")


def fits(one: Mapping[str, Any], value: object) -> bool:
    """Tell whether an input can have a value."""
    if one["type"] == "integer":
        return re.fullmatch("[+-]?[0-9]{1,18}", str(value)) is not None
    return value in one["choices"] if "choices" in one else isinstance(value, str)


def step_for_a_model(definition: TaskDefinition) -> int:
    """Return the number of the step without whose model nothing would come of a playbook, else 0.

    What has written a file before is of use without it.
    """
    for number, step in enumerate(definition.steps, start=1):
        if step.condition is None and step.tool in ("write_file", "apply_diff"):
            return 0
        if step.condition is None and (step.type == "agent" or step.tool == "propose_change"):
            return number
    return 0


def parse_playbook(
    data: bytes, path: str, *, load_hook: Callable[[str], object] | None = None
) -> TaskDefinition:
    """Return what the file of a playbook says.

    Args:
        data: The file.
        path: Its name, for people.
        load_hook: Called with the name of each hook; raises FileNotFoundError where there is none.

    Raises:
        TaskParseError: the file cannot be taken, or that of a hook cannot.
    """
    return _parse(data, path, _Parser(load_hook))


def parse_hook(data: bytes, path: str) -> TaskDefinition:
    """Return what the file of a hook says: a playbook of tool steps, without hooks of its own.

    Raises:
        TaskParseError: the file cannot be taken.
    """
    return _parse(data, path, _Parser(None, is_hook=True))


def _parse(data: bytes, path: str, parser: _Parser) -> TaskDefinition:
    try:
        front, body = _divide(data)
        return parser.playbook(read_yaml(front, first_line=2), body)
    except MalformedError as error:
        raise TaskParseError(path, error.why, line=error.line, **error.facts) from None


def _divide(data: bytes) -> tuple[str, str]:
    """Return the front matter and the body."""
    if len(data) > MAX_FILE_BYTES:
        raise MalformedError("too-large", limit=MAX_FILE_BYTES)
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise MalformedError("not-utf-8", data.count(b"\n", 0, error.start) + 1) from None
    if not text.strip():
        raise MalformedError("empty-file")
    first, _, rest = text.partition("\n")
    if first.rstrip() != "---":
        raise MalformedError("no-front-matter")
    end = _SECOND_LINE.search(rest)
    if end is None:
        raise MalformedError("open-front-matter")
    return rest[: end.start()], rest[end.end() :].strip()


class _Parser:
    """Goes through the nodes along the tables, and ends at the first that is refused."""

    def __init__(self, load_hook: Callable[[str], object] | None, *, is_hook: bool = False) -> None:
        self._load_hook = load_hook
        self._is_hook = is_hook
        self._names: set[str] = set()  # of all steps
        self._earlier: set[str] = set()  # of those before this one
        self._readers: Mapping[FieldKind, Callable[[Node, str], Any]] = {
            **_READERS,
            "hooks": lambda node, place: self._fields(node, place, HOOK_FIELDS),
            "inputs": self._inputs,
            "names": self._hook_names,
            "steps": self._steps,
        }

    def playbook(self, node: Node, body: str) -> TaskDefinition:
        if node.value is None:
            raise MalformedError("empty-front-matter")
        if not isinstance(node.value, dict):
            raise MalformedError("not-a-mapping")
        if self._is_hook and "hooks" in node.value:
            raise MalformedError("hook-has-hooks", node.value["hooks"].line)
        return TaskDefinition(description=body, **self._fields(node, "", PLAYBOOK_FIELDS))

    def _fields(
        self, node: Node, place: str, table: Mapping[str, Field], of: StepType | None = None
    ) -> dict[str, Any]:
        """Return the values of all keys, each read as its row says."""
        given = _known(node, place, table)
        for key, row in table.items():
            if row.needed(of) and key not in given:
                raise MalformedError("missing-key", node.line, key=_at(place, key))
        return {
            key: self._value(value, _at(place, key), table[key]) for key, value in given.items()
        }

    def _value(self, node: Node, place: str, row: Field) -> Any:
        if row.kind == "choice":
            return _choice(node, place, row.choices)
        return self._readers[row.kind](node, place)

    def _inputs(self, node: Node, place: str) -> dict[str, dict[str, Any]]:
        found = {}
        for name, value in _mapping(node, place).items():
            found[name] = one = self._fields(value, _at(place, name), INPUT_FIELDS)
            is_sound = ("choices" in one) == (one["type"] == "choice")
            is_sound &= "default" not in one or fits(one, one["default"])
            if not is_sound or not INPUT_NAME.fullmatch(name) or len(found) > MAX_INPUTS:
                raise MalformedError("no-input", value.line, key=_at(place, name), limit=MAX_INPUTS)
        return found

    def _hook_names(self, node: Node, place: str) -> tuple[str, ...]:
        if node.value == []:
            return ()  # no hook
        several = node if isinstance(node.value, list) else Node([node], node.line)
        names = _list(several, place, MAX_HOOKS, _identifier)
        if self._load_hook is not None:
            for name in names:
                try:
                    self._load_hook(name)
                except FileNotFoundError:
                    raise MalformedError("no-hook", node.line, key=place, name=name) from None
        return names

    def _steps(self, node: Node, place: str) -> tuple[StepDefinition, ...]:
        items = _items(node, place, MAX_STEPS)
        named = [(_name_of(item) or str(index), item) for index, item in enumerate(items, 1)]
        self._names = {name for name, _ in named}
        return tuple(self._step(item, _at(place, name)) for name, item in named)

    def _step(self, node: Node, place: str) -> StepDefinition:
        given = _known(node, place, STEP_FIELDS)
        kind: StepType | None = None
        if "type" in given:
            kind = self._value(given["type"], _at(place, "type"), STEP_FIELDS["type"])
        for key, value in given.items():
            if kind and kind not in STEP_FIELDS[key].only:
                raise MalformedError("not-for-type", value.line, key=_at(place, key), type=kind)
        step = StepDefinition(**self._fields(node, place, STEP_FIELDS, kind))
        if step.name in self._earlier:
            raise MalformedError("repeated-step", node.line, step=step.name)
        if self._is_hook and step.type != "tool":
            raise MalformedError("hook-step", node.line, step=step.name, type=step.type)
        self._check(step, given, node.line, place)
        self._earlier.add(step.name)
        return step

    def _check(
        self, step: StepDefinition, given: Mapping[str, Node], line: int, place: str
    ) -> None:
        """Require what no single field tells."""
        if step.type == "gate" and not (step.message_template or "").strip():
            raise MalformedError("empty", line, key=_at(place, "message_template"))
        if step.type == "agent" and not (step.message_template or step.description).strip():
            raise MalformedError("no-prompt", line, key=place)
        if step.condition is not None:
            self._check_condition(step.condition, given["condition"].line, _at(place, "condition"))
        if step.args_from is not None:
            self._check_sources(step.args_from, step, given["args_from"], _at(place, "args_from"))
        for path in paths_in(step, self._names):
            if path.step in self._names:
                self._check_path(str(path), step, given["args"].line, _at(place, "args"))
        if step.tool is not None:
            _check_arguments(step, TOOLS[step.tool], given, line, place)

    def _check_condition(self, text: str, line: int, place: str) -> None:
        try:
            parse_condition(text, self._names)
        except InputError:
            raise MalformedError("condition", line, key=place, given=text) from None

    def _check_sources(
        self, sources: str | Mapping[str, str], step: StepDefinition, node: Node, place: str
    ) -> None:
        if isinstance(sources, str):
            self._check_path(sources, step, node.line, place)
            return
        for name, text in sources.items():
            self._check_path(text, step, node.line, _at(place, name))

    def _check_path(self, text: str, step: StepDefinition, line: int, place: str) -> None:
        """Require a path to a step before this one."""
        try:
            wanted = parse_path(text, self._names).step
        except InputError:
            raise MalformedError("path", line, key=place, given=text) from None
        if wanted in self._earlier:
            return
        why = "later-step" if wanted in self._names else "unknown-step"
        why = "own-step" if wanted == step.name else why
        raise MalformedError(why, line, key=place, given=text, step=wanted)


def _check_arguments(
    step: StepDefinition, spec: ToolSpec, given: Mapping[str, Node], line: int, place: str
) -> None:
    """Require that the tool can be called, as far as can be known before the run."""
    to_come = spec.arguments if isinstance(step.args_from, str) else step.args_from or ()
    try:
        check_arguments(spec, step.args, to_come=to_come)
    except InputError as error:
        name, why = str(error.facts["argument"]), error.facts["why"]
        lines = given["args"].value if "args" in given else None
        line = lines[name].line if isinstance(lines, dict) and name in lines else line
        facts = {"key": _at(place, name), "tool": spec.name, "known": tuple(spec.arguments)}
        raise MalformedError(f"argument-{why}", line, **facts) from None


def _at(place: str, key: str) -> str:
    return f"{place} › {key}" if place else key


def _name_of(step: Node) -> str | None:
    """Return the name that a step seems to have."""
    name = step.value.get("name") if isinstance(step.value, dict) else None
    return name.value if name and isinstance(name.value, str) else None


def _mapping(node: Node, place: str) -> dict[str, Node]:
    if not isinstance(node.value, dict):
        raise MalformedError("type-mapping", node.line, key=place)
    return node.value


def _known(node: Node, place: str, table: Mapping[str, Field]) -> dict[str, Node]:
    given = _mapping(node, place)
    for key, value in given.items():
        if key not in table:
            raise MalformedError("unknown-key", value.line, key=_at(place, key), known=tuple(table))
    return given


def _items(node: Node, place: str, most: int) -> list[Node]:
    if not isinstance(node.value, list):
        raise MalformedError("type-list", node.line, key=place)
    if not node.value:
        raise MalformedError("empty", node.line, key=place)
    if len(node.value) > most:
        raise MalformedError("too-many", node.line, key=place, limit=most)
    return node.value


def _list(node: Node, place: str, most: int, read: Callable[[Node, str], str]) -> tuple[str, ...]:
    items = enumerate(_items(node, place, most), 1)
    return tuple(read(item, _at(place, str(index))) for index, item in items)


def _text(node: Node, place: str, most: int = MAX_TEXT_CHARS) -> str:
    if not isinstance(node.value, str):
        raise MalformedError("type-text", node.line, key=place, given=node.value)
    if len(node.value) > most:
        raise MalformedError("too-long", node.line, key=place, limit=most)
    return node.value


def _line(node: Node, place: str) -> str:
    return _text(node, place, MAX_LINE_CHARS)


def _label(node: Node, place: str) -> str:
    text = _text(node, place, MAX_NAME_CHARS)
    if not text.strip():
        raise MalformedError("empty", node.line, key=place)
    if text != text.strip() or not text.isprintable() or has_hidden(text):
        raise MalformedError("label", node.line, key=place, given=text)
    return text


def titles(description: str) -> tuple[str, str]:
    """Return how a description begins, in English and in Chinese.

    That is its heading, where there is one.  One in both languages is written
    ``# English · 中文``; any other is the same for everybody.
    """
    begun = description.strip().partition("\n\n")[0].lstrip("# ")
    en, _, zh = begun.partition(" · ")
    return (en, zh) if has_cjk(zh) and not has_cjk(en) else (begun, begun)


def _identifier(node: Node, place: str) -> str:
    text = _label(node, place)
    if not NAME.fullmatch(text):
        raise MalformedError("identifier", node.line, key=place, given=text)
    return text


def _choice(node: Node, place: str, known: Collection[str]) -> Any:
    text = _text(node, place)
    if text not in known:
        raise MalformedError("choice", node.line, key=place, given=text, known=tuple(known))
    return text


def _arguments(node: Node, place: str) -> JsonValue:
    _mapping(node, place)
    return node.plain()


def _paths(node: Node, place: str) -> str | dict[str, str]:
    if isinstance(node.value, dict):
        return {key: _line(value, _at(place, key)) for key, value in node.value.items()}
    if not isinstance(node.value, str):
        raise MalformedError("type-paths", node.line, key=place)
    return _line(node, place)


_READERS: Final[Mapping[FieldKind, Callable[[Node, str], Any]]] = {
    "id": _identifier,
    "label": _label,
    "line": _line,
    "text": _text,
    "words": lambda node, place: _list(node, place, MAX_KEYWORDS, _label),
    "args": _arguments,
    "paths": _paths,
    "value": lambda node, _place: node.plain(),
}
