"""``codexbridge models``: what is told, and that a key is neither an argument nor printed."""

from __future__ import annotations

import io
import json
import tomllib
from collections.abc import Callable
from typing import Any

import pytest

import codexbridge
from common.errors import InputError, StateError
from common.home import Home
from common.keystore import FileKeystore
from common.sentences import LANGS, Lang, explain, say
from local_agent.cli import models
from local_agent.error_texts import ERRORS
from local_agent.errors import ModelError
from local_agent.models.keys import ModelKeys
from local_agent.settings import AgentSettings
from tests.unit.local_agent.cli.conftest import AgentDouble

KEY = "sk-0123456789abcdef"
Captured = pytest.CaptureFixture[str]
MODEL: dict[str, Any] = {
    "name": "deepseek",
    "kind": "http",
    "model": "deepseek-chat",
    "asked": True,
    "key": "file",
    "needs_key": True,
    "used": {
        "turns": 12,
        "failed": 1,
        "input_tokens": 34_000,
        "output_tokens": 5_600,
        "cost": 0.0123,
        "currency": "USD",
    },
    "last_failure": {"at": 1_700_000_000_000, "code": "model.busy"},
}
BARE = MODEL | {
    "name": "gemini",
    "kind": "acp",
    "asked": False,
    "key": None,
    "used": MODEL["used"] | {"cost": None},
    "last_failure": None,
}
SETTINGS = '[models.deepseek]\nkind = "http"\nmodel = "m"\nbase_url = "https://api.example/v1"\n'


@pytest.fixture(autouse=True)
def keystore(monkeypatch: pytest.MonkeyPatch, home: Home) -> ModelKeys:
    """Keys in files: a desktop's keyring is none of a test's."""
    keystore = FileKeystore(home.state / "keys")
    monkeypatch.setattr("local_agent.link.pairing.open_keys", lambda _: keystore)
    home.config.mkdir(parents=True, mode=0o700)
    (home.config / "agent.toml").write_text(SETTINGS, encoding="utf-8")
    return ModelKeys(keystore)


