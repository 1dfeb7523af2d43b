"""A commit and push is always high risk, a release is not; what is odd about either is found."""

from __future__ import annotations

from typing import Any

import pytest

from common.diff.model import DiffModel, FileDiff
from common.seal import ReadFile, SealedChange, SealedCommit
from local_agent.actions.disclose.payload import disclose_payload
from local_agent.actions.git_sync.payload import SyncStep, sync_payload
from local_agent.actions.registry import ACTIONS
from local_agent.safety.authority import classify_operation
from local_agent.safety.policy import Policy
from local_agent.safety.risk import Circumstances, Risk
from tests.each import each
from tests.sealed import ZEROS

OID = "1" * 40
ALWAYS = ("publishes", "network")
PUSH_ONLY = (SyncStep("check", "read-only"), SyncStep("push", "remote-write"))
COMMIT_FIRST = (
    SyncStep("check", "read-only"),
    SyncStep("add", "local-write"),
    SyncStep("commit", "local-write"),
    SyncStep("push", "remote-write"),
)


def a_sync(**changes: Any) -> dict[str, Any]:
    what: dict[str, Any] = {
        "branch": "main",
        "remote": "origin",
        "url": "https://git.example.com/zhang/shop.git",
        "ref": "refs/heads/main",
        "remote_oid": OID,
        "head": OID,
        "ahead": 1,
        "behind": 0,
        "commit": None,
        "steps": COMMIT_FIRST if changes.get("commit") else PUSH_ONLY,
        "timeout_s": 120,
    }
    return sync_payload(**what | changes)


def a_commit(*paths: str, **changes: Any) -> SealedCommit:
    what: dict[str, Any] = {
        "message": "Fix the price\n\n修正价格",
        "tree": OID,
        "author": "张三",
        "email": "zhang@example.com",
        "diff_sha256": ZEROS,
        "changes": tuple(
            SealedChange(
                op="modify",
                path=path,
                old_path=path,
                old_sha256=ZEROS,
                old_mode="100644",
                new_sha256=ZEROS,
                new_mode="100644",
                size=1,
            )
            for path in paths
        ),
    }
    return SealedCommit(**what | changes)


def shows(*paths: str) -> DiffModel:
    return DiffModel(
        tuple(
            FileDiff(
                op="modify",
                path=path,
                old_path=path,
                old_mode=None,
                new_mode=None,
                hunks=(),
                added=0,
                removed=0,
            )
            for path in paths
        )
    )


def risk_of(payload: dict[str, Any], diff: DiffModel | None = None) -> Risk:
    return classify_operation("git_sync", payload, Circumstances(diff=diff), known=ACTIONS)


@pytest.mark.requirement("R29")
def test_a_push_is_high_risk_and_so_is_a_commit_before_it() -> None:
    assert risk_of(a_sync()) == Risk("high", ALWAYS)
    payload = a_sync(commit=a_commit("src/a.py"))
    assert risk_of(payload, shows("src/a.py")) == Risk("high", ALWAYS)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"url": "http://127.0.0.1:8080/x.git"}, "unprotected-address"),
        ({"remote_oid": None}, "new-branch"),
        ({"branch": "ma\u200bin"}, "hidden-text"),
    ],
)
def test_a_fact_is_told_beside(changes: dict[str, Any], reason: str) -> None:
    assert risk_of(a_sync(**changes)) == Risk("high", (*ALWAYS, reason))


def test_a_folder_of_this_machine_is_no_network() -> None:
    assert risk_of(a_sync(url="/srv/git/shop.git")).reasons == ("publishes",)


@each(
    "changes, reason",
    [
        ({"branch": "main\x1b[2J"}, "control-character"),
        ({"remote": "ori\u202egin"}, "control-character"),
        ({"branch": "a\ud800"}, "control-character"),
        ({"url": "ext::sh -c id"}, "unsafe-address"),
        ({"url": "-oProxyCommand=id"}, "unsafe-address"),
        ({"url": "http://git.example.com/x.git"}, "unsafe-address"),
        ({"url": "git://git.example.com/x.git"}, "unsafe-address"),
        ({"url": "../other"}, "unsafe-address"),
        ({"url": ""}, "unsafe-address"),
        ({"url": "https://zhang:geheim@git.example.com/x.git"}, "password-in-address"),
        ({"ref": "refs/tags/v1"}, "unsafe-branch"),
        ({"ref": "main"}, "unsafe-branch"),
        ({"ref": "refs/heads/"}, "unsafe-branch"),
        ({"ref": "refs/heads/-x"}, "unsafe-branch"),
        ({"ref": "refs/heads/a:refs/heads/b"}, "unsafe-branch"),
        ({"ref": "refs/heads/a..b"}, "unsafe-branch"),
        ({"ref": "refs/heads/a b"}, "unsafe-branch"),
        ({"ref": "refs/heads/a.lock"}, "unsafe-branch"),
        ({"branch": "-f"}, "unsafe-branch"),
        ({"steps": COMMIT_FIRST}, "unknown-steps"),
        ({"steps": PUSH_ONLY[1:]}, "unknown-steps"),
        ({"steps": PUSH_ONLY[::-1]}, "unknown-steps"),
        ({"steps": (*PUSH_ONLY, PUSH_ONLY[1])}, "unknown-steps"),
        (
            {"steps": (PUSH_ONLY[0], SyncStep("push", "read-only"))},
            "unknown-steps",
        ),
    ],
)
def test_a_fact_refuses_a_push(changes: dict[str, Any], reason: str) -> None:
    risk = risk_of(a_sync(**changes))
    assert risk.level == "refused"
    assert reason in risk.reasons


