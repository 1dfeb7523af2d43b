"""Writes the views as TypeScript, against which the modules of the local page are checked.

    python -m tests.page_types

`tests/unit/local_agent/faces/page/test_types.py` compares the file with what this renders, and has
tsc check the modules (`make page-tools`).  A view is rendered from its fields, as
`local_agent.views` writes and reads it: ``Kept`` has no JSON Schema to start from.
"""

from __future__ import annotations

import inspect
import json
import subprocess
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from local_agent.views import Kept
from local_agent.views.audit import AuditCheck, AuditView
from local_agent.views.files import FileView, FolderView
from local_agent.views.page import PageBoot, PagePlaybooks, PageRows, PageTask
from local_agent.views.settings import SettingsView, WorkspacesView
from local_agent.views.statistics import StatisticsView
from local_agent.views.status import ModelList, PasskeyList, StatusView
from local_agent.views.task import ContextView, RunView

# What the page is told; all that they refer to is written with them.
VIEWS: Final[tuple[type, ...]] = (
    AuditCheck,
    AuditView,
    ContextView,
    FileView,
    FolderView,
    ModelList,
    PageBoot,
    PagePlaybooks,
    PageRows,
    PageTask,
    PasskeyList,
    RunView,
    SettingsView,
    StatisticsView,
    StatusView,
    WorkspacesView,
)

ROOT: Final = Path(__file__).parent.parent
FILE: Final = ROOT / "local_agent/faces/page/static/views.d.ts"
CONFIG: Final = ROOT / "tests/page_tools/tsconfig.json"
TSC: Final = ROOT / ".page-tools/node_modules/typescript/bin/tsc"
WITHIN_S: Final = 60.0
HEAD: Final = """\
// What the agent tells the page.  Written by `python -m tests.page_types`: change the views.
"""
_PLAIN: Final[Mapping[Any, str]] = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    types.NoneType: "null",
    Any: "unknown",
}


def render(views: Iterable[type]) -> str:
    """Return the interfaces of views and of all that they refer to, sorted by name.

    Raises:
        TypeError: A field is of a type that views have not had so far.
        ValueError: Two classes have one name.
    """
    found: dict[type, bool] = {}
    for view in views:
        _collect(view, found, kept=False)
    named: dict[str, type] = {}
    for cls in found:
        if named.setdefault(cls.__name__, cls) is not cls:
            raise ValueError(f"two classes are named {cls.__name__}")
    return "\n".join(
        (HEAD, *(_interface(named[name], kept=found[named[name]]) for name in sorted(named)))
    )


def type_errors(config: Path = CONFIG) -> list[str]:
    """Return what tsc has against the modules that a configuration names, a line for each."""
    argv = ("node", TSC, "--project", config, "--pretty", "false")
    done = subprocess.run(
        argv, cwd=ROOT, capture_output=True, encoding="utf-8", timeout=WITHIN_S, check=False
    )
    told = (done.stdout + done.stderr).splitlines()
    assert bool(told) == bool(done.returncode), (done.returncode, told)
    return told


def _collect(cls: type, found: dict[type, bool], *, kept: bool) -> None:
    """Note a class and those that it refers to, each with whether another version may tell it."""
    if found.get(cls) in (True, kept):
        return
    found[cls] = kept
    for base in _bases(cls):
        _collect(base, found, kept=kept)
    for hint in _own(cls).values():
        for inner, inner_kept in _classes(hint, kept=kept):
            _collect(inner, found, kept=inner_kept)


def _classes(hint: Any, *, kept: bool) -> Iterator[tuple[type, bool]]:
    if isinstance(hint, type) and is_dataclass(hint):
        yield hint, kept
    for argument in get_args(hint):
        yield from _classes(argument, kept=kept or get_origin(hint) is Kept)


def _interface(cls: type, *, kept: bool) -> str:
    own = _own(cls)
    flattened = [get_args(hint)[0] for hint in own.values() if get_origin(hint) is Kept]
    above = ", ".join(base.__name__ for base in (*_bases(cls), *flattened))
    # What has a default may be missing where another version told it.
    may_miss = {one.name for one in fields(cls) if kept and one.default is not MISSING}
    lines = [
        f"  readonly {name}{'?' if name in may_miss else ''}: {_type(hint)};"
        for name, hint in own.items()
        if get_origin(hint) is not Kept
    ]
    summary = (inspect.getdoc(cls) or "").partition("\n")[0]
    begin = f"export interface {cls.__name__}{' extends ' if above else ''}{above} {{"
    return "\n".join((f"/** {summary} */", begin, *lines, "}", ""))


def _bases(cls: type) -> list[type]:
    return [base for base in cls.__bases__ if is_dataclass(base)]


def _own(cls: type) -> dict[str, Any]:
    """Return the types of the fields that a class adds to those it inherits."""
    hints = get_type_hints(cls)
    return {name: hints[name] for name in inspect.get_annotations(cls)}


def _type(hint: Any) -> str:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " | ".join(map(_type, arguments))
    if origin is Literal:
        return " | ".join(map(json.dumps, arguments))
    if origin is tuple and arguments[-1] is Ellipsis:
        return f"ReadonlyArray<{_type(arguments[0])}>"
    if origin is tuple:
        return f"readonly [{', '.join(map(_type, arguments))}]"
    if origin is Mapping:
        return f"Readonly<Record<{_type(arguments[0])}, {_type(arguments[1])}>>"
    if is_dataclass(hint) and isinstance(hint, type):
        return hint.__name__
    if hint not in _PLAIN:
        raise TypeError(f"how a view tells {hint!r} is not known")
    return _PLAIN[hint]


if __name__ == "__main__":
    FILE.write_text(render(VIEWS), encoding="utf-8")
