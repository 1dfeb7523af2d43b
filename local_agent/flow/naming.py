"""Short IDs for tasks that begin at this machine."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, Final

from common.errors import StoreError
from common.ids import new_short_id
from local_agent.flow.ports import NewTask
from local_agent.store.tasks import Task

ID_LENGTHS: Final = (4, 4, 5, 5)  # of the short IDs tried when one is taken


async def submit_named(
    submit: Callable[[NewTask], Coroutine[Any, Any, Task]], new: NewTask
) -> Task:
    """Submit a task, under another short ID where its own is taken.

    Raises:
        StoreError: ``store.short-id-taken``: so were all that were tried; ``store.failed``.
    """
    for length in ID_LENGTHS:
        try:
            return await submit(new)
        except StoreError as error:
            if error.code != "store.short-id-taken":
                raise
        new = replace(new, short_id=new_short_id("agent", length=length))
    return await submit(new)
