"""How policies and disclosure stand, in words: for ``status`` and ``workspace list`` alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from common.text import one_line
from local_agent.cli import disclosure_words, status_words
from local_agent.cli.screen import Screen


def policy_told(policy: Mapping[str, Any], screen: Screen) -> str:
    """Return how the policy of a workspace stands; empty where it has none."""
    if policy["state"] == "broken":
        where = [one_line(policy[part], 400) for part in ("file", "key") if policy[part]]
        told = screen.say(status_words.POLICY_BROKEN, where=", ".join(where))
        return screen.ink("red", told)
    return screen.say(status_words.POLICY_IN_FORCE) if policy["state"] == "in-force" else ""


def disclosure_told(level: str, screen: Screen) -> str:
    """Return what the chat may be told of a workspace, in a few words."""
    known = disclosure_words.LEVELS.get(level)
    shown = screen.say(known) if known else one_line(level, 32)
    told = screen.say(status_words.DISCLOSED, level=shown)
    return screen.ink("red", told) if level == "full" else told


def strays_told(files: Sequence[str], screen: Screen) -> list[str]:
    """Return that these policy files belong to no workspace, so that nothing reads them."""
    return [screen.say(status_words.POLICY_STRAY, file=one_line(file, 400)) for file in files]
