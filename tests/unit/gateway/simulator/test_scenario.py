"""Scenarios are read strictly, and played to the first step that is not met."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import ConfigError, InputError
from gateway.simulator.scenario import Outcome, Run, load_scenario, parse_scenario, shipped
from tests.each import each

HEAD = '[title]\nen = "a"\nzh = "b"\n[why]\nen = "c"\nzh = "d"\n'


def test_every_shipped_scenario_is_found_by_its_name_in_both_languages() -> None:
    for one in shipped():
        assert load_scenario(one.name) == one
        assert all((*one.title.values(), *one.why.values()))
    assert len(shipped()) >= 5


def test_a_file_of_one_s_own_is_read(tmp_path: Any) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(HEAD + '[[step]]\nsay = "x"\n', encoding="utf-8")
    assert load_scenario(str(path)).name == "mine"
    for name, code in (("none", "sim.no-scenario"), (str(tmp_path / "no.toml"), "config.no-file")):
        with pytest.raises(ConfigError) as caught:
            load_scenario(name)
        assert caught.value.code == code


@each(
    "text",
    [
        "",
        "[",
        HEAD,
        HEAD + "step = []",
        HEAD + "[[step]]",
        HEAD + "[[step]]\nsay = 1",
        HEAD + '[[step]]\nsay = "x"\nexpect = "sent"',
        HEAD + '[[step]]\nsay = "x"\nwithin = 3',
        HEAD + '[[step]]\nsay = "x"\nother = 3',
        HEAD + '[[step]]\nexpect = "maybe"',
        HEAD + '[[step]]\nexpect = "called"',
        HEAD + '[[step]]\nexpect = "sent"\ncall = "gettoken"',
        HEAD + '[[step]]\nexpect = "sent"\nwithin = 0',
        HEAD + '[[step]]\nexpect = "sent"\nwithin = true',
        HEAD + '[[step]]\nexpect = "sent"\nwithin = 1e9',
        HEAD + '[[step]]\nfault = "nothing"',
        HEAD + '[[step]]\nclear = ""',
        HEAD + '[[step]]\nrepeat = "twice"',
        HEAD + '[[step]]\nsay = "x"\n' * 101,
        HEAD + '[[step]]\nsay = "x"\n[more]\na = 1',
        HEAD.replace('zh = "d"', 'de = "d"') + '[[step]]\nsay = "x"',
        HEAD + '[[step]]\nsay = "x"\n' + "# " + "x" * 70_000,
    ],
)
def test_what_is_no_scenario_is_refused(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_scenario(text, name="x")
    assert caught.value.code == "sim.scenario"


class Scripted:
    """A simulator that does as the test says, and notes what it was asked for."""

    def __init__(self, *feeds: dict[str, Any], status: int = 200) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.status = status
        self._feeds = list(feeds)
        self.fails: Callable[[str], None] = lambda _what: None

    def ask(self, what: str, **body: Any) -> dict[str, Any]:
        self.fails(what)
        self.asked.append((what, body))
        return {"status": self.status, "errcode": 0, "errmsg": "ok"}

    def feed(self, after: int) -> dict[str, list[dict[str, Any]]]:
        told = self._feeds[0] if self._feeds else {}
        return {
            part: [one for one in told.get(part, []) if one["number"] > after]
            for part in ("messages", "exchanges")
        }

    def happen(self, **feed: Any) -> None:
        self._feeds = [feed]


def answer(number: int, text: str, *, user: str = "li", app: str = "main") -> dict[str, Any]:
    return {
        "number": number,
        "id": number,
        "sender": "app",
        "user": user,
        "app": app,
        "text": text,
        "card": None,
    }


def called(number: int, what: str, errcode: int | None = 0, note: str = "") -> dict[str, Any]:
    return {"number": number, "kind": "api", "what": what, "errcode": errcode, "note": note}


def play(simulator: Scripted, steps: str, *, app: str = "") -> list[Outcome]:
    scenario = parse_scenario(HEAD + steps, name="x")
    clock = ManualClock()

    def sleep(_seconds: float) -> None:
        clock.advance(1.0)

    run = Run(scenario, simulator, clock=clock, lang="en", user="li", app=app, sleep=sleep)
    return list(run.outcomes())


def expect(value: str, more: str = "") -> str:
    return f'[[step]]\nexpect = "{value}"\n{more}\n'


@each(
    "good, step, feed",
    [
        (True, expect("sent"), {"messages": [answer(1, "x")]}),
        (True, expect("sent", 'contains = "x"'), {"messages": [answer(1, "axb")]}),
        (False, expect("sent", 'contains = "y"'), {"messages": [answer(1, "axb")]}),
        (False, expect("sent"), {"messages": [answer(1, "x", user="wang")]}),
        (False, expect("sent"), {}),
        (False, expect("nothing"), {"messages": [answer(1, "x")]}),
        (True, expect("nothing"), {"exchanges": [called(1, "message/send")]}),
        (True, expect("held"), {"exchanges": [called(1, "message/send", 60020, "60020")]}),
        (True, expect("held"), {"exchanges": [called(1, "message/send", None)]}),
        (False, expect("held"), {"exchanges": [called(1, "message/send")]}),
        (
            False,
            expect("held"),
            {"exchanges": [called(1, "gettoken", -1)], "messages": [answer(2, "x")]},
        ),
        (True, expect("called", 'call = "gettoken"'), {"exchanges": [called(1, "gettoken")]}),
        (
            False,
            expect("called", 'call = "gettoken"\nerrcode = 0'),
            {"exchanges": [called(1, "gettoken", 40001)]},
        ),
    ],
)
def test_an_expectation_is_met_or_not(good: bool, step: str, feed: dict[str, Any]) -> None:
    (outcome,) = play(Scripted(feed), step)
    assert outcome.good == good


def test_what_was_there_before_the_last_deed_does_not_count() -> None:
    simulator = Scripted({"messages": [answer(1, "old")]})
    outcomes = play(simulator, '[[step]]\nsay = "x"\n' + expect("sent"))
    assert [one.good for one in outcomes] == [True, False]


def test_another_app_s_answer_does_not_count() -> None:
    simulator = Scripted({"messages": [answer(1, "x", app="other")]})
    assert not play(simulator, expect("sent"), app="shop")[0].good
    assert play(simulator, expect("sent"), app="other")[0].good


def test_it_ends_at_the_first_step_that_is_not_met_and_mends_what_it_broke() -> None:
    simulator = Scripted(status=503)
    steps = '[[step]]\nfault = "60020"\naddress = "203.0.113.7"\n[[step]]\nsay = "x"\n'
    outcomes = play(simulator, steps + '[[step]]\nsay = "never"\n', app="shop")
    assert [one.good for one in outcomes] == [True, False]
    assert outcomes[1].found == "HTTP 503"
    assert simulator.asked == [
        ("forget", {}),
        ("fault", {"app": "shop", "name": "60020", "on": True, "address": "203.0.113.7"}),
        ("say", {"user": "li", "app": "shop", "text": "x"}),
        ("fault", {"app": "shop", "name": "", "on": False}),
    ]


def test_a_step_may_want_another_status_and_be_somebody_else_s() -> None:
    simulator = Scripted(status=503)
    assert play(simulator, '[[step]]\nsay = "x"\nstatus = 503\nuser = "wang"\napp = "b"\n')[0].good
    assert simulator.asked[1:] == [("say", {"user": "wang", "app": "b", "text": "x"})]


def test_what_is_told_ends_with_a_word_and_says_when_nobody_answered() -> None:
    feed = {
        "messages": [answer(1, "Ask your own dev machine. Nothing runs or changes before it is")]
    }
    told = play(Scripted(feed), expect("sent"))[0].found
    assert told == "after 0.0 s: Ask your own dev machine. Nothing runs or changes before…"
    feed = {"messages": [answer(1, "中" * 70)]}
    assert play(Scripted(feed), expect("sent"))[0].found == f"after 0.0 s: {'中' * 59}…"
    assert play(Scripted(status=0), '[[step]]\nrepeat = "same"\n')[0] == Outcome(
        good=False, step="the last callback again, unchanged", found="no answer"
    )


def test_where_nothing_comes_it_is_asked_whether_this_is_a_member() -> None:
    for app, member in (("", "li"), ("main", "li"), ("shop", "shop:li")):
        (silent,) = play(Scripted(), expect("sent"), app=app)
        assert f"codexbridge gateway member add {member}, or" in silent.found
        assert "--user" in silent.found
    (silent,) = play(Scripted(), expect("sent", 'user = "a; reboot"'))
    assert "member add 'a; reboot', or" in silent.found
    held = {"exchanges": [called(1, "message/send", 60020, "60020")]}
    for step, feed in ((expect("sent"), held), (expect("nothing"), {})):
        assert "member" not in play(Scripted(feed), step)[0].found


def test_who_has_waited_long_looks_less_often_and_once_more_at_the_end() -> None:
    clock, slept = ManualClock(), list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock.advance(seconds)

    scenario = parse_scenario(HEAD + expect("sent", "within = 150"), name="x")
    run = Run(scenario, Scripted(), clock=clock, lang="en", user="li", sleep=sleep)
    assert [one.good for one in run.outcomes()] == [False]
    assert slept[:20] == [0.05] * 20
    assert len(slept) < 150
    assert 149.9 < sum(slept) < 150.1


def test_what_the_simulator_does_not_know_ends_it_and_is_mended() -> None:
    simulator = Scripted()

    def fails(what: str) -> None:
        if what == "repeat":
            raise InputError("sim.no-such-callback")

    simulator.fails = fails
    with pytest.raises(InputError):
        play(simulator, '[[step]]\nfault = "busy"\n[[step]]\nrepeat = "same"\n')
    assert simulator.asked[-1] == ("fault", {"app": "", "name": "", "on": False})
