"""Makes the context of a request out of what was gathered for it.  Blocking: it reads files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from common.errors import InputError
from common.redact import redact_lines
from local_agent.propose.context import finding, repository, tree, wishes
from local_agent.propose.context.budget import Budget, LeftOut, Reason
from local_agent.propose.context.collected import Around, Collected, Piece
from local_agent.propose.context.cutting import cut_clean, readable
from local_agent.propose.context.diagnostics import (
    MAX_DIAGNOSTICS,
    MAX_TEXT_BYTES,
    Diagnostic,
    parse_diagnostics,
    render,
)
from local_agent.propose.context.naming import find_named
from local_agent.propose.context.reading import Extra, Read, read, show
from local_agent.workspace import paths
from local_agent.workspace.files import Listing, Match
from local_agent.workspace.git.repository import Changes, read_patches
from local_agent.workspace.registry import Workspace

REVIEWED_BYTES: Final = 48_000  # of patches where they are what is asked about
CHANGED_BYTES: Final = 24_000  # of patches where they are what a request is about
MAX_REMARKS_BYTES: Final = 4000
_REASONS: Final[dict[str, Reason]] = {
    "secret": "secret",
    "binary": "binary",
    "too-large": "too-large",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """All that is known before a file is read.

    Attributes:
        files: Paths, bare names and folders from the request.
        names: Identifiers from the request.
        text: The request.
        review: The local changes themselves are asked about.
        hits: What was found of each identifier.
        printed: What tools printed before, on this machine.
    """

    workspace: Workspace
    files: tuple[str, ...]
    names: tuple[str, ...]
    text: str
    around: Around
    review: bool
    listing: Listing
    hits: Mapping[str, Sequence[Match]]
    printed: str

    @property
    def about_changes(self) -> bool:
        """Whether the request is about the local changes."""
        return self.review or wishes.about_changes(self.text)


@dataclass(frozen=True, slots=True)
class Draft:
    """A context that lacks the state of the repository."""

    given: Gathered
    files: Read
    tests: tuple[str, ...]
    extras: tuple[Extra, ...]


def draft(given: Gathered, budget: Budget, changes: Changes | None = None) -> Draft:
    """Read what could help.

    Args:
        given: What is known.
        budget: The limits.
        changes: The local changes, where the request is about them.

    Raises:
        InputError: ``path.missing``: the workspace went away.
    """
    place, known = str(given.workspace.path), given.listing.files
    listed = frozenset(known)
    pasted = parse_diagnostics(given.text, workspace=place)
    told = (*given.around.diagnostics, *parse_diagnostics(given.printed, workspace=place))
    remarks = [one for one in told if one.path in listed][:MAX_DIAGNOSTICS]
    named = {name: find_named(name, known) for name in given.files}
    found = finding.wanted(
        files=[named[name] for name in given.files],
        names=given.names,
        around=given.around,
        hits=given.hits,
        changed=[file.path for file in changes.files] if changes else (),
        diagnostics=(*pasted, *remarks),
        known=known,
        text=given.text,
    )
    missing = [name for name, one in named.items() if not one.files and not one.inside]
    files = read(given.workspace, found, budget=budget, listed=listed, missing=missing)
    tests = tuple(one.path for one in found if one.why == "test-of")
    return Draft(given, files, tests, (*_remarks(remarks), *_tree(known)))


def finish(begun: Draft, changes: Changes | None) -> Collected:
    """Return what may be shown, and the account of it."""
    given, files = begun.given, begun.files
    patches, without = _patches(given, changes)
    shown = show(files, [*patches, *begun.extras, *_state(changes, files.deny)])
    closed = {one.path for one in shown.left_out if not one.why.startswith("over-")}
    return Collected(
        files=tuple(share for share in shown.shares if share.path not in begun.tests),
        pieces=tuple(shown.pieces),
        tests=tuple(path for path in begun.tests if path not in closed),
        branch=changes.branch if changes else None,
        changed=changes.total if changes else 0,
        left_out=(*shown.left_out, *without),
        used=tuple(shown.used),
        skipped=given.listing.skipped,
        truncated=given.listing.truncated,
        budget=files.budget,
    )


def read_reports(workspace: Workspace) -> bytes:
    """Return what linters left in the files that the person named; what is not there says nothing.

    Whether git ignores them does not matter, for they were named; that they are secrets would.
    """
    found: list[bytes] = []
    try:
        with paths.open_root(workspace.path, deny=workspace.deny) as root:
            for name in workspace.diagnostics:
                try:
                    found.append(paths.read_bytes(root, paths.check_relative(name)))
                except InputError:
                    continue
    except InputError:
        return b""
    return b"\n".join(content[:MAX_TEXT_BYTES] for content in found)


def _patches(given: Gathered, changes: Changes | None) -> tuple[list[Extra], list[LeftOut]]:
    """Return the local changes line by line, where the request is about them."""
    if changes is None or not given.about_changes:
        return [], []
    limit = REVIEWED_BYTES if given.review else CHANGED_BYTES
    counted = [file.path for file in changes.files if file.added is not None]
    extras: list[Extra] = []
    without: list[LeftOut] = []
    for one in read_patches(given.workspace, counted, limit=limit):
        if one.reason:
            without.append(LeftOut(one.path, _REASONS.get(one.reason, "unreadable")))
            continue
        clean = redact_lines("".join(f"{line}\n" for line in readable(one.patch)))
        if cut := cut_clean(clean, limit):
            limit -= len(cut[0].text.encode())
            piece = Piece(kind="changes", path=one.path, text=cut[0].text, cut=cut[0].cut)
            extras.append(Extra(piece, "changed", first=True))
        elif clean:
            without.append(LeftOut(one.path, "over-bytes", len(clean.encode())))
    return extras, without


def _remarks(told: Sequence[Diagnostic]) -> list[Extra]:
    text = redact_lines(render(told))
    return [
        Extra(Piece(kind="diagnostics", text=cut.text, cut=cut.cut), "printed")
        for cut in cut_clean(text, MAX_REMARKS_BYTES)
    ]


def _tree(known: tuple[str, ...]) -> list[Extra]:
    return [Extra(Piece(kind="tree", text=_drawn(known)), "tree")] if known else []


@lru_cache(maxsize=2)
def _drawn(known: tuple[str, ...]) -> str:
    # From one request to the next there are mostly the same files, and their names in memory.
    return redact_lines(tree.summarise(known))


def _state(changes: Changes | None, deny: Sequence[str]) -> list[Extra]:
    if changes is None:
        return []
    text = redact_lines(repository.describe(changes, deny=deny))
    return [Extra(Piece(kind="git", text=text), "state")]
