"""From a request to a `TaskIntent`: grammar, named command, then what was learnt (seed 002 §4).

Deterministic and pure but for its settings and the file of weights.  A classification decides what
is proposed; it can execute nothing and approve nothing.
"""

from __future__ import annotations

import mmap
import re
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from common import dsl
from common.model.intent import IntentParams, TaskIntent, TaskKind
from common.text import has_cjk, one_line
from common.verbs import BY_NAME, Topic
from local_agent.understand import commands, goals, guards, params, triggers, wishes
from local_agent.understand.classifier import Classifier, unpacked
from local_agent.understand.features import features
from local_agent.understand.folding import READ_CHARS, blot, fold, seen
from local_agent.understand.reading import ACTS, DEEDS, MEANS, THRESHOLD, Kind, Reading

MODEL: Final = Path(__file__).with_name("model.bin")
DEED: Final = 0.99  # how likely all deeds together must be before one is taken up
ASKED: Final = 0.6  # how likely it is to ask for a deed before that none was done is said
PLANNED: Final = 0.56  # how likely a change must be before it is answered with a plan
BARRED: Final = 0.1  # how likely the rest must be before a barred deed is read as something else
_SUMMARY_BYTES: Final = 120
_NAMED_CHARS: Final = 20_000  # R26: no command is longer
_GUARDED_HEAD, _GUARDED_TAIL = 4000, 1000  # what lies between was pasted
# So many before the first word say nothing, and each guard would go through all of them.
_MARKS: Final = re.compile(r"[\x01\x02\s,.:;!?@/*#()>-]{100,}")
_VERB_ZH: Final = {
    "search": "搜索",
    "review": "审查",
    "sync": "推送",
    "plan": "计划",
    "patch": "修改",
}
_REJECTS: Final = re.compile(
    r"\b(?:reject|decline|deny|no|nope|refuse)\b|拒绝|驳回|不同意|否决|不批|不行"
)
_SENDS: Final = re.compile(
    r"push(?!\w)|\bpush\w*|\bsync|remote|origin|upstream|github|gitlab|\bup\b|\bsend|\bship|\bpublish"
    r"|推(?!荐)|同步|上去|远端|远程|上传|送上|发上"
)
_ID: Final = re.compile(r"(?<![\w-])T-[0-9A-Z]{4,5}(?![\w-])", re.ASCII | re.IGNORECASE)
_GIT: Final = re.compile(r"\s*git\s", re.IGNORECASE)
_ONLY_PUSH: Final = re.compile(r"git (?:push|commit)")
_NO_PUSH: Final = re.compile(
    r"(?:don't|dont|do not|not|without|no|never)\s{0,3}(?:\w+\s)?push\w*"
    r"|(?:别|不要?|先不|不用|无需)\s{0,3}(?:急着)?推送?"
)
# Git that is not offered: where it opens a text, anywhere, and where nothing is committed or sent.
_PULLS: Final = re.compile(
    r"^(?:git |first |先|再)?(?:(?:pull|fetch|merge|rebase|cherry[- ]?pick|check ?out|switch|stash"
    r"|squash|tag|fork|clone|reset|prune|update (?:my|the|to)|get (?:the )?(?:latest|newest))\b"
    r"|(?:(?:re)?open|close|approve|assign|review|request|ask|delete|remove|drop|create|make|raise"
    r"|start|cut)\b.{0,40}\b(?:branch|prs?|mr|(?:pull|merge) request|tag|release|review\w*)\b"
    r"|(?:publish|release)\b.{0,20}\b(?:release|version|package)\b"
    r"|拉(?!通)|合(?!规|同|适|计|并?(?:之后|后|完|好|过|的|冲突|结果))|变基|切(?!图|片)|暂存一?下|更新到"
    r"|(?:新?建|创建|开|提|打|关|删)[^,]{0,12}(?:分支|\b(?:pr|mr|tag)\b|(?:合并|拉取)请求|标签)"
    r"|(?:推|发起?)个?[^,.]{0,4}(?:\b(?:pr|mr)\b|(?:合并|拉取)请求))"
    r"|\bnew branch\b|新的?分支|新建.{0,6}分支|从.{1,12}同步|同步.{0,12}(?:下来|过来|到本地)"
    r"|(?:merge|合并?|rebase)\s?[到进]|\bpush (?:--|the |all |my |a )?tags?\b|推.{0,4}(?:标签|tag)"
)
_COMMITS: Final = re.compile(
    r"\b(?:commit|push|publish|send|sync|ship|upload)|提交|推(?!荐)|上传|送|发布|同步"
)
_KEEPS: Final = re.compile(r"\b(?:commit|check|save|stage|store|hand)|提交|[保存入]")
_GIT_WORDS: Final = re.compile(
    r"\b(?:pull|fetch|merge|rebase|branch|prs?|mr|tag|stash|squash|fork|cherry[- ]?pick)\b"
    r"|[拉合切]|变基|分支|标签|压成"
)
# No run of the tests or of a build is meant, whatever else is named: "restart the test server".
_OPERATES: Final = re.compile(
    r"(?:deploy|restart|reboot|roll|scale|publish|ship|promote|release|shut)\b"
    r"|(?!测试?(?![环服库机集])|.*(?:跑|运行|执行|构建|编译|打包))"
    r".*(?:部署|重启|上线|发布|回滚|扩容|缩容|灰度|下线)(?!之?前|[后完时])"
)
# What only asks why something fails is answered; nothing is changed for it.
_ASKS_WHY: Final = re.compile(
    r"\bwhy\b|\bhow come\b|\bwhat(?:'s| is| went| could| can)\b|\?\s*$"
    r"|为什么|为啥|怎么|咋|什么|哪|吗\W*$"
)
_MENDS: Final = re.compile(
    r"\bfix(?!ed)|\brepair|\bsolve|解决|处理|搞定"
    r"|修(?!改?[了完过后]|改之后)|(?<!修)改(?![了动完过后]|之后)"
)
_BEGS: Final = re.compile(r"(?i)\byou\b|please|帮|麻烦|请")
_LOOKS: Final = re.compile("[a-z看瞧查认,，;；]|告诉|汇报|结果|输出")
_ABOUT: Final = {
    TaskKind.EXPLAIN: "question",
    TaskKind.CHANGE: "change_request",
    TaskKind.DIAGNOSE: "change_request",
    TaskKind.SEARCH: "query",
}
# Whoever can explain, change and diagnose takes all of it up at once.
_IN_WORDS: Final = frozenset({Kind.EXPLAIN, Kind.CHANGE, Kind.DIAGNOSE, Kind.OUTPUT})
# Where these are surely meant by what follows it, the word that opens a text is its subject.
_SPEAKS_OF: Final = {
    "plan": frozenset({Kind.HELP}),
    "patch": frozenset({Kind.HELP, Kind.EXPLAIN}),
}
# A command beside these is spoken of: "run `npm test` fails with EPERM".
_TELLS: Final = frozenset({Kind.DIAGNOSE, Kind.OUTPUT, Kind.EXPLAIN, Kind.HELP, Kind.APPROVE})


