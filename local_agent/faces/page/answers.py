"""How every path of the page is answered: what was asked is checked, what went wrong is told.

What is asked of the agent is a request of the control socket, by the same names.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final

from aiohttp import web
from aiohttp.typedefs import Handler

from common import strict_json
from common.errors import (
    AuthError,
    CodexBridgeError,
    InputError,
    RemoteProtocolError,
    StateError,
    StoreError,
    UnavailableError,
)
from common.ids import parse_short_id
from common.page.guards import MAX_BODY_BYTES
from common.sentences import LANGS, explain
from local_agent.cards.question import diff_names, joined
from local_agent.error_texts import ERRORS
from local_agent.faces.control.wire import Content, Request, as_json
from local_agent.faces.page.parts import PageParts
from local_agent.faces.page.rendered import Asked, revealed
from local_agent.flow.approvals import question
from local_agent.store.tasks import Task
from local_agent.views import to_json
from local_agent.views.question import ApprovalView, Text

NUMBER: Final = re.compile("[0-9]{1,9}")
_STATUS: Final[tuple[tuple[type[CodexBridgeError], int], ...]] = (
    (InputError, 400),
    (RemoteProtocolError, 400),
    (AuthError, 403),
    (StateError, 409),
    (StoreError, 503),
    (UnavailableError, 503),
)
PREFERENCES: Final = {"lang": ("en", "zh"), "theme": ("auto", "light", "dark")}

Json = dict[str, Any]
Answering = Callable[[web.Request], Awaitable[Any]]


class Answers:
    """What reading and asking share.

    Args:
        parts: Of the agent.
    """

    def __init__(self, parts: PageParts) -> None:
        self._parts = parts

    async def _named(self, request: web.Request) -> Task:
        name = parse_short_id(request.match_info["task"])
        return await self._parts.db.run(self._parts.db.journal.tasks.named, name)

    async def _asked(self, told: ApprovalView) -> Asked:
        """Return a question that can be shown, with its diffs."""
        journal = self._parts.db.journal
        stored = await self._parts.db.run(journal.approvals.get, told.approval_id)
        diff = await self._diff(diff_names(question(stored).seal))
        return await asyncio.to_thread(Asked, told, diff)

    async def _diff(self, names: Sequence[str]) -> bytes | None:
        if not names:
            return None
        return joined([await asyncio.to_thread(self._parts.read_blob, name) for name in names])

    async def _answers(self, op: str, **args: Any) -> AsyncIterator[tuple[bool, Content]]:
        """Give the answers to one request of the control socket."""
        answers = self._parts.operations.answer(Request(op, args))
        async with aclosing(answers) as steps:  # type: ignore[type-var]  # every implementation is an async generator
            async for step in steps:
                yield step

    async def _ask_agent(self, op: str, **args: Any) -> Content:
        async for last, value in self._answers(op, **args):
            if last:
                return value
        raise UnavailableError("agent.no-answer")

    async def _begin(self, op: str, **args: Any) -> Json:
        """Begin a task, and return its name as soon as it is written; it goes on by itself."""
        async for _last, value in self._answers(op, **args):
            told = as_json(value)
            return {"short_id": (told.get("task") or told)["short_id"]}
        raise UnavailableError("agent.no-answer")


def answering(answering: Answering) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        try:
            told = await answering(request)
        except CodexBridgeError as error:
            said = {"code": error.code, **to_json(said_of(error))}
            return web.json_response({"error": said}, status=_status(error))
        if isinstance(told, web.StreamResponse):
            return told
        return web.json_response(text=await asyncio.to_thread(_document, told))

    return handle


def _document(told: Any) -> str:
    shown = revealed(as_json(told))  # all of it: any text may be what others wrote
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))


def said_of(error: CodexBridgeError) -> Text:
    """Return an error as a person reads it, in both languages."""
    return Text(*(explain(error, ERRORS, lang) for lang in LANGS))


def _status(error: CodexBridgeError) -> int:
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


async def read_body(request: web.Request) -> Json:
    body = strict_json.loads(await request.read(), max_bytes=MAX_BODY_BYTES)
    if not isinstance(body, dict):
        raise RemoteProtocolError("control.malformed")
    return body


def text_of(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name, "")
    if not isinstance(value, str):
        raise RemoteProtocolError("control.malformed", field=name)
    return value


def origin_of(request: web.Request) -> str:
    """Return our own origin, as it is and not as the browser says; passkeys are for this name."""
    transport = request.transport
    port = transport.get_extra_info("sockname")[1] if transport else 0
    return f"http://localhost:{port}"


def number_of(text: str) -> int:
    if not NUMBER.fullmatch(text):
        raise RemoteProtocolError("control.malformed")
    return int(text)
