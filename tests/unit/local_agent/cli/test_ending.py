"""How a task ended, on a terminal: its language, its last lines, found lines, changed files."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import codexbridge
from common.clock import SystemClock
from common.errors import StateError
from common.terminal import Ink, cells
from local_agent.cli import ending
from local_agent.cli.ending import laid_out
from local_agent.cli.screen import Screen
from local_agent.reports.report import Report
from local_agent.reports.words import to_facts
from tests.each import each
from tests.unit.local_agent.cli.conftest import TASK, AgentDouble

Captured = pytest.CaptureFixture[str]


def a_file(path: str, **changes: Any) -> dict[str, Any]:
    return {"path": path, "change": "new", "link": False, "surface": False} | changes


def an_end(**changes: Any) -> dict[str, Any]:
    run: dict[str, Any] = {
        "sandbox": "bubblewrap",
        "started": True,
        "output": {"tail": "5 passed", "before": 0, "lines": 1, "log_sha256": "ab"},
        "files": {"new": 0, "changed": 0, "deleted": 0, "incomplete": False, "listed": []},
    }
    return TASK | {
        "state": "COMPLETED",
        "reason": "completed",
        "summary": "`pytest -q` 成功：退出码 0，用时 3.0 秒。\n最后几行：\n5 passed",
        "said": {"en": "`pytest -q` succeeded.", "zh": "`pytest -q` 成功。"},
        "run": run | changes,
    }


def shown(agent: AgentDouble, capsys: Captured, task: dict[str, Any], op: str = "ask") -> str:
    agent.answers[op] = {"task": task, "approval": None}
    arguments = ["ask", "test"] if op == "ask" else ["show", "T-7K3F"]
    assert codexbridge.main(arguments) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("op", ["ask", "show"])
def test_the_end_is_told_in_the_language_of_this_terminal(
    agent: AgentDouble, capsys: Captured, op: str
) -> None:
    out = shown(agent, capsys, an_end(), op)
    assert "`pytest -q` succeeded." in out
    assert "5 passed" in out
    assert "成功" not in out


def test_progress_is_told_in_the_language_of_this_terminal(
    agent: AgentDouble, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = {
        "type": "task_state",
        "state": "EXECUTING",
        "message": "仍在运行",
        "said": {"en": "still running", "zh": "仍在运行"},
    }
    agent.events["ask"] = [event]
    assert shown(agent, capsys, an_end()).startswith("still running\n")
    monkeypatch.setenv("CODEXBRIDGE_LANG", "zh")
    assert shown(agent, capsys, an_end()).startswith("仍在运行\n")


def test_what_a_runner_reported_stands_for_its_last_lines_and_show_has_both(
    agent: AgentDouble, capsys: Captured
) -> None:
    report = to_facts(Report(tool="pytest", passed=5))
    end = an_end(report=report, exit_code=0) | {"said": {"en": "5 tests passed", "zh": ""}}
    out = shown(agent, capsys, end)
    assert "5 tests passed\n" in out
    assert "5 passed" not in out
    assert "codexbridge show T-7K3F --log" in out
    assert "5 passed" in shown(agent, capsys, end, "show")
    unread = an_end(report=to_facts(Report(tool="pytest", failed=1)), exit_code=1)
    assert "5 passed" in shown(agent, capsys, unread), "no report tells why"


def test_only_the_last_lines_are_shown_after_a_run(agent: AgentDouble, capsys: Captured) -> None:
    output = {"tail": "\n".join(map(str, range(1001, 1011))), "before": 0, "log_sha256": "ab"}
    out = shown(agent, capsys, an_end(output=output))
    assert "  1005\n" in out
    assert "1004" not in out
    assert "20 B before this; codexbridge show T-7K3F --log" in out
    assert "1001" in shown(agent, capsys, an_end(output=output), "show")


def test_an_answer_that_has_no_second_language_is_shown_as_it_is(
    agent: AgentDouble, capsys: Captured
) -> None:
    out = shown(agent, capsys, an_end() | {"said": None, "run": None, "summary": "5 处"})
    assert "5 处" in out


@pytest.mark.requirement("R46")
def test_the_changed_files_are_counted_named_and_marked(
    agent: AgentDouble, capsys: Captured
) -> None:
    listed = [
        a_file(".git/hooks/x", surface=True),
        a_file("out", link=True),
        a_file("a\nb", change="changed"),
        a_file("old", change="deleted"),
    ]
    files = {"new": 2, "changed": 1, "deleted": 1, "incomplete": False, "listed": listed}
    out = shown(agent, capsys, an_end(files=files))
    assert "4 files in the workspace changed while it ran: 2 new, 1 changed, 1 deleted" in out
    rows = out.splitlines()[-4:]
    assert ending.FILE_SURFACE.en in rows[0]
    assert ending.FILE_LINK.en in rows[1]
    assert "a⟨U+000A⟩b" in rows[2]
    assert rows[3].split() == ["deleted", "old"]


@pytest.mark.parametrize(("op", "named"), [("ask", 20), ("show", 30)])
def test_many_files_are_named_in_part_and_the_rest_counted(
    agent: AgentDouble, capsys: Captured, op: str, named: int
) -> None:
    listed = [a_file(f"f{number}") for number in range(30)]
    files = {"new": 500, "changed": 0, "deleted": 0, "incomplete": True, "listed": listed}
    out = shown(agent, capsys, an_end(files=files), op)
    assert f"f{named - 1}\n" in out
    assert f"f{named}\n" not in out
    assert f"{500 - named} more" in out
    assert ending.FILES_INCOMPLETE.en in out


def test_no_change_is_said_and_what_was_not_looked_at_too(
    agent: AgentDouble, capsys: Captured
) -> None:
    assert ending.FILES_NONE.en in shown(agent, capsys, an_end())
    assert ending.FILES_ELSEWHERE.en not in shown(agent, capsys, an_end())
    assert ending.FILES_ELSEWHERE.en in shown(agent, capsys, an_end(sandbox="none"))
    nothing_ran = an_end(started=False, files=None)
    assert "5 passed" not in shown(agent, capsys, nothing_ran)
    assert ending.FILES_NONE.en not in shown(agent, capsys, nothing_ran)


@pytest.mark.requirement("R46")
def test_output_that_was_cut_says_so_and_where_the_rest_is(
    agent: AgentDouble, capsys: Captured
) -> None:
    output = {"tail": "end", "before": 4_900_000, "lines": 9, "log_sha256": "ab"}
    out = shown(agent, capsys, an_end(output=output))
    assert "4.9 MB before this; codexbridge show T-7K3F --log" in out
    out = shown(agent, capsys, an_end(output=output | {"log_sha256": None}))
    assert "--log" not in out
    assert "could not be kept" in out
    silent = {"tail": "", "before": 0, "lines": 0, "log_sha256": None}
    assert ending.NO_OUTPUT.en in shown(agent, capsys, an_end(output=silent))


@pytest.mark.requirement("R26")
def test_the_log_is_printed_whole_with_nothing_to_obey(
    agent: AgentDouble, capsys: Captured
) -> None:
    log = "\x1b[31mred\x1b[0m\r\n10%\r20%\n\x1b]0;title\x07a\u202eb\x00\n字".encode()
    agent.events["log"] = [
        {"log": base64.b64encode(piece).decode()} for piece in (log[:-2], log[-2:])
    ]
    agent.answers["log"] = {"bytes": len(log)}
    assert codexbridge.main(["show", "t7k3f", "--log"]) == 0
    out = capsys.readouterr().out
    assert out == "red\n10%\n20%\na⟨U+202E⟩b⟨U+0000⟩\n字\n"
    assert agent.args_of("log") == {"task": "T-7K3F"}
    assert codexbridge.main(["show", "T-7K3F", "--log", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"task": "T-7K3F", "log": log.decode()}


def test_without_a_log_that_is_one_line(agent: AgentDouble, capsys: Captured) -> None:
    agent.answers["log"] = StateError("log.none", task="T-7K3F")
    assert codexbridge.main(["show", "T-7K3F", "--log"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_row_of_tasks_has_its_time_and_fits_80_columns(
    agent: AgentDouble, capsys: Captured, monkeypatch: pytest.MonkeyPatch, lang: str
) -> None:
    monkeypatch.setenv("CODEXBRIDGE_LANG", lang)
    monkeypatch.setenv("COLUMNS", "80")
    now = SystemClock().now().wall_ms
    waiting = TASK | {
        "created_at": now,
        "expires_at": now + 86_390_000,
        "claimed_user": "somebody-with-a-long-name",
        "text": "@dev test 字字字字字字字字字字字字字字字字字字字字",
    }
    unknown = waiting | {"state": "FAILED", "reason": "unknown", "created_at": 1}
    agent.answers["tasks"] = {"tasks": [waiting, unknown]}
    assert codexbridge.main(["tasks", "--all"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [cells(line) <= 80 for line in lines] == [True, True]
    assert all("@dev test" in line for line in lines)
    assert ":" in lines[0].split()[1]
    assert lines[1].split()[1] in ("01-01", "12-31")


HITS = ["2 places:", "src/登录.py:7: def login():", "src/登录.py:120: return login()", "b.py:3: x"]
CHANGED = ["Local changes:", "M src/app.py +12 −3", "A 新.md +1 −0", "? b.bin (lines not counted)"]


def screen(*, width: int = 80, live: bool = True, colours: bool = False) -> Screen:
    return Screen("en", Ink(on=colours), width, live)


def test_a_program_gets_the_lines_as_they_are() -> None:
    assert list(laid_out(screen(live=False), [*HITS, *CHANGED])) == [*HITS, *CHANGED]


def test_on_a_terminal_each_file_is_named_once_above_its_lines() -> None:
    assert list(laid_out(screen(), HITS)) == [
        "2 places:",
        "src/登录.py",
        "    7  def login():",
        "  120  return login()",
        "b.py",
        "    3  x",
    ]


def test_counts_stand_below_one_another() -> None:
    assert list(laid_out(screen(), CHANGED)) == [
        "Local changes:",
        "  M src/app.py +12 −3",
        "  A 新.md       +1 −0",
        "  ? b.bin      (lines not counted)",
    ]


def test_colours_are_emphasis_alone() -> None:
    plain = list(laid_out(screen(), [*HITS, *CHANGED]))
    coloured = list(laid_out(screen(colours=True), [*HITS, *CHANGED]))
    assert coloured != plain
    assert [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in coloured] == plain


@each("width", [20, 30, 45])
def test_a_narrow_terminal_loses_nothing(width: int) -> None:
    lines = [f"a/very/long/folder/{'x' * 40}.py:12: {'找到 text ' * 12}".rstrip()]
    shown = list(laid_out(screen(width=width), lines))
    assert "".join(line.strip() for line in shown[1:]).replace(" ", "").endswith("text")
    assert all(cells(line) <= max(width, 26) for line in shown[1:])


@given(st.lists(st.text(alphabet="aM+−:19 ()/\n找", max_size=30), max_size=6), st.integers(1, 200))
def test_no_line_raises_or_is_lost(lines: list[str], width: int) -> None:
    plain = [line.replace("\n", "") for line in lines]
    shown = "".join(laid_out(screen(width=width), plain)).replace(" ", "")
    for line in plain:
        assert line.replace(" ", "").rpartition(":")[2] in shown or "−" in line