def test_a_lone_surrogate_in_the_address_refuses_it() -> None:
    assert risk_of(a_sync(url="https://a.example/\ud800")).level == "refused"


@each("field", ["message", "author", "email"])
def test_a_control_character_in_what_is_committed_refuses_it(field: str) -> None:
    commit = a_commit("a.py", **{field: "x\x1b[31m"})
    assert risk_of(a_sync(commit=commit)).reasons == ("control-character",)


def test_a_commit_without_its_steps_is_refused() -> None:
    payload = a_sync(commit=a_commit("a.py"), steps=PUSH_ONLY)
    assert risk_of(payload, shows("a.py")) == Risk("refused", ("unknown-steps",))


@pytest.mark.parametrize(
    ("path", "reason"), [(".git/config", "git-folder"), ("../x", "outside-workspace")]
)
def test_a_name_refuses_a_commit(path: str, reason: str) -> None:
    assert risk_of(a_sync(commit=a_commit(path)), shows(path)) == Risk("refused", (reason,))


def test_too_many_files_refuse_a_commit() -> None:
    paths = [f"{number}.py" for number in range(501)]
    assert risk_of(a_sync(commit=a_commit(*paths)), shows(*paths)).reasons == ("too-many-files",)


@pytest.mark.parametrize(
    ("paths", "shown", "reason"),
    [
        ([".env"], [".env"], "secret-file"),
        (["aux.c"], ["aux.c"], "unsafe-name"),
        (["a.py", "b.png"], ["a.py"], "unread-content"),
        ([f"{number}.py" for number in range(51)], None, "many-files"),
    ],
)
def test_a_committed_file_is_told_beside(
    paths: list[str], shown: list[str] | None, reason: str
) -> None:
    risk = risk_of(a_sync(commit=a_commit(*paths)), shows(*(paths if shown is None else shown)))
    assert risk == Risk("high", (*ALWAYS, reason))


@pytest.mark.requirement("R4")
def test_what_nobody_could_look_at_is_told() -> None:
    assert "unread-content" in risk_of(a_sync(commit=a_commit("a.py"))).reasons


def risk(answer: bytes = b"It retries.", *paths: str, policy: Policy | None = None) -> Risk:
    payload = disclose_payload(
        answer, [ReadFile(path) for path in paths], more=0, channel="wecom_app", claimed_user="li"
    )
    return classify_operation(
        "disclose", payload, Circumstances(policy=policy or Policy()), known=ACTIONS
    )


def test_a_release_is_of_ordinary_risk() -> None:
    assert risk(b"x" * 5100, "src/login.py") == Risk("normal", ())


def test_an_answer_longer_than_three_messages_is_refused() -> None:
    assert risk(b"x" * 5101) == Risk("refused", ("answer-too-large",))


@each("path", [".env", "deploy/id_ed25519", "a/.git/config"])
def test_an_answer_from_a_secret_file_is_high_risk(path: str) -> None:
    assert risk(b"x", "src/a.py", path) == Risk("high", ("secret-file",))


def test_the_policy_can_refuse_releases_and_ask_for_the_whole_code() -> None:
    assert risk(policy=Policy(refuse_actions=("disclose",))).reasons == ("policy-action",)
    assert risk(policy=Policy(require_typed=True)) == Risk("high", ("policy-typed",))


def test_what_a_policy_says_of_changes_does_not_stop_an_answer() -> None:
    policy = Policy(refuse_paths=("src/*",), refuse_network=True, refuse_shell=True, max_files=1)
    assert risk(b"x", "src/a.py", "src/b.py", policy=policy) == Risk("normal", ())
