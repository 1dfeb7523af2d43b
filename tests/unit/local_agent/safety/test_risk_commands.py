"""Which facts make a command high risk, and which refuse it."""

from __future__ import annotations

from typing import Any

import pytest

from local_agent.actions.registry import ACTIONS
from local_agent.safety.authority import classify_operation
from local_agent.safety.risk import Circumstances, Risk
from local_agent.safety.risk_commands import script_at
from tests.each import each
from tests.sealed import PYTEST, a_payload


def risk_of(**changes: Any) -> Risk:
    return classify_operation(
        "run_command", a_payload(**changes), Circumstances(allowed=[PYTEST]), known=ACTIONS
    )


def test_the_configured_test_command_in_a_sandbox_is_normal() -> None:
    assert risk_of() == Risk("normal", ())


@pytest.mark.requirement("R5")
@each("argv", [["pytest"], ["pytest", "-q", "-x"], ["pytest -q"], ["/tmp/pytest", "-q"]])
def test_a_command_is_compared_whole_and_never_by_prefix(argv: list[str]) -> None:
    assert risk_of(argv=argv).reasons == ("not-the-test-command",)


@pytest.mark.requirement("R5")
def test_a_shell_line_is_compared_with_its_shell_and_whole() -> None:
    allowed = Circumstances(allowed=[("/bin/sh", "make && ./check")])
    ours, other = (
        classify_operation("run_command", a_payload(script=line), allowed, known=ACTIONS).reasons
        for line in ("make && ./check", "make && ./check all")
    )
    assert (ours, other) == (("shell",), ("shell", "not-the-test-command"))


@pytest.mark.requirement("R29")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"script": "pytest -q"}, "shell"),
        ({"argv": ["sh", "-c", "pytest -q"]}, "shell"),
        ({"sandbox_level": "none"}, "not-sandboxed"),
        ({"network": True}, "network"),
        ({"argv": ["make"]}, "not-the-test-command"),
        ({"cwd": "sub"}, "other-folder"),
        ({"argv": ["rm", "-rf", "build"]}, "destructive"),
        ({"argv": ["/bin/rm", "x"]}, "destructive"),
        ({"argv": ["sh", "-c", "true;rm x"]}, "destructive"),
        ({"script": "echo $(rm x)"}, "destructive"),
        ({"argv": ["git", "-C", ".", "reset", "--hard"]}, "destructive"),
        ({"argv": ["sudo", "true"]}, "privilege"),
        ({"argv": ["env", "A=1", "sudo", "true"]}, "privilege"),
        ({"argv": ["git", "push"]}, "publishes"),
        ({"argv": ["git", "-c", "a=b", "push", "origin"]}, "publishes"),
        ({"argv": ["echo", "a\u200bb"]}, "hidden-characters"),
        ({"argv": ["рytest", "-q"]}, "look-alike-program"),
    ],
)
def test_a_fact_makes_a_command_high_risk(changes: dict[str, Any], reason: str) -> None:
    risk = risk_of(**changes)
    assert risk.level == "high"
    assert reason in risk.reasons


