"""What was asked (seed 002 §3.1)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from common.model.base import SeedModel

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
