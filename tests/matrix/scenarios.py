"""The stories in which every event happens; each goes on through any death on its way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from common.model.state import TaskState
from tests.matrix import plays, proposals
from tests.matrix.house import House
from tests.matrix.plots import furnish, pair
from tests.matrix.running import Kill

HOUR_S: Final = 3600
# One file changes, one comes in a folder of its own, one goes.
FIX: Final = """\
diff --git a/login.py b/login.py
--- a/login.py
+++ b/login.py
@@ -1,3 +1,3 @@
 def login():
-    retry = 3
+    retry = 5
     return retry
diff --git a/docs/new.md b/docs/new.md
new file mode 100644
--- /dev/null
+++ b/docs/new.md
@@ -0,0 +1 @@
+new
diff --git a/notes.txt b/notes.txt
deleted file mode 100644
--- a/notes.txt
+++ /dev/null
@@ -1,3 +0,0 @@
-one
-two
-three
"""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One story.

    Attributes:
        tell: Tells it to a fresh house.
        bare: The house has no members and is not paired yet.
        deaths: Those that belong to the story, in their order: what is of interest comes after.
        goes_on: Which events of the agent are of interest in its chapters even where they are known
            from others: what follows from there is another story.
    """

    name: str
    tell: Callable[[House], None]
    bare: bool = False
    deaths: tuple[Kill, ...] = ()
    goes_on: str = ""


def approve_and_complete(house: House) -> None:
    """The main job: asked in the chat, approved at the machine, run, told."""
    house.start("simulator", "gateway", "agent")
    house.ask("main")
    house.approve("main")
    house.ends("main", "completed")
    house.settle()


def fail_and_reject(house: House) -> None:
    """A command that fails, and one that a person does not want."""
    house.start("simulator", "gateway", "agent")
    house.ask("fails")
    house.approve("fails")
    house.ends("fails", "failed")
    house.ask("rejected")
    house.mistype("rejected")
    house.reject("rejected")
    house.ends("rejected", "rejected")
    house.settle()


def interrupt(house: House) -> None:
    """The agent is killed while a command runs: unknown, and never run again."""
    house.start("simulator", "gateway", "agent")
    house.ask("sleeps")
    house.approve("sleeps")
    house.is_told("sleeps", TaskState.EXECUTING)
    house.stop("agent")
    house.start("agent")
    house.ends("sleeps", "unknown")
    house.settle()


def cancel_at_every_stage(house: House) -> None:
    """Cancelled from the chat: while it is queued, while it waits, while it runs."""
    house.start("simulator", "gateway")
    house.ask("queued")
    house.cancel("queued")
    house.start("agent")
    house.is_over("queued", "cancelled")
    house.ask("waits")
    house.reaches("waits", TaskState.WAITING_APPROVAL)
    house.cancel("waits")
    house.ends("waits", "cancelled")
    house.ask("sleeps")
    house.approve("sleeps")
    house.shows_progress("sleeps")
    house.cancel("sleeps")
    house.ends("sleeps", "cancelled")
    house.settle()


def expire_and_drift(house: House) -> None:
    """What changed after the seal is not run; what waits too long, here or there, expires."""
    house.start("simulator", "gateway", "agent")
    house.ask("own-drift")
    house.approve("own-drift", meanwhile=lambda: house.edit("count.sh", "# another one\n"))
    house.ends("own-drift", "drifted")
    house.ask("expires")
    house.is_told("expires", TaskState.WAITING_APPROVAL)
    house.stop("agent")
    house.ask("unsent")
    house.stop("gateway")
    house.ahead_s = 25 * HOUR_S
    house.start("gateway")
    house.is_over("unsent", "expired")
    house.start("agent")
    house.ends("expires", "expired")
    house.settle()


def answer_and_refuse(house: House) -> None:
    """What needs no approval, what cannot be done, and somebody whom nobody knows."""
    house.start("simulator", "gateway", "agent")
    for text in ("@dev help", "@dev status", "@dev cancel", "@dev use dev-1"):
        house.deliver(text)
    house.deliver("@dev test", user="mallory")
    for text in ("@dev search retry", "@dev fix the login retry"):
        house.deliver(text)
        house.accepted.append(text)
    house.until(lambda: len(house.tasks()) == 2)
    house.settle()


def ask_at_the_machine(house: House) -> None:
    """The same from the terminal of the machine: one approved, one cancelled."""
    house.start("simulator", "gateway", "agent")
    house.ask_here("here")
    house.approve("here")
    house.ends("here", "completed")
    house.retry_here("here")
    house.cancel_here("here")
    house.ask_here("here-not")
    house.cancel_here("here-not")
    house.ends("here-not", "cancelled")
    house.settle()


def pair_and_revoke(house: House) -> None:
    """From nothing to a machine at work, to another key for it; what the first one had is lost."""
    furnish(house)
    house.start("agent")
    house.ask("revoked")
    house.is_told("revoked", TaskState.WAITING_APPROVAL)
    house.stop("agent")
    pair(house)
    house.stop("gateway")
    house.start("gateway")  # its first round finds the orphan
    house.is_over("revoked", "unknown")
    house.start("agent")
    house.cancel_here("revoked")
    house.ends("revoked", "cancelled")
    house.ask("again")
    house.reject("again")
    house.ends("again", "rejected")
    house.admin("member", "remove", "zhangwei")


