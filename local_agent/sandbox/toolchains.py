"""Finding the toolchains of a workspace that live outside ``/usr``: venv, pyenv, nvm, cargo, …

The sandbox hides the home directory, so `pytest` of a venv or `cargo` would not be found there.
What is found here is *offered* when a workspace is added; what the person confirms is stored with
the workspace, bound read-only and put on PATH.  Nothing is executed to find anything.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from common.errors import InputError

SYSTEM: Final = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt")))
_MAX_LINKS: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """What lies beside a workspace and its commands may read, as confirmed by the person.

    Attributes:
        kind: ``venv``, ``pyenv``, ``uv``, ``nvm``, ``cargo``, ``go``, ``sdkman`` …; ``git`` for
            the folders of git that lie outside (`local_agent.workspace.git.outside`).
        paths: Directories, or single files, that the sandbox binds read-only in place.
        bin_dirs: What goes before the fixed PATH, in order; each within ``paths`` or ``/usr``.
        env: Variables that its programs need, such as VIRTUAL_ENV.
        marks: By which each path is known to be the same folder still; none where any may be.
    """

    kind: str
    paths: tuple[Path, ...]
    bin_dirs: tuple[Path, ...]
    env: tuple[tuple[str, str], ...] = ()
    marks: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[Path, ...]:
        """The paths that a sandbox shows: those that are what was confirmed."""
        if not self.marks:
            return self.paths
        pairs = zip(self.paths, self.marks, strict=True)
        return tuple(path for path, mark in pairs if mark_of(path) == mark)


def mark_of(path: Path) -> str:
    """Return which folder bears a path now; nothing where there is none, or a link."""
    try:
        status = path.lstat()
    except OSError:
        return ""
    return f"{status.st_dev}:{status.st_ino}" if stat.S_ISDIR(status.st_mode) else ""


def detect(workspace: Path, environ: Mapping[str, str], *, home: Path) -> list[Toolchain]:
    """Return the toolchains that this workspace may need, the nearest first.

    Args:
        workspace: Real path of the workspace.
        environ: The person's environment, for VIRTUAL_ENV, NVM_BIN, CARGO_HOME and their like.
        home: The person's home directory.
    """
    found: list[Toolchain] = []
    for finder in _FINDERS:
        for toolchain in finder(workspace, environ, home):
            if toolchain.kind not in {known.kind for known in found}:
                found.append(toolchain)
    return found


def check(toolchain: Toolchain, *, home: Path, private: tuple[Path, ...]) -> None:
    """Refuse a toolchain whose binding would open what the sandbox is there to hide.

    Raises:
        InputError: ``toolchain.too-wide`` when a path holds the home, or holds or is our own, and
            ``toolchain.missing`` when one is not an absolute path of something there.
    """
    for path in toolchain.paths:
        if not path.is_absolute() or not path.exists():
            raise InputError("toolchain.missing", path=path, kind=toolchain.kind)
        real = path.resolve()
        within = any(real.is_relative_to(hidden.resolve()) for hidden in private)
        if within or any(hidden.resolve().is_relative_to(real) for hidden in (home, *private)):
            raise InputError("toolchain.too-wide", path=path, kind=toolchain.kind)


def _venv(workspace: Path, environ: Mapping[str, str], home: Path) -> Iterator[Toolchain]:
    candidates = [workspace / ".venv", workspace / "venv"]
    if active := environ.get("VIRTUAL_ENV"):
        candidates.append(Path(active))
    for place in candidates:
        # A symlinked .venv could be turned to any place by whoever writes the workspace.
        if _is_dir(place) and (place / "pyvenv.cfg").is_file():
            yield Toolchain(
                kind="venv",
                paths=(place, *_interpreter_roots(place)),
                bin_dirs=(place / "bin",),
                env=(("VIRTUAL_ENV", str(place)),),
            )


def _interpreter_roots(venv: Path) -> list[Path]:
    """Return where, outside the system, the venv's interpreter lives.

    Every hop of the link chain counts: uv links through a ``cpython-3.11-…`` alias directory.
    """
    hops = [venv / "bin" / "python"]
    for _ in range(_MAX_LINKS):
        if not hops[-1].is_symlink():
            break
        hops.append(hops[-1].parent / hops[-1].readlink())
    if configured := _base_of(venv / "pyvenv.cfg"):
        hops.append(configured / "python")
    roots: list[Path] = []
    for hop in map(_lexical, hops):
        prefix = hop.parent.parent
        # By its standard library: pyvenv.cfg is the workspace's word and could name any place.
        # A link in a mixed place such as ~/.local/bin is bound alone, never the place.
        whole = any(prefix.glob("lib/python3*/os.py"))
        for root in (prefix, prefix.resolve()) if whole else (hop,):
            known = any(root.is_relative_to(other) for other in (*SYSTEM, venv, *roots))
            # The workspace turns these links: a file that is no program is none of ours to bind.
            if not known and (root.is_dir() if whole else _is_program(root)):
                roots.append(root)
    return roots


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _base_of(config: Path) -> Path | None:
    with config.open(encoding="utf-8", errors="replace") as file:
        begin = file.read(8192)
    for line in begin.splitlines():
        name, _, value = line.partition("=")
        if name.strip() == "home" and value.strip().startswith("/"):
            return Path(value.strip())
    return None


def _pyenv(workspace: Path, environ: Mapping[str, str], home: Path) -> Iterator[Toolchain]:
    root = Path(environ.get("PYENV_ROOT") or home / ".pyenv")
    for name in _pinned(workspace / ".python-version") + _pinned(root / "version"):
        version = root / "versions" / name
        if _is_dir(version / "bin"):
            yield Toolchain(kind="pyenv", paths=(version,), bin_dirs=(version / "bin",))


def _uv(workspace: Path, environ: Mapping[str, str], home: Path) -> Iterator[Toolchain]:
    root = Path(environ.get("UV_PYTHON_INSTALL_DIR") or home / ".local/share/uv/python")
    for name in _pinned(workspace / ".python-version"):
        for version in sorted(root.glob(f"cpython-{_plain(name)}*"), reverse=True):
            if _is_dir(version) and _is_dir(version / "bin"):
                yield Toolchain(kind="uv", paths=(version,), bin_dirs=(version / "bin",))


def _nvm(workspace: Path, environ: Mapping[str, str], home: Path) -> Iterator[Toolchain]:
    root = Path(environ.get("NVM_DIR") or home / ".nvm") / "versions/node"
    for name in _pinned(workspace / ".nvmrc") + _pinned(workspace / ".node-version"):
        for version in sorted(root.glob(f"v{_plain(name).removeprefix('v')}*"), reverse=True):
            yield from _node(version)
    if active := environ.get("NVM_BIN"):
        yield from _node(Path(active).parent)


def _node(version: Path) -> Iterator[Toolchain]:
    if (version / "bin/node").is_file():
        yield Toolchain(kind="nvm", paths=(version,), bin_dirs=(version / "bin",))


def _cargo(workspace: Path, environ: Mapping[str, str], home: Path) -> Iterator[Toolchain]:
    cargo = Path(environ.get("CARGO_HOME") or home / ".cargo")
    rustup = Path(environ.get("RUSTUP_HOME") or home / ".rustup")
    if (workspace / "Cargo.toml").is_file() and (cargo / "bin/cargo").is_file():
        # Not all of CARGO_HOME: credentials.toml lies in it.  The registry serves offline builds.
        parts = [cargo / "bin", cargo / "registry", rustup]
        yield Toolchain(
            kind="cargo",
            paths=tuple(part for part in parts if part.is_dir()),
            bin_dirs=(cargo / "bin",),
            env=(("CARGO_HOME", str(cargo)), ("RUSTUP_HOME", str(rustup))),
        )


def _go(workspace: Path, environ: Mapping[str, str], home: Path) -> Iterator[Toolchain]:
    if not (workspace / "go.mod").is_file():
        return
    modules = Path(environ.get("GOPATH") or home / "go")
    for root in (Path(environ.get("GOROOT") or "/usr/local/go"), home / "sdk/go", home / ".go"):
        if (root / "bin/go").is_file():
            cache = modules / "pkg/mod"
            yield Toolchain(
                kind="go",
                paths=(root, *((cache,) if cache.is_dir() else ())),
                bin_dirs=(root / "bin",),
                env=(("GOROOT", str(root)), ("GOPATH", str(modules))),
            )


def _sdkman(workspace: Path, environ: Mapping[str, str], home: Path) -> Iterator[Toolchain]:
    root = Path(environ.get("SDKMAN_DIR") or home / ".sdkman") / "candidates"
    java = root / "java/current"
    if not (java / "bin/java").is_file():
        return
    tools = [java, *(root / name / "current" for name in ("maven", "gradle", "kotlin", "scala"))]
    # `current` is a link: the version itself is bound and put on PATH.
    real = tuple(tool.resolve() for tool in tools if (tool / "bin").is_dir())
    yield Toolchain(
        kind="sdkman",
        paths=real,
        bin_dirs=tuple(tool / "bin" for tool in real),
        env=(("JAVA_HOME", str(real[0])),),
    )


def _pinned(file: Path) -> list[str]:
    """Return the versions that a small pin file names; none when it is missing or odd."""
    try:
        found = file.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > 1024:
            return []
        words = file.read_text(encoding="utf-8", errors="replace").split()
    except OSError:
        return []
    return [word for word in words if _plain(word) == word and word not in ("", ".", "..")]


def _plain(name: str) -> str:
    return "".join(char for char in name if char.isalnum() or char in ".-_")


def _is_dir(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _lexical(path: Path) -> Path:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts = parts[:-1] or parts
        else:
            parts.append(part)
    return Path(*parts)


_FINDERS: Final[tuple[Callable[[Path, Mapping[str, str], Path], Iterator[Toolchain]], ...]] = (
    _venv,
    _pyenv,
    _uv,
    _nvm,
    _cargo,
    _go,
    _sdkman,
)
