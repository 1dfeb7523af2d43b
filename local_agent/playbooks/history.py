"""What steps read of a repository, by libgit2 alone, which runs none of its code.  Blocking.

Objects are compared as bytes, and the lines that differ are written by the product's own hand, so
that no filter, driver or attribute of the repository has a part in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone
from itertools import islice
from typing import TYPE_CHECKING, Final

from common.clock import SystemClock
from common.errors import InputError
from common.text import clip_bytes, one_line, reveal
from local_agent.propose.scratch.diffing import Change, Side, make_diff
from local_agent.workspace import paths
from local_agent.workspace.git.ranges import NotFound, Resolver
from local_agent.workspace.git.repository import (
    head_of,
    open_repository,
    read_standing,
    unfolds_too_far,
)
from local_agent.workspace.registry import Workspace

if TYPE_CHECKING:
    import pygit2
    from pydantic import JsonValue

MAX_CHANGED: Final = 20_000  # files that differ
MAX_DIFF_BYTES: Final = 8 * 1024 * 1024
MAX_FILE_BYTES: Final = 2_000_000  # of one side of a file; of larger ones no lines are told
MAX_READ_BYTES: Final = 128 * 1024 * 1024  # of contents that are compared
MAX_COMMITS: Final = 1000
USUAL_COMMITS: Final = 100
_SUBJECT_BYTES: Final = 8192  # and of its body
_HOURS: Final = {"hour": 1, "day": 24, "week": 168, "month": 720, "year": 8760}
_AGO: Final = re.compile(rf"([0-9]{{1,5}})[ .]({'|'.join(_HOURS)})s?[ .]ago")
_LATE: Final = 100  # commits before the date, one after another, until no later one is expected
_FILES: Final = {0o100644: False, 0o100755: True}
_OTHERS: Final = {0o120000: "symbolic link", 0o160000: "submodule"}
_REASONS: Final = {"diff.refused": "binary", "diff.too-large": "too large", "diff.name": "its name"}


def status(workspace: Workspace) -> dict[str, JsonValue]:
    """Return the branch, None on a detached head, and what is not as in the last commit.

    Files that git does not know are named, ignored ones are not; a moved file is named twice.

    Raises:
        InputError: ``playbook.no-repository``; ``playbook.too-much``.
    """
    found = read_standing(workspace.path, most=MAX_CHANGED)
    if found is None:
        raise InputError("playbook.no-repository")
    if found.total > MAX_CHANGED:
        raise InputError("playbook.too-much", what="files", limit=MAX_CHANGED)
    return {"branch": found.branch, "clean": not found.total, "changed": [*found.paths]}


def log(workspace: Workspace, since: str | None, limit: int | None) -> dict[str, JsonValue]:
    """Return what is checked out and came before it, the newest first; nothing of an empty one.

    Args:
        workspace: Whose repository.
        since: A branch, tag or commit, which itself is not told, a date or time, or how long ago,
            such as ``7 days ago``; in this order.  A date begins at midnight; without a zone it is
            that of this machine.
        limit: How many, from 1 to 1,000; 100 where there is none.

    Raises:
        InputError: ``playbook.no-repository``, ``playbook.revision``, ``playbook.history``,
            ``playbook.limit``.
    """
    most = _most(limit)
    with _opened(workspace) as repository:
        commits = islice(_commits(repository, since), most)
        return {"commits": [_told(commit) for commit in commits]}


def tags(workspace: Workspace, limit: int | None) -> dict[str, JsonValue]:
    """Return the tags of commits, each with when that was made, the newest first.

    Raises:
        InputError: as `log`.
    """
    import pygit2
    from pygit2.enums import ReferenceFilter

    found = []
    with _opened(workspace) as repository:
        for tag in repository.references.iterator(ReferenceFilter.TAGS):
            commit = tag.peel()
            if isinstance(commit, pygit2.Commit):  # and not a file or a folder
                told: JsonValue = {
                    "name": tag.shorthand,
                    "commit": str(commit.id),
                    "at": _made_at(commit),
                }
                found.append((commit.commit_time, tag.shorthand, told))
    newest = sorted(found, key=lambda one: one[:2], reverse=True)
    return {"tags": [told for *_, told in newest[: _most(limit)]]}


def diff(workspace: Workspace, base: str, head: str | None) -> dict[str, JsonValue]:
    """Return how one commit differs from another, whatever was between them.

    Of what may not be read, is no text or is too large, only that it differs is told.  What is not
    committed is not part of it.

    Args:
        workspace: Whose repository, and what the person denies in it.
        base: A branch, tag or commit.
        head: Another; what is checked out where there is none.

    Raises:
        InputError: as `log`; ``playbook.too-much``.
    """
    with workspace.opened() as root, _opened(workspace) as opened:
        trees = [_tree(opened, name.strip()) for name in (base, head or "HEAD")]
        told = _Comparing(opened, root.deny).told(*trees)
    text = b"".join(told[path] for path in sorted(told))
    return {"diff": text.decode("utf-8", "replace"), "files": [*sorted(told)]}


def _most(limit: int | None) -> int:
    most = USUAL_COMMITS if limit is None else limit
    if not 1 <= most <= MAX_COMMITS:
        raise InputError("playbook.limit", argument="limit", most=MAX_COMMITS)
    return most


@contextmanager
def _opened(workspace: Workspace) -> Iterator[pygit2.Repository]:
    import pygit2

    repository = open_repository(workspace.path)
    if repository is None:
        raise InputError("playbook.no-repository")
    try:
        yield repository
    except (pygit2.GitError, KeyError, ValueError, OSError) as error:
        raise InputError("playbook.history") from error


def _commits(repository: pygit2.Repository, since: str | None) -> Iterator[pygit2.Commit]:
    from pygit2.enums import SortMode

    since = since.strip() if since is not None else None  # an answer may end with a newline
    start = None if since is None else Resolver(repository).commit(since)
    after = _moment(since or "", start) if isinstance(start, NotFound) else None
    head = head_of(repository)
    if head is None:
        return
    walk = repository.walk(head, SortMode.TIME)
    if start is not None and not isinstance(start, NotFound):
        walk.hide(start.id)
    late = 0
    for commit in walk:
        if after is None or commit.commit_time >= after:
            late = 0
            yield commit
            continue
        late += 1  # clocks differ: the one after it may be younger
        if late > _LATE:
            return


def _moment(text: str, otherwise: NotFound) -> float:
    if ago := _AGO.fullmatch(text.lower()):
        return SystemClock().now().wall_ms / 1000 - int(ago[1]) * _HOURS[ago[2]] * 3600
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        raise _no_such(otherwise) from None


def _no_such(found: NotFound) -> InputError:
    return InputError("playbook.revision", name=found.name, near=", ".join(found.near))


def _told(commit: pygit2.Commit) -> JsonValue:
    # Its first paragraph is the subject, as git has it.
    head, _, rest = commit.raw_message.lstrip().partition(b"\n\n")
    subject = head[:_SUBJECT_BYTES]
    return {
        "id": str(commit.id),
        "author": commit.author.raw_name.decode("utf-8", "replace"),
        "at": _made_at(commit),
        "subject": " ".join(subject.decode("utf-8", "replace").split()),
        "body": clip_bytes(rest.decode("utf-8", "replace").strip(), _SUBJECT_BYTES),
    }


def _made_at(commit: pygit2.Commit) -> str:
    """Return its time with its zone, whatever it claims."""
    seconds = commit.commit_time
    try:
        zone = timezone(timedelta(minutes=commit.commit_time_offset))
    except ValueError:
        zone = UTC
    try:
        return datetime.fromtimestamp(seconds, zone).isoformat()
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, zone).isoformat()


def _tree(repository: pygit2.Repository, name: str) -> pygit2.Tree:
    import pygit2

    found = Resolver(repository).commit(name)
    if isinstance(found, NotFound):
        raise _no_such(found)
    tree = found.peel(pygit2.Tree)
    if unfolds_too_far(tree):
        raise InputError("playbook.too-much", what="files", limit=MAX_CHANGED)
    return tree


class _UntoldError(Exception):
    """Why the lines of a file are not told."""


class _Comparing:
    def __init__(self, repository: pygit2.Repository, deny: tuple[str, ...]) -> None:
        self._repository = repository
        self._deny = deny
        self._left = MAX_READ_BYTES

    def told(self, base: pygit2.Tree, head: pygit2.Tree) -> dict[str, bytes]:
        """Return the lines of each file that differs, by path."""
        from pygit2.enums import DiffOption

        options = DiffOption.INCLUDE_TYPECHANGE | DiffOption.SKIP_BINARY_CHECK
        found = base.diff_to_tree(head, options, 0)
        if len(found) > MAX_CHANGED:
            raise InputError("playbook.too-much", what="files", limit=MAX_CHANGED)
        told: dict[str, bytes] = {}
        size = 0
        for delta in found.deltas:
            raw = delta.new_file.raw_path or delta.old_file.raw_path
            path = raw.decode("utf-8", "replace")
            text = self._file(path, delta)
            size += len(text)
            if size > MAX_DIFF_BYTES:
                raise InputError("playbook.too-much", what="bytes", limit=MAX_DIFF_BYTES)
            told[path] = told.get(path, b"") + text
        return told

    def _file(self, path: str, delta: pygit2.DiffDelta) -> bytes:
        if paths.is_denied(path.split("/"), self._deny):
            return _only(path, "secret")
        try:
            old, new = self._side(delta.old_file), self._side(delta.new_file)
            return make_diff([Change(path, old, new)])
        except _UntoldError as error:
            return _only(path, str(error))
        except InputError as error:
            if error.code not in _REASONS:
                raise
            return _only(path, _REASONS[error.code])

    def _side(self, file: pygit2.DiffFile) -> Side | None:
        """Return one side of a file; None where there is none.

        Raises:
            _UntoldError: it is no file, or too large.
        """
        import pygit2

        if not file.id:  # the one that stands for no file
            return None
        if file.mode not in _FILES:
            raise _UntoldError(_OTHERS.get(file.mode, "no file"))
        _, size = self._repository.odb.read_header(file.id)
        if size > MAX_FILE_BYTES:
            raise _UntoldError("too large")
        self._left -= size
        if self._left < 0:
            raise InputError("playbook.too-much", what="bytes", limit=MAX_READ_BYTES)
        content = self._repository[file.id].peel(pygit2.Blob).data
        return Side(content, executable=_FILES[file.mode])


def _only(path: str, why: str) -> bytes:
    return f"# {reveal(one_line(path))} differs and is not shown: {why}\n".encode()
