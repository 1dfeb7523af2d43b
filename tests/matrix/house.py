"""One installation whose parts are forked, killed and revived: what scenarios are told in.

A `House` remembers what the outside saw, and each of its verbs goes on through any death: `until`
revives whatever was killed, and what a kill interrupted is done again, as a person would.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import threading
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self, TypeVar, cast

from common.errors import CodexBridgeError
from common.home import find_home
from common.model.state import TaskState
from local_agent.control.client import call
from tests import truth
from tests.e2e.place import CODE, Place, Terminal
from tests.matrix.forks import Fork, Watch, Zygote
from tests.truth import Evidence, asking, mark_of

T = TypeVar("T")
Kill = tuple[str, str, str, int]  # part, event, phase, nth

PATIENCE_S: Final = 30.0
LOOK_S: Final = 0.01
AWAY: Final = ("agent.not-running", "agent.no-answer")
MEMBER: Final = "zhangwei"
PARTS: Final = ("simulator", "gateway", "agent")  # in the order in which they start
WATCHED: Final = frozenset({"gateway", "agent", "admin", "pair"})


@dataclass
class House(Running):
    """X"""

    # what is remembered

    def task(self, mark: str) -> dict[str, Any]:
        """Return the agent's task of a mark; empty while it has none."""
        return next((task for task in self.tasks() if mark_of(task["text"]) == mark), {})

    def gateway_task(self, mark: str) -> dict[str, Any]:
        """Return the gateway's task of a mark; empty while it has none."""
        found = (task for task in self.gateway_tasks() if mark_of(task["text"]) == mark)
        return next(found, {})

    # verbs

    def deliver(self, text: str, *, user: str = MEMBER) -> None:
        """Let a member write, and WeCom deliver it again until it is answered with 200."""
        msg_id = str(time.time_ns())

        def delivered() -> bool:
            try:
                return self.place.callback(text, user=user, msg_id=msg_id) == 200
            except OSError:
                return False

        self.until(delivered)

    def ask(self, mark: str, *, user: str = MEMBER) -> None:
        """Let a member ask for a command that leaves a mark."""
        self.deliver(asking(mark), user=user)
        self.accepted.append(asking(mark))

    def reaches(self, mark: str, state: TaskState) -> dict[str, Any]:
        """Wait until the agent's task is in a state, or has ended, and return it."""

        def look() -> dict[str, Any]:
            task = self.task(mark)
            return task if task and (task["state"] == state or task["reason"]) else {}

        return self.until(look)

    def approve(self, mark: str) -> None:
        """Approve as often as it is asked, until the task executes or has ended."""

        def approved() -> bool:
            task = self.reaches(mark, TaskState.WAITING_APPROVAL)
            if task["reason"] is None and task["state"] == TaskState.WAITING_APPROVAL:
                self._approve_once(mark, task["short_id"])
            return self._is_beyond_waiting(mark)

        self.until(approved)

    def _approve_once(self, mark: str, short_id: str) -> None:
        with Hands(self, "approve", short_id) as hands:
            self._terminal = hands.fork
            try:
                shown = hands.read_until(":", after=CODE, seconds=PATIENCE_S)
            except AssertionError:
                return  # the agent died, or nothing waits any more; the command said so and ended
            code = CODE.search(shown)
            assert code, shown
            with contextlib.suppress(OSError):  # the terminal itself was killed
                hands.type(code[0] if "both groups" in shown else code[1])
            self._look(lambda: hands.fork.poll() is not None or self._is_beyond_waiting(mark))

    def _is_beyond_waiting(self, mark: str) -> bool:
        task = self.task(mark)
        return task["reason"] is not None or task["state"] == TaskState.EXECUTING

    def reject(self, mark: str) -> None:
        """Reject at the machine, until the task has ended."""

        def rejected() -> bool:
            task = self.reaches(mark, TaskState.WAITING_APPROVAL)
            if task["reason"] is None:
                self.command("terminal", "reject", task["short_id"], "--reason", "not today")
            return self.task(mark)["reason"] is not None

        self.until(rejected)

    def mistype(self, mark: str) -> None:
        """Try wrong codes at the machine until no more are taken, or it waits no longer."""

        def refused() -> bool:
            task = self.reaches(mark, TaskState.WAITING_APPROVAL)
            waiting = truth.pending(self.journal)
            digest = next((one.digest for one in waiting.values()), "")
            try:
                self._decide(task["short_id"], digest)
            except CodexBridgeError as error:
                return error.code not in ("approval.code-mismatch", *AWAY)
            return True

        self.until(refused)

    def _decide(self, short_id: str, digest: str) -> None:
        decision = {"approval_id": short_id, "digest": digest, "decision": "approve"}
        call(find_home(self.environ), self.environ, "decide", **decision, typed="no", reason="")

    def cancel(self, mark: str) -> None:
        """Let its member cancel a task in the chat."""
        task = self.gateway_task(mark)
        self.deliver(f"@dev cancel {task['short_id']}", user=task["user_id"])

    def cancel_here(self, mark: str) -> None:
        """Cancel at the machine what is open of a mark, until it has ended."""

        def cancelled() -> bool:
            still = [task for task in self._all_of(mark) if task["reason"] is None]
            for task in still:
                self.command("terminal", "cancel", task["short_id"])
            return not still

        self.until(cancelled)

    def ask_here(self, mark: str) -> None:
        """Ask at the machine, until the agent knows of it."""

        def asked() -> bool:
            if not self.task(mark):
                with Hands(self, "ask", asking(mark)) as hands:
                    self._look(lambda: hands.fork.poll() is not None or self.task(mark))
            return bool(self.task(mark))

        self.until(asked)

    def retry_here(self, mark: str) -> None:
        """Ask once more at the machine for what has ended, until there is a second task."""

        def retried() -> bool:
            if len(self._all_of(mark)) == 1:
                self._retry_once(mark)
            return len(self._all_of(mark)) > 1

        self.until(retried)

    def _retry_once(self, mark: str) -> None:
        task = self.task(mark)
        with Hands(self, "retry", task["short_id"]) as hands:
            if task["reason"] == "unknown":
                with contextlib.suppress(AssertionError):  # the agent died before it was asked
                    hands.read_until(":", after=re.compile("yes"))
                    hands.type("yes")
            self._look(lambda: hands.fork.poll() is not None or len(self._all_of(mark)) > 1)

    def _all_of(self, mark: str) -> list[dict[str, Any]]:
        return [task for task in self.tasks() if mark_of(task["text"]) == mark]

    def rotate_gateway(self) -> None:
        """Give the gateway another key, until the machine has taken one over."""
        self.admin("rotate")
        pins = "SELECT 1 FROM agents WHERE pinned_key_id = sealing_key_id"
        self.until(lambda: truth.rows(self.store, pins))

    def rotate_agent(self) -> None:
        """Give the machine another key, until the gateway has taken it over."""

        def rotated() -> bool:
            self.command("terminal", "rotate")  # refused once it is done
            done = "SELECT 1 FROM peers WHERE own_key_name IS NOT NULL AND old_key_name IS NULL"
            return bool(truth.rows(self.journal, done))

        self.until(rotated)

    def is_told(self, mark: str, state: TaskState) -> None:
        """Wait until the gateway knows that a task has come into a state, or has ended."""

        def told() -> bool:
            task = self.gateway_task(mark)
            return bool(task) and (task["state"] == state or task["reason"] is not None)

        self.until(told)

    def shows_progress(self, mark: str) -> None:
        """Wait until a member could read how a command gets on, or its task has ended."""

        def shown() -> bool:
            task = self.gateway_task(mark)
            told = "SELECT 1 FROM outbox WHERE kind = 'progress' AND task_id = ?"
            return bool(task["reason"] or truth.rows(self.store, told, task["task_id"]))

        self.until(shown)

    def ends(self, mark: str, reason: str) -> None:
        """Wait until a task has ended, for this reason or because a kill left it unknown."""
        task = self.until(lambda: task if (task := self.task(mark)).get("reason") else {})
        if task["reason"] not in (reason, "unknown"):
            self.untrue.append(f"{mark} should have ended {reason}, not {task['reason']}")

    def is_over(self, mark: str, reason: str) -> None:
        """Wait until a task is over for the gateway, which needs no word of the agent for it."""
        ended = self.until(lambda: self.gateway_task(mark).get("reason"))
        if ended != reason:
            self.untrue.append(f"{mark} should be over as {reason}, not {ended}")

    def settle(self) -> None:
        """Wait until every task has ended and nothing is on its way."""
        self.until(lambda: truth.is_idle(self.journal, self.store))

    def untruths(self, *, chat: bool = True) -> list[str]:
        """Return every contradiction; see `evidence`."""
        return self.untrue + truth.untruths(self.evidence(chat=chat))

    def evidence(self, *, chat: bool = True) -> Evidence:
        """Return what the outside saw.

        Args:
            chat: Whether the chat shows everything: it drops what is more than thirty a minute.
        """
        return Evidence(
            journals=[self.journal] if self.journal.exists() else [],
            gateway=self.store,
            accepted=self.accepted,
            agent_kills=self.agent_kills,
            ran=self.workspace / "ran.txt",
            chat=self.place.chat() if chat else None,
        )
