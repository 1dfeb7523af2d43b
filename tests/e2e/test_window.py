"""The window with hands at it: what counts as a decision, and what never does.

All runs of the tests have an approval of a message from the chat, and the two ways in which others
could approve: programs, and a click that was meant for something else.  The rest is thorough.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from common.clock import SystemClock
from common.logs import open_log
from common.seal import digest, short_code
from common.sentences import Lang
from local_agent.actions.registry import seal_bytes
from local_agent.faces.telling import Teller
from local_agent.faces.window.alerts import Notifier
from local_agent.faces.window.arming import QUIET_S
from local_agent.faces.window.desktop import DesktopApprover
from local_agent.faces.window.program import PROBE, WindowProgram, theme_of
from local_agent.faces.window.wire import Theme, encode_order
from local_agent.flow.approvals import PendingApproval
from local_agent.flow.gate import Gate
from local_agent.safety.risk import Circumstances
from local_agent.store.journal import JournalThread
from local_agent.views.question import OneTimeCode, Text
from tests import sent_events, windows
from tests.e2e.place import Place
from tests.screen import WITHIN_S, Screen, Shown, a_screen, soon, until
from tests.sealed import AGENT, PYTEST, Wish, a_peer, a_seal, to_waiting

pytestmark = [
    pytest.mark.needs("a screen (xvfb, openbox, xdotool, Tk)"),
]

DARK = 80  # the writing on a button that can be pressed
BLUE = 100  # more blue than red: the button that approves, when it can be pressed
ENTRY = 320  # from the left edge, in the field for the code, behind its label and the code
OTHER = """
import tkinter as tk
root = tk.Tk(className="Other")
root.title("Another window")
root.geometry("{geometry}")
entry = tk.Entry(root)
entry.pack()
entry.bind("<KeyRelease-Return>", lambda event: print(entry.get(), flush=True))
root.after(1, entry.focus_force)
root.mainloop()
"""
HOLDER = """
import tkinter as tk
root = tk.Tk(className="Other")
root.title("Another window")
root.clipboard_append("{text}")
entry = tk.Entry(root)
entry.insert(0, "{text}")
entry.selection_range(0, "end")
entry.pack()
root.mainloop()
"""


@dataclass
class Seen:
    """A window on the screen, with a person at it."""

    screen: Screen
    shown: Shown
    window: str
    left: int
    top: int
    width: int
    height: int
    focused_at: float = 0.0

    # The buttons stand in one row at the bottom, at fixed distances from both corners.
    def point(self, button: str) -> tuple[int, int]:
        """Return where a button is, in the window."""
        across = {"approve": self.width - 85, "reject": 60, "later": 150}[button]
        return across, self.height - 35

    def over(self, button: str) -> None:
        """Move the pointer over a button."""
        x, y = self.point(button)
        self.screen.do("mousemove", "--window", self.window, str(x), str(y))

    def click(self, button: str) -> None:
        """Click a button, wherever the pointer was."""
        self.over(button)
        self.screen.do("click", "1")

    def awake(self) -> bool:
        """Tell whether the button that approves can be pressed, by its colour."""
        # Beside its text, where it is of one colour.
        x, y = self.left + self.width - 28, self.top + self.height - 35
        red, _, blue = self.screen.pixel(x, y)
        return blue - red > BLUE

    def armed(self) -> bool:
        """Tell whether the other buttons can be pressed, by what is written on Later."""
        points = (
            self.screen.pixel(self.left + x, self.top + self.height - 35) for x in range(130, 170)
        )
        return any(max(point) < DARK for point in points)

    def key(self, *names: str) -> None:
        """Press keys; they go where the focus is."""
        self.screen.do("key", *names)

    def focus(self) -> None:
        """Give the window the focus, as the window manager does."""
        self.screen.focus(self.window)
        self.focused_at = time.monotonic()

    def keys_count(self) -> bool:
        """Tell whether the window has had the focus for as long as keys need to count."""
        return self.awake() and time.monotonic() > self.focused_at + QUIET_S + 0.2

    def leave(self) -> dict[str, Any]:
        """Close the window as its frame does, and return what it had to say by then."""
        self.focus()
        self.key("alt+F4")
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """Return the answer, once there is one."""
        code, out = self.shown.answer()
        assert code == 0
        answer: dict[str, Any] = json.loads(out)
        return answer


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screen]:
    with a_screen(tmp_path_factory.mktemp("screen")) as made:
        yield made


@pytest.fixture(autouse=True)
def tidy(screen: Screen) -> Iterator[None]:
    screen.do("mousemove", "0", "0")
    yield
    screen.clear()
    until(lambda: not screen.windows("CodexBridge|Another"))


def put_up(screen: Screen, seal: Any = None, diff: bytes | None = None, **told: Any) -> Seen:
    """Open a window; of a command of ordinary risk, where nothing else is said."""
    if seal is None:
        seal, diff = windows.a_command()
    shown = screen.show(encode_order(windows.an_order(seal, **told), diff))
    window = screen.window("CodexBridge")
    return Seen(screen, shown, window, *screen.place(window))


def at_once(screen: Screen, act: Callable[[Seen], None]) -> Seen:
    """Open a window and do something before it has been there for long enough to count."""
    while True:
        seen = put_up(screen)
        act(seen)
        if time.monotonic() < screen.unseen_at + QUIET_S:
            return seen
        screen.clear()  # the machine is so busy that it came too late
        until(lambda: not screen.windows("CodexBridge"))


def another(screen: Screen, geometry: str) -> str:
    """Open a window of another program, and give it the focus."""
    screen.start(sys.executable, "-I", "-c", OTHER.format(geometry=geometry))
    return screen.window("Another window")


# --- what approves ----------------------------------------------------------------------------


@pytest.mark.requirement("R28")
@pytest.mark.thorough
def test_a_click_after_arming_approves_exactly_what_was_shown(screen: Screen) -> None:
    seal, _ = windows.a_command()
    seen = put_up(screen, seal)
    seen.over("approve")
    until(seen.awake)
    seen.screen.do("click", "1")
    answer = seen.answer()
    assert answer == {
        "approval_id": seal.approval_id,
        "digest": digest(seal_bytes(seal)),
        "nonce": "5e" * 16,
        "decision": "approve",
        "typed": "",
        "keep": [],
    }


@pytest.mark.requirement("R53")
@pytest.mark.thorough
def test_a_click_releases_exactly_the_answer_that_was_shown(screen: Screen) -> None:
    seal = windows.a_release("It retries.\nWithout a pause.")
    seen = put_up(screen, seal, answer="It retries.\nWithout a pause.")
    seen.over("approve")
    until(seen.awake)
    seen.screen.do("click", "1")
    answer = seen.answer()
    assert (answer["decision"], answer["digest"]) == ("approve", digest(seal_bytes(seal)))


@pytest.mark.thorough
def test_a_slow_click_on_a_window_without_the_focus_counts(screen: Screen) -> None:
    seen = put_up(screen)
    seen.over("approve")
    until(seen.awake)
    seen.screen.do("mousedown", "1", "sleep", "0.4", "mouseup", "1")
    assert seen.answer()["decision"] == "approve"


@pytest.mark.thorough
def test_a_click_that_is_taken_back_by_moving_away_does_nothing(screen: Screen) -> None:
    seen = put_up(screen)
    seen.over("approve")
    until(seen.awake)
    seen.screen.do("mousedown", "1", "mousemove_relative", "--", "-300", "-200", "mouseup", "1")
    assert seen.leave()["decision"] == "none"


@pytest.mark.requirement("R28")
@pytest.mark.thorough
def test_the_keyboard_approves_by_tab_and_space_and_never_by_enter(screen: Screen) -> None:
    seen = put_up(screen)
    seen.focus()
    until(seen.keys_count)
    seen.key("Tab", "Tab", "Return", "KP_Enter")
    assert not seen.shown.ended
    seen.key("space")
    assert seen.answer()["decision"] == "approve"


@pytest.mark.thorough
def test_reject_has_the_first_focus_and_rejects(screen: Screen) -> None:
    seen = put_up(screen)
    seen.focus()
    until(seen.keys_count)
    seen.key("space")
    assert seen.answer()["decision"] == "reject"


# --- what never does --------------------------------------------------------------------------


@pytest.mark.requirement("R28")
@pytest.mark.thorough
def test_the_window_leaves_the_focus_to_whoever_is_typing(screen: Screen) -> None:
    other = another(screen, "200x100+0+0")
    until(lambda: screen.has_focus(other))
    typed = screen.processes[-1].stdout
    assert typed is not None
    seen = put_up(screen)
    seen.key("a", "b", "c", "Return")
    assert typed.readline() == b"abc\n"
    assert seen.leave()["decision"] == "none"


@pytest.mark.requirement("R28")
@pytest.mark.thorough
def test_keys_that_were_meant_for_something_else_do_nothing(screen: Screen) -> None:
    def type_on(seen: Seen) -> None:
        seen.focus()
        seen.key("Return", "Return", "Tab", "Return", "space", "Escape")

    seen = at_once(screen, type_on)
    until(seen.awake)
    assert seen.leave()["decision"] == "none"


@pytest.mark.requirement("R28")
@pytest.mark.parametrize("button", ["approve", pytest.param("reject", marks=pytest.mark.thorough)])
def test_a_click_that_lands_where_the_window_has_just_come_up_does_nothing(
    screen: Screen, button: str
) -> None:
    seen = at_once(screen, lambda seen: seen.click(button))
    until(seen.awake)
    assert seen.leave()["decision"] == "none"


@pytest.mark.requirement("R28")
def test_what_another_program_sends_to_the_window_does_nothing(screen: Screen) -> None:
    seen = put_up(screen)
    seen.over("approve")
    seen.focus()
    until(seen.keys_count)
    for _ in range(2):
        sender = screen.start(sys.executable, "-I", sent_events.__file__, seen.window)
        said, _ = sender.communicate(timeout=WITHIN_S)
        assert int(said) > 20  # its own window, and each of the buttons, panes and labels in it
    assert seen.leave()["decision"] == "none"


@pytest.mark.requirement("R28")
@pytest.mark.thorough
def test_a_click_where_a_window_has_just_gone_away_does_nothing(screen: Screen) -> None:
    seen = put_up(screen)
    until(seen.awake)
    cover = another(screen, f"{seen.width}x{seen.height}+{seen.left}+{seen.top}")
    screen.focus(cover)
    seen.over("approve")
    screen.do("windowkill", cover, "click", "1")
    until(seen.awake)
    assert seen.leave()["decision"] == "none"


@pytest.mark.requirement("R28")
@pytest.mark.thorough
def test_a_click_after_the_window_was_moved_does_nothing(screen: Screen) -> None:
    seen = put_up(screen)
    seen.over("approve")
    until(seen.awake)
    move = ("windowmove", "--sync", seen.window, "30", "30")
    over = ("mousemove", "--window", seen.window, *map(str, seen.point("approve")))
    screen.do(*move, *over, "click", "1")
    assert seen.leave()["decision"] == "none"


@pytest.mark.requirement("R28")
@pytest.mark.parametrize("how", ["Escape", "alt+F4", "later"])
@pytest.mark.thorough
def test_closing_the_window_decides_nothing(screen: Screen, how: str) -> None:
    seen = put_up(screen)
    seen.over("later")
    seen.focus()
    until(seen.keys_count)
    if how == "later":
        seen.screen.do("click", "1")
    else:
        seen.key(how)
    assert seen.answer()["decision"] == "none"


@pytest.mark.thorough
def test_a_window_whose_time_is_over_closes_and_decides_nothing(screen: Screen) -> None:
    begun = time.monotonic()
    seal, diff = windows.a_command()
    # Not looked at meanwhile: on a busy machine two seconds are soon over.
    code, out = screen.show(encode_order(windows.an_order(seal, lasts_s=2), diff)).answer()
    assert (code, json.loads(out)["decision"]) == (0, "none")
    assert time.monotonic() - begun > 1  # it closes in its last second


@pytest.mark.requirement("R27")
@pytest.mark.parametrize("how", ["destroyed", "cut off", "killed"])
@pytest.mark.thorough
def test_a_window_that_is_taken_away_says_nothing_that_counts(screen: Screen, how: str) -> None:
    seen = put_up(screen)
    if how == "destroyed":
        screen.do("windowclose", seen.window)
    elif how == "cut off":
        screen.do("windowkill", seen.window)
    else:
        seen.shown.process.kill()
    code, out = seen.shown.answer()
    assert not out or json.loads(out)["decision"] == "none"
    assert not out or code == 0


@pytest.mark.requirement("R27")
@pytest.mark.thorough
def test_no_other_program_can_speak_to_the_window_through_tk(screen: Screen) -> None:
    seen = put_up(screen)
    script = """
