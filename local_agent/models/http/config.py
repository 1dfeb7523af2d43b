"""What is configured about one model behind HTTP, and which addresses may be dialled."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

from common.errors import ConfigError

Api = Literal["responses", "chat"]
JsonMode = Literal["schema", "object", "prompt"]

# Plain parts alone: no login, no query, no fragment, no way to write a host in two ways.
_BASE_URL: Final = re.compile(
    r"https?://(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?"
    r"(?:/[A-Za-z0-9._~-]{1,100}){0,8}/?",
    re.ASCII | re.IGNORECASE,
)
_LOCALHOST: Final = "localhost"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpModel:
    """One model.

    Attributes:
        name: What the person calls it.
        model: The provider's name for it.
        base_url: Up to and with the version, such as ``https://api.deepseek.com/v1``; https, or
            http to this machine (R15).
        deadline_s: For one whole turn, asking again included.
        idle_s: Longest silence within a turn; counts for streamed answers alone.
        max_output_tokens: None leaves the provider's own bound.
        effort: Of reasoning, in the provider's words; None leaves its default.
        json_mode: How an answer in a form is asked for: ``schema`` (the provider enforces it),
            ``object`` (it promises JSON; the schema is told in words), ``prompt`` (words alone).

    Raises:
        ConfigError: ``models.base-url`` (name, why: ``form``, ``insecure``).
    """

    name: str
    model: str
    base_url: str
    api: Api
    deadline_s: float = 300.0
    idle_s: float = 60.0
    max_output_tokens: int | None = None
    effort: str | None = None
    json_mode: JsonMode = "schema"
    stream: bool = True

    def __post_init__(self) -> None:
        """Refuse an address that may not be dialled."""
        parts = urlsplit(self.base_url if _BASE_URL.fullmatch(self.base_url) else "")
        try:
            is_address = bool(parts.hostname) and parts.port != 0
        except ValueError:  # a port over 65535
            is_address = False
        if not is_address:
            raise ConfigError("models.base-url", name=self.name, why="form")
        if parts.scheme.lower() == "http" and not _is_this_machine(parts.hostname or ""):
            raise ConfigError("models.base-url", name=self.name, why="insecure")

    @property
    def is_local(self) -> bool:
        """Whether it is dialled on this machine, where no provider asks for a key."""
        return _is_this_machine(urlsplit(self.base_url).hostname or "")

    def address(self, path: str) -> str:
        """Return the address of one function, such as ``responses``.

        A name may resolve to anything, ``localhost`` included: it is dialled as 127.0.0.1.
        """
        parts = urlsplit(self.base_url)
        host = parts.netloc
        if parts.hostname == _LOCALHOST and parts.scheme == "http":
            host = "127.0.0.1" if parts.port is None else f"127.0.0.1:{parts.port}"
        return f"{parts.scheme}://{host}{parts.path.rstrip('/')}/{path}"


def _is_this_machine(host: str) -> bool:
    if host == _LOCALHOST:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False  # "127.evil.example" begins like an address and is a name
