"""What git is configured to do: name and mail address, rewriting of URLs, and where hooks are.

Of the person's own only the machine's and the person's files count (``/etc/gitconfig``,
``~/.gitconfig``, ``~/.config/git/config`` and what those include, also by the place of the
repository).  What the repository itself configures is read where it is named here, and nothing else
of it.  Whoever writes a hook decides what the person's next `git commit` runs; so the places of the
workspace that git takes hooks from are known, where these are not its own ``.git/hooks`` (R38).
Blocking.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from common.errors import InputError
from common.text import has_hidden
from local_agent.workspace.git.opening import opens_at_once
from local_agent.workspace.git.remote_url import Rewrite
from local_agent.workspace.git.repository import open_repository

if TYPE_CHECKING:
    import pygit2


MAX_NAME_BYTES: Final = 200

MAX_CONFIG_BYTES: Final = 64 * 1024

_PERSONS: Final = ("~/.gitconfig", "~/.config/git/config")
_HOOKS: Final = re.compile(r"^[^#;\n]*?\bhookspath[ \t]*=(.*)", re.IGNORECASE | re.MULTILINE)
_PARTS: Final = re.compile(r'"([^"]*)"|([^"#;]+)|[#;].*')
_REWRITE: Final = re.compile(r"url\.(?P<base>.+)\.(?P<push>push)?insteadof", re.DOTALL)


def author(repository: pygit2.Repository) -> tuple[str, str]:
    """Return name and mail address of who commits.

    Raises:
        InputError: ``sync.no-author``: one is missing, or cannot stand in a commit.
    """
    found = dict(_own(repository))  # the last one wins, as with git
    name, email = (found.get(f"user.{key}", "").strip() for key in ("name", "email"))
    if not all(map(_is_plain, (name, email))):
        raise InputError("sync.no-author")
    return name, email


def rewrites(repository: pygit2.Repository) -> tuple[Rewrite, ...]:
    """Return the person's rules for other URLs than the written ones."""
    return tuple(
        Rewrite(match["base"], value, push=match["push"] is not None)
        for name, value in _own(repository)
        if value and (match := _REWRITE.fullmatch(name))
    )


def single(repository: pygit2.Repository, name: str) -> str | None:
    """Return a value as git would take it from any file, or None where there is none.

    Raises:
        InputError: ``sync.remote``: there are several.
    """
    values = [value for value in repository.config.get_multivar(name) if value]
    if len(values) > 1:
        raise InputError("sync.remote", name=name)
    return values[0] if values else None


def is_on(repository: pygit2.Repository, name: str, *, default: bool) -> bool:
    """Return a yes or no as git would take it; what is neither counts as the default."""
    try:
        return repository.config.get_bool(name)
    except (KeyError, ValueError):
        return default


def text_of(repository: pygit2.Repository, name: str) -> str:
    """Return the last value; empty where there is none."""
    values = [value or "" for value in repository.config.get_multivar(name)]
    return values[-1] if values else ""


def hooks_path(repository: pygit2.Repository) -> str:
    """Return ``core.hooksPath`` as git would take it from any file; empty where there is none."""
    try:
        return text_of(repository, "core.hookspath")
    except ValueError:
        return ""  # no UTF-8: a name that no diff may bear


def _own(repository: pygit2.Repository) -> Iterator[tuple[str, str]]:
    from pygit2.enums import ConfigLevel

    levels = (ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL)
    for entry in repository.config_snapshot:
        if entry.level in levels:
            yield entry.name, entry.value or ""


def _is_plain(text: str) -> bool:
    fits = 0 < len(text.encode()) <= MAX_NAME_BYTES
    return fits and not has_hidden(text) and not set(text) & set("<>\n\t")


# --- where hooks are -------------------------------------------------------------------------

MAX_HOOKS: Final = 256  # entries of the repository's own folder that are looked at


def hook_places(workspace: Path) -> tuple[str, ...]:
    """Return the folders and files of the workspace that hold hooks, as relative paths, sorted.

    These are what ``core.hooksPath`` names, wherever it is configured, and what links in
    ``.git/hooks`` lead to; each by the name that is written and by its real path.  The workspace
    itself is none: then nothing in it could be written.

    Args:
        workspace: Real path.
    """
    repository = open_repository(workspace)
    if repository is not None:
        named = [*_configured(hooks_path(repository)), *_linked(Path(repository.path))]
    else:  # git may read what libgit2 does not, such as a repository by SHA-256
        git = workspace / ".git"
        files = (git / "config", *(Path(os.path.expanduser(file)) for file in _PERSONS))  # noqa: PTH111
        named = [place for file in files for place in _written_hooks(file)]
        named += _linked(git)
    places = {place for name in named for place in _within(workspace, workspace / name)}
    return tuple(sorted(places))


def is_hook(path: str, places: tuple[str, ...]) -> bool:
    """Tell whether a relative path is one of these places, or lies in one."""
    return any(path == place or path.startswith(f"{place}/") for place in places)


def _written_hooks(config: Path) -> Iterator[Path]:
    """Give every place that a file may mean by ``core.hooksPath``, whatever section it stands in.

    As git reads a value: an escaped line end joins lines, quotes go, and outside of these a comment
    begins.
    """
    if not opens_at_once(config):
        return
    try:
        with config.open("rb") as file:
            written = os.fsdecode(file.read(MAX_CONFIG_BYTES)).replace("\\\n", "")
    except OSError:
        return
    for value in _HOOKS.findall(written):
        bare = "".join(quoted or plain for quoted, plain in _PARTS.findall(value))
        yield from _configured(bare.strip())


def _configured(value: str) -> Iterator[Path]:
    if value and "\0" not in value:
        yield Path(os.path.expanduser(value))  # noqa: PTH111  # of an unknown user it makes nothing


def _linked(git: Path) -> Iterator[Path]:
    hooks = git / "hooks"
    if hooks.is_symlink():
        yield hooks.parent / hooks.readlink()
    try:
        with os.scandir(hooks) as entries:
            links = [entry.name for entry in islice(entries, MAX_HOOKS) if entry.is_symlink()]
    except OSError:
        return
    for name in links:
        yield hooks / (hooks / name).readlink()


def _within(workspace: Path, place: Path) -> Iterator[str]:
    written = Path(os.path.normpath(place))
    # Not by Path.resolve, which raises where links go round in a circle.
    above, real = Path(os.path.realpath(written.parent)), Path(os.path.realpath(written))
    for path in (above / written.name, real):
        if path.is_relative_to(workspace):
            parts = path.relative_to(workspace).parts
            if parts and parts[0] != ".git":
                yield "/".join(parts)
