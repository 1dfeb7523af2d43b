"""Tables of cases that are one test: as `pytest.mark.parametrize`, without a test for every row.

For pure tests with many small cases: a test of its own costs ten times what such a case does.  All
cases run; what fails is reported together, each with its case.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest

Test = Callable[..., None]


def each(names: str, cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Run the test once with each case.

    Args:
        names: Of the arguments that a case gives, as for `pytest.mark.parametrize`.
        cases: A value, or a tuple of values, or a `pytest.param` of them.

    Raises:
        ExceptionGroup: of what failed; a note on each tells its case.
    """
    given = [name.strip() for name in names.split(",")]
    rows = list(cases)
    assert rows, "a table without cases tests nothing"

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)

        @wraps(test)
        def run(**others: Any) -> None:
            failed: list[Exception] = []
            for row in rows:
                values = _values(row, len(given))
                try:
                    test(**others, **dict(zip(given, values, strict=True)))
                except Exception as error:  # noqa: BLE001 - every case is looked at
                    error.add_note(f"case: {values!r}")
                    failed.append(error)
            if failed:
                message = f"{len(failed)} of {len(rows)} cases failed"
                raise ExceptionGroup(message, failed)

        left = [one for name, one in signature.parameters.items() if name not in given]
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]  # what pytest reads
        return run

    return decorate


def _values(row: Any, count: int) -> tuple[Any, ...]:
    if hasattr(row, "marks"):  # a pytest.param
        return tuple(row.values)
    return tuple(row) if count > 1 else (row,)


def few(cases: Iterable[object], each: int) -> list[Any]:
    """Return cases of which every so many belong to all runs of the tests, the others to thorough.

    They show one mechanism each in the same place; that it is there is shown by a few.
    """
    thorough = pytest.mark.thorough
    return [
        pytest.param(case, id=str(case), marks=() if not at % each else thorough)
        for at, case in enumerate(cases)
    ]
