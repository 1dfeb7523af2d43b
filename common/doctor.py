"""What both doctors share: checks by name, what they find, and how that is told.

A check looks at one thing.  What it finds has a code; the code's diagnosis says what was found, why
it matters and what mends it.  The same codes stand in logs and in errors.  What hangs on something
ill is not looked at: of one cause, one thing is told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePath
from traceback import walk_tb
from typing import Any, Final, NamedTuple

from common.errors import CodexBridgeError
from common.logs import Log
from common.sentences import LANGS, Lang, Sentence, explain, listed, say
from common.terminal import Ink, cells, pad, wrap
from common.text import one_line

LOOK_S: Final = 10.0  # for one check
_MARKS: Final = {"good": ("✓", "green"), "warn": ("!", "mark"), "bad": ("✗", "red")}
_FACT_BYTES: Final = 400


class Tone(StrEnum):
    """How much it matters."""

    GOOD = "good"
    WARN = "warn"  # something is worse than it could be
    BAD = "bad"  # something cannot work
    UNSEEN = "unseen"  # what it hangs on is ill


@dataclass(frozen=True, slots=True)
class Fix:
    """A mend that is safe to do at once.

    Attributes:
        what: What it does, as a question: “Create the folder {path}?”; its facts are the finding's.
        do: Does it; blocks.

    Raises:
        OSError, CodexBridgeError: from ``do``: it could not be done.
    """

    what: Sentence
    do: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found.

    Attributes:
        code: ``CHECK.WHAT``, with a diagnosis in the table of its half.
        facts: What its sentences need.
        fix: Where there is a safe one.
    """

    code: str
    tone: Tone = Tone.GOOD
    facts: Mapping[str, object] = field(default_factory=dict)
    fix: Fix | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a code means to a person; each is one line.

    Attributes:
        said: What was found.
        why: Why it matters; None where all is well.
        mend: The command, or the page of WeCom's console, that mends it.
    """

    said: Sentence
    why: Sentence | None = None
    mend: Sentence | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One thing to look at.

    Attributes:
        name: The same in logs and errors: ``sandbox``, ``wecom-token``.
        title: What it is, in a word or two.
        look: Looks.  An exception is a finding too, and bad: a `CodexBridgeError` by its code.
        after: Checks without which this one says nothing new.
        seconds: It has.
    """

    name: str
    title: Sentence
    look: Callable[[], Awaitable[Finding]]
    after: tuple[str, ...] = ()
    seconds: float = LOOK_S


@dataclass(frozen=True, slots=True)
class Examined:
    """A check, and what it found."""

    check: Check
    finding: Finding


async def examine(checks: Iterable[Check]) -> list[Examined]:
    """Look at everything, in order; each check has ten seconds, or as it says."""
    found: list[Examined] = []
    ill: dict[str, Sentence] = {}
    for check in checks:
        finding = await _look(check, ill)
        if finding.tone in (Tone.BAD, Tone.UNSEEN):
            ill[check.name] = check.title
        found.append(Examined(check, finding))
    return found


async def _look(check: Check, ill: Mapping[str, Sentence]) -> Finding:
    if cause := next((name for name in check.after if name in ill), None):
        return Finding("doctor.unseen", Tone.UNSEEN, {"cause": ill[cause]})
    try:
        async with asyncio.timeout(check.seconds):
            return await check.look()
    except TimeoutError:
        return Finding("doctor.timeout", Tone.BAD, {"seconds": int(check.seconds)})
    except CodexBridgeError as error:
        return Finding(error.code, Tone.BAD, error.facts)
    except OSError as error:
        return Finding("doctor.system", Tone.BAD, {"why": error.strerror or type(error).__name__})
    except Exception as error:  # noqa: BLE001  one broken check never hides what the others find
        facts = {"what": type(error).__name__, "where": _place(error)}
        return Finding("doctor.broken", Tone.BAD, facts)


def _place(error: Exception) -> str:
    *_, (frame, line) = walk_tb(error.__traceback__)
    return f"{PurePath(frame.f_code.co_filename).name}:{line}"


class _Said(NamedTuple):
    said: str
    why: str
    mend: str


SHARED: Final[Mapping[str, Diagnosis]] = {
    "doctor.unseen": Diagnosis(
        Sentence(en="not looked at, because of: {cause}", zh="未检查，原因见：{cause}")
    ),
    "doctor.timeout": Diagnosis(
        Sentence(en="no answer within {seconds} seconds", zh="{seconds} 秒内没有响应"),
        Sentence(
            en="what is as slow as that will fail when it is needed", zh="这么慢，用到时会失败"
        ),
        Sentence(
            en="see what keeps it busy: disk, network, a hanging mount; then run this again",
            zh="请查看是什么占用了它：磁盘、网络或卡住的挂载；然后重新运行",
        ),
    ),
    "doctor.system": Diagnosis(
        Sentence(en="the system refused a look: {why}", zh="系统拒绝了这项检查：{why}"),
        Sentence(en="so nobody knows whether it works", zh="因此无法确认它能否工作"),
        Sentence(
            en="run this as the user that runs CodexBridge", zh="请用运行 CodexBridge 的用户执行"
        ),
    ),
    "doctor.broken": Diagnosis(
        Sentence(
            en="the check itself failed: {what} at {where}", zh="检查本身出错：{what}，{where}"
        ),
        Sentence(
            en="a fault of CodexBridge; so nobody knows whether it works",
            zh="这是 CodexBridge 的缺陷，因此无法确认它能否工作",
        ),
        Sentence(
            en="tell its maintainers this line; on a machine of tasks, with: codexbridge bugreport",
            zh="请把这一行告诉维护者；在开发机上请附上：codexbridge bugreport",
        ),
    ),
}


