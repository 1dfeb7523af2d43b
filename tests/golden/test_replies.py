"""What the chat is told, by the agent and by the gateway, in both languages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta, timezone
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from common.errors import CodexBridgeError, InputError
from common.model.state import Reason, TaskState
from common.sentences import LANGS, Lang, Sentence, Words
from gateway.flow import alarms, offline, people, withdrawal
from gateway.flow import replies as gateway_replies
from gateway.flow.replies import Speaker, as_list, with_words
from gateway.store.tasks import Stranded
from local_agent import words as amounts
from local_agent.actions import operation
from local_agent.actions.changes import ending as change_words
from local_agent.actions.changes.settle import ChangeOutcome, Mixture
from local_agent.actions.disclose import action as disclose_words
from local_agent.actions.git_sync import action as sync_words
from local_agent.actions.git_sync.action import render_sync, sync_facts
from local_agent.actions.git_sync.perform import SyncOutcome
from local_agent.actions.run_command import words as run_words
from local_agent.actions.run_command.perform import Outcome, Progress
from local_agent.error_texts import changes as change_errors
from local_agent.error_texts import sync as sync_errors
from local_agent.error_texts import workspace as workspace_errors
from local_agent.errors import RefusedError
from local_agent.faces.window import alerts
from local_agent.flow import summaries
from local_agent.flow import words as flow_words
from local_agent.flow.approvals import Decision
from local_agent.propose import words as proposal_words
from local_agent.reports.words import from_facts
from local_agent.safety import disclosure, risk_words
from local_agent.store import inbox
from local_agent.workspace.manifest import Differences
from tests.golden import golden
from tests.golden.seals import SEALS, sealed_changes
from tests.unit.gateway.flow.test_replies import TASK

_GIVEN: dict[str, list[dict[str, Any]]] = json.loads(golden.stored("input/outcomes.json"))
_ERRORS: tuple[Exception, ...] = (
    RefusedError(("run-off", "deletes"), path="a/b"),
    InputError("command.not-found", program="nope"),
    InputError("diff.too-large", what="bytes", limit=9),
    CodexBridgeError("model.busy", model="qwen"),
    ValueError("secret"),
)
_OF_GATEWAY = (gateway_replies, alarms, offline, people, withdrawal)
_SENTENCES: tuple[ModuleType, ...] = (
    *(flow_words, proposal_words, operation, change_words, run_words, sync_words, disclose_words),
    *(disclosure, alerts, inbox, change_errors, sync_errors, workspace_errors, risk_words, amounts),
)


@pytest.mark.requirement("P7")
def test_the_agent_words_every_outcome_of_every_action_as_it_did() -> None:
    golden.check("replies/outcomes.txt", golden.sections(_outcomes()))


@pytest.mark.requirement("P7")
def test_the_gateway_words_every_reply_as_it_did() -> None:
    golden.check("replies/gateway.txt", golden.sections(_gateway()))


def test_every_sentence_is_as_it_was_wherever_it_stands() -> None:
    golden.check("replies/sentences-agent.txt", _sentences(_SENTENCES))
    golden.check("replies/sentences-gateway.txt", _sentences(_OF_GATEWAY))


def _outcomes() -> Iterator[tuple[str, str]]:
    for given in _GIVEN["commands"]:
        report, differences = given.get("report"), given.get("differences")
        done = Outcome(
            **given
            | {"reason": Reason(given["reason"]), "report": report and from_facts(report)}
            | {"differences": differences and Differences(**differences)}
        )
        yield from _said("command", done, partial(run_words.render_outcome, done, "make\nall"))
        yield from _said("ending", done, partial(run_words.render_ending, done, "make\nall"))
        yield "facts", _json(run_words.run_facts(done, "make\nall", sandbox="bubblewrap"))
    for given in _GIVEN["changes"]:
        files = (
            sealed_changes(golden.stored(f"input/{given['files']}.diff"))
            if "files" in given
            else ()
        )
        mixture = Mixture(**given["mixture"]) if "mixture" in given else None
        told = given | {"reason": Reason(given["reason"]), "files": files, "mixture": mixture}
        change = ChangeOutcome(**told)
        for undone in (None, "T-3H2W"):
            words = partial(
                change_words.render_change, short_id="T-7F3K", prefix="@dev", undone=undone
            )
            yield from _said(f"undo of {undone}", change, partial(words, change))
        yield "facts", _json(change_words.change_facts(change, undoes=None))
    for name in ("sync-commit", "sync-push"):
        for given in _GIVEN["syncs"]:
            sync = SyncOutcome(**given | {"reason": Reason(given["reason"])})
            yield from _said(name, sync, partial(render_sync, sync, SEALS[name].payload))
            yield "facts", _json(sync_facts(sync))
    yield from ((f"early ends {lang}", "\n".join(_early_ends(lang))) for lang in LANGS)


def _said(title: str, done: Any, words: Words) -> Iterator[tuple[str, str]]:
    for lang in LANGS:
        yield f"{title} {done.reason.value} {done.code} {lang}", words(lang)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _early_ends(lang: Lang) -> Iterator[str]:
    task: Any = SimpleNamespace(state=TaskState.EXECUTING)
    for error in _ERRORS:
        reason, said = summaries.of_early_end(error, task)
        yield f"{reason.value}: {said(lang)}"
    for why in (None, "不要 now\nplease"):
        yield summaries.of_rejection(Decision("rejected", why), lang)
    yield run_words.render_progress(Progress(75, 1), lang)
    yield summaries.of_moving_on(lang)
    yield summaries.of_unknown(lang)
    yield run_words.render_interruption(None, lang)
    yield run_words.render_interruption("make\ninstall", lang)
    yield summaries.reasons(tuple(risk_words.RISK), lang)


def _gateway() -> Iterator[tuple[str, str]]:
    zone = timezone(timedelta(hours=8))
    at = TASK.created_at
    machines: tuple[Any, ...] = tuple(
        SimpleNamespace(machine="dev-1", connected_at=connected, last_seen_at=seen)
        for connected, seen in ((at, at), (None, at - 86_400_000), (None, None))
    )
    facts_of_refusals: dict[str, Any] = {"user": "zhang", "machines": ["dev-1", "build"]}
    facts_of_refusals |= {"id": "T-7K3F", "name": "de", "given": "T-x", "machine": "dev-1"}
    facts_of_refusals |= {"limit": 1, "count": 20, "links": 1, "until_ms": at + 40_000_000}
    waits = replace(TASK, state=TaskState.WAITING_APPROVAL, seal_code="7K3F-9Q2M")
    runs = replace(TASK, state=TaskState.EXECUTING)
    for lang in LANGS:
        speaker = Speaker(lang, zone, at + 90_000)
        said = [speaker.accepted(TASK, machine, prefix="@dev") for machine in machines]
        said += [speaker.machine_line(machine) for machine in machines]
        said.append(
            speaker.waiting(TASK, "dev-1", "Run x", code="7K3F-9Q2M", until_ms=at + 3_000_000)
        )
        said += [
            speaker.progress(TASK, "dev-1", "still\nrunning", at_ms=at),
            speaker.orphaned(TASK, "dev-1"),
        ]
        said += [speaker.silent(TASK, "dev-1"), speaker.unbound(TASK, "dev-1", "Nothing was done.")]
        said += [speaker.unsent(TASK, "dev-1", reason) for reason in gateway_replies.UNSENT]
        for reason in Reason:
            for words in ("", "one", "a\nb"):
                said += speaker.final(TASK, "dev-1", reason, words)
            said.append(speaker.over(TASK, reason))
            said.append(speaker.task_line(replace(TASK, reason=reason), machine="dev-1"))
        gone = [
            Stranded(replace(TASK, short_id=f"T-7K3{sign}"), "dev-1", 1, at, waits=sign in "FG")
            for sign in "FGH"
        ]
        gones = (gone, gone[:1], gone[2:])
        said += [offline.render(those, speaker, prefix="@dev") for those in gones]
        said.append(speaker.task_line(runs, away=machines[1]))
        said += speaker.final(TASK, "dev-1", Reason.COMPLETED, "It is read first. 先读缓存。" * 99)
        said += [
            speaker.task_line(replace(waits, waiting_until=at + 7_200_000)),
            speaker.task_line(runs),
        ]
        said += [speaker.task_line(replace(TASK, cancel_asked_at=at)), as_list(["a", "<a href=x>"])]
        said.append(with_words("head", "ghp_16C7e42F292c6912E7710c838347Ae178B4a \u202e end"))
        for code in gateway_replies.REFUSALS:
            error = InputError(code, **facts_of_refusals)
            said.append(speaker.refusal(error, prefix="@dev"))
        yield lang, "\n---\n".join(said)


def _sentences(modules: tuple[ModuleType, ...]) -> str:
    """Return each sentence of the modules once, sorted: which constant holds it may change."""
    found = {one for module in modules for value in vars(module).values() for one in _in(value)}
    return "".join(
        f"{one.en!r}\n{one.zh!r}\n" for one in sorted(found, key=lambda one: (one.en, one.zh))
    )


def _in(value: object) -> Iterator[Sentence]:
    if isinstance(value, Sentence):
        yield value
    elif isinstance(value, Mapping):
        for held in value.values():
            yield from _in(held)
