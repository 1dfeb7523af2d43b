"""What a request is taken to mean (seed 002 §3.2)."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from common.model.base import SeedModel

MAX_FILES = 10  # seed 002 §4.2 and §5.1


class TaskKind(StrEnum):
    """The eight kinds of the seed, and ``git_sync``."""

    HELP = "help"
    STATUS = "status"
    EXPLAIN = "explain"
    CHANGE = "change"
    RUN = "run"
    DIAGNOSE = "diagnose"
    SEARCH = "search"
    REVIEW = "review"
    GIT_SYNC = "git_sync"


class IntentParams(SeedModel):
    """What was found in the text; absent where nothing was.

    Attributes:
        revises: Short ID of the proposal that a revision without one was taken to mean; empty where
            it could be any of several.  Our addition.
    """

    files: tuple[str, ...] | None = Field(default=None, max_length=MAX_FILES)
    cmd: str | None = None
    question: str | None = None
    change_request: str | None = None
    query: str | None = None
    revises: str | None = None


class TaskIntent(SeedModel):
    """The classification: it decides what is proposed, never what is executed.

    Attributes:
        kind: One of the allowed kinds; anything else cannot be built.
        confidence: 0 to 1.
        summary: The intent in a few words.
        params: Targets found in the text.
    """

    kind: TaskKind
    confidence: float = Field(ge=0.0, le=1.0)
    summary: str = Field(max_length=400)
    params: IntentParams = IntentParams()
