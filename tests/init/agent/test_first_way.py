"""``codexbridge init`` in a real terminal, with a real gateway: from nothing to a first task."""

from __future__ import annotations

import re

import pytest

from tests.e2e.place import CODE, Place, Terminal
from tests.init.agent.guide import SPOKEN, answer, line_for, to_first_task


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_whole_way_leads_to_a_task_that_was_approved(place: Place, lang: str) -> None:
    told = SPOKEN[lang]
    with Terminal(place.environ | {"CODEXBRIDGE_LANG": lang}, "init") as terminal:
        line = line_for(place)
        to_first_task(terminal, told, line)
        answer(terminal, told.send)
        print(terminal.shown)
        assert place.callback("@dev test") == 200
        answer(terminal, "codexbridge approve T-", "")
        shown = terminal.read_until(":", "：", after=CODE)
        code = CODE.search(shown)
        assert code
        terminal.type(code[0] if told.whole in shown else code[1])
        answer(terminal, told.stays)
        assert told.proved in terminal.shown
        assert line not in terminal.shown
        assert line.partition("#")[2] not in terminal.shown
        (task,) = place.tasks()
        assert (task["reason"], task["channel"]) == ("completed", "wecom_app")
        assert place.hears(task["short_id"], "✓")
        terminal.interrupt()
        terminal.read_to_end()
        assert terminal.fork.wait(20) == 0
        print(terminal.shown)
    assert place.status() == {}, "the agent ended with it"
