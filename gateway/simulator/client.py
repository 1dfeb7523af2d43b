"""Talks to a running simulator, with the standard library: for its commands and the demo."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any, Final

from common.errors import InputError, UnavailableError
from common.sentences import Lang, say
from common.text import reveal
from gateway.simulator import sentences as S  # noqa: N812 - a table of constants

MAX_ANSWER: Final = 8_000_000
TIMEOUT_S: Final = 60.0  # a callback that nobody answers is delivered four times


def bubble_text(bubble: Mapping[str, Any], lang: Lang) -> str:
    """Return what a bubble says, safe at a terminal; the simulator's remarks in the language."""
    key, _, fact = str(bubble["text"]).partition(" ")
    is_remark = bubble["sender"] == "system"
    return reveal(say(S.REMARKS[key], lang, fact=fact) if is_remark else str(bubble["text"]))


class SimulatorClient:
    """One simulator on loopback.

    Args:
        port: Where its page is.
    """

    def __init__(self, port: int) -> None:
        self._port = port

    def say(self, user: str, text: str, *, app: str = "") -> int:
        """Write to the app as a member; return the HTTP status of the callback, 0 for no answer.

        Raises:
            UnavailableError: ``sim.not-running``.
        """
        return int(self.ask("say", user=user, text=text, app=app)["status"])

    def save(self, **values: str) -> str:
        """Save in the simulated console, as a person would there; return why not, or ''.

        Raises:
            UnavailableError: ``sim.not-running``.
        """
        return str(self.ask("console", **values)["fault"])

    def messages(self, after: int, *, wait: bool = False) -> list[dict[str, Any]]:
        """Return the bubbles after a number; with ``wait``, up to 20 s for the first.

        Raises:
            UnavailableError: ``sim.not-running``.
        """
        return list(self._call("GET", f"/api/messages?after={after}&wait={int(wait)}", None))

    def feed(self, after: int) -> dict[str, list[dict[str, Any]]]:
        """Return bubbles and exchanges after a number.

        Raises:
            UnavailableError: ``sim.not-running``.
        """
        return dict(self._call("GET", f"/api/feed?after={after}", None))

    def state(self) -> dict[str, Any]:
        """Return the apps, and what is switched on.

        Raises:
            UnavailableError: ``sim.not-running``.
        """
        return dict(self._call("GET", "/api/state", None))

    def ask(self, what: str, **body: Any) -> dict[str, Any]:
        """Have something done; returns what came of it.

        Raises:
            InputError: ``sim.…``: there is no such app, card, button, fault or callback.
            UnavailableError: ``sim.not-running`` or ``sim.refused``.
        """
        return dict(self._call("POST", f"/api/{what}", json.dumps(body).encode()))

    def _call(self, method: str, path: str, body: bytes | None) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=TIMEOUT_S)
        origin = f"http://127.0.0.1:{self._port}"
        headers = {"Origin": origin, "Content-Type": "application/json"} if body else {}
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            found = json.loads(answer.read(MAX_ANSWER) or b"null")
        except (OSError, ValueError, http.client.HTTPException):
            raise UnavailableError("sim.not-running", port=self._port) from None
        finally:
            connection.close()
        if answer.status == 409:
            error = found["error"]
            raise InputError(error.pop("code"), **error)
        if answer.status != 200:
            raise UnavailableError("sim.refused", port=self._port, status=answer.status)
        return found
