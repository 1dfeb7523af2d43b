"""The person's policy refuses and raises; it is compared with facts, never with words."""

from __future__ import annotations

from typing import Any

import pytest

from common.diff.model import DiffModel, FileDiff
from common.seal import SealedChange
from local_agent.actions.changes.payload import change_payload
from local_agent.actions.git_sync.payload import SyncStep, sync_payload
from local_agent.actions.registry import ACTIONS
from local_agent.safety.authority import classify_operation
from local_agent.safety.policy import Policy
from local_agent.safety.risk import Circumstances, Risk
from tests.each import each
from tests.sealed import PYTEST, ZEROS, a_payload


def command(policy: Policy, **changes: Any) -> Risk:
    around = Circumstances(allowed=[PYTEST], policy=policy)
    return classify_operation("run_command", a_payload(**changes), around, known=ACTIONS)


def changed(policy: Policy, *paths: str, source: str | None = None) -> Risk:
    files = tuple(
        FileDiff(
            op="rename" if source else "modify",
            path=path,
            old_path=source or path,
            old_mode=None,
            new_mode=None,
            hunks=(),
            added=0,
            removed=0,
        )
        for path in paths
    )
    payload = change_payload(ZEROS, [_sealed(file) for file in files])
    around = Circumstances(diff=DiffModel(files), policy=policy)
    return classify_operation("apply_diff", payload, around, known=ACTIONS)


def _sealed(file: FileDiff) -> SealedChange:
    return SealedChange(
        op=file.op,
        path=file.path,
        old_path=file.old_path,
        old_sha256=ZEROS,
        old_mode="100644",
        new_sha256=ZEROS,
        new_mode="100644",
        size=1,
    )


def pushed(policy: Policy) -> Risk:
    payload = sync_payload(
        branch="main",
        remote="origin",
        url="/srv/git/shop.git",
        ref="refs/heads/main",
        remote_oid="1" * 40,
        head="1" * 40,
        ahead=1,
        behind=0,
        commit=None,
        steps=[SyncStep("check", "read-only"), SyncStep("push", "remote-write")],
        timeout_s=120,
    )
    return classify_operation("git_sync", payload, Circumstances(policy=policy), known=ACTIONS)


@pytest.mark.requirement("R3")
@pytest.mark.parametrize(
    ("policy", "changes", "reason"),
    [
        (Policy(refuse_actions=("run_command",)), {}, "policy-action"),
        (Policy(refuse_programs=("pytest",)), {}, "policy-program"),
        (Policy(refuse_programs=("rm",)), {"argv": ["sh", "-c", "x;rm y"]}, "policy-program"),
        (Policy(refuse_programs=("rm",)), {"argv": ["/bin/rm"]}, "policy-program"),
        (Policy(refuse_unsandboxed=True), {"sandbox_level": "none"}, "policy-sandbox"),
        (Policy(refuse_network=True), {"network": True}, "policy-network"),
        (Policy(refuse_network=True), {"sandbox_level": "none"}, "policy-network"),
        (Policy(refuse_shell=True), {"script": "pytest -q"}, "policy-shell"),
        (Policy(refuse_shell=True), {"argv": ["bash", "-c", "pytest -q"]}, "policy-shell"),
    ],
)
def test_a_command_that_the_policy_refuses_is_refused(
    policy: Policy, changes: dict[str, Any], reason: str
) -> None:
    assert command(policy, **changes) == Risk("refused", (reason,))


@each(
    "policy",
    [
        Policy(),
        Policy(refuse_actions=("git_sync",)),
        Policy(refuse_programs=("pytes", "-q x")),
        Policy(refuse_unsandboxed=True, refuse_network=True, refuse_shell=True, max_files=1),
        Policy(refuse_paths=("*",), ask_high_paths=("*",)),
    ],
)
def test_a_command_that_the_policy_does_not_mean_stays_normal(policy: Policy) -> None:
    assert command(policy) == Risk("normal", ())


@pytest.mark.requirement("R29")
def test_everything_can_be_made_high_risk() -> None:
    assert command(Policy(require_typed=True)) == Risk("high", ("policy-typed",))
    assert changed(Policy(require_typed=True), "a.py") == Risk("high", ("policy-typed",))


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("migrations", "migrations/1.sql"),
        ("migrations", "app/migrations/1.sql"),
        ("migrations/", "migrations/1.sql"),
        ("*.sql", "db/1.sql"),
        ("deploy/*", "deploy/a/b.yml"),
        ("deploy/**", "deploy/a/b.yml"),
        ("src/*/x.py", "src/a/b/x.py"),
        ("Deploy", "deploy/x"),
        ("deploy", "DEPLOY/x"),
        ("deploy", "ｄｅｐｌｏｙ/x"),  # full-width letters are what is tried
        ("a?.py", "ab.py"),
    ],
)
def test_a_pattern_refuses_or_raises_what_falls_under_it(pattern: str, path: str) -> None:
    assert changed(Policy(refuse_paths=(pattern,)), path).reasons == ("policy-path",)
    asked = changed(Policy(ask_high_paths=(pattern,)), path)
    assert (asked.level, asked.reasons[-1]) == ("high", "policy-high-path")
    moved = changed(Policy(refuse_paths=(pattern,)), "free.py", source=path)
    assert moved.reasons == ("policy-path",), "what is taken from there counts as well"


@pytest.mark.parametrize(
    ("pattern", "path"),
    [("deploy/*", "app/deploy/x"), ("sql", "db/1.sql"), ("a.py", "ba.py"), ("src/x", "src/xy")],
)
def test_a_pattern_leaves_alone_what_does_not_fall_under_it(pattern: str, path: str) -> None:
    policy = Policy(refuse_paths=(pattern,), ask_high_paths=(pattern,))
    assert changed(policy, path) == Risk("normal", ())


@pytest.mark.requirement("R6")
def test_more_files_than_the_policy_allows_are_refused() -> None:
    assert changed(Policy(max_files=2), "a.py", "b.py").level == "normal"
    assert changed(Policy(max_files=2), "a.py", "b.py", "c.py").reasons == ("policy-files",)


@pytest.mark.parametrize(
    "policy", [Policy(refuse_network=True), Policy(refuse_actions=("git_sync",))]
)
def test_a_push_can_be_refused_altogether(policy: Policy) -> None:
    assert pushed(Policy()).level == "high"
    assert pushed(policy).level == "refused"


def test_what_the_table_refuses_is_told_beside_what_the_policy_refuses() -> None:
    risk = command(Policy(refuse_shell=True), script="a\0")
    assert risk == Risk("refused", ("control-character", "policy-shell"))
