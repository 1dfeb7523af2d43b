"""What a terminal shows of proposals: words as they come, a change that rests, its versions."""

from __future__ import annotations

import json
import os
import re
from typing import Any

import pytest

import codexbridge
from common.sentences import Lang, Sentence, say
from common.terminal import cells
from local_agent.cli import ask, proposal, show, status, tasks, words
from local_agent.cli.proposal import GUTTER, Flow
from local_agent.propose import words as propose_words
from local_agent.views.task import ShownTask
from local_agent.words import REASONS
from tests.asked import PATCH
from tests.each import each
from tests.unit.local_agent.cli.conftest import TASK, AgentDouble, filled
from tests.unit.local_agent.cli.drawing import drawn
from tests.unit.local_agent.cli.terminal import in_front, reads, reads_all
from tests.unit.local_agent.cli.test_asking import a_status
from tests.unit.local_agent.cli.test_changes import an_approval, holds

pytestmark = pytest.mark.heavy

Captured = pytest.CaptureFixture[str]

SAID = (
    "Raised the retry to 5, because three were too few for the slow network of the test house.\n"
    "No test names it."
)
LABEL = say(propose_words.MODEL_SAYS, "en", model="mock")
FILES = [
    {"path": "login.py", "additions": 1, "deletions": 1},
    {"path": "src/一个文件.py", "additions": 12, "deletions": 0},
]
TURN = {
    "model": "mock",
    "at": 1,
    "duration_ms": 4200,
    "input_tokens": 1203,
    "output_tokens": 82,
    "calls": 1,
    "outcome": "ok",
}
HEAD = "Proposed in workspace shop: 2 files, +13 −1. It can be undone."


def a_speech(text: str = SAID, **changes: Any) -> dict[str, Any]:
    told = {"model": "mock", "text": text, "no_edits": False, "not_taken": [], "commands": []}
    return told | changes


def a_task(**changes: Any) -> dict[str, Any]:
    rows = [
        say(
            propose_words.FILE_ROW,
            "en",
            path=f["path"],
            added=f["additions"],
            removed=f["deletions"],
        )
        for f in FILES
    ]
    said = changes.pop("words", SAID)
    told: dict[str, Any] = {
        "source": "local_ui",
        "state": "PROPOSAL_READY",
        "rests": True,
        "version": None,
        "revises": None,
        "proposal": "diff",
        "proposed": "\n".join([HEAD, *rows]),
        "details": "\n".join([HEAD, *rows, LABEL, said]),
        "own": HEAD,
        "speech": a_speech(said),
        "answered": False,
        "files": FILES,
        "files_more": 0,
        "turns": [TURN],
        "shown": {"files": 2, "bytes": 236},
    }
    return TASK | told | changes


def an_answer(said: str = SAID, **changes: Any) -> dict[str, Any]:
    told = {
        "state": "COMPLETED",
        "reason": "completed",
        "rests": False,
        "proposal": "answer",
        "proposed": said,
        "details": f"{LABEL}\n{said}",
        "own": "",
        "speech": a_speech(said),
        "summary": said,
        "answered": True,
        "files": [],
    }
    return a_task(words=said) | told | changes


def chunk(text: str) -> dict[str, Any]:
    return {"type": "task_stream_chunk", "message_id": "a", "chunk": text, "short_id": "T-7K3F"}


def state(name: str, message: str | None = None) -> dict[str, Any]:
    return {"type": "task_state", "state": name, "message": message, "short_id": "T-7K3F"}


# -- a change that rests ---------------------------------------------------------------------


