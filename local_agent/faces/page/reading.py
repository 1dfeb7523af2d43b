"""What the page can read, path by path."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from aiohttp import web

from common.diff.model import DiffModel, FileDiff
from common.diff.parse import parse_diff
from common.errors import CodexBridgeError, RemoteProtocolError, StateError
from common.seal import short_code
from common.sentences import LANGS
from common.verbs import COMMANDS
from local_agent.faces.control.statistics import read_statistics
from local_agent.faces.control.wire import as_json
from local_agent.faces.page.answers import (
    PREFERENCES,
    Answering,
    Answers,
    Json,
    number_of,
    said_of,
)
from local_agent.faces.page.audit import audit_view
from local_agent.faces.page.files import list_folder, read_image, view_file
from local_agent.faces.page.live import Live, row_of
from local_agent.faces.page.parts import PageParts
from local_agent.faces.page.rendered import file_rows, proposed_files
from local_agent.faces.page.settings import DESCRIPTIONS, effective_settings, workspaces_view
from local_agent.faces.page.words import catalogue
from local_agent.flow.standing import RunStanding
from local_agent.store.tasks import Task
from local_agent.views import from_json, to_json
from local_agent.views.audit import AuditView
from local_agent.views.files import FileView, FolderView
from local_agent.views.page import (
    PageApproval,
    PageBoot,
    PageFile,
    PageMoment,
    PagePlaybooks,
    PageQuestion,
    PageRow,
    PageRows,
    PageRun,
    PageTask,
    PageVerb,
)
from local_agent.views.question import ApprovalView, Shown, Text
from local_agent.views.statistics import StatisticsView
from local_agent.views.status import PasskeyList, StatusView
from local_agent.workspace.registry import Workspace

MAX_PAGE: Final = 200
MAX_FIND: Final = 200
MAX_MOMENTS: Final = 500
MAX_DAYS: Final = 90
KEPT_DIFFS: Final = 4
OFFSET: Final = re.compile("-?[0-9]{1,4}")


class PageReads(Answers):
    """Answers what only looks.

    Args:
        parts: Of the agent.
        live: Knows what is said for tasks at work.
        preferences: Language and colours, as the person last chose them.
    """

    def __init__(self, parts: PageParts, live: Live, preferences: Mapping[str, str]) -> None:
        super().__init__(parts)
        self._live = live
        self._preferences = preferences
        self._diffs: OrderedDict[str, Sequence[FileDiff | None]] = OrderedDict()

    def paths(self) -> Mapping[str, Answering]:
        """Return what answers each path."""
        return {
            "/api/boot": self._boot,
            "/api/status": self._status,
            "/api/tasks": self._tasks,
            "/api/tasks/{task}": self._task,
            "/api/tasks/{task}/rows": self._rows,
            "/api/tasks/{task}/log": self._log,
            "/api/tasks/{task}/receipt": self._receipt,
            "/api/playbooks": self._playbooks,
            "/api/folder": self._folder,
            "/api/file": self._file,
            "/api/image": self._image,
            "/api/audit": self._audit,
            "/api/settings": self._settings,
            "/api/statistics": self._statistics,
            "/api/passkeys": self._passkeys,
        }

    async def _boot(self, request: web.Request) -> PageBoot:
        # The cursor first: what happens while the rest is read is told once more, not missed.
        cursor = await self._parts.db.run(self._parts.db.journal.tasks.events_cursor)
        settled = self._parts.settings.language
        lang = self._preferred("lang", settled or _language(request) or self._parts.lang)
        return PageBoot(
            words={key: one.zh if lang == "zh" else one.en for key, one in catalogue().items()},
            lang=lang,
            theme=self._preferred("theme", "auto"),
            prefix=self._parts.settings.prefix,
            verbs=tuple(
                PageVerb(
                    name=one.name,
                    en=one.usage.en,
                    zh=one.usage.zh,
                    summary=Text(one.summary.en, one.summary.zh),
                )
                for one in COMMANDS
                if not one.for_gateway
            ),
            status=await self._status(request),
            passkeys=bool((await self._parts.passkeys.listed()).passkeys),
            life=self._live.life,
            cursor=cursor,
        )

    def _preferred(self, name: str, otherwise: str) -> str:
        """Return what the person prefers; what is kept may be damaged, or from another version."""
        chosen = self._preferences.get(name)
        return chosen if chosen in PREFERENCES[name] else otherwise

    async def _status(self, _request: web.Request) -> StatusView:
        told = await self._ask_agent("status")
        assert isinstance(told, StatusView)  # noqa: S101 - what the operation gives
        return told

    async def _tasks(self, request: web.Request) -> PageRows:
        """Return a page of the list, newest first, from after a task on."""
        query, journal = request.query, self._parts.db.journal
        limit = min(max(number_of(query.get("limit", "50")), 1), MAX_PAGE)
        before, find = query.get("before") or None, query.get("find", "")[:MAX_FIND]
        tasks = await self._parts.db.run(
            journal.tasks.page,
            before=before,
            limit=limit + 1,
            find=find,
            open_only=query.get("open") == "1",
        )
        return PageRows(tasks=await self._rows_of(tasks[:limit]), more=len(tasks) > limit)

    async def _rows_of(
        self, tasks: Sequence[Task], standing: RunStanding | None = None
    ) -> tuple[PageRow, ...]:
        until = {asked.task_id: asked.expires_at for asked in await self._parts.gate.pending()}
        return await asyncio.to_thread(
            lambda: tuple(
                row_of(one, expires_at=until.get(one.task_id), standing=standing) for one in tasks
            )
        )

    async def _task(self, request: web.Request) -> PageTask:
        """Return all of a task: what was asked, what would be done, and how it went until now."""
        task = await self._named(request)
        journal = self._parts.db.journal
        timeline = await self._parts.db.run(journal.tasks.timeline, task.task_id, limit=MAX_MOMENTS)
        shown = await self._ask_agent("show", task=task.short_id)
        assert isinstance(shown, Shown)  # noqa: S101 - what the operation gives
        found = await self._proposed(task, shown.approval)
        (row,) = await self._rows_of([task])
        return PageTask(
            task=shown.task,
            row=replace(row, part=shown.task.part),
            kind=json.loads(task.intent_json)["kind"] if task.intent_json else None,
            timeline=tuple(_moment(*one) for one in timeline),
            streaming=self._live.said_so_far(task.task_id),
            approval=found.approval,
            question=found.question,
            files=found.files,
            steps=await self._steps(task),
        )

    async def _proposed(self, task: Task, told: ApprovalView | None) -> _Proposed:
        """Return what would be done, as it is asked, or as it is only proposed."""
        if told is None:
            names = _diffs_of(task)
            if not names:
                return _Proposed()
            model = await asyncio.to_thread(parse_diff, await self._diff(names) or b"")
            model = model.in_encodings(_encodings_of(task))
            return _Proposed(files=await asyncio.to_thread(proposed_files, model))
        unreadable: CodexBridgeError | None = None
        asking: PageQuestion | None = None
        files: tuple[PageFile, ...] = ()
        try:
            asked = await self._asked(told)
            asking, files = asked.question(), await asyncio.to_thread(asked.files)
        except CodexBridgeError as error:  # such as a diff that is kept no longer
            unreadable = error
        approval = PageApproval(
            approval_id=told.approval_id,
            code=short_code(told.digest),
            approver=told.approver,
            decided_at=told.decided_at,
            state=told.state,
            blocked=told.blocked,
            can_narrow=told.can_narrow,
            can_check=told.can_check,
            unreadable=said_of(unreadable) if unreadable else None,
        )
        return _Proposed(approval, asking, files)

    async def _steps(self, task: Task) -> tuple[PageRow, ...]:
        """Return the tasks that ask for steps of the run which a task carries."""
        if task.run is None or task.step is not None:
            return ()
        journal = self._parts.db.journal
        found = await self._parts.db.run(journal.tasks.of_run, task.run)
        return await self._rows_of([one for one in found if one.step is not None])

    async def _rows(self, request: web.Request) -> Json:
        """Return lines of one file of a task's diff."""
        task, query = await self._named(request), request.query
        index, first = number_of(query.get("file", "")), number_of(query.get("first", "0"))
        files = await self._file_diffs(task)
        if index >= len(files) or (file := files[index]) is None:
            raise StateError("diff.none", task=task.short_id)
        return await asyncio.to_thread(file_rows, file, first=first)

    async def _file_diffs(self, task: Task) -> Sequence[FileDiff | None]:
        """Return the diff of each file of a task; the last few tasks' stay at hand."""
        journal = self._parts.db.journal
        stored = await self._parts.db.run(journal.approvals.newest_of, task.task_id)
        key = stored.digest if stored else "".join(_diffs_of(task))
        if (found := self._diffs.get(key)) is not None:
            self._diffs.move_to_end(key)
            return found
        if stored is not None:
            asked = await self._asked(await self._parts.teller.tell(stored.approval_id))
            found = await asyncio.to_thread(asked.diffs)
        else:
            diff = await self._diff(_diffs_of(task))
            model = await asyncio.to_thread(parse_diff, diff) if diff else DiffModel(())
            found = model.in_encodings(_encodings_of(task)).files
        self._diffs[key] = found
        while len(self._diffs) > KEPT_DIFFS:
            self._diffs.popitem(last=False)
        return found

    async def _log(self, request: web.Request) -> web.Response:
        task = await self._named(request)
        pieces = [
            base64.b64decode(as_json(value)["log"])
            async for last, value in self._answers("log", task=task.short_id)
            if not last
        ]
        text = b"".join(pieces).decode("utf-8", "replace")
        return web.Response(text=text, content_type="text/plain", charset="utf-8")

    async def _receipt(self, request: web.Request) -> web.Response:
        task = await self._named(request)
        told = await self._ask_agent("receipt", task=task.short_id)
        return web.Response(text=as_json(told)["receipt"], content_type="text/plain")

    async def _playbooks(self, _request: web.Request) -> PagePlaybooks:
        from local_agent.faces.page.playbooks import listed

        found = await asyncio.to_thread(listed, self._parts.places)
        runs = as_json(await self._ask_agent("runs"))["runs"]
        return PagePlaybooks(playbooks=found, runs=tuple(from_json(PageRun, one) for one in runs))

    async def _folder(self, request: web.Request) -> FolderView:
        path, after = request.query.get("path", ""), request.query.get("after", "")
        return await asyncio.to_thread(
            lambda: list_folder(self._workspace(request), path, after=after)
        )

    async def _file(self, request: web.Request) -> FileView:
        path, first = request.query.get("path", ""), number_of(request.query.get("first", "1"))
        return await asyncio.to_thread(
            lambda: view_file(self._workspace(request), path, first_line=max(first, 1))
        )

    async def _image(self, request: web.Request) -> web.Response:
        path = request.query.get("path", "")
        media_type, body = await asyncio.to_thread(
            lambda: read_image(self._workspace(request), path)
        )
        return web.Response(body=body, content_type=media_type)

    def _workspace(self, request: web.Request) -> Workspace:
        """Return the workspace that a request names; blocks."""
        return self._parts.workspaces.find(request.query.get("workspace") or None)

    async def _audit(self, request: web.Request) -> AuditView:
        before = number_of(request.query["before"]) if "before" in request.query else None
        return await self._parts.db.run(audit_view, self._parts.db.journal, before=before)

    async def _settings(self, _request: web.Request) -> Json:
        parts = self._parts
        found = await asyncio.to_thread(
            effective_settings, parts.settings, file=parts.settings_file, environ=parts.environ
        )
        places = await asyncio.to_thread(workspaces_view, parts.places, parts.workspaces)
        models = await self._ask_agent("models")
        return {
            "settings": to_json(found),
            "workspaces": to_json(places),
            "models": as_json(models),
            "passkeys": to_json(await parts.passkeys.listed()),
            "described": {key: [one.en, one.zh] for key, one in DESCRIPTIONS.items()},
        }

    async def _statistics(self, request: web.Request) -> StatisticsView:
        query = request.query
        days = number_of(query.get("days", "30"))
        offset = query.get("offset", "0")
        if not 1 <= days <= MAX_DAYS or not OFFSET.fullmatch(offset):
            raise RemoteProtocolError("control.malformed")
        return await read_statistics(
            self._parts.db,
            self._parts.models,
            now_ms=self._parts.clock.now().wall_ms,
            days=days,
            utc_offset_minutes=int(offset),
        )

    async def _passkeys(self, _request: web.Request) -> PasskeyList:
        return await self._parts.passkeys.listed()


