"""What approved changes and syncs must have left behind: of files, and of commits.

Told from the seals that were carried out and from what the disk holds; no function of the product
is used, so that a wrong one cannot hide itself.
"""

from __future__ import annotations

import hashlib
import json
import stat
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pygit2

from common.model.state import Reason

Side = tuple[str, str]  # SHA-256 and mode, as a seal writes them

CHANGES: Final = frozenset({"apply_diff", "undo"})
BESIDE: Final = ".codexbridge-"
_NOT_TOLD: Final = frozenset({".git", "ran.txt"})  # git's own, and what commands leave


@dataclass(frozen=True, slots=True)
class Edit:
    """What a person wrote into a file by hand.

    Attributes:
        at_ms: When, in milliseconds since the epoch.
        side: What it was afterwards.
    """

    at_ms: int
    path: str
    side: Side


@dataclass(frozen=True, slots=True)
class Planted:
    """A workspace in which only changes, and a person's own hands, write.

    Attributes:
        root: Where it is.
        before: Its files at the beginning.
        edits: What a person wrote since.
    """

    root: Path
    before: Mapping[str, Side]
    edits: Sequence[Edit] = ()


@dataclass(frozen=True, slots=True)
class Repositories:
    """A workspace's repository, and the bare one that its branch main is pushed to.

    Attributes:
        known: Commits that no task has made.
    """

    workspace: Path
    remote: Path
    known: Collection[str]


@dataclass(frozen=True, slots=True)
class Carried:
    """An operation that was begun under an approval.

    Attributes:
        seal: Of several operations under one approval, with the action and payload of this one.
        outcome: What was recorded of it; None while nothing was.
        run: The run of a playbook that asked for it; None for most.
        place: The step of it; None for most.
    """

    short_id: str
    seal: Mapping[str, Any]
    opened_at: int
    outcome: str | None
    run: str | None = None
    place: str | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Carried:
        """Return it from a row of effects, with its seal and its task."""
        seal, place = json.loads(row["seal"]), row["step"]
        if seal["action"] == "steps" and (steps := seal["payload"]["steps"]):
            part = steps[row["part"]]
            seal |= {"action": part["action"], "payload": part["payload"]}
            if place != "rollback":
                place = f"{place.partition(':')[0]}:{part['index']}"
        return cls(row["short_id"], seal, row["opened_at"], row["outcome"], row["run"], place)


def files_in(root: Path) -> dict[str, Side]:
    """Return the files of a workspace as they lie there, with those that a crash may leave."""
    return {
        path.relative_to(root).as_posix(): side_of(path)
        for path in root.rglob("*")
        if path.relative_to(root).parts[0] not in _NOT_TOLD and not path.is_dir()
    }


def side_of(path: Path) -> Side:
    """Return what a seal would say of a file."""
    is_program = path.stat().st_mode & stat.S_IXUSR
    return hashlib.sha256(path.read_bytes()).hexdigest(), "100755" if is_program else "100644"


def wrong_files(carried: Sequence[Carried], planted: Planted) -> Iterator[str]:
    """Each completed change is in the tree once, no other one is, and nothing lies beside.

    Of a change that nobody knows the outcome of, each file is as before it or as after it, until
    somebody writes it.
    """
    steps: list[tuple[int, Carried | Edit]] = [
        *((one.opened_at, one) for one in carried if _is_made(one) or _is_mixed(one)),
        *((edit.at_ms, edit) for edit in planted.edits),
    ]
    wanted = dict(planted.before)
    either: dict[str, Side | None] = {}
    for _, step in sorted(steps, key=lambda pair: pair[0]):
        if isinstance(step, Edit):
            wanted[step.path] = step.side
            either.pop(step.path, None)
        elif _is_mixed(step):
            either |= dict(_sides_after(step))
        else:
            _decide(step, wanted, either)
            yield from _made(step, wanted)
    found = files_in(planted.root)
    for path in sorted(wanted.keys() | found.keys()):
        if path in either and found.get(path) == either[path]:
            continue
        if wanted.get(path) != found.get(path):
            yield f"{path} should be {wanted.get(path)} and is {found.get(path)}"
    yield from _empty_folders(planted.root)


def wrong_outcomes(
    carried: Sequence[Carried], kills: Collection[int], edits: Sequence[Edit]
) -> Iterator[str]:
    """A change is made or is not, and fails only where a death came in between.

    Nobody can tell only where somebody else wrote into its files as well.
    """
    for one in carried:
        if one.seal["action"] not in CHANGES:
            continue
        changes = one.seal["payload"]["changes"]
        paths = {path for change in changes for path in (change["path"], change["old_path"])}
        by_hand = [edit for edit in edits if edit.path in paths]
        if one.outcome == Reason.UNKNOWN and not any(
            edit.at_ms >= one.seal["created_at"] for edit in by_hand
        ):
            yield f"{one.short_id}: nobody can tell whether its files were changed"
        if one.outcome == Reason.FAILED and not any(at >= one.opened_at for at in kills):
            yield f"{one.short_id}: its change failed, and nothing had died"


