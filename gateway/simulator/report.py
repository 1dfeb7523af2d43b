"""What `sim check` found, for an admin and for whom the admin sends it to: no secret is in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from common.sentences import Lang, say
from gateway.simulator import check_accepts, check_refuses
from gateway.simulator import sentences as S  # noqa: N812 - a table of constants
from gateway.simulator.conformance import Check, Result
from gateway.simulator.probe import Probe

# In an order that bans no later one: what many refusals may lead to comes last.
WIDE: Final = 110  # columns, for names beside their texts
CHECKS: Final[tuple[Check, ...]] = (*check_accepts.CHECKS, *check_refuses.CHECKS)


def run_checks(probe: Probe) -> Iterator[Result]:
    """Check one after the other."""
    for check in CHECKS:
        yield Result(check, check.probe(probe))


def lines_of(result: Result, lang: Lang, *, columns: int = 0) -> Iterator[tuple[str, str]]:
    """Yield one result as head and text; with why it matters where it is not met.

    Args:
        result: Of one check.
        lang: Language of the person.
        columns: How wide the terminal is; 0 for however long a line is.
    """
    check, finding = result.check, result.finding
    mark = "✓" if finding.good else "✗" if check.required else "!"
    text = f"{say(check.what, lang)} — {finding.seen[lang]}"
    if 0 < columns < WIDE:
        yield f"{mark} ", f"{check.id}  {text}"
    else:
        yield f"{mark} {check.id:28} ", text
    if not finding.good:
        yield "    ", say(check.why, lang)


def summary_of(results: Sequence[Result], lang: Lang) -> str:
    """Return what all of it comes to."""
    failed = sum(not one.finding.good for one in results if one.check.required)
    advised = sum(not one.finding.good for one in results if not one.check.required)
    if failed:
        sentence = S.CHECK_BAD if advised else S.CHECK_FAILED
    else:
        sentence = S.CHECK_ADVISED if advised else S.CHECK_GOOD
    return say(sentence, lang, count=len(results), failed=failed, advised=advised)


def is_good(results: Sequence[Result]) -> bool:
    """Tell whether every required check is met."""
    return all(one.finding.good for one in results if one.check.required)


def json_of(results: Sequence[Result], *, at_s: int) -> str:
    """Return the report for programs."""
    told: dict[str, Any] = {
        "checked_at": at_s,
        "good": is_good(results),
        "checks": [
            {
                "id": one.check.id,
                "required": one.check.required,
                "good": one.finding.good,
                "seen": one.finding.seen,
                "what": asdict(one.check.what),
                "why": asdict(one.check.why),
            }
            for one in results
        ],
    }
    return json.dumps(told, ensure_ascii=False, indent=2)
