"""The tools that a step may name: their arguments, and which of them change something.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from common.errors import InputError
from common.seal import Action
from common.sentences import Sentence

Kind = Literal["text", "integer", "number", "texts"]


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a tool."""

    kind: Kind
    required: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool.

    Attributes:
        action: What a person approves before it acts; None where it only reads.
        summary: What it does, for people.
    """

    name: str
    arguments: Mapping[str, Argument]
    action: Action | None
    summary: Sentence


def _spec(
    name: str, summary: Sentence, action: Action | None = None, **arguments: Argument
) -> tuple[str, ToolSpec]:
    return name, ToolSpec(name=name, arguments=arguments, action=action, summary=summary)


_TEXT: Final = Argument("text")
_PERHAPS: Final = Argument("text", required=False)
_COUNT: Final = Argument("integer", required=False)

TOOLS: Final[Mapping[str, ToolSpec]] = dict(
    (
        _spec("read_file", Sentence(en="reads a file", zh="读取文件"), path=_TEXT),
        _spec("list_files", Sentence(en="lists files", zh="列出文件"), glob=_TEXT),
        _spec("search", Sentence(en="searches files", zh="搜索文件"), query=_TEXT, glob=_PERHAPS),
        _spec("git_status", Sentence(en="reads the git status", zh="读取 git 状态")),
        _spec(
            "git_log",
            Sentence(en="reads the git log", zh="读取 git 日志"),
            since=_PERHAPS,
            limit=_COUNT,
        ),
        _spec(
            "git_diff",
            Sentence(en="compares commits", zh="比较提交"),
            base=_TEXT,
            head=_PERHAPS,
        ),
        _spec(
            "propose_change",
            Sentence(en="has the model propose a change", zh="让模型提出改动"),
            request=_TEXT,
        ),
        _spec(
            "write_file",
            Sentence(en="writes a file", zh="写入文件"),
            "apply_diff",
            path=_TEXT,
            content=_TEXT,
        ),
        _spec(
            "apply_diff", Sentence(en="applies a diff", zh="应用 diff"), "apply_diff", diff=_TEXT
        ),
        _spec(
            "run_command",
            Sentence(en="runs a command", zh="运行命令"),
            "run_command",
            argv=Argument("texts"),
            cwd=_PERHAPS,
            timeout_s=_COUNT,
        ),
    )
)


def check_arguments(spec: ToolSpec, given: Mapping[str, object]) -> None:
    """Return when a tool can be given these arguments.

    Raises:
        InputError: ``playbook.argument`` with ``tool``, ``argument`` and ``why``: ``missing``,
            ``unknown`` or ``type``.
    """
    for name, argument in spec.arguments.items():
        if argument.required and name not in given:
            raise InputError("playbook.argument", tool=spec.name, argument=name, why="missing")
    for name, value in given.items():
        if name not in spec.arguments:
            raise InputError("playbook.argument", tool=spec.name, argument=name, why="unknown")
        if not _is_of(spec.arguments[name].kind, value):
            raise InputError("playbook.argument", tool=spec.name, argument=name, why="type")


def _is_of(kind: Kind, value: object) -> bool:
    if kind == "text":
        return isinstance(value, str)
    if kind == "texts":
        return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
    whole = isinstance(value, int) and not isinstance(value, bool)
    return whole or (kind == "number" and isinstance(value, float))
