"""What was asked (seed 002 §3.1)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from common.model.base import SeedModel

MAX_TEXT = 16_384  # characters; WeCom's own bound is 2,048 bytes, the terminal may bring more

Source = Literal["wecom", "local_ui"]


class UserRequest(SeedModel):
    """One request in natural language, or a shortcut, from the chat or from this machine."""

    source: Source
    thread_id: str = Field(max_length=200)
    from_user: str | None = Field(default=None, max_length=200)
    text: str = Field(max_length=MAX_TEXT)
    meta: dict[str, JsonValue] | None = None
