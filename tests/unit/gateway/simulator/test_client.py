"""What `sim send` and the demo print of a chat, and `sim init` of what comes next."""

from __future__ import annotations

from pathlib import Path

import pytest

import codexbridge
from gateway.simulator.client import bubble_text


def test_what_a_gateway_says_moves_no_cursor_of_the_terminal() -> None:
    for sender, text in (("app", "\x1b[2Jone\ntwo"), ("system", "wecom-refuses \x1b[2Jone\ntwo")):
        told = bubble_text({"sender": sender, "text": text}, "en")
        assert "\x1b" not in told
        assert told.endswith("one\ntwo")


def test_the_port_of_the_gateway_is_handed_on_to_gateway_init(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for port, more in (("8787", ""), ("8667", " --port 8667")):
        monkeypatch.setenv("CODEXBRIDGE_HOME", str(tmp_path / port))
        assert codexbridge.main(["sim", "init", "--console-only", "--gateway-port", port]) == 0
        assert f"--api-base http://127.0.0.1:8790{more}\n" in capsys.readouterr().out
