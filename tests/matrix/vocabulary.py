"""Everything that either half can write down, read from its source: what the matrix must have met.

Audit events are found by where `append` of an audit log is named.  Who invents a way of naming them
that is not understood here gets an error, never a silent gap.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final, get_args

from common.model.state import Reason, TaskState, final_of
from common.protocol.frames import EnvelopeType
from gateway.flow.alarms import LIFECYCLE
from local_agent.store.approvals import State
from local_agent.store.outbox import Kind

ROOT: Final = Path(__file__).parents[2]
_EVENT: Final = re.compile(r"[a-z][a-z-]*\.[a-z][a-z-]*")
# Functions that are told the event from another module; each new one must be written down here.
_TOLD: Final = {
    "gateway/flow/alarms.py:announce": tuple(dict.fromkeys(LIFECYCLE.values())),
    "gateway/flow/alarms.py:_record": (
        "agent.malformed-frame",
        "agent.taken-over",
        "agent.too-fast",
        "agent.wrong-key",
        "pairing.unknown-code",
        "pairing.used-again",
        "pairing.wrong-proof",
        "store.was-full",
    ),
    "gateway/store/outbox_admin.py:_changed": ("outbox.dropped", "outbox.retried"),
}
_LOGS: Final = frozenset({"audit", "_audit"})
_OF_HALF: Final = {"gateway": "gateway", "local_agent": "agent"}

# What no scenario meets, and why no moment of its own is missed.
_HOSTILE = "only a hostile or broken peer brings it about; one transaction, without any effect"
_TAMPERED = "only a journal that was changed from outside brings it about, without any effect"
_PASSKEY = "one transaction without any effect; no scenario has an authenticator"
_SETTING_UP = "tests/e2e/test_gateway_init.py kills at every write of a gateway that is set up"
_OF_APP = "WeCom says it of an app; one transaction, without any effect"
_OF_ADMIN = "a command of an admin; one transaction, without any effect"
NO_MOMENT: Final[dict[tuple[str, str], str]] = {
    ("agent", "audit+approval.tampered"): _TAMPERED,
    ("agent", "audit+inbox.repeated-id"): _HOSTILE,
    ("agent", "audit+inbox.task-again"): _HOSTILE,
    ("agent", "audit+audit.forked"): _HOSTILE,
    ("agent", "audit+gateway.rekey-refused"): _HOSTILE,
    **{
        ("agent", f"audit+passkey.{what}"): _PASSKEY
        for what in ("added", "used", "removed", "cloned")
    },
    ("gateway", "audit+member.greeted"): _SETTING_UP,
    **{("gateway", f"audit+{event}"): _OF_APP for event in LIFECYCLE.values()},
    ("gateway", "audit+outbox.dropped"): _OF_ADMIN,
    ("gateway", "audit+outbox.retried"): _OF_ADMIN,
    ("gateway", "audit+audit.forked"): _HOSTILE,
    ("gateway", "audit+audit.signed-anew"): _HOSTILE,
    ("gateway", "audit+agent.too-fast"): _HOSTILE,
    ("gateway", "audit+agent.wrong-key"): _HOSTILE,
    ("gateway", "audit+agent.malformed-frame"): _HOSTILE,
    ("gateway", "audit+agent.taken-over"): _HOSTILE,
    ("gateway", "audit+pairing.unknown-code"): _HOSTILE,
    ("gateway", "audit+pairing.used-again"): _HOSTILE,
    ("gateway", "audit+pairing.wrong-proof"): _HOSTILE,
    ("gateway", "audit+store.was-full"): _HOSTILE,
    ("gateway", "audit+result.refused-too-often"): _HOSTILE,
}

Function = ast.FunctionDef | ast.AsyncFunctionDef
Item = tuple[str, str]  # half, what it writes


@dataclass(frozen=True, slots=True)
class _Module:
    """One file of the product."""

    path: Path
    tree: ast.Module

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    def constant(self, name: str) -> str:
        """Return a constant's text, wherever it was imported from; empty when it has none."""
        module = importlib.import_module(self.name.removesuffix(".py").replace("/", "."))
        value = vars(module).get(name)
        return value if isinstance(value, str) else ""

    def functions(self) -> Iterator[Function]:
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))