@pytest.mark.requirement("R42")
@pytest.mark.parametrize(
    ("line", "at"),
    [
        (["sh", "-c", "rm x"], 2),
        (["/bin/bash", "--norc", "-o", "pipefail", "-ec", "--", "a | b", "name"], 6),
        (["timeout", "5", "env", "A=1", "zsh", "-lc", "a"], 6),
        (["find", ".", "-exec", "sh", "-c", "rm $1", "{}", ";"], 5),
        (["fish", "--command", "a"], 2),
        (["fish", "-ca; b"], 1),
        (["bash", "-euo", "pipefail", "-c", "a"], 4),
        (["bash", "-oc", "pipefail", "a"], 3),
        (["bash", "+eO", "extglob", "-c", "a"], 4),
        (["rbash", "-c", "a"], 2),
        (["/usr/bin/bash-5.2", "-c", "a"], 2),
        (["ksh93", "-c", "a"], 2),
        (["env", "-S", "bash -c 'a'"], 2),
        (["env", "-u", "A", "-iSbash -c 'a'"], 3),
        (["/usr/bin/env", "--split-string=sh -c a"], 1),
        (["env", "--unset", "A", "-vS", "sh -c a"], 4),
        (["env", "A=1", "gcc", "-S", "x.c"], None),
        (["flock", "-w", "9", "lock", "-c", "a | b"], 5),
        (["script", "-qec", "a | b", "/dev/null"], 2),
        (["su", "-", "zhang", "-c", "a"], 4),
        (["runuser", "--session-command=a", "zhang"], 1),
        (["watch", "-dn", "5", "a | b"], 3),
        (["watch", "-n5", "a | b"], 2),
        (["strace", "-f", "bash", "-c", "a"], 4),
        (["unshare", "-r", "env", "-S", "sh -c a"], 4),
        (["uv", "run", "sh", "-c", "a"], 4),
        (["env", "sh", "x", "bash", "-c", "a"], 5),
        (["env", "--split=sh -c a"], 1),
        (["script", "--comm", "a", "/dev/null"], 2),
        (["npm", "exec", "-c", "a | b"], 3),
        (["su"] * 9_000, 8_999),
        (["sh", "build.sh", "-c", "x"], None),
        (["env", "bash", "build.sh"], None),
        (["bash", "-c"], None),
        (["grep", "bash", "-c", "file"], None),
        (["pytest", "-c", "setup.cfg"], None),
    ],
)
def test_it_is_known_which_argument_a_shell_runs(line: list[str], at: int | None) -> None:
    assert script_at(line) == at


def test_a_shell_is_seen_behind_another_name() -> None:
    payload = a_payload(argv=["./tool", "-c", "rm x"])
    payload["executable"] |= {"path": "/usr/bin/dash"}
    found = classify_operation("run_command", payload, Circumstances(), known=ACTIONS)
    assert "shell" in found.reasons


@pytest.mark.requirement("R26")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"argv": ["a\0"]}, "control-character"),
        ({"argv": ["a\rb"]}, "control-character"),
        ({"argv": ["a\x1b[2J"]}, "control-character"),
        ({"argv": ["a", "\x07"]}, "control-character"),
        ({"argv": ["a", "\u202etxt"]}, "control-character"),
        ({"argv": ["a", "\ud800"]}, "control-character"),
        ({"script": "a\u2066b"}, "control-character"),
        ({"argv": ["a", "x" * 20_000]}, "too-long"),
        ({"script": "张" * 6_700}, "too-long"),
        ({"argv": [""]}, "empty-program"),
        ({"argv": [" ", "x"]}, "empty-program"),
        ({"cwd": "/etc"}, "outside-workspace"),
        ({"cwd": "a/../.."}, "outside-workspace"),
        ({"sandbox_level": "firejail"}, "unknown-sandbox"),
    ],
)
def test_a_fact_refuses_a_command(changes: dict[str, Any], reason: str) -> None:
    assert risk_of(**changes) == Risk("refused", (reason,))


@pytest.mark.parametrize("argv", [["pytest", "-q"], ["python", "-c", "a = 1\n\tb = '张三'\n"]])
def test_line_feeds_tabs_and_chinese_are_ordinary(argv: list[str]) -> None:
    assert "hidden-characters" not in risk_of(argv=argv).reasons
    assert risk_of(argv=argv).level != "refused"


def test_a_folder_named_with_dots_stays_inside() -> None:
    assert risk_of(cwd="..hidden/x").reasons == ("other-folder",)
    assert risk_of(cwd="a/..").reasons == ()


@pytest.mark.requirement("R6")
def test_the_last_byte_within_the_limit_counts_and_the_next_refuses() -> None:
    assert risk_of(argv=["a", "x" * 19_997]).level == "high"
    assert risk_of(argv=["a", "x" * 19_998]).level == "refused"


@pytest.mark.requirement("R4")
def test_with_no_configured_command_every_command_is_high_risk() -> None:
    assert classify_operation("run_command", a_payload(), known=ACTIONS).level == "high"