class Doctor:
    """Tells what was found.

    Args:
        diagnoses: Of one half, by code.
        errors: The sentences of errors that are no diagnosis.
        lang: Of everything told.
    """

    def __init__(
        self,
        diagnoses: Mapping[str, Diagnosis],
        errors: Mapping[str, Sentence],
        lang: Lang,
    ) -> None:
        self._diagnoses = {**SHARED, **diagnoses}
        self._errors = errors
        self._lang = lang

    def lines(
        self, found: Sequence[Examined], *, ink: Ink, width: int, names: int = 0
    ) -> list[str]:
        """Return what a terminal shows: a line each, and for what is ill why and what mends it.

        Args:
            found: At least one.
            ink: Emphasis.
            width: Cells in a line.
            names: Least cells for the titles, where lines of several looks stand together.
        """
        names = max(names, *(cells(say(one.check.title, self._lang)) + 2 for one in found))
        lines: list[str] = []
        for one in found:
            mark, style = _MARKS.get(one.finding.tone, ("·", "dim"))
            head = f"{ink(style, mark)} {pad(say(one.check.title, self._lang), names)}"
            said, why, mend = self._said(one.finding, self._lang)
            blank = " " * (names + 2)
            room = max(width - names - 2, 30)
            first, *rest = wrap(said, room)
            lines += [head + first, *(blank + line for line in rest)]
            if one.finding.tone in (Tone.BAD, Tone.WARN):
                lines += [blank + ink("dim", line) for line in wrap(why, room) if why]
                lines += [blank + line for line in wrap(f"→ {mend}", room) if mend]
        return lines

    def to_json(self, found: Sequence[Examined]) -> dict[str, Any]:
        """Return the same for programs, in both languages."""
        return {"checks": [self._one(one) for one in found], "ok": is_well(found)}

    def log(self, found: Sequence[Examined], log: Log) -> None:
        """Write what is ill, under the name of its check; that all is well in one line."""
        ill = [one for one in found if one.finding.tone in (Tone.BAD, Tone.WARN)]
        for one in ill:
            said, _, mend = self._said(one.finding, self._lang)
            log.warning(
                "doctor.found", check=one.check.name, code=one.finding.code, said=said, mend=mend
            )
        if not ill:
            log.info("doctor.well", checks=len(found))

    def words(self, finding: Finding) -> dict[str, str]:
        """Return what a finding says, why it matters and what mends it, each on one line."""
        return self._said(finding, self._lang)._asdict()

    def _one(self, one: Examined) -> dict[str, Any]:
        facts = {name: listed(value, "en") for name, value in one.finding.facts.items()}
        told: dict[str, Any] = {lang: self._said(one.finding, lang)._asdict() for lang in LANGS}
        return {
            "check": one.check.name,
            "tone": str(one.finding.tone),
            "code": one.finding.code,
            "facts": facts,
            **told,
        }

    def _said(self, finding: Finding, lang: Lang) -> _Said:
        facts = _shown(finding, lang)
        diagnosis = self._diagnoses.get(finding.code)
        if diagnosis is None:  # an error of elsewhere: its sentence says all three
            error = CodexBridgeError(finding.code, **finding.facts)
            return _Said(explain(error, self._errors, lang), "", "")
        said, why, mend = diagnosis.said, diagnosis.why, diagnosis.mend
        return _Said(
            say(said, lang, **facts),
            say(why, lang, **facts) if why else "",
            say(mend, lang, **facts) if mend else "",
        )


async def mend(
    found: Sequence[Examined], *, may: Callable[[str], bool], lang: Lang
) -> list[Examined]:
    """Do what is safe and allowed, and look again; returns what stands then.

    Args:
        may: Asks the person a question; False leaves things as they are.
    """
    mended = False
    for one in found:
        fix = one.finding.fix
        if fix is not None and may(say(fix.what, lang, **_shown(one.finding, lang))):
            await asyncio.to_thread(fix.do)
            mended = True
    return await examine([one.check for one in found]) if mended else list(found)


def _shown(finding: Finding, lang: Lang) -> dict[str, str]:
    return {
        name: one_line(listed(value, lang), _FACT_BYTES) or "—"
        for name, value in finding.facts.items()
    }


def is_well(found: Iterable[Examined]) -> bool:
    """Tell whether nothing is bad."""
    return all(one.finding.tone is not Tone.BAD for one in found)