class Guess(NamedTuple):
    """What the words speak for.

    Attributes:
        kind: The likeliest that no guard bars; the likeliest of all where that is all but sure.
        likelihood: Of that kind, among those that are not barred.
        sure: It may be taken up.
        likeliest: The three that are likeliest, likeliest first, for a question back.
        rule: The guard that barred a deed, else ``words``.
        barred: The deeds that guards bar.
        acts: How likely any deed is that is not barred.
    """

    kind: Kind
    likelihood: float
    sure: bool
    likeliest: tuple[Kind, ...]
    rule: str
    barred: frozenset[Kind]
    acts: float = 0.0


def guess(text: str, threshold: float = THRESHOLD) -> Guess:
    """Guess what a free text asks for; a deed only where it is likely and no guard bars it."""
    folded = blot(fold(seen(text)))
    likelihoods = learnt().likelihoods(features(folded))
    shares = dict(zip(learnt().kinds, likelihoods, strict=True))
    rows = guards.fitting(_ends(folded))
    barred = frozenset[Kind]().union(*(row.bars for row in rows))
    ranked = sorted(shares, key=lambda kind: -shares[kind])
    free = [kind for kind in ranked if kind not in barred]
    rest = sum(shares[kind] for kind in free)
    likelihood = shares[free[0]] / rest
    is_deed = free[0] in ACTS
    acts = sum(shares[kind] for kind in ACTS - barred)
    if ranked[0] not in barred:
        sure = likelihood >= threshold and (not is_deed or acts >= DEED)
        return Guess(free[0], likelihood, sure, tuple(free[:3]), "words", barred, acts)
    name = next(row.name for row in rows if ranked[0] in row.bars)
    if rest < BARRED:  # nothing else is likely either: ask
        return Guess(ranked[0], shares[ranked[0]], False, tuple(ranked[:3]), name, barred)
    sure = likelihood >= threshold and not is_deed
    return Guess(free[0], likelihood, sure, tuple(free[:3]), name, barred)


