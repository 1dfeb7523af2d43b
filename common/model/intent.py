"""What was asked, and what it is taken to mean (seed 002 §3.1, §3.2).

`SeedModel` is what all models of the seed share: frozen, closed, camelCase outside.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel


class SeedModel(BaseModel):
    """A value with the seed's field names as aliases."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        alias_generator=to_camel,
        hide_input_in_errors=True,
    )

    def to_json(self) -> str:
        """Return the JSON text with the seed's names; absent optional fields stay absent."""
        return self.model_dump_json(by_alias=True, exclude_none=True)

    def to_dict(self) -> dict[str, object]:
        """Return plain JSON values with the seed's names."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


MAX_TEXT = 30 * 1024  # characters: as many bytes as the link brings at most (`protocol.bodies`)
MAX_THREAD = 256

Source = Literal["wecom", "local_ui"]


class UserRequest(SeedModel):
    """One request in natural language, or a shortcut, from the chat or from this machine.

    Attributes:
        meta: What else came with it: ``channel`` and ``lang``, and where a person at the machine
            named them ``workspace`` and ``around``.
    """

    source: Source
    thread_id: str = Field(max_length=MAX_THREAD)
    from_user: str | None = Field(default=None, max_length=200)
    text: str = Field(max_length=MAX_TEXT)
    meta: dict[str, JsonValue] | None = None


MAX_FILES = 10  # seed 002 §4.2 and §5.1


class TaskKind(StrEnum):
    """The eight kinds of the seed, ``git_sync`` and ``playbook``."""

    HELP = "help"
    STATUS = "status"
    EXPLAIN = "explain"
    CHANGE = "change"
    RUN = "run"
    DIAGNOSE = "diagnose"
    SEARCH = "search"
    REVIEW = "review"
    GIT_SYNC = "git_sync"
    PLAYBOOK = "playbook"


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
