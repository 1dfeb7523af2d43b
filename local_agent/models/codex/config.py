"""What is configured about one model that codex drives."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from local_agent.models.http.config import HttpModel

OPENAI: Final = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodexModel:
    """One model.

    Attributes:
        name: What the person calls it.
        model: The provider's name for it.
        base_url: Of an interface of the Responses kind, as of `HttpModel`.
        key: For the provider; None where it needs none.  It reaches the program by its environment
            alone.
        program: Where codex is; None looks for it.
        deadline_s: For one whole turn.
        idle_s: Longest silence within a turn.

    Raises:
        ConfigError: ``models.base-url`` (name, why).
    """

    name: str
    model: str
    base_url: str = OPENAI
    key: str | None = field(default=None, repr=False)
    program: Path | None = None
    deadline_s: float = 300.0
    idle_s: float = 60.0

    def __post_init__(self) -> None:
        """Refuse an address that may not be dialled."""
        self.address()

    @property
    def is_local(self) -> bool:
        """Whether it is dialled on this machine, as of an `HttpModel`."""
        return self._behind.is_local

    def address(self) -> str:
        """Return the address that codex dials; the same ones are allowed as of an `HttpModel`."""
        return self._behind.address("").removesuffix("/")

    @property
    def _behind(self) -> HttpModel:
        return HttpModel(name=self.name, model=self.model, base_url=self.base_url, api="responses")