@dataclass(frozen=True, slots=True)
class _Proposed:
    approval: PageApproval | None = None
    question: PageQuestion | None = None
    files: tuple[PageFile, ...] = ()


def _moment(seq: int, at: int, event: Mapping[str, Any]) -> PageMoment:
    """Return of a stored event what a time line shows; the whole result is told elsewhere."""
    is_state = event.get("type") == "task_state"
    return PageMoment(
        seq=seq,
        at=at,
        state=event.get("state") if is_state else None,
        message=event.get("message") or "" if is_state else "",
    )


def _diffs_of(task: Task) -> Sequence[str]:
    """Return the SHA-256 of each diff that a task proposes."""
    return tuple(one["diffId"] for one in _proposals(task) if "diffId" in one)


def _encodings_of(task: Task) -> dict[str, str | None]:
    files = (file for one in _proposals(task) for file in one.get("files", ()))
    return {file["path"]: file.get("encoding") for file in files}


def _proposals(task: Task) -> Sequence[Json]:
    proposal = json.loads(task.proposal_json)["proposal"] if task.proposal_json else {}
    return (proposal, *(one["proposal"] for one in proposal.get("parts", ())))


def _language(request: web.Request) -> str:
    """Return the language that the browser asks for first, nothing where it is none of ours."""
    first = request.headers.get("Accept-Language", "")[:2].lower()
    return first if first in LANGS else ""
