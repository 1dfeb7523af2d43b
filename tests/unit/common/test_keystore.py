from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keyring
import keyring.backends.chainer
import keyring.backends.fail
import keyring.backends.null
import keyring.backends.SecretService
import keyring.core
import pytest
from keyring.errors import KeyringLocked

from common.errors import ConfigError, LocalProtocolError, UnavailableError
from common.keystore import FileKeystore, KeyringKeystore, Keystore, MachineKeystore

SECRET = bytes(range(32))


class MemoryBackend:
    """A keyring backend that can be locked."""

    def __init__(self) -> None:
        self.entries: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        self._check()
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._check()
        self.entries[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._check()
        del self.entries[service, username]

    def _check(self) -> None:
        if self.locked:
            raise KeyringLocked


@pytest.fixture
def backend() -> MemoryBackend:
    return MemoryBackend()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "keys"


@pytest.fixture
def in_keyring(directory: Path, backend: MemoryBackend) -> KeyringKeystore:
    return over(directory, backend)


def over(directory: Path, backend: MemoryBackend, name: str = "SecretService") -> KeyringKeystore:
    """Return a keystore over a backend."""
    return KeyringKeystore(directory, service="codexbridge", backend=backend, name=name)


@pytest.fixture(params=["file", "keyring"])
def any_keystore(
    request: pytest.FixtureRequest, directory: Path, in_keyring: KeyringKeystore
) -> Keystore:
    return in_keyring if request.param == "keyring" else FileKeystore(directory)


# All of them


def test_a_secret_comes_back_and_can_be_replaced(any_keystore: Keystore) -> None:
    assert any_keystore.get("agent") is None
    any_keystore.put("agent", b"first")
    any_keystore.put("agent", SECRET)
    any_keystore.put("other", b"another")
    assert any_keystore.get("agent") == SECRET
    assert any_keystore.get("other") == b"another"


def test_a_secret_can_be_forgotten_twice(any_keystore: Keystore) -> None:
    any_keystore.put("agent", SECRET)
    any_keystore.delete("agent")
    any_keystore.delete("agent")
    assert any_keystore.get("agent") is None


@pytest.mark.parametrize("name", ["", "../agent", "Agent", "a/b", "a" * 65, "agent\n"])
def test_a_name_cannot_lead_elsewhere(any_keystore: Keystore, name: str) -> None:
    for use in (any_keystore.get, any_keystore.delete):
        with pytest.raises(LocalProtocolError):
            use(name)
    with pytest.raises(LocalProtocolError):
        any_keystore.put(name, SECRET)


@pytest.mark.parametrize("size", [0, 4097])
def test_a_secret_has_a_bounded_size(any_keystore: Keystore, size: int) -> None:
    with pytest.raises(LocalProtocolError):
        any_keystore.put("agent", b"x" * size)
    assert any_keystore.get("agent") is None


# In files


@pytest.mark.requirement("R60")
def test_a_file_and_its_folder_admit_only_their_owner(directory: Path) -> None:
    FileKeystore(directory).put("agent", SECRET)
    assert directory.stat().st_mode & 0o777 == 0o700
    (path,) = directory.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.requirement("R60")
def test_a_key_file_that_others_can_read_is_not_used(directory: Path) -> None:
    keys = FileKeystore(directory)
    keys.put("agent", SECRET)
    next(directory.iterdir()).chmod(0o644)
    with pytest.raises(ConfigError) as caught:
        keys.get("agent")
    assert caught.value.code == "config.file-readable-by-others"


@pytest.mark.parametrize("content", [b"not base64!", b"abc", "é".encode()])
def test_a_broken_key_file_is_told_without_its_content(directory: Path, content: bytes) -> None:
    keys = FileKeystore(directory)
    keys.put("agent", SECRET)
    next(directory.iterdir()).write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        keys.get("agent")
    assert caught.value.code == "config.key-file-broken"
    assert caught.value.facts.keys() == {"path"}


def test_a_link_in_place_of_a_key_file_is_refused(directory: Path, tmp_path: Path) -> None:
    FileKeystore(directory).put("agent", SECRET)
    FileKeystore(tmp_path / "other").put("agent", SECRET)
    path = next(directory.iterdir())
    path.unlink()
    path.symlink_to(tmp_path / "other" / path.name)
    with pytest.raises(ConfigError) as caught:
        FileKeystore(directory).get("agent")
    assert caught.value.code == "config.key-file-broken"


# In a keyring


@pytest.mark.requirement("R60")
def test_a_key_in_the_keyring_is_not_in_the_file(
    in_keyring: KeyringKeystore, directory: Path, backend: MemoryBackend
) -> None:
    in_keyring.put("agent", SECRET)
    assert (in_keyring.where, in_keyring.warning) == ("keyring:SecretService", False)
    assert next(directory.iterdir()).read_text(encoding="ascii") == "keyring:SecretService\n"
    assert len(backend.entries) == 1


def test_two_installations_do_not_share_a_key(tmp_path: Path, backend: MemoryBackend) -> None:
    one, other = over(tmp_path / "a", backend), over(tmp_path / "b", backend)
    one.put("agent", b"one")
    other.put("agent", b"other")
    assert one.get("agent") == b"one"


@pytest.mark.requirement("R60")
def test_a_keyring_that_refuses_leaves_a_file_and_a_warning(
    in_keyring: KeyringKeystore, directory: Path, backend: MemoryBackend
) -> None:
    backend.locked = True
    in_keyring.put("agent", SECRET)
    assert (in_keyring.where, in_keyring.warning) == ("file", True)
    again = over(directory, backend)
    assert again.get("agent") == SECRET
    assert (again.where, again.warning) == ("file", True)


def test_a_key_whose_keyring_is_out_of_reach_is_away_not_missing(
    in_keyring: KeyringKeystore, directory: Path, backend: MemoryBackend
) -> None:
    in_keyring.put("agent", SECRET)
    backend.locked = True
    without, elsewhere = FileKeystore(directory), over(directory, MemoryBackend(), "KWallet")
    for keys in (in_keyring, without, elsewhere):
        with pytest.raises(UnavailableError) as caught:
            keys.get("agent")
        assert caught.value.code == "keystore.keyring-away"
        assert caught.value.facts == {"backend": "SecretService"}
    with pytest.raises(UnavailableError):
        in_keyring.delete("agent")


def test_a_key_deleted_behind_our_back_is_away_and_can_be_forgotten(
    in_keyring: KeyringKeystore, backend: MemoryBackend
) -> None:
    in_keyring.put("agent", SECRET)
    backend.entries.clear()
    with pytest.raises(UnavailableError):
        in_keyring.get("agent")
    in_keyring.delete("agent")
    assert in_keyring.get("agent") is None


# Which one


class PlaintextLookalike(keyring.backends.null.Keyring):
    """Stands for keyrings.alt, which keyring would take without a word."""


def made(kind: Callable[[], Any]) -> Any:
    """Return a backend; keyring's constructors carry no types."""
    return kind()


@pytest.mark.requirement("R60")
@pytest.mark.parametrize(
    "chosen",
    [keyring.backends.fail.Keyring, keyring.backends.null.Keyring, PlaintextLookalike],
    ids=["none", "null", "plaintext"],
)
def test_a_backend_that_is_not_on_the_list_means_files_and_a_warning(
    directory: Path, monkeypatch: pytest.MonkeyPatch, chosen: Callable[[], Any]
) -> None:
    monkeypatch.setattr(keyring.core, "load_env", chosen)
    keys = MachineKeystore(directory, service="codexbridge")
    assert (keys.where, keys.warning) == ("file", True)
    keys.put("agent", SECRET)
    assert FileKeystore(directory).get("agent") == SECRET


@pytest.mark.requirement("R60")
def test_an_allowed_backend_is_used_and_named(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyring.core, "load_env", keyring.backends.SecretService.Keyring)
    keys = MachineKeystore(directory, service="codexbridge")
    assert (keys.where, keys.warning) == ("keyring:SecretService", False)


@pytest.mark.requirement("R60")
def test_of_several_backends_only_an_allowed_one_is_used(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Several:
        backends = (made(PlaintextLookalike), made(keyring.backends.SecretService.Keyring))

    monkeypatch.setattr(keyring.core, "load_env", Several)
    assert MachineKeystore(directory, service="x").where == "keyring:SecretService"


def test_a_keyring_that_cannot_even_load_means_files(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> object:
        raise RuntimeError("no bus")

    monkeypatch.setattr(keyring.core, "load_env", broken)
    assert MachineKeystore(directory, service="x").where == "file"


def test_of_what_can_be_used_here_the_first_choice_of_keyring_is_taken(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def usable(module: str, priority: float) -> object:
        kind = type("Keyring", (), {"__module__": module, "priority": priority})
        return kind()

    here = {
        f"{module}.Keyring": usable(module, priority)
        for module, priority in (
            ("keyring.backends.libsecret", 4.8),
            ("keyring.backends.SecretService", 5.0),
            ("keyrings.alt.file", 9.0),
        )
    }
    monkeypatch.setattr(keyring.core, "load_keyring", here.__getitem__)
    assert MachineKeystore(directory, service="x").where == "keyring:SecretService"
    del here["keyring.backends.SecretService.Keyring"]
    assert MachineKeystore(directory, service="x").where == "keyring:libsecret"


def test_looking_for_a_keyring_starts_no_program(tmp_path: Path) -> None:
    code = """
import sys
STARTS = ("subprocess.Popen", "os.system", "os.posix_spawn", "os.fork", "os.exec")
sys.addaudithook(lambda event, args: event in STARTS and sys.exit(f"{event} {args}"))
from pathlib import Path
from common.keystore import MachineKeystore
print(MachineKeystore(Path(sys.argv[1]), service="x").where)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.stdout.startswith(("file", "keyring:")), done.stderr


def test_a_key_in_a_file_is_used_without_looking_for_a_keyring(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    monkeypatch.setattr(keyring.core, "load_env", lambda: looked.append("keyring"))
    FileKeystore(directory).put("agent", SECRET)
    keys = MachineKeystore(directory, service="x")
    assert keys.get("other") is None
    assert keys.get("agent") == SECRET
    assert (keys.where, keys.warning) == ("file", True)
    keys.delete("agent")
    assert keys.get("agent") is None
    assert looked == []


def test_a_key_that_rests_in_the_keyring_is_looked_for_there(
    directory: Path, monkeypatch: pytest.MonkeyPatch, in_keyring: KeyringKeystore
) -> None:
    in_keyring.put("agent", SECRET)
    monkeypatch.setattr(keyring.core, "load_env", keyring.backends.fail.Keyring)
    keys = MachineKeystore(directory, service="x")
    with pytest.raises(UnavailableError) as caught:
        keys.get("agent")
    assert caught.value.code == "keystore.keyring-away"


def test_opening_a_file_keystore_does_not_import_keyring() -> None:
    code = "import sys, common.keystore; print('keyring' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert done.stdout == "False\n"