def _ends(folded: str) -> str:
    if marks := _MARKS.match(folded):
        folded = folded[marks.end() - 100 :]
    if len(folded) <= _GUARDED_HEAD + _GUARDED_TAIL:
        return folded
    return f"{folded[:_GUARDED_HEAD]}\n{folded[-_GUARDED_TAIL:]}"


@cache
def learnt() -> Classifier:
    """Map the file of weights: what is never looked up is never loaded.

    Raises:
        OSError: it is not there.
        ValueError: it is not what was written.
    """
    with MODEL.open("rb") as file:
        return unpacked(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))


def load() -> None:
    """Load what is looked up, so that the first request does not wait for it."""
    guess("")


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads requests.

    Attributes:
        threshold: Likelihood below which only explain or change with a plan may follow.
        prefix: The word that addresses the bot.
        free_text: False leaves only the commands (setting ``nl.enable``).
    """

    threshold: float = THRESHOLD
    prefix: str = dsl.PREFIX
    free_text: bool = True

    def read(self, text: str, playbooks: triggers.Triggers = triggers.NONE) -> Reading:
        """Read one request, with or without the prefix.

        Args:
            text: The request.
            playbooks: Those there are now, by name and by the phrases that ask for them.
        """
        said = dsl.parse(text, prefix=self.prefix)
        if isinstance(said, dsl.NotAddressed):
            said = dsl.parse(f"{self.prefix} {text}", prefix=self.prefix)
        if isinstance(said, dsl.Directed):
            # The gateway sends a machine its own part alone: this names another, or came from here.
            return _answer(TaskKind.HELP, Topic.GATEWAY, said.text)
        if isinstance(said, dsl.Command):
            return self._of_command(said, playbooks, text)
        return self._of_text(said.text if isinstance(said, dsl.FreeText) else text, playbooks)

    def _of_command(self, said: dsl.Command, playbooks: triggers.Triggers, text: str) -> Reading:
        if said.name == "playbook":
            return self._of_playbook(said, playbooks)
        if said.name in _VERB_ZH and said.args and self.free_text:
            verb = _VERB_ZH[said.name] if has_cjk(said.args[0]) else f"{said.name} "
            whole = f"{verb}{said.args}"
            if self._is_talked_of(said, whole):
                return self._of_text(whole)
            if said.name == "sync" and commands.names_object(said.args):
                return _unsure(guess(whole, self.threshold), whole)
        read = _of_command(said)
        # What stands in the place of an ID may say which: "the last change".
        is_bare = read.topic is Topic.UNDO and read.task_id is None
        return replace(read, subject=text) if is_bare else read

    def _of_playbook(self, said: dsl.Command, playbooks: triggers.Triggers) -> Reading:
        """Read ``playbook NAME words``; where that only speaks of playbooks, as free text."""
        name, words = triggers.find_named(said.args, playbooks)
        if said.args and name not in playbooks.names and self.free_text:
            whole = f"{'剧本' if has_cjk(said.args[0]) else 'playbook '}{said.args}"
            near = get_close_matches(name, playbooks.names, 1)
            found = guess(whole)
            told = found.sure and found.kind not in DEEDS
            if not (near or triggers.is_list(said.args)) and (
                not name or (words and (told or commands.is_talked_of(said.args)))
            ):
                return self._of_text(whole)
        intent = _certain(TaskKind.PLAYBOOK, f"playbook {name} {words}".strip())
        return Reading(intent, Topic.PLAYBOOK, subject=f"{name} {words}".strip())

    def _is_talked_of(self, said: dsl.Command, whole: str) -> bool:
        """Tell whether the word that opens a text is its subject: "search is broken"."""
        if said.name == "sync" and commands.gives_message(f"sync{said.args}", quoted=True):
            return False
        if commands.is_talked_of(said.args):
            return True
        if kinds := _SPEAKS_OF.get(said.name):
            found = guess(said.args)
            return found.sure and found.kind in kinds
        found = guess(whole)
        meant = MEANS[found.kind][0]
        if said.name == "sync" and meant is TaskKind.GIT_SYNC:
            rest = said.args
            return found.sure and (commands.names_where(rest) or commands.names_object(rest))
        own = BY_NAME[said.name].kind
        return found.sure and meant is not own and found.kind not in DEEDS

    def _of_text(self, text: str, playbooks: triggers.Triggers = triggers.NONE) -> Reading:
        if not text.strip():
            return _answer(TaskKind.HELP, Topic.EMPTY, text)
        # A playbook may be called what is one letter from a verb.
        wanted = triggers.find_wanted(text, playbooks, partial(guess, threshold=self.threshold))
        if wanted is None and dsl.mistyped(text[:READ_CHARS]):
            return _answer(TaskKind.HELP, Topic.MISTYPED, text)
        found = self._guess(text)
        if found.kind is Kind.APPROVE and (found.sure or not self.free_text):
            topic = Topic.REJECT if _REJECTS.search(text.casefold()) else Topic.APPROVE
            return replace(_answer(TaskKind.HELP, topic, text), rule=found.rule)
        if not self.free_text:
            return _answer(TaskKind.HELP, Topic.FREE_TEXT_OFF, text)
        return self._of_plain(text, found, wanted)

    def _guess(self, text: str) -> Guess:
        """Guess, and once more without what is only polite or says what to look at afterwards."""
        found = guess(text, self.threshold)
        bare = wishes.without_polite(text)
        run = commands.before_report(bare)
        if (found.sure and found.kind in ACTS) or (not run and bare in ("", text)):
            return found
        plain = guess(run or bare.rstrip(" ?？"), self.threshold)
        if run:
            looks = _LOOKS.search(bare, len(run)) is not None
            taken = looks and plain.kind is Kind.RUN and commands.wants_tests(run)
        elif found.kind in DEEDS and not found.sure:
            taken = plain.kind is found.kind
        else:  # what is not offered is refused, however politely it is asked for
            begs = _BEGS.search(text, 0, len(text) - len(bare)) is not None
            taken = begs and plain.kind is not Kind.RUN and _elsewhere(plain, bare) is not None
        return plain if plain.sure and taken else found

    def _of_plain(self, text: str, found: Guess, wanted: triggers.Wanted | None) -> Reading:
        is_run = found.sure and found.kind is Kind.RUN
        short = len(text) <= _NAMED_CHARS
        named = commands.find_named(text, is_run=is_run) if short else None
        if named is not None and named.said:
            found = guess(named.said, self.threshold)
        if _ONLY_PUSH.fullmatch(text.strip().casefold()):
            named = None
        if named is None and wanted is not None:
            likely = round(wanted.likelihood, 4)
            intent = _certain(TaskKind.PLAYBOOK, text).model_copy(update={"confidence": likely})
            subject = f"{wanted.name} {text}"
            return Reading(intent, Topic.PLAYBOOK, subject=subject, rule="trigger")
        told = found.sure and found.kind in _TELLS and not (named and named.led)
        is_open = Kind.RUN not in found.barred and not told
        if named is not None and named.command and named.plain and is_open:
            found = found._replace(kind=Kind.RUN, likelihood=max(found.likelihood, 0.9), sure=True)
        if named is not None and not named.command and (is_run or _GIT.match(text)):
            found = found._replace(sure=False)  # never another command than the one spoken of
        is_asked = named is None and found.acts >= self.threshold
        elsewhere = _elsewhere(found, text) if is_asked else None
        if elsewhere is Topic.UNSUPPORTED:
            return replace(_answer(TaskKind.HELP, elsewhere, text), rule=found.rule)
        if not (found.sure or elsewhere):
            return _unsure(found, text)
        return self._taken_up(found, text, named)

    def _taken_up(self, found: Guess, text: str, named: commands.Named | None) -> Reading:
        kind, topic = MEANS[found.kind]
        if kind is TaskKind.DIAGNOSE and _only_asks(text):
            kind = TaskKind.EXPLAIN
        if found.kind is Kind.UNDO:
            named_id = _ID.search(text)
            task_id = dsl.parse_id(named_id[0]) if named_id else None
            about = "" if task_id else text
            intent = _intent(kind, found, text)
            return Reading(intent, topic, subject=about, task_id=task_id, rule=found.rule)
        if named is not None and found.kind is Kind.RUN:
            intent = _intent(kind, found, text, cmd=named.command)
            taken, left = named.taken, named.left
            return Reading(intent, topic, subject=text, taken=taken, left=left, rule="names-it")
        head, left = self._first_wish(found, text)
        intent = _intent(kind, found, head if left else text)
        taken = head if left else ""
        acts = found.acts >= ASKED
        read = Reading(
            intent, topic, subject=text, taken=taken, left=left, acts=acts, rule=found.rule
        )
        if found.kind is Kind.GIT_SYNC:
            return replace(read, topic=_half_a_sync(text))
        if found.kind is Kind.RUN and commands.wants_tests(head):
            return replace(
                read, topic=Topic.TEST, beyond=wishes.beyond_tests(wishes.without_polite(head))
            )
        return read

    def _first_wish(self, found: Guess, text: str) -> tuple[str, str]:
        """Return the first wish, and the words of another one if there is."""
        if found.kind is Kind.GIT_SYNC and commands.gives_message(text):
            return text, ""  # where it ends only its writer knows
        for head, left in wishes.splits(text[:READ_CHARS]):
            other = guess(left).kind
            is_sync = found.kind is Kind.GIT_SYNC and other is Kind.GIT_SYNC
            if is_sync and _half_a_sync(left) is not Topic.PULL:
                continue  # "commit and push" is one
            if {found.kind, other} <= _IN_WORDS:
                break  # all is taken up at once
            if guess(head).kind is not found.kind and not (
                other in DEEDS and found.kind not in DEEDS
            ):
                break  # the wish that decided is not the first one
            if found.kind is Kind.RUN and commands.wants_tests(left) > commands.wants_tests(head):
                break  # of "run the build and test" the tests are what is known how to run
            return head, left
        return text, ""


def _unsure(found: Guess, text: str) -> Reading:
    change = found.kind in (Kind.CHANGE, Kind.UNDO) and found.rule == "words"
    change = change and found.likelihood >= PLANNED
    kind = TaskKind.CHANGE if change else TaskKind.EXPLAIN
    return Reading(
        _intent(kind, found, text),
        unsure=True,
        subject=text,
        acts=found.acts >= ASKED or (found.rule == "asks-mark" and wishes.acts(text)),
        likeliest=found.likeliest,
        rule=found.rule,
    )


def _elsewhere(found: Guess, text: str) -> Topic | None:
    """Return what is answered to a wish for what nothing here does; None to all others."""
    folded = fold(seen(text))
    if found.kind is Kind.GIT_SYNC:
        is_named = found.sure or _GIT_WORDS.search(folded)
        return Topic.PULL if is_named and _half_a_sync(text) is Topic.PULL else None
    known = commands.wants_tests(folded) or goals.find_goal(folded) is not None
    if found.kind is Kind.RUN and known and not _OPERATES.match(wishes.without_polite(folded)):
        return None
    return Topic.UNSUPPORTED if found.kind in (Kind.RUN, Kind.UNSUPPORTED) else None


def _only_asks(text: str) -> bool:
    folded = blot(fold(seen(text[:READ_CHARS])))
    return _ASKS_WHY.search(folded) is not None and _MENDS.search(folded) is None


def _half_a_sync(text: str) -> Topic:
    """Return what else has to be answered: a sync commits and pushes, and does neither alone."""
    folded = fold(seen(text))
    is_git = not _COMMITS.search(folded) and _GIT_WORDS.search(folded)
    if is_git or _PULLS.search(wishes.without_polite(folded)):
        return Topic.PULL
    if _SENDS.search(_NO_PUSH.sub("", folded)):
        return Topic.PLAIN
    return Topic.COMMIT if _KEEPS.search(folded) else Topic.PULL


def _of_command(said: dsl.Command) -> Reading:
    spec = BY_NAME[said.name]
    kind, topic = spec.kind, spec.topic
    if topic is Topic.TEST and said.args:
        topic = Topic.BAD_OPTION
    if topic is Topic.REVISE and said.task_id is None:
        kind = TaskKind.HELP  # which one is meant is asked, and no model for that
    if kind is TaskKind.HELP and topic is not Topic.PLAIN:
        return replace(_answer(kind, topic, said.args), task_id=said.task_id)
    if "text" in spec.takes:
        return _of_its_text(said, kind, topic)
    about = said.task_id or said.args if topic is Topic.UNDO else ""
    found = IntentParams(cmd=said.options.get("cmd"))
    intent = _certain(kind, f"{said.name} {about}", found)
    return Reading(intent, topic, subject=said.args, task_id=said.task_id)


def _of_its_text(said: dsl.Command, kind: TaskKind, topic: Topic) -> Reading:
    text, left = said.args[:READ_CHARS], ""
    given: dict[str, Any] = {}
    if kind in (TaskKind.SEARCH, TaskKind.REVIEW):
        text, left = wishes.split_wish(text)
    if name := _ABOUT.get(kind):
        given[name] = params.find_query(text) if kind is TaskKind.SEARCH else said.args or None
    if kind not in (TaskKind.SEARCH, TaskKind.GIT_SYNC):
        given["files"] = params.find_files(said.args[:READ_CHARS]) or None
    summary = " ".join(filter(None, (said.name, said.task_id, said.args)))
    return Reading(
        _certain(kind, summary, IntentParams(**given)),
        topic,
        subject=said.args,
        task_id=said.task_id,
        taken=f"{said.name} {text}".strip() if left else "",
        left=left,
    )


def _answer(kind: TaskKind, topic: Topic, text: str) -> Reading:
    return Reading(_certain(kind, text), topic, subject=text)


def _certain(kind: TaskKind, summary: str, found: IntentParams | None = None) -> TaskIntent:
    short = one_line(summary, _SUMMARY_BYTES)
    return TaskIntent(kind=kind, confidence=1.0, summary=short, params=found or IntentParams())


def _intent(kind: TaskKind, found: Guess, text: str, cmd: str | None = None) -> TaskIntent:
    given: dict[str, Any] = {"cmd": cmd}
    if name := _ABOUT.get(kind):
        given[name] = params.find_wanted(text[:READ_CHARS]) if kind is TaskKind.SEARCH else text
    given["files"] = params.find_files(text[:READ_CHARS]) or None
    return TaskIntent(
        kind=kind,
        confidence=round(found.likelihood, 4),
        summary=one_line(text, _SUMMARY_BYTES),
        params=IntentParams(**given),
    )
