"""Wrong surroundings: one clear line that says what to do, and exit code 2 where it stops."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.place import Place, wait_until

pytestmark = [pytest.mark.requirement("MJ-8")]

AN_HOUR_LATE = """
import sys
import common.clock as clock
real = clock.SystemClock.now
def late(self):
    at = real(self)
    return clock.Instant(at.wall_ms + 3_600_000, at.mono)
clock.SystemClock.now = late
import codexbridge
sys.exit(codexbridge.main(["agent"]))
"""


def refusal(place: Place, *arguments: str) -> str:
    """Run a command that must stop with code 2 and return its one line."""
    done = place.run(*arguments, check=False)
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]


def gateway(place: Place, *, secrets: Path | None = None) -> tuple[str, ...]:
    """Return the arguments that start this place's gateway."""
    folder = str(secrets or place.made.secrets)
    return ("gateway", "--config", str(place.made.gateway), "--secrets-dir", folder)


@pytest.mark.requirement("P8")
def test_an_empty_member_list_stops_the_gateway(place: Place) -> None:
    assert "member add" in refusal(place, *gateway(place))


@pytest.mark.parametrize("name", ["token", "encoding_aes_key", "corp_secret"])
@pytest.mark.requirement("P8")
def test_a_missing_secret_is_named(place: Place, name: str) -> None:
    place.admin("member", "add", "zhangwei")
    (place.made.secrets / f"wecom__{name}").unlink()
    line = refusal(place, *gateway(place))
    assert f"wecom.{name}" in line
    assert f"CODEXBRIDGE_GATEWAY__WECOM__{name.upper()}" in line


def test_a_malformed_aes_key_is_refused_without_showing_it(place: Place) -> None:
    place.admin("member", "add", "zhangwei")
    path = place.made.secrets / "wecom__encoding_aes_key"
    path.write_text("tooshortsecret", encoding="utf-8")
    line = refusal(place, *gateway(place))
    assert "EncodingAESKey of wecom" in line
    assert "tooshortsecret" not in line


def test_a_secret_that_others_can_read_is_refused(place: Place) -> None:
    place.admin("member", "add", "zhangwei")
    path = place.made.secrets / "wecom__token"
    path.chmod(0o644)
    assert str(path) in refusal(place, *gateway(place))


def test_a_port_in_use_is_named(place: Place) -> None:
    place.admin("member", "add", "zhangwei")
    with socket.create_server(("127.0.0.1", place.gateway_port)):
        assert str(place.gateway_port) in refusal(place, *gateway(place))


def test_a_second_gateway_on_the_same_store_is_refused(place: Place, tmp_path: Path) -> None:
    place.admin("member", "add", "zhangwei")
    place.start_simulator()
    place.start_gateway()
    other = tmp_path / "other.toml"
    text = place.made.gateway.read_text(encoding="utf-8")
    other.write_text(text.replace(str(place.gateway_port), "0"), encoding="utf-8")
    other.chmod(0o600)
    refusal(place, "gateway", "--config", str(other), "--secrets-dir", str(place.made.secrets))


def test_broken_toml_is_told_with_its_line(place: Place) -> None:
    place.made.gateway.write_text("[wecom\ncorp_id = 1\n", encoding="utf-8")
    line = refusal(place, *gateway(place))
    assert "gateway.toml" in line
    assert "1" in line


def test_an_unknown_setting_is_named_with_what_was_meant(place: Place) -> None:
    text = place.made.gateway.read_text(encoding="utf-8").replace("corp_id", "corp_idd")
    place.made.gateway.write_text(text, encoding="utf-8")
    line = refusal(place, *gateway(place))
    assert "corp_idd" in line
    assert "corp_id" in line.replace("corp_idd", "")


def test_a_missing_configuration_file_is_named(place: Place, tmp_path: Path) -> None:
    assert "none.toml" in refusal(place, "gateway", "--config", str(tmp_path / "none.toml"))


