"""What the page can ask for, path by path: nothing here decides.

What begins a task answers as soon as the task is written; what becomes of it is told live.
Approval by passkey alone is more than asking, and `passkeys` checks all of it itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from common.errors import InputError, RemoteProtocolError, StateError
from common.page.guards import SESSION
from common.seal import code_matches
from common.text import reveal
from local_agent.faces.control.playing import MAX_TIMEOUT_MS
from local_agent.faces.page.answers import (
    PREFERENCES,
    Answering,
    Answers,
    Json,
    origin_of,
    read_body,
    text_of,
)
from local_agent.faces.page.audit import verify
from local_agent.faces.page.live import Live
from local_agent.faces.page.parts import PageParts
from local_agent.store.tasks import Task
from local_agent.views.audit import AuditCheck
from local_agent.views.question import Shown, Text

Prefer = Callable[[Mapping[str, str]], Awaitable[None]]


class PageActs(Answers):
    """Answers what asks for something.

    Args:
        parts: Of the agent.
        live: Tells every tab what was chosen.
        prefer: Keeps language and colours.
    """

    def __init__(self, parts: PageParts, live: Live, prefer: Prefer) -> None:
        super().__init__(parts)
        self._live = live
        self._prefer_kept = prefer

    def paths(self) -> Mapping[str, Answering]:
        """Return what answers each path."""
        return {
            "/api/ask": self._ask,
            "/api/preferences": self._prefer,
            "/api/audit/verify": self._verify,
            "/api/passkeys/options": self._registration_options,
            "/api/passkeys/register": self._register,
            "/api/approvals/{approval}/options": self._approval_options,
            "/api/approvals/{approval}/passkey": self._approve,
            "/api/playbooks/{name}/play": self._play,
            "/api/tasks/{task}/remind": self._remind,
            "/api/tasks/{task}/narrow": self._narrow,
            "/api/tasks/{task}/check": self._check,
            "/api/tasks/{task}/{verb}": self._verb,
        }

    async def _ask(self, request: web.Request) -> Json:
        body = await read_body(request)
        args = {name: text_of(body, name) for name in ("text", "workspace", "lang")}
        return await self._begin("ask", **args)

    async def _play(self, request: web.Request) -> Json:
        """Begin a run of a playbook; what it asks is asked as everything is."""
        body = await read_body(request)
        return await self._begin(
            "play",
            name=request.match_info["name"],
            path="",
            client=text_of(body, "client") or "local",
            message=text_of(body, "message"),
            workspace=text_of(body, "workspace"),
            lang=text_of(body, "lang"),
            gate_ms=MAX_TIMEOUT_MS,
            dry=body.get("dry", False),
            answers=False,
        )

    async def _verb(self, request: web.Request) -> Json:
        """Have something done to a task that decides nothing."""
        task, body = await self._named(request), await read_body(request)
        args: Json = {"task": task.short_id, "lang": text_of(body, "lang")}
        match request.match_info["verb"]:
            case "cancel":
                await self._ask_agent("cancel", **args)
                return {}
            case "undo":
                return await self._begin("undo", **args, only=body.get("only", []))
            case "want" as verb:
                return await self._begin(verb, **args)
            case "retry":
                return await self._begin(
                    "retry", **args, may_have_run=body.get("may_have_run", False)
                )
            case "resume" | "roll_back" as verb:
                return await self._go_on(verb, task, args)
        raise web.HTTPNotFound

    async def _go_on(self, op: str, task: Task, args: Json) -> Json:
        """Carry a run on, or take it back, by another task; return that one's name."""
        told = {"run": task.short_id, "lang": args["lang"]}
        journal = self._parts.db.journal
        run = await self._parts.db.run(journal.runs.get, task.run or "")
        more = {"gate_ms": 0, "answers": False} if op == "resume" else {"client": run.client}
        async for _last, _value in self._answers(op, **told, **more):
            break
        run = await self._parts.db.run(journal.runs.get, task.run or "")
        newest = await self._parts.db.run(journal.tasks.get, run.task_id)
        return {"short_id": newest.short_id}

    async def _remind(self, request: web.Request) -> Json:
        """Bring the question of a task before the person: its window opens, where there can be one.

        Whoever clicks that sits at this machine, so the limits on windows from afar do not hold.
        """
        task, body = await self._named(request), await read_body(request)
        if "keep" in body:
            await self._require_whole(body, **await self._meant(body))
        await self._ask_agent("refresh", task=task.short_id)
        journal, windows = self._parts.db.journal, self._parts.windows
        asked = await self._parts.db.run(journal.approvals.newest_of, task.task_id)
        if asked is None or asked.state != "pending":
            raise StateError("approve.not-waiting", task=task.short_id)
        if windows.state == "on":
            windows.show(asked.approval_id)
        return {"window": windows.state == "on", "why": windows.why}

    async def _narrow(self, request: web.Request) -> Json:
        """Have a part of the change asked for alone, under a seal of its own."""
        body = await read_body(request)
        keep, hunks = body.get("keep", []), body.get("hunks", {})
        await self._ask_agent("narrow", **await self._meant(body), keep=keep, hunks=hunks)
        return {}

    async def _check(self, request: web.Request) -> Json:
        shown = await self._ask_agent("check", **await self._meant(await read_body(request)))
        assert isinstance(shown, Shown)  # noqa: S101 - what the operation gives
        return {"short_id": shown.task.short_id}

    async def _prefer(self, request: web.Request) -> Json:
        body = await read_body(request)
        chosen = {name: word for name, word in body.items() if word in PREFERENCES.get(name, ())}
        if len(chosen) != len(body):
            raise RemoteProtocolError("control.malformed")
        await self._prefer_kept(chosen)
        self._live.tell_all({"type": "preferences", **chosen})
        return {}

    async def _verify(self, _request: web.Request) -> AuditCheck:
        return await asyncio.to_thread(verify, self._parts.places)

    # -- by passkey: each of these is checked where it is taken (`passkeys`) ----------------------

    async def _registration_options(self, _request: web.Request) -> Json:
        return await self._parts.passkeys.registration_options()

    async def _register(self, request: web.Request) -> Json:
        body = await read_body(request)
        made = await self._parts.passkeys.finish_registration(
            body.get("answer"), origin_of(request)
        )
        return {"name": made.name, "code": made.code}

    async def _approval_options(self, request: web.Request) -> Json:
        """Open the touch for what is shown whole; nowhere else is the page told a digest."""
        body = await read_body(request)
        meant = await self._meant(body | {"approval_id": request.match_info["approval"]})
        title = await self._require_whole(body, **meant)
        session = request[SESSION].binding
        options = await self._parts.passkeys.approval_options(**meant, session=session, title=title)
        return {"digest": meant["digest"], "options": options}

    async def _approve(self, request: web.Request) -> Json:
        body = await read_body(request)
        await self._parts.passkeys.approve(
            request.match_info["approval"],
            text_of(body, "digest"),
            body.get("answer"),
            origin=origin_of(request),
            typed=text_of(body, "typed"),
            session=request[SESSION].binding,
        )
        return {}

    async def _meant(self, body: Json) -> dict[str, str]:
        """Return which question the page means: it names it by the code that it shows.

        Raises:
            InputError: ``approval.digest-mismatch``.
        """
        approval_id = text_of(body, "approval_id")
        stored = await self._parts.db.run(self._parts.db.journal.approvals.get, approval_id)
        if not code_matches(text_of(body, "code"), stored.digest, both_groups=True):
            raise InputError("approval.digest-mismatch")
        return {"approval_id": approval_id, "digest": stored.digest}

    async def _require_whole(self, body: Json, *, approval_id: str, digest: str) -> Text:
        """Return what is asked, in one line, where all of it is chosen: what is seen is signed.

        Raises:
            InputError: ``approval.not-whole``.
        """
        del digest
        asked = await self._asked(await self._parts.teller.tell(approval_id))
        paths = {reveal(file.path) for file in await asyncio.to_thread(asked.files)}
        keep = body.get("keep")
        if not isinstance(keep, list) or {*map(str, keep)} != paths or body.get("hunks"):
            raise InputError("approval.not-whole")
        return asked.question().title
