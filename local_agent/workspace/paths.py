"""The path guard of every read (R52): by directory handles, no links, no secrets, no surprises.

Names come from people, models and git; they are checked (R34) and then opened part by part, each
relative to the handle before it, so that no link and no rename in between leads out.  Blocking.
"""

from __future__ import annotations

import fnmatch
import os
import re
import stat
import unicodedata
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Self

from common.errors import InputError
from local_agent.workspace import encodings
from local_agent.workspace.encodings import Encodings

MAX_PATH_BYTES: Final = 1024
MAX_PART_BYTES: Final = 255
MAX_FILE_BYTES: Final = 1024 * 1024
DENY_FILE: Final = ".codexbridgeignore"
MAX_DENY_BYTES: Final = 64 * 1024
MAX_DENY_PATTERNS: Final = 500
_CHUNK: Final = 65_536
_KEPT_OPEN: Final = 64  # folders of one reader
_SNIFFED: Final = 8192  # a NUL in the first bytes means binary, as git has it

# Git's own, and secrets (R52).  Compared case-folded with each part of a path: folders count too.
SECRET: Final = (
    ".git",
    "git~1",
    ".env*",
    "*.pem",
    "id_*",
    "*.p12",
    "*.pfx",
    "*.key",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    "kubeconfig*",
    ".kube",
    ".ssh",
    ".aws",
    ".gnupg",
    "*.tfstate*",
    "*credentials*",
    "*.kdbx",
)
_NEVER_READ: Final = re.compile("|".join(map(fnmatch.translate, SECRET)))
# R38: what other programs run or obey by themselves: by its folder, its name, or its ending.
_SURFACE_FOLDERS: Final = frozenset(
    (
        *(".git", ".github", ".gitlab", ".gitea", ".forgejo", ".githooks", ".husky"),
        *(".circleci", ".buildkite", ".azure-pipelines", ".devcontainer", ".vscode", ".idea"),
        *(".zed", ".fleet", ".codex", ".codexbridge", ".claude", ".cursor", ".gemini"),
        *(".windsurf", ".continue", ".cargo", ".mvn", ".bundle", ".yarn"),
    )
)
_FILES_OBEYED: Final = (
    # Git, hooks, shells and their environment.
    ".gitattributes .gitmodules .gitconfig .pre-commit-config.yaml .pre-commit-hooks.yaml"
    " lefthook.yml .envrc .tool-versions mise.toml .mise.toml .bashrc .bash_profile .profile"
    " .zshrc .zshenv"
    # Of a repository without `.git`: git that is started there obeys it.
    " head config"
    # What models and their tools obey.
    " agents.md agents.override.md claude.md claude.local.md gemini.md .mcp.json .cursorrules"
    " .windsurfrules .clinerules .aider.conf.yml"
    # Continuous integration and containers.
    " .gitlab-ci.yml .travis.yml .drone.yml .appveyor.yml appveyor.yml azure-pipelines.yml"
    " bitbucket-pipelines.yml jenkinsfile cloudbuild.yaml dockerfile containerfile"
    " docker-compose.yml docker-compose.yaml compose.yml compose.yaml procfile vagrantfile"
    # Builds and tests of each language.
    " makefile gnumakefile justfile taskfile.yml taskfile.yaml cmakelists.txt meson.build"
    " configure sconstruct wscript build.bazel workspace.bazel module.bazel flake.nix shell.nix"
    " default.nix setup.py setup.cfg pyproject.toml tox.ini pytest.ini noxfile.py conftest.py"
    " sitecustomize.py usercustomize.py hatch_build.py pipfile .npmrc .yarnrc .yarnrc.yml"
    " .pnpmfile.cjs package.json binding.gyp gulpfile.js gruntfile.js cargo.toml build.rs pom.xml"
    " gradlew mvnw gemfile rakefile composer.json build.xml directory.build.props"
)
_SURFACE_NAMES: Final = frozenset(_FILES_OBEYED.split())
_SURFACE_NAME: Final = re.compile(
    r".*\.(?:pth|mk|bzl|gradle|gradle\.kts|code-workspace|dockerfile|targets|(?:cs|fs|vb|vcx)proj"
    r"|config\.[cm]?[jt]s)|\..*rc\.[cm]?js|dockerfile\..*",
    re.DOTALL,
)
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a FIFO waits for a writer for ever.
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def check_relative(path: str) -> tuple[str, ...]:
    """Return the parts of a workspace-relative path (R34).

    Raises:
        InputError: ``path.malformed``.
    """
    parts = tuple(path.split("/"))
    if not all(map(is_plain, parts)) or len(path.encode()) > MAX_PATH_BYTES:
        raise InputError("path.malformed")
    return parts


