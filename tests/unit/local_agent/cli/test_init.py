"""`cli.init_asking`: what is written of a model, the service, and an agent that does not start."""

from __future__ import annotations

import re
import sys
import tomllib
from argparse import Namespace
from pathlib import Path
from typing import cast

import pytest

import codexbridge
from common import children, service
from common.errors import InputError, UnavailableError
from common.home import Home
from common.keystore import FileKeystore
from local_agent.cli import init_asking as asking
from local_agent.link import pairing
from local_agent.models.keys import ModelKeys
from local_agent.sandbox.toolchains import Toolchain
from local_agent.settings import AgentSettings, load_settings

HOW_TO = Path(__file__).parents[4] / "docs/how-to/models.md"
Captured = pytest.CaptureFixture[str]


def keys_of(home: Home) -> ModelKeys:
    return ModelKeys(FileKeystore(home.state / "keys"))


@pytest.fixture
def setup(home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> asking.Setup:
    """A run that asks nobody, on a machine with one key in its environment."""
    monkeypatch.setattr(pairing, "open_keys", lambda _: FileKeystore(home.state / "keys"))
    args = Namespace(non_interactive=True, model=None)
    environ = {
        "CODEXBRIDGE_HOME": str(home.config.parent),
        "DEEPSEEK_API_KEY": "sk-1",
        "PATH": str(tmp_path),
    }
    return asking.new_setup(args, "en", environ)


def test_a_model_that_is_found_is_written_beside_what_stands_there(
    setup: asking.Setup, home: Home
) -> None:
    home.config.mkdir(parents=True, exist_ok=True)
    (home.config / "agent.toml").write_text('theme = "dark"', encoding="utf-8")
    setup.args.model = "deepseek"
    asking.configure(setup, asking.chosen_model(setup))
    settings = load_settings(home, {}, None)
    assert (settings.theme, settings.asked_model) == ("dark", "deepseek")
    assert keys_of(home).get("deepseek") == "sk-1"
    assert "sk-1" not in (home.config / "agent.toml").read_text(encoding="utf-8")


def test_the_folder_that_it_was_started_in_is_offered_and_a_home_is_not(
    setup: asking.Setup, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[str] = []

    def types_nothing(_setup: asking.Setup, _question: object, **facts: str) -> str:
        asked.append(facts.get("found", ""))
        return ""

    monkeypatch.setattr(asking.Setup, "ask", types_nothing)
    monkeypatch.chdir(tmp_path)
    assert asking.asked_folder(setup) == tmp_path
    monkeypatch.setattr(setup.here, "home", tmp_path)
    assert asking.asked_folder(setup) == tmp_path, "it is refused in the next step"
    assert asked == [str(tmp_path), ""]


def test_nothing_is_configured_that_was_not_chosen(setup: asking.Setup, home: Home) -> None:
    assert asking.chosen_model(setup) == ""
    setup.args.model = "openai"
    with pytest.raises(InputError) as caught:
        asking.chosen_model(setup)
    assert caught.value.facts["found"] == ("deepseek",)
    keys_of(home).put("deepseek", "sk-cut-off")  # by a run that was killed before the table
    asking.forget_keys(home)
    assert keys_of(home).get("deepseek") is None


def test_a_command_is_offered_by_the_name_that_its_program_has_here(tmp_path: Path) -> None:
    venv = tmp_path / ".venv"
    for own in (tmp_path / "run", venv / "bin/python3"):
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text("#!/bin/sh\n", encoding="utf-8")
        own.chmod(0o755)
    tools = [Toolchain(kind="venv", paths=(venv,), bin_dirs=(venv / "bin",))]
    found = [("python3 -m pytest", "tox.ini"), ("./run all", "README"), ("no-such x", "Makefile")]
    assert asking.startable(found, tmp_path, tools) == [("./run all", "README")], "no pytest there"
    (venv / "lib/python3.11/site-packages/pytest").mkdir(parents=True)
    assert asking.startable(found, tmp_path, tools) == found[:2]
    (venv / "lib/python3.11/site-packages/pytest").rmdir()
    (venv / "pyvenv.cfg").write_text("include-system-site-packages = true\n", encoding="utf-8")
    has_own = any(Path("/usr").glob("lib/python3*/dist-packages/pytest"))
    assert (asking.startable(found, tmp_path, tools) == found[:2]) is has_own


def test_what_is_offered_stands_in_the_how_to() -> None:
    blocks = re.findall(r"```toml\n(.*?)```", HOW_TO.read_text(encoding="utf-8"), re.DOTALL)
    told = tomllib.loads("\n".join(block for block in blocks if block.startswith("[models.")))
    for name, (_, model, url, spoken) in asking.KEYED.items():
        own = tomllib.loads(f'kind = "http"\nmodel = "{model}"\nbase_url = "{url}"\n{spoken}')
        assert told["models"][name] == own
        AgentSettings(models={name: own})


def test_a_service_is_installed_where_something_runs_services(
    setup: asking.Setup, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[list[str]] = []

    def main(argv: list[str]) -> int:
        asked.append(argv)
        return 0

    standing = iter([None, None])
    monkeypatch.setattr(service, "BOOTED", tmp_path)
    monkeypatch.setattr(codexbridge, "main", main)
    monkeypatch.setattr(asking.Setup, "status", lambda _: next(standing, True))
    monkeypatch.setattr(asking, "_is_settling", lambda *_: False)
    asking.ensure_agent(setup)
    assert asked == [["service", "install"]]
    assert setup.agent is None


@pytest.mark.heavy
def test_no_service_is_spoken_of_where_nothing_runs_any(
    setup: asking.Setup, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    setup.args.non_interactive = False
    monkeypatch.setattr(service, "BOOTED", Path("/nowhere"))
    monkeypatch.setattr(sys, "platform", "linux")
    start = children.start_own
    monkeypatch.setattr(children, "start_own", lambda _, **facts: start(["no-such"], **facts))
    with pytest.raises(UnavailableError):
        asking.ensure_agent(setup)
    assert "service" not in capsys.readouterr().out


@pytest.mark.heavy
def test_an_agent_that_ends_at_once_is_told_with_its_log(
    setup: asking.Setup, home: Home, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    setup.args.non_interactive = False
    monkeypatch.setattr(asking, "_start_service", lambda _: False)
    start = children.start_own
    monkeypatch.setattr(children, "start_own", lambda _, **facts: start(["no-such"], **facts))
    with pytest.raises(UnavailableError) as caught:
        asking.ensure_agent(setup)
    log = home.state / "agent.log"
    assert caught.value.facts["log"] == log
    assert str(log) in capsys.readouterr().out
    assert "no-such" in log.read_text(encoding="utf-8")
    assert log.stat().st_mode & 0o077 == 0


@pytest.mark.requirement("P7")
def test_an_agent_that_is_killed_is_told_with_its_log(setup: asking.Setup, home: Home) -> None:
    class Killed:
        def wait(self) -> int:
            return -9

    setup.agent = cast("children.Started", Killed())
    with pytest.raises(UnavailableError) as caught:
        setup.stay()
    assert (caught.value.code, caught.value.facts["log"]) == (
        "init.agent-gone",
        home.state / "agent.log",
    )
