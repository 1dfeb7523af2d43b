"""One simulator with several apps and corps, and one gateway that serves them all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gateway.simulator.client import SimulatorClient
from gateway.simulator.config import load
from tests.e2e.place import Place, free_ports, listens, wait_until


@pytest.mark.thorough
def test_several_apps_and_corps_are_served_side_by_side(tmp_path: Path) -> None:
    place = Place.at(tmp_path / "other")  # for its surroundings alone
    root = tmp_path / "home"
    place = Place(root, place.made, place.gateway_port)
    api, page, port = free_ports(3)
    options = ("--port", str(api), "--page-port", str(page), "--gateway-port", str(port))
    for more in ("--app", "--corp"):
        refused = place.run("sim", "init", "--console-only", more, "shop", check=False)
        assert (refused.returncode, "leave out --app and --corp" in refused.stderr) == (2, True)
    place.run("sim", "init", *options, "--app", "shop", "--corp", "partner")
    config = load(root / "config" / "simulator.json")
    gateway = ("gateway", "--config", str(root / "config" / "gateway.toml"))
    for member in ("zhangwei", "shop:lina", "partner:wang"):
        place.run(*gateway, "member", "add", member)
    place.start("simulator", "sim")
    place.start("gateway", *gateway, "--secrets-dir", str(root / "config" / "gateway-secrets"))
    try:
        wait_until(lambda: listens(page) and listens(port))
        for app, member in (("main", "zhangwei"), ("shop", "lina"), ("partner", "wang")):
            said = place.run("sim", "send", "@dev help", "--app", app, "--user", member)
            assert "@dev test" in said.stdout
        client = SimulatorClient(page)
        told = {(one["app"], one["user"]) for one in client.messages(0)}
        assert told == {("main", "zhangwei"), ("shop", "lina"), ("partner", "wang")}
        corps = {app["name"]: app["corp_id"] for app in client.state()["apps"]}
        assert corps["main"] == corps["shop"] == config.first.corp_id != corps["partner"]
        # An error of one app is none of the others.
        place.run("sim", "fault", "60020", "--app", "shop")
        place.run("sim", "send", "@dev help", "--app", "shop", "--user", "lina", "--wait", "0.1")
        wait_until(lambda: any(one["errcode"] == 60020 for one in client.feed(0)["exchanges"]))
        assert "@dev test" in place.run("sim", "send", "@dev help").stdout
        report = place.run(
            *("sim", "check", "--app", "partner", "--json"),
            *("--gateway-config", str(root / "config" / "gateway.toml")),
            *("--secrets-dir", str(root / "config" / "gateway-secrets")),
        )
        assert json.loads(report.stdout)["good"]
        mistyped = place.run(
            *("sim", "check", config.first.callback_url, "--receive-id", config.first.corp_id),
            stdin=f"mistyped\n{config.first.encoding_aes_key}\n",
            check=False,
        )
        assert (mistyped.returncode, mistyped.stdout) == (1, "")
        assert "Token, EncodingAESKey or receive id does not belong to it" in mistyped.stderr
    finally:
        place.stop()
    assert "Traceback" not in place.log("simulator") + place.log("gateway")


def test_a_callback_that_nobody_answers_is_delivered_four_times(tmp_path: Path) -> None:
    place = Place.at(tmp_path / "home")
    told = place.run("sim", "repeat", check=False)
    assert (told.returncode, "codexbridge sim" in told.stderr) == (1, True)
    place.start("simulator", "sim", "--deadline", "0.2", "--pause", "0", "--renewed-retries")
    try:
        page = place.made.config.page_port
        wait_until(lambda: listens(page))
        done = place.run("sim", "send", "hello", check=False)
        assert (done.returncode, "did not answer" in done.stdout) == (1, True)
        tries = SimulatorClient(page).feed(0)["exchanges"]
        assert [one["attempt"] for one in tries] == [1, 2, 3, 4]
        assert len({one["sent"] for one in tries}) == 4
        again = place.run("sim", "repeat", check=False)
        assert (again.returncode, "no answer" in again.stdout) == (1, True)
        for fault in ("closed", "answer-lost", "unreachable"):
            place.run("sim", "fault", fault, "--count", "1")
        assert "unreachable" in place.run("sim", "fault").stdout
        place.run("sim", "fault", "--off")
        assert "50003          the app is switched off" in place.run("sim", "fault").stdout
        place.run("sim", "tokens", "expire", "--seconds", "60")
        for code, words in (
            (2, ("fault", "busy", "--count", "-1")),
            (2, ("fault", "busy", "--seconds", "0")),
            (2, ("tokens", "expire", "--seconds", "604801")),
            (2, ("send", "hello", "--port", "65536")),
            (2, ("trust", "nonsense")),
            (2, ("save", "https://example.com/x")),
            (1, ("send", "")),
            (2, ("check", "http://example.com/x", "--receive-id", "ww1")),
            (2, ("check", "--receive-id", "ww1")),
        ):
            told = place.run("sim", *words, check=False)
            said = told.stdout + told.stderr
            assert (told.returncode, "internal" in said.lower()) == (code, False), said
            assert "check" not in words or "Token: " not in said
    finally:
        place.stop()
    assert "Traceback" not in place.log("simulator")
