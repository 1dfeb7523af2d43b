"""The tables of what leaves this machine: a commit and push, and an answer to the chat.

Neither can be called back.  A push is always high risk, and some are refused.  Releasing an answer
changes nothing on the machine and is of ordinary risk; its dialog says that what was told is told
for ever.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from common.errors import InputError
from common.seal import read_changes
from common.text import has_hidden
from local_agent.safety.risk import Circumstances, Finding, Row, Table, findings
from local_agent.safety.risk_changes import (
    CONTENT,
    GIT_FOLDER,
    OUTSIDE,
    TOO_MANY,
    UNSAFE_NAME,
    ChangeFacts,
    change_facts,
    is_secret_file,
)
from local_agent.safety.risk_commands import has_control
from local_agent.store.endings import ANSWER_BYTES
from local_agent.workspace.git.remote_url import read_url

_BRANCH: Final = re.compile(r"refs/heads/(?![-.])[^\s~^:?*\[\\\x00-\x20\x7f]+")
# In which order steps are taken, and what each is allowed to touch.
_EFFECTS: Final = {
    "check": "read-only",
    "add": "local-write",
    "commit": "local-write",
    "push": "remote-write",
}
_ORDERS: Final = {True: tuple(_EFFECTS), False: ("check", "push")}


@dataclass(frozen=True, slots=True)
class SyncFacts:
    """A sync as the table looks at it; ``commit`` is what is committed first, if anything."""

    payload: Mapping[str, Any]
    commit: ChangeFacts | None

    @property
    def url(self) -> str:
        """The exact address that is pushed to."""
        return str(self.payload["url"])

    @property
    def texts(self) -> Iterator[str]:
        """Everything that git, or a person, will read."""
        yield from (self.payload[name] for name in ("branch", "remote", "url", "ref"))
        if commit := self.payload["commit"]:
            yield from (commit[name] for name in ("message", "author", "email"))


def judge_sync(payload: Mapping[str, Any], around: Circumstances) -> list[Finding]:
    """Return what the tables say of a sealed sync, and of the files it commits."""
    commit = payload["commit"]
    facts = change_facts(read_changes(commit), around) if commit else None
    return [
        *findings(SYNC, SyncFacts(payload, facts)),
        *(findings(COMMITTED, facts) if facts else ()),
    ]


def _address_fault(url: str) -> str | None:
    try:
        read_url(url)
    except InputError as error:
        return str(error.facts.get("why", ""))
    except UnicodeEncodeError:
        return "characters"
    return None


def _scheme(url: str) -> str:
    return "" if _address_fault(url) is not None else read_url(url).scheme


def _is_bad_order(facts: SyncFacts) -> bool:
    steps = [(step["name"], step["effect"]) for step in facts.payload["steps"]]
    names = tuple(name for name, _ in steps)
    return names != _ORDERS[facts.commit is not None] or any(
        _EFFECTS[name] != effect for name, effect in steps
    )


def _is_bad_ref(payload: Mapping[str, Any]) -> bool:
    ref: str = payload["ref"]
    return (
        _BRANCH.fullmatch(ref) is None
        or ".." in ref
        or ref.endswith((".lock", "/", "."))
        or payload["branch"].startswith("-")
    )


def _is_unread(facts: ChangeFacts) -> bool:
    """Tell whether any file is committed that the diff does not show."""
    shown = {file.path for file in facts.diff.files} if facts.diff else set()
    return any(one.path not in shown for one in facts.changes)


SYNC: Final[Table[SyncFacts]] = (
    Row("refused", "control-character", lambda f: any(map(has_control, f.texts))),
    Row("refused", "unsafe-address", lambda f: _address_fault(f.url) not in (None, "password")),
    Row("refused", "password-in-address", lambda f: _address_fault(f.url) == "password"),
    Row("refused", "unsafe-branch", lambda f: _is_bad_ref(f.payload)),
    Row("refused", "unknown-steps", _is_bad_order),
    Row("high", "publishes", lambda _: True),
    Row("high", "network", lambda f: _scheme(f.url) != "file"),
    Row("high", "unprotected-address", lambda f: _scheme(f.url) == "http"),
    Row("high", "new-branch", lambda f: f.payload["remote_oid"] is None),
    Row("high", "hidden-text", lambda f: any(map(has_hidden, f.texts))),
)
# The files are there already under their names, and it is the person who has them so.
COMMITTED: Final[Table[ChangeFacts]] = (
    GIT_FOLDER,
    OUTSIDE,
    TOO_MANY,
    Row("high", "unsafe-name", UNSAFE_NAME.holds),
    Row("high", "unread-content", _is_unread),
    *CONTENT,
)


def judge_disclosure(payload: Mapping[str, Any], _around: Circumstances) -> list[Finding]:
    """Return what the table says of a sealed release."""
    return findings(DISCLOSURE, payload)


def _rests_on_secret(payload: Mapping[str, Any]) -> bool:
    return any(is_secret_file(file["path"]) for file in payload["files"])


DISCLOSURE: Final[Table[Mapping[str, Any]]] = (
    Row("refused", "answer-too-large", lambda payload: payload["bytes"] > ANSWER_BYTES),
    Row("high", "secret-file", _rests_on_secret),
)
