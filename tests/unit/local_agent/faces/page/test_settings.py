"""The settings on the page: each one, with where its value truly comes from, and no secret."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from common.errors import ConfigError
from common.home import Home
from common.sentences import explain
from common.settings import is_secret, leaves
from local_agent.error_texts import ERRORS
from local_agent.faces.page.settings import DESCRIPTIONS, effective_settings, workspaces_view
from local_agent.settings import AgentSettings, ModelSettings, load_settings, settings_file
from local_agent.views import to_json
from local_agent.views.settings import SettingsView, SettingView
from local_agent.workspace.registry import Registry

MODELS = """
[models.deep]
kind = "http"
model = "deepseek-chat"
base_url = "https://someone:password@api.example.com/v1"
[models.other]
kind = "acp"
program = "/opt/agent"
args = ["--token", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"]
"""


class Place:
    """An agent whose settings were read at its start."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / "config", folder / "state", folder / "run")
        self.home.config.mkdir(mode=0o700)
        self.file = self.home.config / "agent.toml"
        self.environ: Mapping[str, str] = {}
        self.start()

    def write(self, text: str) -> None:
        self.file.write_text(text, encoding="utf-8")
        self.file.chmod(0o600)

    def start(self) -> None:
        self.settings = load_settings(self.home, self.environ, None)

    def view(self) -> SettingsView:
        file = settings_file(self.home, self.environ, None)
        return effective_settings(self.settings, file=file, environ=self.environ)

    def rows(self) -> dict[str, SettingView]:
        return {row.name: row for row in self.view().settings}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_every_setting_has_its_description(place: Place) -> None:
    names = {".".join(path) for path, _ in leaves(AgentSettings)}
    of_models = {f"models.NAME.{name}" for name in ModelSettings.model_fields}
    assert names | of_models == DESCRIPTIONS.keys()
    assert {row.key for row in place.view().settings} == names
    place.write(f'model = "deep"\n{MODELS}[models.codex]\nkind = "codex"\nmodel = "gpt"\n')
    place.start()
    assert {row.key for row in place.view().settings} == names - {"models"} | of_models


def test_no_setting_of_the_agent_is_a_secret() -> None:
    assert not any(is_secret(field) for _, field in leaves(AgentSettings))


def test_without_a_file_everything_is_a_default(place: Place) -> None:
    view = place.view()
    assert (view.file, view.problem) == (None, None)
    assert {(row.source, row.where, row.changed) for row in view.settings} == {
        ("default", "", False)
    }
    values = {row.name: row.value for row in view.settings}
    assert values["approval_hours"] == "24"
    assert values["nl.enable"] == "true"
    assert values["nl.confidence_threshold"] == "0.55"
    assert (values["prefix"], values["language"], values["models"]) == ("@dev", None, None)


def test_each_value_is_told_with_its_source(place: Place) -> None:
    place.write('prefix = "@ci"\napproval_hours = 2\n[nl]\nenable = true\n')
    place.environ = {
        "CODEXBRIDGE_AGENT__APPROVAL_HOURS": "3",
        "CODEXBRIDGE_AGENT__NL__USE_MODEL_ROUTER": "true",
        "CODEXBRIDGE_AGENT__THEME": "",  # an empty one is an unset one
        "CODEXBRIDGE_LANG": "zh",
        "PATH": "/bin",
    }
    place.start()
    told = {name: (row.value, row.source, row.where) for name, row in place.rows().items()}
    assert told["prefix"] == ("@ci", "file", str(place.file))
    assert told["nl.enable"] == ("true", "file", str(place.file))  # though it is the default
    assert told["approval_hours"] == ("3", "environment", "CODEXBRIDGE_AGENT__APPROVAL_HOURS")
    assert told["nl.use_model_router"][1:] == (
        "environment",
        "CODEXBRIDGE_AGENT__NL__USE_MODEL_ROUTER",
    )
    assert told["theme"] == ("auto", "default", "")
    assert place.view().file == str(place.file)


def test_the_file_may_be_another_one(place: Place, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text("approval_hours = 7\n", encoding="utf-8")
    place.environ = {"CODEXBRIDGE_CONFIG": str(other)}
    place.start()
    row = place.rows()["approval_hours"]
    assert (row.value, row.source, row.where) == ("7", "file", str(other))


def test_what_was_changed_since_the_start_is_told_apart(place: Place) -> None:
    place.write("approval_hours = 2\nwindows = false\n")
    place.start()
    place.write("windows = false\nlog_format = 'json'\n")
    rows = place.rows()
    hours = rows["approval_hours"]
    assert (hours.value, hours.source, hours.where) == ("2", "start", "")
    assert (hours.changed, hours.after_restart) == (True, "24")
    assert (rows["windows"].source, rows["windows"].changed) == ("file", False)
    assert (rows["log_format"].value, rows["log_format"].after_restart) == ("text", "json")


def test_a_broken_file_is_a_problem_and_hides_nothing(place: Place) -> None:
    place.write("approval_hours = 2\n")
    place.start()
    place.write("approval_hours = \n")
    view = place.view()
    assert view.problem is not None
    assert (view.problem.code, view.problem.facts["line"]) == ("config.broken-toml", "1")
    said = explain(ConfigError(view.problem.code, **view.problem.facts), ERRORS, "en")
    assert str(place.file) in said
    row = {row.name: row for row in view.settings}["approval_hours"]
    assert (row.value, row.source, row.changed) == ("2", "start", False)
    json.dumps(to_json(view))


def test_models_have_the_settings_of_their_kind(place: Place) -> None:
    place.write(f'model = "deep"\n{MODELS}')
    place.start()
    rows = place.rows()
    assert rows["models.deep.kind"].value == "http"
    assert (rows["models.deep.model"].value, rows["models.deep.model"].key) == (
        "deepseek-chat",
        "models.NAME.model",
    )
    assert rows["models.deep.model"].source == "file"
    assert (rows["models.deep.api"].value, rows["models.deep.api"].source) == ("chat", "default")
    assert "models.deep.args" not in rows
    assert "models.other.base_url" not in rows
    assert rows["models.other.read_only"].value == "[]"


def test_a_model_that_came_or_went_since_the_start_is_told(place: Place) -> None:
    place.write('[models.old]\nkind = "codex"\nmodel = "gpt"\n')
    place.start()
    place.write('[models.new]\nkind = "acp"\nprogram = "/opt/agent"\n')
    rows = place.rows()
    old, new = rows["models.old.model"], rows["models.new.program"]
    assert (old.value, old.changed, old.after_restart) == ("gpt", True, None)
    assert (new.value, new.changed, new.after_restart) == (None, True, "/opt/agent")


def test_a_secret_in_the_wrong_place_is_not_shown(place: Place) -> None:
    place.write(f'model = "deep"\n{MODELS}')
    place.start()
    told = json.dumps(to_json(place.view()))
    assert "password" not in told
    assert "ghp_" not in told
    assert "api.example.com/v1" in told
    place.write('api_key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"\n')
    told = json.dumps(to_json(place.view()))
    assert "ghp_" not in told
    place.write('language = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"\n')
    told = json.dumps(to_json(place.view()))
    assert "ghp_" not in told


def test_a_value_hides_nothing(place: Place) -> None:
    place.write('default_test_command = "make \\u202e test"\n')
    place.start()
    assert place.rows()["default_test_command"].value == "make ⟨U+202E⟩ test"


def test_the_workspaces_are_listed_with_their_policies(place: Place, tmp_path: Path) -> None:
    registry = Registry(place.home, home=tmp_path / "person")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        registry.add(tmp_path / name)
    registry.set_disclosure("two", level="full")
    policies = place.home.config / "policies"
    policies.mkdir(mode=0o700)
    for name, text in (("two", "max_lines ="), ("three", "")):
        (policies / f"{name}.toml").write_text(text, encoding="utf-8")
        (policies / f"{name}.toml").chmod(0o600)
    view = workspaces_view(place.home, registry)
    one, two = view.workspaces
    assert (one.name, one.default, one.disclosure, one.policy.state) == (
        *("one", True, "summary", "none"),
    )
    assert (two.disclosure, two.policy.state, two.policy.code) == (
        *("full", "broken", "policy.syntax"),
    )
    assert view.stray_policies == ("policies/three.toml",)
    assert view.problem is None
    json.dumps(to_json(view))


def test_a_broken_list_of_workspaces_is_a_problem(place: Place, tmp_path: Path) -> None:
    file = place.home.config / "workspaces.json"
    file.write_bytes(b"{")
    file.chmod(0o600)
    view = workspaces_view(place.home, Registry(place.home, home=tmp_path))
    assert view.workspaces == ()
    assert view.problem is not None
    assert (view.problem.code, view.problem.facts) == ("workspace.file", {"file": str(file)})