import tkinter as tk
root = tk.Tk(className="Listener")
names = root.tk.splitlist(root.tk.call("winfo", "interps"))
print(*sorted(names), flush=True)
for name in {"Codexbridge", "codexbridge", *names} - {root.tk.call("tk", "appname")}:
    try:
        print("reached", root.tk.call("send", name, "destroy ."), flush=True)
    except tk.TclError as error:
        print(error, flush=True)
"""
    listener = screen.start(sys.executable, "-I", "-c", script)
    out, _ = listener.communicate(timeout=WITHIN_S)
    said = out.decode()
    assert "listener" in said.splitlines()[0].lower()
    assert "codexbridge" not in said.splitlines()[0].lower()
    assert "reached" not in said
    assert seen.leave()["decision"] == "none"


@pytest.mark.requirement("R23")
@pytest.mark.parametrize("what", ["seal", "diff", "order"])
@pytest.mark.thorough
def test_bytes_that_are_not_those_that_were_sealed_are_not_shown(screen: Screen, what: str) -> None:
    seal, diff = windows.a_change()
    order = windows.an_order(seal)
    if what == "seal":
        order = windows.an_order(seal, digest="0" * 64)
    said = encode_order(order, diff + b"\n" if what == "diff" else diff)
    shown = screen.show(said[:-1] if what == "order" else said)
    code, out = shown.answer()
    assert (code, out) == (1, b"")


@pytest.mark.requirement("R26")
@pytest.mark.thorough
def test_what_other_programs_set_as_x_resources_hides_nothing(screen: Screen) -> None:
    script = """
