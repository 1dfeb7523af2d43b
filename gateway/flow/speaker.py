"""Fills the sentences of `replies` for one person at one moment, within WeCom's bounds.

Pure: the moment and the time zone come in, facts come in as whatever has the right names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Final, Protocol

from common.errors import CodexBridgeError
from common.model.state import Reason, TaskState
from common.redact import redact
from common.sentences import Lang, Sentence, explain, say
from common.text import CHAT_BYTES, clip_bytes, one_line, reveal
from gateway.flow import replies

_ASKED_BYTES: Final = 60  # of a task's own text, in a list
_MARKED: Final = frozenset({Reason.COMPLETED, Reason.FAILED})  # the words say what came of it
# WeCom draws ``<a href=…>`` in a text as a link that hides where it leads (page 90236).
_ANCHOR: Final = re.compile(r"<(?=\s*+/?+\s*+a\b)", re.IGNORECASE)


class Machine(Protocol):
    """What is told of a machine; times in milliseconds since the epoch."""

    @property
    def machine(self) -> str: ...  # the name
    @property
    def connected_at(self) -> int | None: ...  # None while it is away
    @property
    def last_seen_at(self) -> int | None: ...  # None before it ever came


class Told(Protocol):
    """What is told of a task; times in milliseconds since the epoch."""

    @property
    def short_id(self) -> str: ...  # its name for people
    @property
    def text(self) -> str: ...  # as it was asked
    @property
    def state(self) -> TaskState: ...  # of the ten
    @property
    def reason(self) -> Reason | None: ...  # None while it is open
    @property
    def message(self) -> str | None: ...  # the last words of its agent
    @property
    def seal_code(self) -> str | None: ...  # of what waits
    @property
    def waiting_until(self) -> int | None: ...  # for approval
    @property
    def expires_at(self) -> int: ...  # in the queue
    @property
    def updated_at(self) -> int: ...  # when it was last heard of


@dataclass(frozen=True, slots=True)
class Voice:
    """Speaks to one person at one moment.

    Attributes:
        lang: Their language.
        zone: The time zone of the hours that are named.
        now_ms: The moment, in milliseconds since the epoch.
    """

    lang: Lang
    zone: tzinfo
    now_ms: int

    def say(self, sentence: Sentence, **facts: object) -> str:
        """Return the sentence, within the size of one message."""
        return _bounded(say(sentence, self.lang, **facts))

    def hour(self, at_ms: int) -> str:
        """Return ``14:05``, with the day before it when that is another day."""
        then = datetime.fromtimestamp(at_ms / 1000, self.zone)
        today = datetime.fromtimestamp(self.now_ms / 1000, self.zone).date()
        hour = f"{then.hour:02}:{then.minute:02}"
        return hour if then.date() == today else f"{then.month:02}-{then.day:02} {hour}"

    def left(self, until_ms: int) -> str:
        """Return how long it is until then."""
        seconds = max(until_ms - self.now_ms, 0) // 1000
        hours, minutes = seconds // 3600, seconds // 60 % 60
        if hours:
            return say(replies.HOURS, self.lang, hours=hours, minutes=minutes)
        if minutes:
            return say(replies.MINUTES, self.lang, minutes=minutes)
        return say(replies.SECONDS, self.lang, seconds=seconds)

    def refusal(self, error: CodexBridgeError, *, prefix: str) -> str:
        """Say why a message leads to nothing."""
        told = CodexBridgeError(error.code, prefix=prefix, **error.facts)
        return _bounded(explain(told, replies.REFUSALS, self.lang))

    def accepted(self, task: Told, machine: Machine, *, prefix: str) -> str:
        """Say that a task was taken, what happens to it next, and how to take it back."""
        if machine.connected_at is not None:
            return self.say(replies.SENT, id=task.short_id, machine=machine.machine)
        facts = {"id": task.short_id, "machine": machine.machine, "prefix": prefix}
        facts |= {"until": self.hour(task.expires_at), "left": self.left(task.expires_at)}
        if machine.last_seen_at is None:
            return self.say(replies.QUEUED_FIRST, **facts)
        return self.say(replies.QUEUED, since=self.hour(machine.last_seen_at), **facts)

    def waiting(self, task: Told, machine: str, words: str, *, code: str, until_ms: int) -> str:
        """Say that a person must decide at the machine, on what its agent says, and until when."""
        head = say(replies.WAITING, self.lang, id=task.short_id, machine=machine, code=code)
        until, left = self.hour(until_ms), self.left(until_ms)
        facts = {"id": task.short_id, "until": until, "left": left}
        how = f"\n{say(replies.APPROVE_BY, self.lang, **facts)}"
        return with_words(head, words, room=CHAT_BYTES - len(how.encode())) + how

    def progress(self, task: Told, machine: str, message: str) -> str:
        """Pass on one line of a command that runs, or of a model at work."""
        line = one_line(redact(message))
        return self.say(replies.PROGRESS, id=task.short_id, machine=machine, message=line)

    def final(self, task: Told, machine: str, reason: Reason, summary: str) -> str:
        """Say how a task ended: a mark or the outcome, then the agent's own summary of it.

        The machine is named as this gateway knows it: where the end is of one line, in that line,
        else below, with where the rest can be read.
        """
        facts = {"id": task.short_id, "machine": machine}
        head = say(replies.FINAL[reason], self.lang, **facts)
        told = summary if (summary.strip() or reason not in _MARKED) else self._wordless(reason)
        if reason not in _MARKED:
            return with_words(head, told, by=self._blank())
        more = f"\n{say(replies.MORE, self.lang, **facts)}"
        text = with_words(head, told, by=" ", room=CHAT_BYTES - len(more.encode()))
        if "\n" not in text and reason is Reason.COMPLETED:
            return self.say(replies.ON_MACHINE, words=text, machine=machine)
        return text + more

    def unbound(self, task: Told, machine: str, summary: str) -> str:
        """Say that a machine stopped a task, which it may not do for this person any more."""
        head = self.say(replies.UNBOUND_CANCELLED, id=task.short_id, machine=machine)
        return with_words(head, summary, by=self._blank())

    def unsent(self, task: Told, machine: str, reason: Reason) -> str:
        """Say that a task ended without having reached its machine, as far as is known here."""
        until = self.hour(task.expires_at)
        return self.say(replies.UNSENT[reason], id=task.short_id, machine=machine, until=until)

    def orphaned(self, task: Told, machine: str) -> str:
        """Say that no word of a task can come any more."""
        return self.say(replies.REVOKED, id=task.short_id, machine=machine)

    def silent(self, task: Told, machine: str) -> str:
        """Say that a machine has not spoken of a task for too long."""
        since = self.hour(task.updated_at)
        return self.say(replies.SILENT, id=task.short_id, machine=machine, since=since)

    def over(self, task: Told, reason: Reason) -> str:
        """Say that nothing is left to be done about a task."""
        outcome = say(replies.OUTCOME[reason], self.lang)
        return self.say(replies.ALREADY_OVER, id=task.short_id, outcome=outcome)

    def machine_line(self, machine: Machine) -> str:
        """Say whether a machine is there."""
        if machine.connected_at is not None:
            return say(replies.ONLINE, self.lang, machine=machine.machine)
        if machine.last_seen_at is None:
            return say(replies.NEVER_ONLINE, self.lang, machine=machine.machine)
        since = self.hour(machine.last_seen_at)
        return say(replies.OFFLINE, self.lang, machine=machine.machine, since=since)

    def task_line(self, task: Told, *, stopping: bool = False, machine: str | None = None) -> str:
        """Say in one line where a task stands, and on which machine when that is not plain."""
        state = self._standing(task) + (say(replies.STOPPING, self.lang) if stopping else "")
        asked = one_line(redact(task.text), _ASKED_BYTES)
        facts = {"id": task.short_id, "state": state, "asked": asked}
        if machine is None:
            return say(replies.TASK_LINE, self.lang, **facts)
        return say(replies.TASK_LINE_ON, self.lang, machine=machine, **facts)

    def _wordless(self, reason: Reason) -> str:
        return say(replies.WORDLESS[reason], self.lang)

    def _blank(self) -> str:
        """Return what stands between two sentences."""
        return "" if self.lang == "zh" else " "

    def _standing(self, task: Told) -> str:
        if task.reason is not None:
            return say(replies.OUTCOME[task.reason], self.lang)
        if task.state is TaskState.WAITING_APPROVAL and task.waiting_until is not None:
            left = self.left(task.waiting_until)
            return say(replies.WAITING_STATE, self.lang, left=left, code=task.seal_code)
        if task.state is TaskState.RECEIVED:
            until, left = self.hour(task.expires_at), self.left(task.expires_at)
            return say(replies.QUEUED_STATE, self.lang, until=until, left=left)
        running = task.state is TaskState.EXECUTING
        return say(replies.RUNNING_STATE if running else replies.AT_WORK, self.lang)


def with_words(head: str, words: str, *, by: str = "\n", room: int = CHAT_BYTES) -> str:
    """Return our own sentence with an agent's words after it, in the size of one message.

    The words are redacted again (R54), and what hides in them is shown (R26).

    Args:
        head: Our own.
        words: The agent's.
        by: What stands between them.
        room: UTF-8 bytes of both together.
    """
    shown = _inert(reveal(redact(words)).strip())
    left = room - len((head + by).encode())
    return f"{head}{by}{clip_bytes(shown, left)}" if shown and left > 0 else head


def as_list(lines: Iterable[str]) -> str:
    """Return lines as one message; those that find no place are left out."""
    return _bounded("\n".join(lines))


def _bounded(text: str) -> str:
    return clip_bytes(_inert(text), CHAT_BYTES)


def _inert(text: str) -> str:
    """Return the text with nothing in it that WeCom would draw as anything but text (R73)."""
    return _ANCHOR.sub("\uff1c", text)