def wrong_commits(carried: Sequence[Carried], repositories: Repositories) -> Iterator[str]:
    """Each sealed commit is there once at most, and whatever is told of a push is so."""
    syncs = [one for one in carried if one.seal["action"] == "git_sync"]
    here = _commits(repositories.workspace)
    there = _commits(repositories.remote)
    made = [commit for commit in here if str(commit.id) not in repositories.known]
    sealed = {_sealed(one.seal["payload"]): one for one in syncs if one.seal["payload"]["commit"]}
    for what, times in Counter(map(_said, made)).items():
        if what not in sealed or times > 1:
            yield f"{what} was committed {times} times, under {len(sealed)} approvals"
    committed = set(map(_said, made))
    pushed = {str(commit.id) for commit in there}
    for what, one in sealed.items():
        if one.outcome == Reason.COMPLETED and what not in committed:
            yield f"{one.short_id}: completed, and its commit is not there"
    for one in syncs:
        if one.outcome == Reason.COMPLETED and not _reached(one, here, pushed):
            yield f"{one.short_id}: completed, and the remote does not have it"
    ours = pushed - set(repositories.known)
    if not ours <= {str(commit.id) for commit in here}:
        yield "the remote has a commit that is not here"
    for oid, times in Counter(_pushes(repositories)).items():
        if times > 1 or oid not in ours:
            yield f"{oid} was pushed {times} times"


def _is_made(one: Carried) -> bool:
    return one.seal["action"] in CHANGES and one.outcome == Reason.COMPLETED


def _is_mixed(one: Carried) -> bool:
    return one.seal["action"] in CHANGES and one.outcome == Reason.UNKNOWN


def _sides_after(one: Carried) -> Iterator[tuple[str, Side | None]]:
    """Yield each path of a change with what it would be afterwards; None is no file."""
    for change in one.seal["payload"]["changes"]:
        if change["op"] == "rename":
            yield change["old_path"], None
        is_there = change["op"] != "delete"
        yield change["path"], (change["new_sha256"], change["new_mode"]) if is_there else None


def _decide(one: Carried, tree: dict[str, Side], either: dict[str, Side | None]) -> None:
    """Take files that may be as before or as after for that which a later change started from."""
    for change in one.seal["payload"]["changes"]:
        for path in filter(None, (change["path"], change["old_path"])):
            if path not in either:
                continue
            old = (change["old_sha256"], change["old_mode"])
            after = either.pop(path)
            if after == old:
                tree[path] = old
            elif after is None and change["op"] in ("add", "rename", "copy"):
                tree.pop(path, None)


def _made(one: Carried, tree: dict[str, Side]) -> Iterator[str]:
    """Make a sealed change in a tree, and tell where it does not start from what is there."""
    for change in one.seal["payload"]["changes"]:
        op, path = change["op"], change["path"]
        source = path if op in ("modify", "delete") else change["old_path"]
        old = (change["old_sha256"], change["old_mode"])
        if source is not None and tree.get(source) != old:
            yield f"{one.short_id}: {op} of {source} was made on something else"
        if op in ("add", "rename", "copy") and path in tree:
            yield f"{one.short_id}: {path} came twice"
        if op in ("delete", "rename"):
            tree.pop(source or "", None)
        if op != "delete":
            tree[path] = (change["new_sha256"], change["new_mode"])


def _empty_folders(root: Path) -> Iterator[str]:
    for folder in root.rglob("*"):
        if folder.is_dir() and ".git" not in folder.parts and not any(folder.iterdir()):
            yield f"{folder.relative_to(root)} was left empty"


def _commits(repository: Path) -> list[pygit2.Commit]:
    opened = pygit2.Repository(str(repository))
    return list(opened.walk(opened.references["refs/heads/main"].target))


def _said(commit: pygit2.Commit) -> tuple[str, str, tuple[str, ...]]:
    return str(commit.tree_id), commit.message, tuple(map(str, commit.parent_ids))


def _sealed(payload: Mapping[str, Any]) -> tuple[str, str, tuple[str, ...]]:
    commit, head = payload["commit"], payload["head"]
    return commit["tree"], f"{commit['message']}\n", (head,) if head else ()


def _reached(one: Carried, here: Sequence[pygit2.Commit], pushed: Collection[str]) -> bool:
    payload = one.seal["payload"]
    if payload["commit"] is None:
        return payload["head"] in pushed
    wanted = _sealed(payload)
    return any(_said(commit) == wanted and str(commit.id) in pushed for commit in here)


def _pushes(repositories: Repositories) -> Iterator[str]:
    """Yield what the remote was given by pushes, as its own log of the branch has it."""
    log = repositories.remote / "logs" / "refs" / "heads" / "main"
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else ():
        oid = line.split()[1]
        if oid not in repositories.known:
            yield oid
