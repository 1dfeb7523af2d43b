"""Audit entries hold ids, digests and codes: no call may hand them a text, a body or a secret."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
APPENDS = {"append", "append_at", "note"}

# What may be said.  Each is a name, a number, a hash, a code or a word of ours; `claimed_user` is
# the member's id, `reason` a code or what the person at the machine said to the decision.
METADATA = frozenset(
    [
        "agent",
        "app",
        "approval_id",
        "approver",
        "attachment",
        "checks",
        "claimed_user",
        "code",
        "count",
        "digest",
        "envelope",
        "envelope_sha256",
        "epoch",
        "gateway",
        "jti",
        "key",
        "key_id",
        "machine",
        "machines",
        "new",
        "old",
        "outcome",
        "pairing",
        "public_key",
        "lang",
        "reason",
        "requester",
        "role",
        "retry_of",
        "run",
        "step",
        "risk",
        "risk_reasons",
        "seq",
        "short_id",
        "signature",
        "since",
        "source",
        "taken",
        "task",
        "task_id",
        "unsent",
        "user",
    ]
)
TEXTS = frozenset(("argv", "frame", "message", "script", "summary", "tail", "text"))


def calls() -> Iterator[tuple[str, ast.Call]]:
    """Yield every call that appends to an audit log."""
    for half in ("gateway", "local_agent"):
        for path in sorted((ROOT / half).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            for node in ast.walk(ast.parse(text)) if "audit" in text else ():
                if isinstance(node, ast.Call) and _appends(node):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", node


def _appends(node: ast.Call) -> bool:
    target = node.func
    if not isinstance(target, ast.Attribute) or target.attr not in APPENDS:
        return False
    return ast.unparse(target.value).split(".")[-1] in ("audit", "_audit")


@pytest.mark.requirement("R58")
@pytest.mark.requirement("P6")
def test_every_fact_of_every_entry_is_metadata() -> None:
    found = list(calls())
    assert len(found) > 25, "the search has lost the call sites"
    strange = {
        f"{where} {keyword.arg}"
        for where, call in found
        for keyword in call.keywords
        if keyword.arg is not None and keyword.arg not in METADATA
    }
    assert strange == set()


def test_facts_that_are_handed_over_as_a_whole_are_those_known_here() -> None:
    whole = {
        ast.unparse(keyword.value)
        for _, call in calls()
        for keyword in call.keywords
        if keyword.arg is None
    }
    assert whole <= {"_part_fact(part)", "facts", "kept.facts()", "new.facts()", "told.facts()"}


def test_no_fact_is_a_text_that_somebody_wrote_or_a_program_printed() -> None:
    told = {
        f"{where} {ast.unparse(name)}"
        for where, call in calls()
        for keyword in call.keywords
        for name in ast.walk(keyword.value)
        if (isinstance(name, ast.Attribute) and name.attr in TEXTS)
        or (isinstance(name, ast.Name) and name.id in TEXTS)
    }
    assert told == set()
