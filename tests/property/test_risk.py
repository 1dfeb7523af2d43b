"""Risk under arbitrary input: nothing makes an action milder, and what is unknown is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.diff.model import DiffModel, FileDiff, Op
from common.seal import SealedChange
from local_agent.actions.changes.payload import change_payload, undo_payload
from local_agent.actions.git_sync.payload import SyncStep, sync_payload
from local_agent.actions.registry import ACTIONS
from local_agent.actions.run_command.card import operators
from local_agent.actions.steps.payload import sealed_parts, steps_payload
from local_agent.safety.action_facts import SealedPart
from local_agent.safety.authority import classify_operation
from local_agent.safety.policy import Policy
from local_agent.safety.risk import Circumstances
from tests.sealed import PYTEST, ZEROS, a_payload

ORDER: Final = ("normal", "high", "refused")
OPS: Final[tuple[Op, ...]] = ("modify", "delete")
TEXTS = st.text(max_size=12)
PATTERNS = st.lists(st.text(min_size=1, max_size=8), max_size=4).map(tuple)
POLICIES = st.builds(
    Policy,
    refuse_actions=st.lists(st.sampled_from(sorted(ACTIONS)), max_size=2).map(tuple),
    refuse_paths=PATTERNS,
    refuse_programs=PATTERNS,
    refuse_unsandboxed=st.booleans(),
    refuse_network=st.booleans(),
    refuse_shell=st.booleans(),
    ask_high_paths=PATTERNS,
    max_files=st.none() | st.integers(1, 500),
    require_typed=st.booleans(),
)
PATHS = st.sampled_from(["a.py", "src/b.py", ".env", "Makefile", ".git/x", "../y", "张.py"]) | TEXTS


@st.composite
def commands(draw: st.DrawFn) -> tuple[str, Mapping[str, Any], Circumstances]:
    words = draw(st.lists(TEXTS, min_size=1, max_size=3) | st.just(list(PYTEST)))
    payload = a_payload(
        argv=words,
        cwd=draw(st.sampled_from([".", "sub", ".."])),
        network=draw(st.booleans()),
        sandbox_level=draw(st.sampled_from(["bubblewrap", "none", "x"])),
    )
    return "run_command", payload, Circumstances(allowed=[PYTEST])


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, Mapping[str, Any], Circumstances]:
    path = draw(PATHS)
    op = draw(st.sampled_from(OPS))
    sealed = SealedChange(
        op=op,
        path=path,
        old_path=path,
        old_sha256=ZEROS,
        old_mode="100644",
        new_sha256=None if op == "delete" else ZEROS,
        new_mode=None if op == "delete" else "100644",
        size=0,
    )
    file = FileDiff(
        op=op,
        path=path,
        old_path=path,
        old_mode=None,
        new_mode=None,
        hunks=(),
        added=0,
        removed=0,
    )
    around = Circumstances(diff=draw(st.sampled_from([DiffModel((file,)), None])))
    if draw(st.booleans()):
        return "apply_diff", change_payload(ZEROS, [sealed]), around
    return "undo", undo_payload(ZEROS, [sealed], approval_id="a", short_id="T-7K3F"), around


@st.composite
def syncs(draw: st.DrawFn) -> tuple[str, Mapping[str, Any], Circumstances]:
    payload = sync_payload(
        branch=draw(TEXTS),
        remote="origin",
        url=draw(st.sampled_from(["https://git.example.com/x.git", "/srv/x", "ext::sh"]) | TEXTS),
        ref="refs/heads/main",
        remote_oid=None,
        head=None,
        ahead=0,
        behind=0,
        commit=None,
        steps=[SyncStep("check", "read-only"), SyncStep("push", "remote-write")],
        timeout_s=120,
    )
    return "git_sync", payload, Circumstances()


@st.composite
def steps(draw: st.DrawFn) -> tuple[str, Mapping[str, Any], Circumstances]:
    found = draw(st.lists(commands() | changes(), min_size=1, max_size=3))
    parts = [SealedPart(action, payload, {}) for action, payload, _ in found]  # type: ignore[arg-type]  # a word of the seal
    payload = steps_payload(
        run="run-1", definition_sha256=ZEROS, indexes=range(len(parts)), parts=parts
    )
    return "steps", payload, Circumstances(parts=tuple(around for _, _, around in found))


ASKED = commands() | changes() | syncs() | steps()


@pytest.mark.requirement("R3")
@pytest.mark.requirement("R6")
@given(ASKED, POLICIES)
def test_no_policy_makes_anything_milder(
    asked: tuple[str, Mapping[str, Any], Circumstances], policy: Policy
) -> None:
    action, payload, around = asked
    without = classify_operation(action, payload, around, known=ACTIONS)
    under = classify_operation(action, payload, replace(around, policy=policy), known=ACTIONS)
    assert ORDER.index(under.level) >= ORDER.index(without.level)
    if under.level == without.level:
        assert set(under.reasons) >= set(without.reasons)


@pytest.mark.requirement("R4")
@given(ASKED)
def test_knowing_less_makes_nothing_milder(
    asked: tuple[str, Mapping[str, Any], Circumstances],
) -> None:
    action, payload, around = asked
    known = classify_operation(action, payload, around, known=ACTIONS)
    unknown = classify_operation(action, payload, known=ACTIONS)
    assert ORDER.index(unknown.level) >= ORDER.index(known.level)


@pytest.mark.requirement("R4")
@given(TEXTS.filter(lambda name: name not in ACTIONS))
def test_any_other_action_is_refused(action: str) -> None:
    assert classify_operation(action, {}, known=ACTIONS).level == "refused"


@pytest.mark.requirement("R4")
@given(steps())
def test_steps_are_of_the_level_of_their_strictest(
    asked: tuple[str, Mapping[str, Any], Circumstances],
) -> None:
    action, payload, around = asked
    parts = zip(sealed_parts(payload), around.parts, strict=True)
    each = [classify_operation(one.action, one.payload, own, known=ACTIONS) for one, own in parts]
    whole = classify_operation(action, payload, around, known=ACTIONS)
    assert whole.level == max((one.level for one in each), key=ORDER.index)
    strictest = [one.reasons for one in each if one.level == whole.level]
    assert set(whole.reasons) == {code for reasons in strictest for code in reasons}


@given(ASKED)
def test_a_level_above_normal_has_its_reasons(
    asked: tuple[str, Mapping[str, Any], Circumstances],
) -> None:
    risk = classify_operation(*asked, known=ACTIONS)
    assert (risk.level == "normal") == (not risk.reasons)
    assert len(set(risk.reasons)) == len(risk.reasons)


@pytest.mark.requirement("R42")
@given(st.text(st.sampled_from("ab '\"\\$`(){};&|<>*#\n"), max_size=60))
def test_any_line_gets_its_operators_named(script: str) -> None:
    named = operators(script)
    assert len(set(named)) == len(named)
    plain = not set(script) & set("'\"\\")
    if plain and ";" in script and "#" not in script:
        assert any(";" in name for name in named)
