"""The settings of the agent: what may be decided there, and that nothing there can approve."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from common.errors import ConfigError
from common.home import Home
from common.settings import leaves
from local_agent.settings import AgentSettings, load_settings

EXAMPLE = Path(__file__).parents[3] / "config" / "agent.example.toml"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "config").mkdir(mode=0o700)
    return Home(tmp_path / "config", tmp_path / "state", tmp_path / "run")


def test_without_a_file_the_defaults_of_the_seed_hold(home: Home) -> None:
    settings = load_settings(home, {}, None)
    assert (settings.nl.enable, settings.nl.use_model_router) == (True, False)
    assert settings.nl.confidence_threshold == 0.55
    assert (settings.prefix, settings.approval_hours) == ("@dev", 24)
    assert settings.default_test_command is None


def test_the_example_file_states_every_setting_at_its_default(home: Home) -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    named = {".".join(path) for path, _ in leaves(AgentSettings)}
    uncommented = "\n".join(
        line.removeprefix("# ") if line.startswith("# ") and " = " in line else line
        for line in text.splitlines()
    )
    table = tomllib.loads(uncommented)
    flat = {name for name, value in table.items() if not isinstance(value, dict)}
    assert flat | {f"nl.{name}" for name in table["nl"]} == named
    EXAMPLE.chmod(EXAMPLE.stat().st_mode & ~0o002)
    assert load_settings(home, {}, EXAMPLE) == load_settings(home, {}, None)


def test_file_and_environment_are_read_the_stronger_one_wins(home: Home) -> None:
    file = home.config / "agent.toml"
    file.write_text('prefix = "@ci"\napproval_hours = 2\n[nl]\nenable = false\n', encoding="utf-8")
    settings = load_settings(home, {"CODEXBRIDGE_AGENT__APPROVAL_HOURS": "3"}, None)
    assert (settings.prefix, settings.approval_hours, settings.nl.enable) == ("@ci", 3, False)


def test_the_file_may_be_named_by_the_environment_or_the_command_line(home: Home) -> None:
    named, stronger = home.config / "a.toml", home.config / "b.toml"
    named.write_text("approval_hours = 5\n", encoding="utf-8")
    stronger.write_text("approval_hours = 6\n", encoding="utf-8")
    environ = {"CODEXBRIDGE_CONFIG": str(named)}
    assert load_settings(home, environ, None).approval_hours == 5
    assert load_settings(home, environ, stronger).approval_hours == 6
    with pytest.raises(ConfigError):
        load_settings(home, {}, home.config / "missing.toml")


@pytest.mark.requirement("P8")
@pytest.mark.parametrize(
    "line",
    [
        "approval_hours = 0",
        "approval_hours = 73",
        'prefix = "dev"',
        'prefix = "@"',
        'language = "fr"',
        'default_test_command = ""',
        "[nl]\nconfidence_threshold = 1.5",
    ],
)
def test_a_value_out_of_bounds_is_refused(home: Home, line: str) -> None:
    (home.config / "agent.toml").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        load_settings(home, {}, None)
    assert refused.value.code == "config.invalid"


@pytest.mark.requirement("P1")
@pytest.mark.requirement("R5")
@pytest.mark.parametrize(
    "name", ["auto_approve", "always_allow", "approve", "sandbox", "skip_confirmation", "yes"]
)
def test_there_is_no_setting_that_approves_or_turns_a_guard_off(home: Home, name: str) -> None:
    (home.config / "agent.toml").write_text(f"{name} = true\n", encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        load_settings(home, {}, None)
    assert refused.value.code == "config.unknown-setting"
    with pytest.raises(ConfigError):
        load_settings(home, {f"CODEXBRIDGE_AGENT__{name.upper()}": "1"}, home.config / "none")