def is_plain(part: str) -> bool:
    """Tell whether a name is one that we open or show: no trick in it, and UTF-8 (R34)."""
    if part in ("", ".", "..") or part != part.strip():
        return False
    if part.isascii():
        return len(part) <= MAX_PART_BYTES and part.isprintable()
    hidden = ("Cc", "Cf", "Cs", "Zl", "Zp")
    if any(unicodedata.category(char) in hidden for char in part):
        return False
    return len(part.encode()) <= MAX_PART_BYTES


def denied_part(part: str) -> bool:
    """Tell whether a file or folder of this name may never be read: git's own, and secrets."""
    name = part if part.isascii() else unicodedata.normalize("NFKC", part)
    return _NEVER_READ.fullmatch(name.casefold()) is not None


def is_denied(parts: Sequence[str], patterns: Sequence[str] = ()) -> bool:
    """Tell whether a path may never be read: by a part's name, or by a pattern of the deny list.

    A pattern is compared with each part, and with the path of each folder on the way; ``*``
    crosses folders as well.  That denies more than git would, never less.
    """
    return any(map(denied_part, parts)) or matches(parts, patterns)


def matches(parts: Sequence[str], patterns: Sequence[str]) -> bool:
    """Tell whether a path is denied by a pattern of the deny list, whatever its name."""
    ways = ["/".join(parts[: end + 1]) for end in range(len(parts))] if patterns else []
    return any(fnmatch.fnmatchcase(way, pattern) for pattern in patterns for way in (*parts, *ways))


def is_execution_surface(path: str) -> bool:
    """Tell whether changing this path changes what other programs will run (R38)."""
    parts = path.casefold().split("/")
    name = parts[-1]
    return (
        name in _SURFACE_NAMES
        or _SURFACE_NAME.fullmatch(name) is not None
        or not _SURFACE_FOLDERS.isdisjoint(parts)
    )


@dataclass(frozen=True, slots=True)
class Root:
    """An open workspace.

    Attributes:
        handle: Of its own directory.
        deny: Patterns that deny in addition: the person's and the workspace's.
        encodings: In which its files may be text.
    """

    handle: int
    deny: tuple[str, ...]
    encodings: Encodings


@contextmanager
def open_root(
    workspace: Path, *, deny: Sequence[str] = (), encoding: str | None = None
) -> Iterator[Root]:
    """Give the workspace, opened, with what is denied in it.

    Args:
        workspace: Real path.
        deny: The person's own deny patterns, which lie outside of the workspace.
        encoding: Of its files that are no UTF-8, as the person set it.

    Raises:
        InputError: ``path.missing``.
    """
    try:
        handle = os.open(workspace, _DIRECTORY)
    except OSError:
        raise InputError("path.missing", path=workspace) from None
    try:
        declared = Encodings(partial(_declarations, handle), encoding)
        yield Root(handle, (*deny, *_deny_patterns(handle)), declared)
    finally:
        os.close(handle)


def open_file(root: Root, parts: tuple[str, ...]) -> int:
    """Return a handle of a regular file of the workspace; the caller closes it.

    Raises:
        InputError: ``path.denied``, ``path.missing``, ``path.link`` or ``path.not-regular``.
    """
    if is_denied(parts, root.deny):
        raise InputError("path.denied")
    return _open_below(root.handle, parts)


def open_folder(root: Root, parts: tuple[str, ...]) -> int:
    """Return a handle of a folder of the workspace, its top without parts; the caller closes it.

    Raises:
        InputError: ``path.denied``, ``path.missing`` or ``path.link``.
    """
    if is_denied(parts, root.deny):
        raise InputError("path.denied")
    # Opened anew: a copy of the root's own handle would share how far it has been listed.
    return _open_folder(root.handle, parts) if parts else _open(".", _DIRECTORY, root.handle)