def audit_events() -> dict[Item, str]:
    """Return every audit event of either half, and where it is named.

    Raises:
        AssertionError: an entry is appended whose name cannot be told from the source.
    """
    found: dict[Item, str] = {}
    for package, half in _OF_HALF.items():
        for path in sorted((ROOT / package).rglob("*.py")):
            module = _Module(path, ast.parse(path.read_text(encoding="utf-8")))
            for function in module.functions():
                if not _appends(function, module):
                    continue
                where = f"{module.name}:{function.name}"
                names = {
                    *_events(function, module),
                    *_passed_in(function, module),
                    *_TOLD.get(where, ()),
                }
                assert names, f"{where}: what does it append to the audit log?"
                found |= {(half, f"audit+{name}"): where for name in names}
    return found


def states() -> dict[Item, str]:
    """Return every state, outcome, approval state and kind of envelope, as they are noted."""
    outcomes = [f"tasks~{final_of(reason)[0]},{reason}" for reason in Reason]
    entered = [f"tasks~{state}" for state in TaskState if not _is_final(state)]
    entered[0] = f"tasks+{TaskState.RECEIVED}"
    both = {(half, what): "TaskState" for half in ("agent", "gateway") for what in entered}
    both |= {(half, what): "Reason" for half in ("agent", "gateway") for what in outcomes}
    decided = {("agent", f"approvals~{state}"): "State" for state in get_args(State)}
    decided[("agent", "approvals+pending")] = decided.pop(("agent", "approvals~pending"))
    ours = set(get_args(Kind))
    sealed = {
        ("agent" if typ in ours else "gateway", f"frame {typ}"): "EnvelopeType"
        for typ in get_args(EnvelopeType)
    }
    return both | decided | sealed


def met(moments: Iterator[tuple[str, str]]) -> set[Item]:
    """Return what the noted ``(part, event)`` hold; commands of an admin write as the gateway."""
    found: set[Item] = set()
    for part, event in moments:
        half = "gateway" if part == "admin" else part
        if event.startswith("frame "):
            found.add((half, " ".join(event.split()[:2])))
        else:
            found |= {(half, what) for what in event.split()}
    return found


def _is_final(state: TaskState) -> bool:
    return any(final_of(reason)[0] is state for reason in Reason)


def _appends(function: Function, module: _Module) -> bool:
    is_log = module.path.stem in _LOGS
    return any(
        (
            isinstance(node, ast.Attribute)
            and node.attr.startswith("append")
            and _last_name(node.value) in _LOGS
        )
        or (is_log and isinstance(node, ast.Call) and _called(node) == "append")
        for node in ast.walk(function)
    )


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _events(function: Function, module: _Module) -> Iterator[str]:
    """Yield the dotted names in a function, but for those of errors it raises or compares."""
    other = [node for node in ast.walk(function) if isinstance(node, ast.Raise | ast.Compare)]
    errors = {id(inner) for node in other for inner in ast.walk(node)}
    for node in ast.walk(function):
        if id(node) not in errors:
            yield from filter(_EVENT.fullmatch, _texts(node, function, module))


def _passed_in(function: Function, module: _Module) -> Iterator[str]:
    """Yield the names with which a function that is told the event is called in its module."""
    for caller in module.functions():
        for node in ast.walk(caller):
            if isinstance(node, ast.Call) and _last_name(node.func) == function.name:
                for argument in (*node.args, *(word.value for word in node.keywords)):
                    yield from filter(_EVENT.fullmatch, _texts(argument, caller, module))


def _texts(node: ast.AST, function: Function, module: _Module) -> Iterator[str]:
    """Yield what a constant, a constant's name or an f-string can be."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.Name(id=name) if name.isupper():
            yield module.constant(name)
        case ast.JoinedStr(values=values):
            parts = [list(_part(value, function, module)) for value in values]
            yield from map("".join, product(*parts))


def _part(node: ast.expr, function: Function, module: _Module) -> Iterator[str]:
    """Yield what a part of an f-string can be: itself, or each value of a parameter's Literal."""
    match node:
        case ast.Constant(value=text):
            yield str(text)
        case ast.FormattedValue(value=ast.Name(id=name)):
            arguments = (*function.args.args, *function.args.kwonlyargs)
            annotation = next((a.annotation for a in arguments if a.arg == name), None)
            yield from _literals(annotation, module)


def _literals(annotation: ast.expr | None, module: _Module) -> Iterator[str]:
    match annotation:
        case ast.Name(id=name):
            for node in module.tree.body:
                if isinstance(node, ast.Assign) and _last_name(node.targets[0]) == name:
                    yield from _literals(node.value, module)
        case ast.Subscript(value=ast.Name(id="Literal"), slice=values):
            inner = values.elts if isinstance(values, ast.Tuple) else [values]
            yield from (str(value.value) for value in inner if isinstance(value, ast.Constant))
