"""One installation whose parts are forked, killed and revived: what scenarios are told in.

A `House` remembers what the outside saw, and each of its verbs goes on through any death: `until`
revives whatever was killed, and what a kill interrupted is done again, as a person would.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import pygit2

from common.errors import CodexBridgeError
from common.home import find_home
from common.model.state import TaskState
from local_agent.faces.control.client import call
from local_agent.workspace.registry import Workspace
from tests import truth, written
from tests.e2e.place import CODE
from tests.matrix.running import PATIENCE_S, Hands, Running
from tests.syncing import Syncing
from tests.truth import Evidence, asking, mark_of
from tests.written import Carried, Edit, Planted, Repositories, Side

AWAY: Final = ("agent.not-running", "agent.not-listening", "agent.stopped", "agent.no-answer")
MEMBER: Final = "zhangwei"
CHECK: Final = "@dev test"  # the text of the task that tries a change out


@dataclass
class House(Running):
    """What people do in an installation.

    Attributes:
        planted: The files of the workspace at the beginning.
        edits: What a person wrote into them by hand.
        called: Marks of tasks whose text does not hold them, by their texts.
        git: The workspace's repository and its remote; None where it has none.
        known: Commits that no task has made.
    """

    planted: dict[str, Side] = field(default_factory=dict)
    edits: list[Edit] = field(default_factory=list)
    called: dict[str, str] = field(default_factory=dict)
    git: Syncing | None = None
    known: set[str] = field(default_factory=set)

    def bring_up(self, *names: str) -> None:
        """Start parts; an agent has settled what it found by then."""
        super().bring_up(*names)
        if "agent" in names:
            self.untrue += truth.wrong_files(self.evidence(chat=False))

    # what is remembered

    def task(self, mark: str) -> dict[str, Any]:
        """Return the agent's newest task of a mark; empty while it has none."""
        return next(reversed(self._all_of(mark)), {})

    def gateway_task(self, mark: str) -> dict[str, Any]:
        """Return the gateway's task of a mark; empty while it has none."""
        return next(reversed([one for one in self.gateway_tasks() if self.mark(one) == mark]), {})

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

    def wish(self, mark: str, text: str) -> None:
        """Let a member ask for something in words of their own."""
        self.called[text] = mark
        known = len(self._all_of(mark))
        self.deliver(text)
        self.accepted.append(text)
        self.until(lambda: len(self._all_of(mark)) > known)

    def wish_here(self, mark: str, text: str) -> None:
        """Let a person at the machine ask for it, and for the change once it rests."""
        self.called[text] = mark
        self._ask_here(mark, "ask", text)

        def wanted() -> bool:
            task = self.task(mark)
            if task["state"] == TaskState.PROPOSAL_READY:
                with Hands(self, "apply", task["short_id"]) as hands:
                    self._look(lambda: hands.fork.poll() is not None or self._is_asked(mark))
            return self._is_asked(mark)

        self.until(wanted)

    def _is_asked(self, mark: str) -> bool:
        task = self.task(mark)
        asked = (TaskState.WAITING_APPROVAL, TaskState.EXECUTING)
        return bool(task["reason"]) or task["state"] in asked

    def reaches(self, mark: str, state: TaskState) -> dict[str, Any]:
        """Wait until the agent's task is in a state, or has ended, and return it."""

        def look() -> dict[str, Any]:
            task = self.task(mark)
            return task if task and (task["state"] == state or task["reason"]) else {}

        return self.until(look)

    def approve(
        self, mark: str, *, only: Sequence[str] = (), meanwhile: Callable[[], None] | None = None
    ) -> None:
        """Approve as often as it is asked, until the task executes or has ended.

        Args:
            only: Some of the files alone.
            meanwhile: What happens each time while a person looks.
        """

        def approved() -> bool:
            task = self.reaches(mark, TaskState.WAITING_APPROVAL)
            if task["reason"] is None and task["state"] == TaskState.WAITING_APPROVAL:
                options = ["--only", *only] if only and not self._is_narrowed(mark, only) else []
                words = ("approve", task["short_id"], *options)
                self._approve_once(words, partial(self._is_beyond_waiting, mark), meanwhile)
            return self._is_beyond_waiting(mark)

        self.until(approved)

    def _approve_once(
        self,
        words: Sequence[str],
        is_done: Callable[[], bool],
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        with Hands(self, *words) as hands:
            self._terminal = hands.fork
            try:
                shown = hands.read_until(":", after=CODE, seconds=PATIENCE_S)
            except AssertionError:
                return  # the agent died, or nothing waits any more; the command said so and ended
            code = CODE.search(shown)
            assert code, shown
            if meanwhile:
                meanwhile()
            with contextlib.suppress(OSError):  # the terminal itself was killed
                hands.type(code[0])
            self._look(lambda: hands.fork.poll() is not None or is_done())

    def _is_narrowed(self, mark: str, only: Sequence[str]) -> bool:
        (proposed,) = truth.rows(
            self.journal,
            "SELECT proposal_json FROM tasks WHERE task_id = ?",
            self.task(mark)["task_id"],
        )
        files = json.loads(proposed["proposal_json"])["proposal"]["files"]
        return {file["path"] for file in files} == set(only)

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
        self._ask_here(mark, "ask", asking(mark))

    def _ask_here(self, mark: str, *words: str) -> None:
        """Ask at the machine, until there is one more task of a mark."""
        known = len(self._all_of(mark))

        def asked() -> bool:
            if len(self._all_of(mark)) == known:
                with Hands(self, *words) as hands:
                    self._look(
                        lambda: hands.fork.poll() is not None or len(self._all_of(mark)) > known
                    )
            return len(self._all_of(mark)) > known

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
        return [task for task in self.tasks() if self.mark(task) == mark]

    def mark(self, task: Mapping[str, Any]) -> str:
        """Return the mark of a task; empty when it has none."""
        return self.called.get(task["text"]) or mark_of(task["text"])

    def edit(self, path: str, text: str) -> None:
        """Let a person add to a file of the workspace with an editor."""
        file = self.workspace / path
        with file.open("a", encoding="utf-8") as opened:
            opened.write(text)
        self.edits.append(Edit(time.time_ns() // 1_000_000, path, written.side_of(file)))

    def bring(self, mark: str, patch: str) -> None:
        """Let a person ask for a patch of theirs to be applied."""
        file = self.place.root / f"{mark}.diff"
        file.write_text(patch, encoding="utf-8")
        self.called[f"@dev patch {file.name}"] = mark
        self._ask_here(mark, "apply", str(file))

    def apply(self, mark: str, patch: str, *, only: Sequence[str] = ()) -> None:
        """Let a person apply a patch, again where a death took it back, until it stands."""
        self.until_done(mark, lambda: self.bring(mark, patch), only=only)

    def undo(self, mark: str, of: str, *paths: str) -> None:
        """Let a person take back what a task has applied, until that stands."""
        self.until_done(mark, lambda: self.ask_to_undo(mark, of, *paths))

    def ask_to_undo(self, mark: str, of: str, *paths: str) -> None:
        """Let a person ask for the undo of what a task has applied, or of some files of it."""
        done = [task for task in self._all_of(of) if task["reason"] == "completed"]
        short_id = done[-1]["short_id"]
        self.called[" ".join(["@dev undo", short_id, *paths])] = mark
        self._ask_here(mark, "undo", short_id, *(["--only", *paths] if paths else []))

    def check(self, mark: str, check: str) -> None:
        """Let a person try a change out before deciding on it, until that has completed."""
        self.called[CHECK] = check
        words = ("approve", self.task(mark)["short_id"], "--check")

        def checked() -> bool:
            if self.task(check).get("reason") != "completed":
                self._approve_once(words, lambda: bool(self.task(check).get("reason")))
            return self.task(check).get("reason") == "completed"

        self.until(checked)

    def follow_a_remote(self) -> Syncing:
        """Make the workspace a repository whose branch follows another one on the disk."""
        root = self.workspace.parent / "git"
        workspace = Workspace(name="shop", path=self.workspace.resolve())
        git = self.git = Syncing(root, workspace, root / "home")
        there = pygit2.init_repository(str(git.remote), bare=True, initial_head="main")
        there.config["core.logAllRefUpdates"] = "always"
        pygit2.init_repository(str(git.path), initial_head="main")
        git.raw.remotes.create("origin", str(git.remote))
        self.known.add(git.commit({}))
        git.follow()
        return git

    def push(self, mark: str) -> None:
        """Let a member ask to commit and push, again where a death came between, until it is."""
        self.until_done(mark, lambda: self.ask_to_push(mark))

    def ask_to_push(self, mark: str) -> None:
        """Let a member ask to commit and push."""
        known = len(self._all_of(mark))
        text = f"@dev commit and push: {mark} {known}"
        self.called[text] = mark
        self.deliver(text)
        self.accepted.append(text)
        self.until(lambda: len(self._all_of(mark)) > known)

    def until_done(self, mark: str, ask: Callable[[], None], *, only: Sequence[str] = ()) -> None:
        """Ask, and approve what is asked for; again where a death took it back, until it stands."""
        while True:
            deaths = self.deaths
            ask()
            self.approve(mark, only=only)
            task = self.until(lambda: task if (task := self.task(mark)).get("reason") else {})
            if task["reason"] == "completed":
                return
            cut_off = self.deaths > deaths and task["reason"] in ("failed", "unknown")
            assert cut_off, f"{mark} ended {task['reason']}, after {self.deaths - deaths} deaths"

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
            told = (
                "SELECT 1 FROM outbox WHERE kind = 'progress' AND key NOT LIKE 'answer:%'"
                " AND state = 'sent' AND task_id = ?"
            )
            return bool(task["reason"] or truth.rows(self.store, told, task["task_id"]))

        self.until(shown)

    def ends(self, mark: str, reason: str) -> None:
        """Wait until a task has ended, for this reason or because a kill left it unknown."""
        task = self.until(lambda: task if (task := self.task(mark)).get("reason") else {})
        if task["reason"] not in (reason, "unknown"):
            self.untrue.append(f"{mark} should have ended {reason}, not {task['reason']}")
        self.untrue += truth.wrong_files(self.evidence(chat=False))

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
        found = [*self.untrue, *truth.untruths(self.evidence(chat=chat))]
        pushes, used = self.noted("git push", "before-write"), len(self._syncs())
        if pushes > used:
            found.append(f"git was called to push {pushes} times under {used} approvals")
        return found

    def _syncs(self) -> list[Carried]:
        done = truth.carried_out(self.journal) if self.journal.exists() else []
        return [one for one in done if one.seal["action"] == "git_sync"]

    def _chat(self) -> list[str]:
        members = truth.rows(self.store, "SELECT user_id FROM members")
        return [text for row in members for text in self.place.chat(row["user_id"])]

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
            chat=self._chat() if chat and "simulator" in self.parts else None,
            planted=Planted(self.workspace, self.planted, self.edits),
            repositories=Repositories(self.git.path, self.git.remote, self.known)
            if self.git
            else None,
        )
