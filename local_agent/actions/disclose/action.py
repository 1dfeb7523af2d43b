"""An answer that a person at the machine lets go to the chat: an operation like any other (R53)."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

from common.errors import AuthError, ConfigError, StateError, StoreError
from common.model.proposal import Release
from common.model.state import Reason
from common.seal import ReadFile, Seal
from common.sentences import Sentence, Words, same, say
from common.text import one_line, reveal
from local_agent.actions.disclose.payload import disclose_payload
from local_agent.actions.operation import (
    Ended,
    Indivisible,
    Performing,
    Sealable,
    proposed_result,
)
from local_agent.safety.grant import Grant
from local_agent.store.blobs import Blobs
from local_agent.store.endings import ANSWER_BYTES, for_chat
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace, place_of

STAYS_THERE = Sentence(
    en="A person at the machine decided that the answer stays there.",
    zh="开发机前的人决定不发出此回答；它留在开发机上。",
)
STAYS_THERE_WHY = Sentence(
    en="A person at the machine decided that the answer stays there: {why}",
    zh="开发机前的人决定不发出此回答，它留在开发机上。原因：{why}",
)
NOT_SENT = Sentence(
    en="The answer was released and not sent: the agent was ended before. Nothing of it left the "
    "machine.",
    zh="已同意发出回答，但 Agent 在发出前中止。没有任何内容离开开发机。",
)
GONE = Sentence(
    en="The answer is no longer kept as it was shown, so it was not sent.",
    zh="保存的回答已与当时显示的不符，因此没有发出。",
)


DISCLOSES: Final = ("answer",)
_WHY_BYTES: Final = 500


class Disclose(Indivisible):
    """Tells the chat exactly the answer that a person has released."""

    def __init__(self, *, blobs: Blobs) -> None:
        self._blobs = blobs

    async def prepare(self, task: Task, workspace: Workspace) -> Sealable:
        """Describe the answer, and keep its bytes.

        Raises:
            InputError: ``workspace.gone``.
        """
        found = proposed_result(task).proposal
        if not isinstance(found, Release):
            raise StateError("task.illegal-transition", current="proposal", wanted="disclose")
        text = found.text.encode()
        await asyncio.to_thread(self._blobs.put, text)
        payload = disclose_payload(
            text,
            [ReadFile(file.path, file.sha256) for file in found.files],
            more=found.more,
            channel=task.channel,
            claimed_user=task.claimed_user,
        )
        return Sealable(
            action="disclose",
            payload=payload,
            workspace=await asyncio.to_thread(place_of, workspace),
            git_head=None,
            base={},  # the answer is what it is, whatever becomes of the files
            undo="no",
            discloses=DISCLOSES,
        )

    async def perform(
        self, task: Task, grant: Grant, workspace: Workspace, around: Performing
    ) -> Ended:
        """Spend the grant: tell the sealed bytes, or nothing.

        Raises:
            StateError: ``grant.spent``; ``disclose.action``: the grant is for something else.
        """
        del workspace, around
        seal = grant.spend()
        if seal.action != "disclose":
            raise StateError("disclose.action", action=seal.action)
        try:
            kept = await asyncio.to_thread(self._blobs.get, seal.payload["answer_sha256"])
        except (AuthError, ConfigError, StoreError):
            return Ended(Reason.DRIFTED, partial(say, GONE))
        text = kept.decode()
        if for_chat(text, ANSWER_BYTES) != text:
            # It would leave otherwise than it was shown, as when secrets are found better since.
            return Ended(Reason.DRIFTED, partial(say, GONE))
        details = proposed_result(task).details
        here = same(details) if details else None
        return Ended(Reason.COMPLETED, same(text), here=here, limit=ANSWER_BYTES)

    async def settle(self, seal: Seal, workspace: Workspace) -> Ended:
        """Say that nothing was told: an answer leaves with the end of its task, or not at all."""
        del seal, workspace
        return Ended(Reason.FAILED, partial(say, NOT_SENT))


def render_stay(reason: str | None) -> Words:
    """Return that a person let the answer stay at the machine, with what they said."""
    if not reason:
        return partial(say, STAYS_THERE)
    return partial(say, STAYS_THERE_WHY, why=reveal(one_line(reason, _WHY_BYTES)))
