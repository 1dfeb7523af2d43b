"""Secrets that an admin changes while the gateway runs, as when WeCom's console gave new ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.simulator.config import new_app
from tests.e2e.place import Place, wait_until


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place.at(tmp_path / "home")
    try:
        place.admin("member", "add", "zhangwei")
        place.start_simulator()
        yield place
    finally:
        place.stop()


def put(place: Place, **secrets: str) -> None:
    for name, value in secrets.items():
        (place.made.secrets / f"wecom__{name}").write_text(value, encoding="utf-8")


def status(place: Place) -> tuple[int, str | None]:
    """Return the exit code of ``gateway status``, and what of the app cannot be read."""
    config = ("gateway", "--config", str(place.made.gateway))
    done = place.run(*config, "status", "--json", check=False)
    return done.returncode, json.loads(done.stdout)["apps"]["main"]["unread"]


@pytest.mark.requirement("P3")
def test_a_gateway_takes_up_new_secrets_without_a_restart(place: Place) -> None:
    app = place.made.config.first
    fresh = new_app(callback_url=app.callback_url, corp_id=app.corp_id, app_id=app.app_id)
    put(place, corp_secret="a-secret-of-no-app")
    place.start_gateway()
    assert place.callback("@dev machines") == 200
    wait_until(lambda: "outbox-held app=main code=wecom.bad-secret" in place.log("gateway"))

    put(place, token=fresh.token, encoding_aes_key="no key")
    wait_until(lambda: "secrets-not-renewed" in place.log("gateway"))
    assert place.callback("@dev machines") == 200, "what it had still opens"

    keys = {"token": fresh.token, "encoding_aes_key": fresh.encoding_aes_key}
    put(place, **keys, corp_secret=app.corp_secret)
    wait_until(lambda: "secrets-renewed" in place.log("gateway"))
    assert "No machine works for you" in place.hears("No machine")
    assert place.callback("@dev status") == 403, "the old keys open nothing any more"
    assert status(place) == (0, "callback.signature"), "anybody could have sent that"
    now = replace(fresh, corp_secret=app.corp_secret)
    place.made = replace(place.made, config=place.made.config.with_app(now))
    assert place.callback("@dev status") == 200
    assert place.hears("no open task")
    assert status(place) == (0, None)

    log = place.log("gateway")
    assert log.count("listening") == 1
    assert not any(secret in log for secret in (*keys.values(), app.corp_secret, "no key"))
    told = place.admin("--secrets-dir", str(place.made.secrets), "doctor", "--json")
    assert "ready.other-settings" not in {found["code"] for found in json.loads(told)["checks"]}