def test_an_unknown_setting_of_the_agent_is_named(place: Place) -> None:
    path = place.root / "config" / "agent.toml"
    path.write_text("aprove = true\n", encoding="utf-8")
    path.chmod(0o600)
    assert "aprove" in refusal(place, "agent")


def test_a_second_agent_is_refused(place: Place) -> None:
    place.start_agent(connected=False)
    refusal(place, "agent")


def test_commands_say_so_when_no_agent_runs(place: Place) -> None:
    for arguments in (("tasks",), ("approve",), ("ask", "@dev help"), ("cancel", "T-7K3F")):
        done = place.run(*arguments, check=False)
        assert done.returncode != 0
        assert len(done.stderr.strip().splitlines()) == 1
        assert "codexbridge init" in done.stderr, "nothing is set up yet"


@pytest.mark.requirement("R60")
def test_without_a_keyring_the_key_is_a_private_file_and_status_says_so(running: Place) -> None:
    keys = [path for path in running.root.rglob("*key*") if path.is_file()]
    assert keys
    assert all(path.stat().st_mode & 0o077 == 0 for path in keys)
    assert running.status()["key_storage"] == "file"
    assert "keyring" in running.run("status").stdout


def test_an_unreachable_gateway_is_told_and_retried(running: Place) -> None:
    running.kill("gateway")
    wait_until(lambda: not running.status()["connected"])
    said = running.run("status").stdout
    assert "reach" in said.lower()
    assert str(running.gateway_port) in said
    running.start_gateway()
    wait_until(lambda: running.status()["connected"])


def test_pairing_with_an_unreachable_gateway_says_so(place: Place) -> None:
    code = "CB1-" + "A" * 26
    url = f"http://127.0.0.1:{place.gateway_port}"
    done = place.run("pair", "--gateway", url, stdin=code, check=False)
    assert done.returncode == 1
    assert url in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.requirement("R15")
def test_pairing_over_plain_http_with_another_host_is_refused(place: Place) -> None:
    code = "CB1-" + "A" * 26
    done = place.run("pair", "--gateway", "http://gateway.example", stdin=code, check=False)
    assert done.returncode == 2
    assert "https" in done.stderr


@pytest.mark.requirement("R9")
def test_a_wrong_or_used_pairing_code_is_refused(running: Place, tmp_path: Path) -> None:
    other = Place(tmp_path / "other", running.made, running.gateway_port)
    other.root.mkdir(mode=0o700)
    done = other.run("pair", "--gateway", running.base, stdin="CB1-" + "A" * 26, check=False)
    assert done.returncode != 0
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_clock_that_is_off_by_an_hour_is_told_with_the_seconds(
    running: Place, tmp_path: Path, lang: str
) -> None:
    running.kill("agent")
    script = tmp_path / "late.py"
    script.write_text(AN_HOUR_LATE, encoding="utf-8")
    root = str(Path(__file__).parent.parent.parent)
    environ = running.environ | {"PYTHONPATH": root, "CODEXBRIDGE_LANG": lang}
    with (running.root / "late.log").open("wb") as log:
        running.processes["late"] = subprocess.Popen(
            [sys.executable, str(script)],
            env=environ,
            cwd=root,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    wait_until(lambda: abs(running.status().get("clock_skew_seconds") or 0) > 3500)
    said = running.run("status").stdout
    assert "clock" in said.lower()
    assert "3600" in said or "3599" in said or "3601" in said


def test_a_home_that_others_can_enter_is_made_private(place: Place) -> None:
    state = place.root / "state"
    state.mkdir(mode=0o755, parents=True)
    state.chmod(0o755)
    place.start_agent(connected=False)
    folders = [path for path in place.root.rglob("*") if path.is_dir()]
    assert all(path.stat().st_mode & 0o077 == 0 for path in folders if "agent" in path.name)
