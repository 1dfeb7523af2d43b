"""What the gateway remembers: one schema, plain functions on one connection, a runner per engine.

Here stands what a store function is given, a connection inside a transaction, and what offers it: a
store.  A store function is plain: ``fn(conn, …)``.  It never waits, never commits and never reads
the clock; the runner of an engine does the first two, and time comes in as an argument.  A runner
may undo what it did and call it again.

Nothing in this package waits on the network, and nothing in it knows a sentence for people.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")


class Row(Protocol):
    """One row; columns by name."""

    def __getitem__(self, name: str, /) -> Any:
        """Return the value of a column."""
        ...


class Connection(Protocol):
    """One connection inside one transaction.  Parameters are named, ``:user_id`` in the text."""

    def run(self, sql: str, /, **params: object) -> int:
        """Execute and return the number of rows that were changed."""
        ...

    def one(self, sql: str, /, **params: object) -> Row | None:
        """Execute and return the first row."""
        ...

    def all(self, sql: str, /, **params: object) -> list[Row]:
        """Execute and return every row."""
        ...


class Store(Protocol):
    """Runs store functions, each as a whole or not at all."""

    async def write(
        self, fn: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run ``fn`` in a durable transaction; returns after the commit.

        Raises:
            StoreError: nothing was changed.
        """
        ...

    async def write_unsynced(
        self, fn: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run ``fn`` in a transaction that the next durable one makes durable with it.

        The death of the process never undoes it; a power cut does until then (what PostgreSQL calls
        an asynchronous commit).

        Raises:
            StoreError: nothing was changed.
        """
        ...

    async def sync(self) -> None:
        """Make durable what `write_unsynced` has written.

        Raises:
            StoreError: the disk refused.
        """
        ...

    async def read(
        self, fn: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run ``fn`` on one consistent view that it cannot change.

        Raises:
            StoreError: the view could not be had.
        """
        ...


_NAMES: dict[type[Any], tuple[str, ...]] = {}


def as_record(record: type[T], row: Row) -> T:
    """Return a row as a dataclass whose fields are named like columns; others are left out.

    So a column that a later version adds disturbs no reader of this one.
    """
    kind = cast("type[Any]", record)
    names = _NAMES.get(kind)
    if names is None:
        names = _NAMES[kind] = tuple(field.name for field in fields(kind))
    return record(*[row[name] for name in names])
