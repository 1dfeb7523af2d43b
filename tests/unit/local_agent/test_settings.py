"""The settings of the agent: what may be decided there, and that nothing there can approve."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from common.errors import ConfigError
from common.home import Home
from common.settings import leaves
from local_agent.settings import AgentSettings, ModelSettings, load_settings

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
    assert flat | {f"nl.{name}" for name in table["nl"]} == named - {"models"}
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


def test_the_models_of_the_example_file_are_what_may_be_configured(home: Home) -> None:
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    models = [line[1:] for line in lines if line.startswith("#") and not line.startswith("# ")]
    file = home.config / "agent.toml"
    file.write_text("\n".join(['model = "codex"', *models]), encoding="utf-8")
    settings = load_settings(home, {}, None)
    assert {model.kind for model in settings.models.values()} == {"http", "codex", "acp"}
    assert settings.asked_model == "codex"
    stated = {name for model in settings.models.values() for name in model.model_fields_set}
    assert stated == set(ModelSettings.model_fields)


HTTP = '[models.%s]\nkind = "http"\nmodel = "m"\nbase_url = "https://api.example/v1"\n'


def test_the_only_model_is_the_one_that_is_asked(home: Home) -> None:
    assert load_settings(home, {}, None).asked_model is None
    (home.config / "agent.toml").write_text(HTTP % "one", encoding="utf-8")
    assert load_settings(home, {}, None).asked_model == "one"


@pytest.mark.requirement("P8")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        (HTTP % "one" + HTTP % "two", "models.several"),
        ('model = "three"\n' + HTTP % "one", "models.unknown"),
        ('model = "three"', "models.unknown"),
        (HTTP % "One", "config.invalid"),
        (HTTP % '"a b"', "config.invalid"),
        (HTTP % ("x" * 33), "config.invalid"),
        (HTTP % "one" + 'program = "/bin/sh"', "models.not-for-kind"),
        (HTTP % "one" + 'args = ["-c"]', "models.not-for-kind"),
        (HTTP % "one" + 'key = "sk-1"', "config.unknown-setting"),
        (HTTP % "one" + "deadline_seconds = 9", "config.invalid"),
        (HTTP % "one" + "deadline_seconds = 3601", "config.invalid"),
        (HTTP % "one" + "idle_seconds = 4", "config.invalid"),
        (HTTP % "one" + "max_output_tokens = 0", "config.invalid"),
        (HTTP % "one" + "price_input = -1.0", "config.invalid"),
        (HTTP % "one" + "price_output = inf", "config.invalid"),
        (HTTP % "one" + 'currency = "dollar"', "config.invalid"),
        (HTTP % "one" + 'api = "completions"', "config.invalid"),
        (HTTP % "one" + 'effort = "High!"', "config.invalid"),
        ('[models.one]\nkind = "http"\nmodel = "m"', "models.incomplete"),
        ('[models.one]\nkind = "codex"', "models.incomplete"),
        ('[models.one]\nkind = "codex"\nmodel = "m"\nargs = ["x"]', "models.not-for-kind"),
        ('[models.one]\nkind = "codex"\nmodel = "m"\nprogram = "codex"', "config.invalid"),
        ('[models.one]\nkind = "acp"', "models.incomplete"),
        ('[models.one]\nkind = "acp"\nprogram = "/x"\nmodel = "m"', "models.not-for-kind"),
        (
            '[models.one]\nkind = "acp"\nprogram = "/x"\nkey_variable = "a=b"',
            "config.invalid",
        ),
        ('[models.one]\nkind = "shell"', "config.invalid"),
    ],
)
def test_a_model_that_is_not_whole_or_not_in_bounds_is_refused(
    home: Home, text: str, code: str
) -> None:
    (home.config / "agent.toml").write_text(text + "\n", encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        load_settings(home, {}, None)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("line", "code", "facts"),
    [
        ('modle = "m"', "config.unknown-setting", {"did_you_mean": "models.one.model"}),
        ('api_key = "sk-1"', "config.unknown-setting", {"why": "key"}),
        ('api = "all"', "config.invalid", {"why": "choice", "wanted": ("responses", "chat")}),
        ("idle_seconds = 4", "config.invalid", {"why": "least", "wanted": "5"}),
        ("idle_seconds = 9999", "config.invalid", {"why": "most", "wanted": "3600"}),
    ],
)
def test_what_is_wrong_with_a_model_is_told_with_what_would_be_right(
    home: Home, line: str, code: str, facts: dict[str, object]
) -> None:
    (home.config / "agent.toml").write_text(HTTP % "one" + line + "\n", encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        load_settings(home, {}, None)
    assert refused.value.code == code
    assert facts.items() <= refused.value.facts.items()
    assert "sk-1" not in str(refused.value.facts)


def test_what_the_file_alone_may_hold_is_asked_for_there_alone(home: Home) -> None:
    (home.config / "agent.toml").write_text('[models.one]\nmodel = "m"\n', encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        load_settings(home, {}, None)
    assert refused.value.code == "config.missing-in-file"
    assert refused.value.facts["name"] == "models.one.kind"


@pytest.mark.parametrize("name", ["One", '"a b"'])
def test_a_model_that_cannot_be_called_so_is_named_as_it_stands(home: Home, name: str) -> None:
    (home.config / "agent.toml").write_text(HTTP % name, encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        load_settings(home, {}, None)
    assert refused.value.facts["name"] == f"models.{name.strip(chr(34))}"
    assert refused.value.facts["why"] == "characters"


@pytest.mark.requirement("R3")
@pytest.mark.parametrize(
    "name",
    [
        "CODEXBRIDGE_AGENT__MODEL",
        "CODEXBRIDGE_AGENT__MODELS",
        "CODEXBRIDGE_AGENT__MODELS__ONE__BASE_URL",
        "CODEXBRIDGE_AGENT__MODELS__ONE__PROGRAM",
    ],
)
def test_no_environment_can_send_questions_elsewhere(home: Home, name: str) -> None:
    (home.config / "agent.toml").write_text(HTTP % "one", encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        load_settings(home, {name: '{"one": {"base_url": "https://other.example"}}'}, None)
    assert refused.value.code == "config.file-only"


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
