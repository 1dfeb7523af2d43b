"""What a runner reported, in words: the verdict, the first failures, the rest counted (P7).  Pure.

The reader (`local_agent.reports`) finds the facts, and never such that contradict the exit code.
Chat, terminal and window say them alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any, Final

from common.sentences import Lang, Sentence, say
from common.text import one_line, reveal
from local_agent.reports.report import MAX_ALSO, MAX_FAILURES, Failure, Report
from local_agent.words import render_duration

CHAT_FAILURES: Final = 3
HERE_FAILURES: Final = 10
_NAME_BYTES: Final = 120
_PLACE_BYTES: Final = 120
_MESSAGE_BYTES: Final = 160
_NOTE_BYTES: Final = 200
_HARDLY_MS: Final = 100
_BESIDES: Final = 3  # lines at most besides the failures
# A name that reads like a verdict does not stand in ours.
_VERDICT: Final = re.compile(r"\d\s?(?:个|pass|fail|error|tests?\b)", re.IGNORECASE)
_RULER: Final = re.compile(r"([=\-*─━])\1{2,}\s*")
_DOTTED: Final = re.compile(r"(?:\w++(?:\.|::))++(\w++(?:\[.*\])?)")

PASSED = Sentence(en="{count} {count:test|tests} passed", zh="{count} 个测试通过")
ALL_PASSED = Sentence(en="all tests passed", zh="测试全部通过")
PASSED_TOO = Sentence(en="{count} passed", zh="{count} 个通过")
SKIPPED = Sentence(en="{count} skipped", zh="{count} 个跳过")
FLAKY = Sentence(en="{count} flaky", zh="{count} 个不稳定")
ALL_SKIPPED = Sentence(
    en="no test ran: {count} {count:was|were} skipped", zh="没有运行测试：{count} 个全部跳过"
)
NONE_RAN = Sentence(en="no test ran", zh="没有运行测试")
FAILED_OF = Sentence(
    en="{count} of {total} {total:test|tests} failed", zh="{total} 个测试中 {count} 个失败"
)
FAILED = Sentence(en="{count} {count:test|tests} failed", zh="{count} 个测试失败")
ERRORS = Sentence(en="{count} {count:error|errors}", zh="{count} 个错误")
NOT_LOADED = Sentence(
    en="{count} {count:test file|test files} could not be loaded", zh="{count} 个测试文件无法加载"
)
NO_PROBLEMS = Sentence(en="no problems found", zh="没有发现问题")
PROBLEMS = Sentence(en="{count} {count:problem|problems}", zh="{count} 个问题")
NOT_CHECKED = Sentence(
    en="{count} {count:file|files} could not be checked", zh="{count} 个文件无法检查"
)
NOTED = Sentence(en="{tool}: {note}", zh="{tool}：{note}")
TESTS_FAILED = Sentence(en="tests failed", zh="测试失败")
TOOK = Sentence(en="{verdict} ({duration})", zh="{verdict}（{duration}）")
AT_LEAST = Sentence(en="at least {verdict}", zh="至少 {verdict}")
ALSO = Sentence(en=", ", zh="，")
NAMED = Sentence(en="{verdict}: {name}", zh="{verdict}：{name}")
IN_PLACE = Sentence(en="{name} ({place})", zh="{name}（{place}）")
BECAUSE = Sentence(en="{name}: {message}", zh="{name}：{message}")
ROW = Sentence(en="· {failure}", zh="· {failure}")
MORE = Sentence(en="and {count} more", zh="另有 {count} 个")
BUT = Sentence(
    en="exit code {code}, but {tool} reports: {verdict}",
    zh="退出码 {code}，但 {tool} 报告：{verdict}",
)


def cleaned(report: Report, clean: Callable[[str], str]) -> Report:
    """Return the report with all of its texts on one line each, bounded, and nothing hidden.

    Args:
        report: As it was read.
        clean: Makes a text fit to leave this machine, such as by taking folders out.
    """

    def brief(text: str | None, limit: int) -> str | None:
        return (one_line(_RULER.sub("", clean(text)), limit) or None) if text else None

    failures = tuple(
        Failure(
            name=brief(one.name, _NAME_BYTES) or "?",
            place=brief(one.place, _PLACE_BYTES),
            message=brief(one.message, _MESSAGE_BYTES),
        )
        for one in report.failures[:MAX_FAILURES]
    )
    return replace(
        report,
        tool=one_line(reveal(report.tool), _NAME_BYTES),
        failures=failures,
        note=brief(report.note, _NOTE_BYTES),
        also=tuple(cleaned(one, clean) for one in report.also[:MAX_ALSO]),
    )


def to_facts(report: Report) -> dict[str, Any]:
    """Return the report as a record for files, pages and programs."""
    return asdict(report)


def from_facts(facts: Mapping[str, Any]) -> Report:
    """Return the report of a record that `to_facts` made.

    Raises:
        TypeError: it is no such record.
    """
    failures = tuple(Failure(**one) for one in facts["failures"])
    also = tuple(map(from_facts, facts.get("also", ())))
    return Report(**{**facts, "failures": failures, "also": also})


def verdict(report: Report, lang: Lang, *, duration_ms: int = 0) -> str:
    """Return in one line what came of it, without a mark: ``1 of 3 tests failed: NAME (FILE)``.

    Args:
        report: From `cleaned`.
        lang: Of whoever reads it.
        duration_ms: Told where everything passed and that took a moment.
    """
    noted = "" if report.bad or report.failures or report.passed else report.note
    said = noted or counted(report, lang)
    if report.exit_code is not None:
        return say(BUT, lang, code=report.exit_code, tool=report.tool, verdict=said)
    if noted:
        return say(NOTED, lang, tool=report.tool, note=said)
    if not report.bad and duration_ms >= _HARDLY_MS:
        return say(TOOK, lang, verdict=said, duration=render_duration(duration_ms, lang))
    if _is_named(report):
        return say(NAMED, lang, verdict=said, name=_name(report, report.failures[0], lang))
    return said


def counted(report: Report, lang: Lang) -> str:
    """Return the counts alone, without a word of the tool's own: ``1 of 3 tests failed``."""
    parts = _problems(report, lang) if report.kind == "problems" else _tests(report, lang)
    said = say(ALSO, lang).join(parts)
    return say(AT_LEAST, lang, verdict=said) if report.partial else said


