"""What came of an approved change."""

from __future__ import annotations

from dataclasses import dataclass

from common.model.state import Reason
from common.seal_payloads import SealedChange


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
    """

    reason: Reason
    code: str | None = None
    drift: tuple[str, ...] = ()
    files: tuple[SealedChange, ...] = ()
    paths: tuple[str, ...] = ()