def rotate_both_keys(house: House) -> None:
    """Both halves change their keys, and the link goes on."""
    house.start("simulator", "gateway", "agent")
    house.rotate_gateway()
    house.stop("gateway")
    house.start("gateway")  # its first round drops the old key
    house.rotate_agent()
    house.ask("rotated")
    house.reject("rotated")
    house.ends("rotated", "rejected")
    house.settle()


def lend_and_withdraw(house: House) -> None:
    """A machine works for one more member, and then no longer; what was queued is taken back."""
    house.start("simulator", "gateway")
    house.admin("member", "add", "lina")
    house.admin("member", "set", "lina", "--role", "approver")
    house.admin("bind", "dev-1", "lina")
    house.ask("unwelcome", user="lina")
    house.admin("unbind", "dev-1", "lina")
    house.is_over("unwelcome", "refused")
    house.ask("unsent")
    house.admin("revoke", "dev-1")
    house.is_over("unsent", "refused")


def change_and_take_back(house: House) -> None:
    """A patch is applied, taken back, and the taking back is taken back."""
    house.start("agent")
    house.begins("apply")
    house.apply("fix", FIX)
    house.begins("undo")
    house.undo("undone", "fix")
    house.undo("redone", "undone")


def change_some_files(house: House) -> None:
    """Some files of a patch are approved alone, and one of those is taken back alone."""
    house.start("agent")
    house.begins("apply")
    house.apply("fix", FIX, only=("login.py", "notes.txt"))
    house.begins("undo")
    house.undo("part", "fix", "notes.txt")


def change_what_drifts(house: House) -> None:
    """Somebody writes into a file while a person looks at the change of it, or before that."""

    def edit() -> None:
        house.edit("login.py", "# another one\n")

    def bring_and_edit() -> None:
        house.bring("later", FIX)
        house.reaches("later", TaskState.WAITING_APPROVAL)
        edit()

    house.start("agent")
    house.begins("drift")
    house.bring("fix", FIX)
    house.approve("fix", meanwhile=edit)
    house.ends("fix", "drifted")
    house.begins("apply")
    house.until_done("later", bring_and_edit)


def change_what_was_checked(house: House) -> None:
    """A patch is tried out on a copy before it is decided on."""
    house.start("agent")
    house.begins("check")
    house.bring("fix", FIX)
    house.reaches("fix", TaskState.WAITING_APPROVAL)
    house.check("fix", "check")
    house.begins("apply")
    house.approve("fix")
    house.ends("fix", "completed")


def die_while_changing(house: House) -> None:
    """A change is cut off, and the agent that comes back brings everything back."""
    house.start("agent")
    house.begins("restore")
    house.bring("fix", FIX)
    house.approve("fix")
    house.ends("fix", "failed")


def die_while_undoing(house: House) -> None:
    """An undo is cut off, and what it undoes stands again when the agent has come back."""
    house.start("agent")
    house.apply("fix", FIX)
    house.begins("restore an undo")
    house.ask_to_undo("undone", "fix")
    house.approve("undone")
    house.ends("undone", "failed")


def die_when_all_is_changed(house: House) -> None:
    """Everything is in its place, and the agent that comes back removes what lies beside."""
    house.start("agent")
    house.begins("sweep")
    house.bring("fix", FIX)
    house.approve("fix")
    house.ends("fix", "completed")


def commit_and_push(house: House) -> None:
    """A commit is made and pushed; another one is made, and the remote has moved on."""
    git = house.follow_a_remote()
    house.start("simulator", "gateway", "agent")
    house.begins("push")
    house.edit("login.py", "# one\n")
    house.push("first")
    house.begins("rejected push")
    house.edit("login.py", "# two\n")
    house.ask_to_push("late")
    house.known.add(git.commit_there())
    house.approve("late")
    house.ends("late", "failed")
    house.settle()


_IN_BETWEEN: Final = "tree exchange login.py"
_AT_THE_END: Final = "tree unlink .codexbridge-*-0.tmp"

SCENARIOS: Final = (
    Scenario("approve", approve_and_complete),
    Scenario("reject", fail_and_reject),
    Scenario("interrupt", interrupt),
    Scenario("cancel", cancel_at_every_stage),
    Scenario("expire", expire_and_drift),
    Scenario("answer", answer_and_refuse),
    Scenario("here", ask_at_the_machine),
    Scenario("rotate", rotate_both_keys),
    Scenario("lend", lend_and_withdraw),
    Scenario("pair", pair_and_revoke, bare=True),
    Scenario("change", change_and_take_back),
    Scenario("narrow", change_some_files),
    Scenario("drift", change_what_drifts),
    Scenario("check", change_what_was_checked),
    Scenario("sync", commit_and_push),
    Scenario("propose", proposals.change_from_the_chat, goes_on="tasks|model|scratch"),
    Scenario("rest", proposals.change_from_here, goes_on="tasks"),
    Scenario("revise", proposals.revise_what_waits, goes_on="tasks"),
    Scenario("release", proposals.answer_and_release, goes_on="tasks|disclosure"),
    Scenario("program", proposals.change_by_a_program, goes_on="model"),
    Scenario("play", plays.play, goes_on="run_steps|runs"),
    Scenario("roll back", plays.roll_back, goes_on="runs"),
    Scenario("torn", die_while_changing, deaths=(("agent", _IN_BETWEEN, "after-commit", 1),)),
    Scenario("torn undo", die_while_undoing, deaths=(("agent", _IN_BETWEEN, "after-commit", 2),)),
    Scenario("swept", die_when_all_is_changed, deaths=(("agent", _AT_THE_END, "after-commit", 1),)),
)
