"""The table of the person's own policy; it is asked last and can only add to what was found (R3).

By its form it cannot make anything milder: a row refuses or raises, and no row takes away.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from typing import Any, Final

from common.seal import SealedChange, read_changes
from local_agent.safety.action_facts import Known, Reaches
from local_agent.safety.policy import Policy
from local_agent.safety.risk import Circumstances, Finding, Row, Table, findings
from local_agent.safety.risk_commands import CommandFacts, command_facts


@dataclass(frozen=True, slots=True)
class PolicyFacts:
    """An action beside the policy.

    Attributes:
        command: What is run, if it is a command.
        changes: What is changed or committed, if anything.
    """

    action: str
    reaches: Reaches
    policy: Policy
    command: CommandFacts | None
    changes: tuple[SealedChange, ...]

    def touches(self, patterns: Sequence[str]) -> bool:
        """Tell whether any file of the action, or a folder it lies in, falls under a pattern.

        Case and forms of characters do not matter, and ``*`` crosses folders: too much is refused
        rather than too little.
        """
        return self.first_of(patterns) is not None

    def first_of(self, patterns: Sequence[str]) -> str | None:
        """Return the first path of the action, in its own order, that falls under a pattern."""
        if not patterns:
            return None
        matches = _pattern(patterns).fullmatch
        names = (name for one in self.changes for name in (one.path, one.old_path) if name)
        return next((name for name in names if any(map(matches, _ways(name)))), None)

    def mentions_program(self) -> bool:
        """Tell whether a command names a program that the policy refuses."""
        return self.command is not None and self.command.mentions(self.policy.refuse_programs)

    def is_open(self) -> bool:
        """Tell whether it can reach the network; without a sandbox nothing keeps it off."""
        if self.command is None:
            return self.reaches == "remote"
        return self.command.network or self.command.sandbox == "none"


def judge_policy(
    action: str, reaches: Reaches, payload: Mapping[str, Any], around: Circumstances
) -> list[Finding]:
    """Return what the policy of the workspace says of a sealed action."""
    command = command_facts(payload, around) if reaches == "processes" else None
    facts = PolicyFacts(action, reaches, around.policy, command, _changes(reaches, payload))
    return findings(POLICY, facts)


def kept_path(
    action: str, payload: Mapping[str, Any], policy: Policy, *, known: Known
) -> str | None:
    """Return the first file of a sealed action that the policy keeps as it is, if any."""
    parts = known[action].parts
    if parts is not None:
        found = (kept_path(one.action, one.payload, policy, known=known) for one in parts(payload))
        return next(filter(None, found), None)
    reaches = known[action].reaches
    facts = PolicyFacts(action, reaches, policy, None, _changes(reaches, payload))
    return facts.first_of(policy.refuse_paths)


def _changes(reaches: Reaches, payload: Mapping[str, Any]) -> tuple[SealedChange, ...]:
    if reaches == "remote":
        return read_changes(payload["commit"]) if payload["commit"] else ()
    return read_changes(payload) if reaches == "files" else ()


def _pattern(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(translate(_folded(pattern).rstrip("/")) for pattern in patterns))


def _ways(path: str) -> Iterator[str]:
    """Give each part, and the path of each folder on the way."""
    parts = _folded(path).split("/")
    yield from parts
    yield from ("/".join(parts[: end + 1]) for end in range(1, len(parts)))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _is_loose(facts: PolicyFacts) -> bool:
    return facts.command is not None and facts.command.sandbox == "none"


def _is_shell(facts: PolicyFacts) -> bool:
    return facts.command is not None and facts.command.is_shell


def _has_too_many(facts: PolicyFacts) -> bool:
    most = facts.policy.max_files
    return most is not None and len(facts.changes) > most


POLICY: Final[Table[PolicyFacts]] = (
    Row("refused", "policy-action", lambda f: f.action in f.policy.refuse_actions),
    Row("refused", "policy-path", lambda f: f.touches(f.policy.refuse_paths)),
    Row("refused", "policy-program", PolicyFacts.mentions_program),
    Row("refused", "policy-sandbox", lambda f: f.policy.refuse_unsandboxed and _is_loose(f)),
    Row("refused", "policy-network", lambda f: f.policy.refuse_network and f.is_open()),
    Row("refused", "policy-shell", lambda f: f.policy.refuse_shell and _is_shell(f)),
    Row("refused", "policy-files", _has_too_many),
    Row("high", "policy-high-path", lambda f: f.touches(f.policy.ask_high_paths)),
    Row("high", "policy-typed", lambda f: f.policy.require_typed),
)
