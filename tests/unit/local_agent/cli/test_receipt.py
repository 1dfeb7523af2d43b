"""``codexbridge receipt``: had from the agent, checked with nothing but files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import codexbridge
from common.receipt import sign_receipt
from common.signing import APPROVAL, SigningKey
from tests.unit.common.test_receipt import (
    AGENT,
    GATEWAY,
    OLD,
    a_statement,
    facts,
    text,
    without_an_approval,
)
from tests.unit.local_agent.cli.conftest import AgentDouble

KEY, GATEWAY_KEY = text(AGENT.public.raw), text(GATEWAY.public.raw)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "receipt.json"
    path.write_bytes(sign_receipt(AGENT, facts()))
    return path


def run(*words: str) -> int:
    return codexbridge.main(["receipt", *words])


def test_a_receipt_is_had_from_the_agent(
    agent: AgentDouble, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = sign_receipt(AGENT, facts()).decode()
    agent.answers["receipt"] = {"receipt": made}
    target = tmp_path / "new.json"
    assert run("t-7k3f", "--output", str(target)) == 0
    assert agent.args_of("receipt") == {"task": "T-7K3F"}
    (said,) = capsys.readouterr().out.splitlines()
    assert "T-7K3F" in said
    assert str(target) in said
    assert target.read_text(encoding="ascii") == made
    assert target.stat().st_mode & 0o777 == 0o600
    assert run("T-7K3F", "--output", str(target)) == 1
    capsys.readouterr()
    steps = [{"task": "T-9C2M"}, {"task": None}, {"task": "T-9C2M"}, {"task": "T-5D8P"}]
    agent.answers["show"] = {"task": {"playbook_run": {"steps": steps}}}
    assert run("T-7K3F") == 0
    assert "T-9C2M, T-5D8P." in capsys.readouterr().err
    agent.answers["status"] = {"public_key": KEY}
    assert run("key") == 0
    assert capsys.readouterr().out == f"{KEY}\n"


@pytest.mark.requirement("P6")
def test_it_is_checked_without_an_agent_a_journal_or_a_home(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEXBRIDGE_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setenv("LANG", "C.UTF-8")
    assert run("verify", str(file), "--key", KEY, "--gateway-key", GATEWAY_KEY) == 0
    said = capsys.readouterr().out
    assert re.search(r"\d\d:\d\d:\d\d [+-]\d\d:\d\d", said)  # it may be read in another zone
    for word in ("T-7K3F", "张伟", "dev-1", "NENT-QAXB", "exit code 0", "was checked"):
        assert word in said
    assert run("verify", str(file), "--key", KEY) == 0
    assert "was not checked" in capsys.readouterr().out
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("lang", "channel", "words"),
    [
        ("C.UTF-8", "wecom_app", ("the WeCom app", "a command, digest")),
        ("zh_CN.UTF-8", "wecom_app", ("企业微信应用", "命令，摘要")),
        ("C.UTF-8", "terminal", ("terminal of the machine",)),
        ("C.UTF-8", "one_to_come", ("the one_to_come",)),
    ],
)
def test_channels_and_actions_are_told_in_words(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    lang: str,
    channel: str,
    words: tuple[str, ...],
) -> None:
    monkeypatch.setenv("LANG", lang)
    path = tmp_path / "receipt.json"
    path.write_bytes(sign_receipt(AGENT, facts(task__channel=channel)))
    assert run("verify", str(path), "--key", KEY) == 0
    said = capsys.readouterr().out
    assert all(word in said for word in words)


@pytest.mark.parametrize(
    ("lang", "approver", "word"),
    [
        ("C.UTF-8", "passkey", "(passkey)"),
        ("zh_CN.UTF-8", "passkey", "（通行密钥）"),
        ("zh_CN.UTF-8", "terminal", "（终端）"),
        ("C.UTF-8", "desktop", "(window)"),
        ("C.UTF-8", "one_to_come", "(one_to_come)"),
    ],
)
def test_who_approved_is_told_in_words(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    lang: str,
    approver: str,
    word: str,
) -> None:
    monkeypatch.setenv("LANG", lang)
    words = a_statement(approver=approver)
    signature = text(OLD.sign(APPROVAL, words.encode()))
    changed = {"approver": approver, "statement": words, "signature": signature}
    told = facts(**{f"approval__{name}": value for name, value in changed.items()})
    path = tmp_path / "receipt.json"
    path.write_bytes(sign_receipt(AGENT, told))
    assert run("verify", str(path), "--key", KEY) == 0
    assert word in capsys.readouterr().out


@pytest.mark.parametrize("lang", ["C.UTF-8", "zh_CN.UTF-8"])
def test_every_kind_of_receipt_is_told_in_words(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    lang: str,
) -> None:
    monkeypatch.setenv("LANG", lang)
    undecided = without_an_approval(state="REJECTED", reason="expired")
    nobody = dict.fromkeys(("decided_at", "approver", "statement", "signature", "public_key"))
    undecided["approval"] = facts()["approval"] | nobody | {"state": "expired"}
    kinds = (
        facts(outcome__signal=9, outcome__exit_code=None),
        facts(gateway=None),
        without_an_approval(),
        undecided,
    )
    for kind in kinds:
        path = tmp_path / "kind.json"
        path.write_bytes(sign_receipt(AGENT, kind))
        assert run("verify", str(path), "--key", KEY) == 0
        said = capsys.readouterr().out
        assert "T-7K3F" in said
        assert "wecom_app" not in said
        assert "run_command" not in said


@pytest.mark.requirement("P6")
@pytest.mark.parametrize(
    ("state", "reason", "told"),
    [
        ("FAILED", "drifted", "nothing was executed"),
        ("FAILED", "unknown", "whether anything ran is not recorded"),
        ("REJECTED", "cancelled", "whether anything ran is not recorded"),
    ],
)
def test_a_used_approval_is_not_told_as_an_execution_that_nobody_saw(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    state: str,
    reason: str,
    told: str,
) -> None:
    monkeypatch.setenv("LANG", "C.UTF-8")
    ran = ("exit_code", "signal", "output_sha256", "changed_files")
    outcome = {f"outcome__{name}": None for name in ran}
    made = facts(outcome__state=state, outcome__reason=reason, **outcome)
    path = tmp_path / "receipt.json"
    path.write_bytes(sign_receipt(AGENT, made))
    assert run("verify", str(path), "--key", KEY) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert told in said
    assert "execution began" not in said
    assert "this machine" not in said  # it may be read at another one


@pytest.mark.requirement("P6")
@pytest.mark.parametrize(
    ("action", "reason", "told"),
    [
        ("apply_diff", "completed", "the change was made as approved, begun"),
        ("undo", "completed", "the change was taken back as approved, begun"),
        ("git_sync", "completed", "what was approved was pushed, begun"),
        ("disclose", "completed", "released to the chat as approved"),
        ("apply_diff", "failed", "every file stayed as it was"),
        ("git_sync", "failed", "and not pushed"),
        ("undo", "unknown", "how far it got is unknown"),
    ],
)
def test_what_was_done_of_a_change_or_push_is_told(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    action: str,
    reason: str,
    told: str,
) -> None:
    monkeypatch.setenv("LANG", "C.UTF-8")
    ran = dict.fromkeys(("outcome__exit_code", "outcome__signal", "outcome__output_sha256"))
    state = "COMPLETED" if reason == "completed" else "FAILED"
    made = facts(
        approval__action=action,
        outcome__state=state,
        outcome__reason=reason,
        outcome__changed_files=3 if reason == "completed" else None,
        **ran,
    )
    path = tmp_path / "receipt.json"
    path.write_bytes(sign_receipt(AGENT, made))
    assert run("verify", str(path), "--key", KEY) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert told in said
    assert "not recorded" not in said
    assert ("3 files written" in said) == (reason == "completed")


def test_programs_are_told_all_of_it(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("verify", str(file), "--key", KEY, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["ok"], told["decision"], told["gateway_key_checked"]) == (True, "approve", False)
    assert told["receipt"]["task"]["claimed_user"] == "张伟"
    other = text(SigningKey.generate().public.raw)
    assert run("verify", str(file), "--key", other, "--json") == 1
    assert json.loads(capsys.readouterr().out) == {"ok": False, "broken": "key"}


@pytest.mark.requirement("P6")
def test_what_does_not_hold_is_told_and_ends_with_1(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b'"exit_code":0', b'"exit_code":1'))
    assert run("verify", str(file), "--key", KEY) == 1
    assert "NOT" in capsys.readouterr().out
    file.write_bytes(b" " * 300_000)
    assert run("verify", str(file), "--key", KEY) == 1


@pytest.mark.parametrize(
    "words",
    [
        ("verify",),
        ("verify", "receipt.json"),
        ("verify", "receipt.json", "--key", "nonsense"),
        ("T-7K3F", "receipt.json"),
        ("T-7K3F", "--key", KEY),
        ("nonsense",),
    ],
)
def test_arguments_that_cannot_be_used_end_with_2(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*words) == 2
    assert capsys.readouterr().err


@pytest.mark.requirement("P6", "P7")
def test_what_came_of_each_step_of_several_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    began = facts()["outcome"]["began_at"]
    parts = [
        {"index": 0, "reason": "completed", "began_at": began, "closed_at": began},
        {"index": 1, "reason": "drifted", "began_at": began, "closed_at": began},
        {"index": 2, "reason": None, "began_at": None, "closed_at": None},
    ]
    told = facts(
        approval__action="steps",
        outcome__parts=parts,
        outcome__state="FAILED",
        outcome__reason="drifted",
    )
    path = tmp_path / "steps.json"
    path.write_bytes(sign_receipt(AGENT, told))
    assert run("verify", str(path), "--key", KEY) == 0
    said = capsys.readouterr().out
    assert "nothing was executed" not in said
    for words in ("part 1 of 3: completed", "part 2 of 3: ", "part 3 of 3: not begun"):
        assert words in said
