"""Proposes the diff that a person at this machine brought, as it is."""

from __future__ import annotations

import asyncio

from common.diff.parse import parse_diff
from common.model.proposal import LocalApproval
from local_agent import replies
from local_agent.actions.ports import Blobs
from local_agent.errors import RefusedError
from local_agent.proposers.base import Asked, Proposed, nothing
from local_agent.proposers.diffs import diff_proposal, headline, told


class PatchProposer:
    """Reads the diff that came with a request.

    Args:
        blobs: Where it lies.
        allowed: False refuses every change (setting ``allow_apply_patch``).
    """

    def __init__(self, blobs: Blobs, *, allowed: bool) -> None:
        self._blobs = blobs
        self._allowed = allowed

    async def propose(self, asked: Asked) -> Proposed:
        """Return it as a proposal, or say truthfully why there is none.

        Raises:
            RefusedError: changes are switched off on this machine.
            InputError: ``diff.*``: it is no diff that could be applied.
        """
        if not self._allowed:
            raise RefusedError(("apply-off",))
        if asked.workspace is None:
            return nothing(replies.NO_WORKSPACE, asked)
        diff = await asyncio.to_thread(self._blobs.get, asked.attachment or "")
        model = await asyncio.to_thread(parse_diff, diff)
        return Proposed(
            diff_proposal(asked.attachment or "", diff, model),
            told(model, asked.workspace.name, asked.lang),
            LocalApproval(action="apply_diff"),
            own=headline(model, asked.workspace.name, asked.lang),
        )
