"""Keys of models: where they lie, what is a key, and that they are known secrets."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from common.errors import ConfigError, InputError, UnavailableError
from common.keystore import FileKeystore
from local_agent.models.keys import AWAY, MAX_KEY_CHARS, ModelKeys, parse_key
from tests.each import each

KEY = "sk-0123456789abcdef"


@pytest.fixture
def keys(tmp_path: Path) -> ModelKeys:
    return ModelKeys(FileKeystore(tmp_path / "keys"))


class Locked(FileKeystore):
    """A keyring that cannot be reached."""

    def get(self, name: str) -> bytes | None:
        raise UnavailableError("keystore.keyring-away", backend="SecretService")


def test_a_key_is_kept_under_the_name_of_its_model(keys: ModelKeys, tmp_path: Path) -> None:
    assert (keys.get("deepseek"), keys.where("deepseek")) == (None, None)
    assert keys.put("deepseek", KEY) == "file"
    assert (keys.get("deepseek"), keys.where("deepseek")) == (KEY, "file")
    file = tmp_path / "keys" / "model-deepseek.key"
    assert file.stat().st_mode & 0o077 == 0
    keys.delete("deepseek")
    assert keys.get("deepseek") is None
    assert not file.exists()


@pytest.mark.requirement("R54")
def test_a_key_that_was_read_is_a_known_secret(keys: ModelKeys) -> None:
    assert keys.held() == ()
    keys.put("one", KEY)
    keys.load(["one", "two"])
    assert set(keys.held()) == {KEY, base64.b64encode(KEY.encode()).decode()}


def test_a_key_out_of_reach_is_said_to_be_and_stops_nothing(tmp_path: Path) -> None:
    keys = ModelKeys(Locked(tmp_path))
    keys.load(["one"])
    assert keys.where("one") == AWAY
    with pytest.raises(UnavailableError):
        keys.get("one")


def test_a_damaged_key_is_said_to_be_and_stops_nothing(keys: ModelKeys, tmp_path: Path) -> None:
    keys.put("one", KEY)
    (tmp_path / "keys" / "model-one.key").write_text("!!\n", encoding="utf-8")
    keys.load(["one"])
    with pytest.raises(ConfigError):
        keys.where("one")


@pytest.mark.parametrize("name", ["", "../agent-local", "A", "a b", "x" * 33])
def test_what_is_no_name_of_a_model_names_no_key(keys: ModelKeys, name: str) -> None:
    for touch in (keys.get, keys.delete):
        with pytest.raises(InputError) as refused:
            touch(name)
        assert refused.value.code == "models.unknown"


@each("text", [KEY, f"  {KEY}\r\n", f"\n{KEY}\n"])
def test_blanks_around_a_key_do_not_belong_to_it(text: str) -> None:
    assert parse_key(text) == KEY


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("sk-1 sk-2", "characters"),
        ("sk-密钥", "characters"),
        ("sk-\x00", "characters"),
        ("x" * (MAX_KEY_CHARS + 1), "long"),
    ],
)
def test_what_no_header_can_hold_is_no_key(text: str, why: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_key(text)
    assert (refused.value.code, refused.value.facts) == ("models.key-form", {"why": why})
