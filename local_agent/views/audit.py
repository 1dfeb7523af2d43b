"""The audit log, as a person looks at it on the local page: where it stands, what it says."""

from __future__ import annotations

from dataclasses import dataclass

from local_agent.views.status import AuditStanding


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFact:
    """One fact of an entry, as text with nothing hidden in it."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One entry.

    Attributes:
        at: When, in milliseconds since the epoch; 0 where that cannot be read.
        event: What happened; empty where the entry cannot be read.
        tasks: Short ids of the tasks that its facts name, as far as the journal still has them.
        facts: Those that have a value.
        left: How many facts there are beyond these.
    """

    seq: int
    at: int
    event: str
    tasks: tuple[str, ...]
    facts: tuple[AuditFact, ...]
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditView:
    """One page of the audit log, the newest entry first.

    Attributes:
        before: Where the next page begins; None at the end.
    """

    standing: AuditStanding
    entries: tuple[AuditEntry, ...]
    before: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCheck:
    """What a check of every byte of the log came to.

    Attributes:
        entries: How many hold; 0 where it does not hold.
        signed_to: Number of the newest entry that the signed end covers; 0 for none.
        gateway_keeps: Number of our newest entry that a gateway has signed for; 0 for none.
        renewed: Number of the newest entry at which the log had no signature of this machine.
        broken_at: Number of the first entry that does not hold.
        what: What is wrong with it, one of `common.audit.Fault`.
    """

    ok: bool
    entries: int = 0
    signed_to: int = 0
    gateway_keeps: int = 0
    renewed: int | None = None
    broken_at: int | None = None
    what: str | None = None
