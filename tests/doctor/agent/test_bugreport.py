"""A bug report can be sent: nothing of what a person wrote, and no secret, is in it."""

from __future__ import annotations

import getpass
import json
import re
import socket
import stat
from pathlib import Path

import pytest

import codexbridge
from local_agent.cli.doctor import SECTIONS
from local_agent.doctor.report import write_report
from tests.doctor.agent.conftest import Good, another_machine
from tests.doctor.agent.house import copy_of
from tests.e2e.place import Place, wait_until

pytestmark = [
    pytest.mark.needs("bubblewrap"),
    pytest.mark.needs("git"),
    pytest.mark.needs("a screen (xvfb, openbox, xdotool, Tk)"),
]
SECRET = "sk-canary-4f9a8b7c6d5e4f3a2b1c"
MARK = "canarymark"  # in every word that a person wrote somewhere


def fill(place: Place) -> None:
    """Put a canary wherever a person or a model could."""
    config = place.root / "config"
    file = config / "agent.toml"
    text = f'default_test_command = "echo {MARK}1"\n' + file.read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    place.run("models", "key", "chat", stdin=SECRET + "\n")
    policy = config / "policies/shop.toml"
    policy.parent.mkdir(mode=0o700)
    policy.write_text(f"refuse_paths = ['{MARK}2/*'] # {SECRET}\n", encoding="utf-8")
    policy.chmod(0o600)
    stray = policy.with_name(f"{MARK}0-client.toml")
    stray.write_text("require_typed = true\n", encoding="utf-8")
    stray.chmod(0o600)
    folder = place.root / "work" / f"{MARK}3-project"
    folder.mkdir(parents=True)
    (folder / "notes.md").write_text(f"{MARK}4 {SECRET}\n", encoding="utf-8")
    place.run("workspace", "add", str(folder), "--name", f"{MARK}5", "--toolchains", "none")


def test_no_canary_leaves(good: Good, tmp_path: Path) -> None:
    place = another_machine(good, tmp_path / "home", f"{MARK}6-laptop", SOME_TOKEN=SECRET)
    fill(place)
    place.start_agent()
    try:
        place.run("ask", f"run `echo {MARK}7 {SECRET}`", check=False)
        wait_until(lambda: any(MARK in str(task) for task in place.tasks()))
        log = place.root / "agent.log"
        with log.open("a", encoding="utf-8") as lines:
            lines.write(f"{MARK}8 {SECRET}\n")
            lines.write(
                f"2026-01-02T03:04:05.678+00:00 info agent some.event text={MARK}9 code=a.b "
                f'said="{MARK}10 of zhangwei" why={SECRET}\n'
                f"2026-01-02T03:04:05.678+00:00 info agent some.event please tell {MARK}11\n"
                f'2026-01-02T03:04:05.678+00:00 info agent some.event why="{MARK}12 said hello"\n'
            )
        target = tmp_path / "report.json"
        done = place.run("bugreport", "--output", str(target), "--log", str(log))
    finally:
        place.stop()
    said, told = target.read_text(encoding="utf-8"), done.stdout
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    key = next((place.root / "state/keys").glob("agent-*.key")).read_text(encoding="ascii").strip()
    names = (MARK, SECRET, key, "zhangwei", socket.gethostname(), str(place.root))
    assert [name for name in names if name in said] == []
    assert re.search(rf"(?<![\w-]){getpass.getuser()}(?![\w-])", said) is None
    report = json.loads(said)
    assert set(report) == {
        *("versions", "doctor", "settings", "link", "sandbox", "journal", "log"),
    }
    assert report["link"]["state"] == "connected"
    assert report["journal"]["tasks"]
    assert report["journal"]["audit"] > 0
    assert {"name": "default_test_command", "value": "<set>"}.items() <= next(
        row for row in report["settings"] if row["name"] == "default_test_command"
    ).items()
    assert any("some.event text code=a.b said why" in line for line in report["log"]["lines"])
    assert any("agent.ready" in line for line in report["log"]["lines"])
    assert report["log"]["left_out"] >= 1
    assert "Read it before you send it" in told
    for section in report:
        assert SECTIONS[section].en in told


def test_a_report_can_be_made_of_what_is_broken_and_replaces_nothing(
    good: Good, tmp_path: Path
) -> None:
    root = copy_of(good.place.root, tmp_path / "home")
    (root / "state/journal.db").write_bytes(b"no database" * 100)
    (root / "config/agent.toml").write_text(f"model = {SECRET}\n", encoding="utf-8")
    place = Place(root, good.place.made, good.place.gateway_port, good.place.extra)
    target = tmp_path / "report.json"
    place.run("bugreport", "--output", str(target))
    said = target.read_text(encoding="utf-8")
    assert SECRET not in said
    report = json.loads(said)
    assert report["journal"]["error"] == "SQLITE_NOTADB"
    assert report["settings"] is None
    assert "--log" in report["log"]["where"]
    again = place.run("bugreport", "--output", str(target), check=False)
    assert again.returncode == 1
    assert target.read_text(encoding="utf-8") == said
    (root / "config/agent.toml").write_text(f"{MARK} = 1\n", encoding="utf-8")
    kept = (root / "config/workspaces.json").read_text(encoding="utf-8")
    kept = kept.replace('"true"', f'"./{MARK}run --all"')
    (root / "config/workspaces.json").write_text(kept, encoding="utf-8")
    place.run("bugreport", "--output", str(tmp_path / "other.json"))
    other = (tmp_path / "other.json").read_text(encoding="utf-8")
    assert "config.unknown-setting" in other
    assert "workspaces.test-lost" in other
    assert MARK not in other


def test_without_a_name_each_report_is_a_new_file_at_home_and_not_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    for folder in (home, tmp_path / "project"):
        folder.mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CODEXBRIDGE_HOME", str(tmp_path / "codexbridge"))
    assert [codexbridge.main(["bugreport"]) for _ in range(2)] == [0, 0]
    names = ["codexbridge-bugreport-2.json", "codexbridge-bugreport.json"]
    assert sorted(path.name for path in home.iterdir()) == names
    assert list((tmp_path / "project").iterdir()) == []


def test_a_link_in_the_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    aim = tmp_path / "aim"
    aim.write_text("kept", encoding="utf-8")
    (tmp_path / "link").symlink_to(aim)
    with pytest.raises(OSError):
        write_report(tmp_path / "link", {"versions": {}})
    assert aim.read_text(encoding="utf-8") == "kept"
