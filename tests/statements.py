"""The statements of both stores, how SQLite executes each, and in how many steps.

Steps are counted by SQLite itself, so they are the same on every machine; a time is not.
"""

from __future__ import annotations

import ast
import importlib
import re
import sqlite3
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from sqlalchemy import Column, Integer, LargeBinary

from gateway import store
from gateway.doctor import local
from gateway.store.schema import metadata
from gateway.store.sqlite import connect
from tests.gateway_desk import fresh_store

GRAIN: Final = 20  # steps between two counts
NAME: Final = re.compile(r"(?<!:):(\w+)")
_VERB: Final = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b")
_Function = ast.FunctionDef | ast.AsyncFunctionDef
# Of what is over and kept: the worst there is for whoever asks for what is not.
_OVER: dict[str, dict[str, object]] = {
    "agents": {"revoked_at": None, "connected_at": None},
    "cards": {"over": 0, "handle": None, "handle_until": None},
    "conversations": {"due_at": 2**40},
    "holds": {"app": "none"},
    "mailbox": {"acked_at": 1_000},
    "members": {"role": "member"},
    "signed_heads": {"seq": 1},
    "outbox": {"state": "sent", "kind": "reply", "ended_at": 1_000, "card": None},
    "tasks": {"reason": "completed", "state": "COMPLETED"},
}
_OF_ONE: dict[str, object] = {
    "agent_id": "agent_id-1",
    "user_id": "user_id-1",
    "app": "main",
    "chat": "",
}
_OWN_KEYS = {"agents", "heads", "members", "conversations"}

# What neither a message nor a machine has to wait for.
MAY_GROW: Final = {
    "agents._ALL": "an admin's listing",
    "agents._DISCONNECT_ALL": "the start",
    "agents._LIVE": "an admin's rotation of the keys",
    "agents._PINNED": "each machine once, in upkeep: 5 ms of ten thousand",
    "agents._SEAL_WITH": "an admin's rotation of the keys",
    "doctor.local._FAILED": "an admin's check",
    "doctor.local._HELD": "an admin's check",
    "mailbox._DEPTHS": "an admin's listing: each machine once, by index",
    "members._LIST": "an admin's listing",
    "members._OF_GROUP": "an admin's command",
    "outbox._LET_ALL_GO": "the start",
    "outbox._LET_GO": "once, when an app sends again: what was held back is due",
    "outbox._PURGE_CONVERSATIONS": "who is written to now; it takes the others out",
    "outbox_admin._LISTED": "an admin's listing",
    "outbox_admin._STANDINGS": "an admin's listing",
    "pairings._PURGE": "the codes of a day",
    "pairings._WIPE": "the codes of a day",
    "runner._KEPT_HEADS": "an admin's check of the audit log",
    "tasks._NEWEST": "an admin's listing",
}


def _modules() -> Iterator[ModuleType]:
    for path in sorted(Path(store.__path__[0]).glob("*.py")):
        yield importlib.import_module(f"gateway.store.{path.stem}")
    yield local


def gateway_statements() -> Iterator[tuple[str, str]]:
    """Yield each statement of the gateway, by its name."""
    for module in _modules():
        short = module.__name__.removeprefix("gateway.").removeprefix("store.")
        for name, value in vars(module).items():
            for text in value if isinstance(value, tuple) else (value,):
                if isinstance(text, str) and name.isupper() and _VERB.match(text):
                    yield f"{short}.{name}", text


def filled_gateway(folder: Path, rows: int) -> sqlite3.Connection:
    """Return a store whose tables hold so many rows of what is over, and one frame that waits."""
    folder.mkdir()
    driver = connect(fresh_store(folder))
    driver.execute("PRAGMA foreign_keys=OFF")
    driver.execute("BEGIN")
    for table in metadata.sorted_tables:
        same: dict[str, object] = {"app": "main", "chat": ""}
        same |= ({} if table.name in _OWN_KEYS else _OF_ONE) | _OVER.get(table.name, {})
        kept = [[_value(column, same, row) for column in table.columns] for row in range(1, rows)]
        slots = ", ".join("?" * len(table.columns))
        driver.executemany(f"INSERT OR IGNORE INTO {table.name} VALUES ({slots})", kept)  # noqa: S608  # our own names
    driver.execute("UPDATE mailbox SET acked_at = NULL WHERE seq = ?", (rows - 1,))
    driver.execute("COMMIT")
    driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return driver


