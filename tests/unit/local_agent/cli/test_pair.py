"""``codexbridge pair``: the code comes from standard input; replacing a pairing asks a person."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import codexbridge
from common.errors import AuthError, UnavailableError
from common.home import Home
from common.keystore import FileKeystore
from common.protocol.pairing import check_words, new_code
from common.signing import SigningKey
from local_agent.cli import pair
from local_agent.link.pairing import Pairing, load_key, load_pairing
from local_agent.workspace.registry import Registry
from tests.unit.local_agent.cli.conftest import AgentDouble

GATEWAY = SigningKey(bytes([2]) * 32)
URL = "https://gw.example"
CODE = new_code()
Captured = pytest.CaptureFixture[str]


class Keyboard(io.StringIO):
    """Standard input with a person at it."""

    def isatty(self) -> bool:
        return True


class GatewayDouble:
    """Stands in for the exchange; remembers the codes it was given."""

    def __init__(self) -> None:
        self.codes: list[str] = []
        self.failure: Exception | None = None

    def __call__(self, code: str, url: str, key: SigningKey, *, at_ms: int) -> Pairing:
        self.codes.append(code.strip())
        if self.failure:
            raise self.failure
        return Pairing(
            url, f"a-{len(self.codes)}", "build-1", GATEWAY.public, key.public.key_id, at_ms
        )


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch, home: Home) -> GatewayDouble:
    double = GatewayDouble()
    monkeypatch.setattr(pair, "exchange", double)
    monkeypatch.setattr(pair, "open_keys", lambda _: keys_of(home))
    return double


def keys_of(home: Home) -> FileKeystore:
    return FileKeystore(home.state / "keys")


@pytest.fixture
def types(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return lambda text: monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_the_line_from_the_admin_holds_the_address(
    gateway: GatewayDouble, home: Home, types: Callable[[str], None]
) -> None:
    types(f"{URL}#{CODE}\n")
    assert codexbridge.main(["pair"]) == 0
    paired = load_pairing(home)
    assert paired
    assert paired.url == URL
    assert gateway.codes == [CODE]


def test_a_code_alone_needs_the_address(
    gateway: GatewayDouble, types: Callable[[str], None], capsys: Captured
) -> None:
    types(CODE + "\n")
    assert codexbridge.main(["pair"]) == codexbridge.EXIT_INPUT
    assert "--gateway URL" in capsys.readouterr().err
    assert gateway.codes == []


def test_pairing_keeps_key_and_gateway_and_shows_the_check_words(
    gateway: GatewayDouble, home: Home, types: Callable[[str], None], capsys: Captured
) -> None:
    types(CODE + "\n")
    assert codexbridge.main(["pair", "--gateway", "gw.example"]) == 0
    paired = load_pairing(home)
    assert paired
    assert (paired.url, paired.machine) == (URL, "build-1")
    own = load_key(paired.key_name, keys_of(home)).public
    out = capsys.readouterr().out
    assert all(word in out for word in check_words(own, GATEWAY.public))
    assert CODE not in out
    assert pair.PAIRED_NEXT.en in out
    assert gateway.codes == [CODE]


@pytest.mark.requirement("R9")
@pytest.mark.parametrize("arguments", [["--code", CODE], [CODE]])
def test_the_code_is_never_an_argument(
    gateway: GatewayDouble, arguments: list[str], capsys: Captured
) -> None:
    assert codexbridge.main(["pair", "--gateway", URL, *arguments]) == 2
    assert gateway.codes == []


def test_at_a_terminal_the_code_is_read_without_echo(
    gateway: GatewayDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Keyboard(""))
    monkeypatch.setattr("getpass.getpass", lambda _: CODE)
    assert codexbridge.main(["pair", "--gateway", URL]) == 0
    assert gateway.codes == [CODE]


def test_a_mistyped_code_makes_no_key_and_asks_nobody(
    gateway: GatewayDouble, home: Home, types: Callable[[str], None], capsys: Captured
) -> None:
    types("CB1-OOPS\n")
    assert codexbridge.main(["pair", "--gateway", URL]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "OOPS" not in said
    assert gateway.codes == []
    assert not (home.state / "keys").exists()


def test_a_refused_code_leaves_no_key_behind(
    gateway: GatewayDouble, home: Home, types: Callable[[str], None]
) -> None:
    gateway.failure = AuthError("pair.refused")
    types(CODE + "\n")
    assert codexbridge.main(["pair", "--gateway", URL]) == 1
    assert list((home.state / "keys").iterdir()) == []
    assert load_pairing(home) is None


def test_an_interrupted_pairing_goes_on_with_its_key_and_a_used_code_is_explained(
    gateway: GatewayDouble, home: Home, types: Callable[[str], None], capsys: Captured
) -> None:
    gateway.failure = UnavailableError("pair.unreachable", url=URL, why="timed out")
    for _ in range(2):  # the answer is lost, and again
        types(CODE + "\n")
        assert codexbridge.main(["pair", "--gateway", URL]) == 1
    (kept,) = (home.state / "keys").iterdir()
    gateway.failure = AuthError("pair.refused")
    types(CODE + "\n")
    capsys.readouterr()
    assert codexbridge.main(["pair", "--gateway", URL]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "codexbridge gateway pair --machine NAME --member USER --replace" in said
    assert not kept.exists()


def paired_once(types: Callable[[str], None]) -> None:
    types(CODE + "\n")
    assert codexbridge.main(["pair", "--gateway", URL]) == 0


@pytest.mark.parametrize("arguments", [[], ["--replace"]])
def test_a_paired_machine_is_not_paired_again_without_a_person(
    gateway: GatewayDouble,
    home: Home,
    types: Callable[[str], None],
    arguments: list[str],
) -> None:
    paired_once(types)
    before = load_pairing(home)
    types(f"yes\n{CODE}\n")
    assert codexbridge.main(["pair", "--gateway", "other.example", *arguments]) == 2
    assert load_pairing(home) == before
    assert len(gateway.codes) == 1


@pytest.mark.parametrize(("typed", "replaced"), [("yes\n", True), ("y\n", False), ("\n", False)])
def test_replacing_asks_at_the_terminal_first(
    gateway: GatewayDouble,
    home: Home,
    types: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    *,
    replaced: bool,
) -> None:
    paired_once(types)
    before: Any = load_pairing(home)
    monkeypatch.setattr("sys.stdin", Keyboard(typed))
    monkeypatch.setattr("getpass.getpass", lambda _: CODE)
    code = codexbridge.main(["pair", "--gateway", URL, "--replace"])
    after: Any = load_pairing(home)
    assert (code, after != before) == ((0, True) if replaced else (1, False))
    assert load_key(after.key_name, keys_of(home))
    assert (keys_of(home).get(before.key_name) is None) is replaced


def test_what_is_stored_holds_no_secret(
    gateway: GatewayDouble, home: Home, types: Callable[[str], None]
) -> None:
    paired_once(types)
    text = (home.config / "pairing.json").read_text(encoding="utf-8")
    assert set(json.loads(text)) == {
        *("v", "url", "agent_id", "machine", "gateway_key", "agent_key_id", "paired_at")
    }
    assert CODE[4:] not in text


def test_a_running_agent_is_to_be_started_again(
    gateway: GatewayDouble,
    agent: AgentDouble,
    types: Callable[[str], None],
    capsys: Captured,
) -> None:
    """It goes on with the pairing that it was started with, and is refused with that."""
    types(CODE + "\n")
    assert codexbridge.main(["pair", "--gateway", URL]) == 0
    out = capsys.readouterr().out
    assert pair.PAIRED_RESTART.en in out
    assert pair.PAIRED_NEXT.en not in out


def test_who_has_a_workspace_is_not_told_to_add_one(
    gateway: GatewayDouble,
    home: Home,
    types: Callable[[str], None],
    capsys: Captured,
    tmp_path: Path,
) -> None:
    (tmp_path / "shop").mkdir()
    Registry(home, home=Path.home()).add(tmp_path / "shop", name="shop", confirmed=())
    types(CODE + "\n")
    assert codexbridge.main(["pair", "--gateway", URL]) == 0
    out = capsys.readouterr().out
    assert pair.PAIRED_START.en in out
    assert pair.PAIRED_NEXT.en not in out
