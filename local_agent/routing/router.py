"""From a request to a `TaskIntent`: the grammar first, then the table of words (seed 002 §4).

Deterministic and pure but for its settings.  A classification decides what is proposed; it can
execute nothing and approve nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Final

from common import dsl
from common.model.intent import IntentParams, TaskIntent, TaskKind
from common.text import has_cjk, one_line
from local_agent.routing import params, rules, wishes
from local_agent.routing.deciding import decide
from local_agent.routing.routed import THRESHOLD, Routed, Topic
from local_agent.routing.rules import Form

_SUMMARY_BYTES: Final = 120
_READ_CHARS: Final = 2000  # what a text wishes stands at its beginning; a pasted log follows
_TEXTS: Final = frozenset(spec.name for spec in dsl.COMMANDS if spec.takes == "text")
# The word that opens the text is its subject: "patch and plan, how do they differ".
_TALKED_OF: Final = re.compile(
    r"(?:and|or|is|was|are|vs|does|doesn't|fails?|failed|returns?|keeps|command|命令|和|跟|与|是)"
    r"(?![\w-])|(?:和|跟|与|是|这|命令|功能)",
    re.IGNORECASE,
)
_TESTS: Final = re.compile(r"\s*(?:test|测试)\s+", re.IGNORECASE)
_VERB_ZH: Final = {"search": "搜索", "review": "审查"}
_NO_WISH: Final = (Form.ASKS, Form.FORBIDS, Form.APPROVES)
# What follows a word may say that none of it is wished; a plan may well answer a question.
_UNWISHED: Final = {"patch": _NO_WISH, "plan": (Form.FORBIDS, Form.APPROVES)}
_ABOUT: Final = {
    TaskKind.EXPLAIN: "question",
    TaskKind.CHANGE: "change_request",
    TaskKind.DIAGNOSE: "change_request",
    TaskKind.SEARCH: "query",
}
# Whoever can explain, change and diagnose takes all of it up at once.
_IN_WORDS: Final = frozenset({TaskKind.EXPLAIN, TaskKind.CHANGE, TaskKind.DIAGNOSE})


# The status tells it; to the rules a branch is a set of changes.
_ASKS_BRANCH: Final = re.compile(
    r"\s*(?:(?:what|which)(?:'s| is)?|tell me|show(?: me)?)\s+(?:(?:the|my|our)\s+)?"
    r"(?:(?:current|git|checked[ -]out)\s+){0,2}branch"
    r"(?:\s+(?:am i|are we|is it|is this)(?:\s+(?:on|in))?|\s+is checked out)?"
    r"(?:\s+(?:now|here))?\s*[?.!]*\s*"
    r"|\s*(?:我|现在|目前|当前)*(?:在|是)?(?:哪个|什么|哪一个)分支(?:上)?\s*[？?。]*\s*"
    r"|\s*(?:现在|目前|当前)(?:的)?分支(?:是|叫)?(?:什么|哪个|哪一个)\s*[？?。]*\s*",
    re.IGNORECASE,
)


# To the rules "since the last" tells of a failure, and what follows is the wish to commit.
_ASKS_SINCE: Final = re.compile(
    r"\s*(?:what|which)\b(?:(?!\band\b|[,;.]).){0,60}\b(?:since|after)\s+(?:(?:the|my|our)\s+)?"
    r"(?:last|latest|previous)\s+commit\s*[?.!]*\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Router:
    """Reads requests.

    Attributes:
        threshold: Confidence below which only explain or change with a plan may follow.
        prefix: The word that addresses the bot.
        free_text: False leaves only the commands (setting ``nl.enable``).
    """

    threshold: float = THRESHOLD
    prefix: str = dsl.PREFIX
    free_text: bool = True

    def route(self, text: str) -> Routed:
        """Read one request, with or without the prefix."""
        said = dsl.parse(text, prefix=self.prefix)
        if isinstance(said, dsl.NotAddressed):
            said = dsl.parse(f"{self.prefix} {text}", prefix=self.prefix)
        if isinstance(said, dsl.Directed):
            # The gateway sends a machine its own part alone: this names another, or came from here.
            return _answer(TaskKind.HELP, Topic.MACHINES, said.text)
        if isinstance(said, dsl.Command):
            return self._of_command(said)
        return self._of_text(said.text if isinstance(said, dsl.FreeText) else text)

    def _of_command(self, said: dsl.Command) -> Routed:
        if said.name == "sync":
            return self._of_sync(said)
        if self.free_text and _TALKED_OF.match(said.args) and said.name in _TEXTS:
            return self._of_text(f"{said.name} {said.args}")
        if said.name in ("search", "review") and said.args and self.free_text:
            # "search is broken" and "review why it fails" begin with the word, and wish no such.
            verb = _VERB_ZH[said.name] if has_cjk(said.args[0]) else f"{said.name} "
            guess = rules.guess_kind(f"{verb}{said.args}"[:_READ_CHARS])
            if guess.kind is TaskKind.DIAGNOSE or guess.form in (Form.ASKS, Form.FORBIDS):
                return self._of_text(f"{verb}{said.args}")
        if said.name == "patch" and _asks(said.args):
            return self._of_text(said.args)
        if said.name in _UNWISHED and _forms(said.args) in _UNWISHED[said.name]:
            return self._of_text(said.args)
        return _of_command(said)

    def _of_sync(self, said: dsl.Command) -> Routed:
        """Read what follows "sync": a commit message, unless it asks, forbids or says where to."""
        whole = f"推送{said.args}" if has_cjk(said.args) else f"sync {said.args}"
        if said.args and rules.is_no_wish(said.args):
            return self._of_text(said.args)
        if said.args and _forms(said.args) in (Form.FORBIDS, Form.APPROVES):
            return self._of_text(said.args)
        wished = rules.guess_kind(whole[:_READ_CHARS]).kind is TaskKind.GIT_SYNC
        is_message = params.starts_message(said.args) or params.mask_quoted(said.args)[:1] == "\0"
        if said.args and wished and self.free_text and not is_message:
            return self._of_text(whole)
        return Routed(_certain(TaskKind.GIT_SYNC, whole), Topic.SYNC, subject=said.args)

    def _of_text(self, text: str) -> Routed:
        if not text.strip():
            return _answer(TaskKind.HELP, Topic.EMPTY, text)
        named = _TESTS.match(text)
        if named and _forms(text[named.end() :]) in _UNWISHED["plan"]:
            text = text[named.end() :]  # "test don't deploy it": nothing of it is a test
        if self.free_text and (asked := _asks_of_git(text)) is not None:
            return asked
        guess = decide(text[:_READ_CHARS])
        if guess.form is Form.APPROVES or guess.rule == "asks-how-to-approve":
            topic = Topic.REJECT if guess.rule == "rejects" else Topic.APPROVE
            return replace(_answer(TaskKind.HELP, topic, text), rule=guess.rule)
        if not self.free_text:
            return _answer(TaskKind.HELP, Topic.FREE_TEXT_OFF, text)
        if guess.confidence < self.threshold:
            intent = _intent(_safe(guess.kind), guess, text)
            return Routed(intent, unsure=True, subject=text, rule=guess.rule)
        guess, left = _first_wish(guess)
        intent = _intent(guess.kind, guess, text)
        taken = _joined(guess) if left else ""
        topic = _topic(guess)
        routed = Routed(intent, topic, subject=text, taken=taken, left=left, rule=guess.rule)
        if guess.kind is not TaskKind.RUN or guess.command is not None:
            return routed
        if intent.params.cmd is not None:
            return replace(routed, reads_on=bool(wishes.split_wish(guess.rest)[1]))
        if not rules.wants_tests(taken or text):
            return routed
        return replace(routed, topic=Topic.TEST, beyond=wishes.beyond_tests(guess.rest))


def _asks_of_git(text: str) -> Routed | None:
    """Return a question for the branch, or for the changes since the last commit, as that."""
    begun = text[:_READ_CHARS]
    if _ASKS_BRANCH.fullmatch(begun):
        return replace(_answer(TaskKind.STATUS, Topic.PLAIN, text), rule="asks-branch")
    if _ASKS_SINCE.fullmatch(begun):
        return replace(_answer(TaskKind.REVIEW, Topic.PLAIN, text), rule="asks-since")
    return None


def _topic(guess: rules.Guess) -> Topic:
    """Return what else has to be answered: a sync commits and pushes, and does neither alone."""
    if guess.kind is not TaskKind.GIT_SYNC:
        return Topic.PLAIN
    if guess.rule == "pulls":
        return Topic.PULL
    return Topic.PLAIN if guess.sends else Topic.COMMIT


def _first_wish(guess: rules.Guess) -> tuple[rules.Guess, str]:
    """Return the guess about the first wish alone, and the words of another one if there is."""
    if guess.command is not None or (
        rules.starts_command(guess.lead) and params.is_command(guess.rest)
    ):
        return guess, ""  # where it ends only its writer knows
    if guess.kind is TaskKind.GIT_SYNC and params.starts_message(guess.rest):
        return guess, ""  # so it is with a commit message that is not quoted
    head, left = (guess.rest, "") if guess.single else wishes.split_wish(guess.rest)
    if not left:
        return guess, ""
    first = guess._replace(rest=head)
    if guess.lead is None and (not head or rules.guess_kind(head).kind is not guess.kind):
        return guess, ""  # the wish that decided is not the first one
    if guess.kind in _IN_WORDS and rules.guess_kind(left).kind in _IN_WORDS:
        return guess, ""
    if rules.wants_tests(left) and guess.kind is TaskKind.RUN:
        # "run the build and test": of the two, the tests are what is known how to run.
        return (first, left) if rules.wants_tests(_joined(first)) else (guess, "")
    return first, left


def _joined(guess: rules.Guess) -> str:
    lead, rest = guess.lead or "", guess.rest
    between = " " if lead and rest and (lead.isascii() or rest[0].isascii()) else ""
    return f"{lead}{between}{rest}"


def _asks(text: str) -> bool:
    """Tell whether a text asks for an answer: "patch can you explain why …"."""
    guess = rules.guess_kind(text[:_READ_CHARS])
    return guess.rule.startswith("asks-") and guess.kind not in rules.ACTS


def _forms(text: str) -> Form:
    return rules.guess_kind(text[:_READ_CHARS]).form


def _of_command(said: dsl.Command) -> Routed:
    if said.name in ("help", "status"):
        kind = TaskKind(said.name)
        return Routed(_certain(kind, said.name), subject=said.args, task_id=said.task_id)
    if said.name in ("machines", "use", "on"):
        return _answer(TaskKind.HELP, Topic.MACHINES, said.args)
    if said.name in ("apply", "cancel"):
        found = _answer(TaskKind.HELP, Topic(said.name), said.args)
        return Routed(found.intent, found.topic, subject=said.args, task_id=said.task_id)
    if said.name == "undo":
        undo = _certain(TaskKind.CHANGE, f"undo {said.task_id or said.args}")
        return Routed(undo, Topic.UNDO, subject=said.args, task_id=said.task_id)
    if said.name == "revise":
        return _of_revise(said)
    if said.name == "test":
        topic = Topic.BAD_OPTION if said.args else Topic.TEST
        found_cmd = IntentParams(cmd=said.options.get("cmd"))
        return Routed(_certain(TaskKind.RUN, "test", found_cmd), topic, subject=said.args)
    if said.name in ("search", "review"):
        return _of_reading(said)
    topic = Topic.PLAN if said.name == "plan" else Topic.PATCH
    wanted = IntentParams(
        change_request=said.args or None, files=params.find_files(said.args[:_READ_CHARS]) or None
    )
    return Routed(
        _certain(TaskKind.CHANGE, f"{said.name} {said.args}", wanted), topic, subject=said.args
    )


def _of_revise(said: dsl.Command) -> Routed:
    """Read what is wished of a proposal's next version; without an ID nothing can be."""
    if said.task_id is None:
        return _answer(TaskKind.HELP, Topic.REVISE, said.args)
    wanted = IntentParams(
        change_request=said.args or None, files=params.find_files(said.args[:_READ_CHARS]) or None
    )
    revised = _certain(TaskKind.CHANGE, f"revise {said.task_id} {said.args}", wanted)
    return Routed(revised, Topic.REVISE, subject=said.args, task_id=said.task_id)


