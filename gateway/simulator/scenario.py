"""Scenarios: what members and WeCom do, step by step, and what a gateway must make of it.

They are data, in `scenarios` and in an admin's own files: TOML, read strictly.  A step is a table
with one verb and its options.  What each verb and option is for stands in docs/how-to/admin.md.
"""

from __future__ import annotations

import secrets
import shlex
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Protocol

from common.clock import Clock
from common.errors import CodexBridgeError, ConfigError
from common.sentences import Lang, Sentence, say
from common.text import reveal
from gateway.simulator import sentences as S  # noqa: N812 - a table of constants
from gateway.simulator.config import FIRST
from gateway.simulator.faults import FAULTS

MAX_BYTES: Final = 65_536
MAX_STEPS: Final = 100
MAX_WITHIN_S: Final = 3600
LOOK_S: Final = 0.05
LOOKS: Final = 20  # whoever has waited long looks less often: after a twentieth of that once more
SHOWN_CHARS: Final = 60  # of an answer
FOLDER: Final = "scenarios"

_TEXT: Final = str
_NUMBER: Final = (int, float)
# What each verb takes besides its own value, with the types.
_VERBS: Final[Mapping[str, tuple[Any, Mapping[str, Any]]]] = {
    "say": (_TEXT, {"status": int}),
    "event": (_TEXT, {"status": int}),
    "card": (dict, {}),
    "click": (_TEXT, {"status": int}),
    "repeat": (_TEXT, {"status": int}),
    "fault": (_TEXT, {"seconds": _NUMBER, "count": int, "address": _TEXT, "delay": _NUMBER}),
    "clear": (_TEXT, {}),
    "tokens": (_TEXT, {"seconds": _NUMBER}),
    "expect": (
        _TEXT,
        {"within": _NUMBER, "contains": _TEXT, "call": _TEXT, "errcode": int},
    ),
}
_CHOICES: Final = {
    "repeat": {"same", "renewed"},
    "tokens": {"expire", "forget"},
    "expect": {"sent", "held", "nothing", "called"},
    "fault": set(FAULTS),
    "clear": {*FAULTS, "all"},
}
_SHARED: Final = {"user": _TEXT, "app": _TEXT}


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what is done, or what must come of it."""

    verb: str
    value: Any
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A story with an end that can be checked.

    Attributes:
        title: What it is, in each language: its author's words, no template of ours.
        why: Why it matters.
    """

    name: str
    title: Mapping[Lang, str]
    why: Mapping[Lang, str]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one step.

    Attributes:
        good: Whether it is as the scenario wants it.
        step: What was done.
        found: What came of it.
    """

    good: bool
    step: str
    found: str


class Asks(Protocol):
    """A running simulator, as `gateway.simulator.client` reaches it."""

    def ask(self, what: str, **body: Any) -> dict[str, Any]:
        """Have something done."""

    def feed(self, after: int) -> dict[str, list[dict[str, Any]]]:
        """Return what happened after a number."""


def shipped() -> list[Scenario]:
    """Return the scenarios that come along, by name; blocks on small files."""
    folder = files("gateway.simulator").joinpath(FOLDER)
    return [
        parse_scenario(one.read_text(encoding="utf-8"), name=one.name.removesuffix(".toml"))
        for one in sorted(folder.iterdir(), key=lambda one: one.name)
    ]


def load_scenario(name: str) -> Scenario:
    """Return a scenario by its name, or from a file that ends in ``.toml``.

    Raises:
        ConfigError: ``sim.no-scenario`` (name), ``config.no-file`` or ``sim.scenario``.
    """
    if name.endswith(".toml"):
        try:
            with Path(name).open("rb") as file:
                text = file.read(MAX_BYTES + 1).decode()
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "UTF-8"
            raise ConfigError("config.no-file", file=name, why=why) from None
        return parse_scenario(text, name=Path(name).stem)
    for one in shipped():
        if one.name == name:
            return one
    raise ConfigError("sim.no-scenario", name=name)


def parse_scenario(text: str, *, name: str) -> Scenario:
    """Return the scenario of a TOML text.

    Raises:
        ConfigError: ``sim.scenario`` (name, why).
    """
    try:
        return _scenario(text, name)
    except (ValueError, TypeError, RecursionError) as error:  # also what is no TOML
        why = reveal(str(error).splitlines()[0])
        raise ConfigError("sim.scenario", name=name, why=why) from None


def _scenario(text: str, name: str) -> Scenario:
    if len(text.encode()) > MAX_BYTES:
        raise ValueError("size")
    found = tomllib.loads(text)
    if set(found) != {"title", "why", "step"}:
        raise ValueError("keys")
    steps = found["step"]
    if not isinstance(steps, list) or not 0 < len(steps) <= MAX_STEPS:
        raise ValueError("step")
    read = tuple(_step(one, number) for number, one in enumerate(steps, 1))
    return Scenario(name, _sentence(found["title"]), _sentence(found["why"]), read)


def _sentence(found: Any) -> Mapping[Lang, str]:
    match found:
        case {"en": str(en), "zh": str(zh), **others} if not others:
            return {"en": reveal(en), "zh": reveal(zh)}
    raise ValueError("languages")


def _step(found: Any, number: int) -> Step:
    verbs = [name for name in found if name in _VERBS] if isinstance(found, dict) else []
    if len(verbs) != 1:
        raise ValueError(f"step {number}: one of {', '.join(_VERBS)}")
    verb = verbs[0]
    kind, options = _VERBS[verb]
    for name, value in found.items():
        wanted = kind if name == verb else {**options, **_SHARED}.get(name)
        if wanted is None or not isinstance(value, wanted) or isinstance(value, bool):
            raise ValueError(f"step {number}: {name}")
        if name in ("within", "seconds", "delay", "count") and not 0 < value <= MAX_WITHIN_S:
            raise ValueError(f"step {number}: {name}")
    if verb in _CHOICES and found[verb] not in _CHOICES[verb]:
        raise ValueError(f"step {number}: {verb} = {found[verb]}")
    if (found.get("expect") == "called") != ("call" in found):
        raise ValueError(f"step {number}: call")
    return Step(verb, found[verb], {name: found[name] for name in found if name != verb})


def _beginning(text: str) -> str:
    """Return how a text begins, up to the end of a word."""
    line = text.splitlines()[0]
    if len(line) <= SHOWN_CHARS:
        return line
    cut = line[: SHOWN_CHARS - 1]
    return (cut[: cut.rfind(" ")] if " " in cut[SHOWN_CHARS // 2 :] else cut).rstrip() + "…"


class Run:
    """A scenario as it is played against a running simulator.

    Args:
        scenario: What is played.
        simulator: Where.
        clock: Tells how long an answer took.
        lang: Language of the person.
        user: The member who acts where a step names none.
        app: The app where a step names none; empty for the first.
        sleep: Waits for so many seconds before it is looked again.
    """

    def __init__(
        self,
        scenario: Scenario,
        simulator: Asks,
        *,
        clock: Clock,
        lang: Lang,
        user: str,
        app: str = "",
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._scenario = scenario
        self._simulator = simulator
        self._clock = clock
        self._lang: Lang = lang
        self._who = {"user": user, "app": app}
        self._sleep = sleep
        self._mark = 0
        self._cards: list[str] = []
        self._broken: set[str] = set()
        self._acts: Mapping[str, Callable[[Step, dict[str, Any]], Outcome]] = {
            "card": self._card,
            "fault": self._fault,
            "clear": self._clear,
            "tokens": self._tokens,
            "expect": self._expect,
        }

    def outcomes(self) -> Iterator[Outcome]:
        """Play step by step, up to the first that fails; what was broken is mended at the end.

        Raises:
            InputError: ``sim.…``: a step names what is not there.
            UnavailableError: ``sim.not-running``.
        """
        self._simulator.ask("forget")
        try:
            for step in self._scenario.steps:
                outcome = self._play(step)
                yield outcome
                if not outcome.good:
                    return
        finally:
            with suppress(CodexBridgeError):  # it has gone
                for app in sorted(self._broken):
                    self._simulator.ask("fault", app=app, name="", on=False)

    def _play(self, step: Step) -> Outcome:
        who = self._who | {name: step.options[name] for name in self._who if name in step.options}
        if step.verb != "expect":
            self._mark = self._last()
        return self._acts.get(step.verb, self._callback)(step, who)

    def _last(self) -> int:
        feed = self._simulator.feed(0)
        return max((one["number"] for part in feed.values() for one in part), default=0)

    def _outcome(
        self, step: Step, who: Mapping[str, str], found: Sentence, *, good: bool, **told: object
    ) -> Outcome:
        table = S.EXPECTED if step.verb == "expect" else S.STEPS
        sentence = table[step.value if step.verb == "expect" else step.verb]
        value = step.value if isinstance(step.value, str) else ""
        if step.verb in ("fault", "clear") and value in S.FAULTS:
            label = say(S.FAULTS[value], self._lang)
            value = say(S.FAULT_NAMED, self._lang, name=value, label=label)
        elif step.verb in _CHOICES and value in S.VALUES:
            value = say(S.VALUES[value], self._lang)
        facts = {"value": value, **who, **step.options}
        said = (say(sentence, self._lang, **facts), say(found, self._lang, **told))
        return Outcome(good, *map(reveal, said))

    def _callback(self, step: Step, who: dict[str, Any]) -> Outcome:
        """A member writes, clicks or comes; or a callback is repeated: all end with a status."""
        match step.verb:
            case "say":
                asked = self._simulator.ask("say", text=step.value, **who)
            case "event":
                asked = self._simulator.ask("event", name=step.value, **who)
            case "click":
                asked = self._simulator.ask("click", id=self._bubble(who), key=step.value, **who)
            case _:
                asked = self._simulator.ask("repeat", renewed=step.value == "renewed")
        status = asked["status"]
        found = S.FOUND_STATUS if status else S.FOUND_SILENCE
        good = status == step.options.get("status", 200)
        return self._outcome(step, who, found, good=good, status=status)

    def _bubble(self, who: Mapping[str, str]) -> int:
        cards = [
            one["id"]
            for one in self._simulator.feed(0)["messages"]
            if one["card"]
            and one["card"].get("task_id") in self._cards
            and one["user"] == who["user"]
        ]
        return int(max(cards, default=0))

    def _card(self, step: Step, who: dict[str, Any]) -> Outcome:
        task_id = f"{step.value.get('task_id', 'card')}@{secrets.token_hex(8)}"
        self._cards.append(task_id)
        card = step.value | {"task_id": task_id}
        message = {"touser": who["user"], "msgtype": "template_card", "template_card": card}
        said = self._simulator.ask("call", app=who["app"], message=message)
        facts = {"errcode": said["errcode"], "errmsg": said["errmsg"]}
        return self._outcome(step, who, S.FOUND_ERRCODE, good=said["errcode"] == 0, **facts)

    def _fault(self, step: Step, who: dict[str, Any]) -> Outcome:
        options = {name: value for name, value in step.options.items() if name not in self._who}
        self._broken.add(who["app"])
        self._simulator.ask("fault", app=who["app"], name=step.value, on=True, **options)
        return self._outcome(step, who, S.FOUND_DONE, good=True)

    def _clear(self, step: Step, who: dict[str, Any]) -> Outcome:
        name = "" if step.value == "all" else step.value
        self._simulator.ask("fault", app=who["app"], name=name, on=False)
        return self._outcome(step, who, S.FOUND_DONE, good=True)

    def _tokens(self, step: Step, who: dict[str, Any]) -> Outcome:
        later = {name: step.options[name] for name in ("seconds",) if name in step.options}
        self._simulator.ask("tokens", app=who["app"], how=step.value, **later)
        return self._outcome(step, who, S.FOUND_DONE, good=True)

    def _expect(self, step: Step, who: dict[str, Any]) -> Outcome:
        within_s = step.options.get("within", 10)
        begun = self._clock.now().mono
        waited_s = 0.0
        while True:
            answers, failed, called = self._look(step, who)
            decided = {"sent": answers, "held": failed, "nothing": answers, "called": called}
            if decided[step.value] or waited_s >= within_s:
                break
            self._sleep(min(max(LOOK_S, waited_s / LOOKS), within_s - waited_s))
            waited_s = self._clock.now().mono - begun
        good = bool(decided[step.value]) != (step.value == "nothing")
        if step.value == "held" and answers:
            good = False
        sentence = S.FOUND_ANSWER if answers else S.FOUND_FAILED if failed else S.FOUND_NOTHING
        if step.value == "called" and called:
            sentence = S.FOUND_CALLED
        if not good and sentence is S.FOUND_NOTHING:
            sentence = S.FOUND_UNHEARD
        member = who["user"] if who["app"] in ("", FIRST) else f"{who['app']}:{who['user']}"
        found = {
            "member": shlex.quote(member),  # a scenario of somebody else's may name it
            "seconds": f"{waited_s:.1f}",
            "text": _beginning(answers[0]) if answers else "",
            "why": failed[0] if failed else "",
        }
        options = {"within": within_s, "call": "", "errcode": "", "contains": ""}
        full = Step(step.verb, step.value, {**options, **step.options})
        return self._outcome(full, who, sentence, good=good, **found)

    def _look(self, step: Step, who: Mapping[str, str]) -> tuple[list[str], list[str], list[str]]:
        """Return answers to the member, calls that failed, and calls of the kind looked for."""
        feed = self._simulator.feed(self._mark)
        answers = [
            str(one["text"])
            for one in feed["messages"]
            if one["sender"] == "app"
            and one["user"] == who["user"]
            and one["app"] == (who["app"] or one["app"])
            and step.options.get("contains", "") in one["text"]
        ]
        calls = [one for one in feed["exchanges"] if one["kind"] == "api"]
        failed = [
            one["note"] or str(one["errcode"])
            for one in calls
            if one["note"] or one["errcode"] != 0
        ]
        errcode = step.options.get("errcode")
        called = [
            one["what"]
            for one in calls
            if one["what"] == step.options.get("call") and errcode in (None, one["errcode"])
        ]
        return answers, failed, called