import sys, tkinter as tk
from tkinter import ttk
from local_agent.faces.window.look import open_root
root = open_root() if sys.argv[1] == "ours" else tk.Tk(className="Codexbridge")
kinds = (tk.Label, tk.Frame, tk.Text, ttk.Button, ttk.Entry, ttk.Treeview, ttk.Scrollbar)
for widget in (root, *(kind(root) for kind in kinds)):
    for option in sorted({*widget.keys()} - {"displaycolumns"}):
        print(widget.winfo_class(), option, widget.cget(option))
"""
    hostile = (
        "*Label.bitmap: question\n*padX: 900\n*TButton.width: 1\nCodexbridge*Text.spacing1: 90\n"
    )
    resources = screen.home / ".Xdefaults"

    def options(whose: str) -> bytes:
        out, _ = screen.start(sys.executable, "-I", "-c", script, whose).communicate(
            timeout=WITHIN_S
        )
        assert out
        return bytes(out)

    ours, theirs = options("ours"), options("theirs")
    resources.write_text(hostile, encoding="utf-8")
    try:
        assert options("theirs") != theirs
        assert options("ours") == ours
    finally:
        resources.unlink()


@pytest.mark.thorough
def test_a_panel_that_has_the_focus_shows_it(screen: Screen) -> None:
    seen = put_up(screen)
    seen.focus()
    until(seen.keys_count)
    content = (seen.left + seen.width - 21 - 2, seen.top + seen.height // 2)

    def shows_it() -> bool:
        return screen.pixel(*content) == (0x00, 0x5F, 0xB8)

    def shows_it_after_a_tab() -> bool:
        seen.key("Tab")
        return soon(shows_it)

    assert not shows_it()
    until(shows_it_after_a_tab)
    assert seen.leave()["decision"] == "none"


# --- high risk, and part of a change ----------------------------------------------------------


@pytest.mark.requirement("R29")
@pytest.mark.thorough
def test_high_risk_is_read_to_its_end_and_its_whole_code_is_typed(screen: Screen) -> None:
    seal, diff = windows.a_change(windows.HOSTILE + windows.DIFF)
    code = short_code(digest(seal_bytes(seal)))
    seen = put_up(screen, seal, diff, risk="high", reasons=("deletes",))
    seen.focus()
    screen.do("mousemove", "--window", seen.window, str(seen.width // 2), str(seen.height // 2))
    entry = ENTRY, seen.height - 85
    until(lambda: time.monotonic() > seen.focused_at + QUIET_S + 0.2 and seen.armed())
    screen.do("mousemove", "--window", seen.window, *map(str, entry), "click", "1")
    screen.do("type", "--", code[:4])
    assert not seen.awake()
    screen.do("type", "--", code[4:])
    screen.do("key", "Return")
    assert not seen.awake()
    screen.do("mousemove", "--window", seen.window, str(seen.width // 2), str(seen.height // 2))
    for _ in range(40):
        screen.do("click", "5")
    until(seen.awake)
    seen.over("approve")
    screen.do("click", "1")
    answer = seen.answer()
    assert (answer["decision"], answer["typed"]) == ("approve", code)


@pytest.mark.requirement("R25", "R29")
@pytest.mark.thorough
def test_several_steps_are_read_to_their_end(screen: Screen) -> None:
    seal, diffs = windows.steps()
    code = short_code(digest(seal_bytes(seal)))
    seen = put_up(screen, seal, diffs, risk="high", reasons=("shell",), run=windows.RUN)
    seen.focus()
    until(lambda: time.monotonic() > seen.focused_at + QUIET_S + 0.2 and seen.armed())
    entry = ENTRY, seen.height - 85
    screen.do("mousemove", "--window", seen.window, *map(str, entry), "click", "1")
    screen.do("type", "--", code)
    for row in range(2):  # of the list of files; their diffs stand in the midst
        screen.do("mousemove", "--window", seen.window, "100", str(212 + 28 * row), "click", "1")
    assert not seen.awake()
    screen.do("mousemove", "--window", seen.window, "700", "400")
    for _ in range(60):
        screen.do("click", "5")
    until(seen.awake)
    seen.click("approve")
    answer = seen.answer()
    assert (answer["decision"], answer["typed"]) == ("approve", code)


@pytest.mark.requirement("R29")
@pytest.mark.thorough
def test_the_code_is_typed_and_cannot_be_pasted(screen: Screen) -> None:
    seal, diff = windows.a_command(script="make release")
    code = short_code(digest(seal_bytes(seal)))
    screen.start(sys.executable, "-I", "-c", HOLDER.format(text=code))
    screen.window("Another window")
    seen = put_up(screen, seal, diff, risk="high", reasons=("shell",))
    seen.focus()
    entry = ("mousemove", "--window", seen.window, str(ENTRY), str(seen.height - 85))
    screen.do(*entry)
    until(lambda: time.monotonic() > seen.focused_at + QUIET_S + 0.2 and seen.armed())
    screen.do("click", "1", "key", "ctrl+v", "key", "shift+Insert", "click", "2")
    screen.do("type", "--", code[:1])
    assert not seen.awake()
    screen.do("type", "--", code[1:])
    until(seen.awake)
    assert seen.leave()["decision"] == "none"


@pytest.mark.requirement("R29")
@pytest.mark.thorough
def test_for_high_risk_a_click_alone_is_never_enough(screen: Screen) -> None:
    seen = put_up(screen, *windows.a_sync(), risk="high", reasons=("publishes",))
    seen.focus()
    seen.over("approve")
    until(seen.armed)
    seen.screen.do("click", "1")
    assert not seen.awake()
    assert seen.leave() | {"digest": ""} == {
        "approval_id": "approval-1",
        "digest": "",
        "nonce": "5e" * 16,
        "decision": "none",
        "typed": "",
        "keep": [],
    }


@pytest.mark.thorough
def test_part_of_a_change_is_asked_for_anew_and_not_approved(screen: Screen) -> None:
    seal, diff = windows.a_change()
    seen = put_up(screen, seal, diff, can_narrow=True)
    # The box of the first file, below heading and banner.
    screen.do("mousemove", "--window", seen.window, "36", "208")
    until(seen.awake)
    screen.do("click", "1")
    until(lambda: not seen.awake())
    narrow = (str(seen.width - 260), str(seen.height - 35))
    screen.do("mousemove", "--window", seen.window, *narrow, "click", "1")
    answer = seen.answer()
    assert answer["decision"] == "narrow"
    assert answer["keep"] == ["shop/auth/retry.py", "tests/test_login.py"]


@pytest.mark.thorough
def test_the_window_speaks_chinese_and_is_dark_where_it_is_told_so(screen: Screen) -> None:
    seal, diff = windows.a_change()
    seen = put_up(screen, seal, diff, lang="zh", theme="dark")
    red, green, blue = screen.pixel(seen.left + 4, seen.top + 4)
    assert max(red, green, blue) < 64
    assert seen.leave()["decision"] == "none"


@pytest.mark.thorough
def test_a_change_of_twenty_thousand_lines_is_shown_whole_and_soon(screen: Screen) -> None:
    lines = "".join(f"+value_{number} = {number}\n" for number in range(20_000))
    head = "diff --git a/big.py b/big.py\nnew file mode 100644\n--- /dev/null\n+++ b/big.py\n"
    seal, diff = windows.a_change(f"{head}@@ -0,0 +1,20000 @@\n{lines}")
    seen = put_up(screen, seal, diff)
    until(seen.awake)
    assert seen.leave()["decision"] == "none"


@pytest.mark.thorough
def test_a_very_long_change_is_there_at_once_and_cannot_be_approved_before_all_of_it_is(
    screen: Screen,
) -> None:
    head = "diff --git a/big b/big\nnew file mode 100644\n--- /dev/null\n+++ b/big\n"
    seal, diff = windows.a_change(f"{head}@@ -0,0 +1,150000 @@\n" + 150_000 * "+a\n")
    seen = put_up(screen, seal, diff)
    until(seen.armed)
    assert not seen.awake()
    seen.click("approve")
    until(seen.awake, seconds=30)
    seen.click("approve")
    assert seen.answer()["decision"] == "approve"


# --- the whole of it: gate, approver, window --------------------------------------------------


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[JournalThread]:
    clock = SystemClock()
    path = tmp_path / "state" / "journal.db"
    opened = await JournalThread.open(path, clock=clock, key=lambda: AGENT, peer=a_peer(clock))  # type: ignore[arg-type]  # any clock does
    yield opened
    await opened.close()


class NoDesk:
    """Nothing but decisions is asked for here."""

    async def refresh(self, task_id: str) -> None:
        """All is as it was sealed."""

    async def narrow(self, approval_id: str, digest: str, keep: tuple[str, ...]) -> None:
        """Not in these tests."""
        raise AssertionError(approval_id)

    async def check(self, approval_id: str, digest: str) -> None:
        """Not in these tests."""
        raise AssertionError(approval_id)


@contextlib.asynccontextmanager
async def an_approver(
    db: JournalThread, gate: Gate, screen: Screen
) -> AsyncIterator[DesktopApprover]:
    approver = DesktopApprover(
        gate,
        Teller(db, gate, machine="dev-machine-1", workspaces=dict),
        WindowProgram(screen.environ),
        entrance=gate.entrance("desktop"),
        desk=NoDesk(),
        alerts=Notifier({}),
        read_diff=lambda name: name.encode(),
        theme=lambda: theme_of("light", {}),
        clock=SystemClock(),
        log=open_log("test"),
        lang="en",
    )
    task = asyncio.create_task(approver.run())
    try:
        yield approver
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def ask(db: JournalThread, gate: Gate, number: int) -> PendingApproval:
    wish = Wish(task_id=f"task-{number}", short_id=f"T-7K3{number}")
    await db.run(to_waiting, db.journal, wish)
    seal = a_seal(SystemClock(), task_id=wish.task_id, short_id=wish.short_id)  # type: ignore[arg-type]  # any clock does
    return await gate.request(seal, around=Circumstances(allowed=[PYTEST]))


@pytest.mark.requirement("P1")
@pytest.mark.requirement("R28")
@pytest.mark.thorough
async def test_two_questions_are_shown_in_turn_and_a_killed_window_decides_nothing(
    db: JournalThread, screen: Screen
) -> None:
    gate = Gate(db, clock=SystemClock(), key=lambda: AGENT)
    await gate.start()
    first, second = await ask(db, gate, 1), await ask(db, gate, 2)
    async with an_approver(db, gate, screen) as approver:
        window = await asyncio.to_thread(screen.window, "T-7K31")
        assert screen.windows("T-7K32") == []
        await asyncio.to_thread(screen.do, "windowkill", window)
        await asyncio.to_thread(screen.window, "T-7K32")
        assert (await gate.show(first.approval_id)).state == "pending"
        await gate.entrance("terminal").decide(
            *(second.approval_id, second.digest), decision="reject"
        )
        await asyncio.to_thread(until, lambda: not screen.windows("CodexBridge"))
        approver.show(first.approval_id)
        window = await asyncio.to_thread(screen.window, "T-7K31")
        seen = await asyncio.to_thread(_seen, screen, window)
        await asyncio.to_thread(seen.over, "approve")
        await asyncio.to_thread(until, seen.awake)
        await asyncio.to_thread(screen.do, "click", "1")
        async with asyncio.timeout(WITHIN_S):
            assert (await gate.wait(first.approval_id)).outcome == "approved"


@pytest.mark.thorough
async def test_a_window_closes_with_the_agent(db: JournalThread, screen: Screen) -> None:
    gate = Gate(db, clock=SystemClock(), key=lambda: AGENT)
    await gate.start()
    asked = await ask(db, gate, 1)
    async with an_approver(db, gate, screen):
        await asyncio.to_thread(screen.window, "T-7K31")
    await asyncio.to_thread(until, lambda: not screen.windows("CodexBridge"))
    assert (await gate.show(asked.approval_id)).state == "pending"


@pytest.mark.thorough
async def test_a_screen_is_found_by_opening_a_window_on_it(screen: Screen, tmp_path: Path) -> None:
    poisoned = {"TK_LIBRARY": str(tmp_path), "TCLLIBPATH": str(tmp_path), "PYTHONPATH": "/evil"}
    assert await WindowProgram(screen.environ | poisoned).probe()
    assert not await WindowProgram({"DISPLAY": ":4711"}).probe()


@pytest.mark.thorough
def test_the_probe_leaves_nothing_on_the_screen(screen: Screen) -> None:
    code, out = screen.show(PROBE).answer()
    assert (code, out) == (0, b'{"tk":true}\n')


@pytest.mark.requirement("P1")
@pytest.mark.requirement("MJ-2")
def test_a_message_from_the_chat_is_approved_with_the_mouse(
    screen: Screen, tmp_path: Path, workspace: Path
) -> None:
    place = Place.at(tmp_path / "home", DISPLAY=screen.name)
    try:
        place.start_all(workspace, "sh count.sh")
        assert place.callback("@dev test") == 200
        short_id = place.waiting()["short_id"]
        seen = _seen(screen, screen.window(short_id))
        seen.over("approve")
        until(seen.awake)
        assert not (workspace / "ran.txt").exists()
        screen.do("click", "1")
        assert place.final(short_id)["reason"] == "completed"
        place.hears(short_id, "1 passed")
        receipt = json.loads(place.run("receipt", short_id).stdout)
        assert "desktop" in json.dumps(receipt)
    finally:
        place.stop()


def _seen(screen: Screen, window: str) -> Seen:
    return Seen(screen, Shown(screen.processes[0]), window, *screen.place(window))


@pytest.mark.thorough
@pytest.mark.requirement("R31")
@pytest.mark.parametrize(("lang", "theme"), [("en", "light"), ("zh", "dark")])
async def test_a_one_time_code_is_shown_until_its_touch_is_over(
    screen: Screen, lang: Lang, theme: Theme
) -> None:
    shown = OneTimeCode("T-7K3F", Text("Apply it on dev-1?", "要应用吗？"), "7K3F-9Q2M", "8T0QXZ")
    over = asyncio.Event()
    program = WindowProgram(screen.environ)
    showing = asyncio.create_task(program.show_code(shown, lang, theme, over))
    title = "· CodexBridge"
    window = await asyncio.to_thread(screen.window, title)
    assert not screen.has_focus(window)  # what is typed goes on to the page
    assert b"local_agent.faces.window.child" in (told := await asyncio.to_thread(_told))
    assert b"8T0QXZ" not in told
    over.set()
    await asyncio.wait_for(showing, WITHIN_S)
    assert screen.windows(title) == []


def _told() -> bytes:
    """Return arguments and environment of every program that this one has started."""
    found = []
    for name in ("cmdline", "environ"):
        for entry in Path("/proc").glob(f"[0-9]*/{name}"):
            with contextlib.suppress(OSError):
                found.append(entry.read_bytes() if entry.parent.name != str(os.getpid()) else b"")
    return b"\n".join(found)
