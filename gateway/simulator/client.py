"""Talks to a running simulator, with the standard library: for `sim send` and the demo."""

from __future__ import annotations

import http.client
import json
from typing import Any

from common.errors import UnavailableError


class SimulatorClient:
    """One simulator on loopback.

    Args:
        port: Where it listens.
    """

    def __init__(self, port: int) -> None:
        self._port = port

    def say(self, user: str, text: str) -> int:
        """Write to the app as a member; return the HTTP status of the callback, 0 for no answer.

        Raises:
            UnavailableError: ``sim.not-running``.
        """
        body = json.dumps({"user": user, "text": text}).encode()
        headers = {"X-Simulator": "1", "Content-Type": "application/json"}
        return int(self._call("POST", "/api/say", body, headers)["status"])

    def save(self, **values: str) -> str:
        """Save in the simulated console, as a person would there; return why not, or ''.

        Raises:
            UnavailableError: ``sim.not-running``.
        """
        headers = {"X-Simulator": "1", "Content-Type": "application/json"}
        body = json.dumps(values).encode()
        return str(self._call("POST", "/api/console", body, headers)["fault"])

    def messages(self, after: int, *, wait: bool = False) -> list[dict[str, Any]]:
        """Return the bubbles after a number; with ``wait``, up to 20 s for the first.

        Raises:
            UnavailableError: ``sim.not-running``.
        """
        found = self._call("GET", f"/api/messages?after={after}&wait={int(wait)}", None, {})
        return list(found)

    def _call(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=40)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            if answer.status != 200:
                raise UnavailableError("sim.refused", port=self._port, status=answer.status)
            return json.loads(answer.read(1_000_000))
        except (OSError, http.client.HTTPException):
            raise UnavailableError("sim.not-running", port=self._port) from None
        finally:
            connection.close()