class Reader:
    """Reads many files of an open workspace; folders stay open from one file to the next.

    Close it after use.
    """

    def __init__(self, root: Root) -> None:
        self._root = root
        self._folders: OrderedDict[str, int] = OrderedDict()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Close the folders."""
        while self._folders:
            os.close(self._folders.popitem()[1])

    def read(self, path: str, *, max_bytes: int = MAX_FILE_BYTES) -> bytes:
        """Return the content of a text file; a text in a declared encoding is given as UTF-8.

        Raises:
            InputError: as `read_bytes`; ``path.malformed``.
        """
        above, _, name = path.rpartition("/")
        folder = self._folders.get(above)
        if folder is None:
            folder = self._open(above)
        if not is_plain(name) or len(path.encode()) > MAX_PATH_BYTES:
            raise InputError("path.malformed")
        if denied_part(name) or (self._root.deny and matches(path.split("/"), self._root.deny)):
            raise InputError("path.denied")
        content = _content(_open_regular(name, folder), max_bytes)
        return self._root.encodings.shown(path, content)

    def _open(self, path: str) -> int:
        parts = check_relative(path) if path else ()
        if any(map(denied_part, parts)):
            raise InputError("path.denied")
        handle = self._folders[path] = _open_folder(self._root.handle, parts)
        if len(self._folders) > _KEPT_OPEN:
            os.close(self._folders.popitem(last=False)[1])
        return handle


def read_bytes(root: Root, parts: tuple[str, ...], *, max_bytes: int = MAX_FILE_BYTES) -> bytes:
    """Return the content of a text file of the workspace.

    Raises:
        InputError: as `open_file`; ``path.too-large``; ``path.binary``.
    """
    return _content(open_file(root, parts), max_bytes)


def read_text(
    workspace: Path, path: str, *, deny: Sequence[str] = (), max_bytes: int = MAX_FILE_BYTES
) -> str:
    """Return a text file of the workspace by its relative path; what is no text shows as ``�``.

    Args:
        workspace: Real path.
        path: As a person, a model or git names it.
        deny: The person's own deny patterns.
        max_bytes: Refuse longer files.

    Raises:
        InputError: as `check_relative`, `open_root` and `read_bytes`.
    """
    parts = check_relative(path)
    with open_root(workspace, deny=deny) as root:
        content = read_bytes(root, parts, max_bytes=max_bytes)
        return root.encodings.shown(path, content).decode("utf-8", "replace")


def _deny_patterns(handle: int) -> tuple[str, ...]:
    """Return the patterns of ``.codexbridgeignore``; a line with ``!`` allows nothing."""
    try:
        content = _content(_open_below(handle, (DENY_FILE,)), MAX_DENY_BYTES)
    except InputError as error:
        # Too large or a link: then nothing can be read, rather than too much.
        content = b"" if error.code == "path.missing" else b"*"
    lines = [line.strip() for line in content.decode("utf-8", "replace").splitlines()]
    patterns = tuple(line.strip("/") for line in lines if line and line[0] not in "#!")
    too_much = len(patterns) > MAX_DENY_PATTERNS or any(map(_is_long, patterns))
    return ("*",) if too_much else patterns


def _declarations(handle: int, path: str) -> bytes:
    try:
        return _content(_open_below(handle, tuple(path.split("/"))), encodings.MAX_BYTES)
    except InputError:
        return b""


def _is_long(pattern: str) -> bool:
    return len(pattern) > MAX_PART_BYTES


def _open_below(root: int, parts: tuple[str, ...]) -> int:
    folder = _open_folder(root, parts[:-1])
    try:
        return _open_regular(parts[-1], folder)
    finally:
        os.close(folder)


def _open_folder(root: int, parts: tuple[str, ...]) -> int:
    folder = os.dup(root)
    for part in parts:
        try:
            below = _open(part, _DIRECTORY, folder)
        finally:
            os.close(folder)
        folder = below
    return folder


def _open_regular(name: str, folder: int) -> int:
    file = _open(name, _FILE, folder)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise InputError("path.not-regular")
    return file


def _content(file: int, max_bytes: int) -> bytes:
    try:
        # One more than it has: a file that grows meanwhile is read on, up to the limit.
        content = os.read(file, min(os.fstat(file).st_size, max_bytes) + 1)
        while len(content) <= max_bytes and (more := os.read(file, _CHUNK)):
            content += more
    finally:
        os.close(file)
    if len(content) > max_bytes:
        raise InputError("path.too-large", limit=max_bytes)
    if content.find(b"\0", 0, _SNIFFED) >= 0:
        raise InputError("path.binary")
    return content


def _open(part: str, flags: int, folder: int) -> int:
    try:
        return os.open(part, flags, dir_fd=folder)
    except (FileNotFoundError, NotADirectoryError):
        # ENOTDIR is also what O_DIRECTORY|O_NOFOLLOW says of a link to a directory.
        raise InputError("path.missing") from None
    except OSError:
        raise InputError("path.link") from None
