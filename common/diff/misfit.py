"""Why a part of a diff does not fit a file, where there is a common reason for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from common.diff.model import DiffModel, FileDiff, Hunk
from common.diff.patching import patched, relocated, reverse
from common.errors import InputError

Misfit = Literal["applied", "line-ends"]
_CR: Final = b"\r"


def misfit(file: FileDiff, old: bytes) -> Misfit | None:
    """Return why a modification does not fit.

    Args:
        file: One file of a diff, which `patched` and `relocated` refused.
        old: What is there.

    Returns:
        ``applied``: the file is already as the diff would leave it; ``line-ends``: only CR LF
        stands against LF; None for any other reason, and for what is no modification.
    """
    if file.op != "modify":
        return None
    if _fits(reverse(DiffModel((file,))).files[0], old):
        return "applied"
    if _fits(_with_plain_ends(file), old.replace(b"\r\n", b"\n")):
        return "line-ends"
    return None


def _fits(file: FileDiff, old: bytes) -> bool:
    try:
        patched(relocated(file, old)[0], old)
    except InputError:
        return False
    return True


def _with_plain_ends(file: FileDiff) -> FileDiff:
    return replace(file, hunks=tuple(map(_plain, file.hunks)))


def _plain(hunk: Hunk) -> Hunk:
    return hunk._replace(lines=tuple(line.removesuffix(_CR) for line in hunk.lines))
