"""Trying a proposed change out before it is decided on: the workspace's tests, on a copy.

A check is a task of its own, asked at this machine: it goes the same way as every command, and is
sealed and approved like one (P1).  What it runs on is a copy (`actions.run_command.copies`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

from common.errors import ConfigError, InputError, StateError
from common.ids import new_short_id, new_uuid
from common.seal import Seal
from common.verbs import Topic
from local_agent.flow.approvals import check_standing, question
from local_agent.flow.journal_store import JournalStore
from local_agent.flow.ports import Workspaces
from local_agent.flow.task import submit_named
from local_agent.store.tasks import NewTask, Task
from local_agent.workspace.git.outside import unshown
from local_agent.workspace.registry import Workspace

CHANNEL: Final = "check"

Submit = Callable[[NewTask], Coroutine[Any, Any, Task]]


class Checking:
    """Begins checks.

    Args:
        store: Where tasks and approvals are.
        workspaces: Which test command is whose.
        prefix: The word that addresses the bot.
        user: Who sits at this machine, for the record.
        sandbox: Level that the self-test at start proved; nothing but ``bubblewrap`` can put a
            copy in the workspace's place.
        allowed: False refuses every command (setting ``allow_run_terminal``).
        default_test_command: For workspaces that name none.
    """

    def __init__(
        self,
        *,
        store: JournalStore,
        workspaces: Workspaces,
        prefix: str,
        user: str,
        sandbox: str,
        allowed: bool,
        default_test_command: str | None,
    ) -> None:
        self._store = store
        self._workspaces = workspaces
        self._prefix = prefix
        self._user = user
        self._sandbox = sandbox
        self._allowed = allowed
        self._default = default_test_command

    def possible(self, seal: Seal) -> bool:
        """Tell whether what is sealed can be tried out.  Blocking."""
        try:
            self._workspace(seal)
        except (InputError, StateError, ConfigError):
            return False
        return True

    async def begin(self, approval_id: str, digest: str, submit: Submit) -> Task:
        """Begin the check of a change that waits, and return its task; one at a time.

        Args:
            submit: Writes a task and begins it.

        Raises:
            StateError: ``approval.unknown``, ``approval.not-pending``, ``check.not-a-change``,
                ``check.not-sandboxed``, ``check.no-command``, ``check.runs-off``,
                ``check.no-git`` (path).
            InputError: ``approval.digest-mismatch``: another question stands by now.
        """
        asked = await self._store.approval(approval_id)
        check_standing(asked, digest)
        older = await self._store.newest_check(approval_id)
        if older is not None and older.reason is None:
            return older
        seal = question(asked).seal
        workspace = await asyncio.to_thread(self._workspace, seal)
        changed = await self._store.get(asked.task_id)
        task_id = new_uuid()
        new = NewTask(
            task_id=task_id,
            short_id=new_short_id("agent"),
            source="local_ui",
            channel=CHANNEL,
            claimed_user=self._user,
            thread_id=task_id,
            text=f"{self._prefix} {Topic.TEST}",
            lang=changed.lang,
            workspace=workspace.name,
            checks=approval_id,
        )
        return await submit_named(submit, new)

    def _workspace(self, seal: Seal) -> Workspace:
        """Return the workspace in which it can be tried out."""
        if seal.action != "apply_diff":
            raise StateError("check.not-a-change")
        if self._sandbox != "bubblewrap":
            raise StateError("check.not-sandboxed")
        if not self._allowed:
            raise StateError("check.runs-off")
        workspace = self._workspaces.at(seal.workspace.path)
        if workspace is None or not (workspace.test_command or self._default):
            raise StateError("check.no-command")
        if (place := unshown(workspace)) is not None:
            # What the sandbox lacks would be said to be wrong with the change.
            raise StateError("check.no-git", path=place, workspace=workspace.path)
        return workspace
