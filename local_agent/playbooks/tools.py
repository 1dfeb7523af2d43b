"""The tools that a step may name: what each is given, and whether it changes anything.  Pure.

What they do stands elsewhere; which of them ask is decided by `ToolSpec.action` alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from common.errors import InputError
from common.seal import Action
from common.sentences import Sentence

Kind = Literal["text", "integer", "number", "texts"]  # texts: a list of text, not empty


@dataclass(frozen=True, slots=True)
class Argument:
    """What a tool is given under one name."""

    kind: Kind
    required: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """One tool.

    Attributes:
        name: As a playbook writes it.
        arguments: What it is given, by name.
        action: What a person approves before it acts; None where it only reads.
        summary: What it does, for people.
    """

    name: str
    arguments: Mapping[str, Argument]
    action: Action | None
    summary: Sentence


def check_arguments(
    spec: ToolSpec, given: Mapping[str, object], *, to_come: Collection[str] = ()
) -> None:
    """Require that a tool can be called with these arguments.

    Args:
        spec: The tool.
        given: Its arguments by name.
        to_come: Names that will be given later, so that none of them is missing.

    Raises:
        InputError: ``playbook.argument`` (tool, argument, why: ``unknown``, ``missing``, or of a
            wrong type ``text``, ``integer``, ``number``, ``texts``).
    """
    for name in (*given, *to_come):
        if name not in spec.arguments:
            raise InputError("playbook.argument", tool=spec.name, argument=name, why="unknown")
    for name, argument in spec.arguments.items():
        if name in given and not _FITS[argument.kind](given[name]):
            raise InputError("playbook.argument", tool=spec.name, argument=name, why=argument.kind)
        if argument.required and name not in given and name not in to_come:
            raise InputError("playbook.argument", tool=spec.name, argument=name, why="missing")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_integer(value: object) -> bool:
    return type(value) is int  # a bool is an int to Python, and never to a playbook


def _is_number(value: object) -> bool:
    return _is_integer(value) or (isinstance(value, float) and math.isfinite(value))


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_text, value))


_FITS: Final[Mapping[Kind, Callable[[object], bool]]] = {
    "text": _is_text,
    "integer": _is_integer,
    "number": _is_number,
    "texts": _is_texts,
}
_TEXT: Final = Argument("text")
_MAY_TEXT: Final = Argument("text", required=False)


def _tool(
    name: str, en: str, zh: str, action: Action | None = None, /, **arguments: Argument
) -> ToolSpec:
    return ToolSpec(name=name, arguments=arguments, action=action, summary=Sentence(en=en, zh=zh))


TOOLS: Final[Mapping[str, ToolSpec]] = {
    tool.name: tool
    for tool in (
        _tool("read_file", "reads a file", "读取文件", path=_TEXT),
        _tool("list_files", "lists files by a pattern", "按模式列出文件", glob=_TEXT),
        _tool("search", "looks for text in files", "在文件中查找文本", query=_TEXT, glob=_MAY_TEXT),
        _tool("git_tags", "lists tags", "列出标签", limit=Argument("integer", required=False)),
        _tool("git_status", "tells the branch and what was changed", "查看分支和改动的文件"),
        _tool(
            "git_log",
            "lists commits",
            "列出提交",
            since=_MAY_TEXT,
            limit=Argument("integer", required=False),
        ),
        _tool("git_diff", "compares two revisions", "比较两个版本", base=_TEXT, head=_MAY_TEXT),
        _tool(
            "propose_change",
            "has the model propose a change, and changes nothing",
            "由模型提出改动方案，不作任何改动",
            request=_TEXT,
        ),
        _tool("write_file", "writes a file", "写入文件", "apply_diff", path=_TEXT, content=_TEXT),
        _tool("apply_diff", "applies a diff", "应用 diff", "apply_diff", diff=_TEXT),
        _tool(
            "run_command",
            "runs a command",
            "运行命令",
            "run_command",
            argv=Argument("texts"),
            cwd=_MAY_TEXT,
            timeout_s=Argument("number", required=False),
            stdin=_MAY_TEXT,
        ),
        _tool(
            "workspace_test",
            "runs the workspace's own test command",
            "运行工作区自己的测试命令",
            "run_command",
        ),
    )
}