def test_a_change_that_rests_is_a_card_with_its_files_and_what_to_do(
    agent: AgentDouble, capsys: Captured
) -> None:
    agent.answers["ask"] = {"task": a_task()}
    assert codexbridge.main(["ask", "make it five"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[: rows.index("")] == [LABEL, *(f"  {line}" for line in SAID.split("\n"))]
    card = rows[rows.index("") + 1 :]
    assert card[:4] == [
        f"T-7K3F  {tasks.RESTS.en}",
        HEAD,
        "   +1 −1  login.py",
        "  +12 −0  src/一个文件.py",
    ]
    for step in ("diff T-7K3F", "apply T-7K3F", 'ask "revise T-7K3F …"', "cancel T-7K3F"):
        assert any(row.endswith(f"codexbridge {step}") for row in card)
    assert card[-2:] == [
        "mock, 4.2 s: 1,203 tokens read, 82 written",
        "It was shown 2 files, 236 B: codexbridge context T-7K3F",
    ]


@pytest.mark.requirement("R25")
def test_a_model_cannot_write_what_looks_like_ours(agent: AgentDouble, capsys: Captured) -> None:
    forged = f"{LABEL}\n{HEAD}\nT-7K3F  completed\nNothing is changed yet.\x1b[2J\nlogin.py +1 −1"
    agent.answers["ask"] = {"task": a_task(words=forged)}
    assert codexbridge.main(["ask", "make it five"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows.count(LABEL) == rows.count(HEAD) == 1
    assert "T-7K3F  completed" not in rows
    assert "  T-7K3F  completed" in rows
    assert not any("\x1b" in row for row in rows)
    agent.answers["ask"] = {"task": an_answer(f"{HEAD}\nT-7K3F  completed")}
    assert codexbridge.main(["ask", "why"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert HEAD not in rows
    assert f"  {HEAD}" in rows


def test_files_beyond_those_told_are_counted(agent: AgentDouble, capsys: Captured) -> None:
    agent.answers["ask"] = {"task": a_task(proposed=HEAD, files_more=7)}
    assert codexbridge.main(["ask", "make it five"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert "  +12 −0  src/一个文件.py" in rows
    assert "  " + say(words.FILES_MORE, "en", count=7) in rows


@pytest.mark.parametrize("tokens", [0, 5])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_a_turn_used_is_told_as_far_as_it_is_known(
    agent: AgentDouble, capsys: Captured, monkeypatch: pytest.MonkeyPatch, lang: Lang, tokens: int
) -> None:
    monkeypatch.setenv("CODEXBRIDGE_LANG", lang)
    turns = [TURN | {"input_tokens": tokens, "output_tokens": 0}, TURN | {"outcome": "model.busy"}]
    agent.answers["show"] = {"task": a_task(turns=turns), "approval": None}
    assert codexbridge.main(["show", "T-7K3F"]) == 0
    out = capsys.readouterr().out
    assert (f"{say(show.SHOWN_LABEL, lang)}" in out) is True
    used = "5 tokens read" if lang == "en" else "读入 5"
    assert (used in out) is bool(tokens)
    nothing = "(gave nothing)" if lang == "en" else "（没有结果）"
    assert out.count(nothing) == 1


def test_what_is_not_done_of_a_request_stands_beside_the_answer(
    agent: AgentDouble, capsys: Captured
) -> None:
    left = "Only “why” was understood; “push” is NOT done. Ask for that by itself."
    agent.answers["ask"] = {"task": an_answer(proposed=f"{left}\n{SAID}", own=left)}
    assert codexbridge.main(["ask", "why, and push"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert left in rows
    assert rows.count(f"  {SAID.splitlines()[1]}") == 1


def test_a_model_that_made_no_edit_is_told_so_once(agent: AgentDouble, capsys: Captured) -> None:
    head = say(propose_words.NO_EDITS, "en", model="mock")
    task = an_answer(
        "Which login is meant?",
        state="REJECTED",
        reason="refused",
        proposal="plan",
        proposed=f"{head}\nWhich login is meant?",
        details=f"{head}\nWhich login is meant?",
        speech=a_speech("Which login is meant?", no_edits=True),
    )
    agent.answers["ask"] = {"task": task}
    assert codexbridge.main(["ask", "mend login"]) == 1
    rows = capsys.readouterr().out.splitlines()
    assert rows.count(head) == 1
    assert rows.count("  Which login is meant?") == 1


@pytest.mark.parametrize("no_edits", [True, False])
def test_a_model_that_said_nothing_is_told_so(
    agent: AgentDouble, capsys: Captured, *, no_edits: bool
) -> None:
    agent.answers["ask"] = {"task": a_task(speech=a_speech("", no_edits=no_edits))}
    assert codexbridge.main(["ask", "mend login"]) == 0
    rows = capsys.readouterr().out.splitlines()
    heads = [propose_words.NOTHING_SAID]
    if no_edits:
        heads.insert(0, propose_words.NO_EDITS)
    assert rows[: rows.index("")] == [say(head, "en", model="mock") for head in heads]


def test_of_what_is_older_than_its_parts_nothing_is_lost(
    agent: AgentDouble, capsys: Captured
) -> None:
    older = a_task(own=None, speech=None)
    agent.answers["ask"] = {"task": older}
    assert codexbridge.main(["ask", "make it five"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert older["proposed"].split("\n") == rows[1:4]
    agent.answers["show"] = {"task": older, "approval": None}
    assert codexbridge.main(["show", "T-7K3F"]) == 0
    assert SAID.splitlines()[1] in capsys.readouterr().out


@pytest.mark.parametrize(
    ("outcome", "told"), [("begun", proposal.AT_WORK), ("cut-off", proposal.CUT_OFF)]
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_turn_without_an_end_is_called_what_it_is(
    agent: AgentDouble,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    outcome: str,
    told: Sentence,
    lang: Lang,
) -> None:
    monkeypatch.setenv("CODEXBRIDGE_LANG", lang)
    turns = [TURN | {"outcome": outcome, "duration_ms": 0}, TURN]
    agent.answers["ask"] = {"task": a_task(turns=turns)}
    assert codexbridge.main(["ask", "make it five"]) == 0
    assert say(told, lang, model="mock") in capsys.readouterr().out.splitlines()


# -- words as they come ----------------------------------------------------------------------


def streamed(agent: AgentDouble, *events: dict[str, Any], task: dict[str, Any]) -> list[str]:
    agent.events["ask"] = list(events)
    agent.answers["ask"] = {"task": task}
    with in_front("ask", "why") as screen:
        return drawn(reads_all(screen))


@pytest.mark.parametrize("size", [1, 4, 30])
def test_words_come_as_they_are_said_and_are_not_told_twice(agent: AgentDouble, size: int) -> None:
    pieces = [chunk(SAID[at : at + size]) for at in range(0, len(SAID), size)]
    rows = streamed(agent, state("PROPOSING"), *pieces, task=an_answer())
    assert rows[:4] == [
        ask.MODEL_SAYS.en,
        "│ Raised the retry to 5, because three were too few for the slow network of the",
        "│ test house.",
        "│ No test names it.",
    ]
    assert rows[4:6] == ["", "T-7K3F  completed"]
    assert "".join(rows).count("Raised") == 1


def test_what_is_said_besides_follows_what_was_streamed(agent: AgentDouble) -> None:
    speech = a_speech(not_taken=[".git/config: it belongs to git"], commands=["rm -rf /"])
    rows = streamed(agent, chunk(SAID), task=a_task(speech=speech))
    assert rows[3:8] == [
        "│ No test names it.",
        "1 edit of the model was not taken:",
        "│ .git/config: it belongs to git",
        propose_words.SUGGESTED.en,
        "│ rm -rf /",
    ]


def test_a_very_long_answer_that_is_kept_in_part_is_not_told_twice(agent: AgentDouble) -> None:
    said = "\n".join(f"line {number}" for number in range(50))
    rows = streamed(agent, chunk(said), task=an_answer(said[:200] + "…"))
    assert rows.count("│ line 1") == 1
    assert "│ line 49" in rows


def test_words_that_turn_out_otherwise_are_told_whole(agent: AgentDouble) -> None:
    rows = streamed(agent, chunk("Let me look."), task=an_answer("It is line 3."))
    assert rows[:4] == [
        ask.MODEL_SAYS.en,
        "│ Let me look.",
        LABEL,
        "│ It is line 3.",
    ]


def test_the_state_stands_below_the_words_and_goes_again(agent: AgentDouble) -> None:
    working = "The model mock is at work (10 s)."
    said = "One sentence that goes on."
    rows = streamed(
        agent,
        chunk("One sentence "),
        state("PROPOSING", working),
        state("PROPOSING", working),
        chunk("that goes"),
        state("PROPOSING", "The model mock is at work (20 s)."),
        chunk(" on."),
        task=an_answer(said),
    )
    assert rows[:4] == [ask.MODEL_SAYS.en, f"│ {said}", "", "T-7K3F  completed"]


def test_while_nothing_is_said_yet_the_state_stands_alone(agent: AgentDouble) -> None:
    agent.events["ask"] = [state("PROPOSING"), chunk("half a sent")]
    agent.silent.add("ask")
    with in_front("ask", "why") as screen:
        assert drawn(reads(screen, "half a sent")) == [
            ask.MODEL_SAYS.en,
            "│ half a sent",
        ]
        os.write(screen, b"\x03")
        reads(screen, "goes on")


@pytest.mark.parametrize("known", [True, False])
def test_looking_away_leaves_the_task_running_and_says_so(
    agent: AgentDouble, *, known: bool
) -> None:
    event = state("PROPOSING", "The model is at work.")
    agent.events["ask"] = [event if known else event | {"short_id": ""}]
    agent.silent.add("ask")
    with in_front("ask", "why") as screen:
        reads(screen, "at work")
        os.write(screen, b"\x03")
        told = reads(screen, "Stopped watching")
        assert ("T-7K3F" in told + reads_all(screen)) is known
    assert {asked.op for asked in agent.asked} == {"ask"}


@pytest.mark.parametrize("plain", ["NO_COLOR", "TERM"])
def test_without_colour_or_a_clever_terminal_nothing_is_written_over(
    agent: AgentDouble, monkeypatch: pytest.MonkeyPatch, plain: str
) -> None:
    monkeypatch.setenv("NO_COLOR", "1" if plain == "NO_COLOR" else "")
    agent.events["ask"] = [state("PROPOSING"), chunk(SAID)]
    agent.answers["ask"] = {"task": a_task()}
    with in_front("ask", "why", term="dumb" if plain == "TERM" else "xterm") as screen:
        shown = reads_all(screen)
    assert not re.search(r"\x1b\[[0-9;]*m", shown)
    assert ("\x1b" in shown) is (plain == "NO_COLOR")
    assert "Raised" in shown


def test_a_failure_is_one_paragraph_and_its_end_is_said_once(agent: AgentDouble) -> None:
    why = "The model's provider does not accept the key, or wants one. " * 2
    failed = TASK | {"state": "FAILED", "reason": "failed", "summary": why.strip()}
    rows = streamed(agent, state("PROPOSING"), state("FAILED"), task=failed)
    assert rows[0] == "T-7K3F  failed"
    assert " ".join(rows[1:]) == why.strip()
    assert max(map(len, rows)) <= 80


@pytest.mark.parametrize(
    ("reason", "code"), [("completed", 0), ("refused", 1), ("drifted", 1), ("cancelled", 1)]
)
def test_of_a_change_that_was_decided_on_the_end_is_told_and_not_the_proposal(
    agent: AgentDouble, capsys: Captured, reason: str, code: int
) -> None:
    state_then = "COMPLETED" if reason == "completed" else "REJECTED"
    ended = a_task(state=state_then, reason=reason, rests=False, summary="What came of it.")
    agent.answers["ask"] = {"task": ended}
    assert codexbridge.main(["ask", "apply T-7K3F"]) == code
    rows = capsys.readouterr().out.splitlines()
    assert "What came of it." in rows
    assert HEAD not in rows
    assert LABEL not in rows


# -- show, diff, tasks, status ---------------------------------------------------------------


def test_show_tells_model_tokens_version_and_what_to_do(
    agent: AgentDouble, capsys: Captured
) -> None:
    task = a_task(version=2, revises="T-0001", workspace="shop")
    agent.answers["show"] = {"task": task, "approval": None}
    assert codexbridge.main(["show", "T-7K3F"]) == 0
    out = capsys.readouterr().out
    assert say(tasks.RESTS_VERSION, "en", version=2) in out
    assert say(show.VERSION, "en", version=2, task="T-0001") in out
    assert "1,203 tokens read, 82 written" in out
    assert "codexbridge context T-7K3F" in out
    assert "codexbridge apply T-7K3F" in out
    assert LABEL in out
    assert codexbridge.main(["show", "T-7K3F", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["task"] == filled(ShownTask, task)


def test_show_of_a_turn_that_failed_tells_what_it_used_and_was_shown(
    agent: AgentDouble, capsys: Captured
) -> None:
    failed = a_task(
        state="FAILED",
        reason="failed",
        summary="It hung.",
        rests=False,
        proposal=None,
        proposed=None,
        details=None,
        own=None,
        speech=None,
        files=[],
        turns=[TURN | {"outcome": "model.idle"}],
    )
    agent.answers["show"] = {"task": failed, "approval": None}
    assert codexbridge.main(["show", "T-7K3F"]) == 0
    out = capsys.readouterr().out
    assert "1,203 tokens read, 82 written" in out
    assert "codexbridge context T-7K3F" in out
    assert "It hung." in out


def test_show_of_an_answer_asked_here_tells_it_once(agent: AgentDouble, capsys: Captured) -> None:
    agent.answers["show"] = {"task": an_answer(), "approval": None}
    assert codexbridge.main(["show", "T-7K3F"]) == 0
    assert capsys.readouterr().out.count("No test names it.") == 1
    told_whole = an_answer(source="wecom", summary=f"{LABEL}\n{SAID}")
    agent.answers["show"] = {"task": told_whole, "approval": None}
    assert codexbridge.main(["show", "T-7K3F"]) == 0
    out = capsys.readouterr().out
    assert out.count("No test names it.") == 1
    assert show.HERE_ALONE.en not in out
    asked_there = an_answer(source="wecom", summary="It is told less.")
    agent.answers["show"] = {"task": asked_there, "approval": None}
    assert codexbridge.main(["show", "T-7K3F"]) == 0
    out = capsys.readouterr().out
    assert "It is told less." in out
    assert "No test names it." in out
    assert show.HERE_ALONE.en in out


@pytest.mark.parametrize("revises", [None, "T-0001"])
def test_a_diff_says_which_version_it_is(
    agent: AgentDouble, capsys: Captured, revises: str | None
) -> None:
    holds(agent, PATCH)
    task = a_task(version=2 if revises else None, revises=revises)
    agent.answers["show"] = {"task": task, "approval": None}
    assert codexbridge.main(["diff", "T-7K3F"]) == 0
    lineage = say(proposal.LINEAGE, "en", task="T-7K3F", version=2, before="T-0001")
    assert capsys.readouterr().out.startswith(lineage) is bool(revises)


@pytest.mark.parametrize("revises", ["T-0001", None])
def test_what_waits_is_shown_with_the_version_it_is(
    agent: AgentDouble, capsys: Captured, revises: str | None
) -> None:
    holds(agent, PATCH)
    task = a_task(state="WAITING_APPROVAL", rests=False, version=2, revises=revises)
    agent.answers["show"] = {"task": task, "approval": an_approval()}
    assert codexbridge.main(["show", "T-7K3F"]) == 0
    lineage = say(proposal.LINEAGE, "en", task="T-7K3F", version=2, before="T-0001")
    assert (lineage in capsys.readouterr().out) is bool(revises)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_tasks_tells_what_rests_and_which_version_it_is(
    agent: AgentDouble, capsys: Captured, monkeypatch: pytest.MonkeyPatch, lang: Lang
) -> None:
    monkeypatch.setenv("CODEXBRIDGE_LANG", lang)
    agent.answers["tasks"] = {"tasks": [a_task(version=3), a_task(short_id="T-0001")]}
    assert codexbridge.main(["tasks"]) == 0
    newest, older = capsys.readouterr().out.splitlines()
    assert say(tasks.RESTS_VERSION, lang, version=3) in newest
    assert say(tasks.RESTS, lang) in older


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_version_that_a_newer_one_replaced_names_it(
    agent: AgentDouble, capsys: Captured, monkeypatch: pytest.MonkeyPatch, lang: Lang
) -> None:
    monkeypatch.setenv("CODEXBRIDGE_LANG", lang)
    over = {"state": "REJECTED", "reason": "cancelled", "rests": False, "summary": ""}
    agent.answers["tasks"] = {"tasks": [a_task(**over, replaced_by="T-0002"), a_task(**over)]}
    assert codexbridge.main(["tasks", "--all"]) == 0
    replaced, cancelled = capsys.readouterr().out.splitlines()
    told = say(tasks.REPLACED, lang, task="T-0002")
    assert told in replaced
    assert say(REASONS["cancelled"], lang) not in replaced
    assert say(REASONS["cancelled"], lang) in cancelled
    agent.answers["show"] = {"task": a_task(**over, replaced_by="T-0002"), "approval": None}
    assert codexbridge.main(["show", "T-7K3F"]) == 0
    assert told in capsys.readouterr().out


@pytest.mark.parametrize(("model", "told"), [("deepseek", "deepseek"), (None, status.NO_MODEL.en)])
def test_status_tells_which_model_is_asked(
    agent: AgentDouble, capsys: Captured, model: str | None, told: str
) -> None:
    agent.answers["status"] = a_status(model=model)
    assert codexbridge.main(["status"]) == 0
    row = next(r for r in capsys.readouterr().out.splitlines() if r.startswith("Model"))
    assert row.endswith(told)


def test_every_sentence_of_proposals_says_what_to_type_in_both_languages() -> None:
    for sentence in vars(proposal).values():
        if isinstance(sentence, Sentence) and "codexbridge " in sentence.en:
            (typed,) = re.findall(r"codexbridge [a-z]+", sentence.en)
            assert typed in sentence.zh


TEXT = (
    "It retries three times because `retry = 3` stands in login.py:1, and no more.\r\n"
    "\n\n"
    "它会重试三次，因为 login.py:1 中写着，而且中途没有再检查。 end\n"
    "    indented\tby a tab\n"
    "🧑‍💻 works, \u202e does not\n"
    "\n"
)


def pieces(size: int, *, width: int = 30) -> tuple[list[str], str]:
    flow = Flow(GUTTER, width)
    written = [flow.feed(TEXT[start : start + size]) for start in range(0, len(TEXT), size)]
    whole = "".join(written) + flow.end()
    return drawn(whole), whole


@each("size", [1, 2, 3, 5, 7, 11, 50])
def test_however_it_is_cut_the_same_rows_stand_there(size: int) -> None:
    rows, _ = pieces(size)
    assert rows == pieces(len(TEXT))[0]
    assert all(row.startswith("│") for row in rows)
    assert max(cells(row) for row in rows) <= cells(GUTTER) + 30


def test_words_are_kept_whole_and_nothing_is_dropped() -> None:
    rows, _ = pieces(4)
    assert "│ It retries three times because" in rows
    joined = "".join(row.removeprefix("│").replace(" ", "") for row in rows)
    assert "它会重试三次，因为login.py:1中写着，而且中途没有再检查。end" in joined
    assert "│     indented    by a tab" in rows


@pytest.mark.requirement("R26")
@each("size", [1, 3, 200])
def test_nothing_in_it_is_obeyed_by_a_terminal(size: int) -> None:
    flow = Flow(GUTTER, 100)
    hostile = "a\x1b[2Jb\x07\rc\u202ed\u200be"
    shown = "".join(flow.feed(hostile[at : at + size]) for at in range(0, len(hostile), size))
    rows = drawn(shown + flow.end())
    assert rows == ["│ a⟨U+001B⟩[2Jb⟨U+0007⟩⟨U+000D⟩c⟨U+202E⟩d⟨U+200B⟩e"]


def test_empty_lines_stand_only_between_others() -> None:
    flow = Flow(GUTTER, 30)
    assert drawn(flow.feed("\n\n  \n") + flow.end()) == []
    assert drawn(flow.feed("a\n\n\nb\n\n") + flow.end()) == ["│ a", "│", "│", "│ b"]


def test_the_open_row_can_be_written_anew() -> None:
    flow = Flow(GUTTER, 30)
    assert not flow.is_open
    written = flow.feed("one\ntwo thr")
    assert flow.is_open
    below = f"{written}\nthe status\r\x1b[K\x1b[A{flow.again()}{flow.feed('ee')}{flow.end()}"
    assert drawn(below) == ["│ one", "│ two three"]
    assert not flow.is_open


def test_a_long_line_is_not_read_over_and_over() -> None:
    flow = Flow(GUTTER, 30)
    for _ in range(20_000):
        flow.feed("word ")
    assert len(flow.feed("end")) < 100
