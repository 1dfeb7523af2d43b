"""``codexbridge init`` in a real terminal, with a real gateway: from nothing to a first task."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from tests.e2e.place import CODE, Place, Terminal
from tests.init.agent.guide import (
    SPOKEN,
    Told,
    answer,
    approve,
    kept,
    line_for,
    to_first_task,
    wrapped,
)

pytestmark = pytest.mark.needs("bubblewrap")


@pytest.mark.requirement("P1")
@pytest.mark.parametrize("lang", ["zh", pytest.param("en", marks=pytest.mark.thorough)])
def test_the_whole_way_leads_to_a_task_that_was_approved(place: Place, lang: str) -> None:
    told, environ = SPOKEN[lang], place.environ | {"CODEXBRIDGE_LANG": lang}
    line = line_for(place)
    with Terminal(environ, "init") as terminal:
        to_first_task(terminal, told, line)
        answer(terminal, told.send)
        assert place.callback("@dev test") == 200
        approve(terminal, told)
        answer(terminal, told.stays)
        assert told.proved in terminal.shown
        assert line.partition("#")[2] not in terminal.shown
        (task,) = place.tasks()
        assert (task["reason"], task["channel"]) == ("completed", "wecom_app")
        assert place.hears(task["short_id"], "✓")
        terminal.interrupt()
        terminal.read_to_end()
        assert terminal.fork.wait(20) == 0
    assert place.status() == {}, "the agent ended with it"
    before = kept(place)
    _run_again(environ, told)
    assert kept(place) == before
    assert line.partition("#")[2].encode() not in b"".join(before.values())


def _run_again(environ: Mapping[str, str], told: Told) -> None:
    with Terminal(environ, "init") as terminal:
        answer(terminal, told.stays)
        terminal.interrupt()
        terminal.read_to_end()
        assert terminal.fork.wait(20) == 0
        for question in (told.paste, told.compare, told.folder, told.command, told.send):
            assert question not in terminal.shown


def test_words_that_differ_unpair_the_machine_and_say_what_it_means(place: Place) -> None:
    told = SPOKEN["en"]
    with Terminal(place.environ, "init") as terminal:
        answer(terminal, told.paste, line_for(place))
        answer(terminal, told.compare, "perhaps")
        terminal.type("different")
        shown = terminal.read_to_end()
        assert terminal.fork.wait(20) == 1
    assert "codexbridge gateway revoke dev-1" in shown
    assert not any("pairing" in name or "keys/" in name for name in kept(place))


def test_a_local_request_needs_no_gateway_and_a_skipped_approval_stays(place: Place) -> None:
    told = SPOKEN["en"]
    with Terminal(place.environ, "init") as terminal:
        answer(terminal, told.paste, "")
        answer(terminal, told.folder, "")
        answer(terminal, told.command, "no-such-program")
        terminal.read_until(
            ":", after=re.compile(f"(?s){wrapped(told.command)}.*{wrapped(told.command)}")
        )
        terminal.type("make test")
        answer(terminal, "Enter asks for `@dev test` here", "")
        answer(terminal, "codexbridge approve T-", "s")
        answer(terminal, told.stays)
        (task,) = place.tasks()
        assert (task["state"], task["channel"]) == ("WAITING_APPROVAL", "terminal")
        terminal.interrupt()
        terminal.read_to_end()
    with Terminal(place.environ, "init") as terminal:
        answer(terminal, told.paste, "")
        approve(terminal, told)
        answer(terminal, told.stays)
        assert CODE.search(terminal.shown)
        assert told.proved in terminal.shown
