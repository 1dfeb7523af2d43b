"""A bare repository of ours that borrows the objects of a workspace's, and the push from it.

In it trees are made and compared without writing into the workspace: its configuration is the text
below, so that nothing in the workspace's ``.git/config``, attributes or hooks has a say.  0700, in
a folder of ours, thrown away after use.

The push is the one call of the ``git`` program (R39, R40); everything else goes through libgit2,
which starts nothing.  It is left to git because that alone speaks every transport with the person's
own credentials: the person's and the machine's configuration is read (credential helper, ssh
command, proxy), the workspace's is not.  Blocking.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from common.errors import InputError
from local_agent.workspace.git.remote_url import RemoteUrl
from local_agent.workspace.git.repository import begins_above

if TYPE_CHECKING:
    import pygit2


MAX_ENTRIES: Final = 500_000  # of a repository's own folder
_MAX_SHALLOW: Final = 1024 * 1024
_MAX_STORES: Final = 64 * 1024

_SHALLOW: Final = re.compile(rb"(?:[0-9a-f]{40}\n)*")
# What runs a program, reads attributes, sends more than is asked for, or believes a file of the
# borrowed store that git made only to be faster.
_CONFIG: Final = """\
[core]
\trepositoryformatversion = 0
\tbare = true
\tattributesFile = /dev/null
\thooksPath = /dev/null
\tfsmonitor = false
\tcommitGraph = false
\tmultiPackIndex = false
\talternateRefsCommand = /bin/true
[diff]
\tmnemonicPrefix = false
\tnoprefix = false
\tcontext = 3
\tinterHunkContext = 0
\trenames = false
\texternal =
[gc]
\tauto = 0
[maintenance]
\tauto = false
[push]
\tfollowTags = false
\tgpgSign = false
\tnegotiate = false
\trecurseSubmodules = no
\tpushOption =
[submodule]
\trecurse = false
[http]
\tfollowRedirects = false
"""
# Quoted: else a blank at the end, ``;`` or ``#`` would make a rule of its beginning alone, and git
# would push elsewhere.  A URL with a quote or a backslash is none that we push to.
_FOR_URL: Final = """\
[url "{url}"]
\tinsteadOf = "{url}"
\tpushInsteadOf = "{url}"
[http "{url}"]
\tfollowRedirects = false
"""


@dataclass(frozen=True, slots=True)
class CleanRepository:
    """One such repository, by its folder."""

    path: Path

    def open(self) -> pygit2.Repository:
        """Return it, opened by libgit2."""
        import pygit2
        from pygit2.enums import RepositoryOpenFlag

        return pygit2.Repository(str(self.path), RepositoryOpenFlag.NO_SEARCH)

    def aim_at(self, url: RemoteUrl) -> None:
        """Let git push to this very URL, whatever rules for other URLs the person has.

        A rule that names a URL whole is the longest there can be; `remote_url.rewritten` refuses
        the case of two.
        """
        with (self.path / "config").open("a", encoding="utf-8") as config:
            config.write(_FOR_URL.format(url=url.text))


@contextmanager
def clean_repository(scratch: Path, workspace: Path) -> Iterator[CleanRepository]:
    """Give a new one that sees the objects of the workspace, and remove it afterwards.

    Args:
        scratch: A private folder of ours.
        workspace: Real path of a workspace.

    Raises:
        InputError: as `check_plain`; ``sync.repository``.
    """
    check_plain(workspace)
    scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="clean-", dir=scratch))
    try:
        _write(folder, workspace / ".git")
        yield CleanRepository(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_plain(workspace: Path) -> None:
    """Require that ``.git`` is a folder of the workspace with nothing but files and folders in it.

    What we write there must not land elsewhere.  Hooks may be links: we neither run nor write them.

    Raises:
        InputError: ``sync.no-repository``; ``sync.begins-above``; ``sync.linked``: it lies
            elsewhere, as that of a linked work tree or of a submodule; ``sync.repository``: a link
            is in it;
            ``sync.alternates``: it borrows objects from elsewhere, whose files would be sent.
    """
    git = workspace / ".git"
    try:
        is_folder = stat.S_ISDIR(git.lstat().st_mode)
    except OSError:
        code = "sync.begins-above" if begins_above(workspace) else "sync.no-repository"
        raise InputError(code) from None
    if not is_folder or (git / "commondir").exists():
        raise InputError("sync.linked")
    looked, folders = 0, [git]
    while folders:
        for entry in folders.pop().iterdir():
            mode = entry.lstat().st_mode
            looked += 1
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) or looked > MAX_ENTRIES:
                raise InputError("sync.repository")
            if stat.S_ISDIR(mode) and entry != git / "hooks":
                folders.append(entry)
    _check_stores(git)


def _check_stores(git: Path) -> None:
    """Require that every object store that is borrowed from, at any remove, was looked through."""
    waiting, known = [git / "objects"], set[Path]()
    while waiting:
        store = waiting.pop()
        known.add(store)
        for line in _read(store / "info" / "alternates", _MAX_STORES).split(b"\n"):
            if not line or line.startswith(b"#"):
                continue
            # In quotes git takes escapes; nobody needs them for a folder that lies here.
            is_plain = not line.startswith(b'"') and b"\0" not in line
            borrowed = Path(os.path.realpath(store / os.fsdecode(line))) if is_plain else store
            inside = borrowed.is_relative_to(git) and not borrowed.is_relative_to(git / "hooks")
            if not inside or borrowed in known:
                raise InputError("sync.alternates")
            waiting.append(borrowed)


def _write(folder: Path, git: Path) -> None:
    objects = str(git / "objects")
    if "\n" in objects:  # one line each in the list of borrowed stores
        raise InputError("sync.repository")
    (folder / "objects" / "info").mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "objects" / "info" / "alternates").write_text(f"{objects}\n", encoding="utf-8")
    (folder / "HEAD").write_text("ref: refs/heads/none\n", encoding="utf-8")
    (folder / "config").write_text(_CONFIG, encoding="utf-8")
    shallow = _read(git / "shallow", _MAX_SHALLOW)
    if not _SHALLOW.fullmatch(shallow):
        raise InputError("sync.repository")
    if shallow:
        (folder / "shallow").write_bytes(shallow)


def _read(file: Path, limit: int) -> bytes:
    """Return a small file, empty where there is none.

    Raises:
        InputError: ``sync.repository``: it is larger than ``limit`` bytes.
    """
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return b""
    with os.fdopen(handle, "rb") as opened:
        content = opened.read(limit + 1)
    if len(content) > limit:
        raise InputError("sync.repository")
    return content


# --- the push --------------------------------------------------------------------------------

_PROGRAMS: Final = ("/usr/bin/git", "/usr/local/bin/git", "/bin/git")
# What helpers, ssh and proxies need; nothing that names a program or a repository (GIT_*).
_PASSED_ON: Final = (
    "DBUS_SESSION_BUS_ADDRESS",
    "LOGNAME",
    "SSH_AUTH_SOCK",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "USER",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    *("http_proxy", "https_proxy", "no_proxy", "all_proxy"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"),
)
_FIXED: Final = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LC_ALL": "C",  # its answers are read
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",  # set, so that no other one is looked for
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
}
# A repository on this machine is received by a second git, which would obey that one's
# configuration: no hook, no program, and no file of a work tree is changed.
_RECEIVE: Final = (
    "{git} -c core.hooksPath=/dev/null -c core.alternateRefsCommand=/bin/true"
    " -c core.fsmonitor=false -c receive.denyCurrentBranch=refuse -c receive.autogc=false"
    " -c gc.auto=0 -c maintenance.auto=false receive-pack"
)


def find_git() -> str | None:
    """Return git from the system's own directories, never by PATH (R40).  Blocking."""
    return next((path for path in _PROGRAMS if os.access(path, os.X_OK)), None)


def push_arguments(git: str, url: RemoteUrl, oid: str, ref: str) -> list[str]:
    """Return the arguments of a push of one commit to one branch, which is never forced."""
    options = "--porcelain --no-verify --no-signed --no-follow-tags --recurse-submodules=no"
    receive = [f"--receive-pack={_RECEIVE.format(git=git)}"] if url.scheme == "file" else []
    return [git, "push", *options.split(), *receive, "--", url.text, f"{oid}:{ref}"]


def push_environment(
    environ: Mapping[str, str], *, home: Path, repository: Path, url: RemoteUrl
) -> dict[str, str]:
    """Return the whole environment of a push.

    Args:
        environ: The agent's own, for what is passed on.
        home: The person's, where git and ssh find their configuration and keys.
        repository: The clean one.
        url: Its transport is the only one allowed.
    """
    passed = {name: environ[name] for name in _PASSED_ON if name in environ}
    return passed | {
        **_FIXED,
        "HOME": str(home),
        "GIT_DIR": str(repository),
        "GIT_ALLOW_PROTOCOL": url.scheme,
    }
