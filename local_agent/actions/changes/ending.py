"""How a change of files is sealed and how it ends, whether it is applied or taken back."""

from __future__ import annotations

from functools import partial
from typing import Final

from common.seal import Action, Seal
from local_agent.actions.changes.outcome import ChangeOutcome
from local_agent.actions.changes.perform import PreparedChange
from local_agent.actions.changes.words import change_facts, render_change
from local_agent.actions.operation import Ended, Sealable

DISCLOSES: Final = ("outcome", "file-list")
_HERE: Final = "codexbridge"  # what undoes at this machine, where the chat has its prefix


def sealable_change(action: Action, prepared: PreparedChange) -> Sealable:
    """Return a change of files as it can be sealed and judged."""
    return Sealable(
        action=action,
        payload=prepared.payload,
        workspace=prepared.workspace,
        git_head=prepared.git_head,
        base=prepared.base,
        undo="yes",
        discloses=DISCLOSES,
        diff=prepared.model,
        moved=prepared.moved,
    )


def ended_change(
    outcome: ChangeOutcome, seal: Seal, prefix: str, *, undone: str | None = None
) -> Ended:
    """Return how a change ended, with its words for the chat and for this machine.

    Args:
        outcome: From the applier.
        seal: What was approved.
        prefix: The word that addresses the bot.
        undone: Short ID of the task whose change it took back; None when it took none back.
    """
    words = partial(render_change, outcome, short_id=seal.short_id, undone=undone)
    here = partial(words, prefix=_HERE)
    # What was asked at this machine is no task of anybody in the chat.
    summary = partial(words, prefix=prefix) if seal.source.gateway_key_id else here
    did = {"change": change_facts(outcome, undoes=undone)}
    return Ended(outcome.reason, summary, here=here, did=did)
