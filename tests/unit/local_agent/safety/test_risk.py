"""The tables, their page and their sentences say the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from local_agent.actions.registry import ACTIONS
from local_agent.safety.authority import classify_operation
from local_agent.safety.risk import Risk, Row, findings, summed
from local_agent.safety.risk_changes import CHANGES
from local_agent.safety.risk_commands import COMMANDS
from local_agent.safety.risk_outgoing import COMMITTED, DISCLOSURE, SYNC
from local_agent.safety.risk_policy import POLICY
from local_agent.safety.risk_words import RISK
from tests.each import each

PAGE: Final = Path(__file__).parents[4] / "docs" / "risk.md"
SECTIONS: Final[dict[str, Sequence[Row[Any]]]] = {
    "Commands": COMMANDS,
    "Changes and undo": CHANGES,
    "Commit and push": (*SYNC, *COMMITTED),
    "Answers to the chat": DISCLOSURE,
    "The policy of a workspace": POLICY,
}


def written(section: str) -> list[tuple[str, str]]:
    """Return level and code of each row that the page has in a section."""
    text = PAGE.read_text(encoding="utf-8")
    part = text.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    rows = [line for line in part.splitlines() if line.startswith("| ") and line.endswith("` |")]
    cells = [[cell.strip() for cell in row.strip("| ").split(" | ")] for row in rows]
    return [(level, code.strip("`")) for _, level, code in cells]


@each("section", SECTIONS)
def test_the_page_has_the_rows_of_the_table_in_their_order(section: str) -> None:
    assert written(section) == [(row.level, row.code) for row in SECTIONS[section]]


@each("section", SECTIONS)
def test_what_refuses_stands_before_what_is_high(section: str) -> None:
    for table in (COMMANDS, CHANGES, SYNC, COMMITTED, DISCLOSURE, POLICY):
        levels = [row.level for row in table]
        assert levels == sorted(levels, reverse=True)


def test_every_reason_has_its_sentence_and_every_sentence_its_reason() -> None:
    codes = {row.code for table in SECTIONS.values() for row in table}
    assert set(RISK) == codes | {"unknown-action"}
    assert "`unknown-action`" in PAGE.read_text(encoding="utf-8")


@pytest.mark.requirement("R4")
@each("action", ["", "apply_everything", "RUN_COMMAND", "git_push"])
def test_an_action_nobody_knows_is_refused(action: str) -> None:
    assert classify_operation(action, {}, known=ACTIONS) == Risk("refused", ("unknown-action",))


def test_the_strictest_level_wins_and_each_reason_is_told_once() -> None:
    assert summed([]) == Risk("normal", ())
    assert summed([("high", "a"), ("high", "b"), ("high", "a")]) == Risk("high", ("a", "b"))
    assert summed([("high", "a"), ("refused", "b")]) == Risk("refused", ("b",))


def test_what_refuses_is_looked_for_first_and_alone() -> None:
    asked: list[str] = []

    def row(level: Any, code: str, *, holds: bool) -> Row[None]:
        def test(_: None) -> bool:
            asked.append(code)
            return holds

        return Row(level, code, test)

    refusing = (row("high", "a", holds=True), row("refused", "b", holds=True))
    assert findings(refusing, None) == [("refused", "b")]
    assert asked == ["b"], "a check that is merely high never sees what is out of bounds"