@pytest.fixture
def types(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return lambda text: monkeypatch.setattr("sys.stdin", io.StringIO(text))


@pytest.mark.parametrize("words", [["models"], ["models", "list"]])
def test_the_list_tells_which_is_asked_and_what_it_has_used(
    agent: AgentDouble, capsys: Captured, words: list[str]
) -> None:
    agent.answers["models"] = {"days": 30, "models": [MODEL, BARE]}
    assert codexbridge.main(words) == 0
    out = capsys.readouterr().out
    first, second = out.split("gemini", 1)
    assert all(told in first for told in ("deepseek", "deepseek-chat", "34000", "0.01 USD", "2023"))
    assert models.ASKED.en in first
    assert explain(ModelError("model.busy"), ERRORS, "en") in first
    assert models.EXPERIMENTAL.en in second
    assert "codexbridge models key gemini" in second


@pytest.mark.parametrize("where", ["keyring:SecretService", "away", "broken"])
def test_where_a_key_lies_is_said(agent: AgentDouble, capsys: Captured, where: str) -> None:
    agent.answers["models"] = {"days": 30, "models": [MODEL | {"key": where}]}
    assert codexbridge.main(["models"]) == 0
    told = models.KEY_AT[where.partition(":")[0]].en.format(name="deepseek")
    assert told in capsys.readouterr().out


@pytest.mark.parametrize("lang", LANGS)
def test_a_model_that_needs_no_key_is_said_to_need_none(
    agent: AgentDouble, capsys: Captured, monkeypatch: pytest.MonkeyPatch, lang: Lang
) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8" if lang == "zh" else "C.UTF-8")
    local = MODEL | {"key": None, "needs_key": False}
    agent.answers["models"] = {"days": 30, "models": [local]}
    assert codexbridge.main(["models"]) == 0
    out = capsys.readouterr().out
    assert say(models.NO_KEY_NEEDED, lang) in out
    assert "codexbridge models key" not in out


def test_programs_get_the_list_whole(agent: AgentDouble, capsys: Captured) -> None:
    answer = {"days": 30, "models": [MODEL]}
    agent.answers["models"] = answer
    assert codexbridge.main(["models", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == answer


def test_without_models_the_way_to_connect_one_is_named(
    agent: AgentDouble, home: Home, capsys: Captured
) -> None:
    agent.answers["models"] = {"days": 30, "models": []}
    (home.config / "agent.toml").unlink()
    assert codexbridge.main(["models"]) == 0
    out = capsys.readouterr().out
    assert str(home.config / "agent.toml") in out
    assert "codexbridge help models" in out
    example = "\n".join(line for line in out.splitlines() if line.startswith("  "))
    (name,) = AgentSettings(**tomllib.loads(example)).models
    assert f"codexbridge models key {name}" in out


def test_a_model_that_was_written_since_the_start_needs_one_more_start(
    agent: AgentDouble, capsys: Captured
) -> None:
    agent.answers["models"] = {"days": 30, "models": []}
    assert codexbridge.main(["models"]) == 0
    assert say(models.NOT_YET, "en", names="deepseek") in capsys.readouterr().out
    for words, error in (
        (["models", "test"], StateError("models.none")),
        (["models", "test", "deepseek"], InputError("models.unknown", name="deepseek", known="-")),
    ):
        agent.answers["models_test"] = error
        assert codexbridge.main(words) == 1
        told = explain(StateError("models.not-yet", name="deepseek"), ERRORS, "en")
        assert told in capsys.readouterr().err
    agent.answers["models_test"] = InputError("models.unknown", name="other", known="-")
    assert codexbridge.main(["models", "test", "other"]) == 2


def test_a_test_tells_what_answered_and_how_fast(agent: AgentDouble, capsys: Captured) -> None:
    health = {"name": "deepseek", "model": "deepseek-chat", "version": "chat", "latency_ms": 420}
    agent.answers["models_test"] = health
    assert codexbridge.main(["models", "test"]) == 0
    assert agent.args_of("models_test") == {"name": ""}
    assert all(told in capsys.readouterr().out for told in ("deepseek-chat, chat, 420 ms",))
    assert codexbridge.main(["models", "test", "deepseek", "--json"]) == 0
    assert agent.args_of("models_test") == {"name": "deepseek"}
    assert json.loads(capsys.readouterr().out) == health
    agent.answers["models_test"] = health | {"version": ""}
    assert codexbridge.main(["models", "test"]) == 0
    assert "deepseek-chat, 420 ms" in capsys.readouterr().out


def test_what_is_wrong_is_one_sentence(agent: AgentDouble, capsys: Captured) -> None:
    error = ModelError("model.key", why="form")
    agent.answers["models_test"] = error
    assert codexbridge.main(["models", "test"]) == 1
    assert explain(error, ERRORS, "en") in capsys.readouterr().err


@pytest.mark.requirement("R60")
def test_a_key_from_standard_input_is_stored_and_never_shown(
    keystore: ModelKeys, capsys: Captured, types: Callable[[str], None]
) -> None:
    types(f"  {KEY}\n")
    assert codexbridge.main(["models", "key", "deepseek"]) == 0
    assert keystore.get("deepseek") == KEY
    out, err = capsys.readouterr()
    assert KEY not in out + err
    assert models.KEY_AT["file"].en in out


def test_a_key_at_the_keyboard_is_read_without_showing_it(
    keystore: ModelKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def getpass(prompt: str) -> str:
        asked.append(prompt)
        return KEY

    monkeypatch.setattr("local_agent.cli.models.at_keyboard", lambda: True)
    monkeypatch.setattr("getpass.getpass", getpass)
    assert codexbridge.main(["models", "key", "deepseek"]) == 0
    assert len(asked) == 1
    assert keystore.get("deepseek") == KEY


@pytest.mark.parametrize("typed", ["", "two words", "x" * 20_000])
def test_what_is_no_key_is_not_stored(
    keystore: ModelKeys, capsys: Captured, types: Callable[[str], None], typed: str
) -> None:
    types(typed)
    assert codexbridge.main(["models", "key", "deepseek"]) == 2
    assert keystore.get("deepseek") is None
    assert "xxx" not in capsys.readouterr().err


def test_a_key_for_a_model_that_is_not_configured_is_refused(
    types: Callable[[str], None], capsys: Captured
) -> None:
    types(KEY)
    assert codexbridge.main(["models", "key", "depseek"]) == 2
    assert "deepseek" in capsys.readouterr().err


def test_a_key_is_removed_also_of_a_model_that_is_gone(keystore: ModelKeys) -> None:
    keystore.put("former", KEY)
    assert codexbridge.main(["models", "key", "former", "--delete"]) == 0
    assert keystore.get("former") is None
    assert codexbridge.main(["models", "key", "../former", "--delete"]) == 2


def test_a_key_is_no_argument() -> None:
    assert codexbridge.main(["models", "key", "deepseek", KEY]) == 2
