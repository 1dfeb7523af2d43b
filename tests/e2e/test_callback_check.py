"""`sim check` against our own gateway, whole, as an admin runs it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.place import Place, Terminal


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place.at(tmp_path / "home")
    place.admin("member", "add", "zhangwei")
    place.start_gateway()
    yield place
    place.stop()


def test_our_own_gateway_meets_every_check(place: Place) -> None:
    options = (
        "--gateway-config",
        str(place.made.gateway),
        "--secrets-dir",
        str(place.made.secrets),
    )
    done = place.run("sim", "check", *options, "--json", check=False)
    report = json.loads(done.stdout)
    assert [one["id"] for one in report["checks"] if not one["good"]] == []
    assert (done.returncode, report["good"]) == (0, True)
    assert len(report["checks"]) >= 60
    app = place.made.config.first
    keys = f"{app.token}\n{app.encoding_aes_key}\n"
    asked = place.run(
        "sim", "check", app.callback_url, "--receive-id", app.corp_id, stdin=keys, check=False
    )
    assert asked.returncode == 0, asked.stdout
    for secret in (app.token, app.encoding_aes_key, app.corp_secret):
        assert secret not in done.stdout + done.stderr + asked.stdout + asked.stderr
    assert "✗" not in asked.stdout


def test_keys_are_typed_unseen(place: Place) -> None:
    app = place.made.config.first
    arguments = ("sim", "check", app.callback_url, "--receive-id", app.corp_id)
    with Terminal(place.environ, *arguments) as terminal:
        terminal.read_until("Token:", after=re.compile("Token:"))
        terminal.type(app.token)
        terminal.read_until("EncodingAESKey:", after=re.compile("EncodingAESKey:"))
        terminal.type(app.encoding_aes_key)
        assert "✓ message.taken" in terminal.read_to_end()
        assert app.token not in terminal.shown
        assert app.encoding_aes_key not in terminal.shown


def test_wrong_keys_are_seen_and_a_url_elsewhere_is_refused(place: Place) -> None:
    app = place.made.config.first
    wrong = place.run(
        *("sim", "check", app.callback_url, "--receive-id", app.corp_id),
        stdin=f"{'t' * 24}\n{app.encoding_aes_key}\n",
        check=False,
    )
    assert wrong.returncode == 1
    assert "Token, EncodingAESKey or receive id does not belong to it" in wrong.stderr
    place.stop()
    gone = place.run(
        *("sim", "check", app.callback_url, "--receive-id", app.corp_id),
        stdin=f"{app.token}\n{app.encoding_aes_key}\n",
        check=False,
    )
    assert (gone.returncode, gone.stdout) == (1, "")
    assert "Nobody listens" in gone.stderr
    for url in (
        "https://127.0.0.1/",
        "http://localhost/",
        "http://10.0.0.1/",
        "http://u@127.0.0.1/",
    ):
        refused = place.run("sim", "check", url, "--receive-id", "ww1", stdin="a\nb\n", check=False)
        assert refused.returncode == 2
        assert "cannot be checked" in refused.stderr