def failure_lines(report: Report, lang: Lang, *, most: int) -> list[str]:
    """Return a line for each of the first failures, and how many more there are.

    Where `verdict` has named the only one, its message alone.
    """
    if _is_named(report):
        message = report.failures[0].message
        lines = [message] if message and report.kind == "tests" else []
    else:
        shown = report.failures[:most]
        lines = [say(ROW, lang, failure=_row(report, failure, lang)) for failure in shown]
        if lines and (rest := max(report.bad, len(report.failures)) - len(lines)) > 0:
            lines.append(say(MORE, lang, count=rest))
    if report.note and (report.bad or report.passed):
        lines.append(report.note)
    for one in report.also:
        lines.append(say(NAMED, lang, verdict=one.tool, name=one.note or counted(one, lang)))
    return lines[: most + _BESIDES]


def tells_why(report: Report) -> bool:
    """Tell whether the report leaves no need for the raw last lines."""
    if report.bad:
        return bool(report.failures or (report.note and not report.failed))
    return report.exit_code is None or (report.exit_code != 0 and bool(report.note or report.also))


def _is_named(report: Report) -> bool:
    """Tell whether the first line names the only failure."""
    if len(report.failures) != 1 or report.bad > 1 or report.exit_code is not None:
        return False
    return report.kind == "problems" or not _is_verdict(report.failures[0])


def _is_verdict(failure: Failure) -> bool:
    return _VERDICT.search(failure.name) is not None


def _tests(report: Report, lang: Lang) -> list[str]:
    passed, failed = report.passed or 0, report.failed or 0
    others = report.skipped or 0, report.errors, report.flaky
    parts = []
    if failed:
        known = FAILED if report.passed is None or report.partial else FAILED_OF
        parts.append(say(known, lang, count=failed, total=passed + failed + sum(others)))
    if report.errors:
        parts.append(say(ERRORS, lang, count=report.errors))
    if report.broken:
        parts.append(say(NOT_LOADED, lang, count=report.broken))
    if not parts and report.failures:
        parts.append(say(TESTS_FAILED, lang))
    if not parts and passed:
        parts.append(say(PASSED, lang, count=passed))
    elif passed and (any(others) or report.broken or any(map(_is_verdict, report.failures))):
        parts.append(say(PASSED_TOO, lang, count=passed))
    if report.flaky:
        parts.append(say(FLAKY, lang, count=report.flaky))
    if report.skipped:
        skipped = SKIPPED if parts else ALL_SKIPPED
        parts.append(say(skipped, lang, count=report.skipped))
    if parts:
        return parts
    return [say(ALL_PASSED if report.passed is None else NONE_RAN, lang)]


def _problems(report: Report, lang: Lang) -> list[str]:
    parts = []
    if found := report.failed or len(report.failures):
        parts.append(say(PROBLEMS, lang, count=found))
    if report.broken:
        parts.append(say(NOT_CHECKED, lang, count=report.broken))
    return parts or [say(NO_PROBLEMS, lang)]


def _row(report: Report, failure: Failure, lang: Lang) -> str:
    name = _name(report, failure, lang)
    if report.kind == "problems" or not failure.message:
        return name
    return say(BECAUSE, lang, name=name, message=failure.message)


def _name(report: Report, failure: Failure, lang: Lang) -> str:
    """Return a test with its file, or a problem with all that is told of it."""
    if report.kind == "tests":
        # A line of the runner's is for who sits before the file; the name is enough in a chat.
        place = failure.place and failure.place.partition(":")[0]
        if not place or place == failure.name:
            return failure.name
        # Where the file stands beside it, its module and class say nothing more.
        path = _DOTTED.fullmatch(failure.name) if place.endswith(".py") else None
        return say(IN_PLACE, lang, name=path[1] if path else failure.name, place=place)
    return " ".join(filter(None, (failure.place, failure.name, failure.message)))
