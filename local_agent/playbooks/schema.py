"""The JSON Schema of the front matter, for editors: made of the tables that the parser reads by.

It tells the structure.  What no schema can, such as paths to earlier steps, the parser alone does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from common.sentences import say
from local_agent.playbooks.definition import (
    HOOK_FIELDS,
    INPUT_FIELDS,
    INPUT_NAME,
    MAX_HOOKS,
    MAX_KEYWORDS,
    MAX_LINE_CHARS,
    MAX_NAME_CHARS,
    MAX_STEPS,
    MAX_TEXT_CHARS,
    NAME,
    PLAYBOOK_FIELDS,
    STEP_FIELDS,
    Field,
    FieldKind,
    StepType,
)
from local_agent.playbooks.tools import TOOLS, Kind, ToolSpec

Schema = dict[str, Any]

_IDENTIFIER: Final[Schema] = {"type": "string", "pattern": f"^{NAME.pattern}$"}
_LABEL: Final[Schema] = {"type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARS}
_LINE: Final[Schema] = {"type": "string", "minLength": 1, "maxLength": MAX_LINE_CHARS}
_ARGUMENTS: Final[Mapping[Kind, Schema]] = {
    "text": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "texts": {"type": "array", "minItems": 1, "items": {"type": "string"}},
}


def _array(items: Schema, most: int) -> Schema:
    return {"type": "array", "minItems": 1, "maxItems": most, "items": items}


_KINDS: Final[Mapping[FieldKind, Schema]] = {
    "id": _IDENTIFIER,
    "label": _LABEL,
    "line": _LINE,
    "text": {"type": "string", "maxLength": MAX_TEXT_CHARS},
    "words": _array(_LABEL, MAX_KEYWORDS),
    "names": {"anyOf": [_IDENTIFIER, _array(_IDENTIFIER, MAX_HOOKS), {"const": []}]},
    "value": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    "args": {"type": "object"},
    "paths": {"anyOf": [_LINE, {"type": "object", "additionalProperties": _LINE}]},
}


def schema() -> Schema:
    """Return what a front matter may hold."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "CodexBridge playbook",
        **_object(PLAYBOOK_FIELDS),
    }


def _object(table: Mapping[str, Field], step_type: StepType | None = None) -> Schema:
    return {
        "type": "object",
        "properties": {key: {"description": row.about, **_of(row)} for key, row in table.items()},
        "required": [key for key, row in table.items() if row.needed(step_type)],
        "additionalProperties": False,
    }


def _of(row: Field) -> Schema:
    match row.kind:
        case "choice":
            return {"enum": list(row.choices)}
        case "steps":
            return _array({"oneOf": _steps()}, MAX_STEPS)
        case "inputs":
            named = {"propertyNames": {"pattern": f"^{INPUT_NAME.pattern}$"}}
            return {"type": "object", "additionalProperties": _object(INPUT_FIELDS), **named}
        case "hooks":
            return _object(HOOK_FIELDS)
        case _:
            return _KINDS[row.kind]


def _steps() -> list[Schema]:
    """Return the step of each tool, and those of the other types."""
    steps = [_step("tool", tool) for tool in TOOLS.values()]
    return [*steps, _step("agent"), _step("gate")]


def _step(step_type: StepType, tool: ToolSpec | None = None) -> Schema:
    rows = {key: row for key, row in STEP_FIELDS.items() if step_type in row.only}
    step = _object(rows, step_type)
    properties = step["properties"]
    properties["type"] = {"description": rows["type"].about, "const": step_type}
    if tool is None:
        return step
    properties["tool"] = {"description": say(tool.summary, "en"), "const": tool.name}
    properties["args"] = {
        "description": rows["args"].about,
        "type": "object",
        "properties": {name: _ARGUMENTS[given.kind] for name, given in tool.arguments.items()},
        "additionalProperties": False,
    }
    if required := [name for name, given in tool.arguments.items() if given.required]:
        given = {"required": ["args"], "properties": {"args": {"required": required}}}
        step["anyOf"] = [given, {"required": ["args_from"]}]
    return step
