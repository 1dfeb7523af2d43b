"""Kills at random instants under a stream of tasks: what no list of moments can foresee.

One house at a time: members ask for commands, a person brings changes, approves, rejects and
cancels, and every now and then the agent, the gateway or the person's terminal is killed, sometimes
again before it has come back.  Nothing of it is instrumented.  The seed decides who dies and after
how long; what the processes are doing then is theirs.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from common.model.state import TaskState
from gateway.store import members
from gateway.store.runner import open_admin
from tests import truth
from tests.matrix.house import MEMBER, House
from tests.people import someone

TASKS: Final = 26  # of the thirty approvals that one gateway may ask for in an hour
# One task each: every change of the workspace asks anew for all that waits in it, and more than
# thirty messages a minute WeCom lets nobody read.
MEMBERS: Final = (MEMBER, *(f"member-{number}" for number in range(1, TASKS)))
VICTIMS: Final = ("agent", "agent", "gateway", "terminal")
LONGEST_S: Final = 0.5  # between two kills, and between two tasks
CHANGE: Final = 2  # of four tasks, which one is a change
HERE: Final = "patch"  # marks of changes, which are asked at the machine
AGAIN: Final = 0.25  # how often what was killed is killed again on its way back


@dataclass
class Storm:
    """One house, and how often something in it is killed."""

    house: House
    seed: int
    kills: int

    def rage(self) -> None:
        """Do it all, then let everything come to rest."""
        self._chance = random.Random(self.seed)
        self._over, self._asked = threading.Event(), threading.Event()
        _invite(self.house)
        self.house.start("simulator", "gateway", "agent")
        with _beside(self._ask), _beside(self._decide):
            for _ in range(self.kills):
                time.sleep(self._chance.uniform(0, LONGEST_S))
                self._kill(self._chance.choice(VICTIMS))
            self._over.set()
        self.house.settle()

    def _kill(self, victim: str) -> None:
        chance = self._chance
        again = chance.uniform(0, LONGEST_S / 2) if chance.random() < AGAIN else None
        self.house.strike(victim, again_after=again)
        self.house.revive()

    def _ask(self) -> None:
        chance = random.Random(self.seed + 1)
        for number in range(TASKS):
            if number % 4 == CHANGE:
                self.house.bring(f"{HERE}-{number}", _patch(number))
            else:
                user = MEMBERS[number]
                self.house.ask(f"{'naps' if number % 2 else 'storm'}-{number}", user=user)
            if self._over.wait(chance.uniform(0, LONGEST_S)):
                break
        self._asked.set()

    def _decide(self) -> None:
        """Decide what waits, as long as something may still come to wait."""
        while not (self._asked.is_set() and self._all_have_ended()):
            for task in self.house.tasks():
                if task["state"] == TaskState.WAITING_APPROVAL:
                    self._decide_one(self.house.mark(task))
            time.sleep(0.02)

    def _decide_one(self, mark: str) -> None:
        match int(mark.rpartition("-")[2]) % 7:
            case 3:
                self.house.reject(mark)
            case 5 if mark.startswith(HERE):
                self.house.cancel_here(mark)
            case 5:
                self.house.cancel(mark)
                self.house.until(lambda: self.house.task(mark)["reason"] is not None)
            case _:
                self.house.approve(mark)

    def _all_have_ended(self) -> bool:
        tasks = [*self.house.gateway_tasks(), *self.house.tasks()]
        return all(task["reason"] is not None for task in tasks)


def _patch(number: int) -> str:
    """Return a patch that nothing else has to do with: two files in a folder of their own."""
    return "".join(
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n"
        f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{number}\n"
        for path in (f"made-{number}/a.txt", f"made-{number}/b.txt")
    )


def _invite(house: House) -> None:
    """Let the machine work for more members: one may ask for ten approvals an hour."""
    (machine,) = truth.rows(house.store, "SELECT agent_id FROM agents")
    at_ms = time.time_ns() // 1_000_000
    with open_admin(house.store) as store:
        for user in MEMBERS[1:]:
            store.write(members.add, someone(user), lang="en", at_ms=at_ms)
            store.write(members.bind, someone(user), machine["agent_id"], at_ms=at_ms)


@contextmanager
def _beside(work: Callable[[], None]) -> Iterator[None]:
    """Do some work in a thread, and fail with it."""
    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(work)
        yield
        done.result()