def _of_reading(said: dsl.Command) -> Routed:
    head, left = wishes.split_wish(said.args[:_READ_CHARS])
    is_search = said.name == "search"
    found = IntentParams(
        query=params.find_query(head) if is_search else None,
        files=None if is_search else params.find_files(said.args[:_READ_CHARS]) or None,
    )
    return Routed(
        _certain(TaskKind(said.name), f"{said.name} {said.args}", found),
        subject=said.args,
        taken=f"{said.name} {head}".strip() if left else "",
        left=left,
    )


def _answer(kind: TaskKind, topic: Topic, text: str) -> Routed:
    return Routed(_certain(kind, text), topic, subject=text)


def _certain(kind: TaskKind, summary: str, found: IntentParams | None = None) -> TaskIntent:
    return TaskIntent(
        kind=kind,
        confidence=1.0,
        summary=one_line(summary, _SUMMARY_BYTES),
        params=found or IntentParams(),
    )


def _intent(kind: TaskKind, guess: rules.Guess, text: str) -> TaskIntent:
    found: dict[str, Any] = {"cmd": guess.command}
    if kind is TaskKind.RUN and rules.starts_command(guess.lead):
        found["cmd"] = params.find_command(guess.rest)
    elif name := _ABOUT.get(kind):
        found[name] = params.find_query(guess.rest) if kind is TaskKind.SEARCH else text
    if files := params.find_files(text[:_READ_CHARS]):
        found["files"] = files
    return TaskIntent(
        kind=kind,
        confidence=guess.confidence,
        summary=one_line(text, _SUMMARY_BYTES),
        params=IntentParams(**found),
    )


def _safe(kind: TaskKind) -> TaskKind:
    return TaskKind.CHANGE if kind is TaskKind.CHANGE else TaskKind.EXPLAIN
