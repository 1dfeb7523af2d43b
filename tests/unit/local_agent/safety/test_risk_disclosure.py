"""A release changes nothing on the machine; what is odd about it is refused or looked at twice."""

from __future__ import annotations

from common.seal import ReadFile
from local_agent.actions.disclose.payload import disclose_payload
from local_agent.actions.registry import ACTIONS
from local_agent.safety.authority import classify_operation
from local_agent.safety.policy import Policy
from local_agent.safety.risk import Circumstances, Risk
from tests.each import each


def risk(answer: bytes = b"It retries.", *paths: str, policy: Policy | None = None) -> Risk:
    payload = disclose_payload(
        answer, [ReadFile(path) for path in paths], more=0, channel="wecom_app", claimed_user="li"
    )
    return classify_operation(
        "disclose", payload, Circumstances(policy=policy or Policy()), known=ACTIONS
    )


def test_a_release_is_of_ordinary_risk() -> None:
    assert risk(b"x" * 2048, "src/login.py") == Risk("normal", ())


def test_an_answer_longer_than_a_message_is_refused() -> None:
    assert risk(b"x" * 2049) == Risk("refused", ("answer-too-large",))


@each("path", [".env", "deploy/id_ed25519", "a/.git/config"])
def test_an_answer_from_a_secret_file_is_high_risk(path: str) -> None:
    assert risk(b"x", "src/a.py", path) == Risk("high", ("secret-file",))


def test_the_policy_can_refuse_releases_and_ask_for_the_whole_code() -> None:
    assert risk(policy=Policy(refuse_actions=("disclose",))).reasons == ("policy-action",)
    assert risk(policy=Policy(require_typed=True)) == Risk("high", ("policy-typed",))


def test_what_a_policy_says_of_changes_does_not_stop_an_answer() -> None:
    policy = Policy(refuse_paths=("src/*",), refuse_network=True, refuse_shell=True, max_files=1)
    assert risk(b"x", "src/a.py", "src/b.py", policy=policy) == Risk("normal", ())
