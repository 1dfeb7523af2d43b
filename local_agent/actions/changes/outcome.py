"""What came of an approved change."""

from __future__ import annotations

from dataclasses import dataclass

from common.model.state import Reason
from common.seal import SealedChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixture:
    """What lies there of a change of which nobody can say that it was made, or was not.

    Attributes:
        new: Paths that are as the change was to leave them.
        old: Paths that are as they were before it.
        foreign: Paths that are neither: somebody else wrote them.
        beside: Temporary files of ours that were left, because nobody else has what they hold.
    """

    new: tuple[str, ...] = ()
    old: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeOutcome:
    """What came of an approved change.

    Attributes:
        reason: ``completed``; ``drifted`` and ``failed``: every file is as it was before;
            ``unknown``: that cannot be said of ``paths``.
        code: Why: ``change.*``, ``diff.*`` or ``blob.*``.  With ``completed`` only
            ``change.leftover``: files beside could not be removed.
        drift: Which parts of what was approved are not so any more: ``workspace``, ``git_head``,
            ``base``, ``changes``, ``diff_sha256``.
        files: What was changed; empty unless completed.
        paths: Relative paths that the outcome is about; local only.
        mixture: With ``unknown``, what each of its files is; None where that was not looked at.
    """

    reason: Reason
    code: str | None = None
    drift: tuple[str, ...] = ()
    files: tuple[SealedChange, ...] = ()
    paths: tuple[str, ...] = ()
    mixture: Mixture | None = None
