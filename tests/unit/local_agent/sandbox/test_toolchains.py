"""Toolchains are found without running anything, and never wider than their programs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from common.errors import InputError
from local_agent.sandbox.toolchains import Toolchain, check, detect


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path.resolve() / "home"
    path.mkdir()
    return path


@pytest.fixture
def workspace(home: Path) -> Path:
    path = home / "project"
    path.mkdir()
    return path


def _program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def _python(prefix: Path) -> Path:
    _program(prefix / "lib/python3.11/os.py")
    return _program(prefix / "bin/python3.11")


def _venv(place: Path, target: Path, base: Path | None = None) -> Path:
    (place / "bin").mkdir(parents=True)
    (place / "bin/python").symlink_to(target)
    said = f"home = {base or target.parent}\nversion = 3.11.7\n"
    (place / "pyvenv.cfg").write_text(said, encoding="utf-8")
    return place


def _one(workspace: Path, home: Path, **environ: str) -> Toolchain:
    found = detect(workspace, environ, home=home)
    assert len(found) == 1
    return found[0]


def test_a_bare_workspace_has_no_toolchain(workspace: Path, home: Path) -> None:
    assert detect(workspace, {}, home=home) == []


@pytest.mark.parametrize("name", [".venv", "venv"])
def test_a_venv_comes_with_the_interpreter_it_links_to(
    workspace: Path, home: Path, name: str
) -> None:
    prefix = home / ".pyenv/versions/3.11.7"
    venv = _venv(workspace / name, _python(prefix))
    found = _one(workspace, home)
    assert found == Toolchain(
        kind="venv",
        paths=(venv, prefix),
        bin_dirs=(venv / "bin",),
        env=(("VIRTUAL_ENV", str(venv)),),
    )


def test_a_real_venv_is_found_with_what_it_needs(workspace: Path, home: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(workspace / ".venv")], check=True
    )
    found = _one(workspace, home)
    real = Path(sys.base_prefix).resolve()
    system = real.is_relative_to("/usr")
    assert system or any(real.is_relative_to(path) for path in found.paths)


def test_a_venv_of_the_system_python_needs_nothing_besides(workspace: Path, home: Path) -> None:
    venv = _venv(workspace / ".venv", Path("/usr/bin/python3"))
    assert _one(workspace, home).paths == (venv,)


def test_a_venv_of_uv_shows_the_alias_and_the_real_folder(workspace: Path, home: Path) -> None:
    pythons = home / ".local/share/uv/python"
    real = pythons / "cpython-3.11.7-linux-x86_64-gnu"
    _python(real)
    alias = pythons / "cpython-3.11-linux-x86_64-gnu"
    alias.symlink_to(real.name)
    venv = _venv(workspace / ".venv", alias / "bin/python3.11")
    assert _one(workspace, home).paths == (venv, alias, real)


def test_a_link_in_a_mixed_place_is_shown_alone(workspace: Path, home: Path) -> None:
    prefix = home / ".local/share/uv/python/cpython-3.11.7"
    link = home / ".local/bin/python3.11"
    link.parent.mkdir(parents=True)
    (home / ".local/share/keyrings").mkdir(parents=True)
    link.symlink_to(_python(prefix))
    venv = _venv(workspace / ".venv", link, base=prefix / "bin")
    assert _one(workspace, home).paths == (venv, link, prefix)


@pytest.mark.requirement("R40")
def test_a_workspace_cannot_name_any_place_as_its_interpreters(workspace: Path, home: Path) -> None:
    (home / ".ssh/bin").mkdir(parents=True)
    venv = _venv(workspace / ".venv", Path("/usr/bin/python3"), base=home / ".ssh/bin")
    assert _one(workspace, home).paths == (venv,)


@pytest.mark.requirement("R47")
def test_a_workspace_cannot_link_to_a_file_that_is_no_program(workspace: Path, home: Path) -> None:
    secret = home / ".ssh/id_ed25519"
    secret.parent.mkdir()
    secret.write_text("secret", encoding="utf-8")
    venv = _venv(workspace / ".venv", secret, base=Path("/usr/bin"))
    assert _one(workspace, home).paths == (venv,)


def test_an_endless_chain_of_links_ends(workspace: Path, home: Path) -> None:
    venv = _venv(workspace / ".venv", Path("python"))
    assert venv in _one(workspace, home).paths


def test_a_venv_that_is_a_link_is_not_offered(workspace: Path, home: Path) -> None:
    elsewhere = _venv(home / "elsewhere", Path("/usr/bin/python3"))
    (workspace / ".venv").symlink_to(elsewhere)
    assert detect(workspace, {}, home=home) == []


def test_the_active_venv_is_offered_when_the_workspace_has_none(
    workspace: Path, home: Path
) -> None:
    venv = _venv(home / "envs/project", Path("/usr/bin/python3"))
    assert _one(workspace, home, VIRTUAL_ENV=str(venv)).paths == (venv,)


def test_pyenv_follows_the_pin_and_then_its_own_version(workspace: Path, home: Path) -> None:
    for version in ("3.11.7", "3.12.1"):
        _python(home / ".pyenv/versions" / version)
    (home / ".pyenv/version").write_text("3.12.1\n", encoding="utf-8")
    assert _one(workspace, home).paths == (home / ".pyenv/versions/3.12.1",)
    (workspace / ".python-version").write_text("3.11.7\n", encoding="utf-8")
    assert _one(workspace, home).paths == (home / ".pyenv/versions/3.11.7",)


@pytest.mark.parametrize("pin", ["../../../.ssh", "..", "/etc", "3.11;x", "\x00", "x" * 2000])
def test_a_pin_cannot_lead_elsewhere(workspace: Path, home: Path, pin: str) -> None:
    (home / ".pyenv/versions").mkdir(parents=True)
    (home / ".ssh/bin").mkdir(parents=True)
    (workspace / ".python-version").write_text(pin, encoding="utf-8")
    assert detect(workspace, {}, home=home) == []


def test_a_pin_that_is_no_file_is_no_pin(workspace: Path, home: Path) -> None:
    (workspace / ".python-version").mkdir()
    assert detect(workspace, {}, home=home) == []


def test_python_of_uv_follows_the_pin(workspace: Path, home: Path) -> None:
    prefix = home / ".local/share/uv/python/cpython-3.12.1-linux-x86_64-gnu"
    _python(prefix)
    (workspace / ".python-version").write_text("3.12\n", encoding="utf-8")
    assert _one(workspace, home).kind == "uv"
    assert _one(workspace, home).bin_dirs == (prefix / "bin",)


def test_node_follows_the_pin_and_then_the_active_one(workspace: Path, home: Path) -> None:
    versions = home / ".nvm/versions/node"
    for name in ("v20.1.0", "v22.3.0"):
        _program(versions / name / "bin/node")
    active = str(versions / "v20.1.0/bin")
    assert _one(workspace, home, NVM_BIN=active).paths == (versions / "v20.1.0",)
    (workspace / ".nvmrc").write_text("22\n", encoding="utf-8")
    assert _one(workspace, home, NVM_BIN=active).paths == (versions / "v22.3.0",)


def test_cargo_is_offered_to_a_crate_without_its_credentials(workspace: Path, home: Path) -> None:
    _program(home / ".cargo/bin/cargo")
    (home / ".cargo/credentials.toml").write_text("token", encoding="utf-8")
    (home / ".cargo/registry").mkdir()
    (home / ".rustup").mkdir()
    assert detect(workspace, {}, home=home) == []
    (workspace / "Cargo.toml").write_text("[package]\n", encoding="utf-8")
    found = _one(workspace, home)
    assert found.paths == (home / ".cargo/bin", home / ".cargo/registry", home / ".rustup")
    assert dict(found.env) == {
        "CARGO_HOME": str(home / ".cargo"),
        "RUSTUP_HOME": str(home / ".rustup"),
    }


def test_go_is_offered_to_a_module(workspace: Path, home: Path) -> None:
    root = home / "sdk/go"
    _program(root / "bin/go")
    (home / "go/pkg/mod").mkdir(parents=True)
    (workspace / "go.mod").write_text("module x\n", encoding="utf-8")
    found = _one(workspace, home, GOROOT=str(root))
    assert found.paths == (root, home / "go/pkg/mod")


def test_sdkman_is_offered_by_its_real_versions(workspace: Path, home: Path) -> None:
    candidates = home / ".sdkman/candidates"
    for name in ("java/21", "maven/3.9"):
        _program(candidates / name / "bin" / name.partition("/")[0])
        (candidates / name).parent.joinpath("current").symlink_to(candidates / name)
    found = _one(workspace, home)
    assert found.paths == (candidates / "java/21", candidates / "maven/3.9")
    assert dict(found.env) == {"JAVA_HOME": str(candidates / "java/21")}


@pytest.mark.requirement("R47")
@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("home", "toolchain.too-wide"),
        (".", "toolchain.too-wide"),
        ("/", "toolchain.too-wide"),
        ("home/state", "toolchain.too-wide"),
        ("home/state/journal", "toolchain.too-wide"),
        ("home/state/journal/key", "toolchain.too-wide"),
        ("link", "toolchain.too-wide"),
        ("absent", "toolchain.missing"),
        ("", "toolchain.missing"),
    ],
)
def test_a_toolchain_that_would_open_what_is_hidden_is_refused(
    home: Path, path: str, code: str
) -> None:
    (home / "state/journal/key").mkdir(parents=True)
    (home.parent / "link").symlink_to(home)
    place = home.parent / path if path else Path("relative")
    toolchain = Toolchain(kind="x", paths=(place,), bin_dirs=())
    with pytest.raises(InputError) as caught:
        check(toolchain, home=home, private=(home / "state/journal",))
    assert caught.value.code == code


def test_a_toolchain_beside_what_is_hidden_is_fine_and_over_it_is_not(home: Path) -> None:
    (home / "tools").mkdir()
    toolchain = Toolchain(kind="x", paths=(home / "tools",), bin_dirs=())
    check(toolchain, home=home, private=(home / "state",))
    with pytest.raises(InputError) as caught:
        check(toolchain, home=home, private=(home / "tools/state",))
    assert caught.value.code == "toolchain.too-wide"
