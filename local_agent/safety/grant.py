"""The one thing that execution accepts (R1): minted by the approval gate, spent once.

A Grant is made from the stored seal bytes of an approval that was consumed a moment ago, and reads
everything it says from them.  It lives in memory only: nothing that survives a restart can execute
(R22, R68).
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from common.errors import StateError
from common.seal import Seal, digest
from local_agent.safety.action_facts import Known, parts_of, read_known


@dataclass(frozen=True, init=False, eq=False, repr=False, slots=True)
class Grant:
    """Leave to do once exactly what was sealed, or exactly one part of it.

    Attributes:
        seal: What was approved, parsed from the stored bytes; of several operations this part's
            (`local_agent.safety.action_facts.parts_of`).
        digest: Digest of those bytes, the one the person was shown; the same for all parts.
        approval_id: The approval that was consumed for it.
        part: Which of the operations that the approval covers, from 0.
        parts: How many it covers.
    """

    seal: Seal
    digest: str
    approval_id: str
    part: int
    parts: int
    _unspent: threading.Lock

    def __init__(self) -> None:
        """Refuse: only the approval gate mints.

        Raises:
            TypeError: always.
        """
        raise TypeError("a Grant is minted by the approval gate, never constructed")

    @property
    def task_id(self) -> str:
        """The task it belongs to."""
        return self.seal.task_id

    @property
    def is_last(self) -> bool:
        """Whether the approval covers nothing after it."""
        return self.part + 1 == self.parts

    def spend(self) -> Seal:
        """Use it up and return what may now be done, once.

        Raises:
            StateError: ``grant.spent``: it was used before, perhaps by another thread.
        """
        # Held for ever: taking it is one atomic step, and copies share it.
        if not self._unspent.acquire(blocking=False):
            raise StateError("grant.spent", approval_id=self.approval_id)
        return self.seal


def _mint(raw: bytes, known: Known, part: int = 0) -> Grant:
    """Return the Grant for consumed seal bytes.  For `local_agent.flow.gate` alone (R1)."""
    seal = read_known(raw, known)
    parts = parts_of(seal, known)
    grant = object.__new__(Grant)
    object.__setattr__(grant, "seal", parts[part])
    object.__setattr__(grant, "digest", digest(raw))
    object.__setattr__(grant, "approval_id", seal.approval_id)
    object.__setattr__(grant, "part", part)
    object.__setattr__(grant, "parts", len(parts))
    object.__setattr__(grant, "_unspent", threading.Lock())
    return grant