def _value(column: Column[object], same: Mapping[str, object], row: int) -> object:
    if column.name in same:
        return same[column.name]
    if isinstance(column.type, Integer):
        return 1_000 + row if column.name.endswith("_at") else row
    text = f"{column.name}-{row}"
    return text.encode() if isinstance(column.type, LargeBinary) else text


def facts_of(sql: str, rows: int) -> dict[str, object]:
    """Return what to ask such a store: for what came last, or is not there."""
    now = 2**40 - 1
    asked: dict[str, object] = _OF_ONE | {
        "seq": rows - 1,
        "after": rows - 2,
        "limit": 5,
        "before": 1,
        "id": rows,
    }
    asked |= {"task_id": f"task_id-{rows - 1}", "created_s": now, "messages": 9, "queued": 9}
    if sql.strip().startswith("INSERT"):
        asked |= {"seq": rows, "task_id": "new"}
    return {
        name: asked.get(name, now if name.endswith(("at", "now", "since", "until")) else "new")
        for name in NAME.findall(sql)
    }


def plan(driver: sqlite3.Connection, sql: str) -> list[str]:
    """Return how SQLite would execute a statement, step by step."""
    blank = re.sub(r"(?<!:):\w+|\?", "NULL", sql)
    return [str(row[3]) for row in driver.execute(f"EXPLAIN QUERY PLAN {blank}")]


def steps(driver: sqlite3.Connection, sql: str, values: Mapping[str, object]) -> int:
    """Execute a statement, take back what it did, and return how many steps that took."""
    taken = 0

    def count() -> int:
        nonlocal taken
        taken += GRAIN
        return 0

    driver.execute("SAVEPOINT counted")
    driver.set_progress_handler(count, GRAIN)
    try:
        driver.execute(sql, values).fetchall()
    finally:
        driver.set_progress_handler(None, 0)
        driver.execute("ROLLBACK TO counted")
        driver.execute("RELEASE counted")
    return taken


def executed_in(folder: Path, package: str, **given: object) -> Iterator[tuple[str, str]]:
    """Yield each statement that the modules of a folder give to a database, by where it stands.

    What is put together from locals, loops and parameters is followed to what they can be.

    Args:
        folder: Of the modules.
        package: Its name.
        given: What parameters are that only callers elsewhere know.
    """
    for path in sorted(folder.glob("*.py")):
        module = _Module(path, f"{package}.{path.stem}", given)
        for call, function in module.calls("run", "one", "all"):
            if isinstance(call.args[0], ast.Attribute):
                continue  # a function for the journal's thread
            for text in module.values(call.args[0], function):
                if isinstance(text, str) and _VERB.match(text):
                    yield f"{path.stem}.{function.name}", text


class _Module:
    def __init__(self, path: Path, name: str, given: Mapping[str, object]) -> None:
        self._names = {**given, **vars(importlib.import_module(name))}
        tree = ast.parse(path.read_text("utf-8"))
        self._functions = [node for node in ast.walk(tree) if isinstance(node, _Function)]

    def calls(self, *methods: str) -> Iterator[tuple[ast.Call, _Function]]:
        for function in self._functions:
            for node in ast.walk(function):
                match node:
                    case ast.Call(func=ast.Attribute(attr=attr), args=[_, *_]) if attr in methods:
                        yield node, function

    def values(self, node: ast.expr, function: _Function) -> Iterator[Any]:
        used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        local = {name: list(self._of(name, function)) for name in sorted(used)}
        local = {name: found for name, found in local.items() if found}
        for chosen in product(*local.values()):
            code = compile(ast.Expression(node), function.name, "eval")
            names = {**self._names, **dict(zip(local, chosen, strict=True))}
            yield eval(code, names)  # noqa: S307  # an expression of our own modules

    def _of(self, name: str, function: _Function) -> Iterator[Any]:
        for node in ast.walk(function):
            match node:
                case ast.Assign(targets=[ast.Name(id=found)]) if found == name:
                    yield from self.values(node.value, function)
                case ast.For(target=ast.Name(id=found)) if found == name:
                    for many in self.values(node.iter, function):
                        yield from many
        places = [argument.arg for argument in function.args.args[1:]]
        if name in places:
            for call, caller in self.calls(function.name):
                yield from self.values(call.args[places.index(name)], caller)
