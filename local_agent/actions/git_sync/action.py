"""A commit and push as an operation: one card, one approval, steps in their order.

What came of it is told in words (P7) and as facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from common.errors import CodexBridgeError, StateError
from common.model.proposal import GitSync, TaskResult
from common.model.state import Reason
from common.seal import Seal
from common.sentences import Lang, Sentence, explain, say
from common.text import one_line
from local_agent.actions.git_sync.perform import SyncOutcome
from local_agent.actions.operation import AND, Ended, Indivisible, Performing, Sealable, Syncer
from local_agent.actions.operation import DRIFTED_FIELDS as OF_ANY
from local_agent.error_texts import sync as sync_errors
from local_agent.propose import words as proposal_words
from local_agent.safety.grant import Grant
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace

DISCLOSES: Final = ("outcome", "file-list")
COMMITTED_AND_PUSHED = Sentence(
    en="Committed as {commit} and pushed to {remote} ({branch}).",
    zh="已提交为 {commit}，并推送到 {remote}（{branch}）。",
)
PUSHED = Sentence(en="Pushed {branch} to {remote}.", zh="已将 {branch} 推送到 {remote}。")
COMMITTED_NOT_PUSHED = Sentence(
    en="Committed locally as {commit}, NOT pushed. {why}",
    zh="已在本机提交为 {commit}，但没有推送。{why}",
)
NOT_PUSHED = Sentence(en="NOT pushed. {why}", zh="没有推送。{why}")
COMMITTED_PUSH_UNKNOWN = Sentence(
    en="Committed locally as {commit}; whether it was pushed is unknown. {why}",
    zh="已在本机提交为 {commit}；不确定是否已推送。{why}",
)
UNKNOWN = Sentence(
    en="Whether it was committed or pushed is unknown. {why}", zh="不确定是否已提交或推送。{why}"
)
PUSH_UNKNOWN = Sentence(en="Whether it was pushed is unknown. {why}", zh="不确定是否已推送。{why}")
ANSWER_OF_GIT = Sentence(en="git said:\n{tail}", zh="git 的输出：\n{tail}")
DRIFTED = Sentence(
    en="Changed since the approval: {what}. Nothing was committed or pushed; ask again to see the "
    "new proposal.",
    zh="批准之后有变化：{what}。没有提交或推送；请重新提出以查看新的方案。",
)
# What is not as approved, by the field of the payload.
DRIFTED_FIELDS: Final[dict[str, Sentence]] = {
    "base": (_FILES := Sentence(en="the files", zh="文件")),
    "commit": _FILES,
    "head": Sentence(en="the last commit", zh="最新的提交"),
    "branch": Sentence(en="the branch", zh="分支"),
    "remote": (_REMOTE := Sentence(en="where it is pushed to", zh="推送目标")),
    "url": _REMOTE,
    "ref": _REMOTE,
    "remote_oid": (_KNOWN := Sentence(en="what is known of the remote", zh="已知的远端状态")),
    "ahead": _KNOWN,
    "behind": _KNOWN,
    "steps": Sentence(en="the steps", zh="步骤"),
}


_SHORT_ID: Final = 7
_NAME_BYTES: Final = 100


class SyncGit(Indivisible):
    """Commits and pushes."""

    def __init__(self, *, syncer: Syncer) -> None:
        self._syncer = syncer

    async def prepare(self, task: Task, workspace: Workspace) -> Sealable:
        """Look at the repository as it is now.

        Raises:
            InputError: ``sync.*``: it cannot be done.
        """
        proposal = TaskResult.model_validate_json(task.proposal_json or "").proposal
        if not isinstance(proposal, GitSync):
            raise StateError("task.illegal-transition", current="proposal", wanted="sync")
        prepared = await self._syncer.prepare(workspace, proposal)
        return Sealable(
            action="git_sync",
            payload=prepared.payload,
            workspace=prepared.workspace,
            git_head=prepared.git_head,
            base=prepared.base,
            undo="no",
            discloses=DISCLOSES,
            diff=prepared.model,
        )

    async def perform(
        self, task: Task, grant: Grant, workspace: Workspace, around: Performing
    ) -> Ended:
        """Commit, then push; a cancel ends the push."""
        del task
        outcome = await self._syncer.run(grant, workspace=workspace, cancel=around.stop)
        return _ended(outcome, grant.seal)

    async def settle(self, seal: Seal, workspace: Workspace) -> Ended:
        """Say what the repository and its remote prove."""
        return _ended(await self._syncer.settle(seal, workspace), seal)


def _ended(outcome: SyncOutcome, seal: Seal) -> Ended:
    words = partial(render_sync, outcome, seal.payload)
    return Ended(outcome.reason, words, did={"sync": sync_facts(outcome)})


def render_sync(outcome: SyncOutcome, payload: Mapping[str, Any], lang: Lang) -> str:
    """Return what came of it.

    Args:
        outcome: As `Syncer.run` or `Syncer.settle` tells it.
        payload: As sealed: for the names of branch and remote.
        lang: Whose words.
    """
    if outcome.reason is Reason.DRIFTED and outcome.drift:
        return say(DRIFTED, lang, what=_what_drifted(outcome.drift, lang))
    head = say(
        _sentence(outcome, payload),
        lang,
        commit=(outcome.committed or "")[:_SHORT_ID],
        branch=one_line(payload["branch"], _NAME_BYTES),
        remote=one_line(payload["remote"], _NAME_BYTES),
        why=explain(CodexBridgeError(outcome.code or "sync.failed"), sync_errors.ERRORS, lang),
    )
    if not outcome.tail:
        return head
    return f"{head}\n{say(ANSWER_OF_GIT, lang, tail=outcome.tail)}"


def sync_facts(outcome: SyncOutcome) -> dict[str, Any]:
    """Return how a commit and push ended."""
    return {
        "code": outcome.code,
        "drift": list(outcome.drift),
        "committed": outcome.committed,
        "pushed": outcome.pushed,
    }


def _sentence(outcome: SyncOutcome, payload: Mapping[str, Any]) -> Sentence:
    made = outcome.committed is not None
    if outcome.pushed:
        return COMMITTED_AND_PUSHED if made else PUSHED
    if outcome.pushed is None:
        if made:
            return COMMITTED_PUSH_UNKNOWN
        return PUSH_UNKNOWN if payload["commit"] is None else UNKNOWN
    if made:
        return COMMITTED_NOT_PUSHED
    return NOT_PUSHED if payload["commit"] is None else proposal_words.NOTHING_DONE


def _what_drifted(fields: tuple[str, ...], lang: Lang) -> str:
    known = {**OF_ANY, **DRIFTED_FIELDS}
    sentences = {known.get(name, known["payload"]): None for name in fields}
    return say(AND, lang).join(say(sentence, lang) for sentence in sentences)
