"""What the tools of a playbook do: they read, or word what they would change as a proposal.

Nothing is changed here, and nothing is asked.  A playbook reads what the person's own search and
questions may: behind the path guard, without what git ignores, without secrets by their names and
without what the person denies.  What it reads it reads exactly: secrets within a text stay in it,
as whoever writes the text back must have them, and whoever sends it away takes them out.
Everything is bounded, and a bound that is reached is an error and never a shorter result.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

from common.diff.parse import parse_diff
from common.errors import InputError
from common.model.proposal import CommandProposal, Diff
from common.sentences import LANGS
from local_agent.actions.run_command.command_line import of_argv, read_command_line
from local_agent.actions.run_command.perform import MAX_TIMEOUT_S
from local_agent.playbooks import history
from local_agent.playbooks.globs import Glob
from local_agent.playbooks.tools import TOOLS, check_arguments
from local_agent.propose.diffs import diff_proposal
from local_agent.propose.scratch.diffing import Change, Side, make_diff
from local_agent.reports.words import from_facts, verdict
from local_agent.workspace import files, paths
from local_agent.workspace.files import MAX_QUERY_BYTES, SearchLimits
from local_agent.workspace.listing import Listing, ListingLimits
from local_agent.workspace.registry import Workspace
from local_agent.workspace.tree import open_tree, parts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    Arguments = Mapping[str, JsonValue]
    Result = dict[str, JsonValue]

MAX_READ_BYTES: Final = 8 * 1024 * 1024
MAX_STDIN_BYTES: Final = 64 * 1024  # a person reads all of it, and it is sealed
MAX_LISTED: Final = 50_000
MAX_PLACES: Final = 10_000
SECONDS: Final = 30.0
_ANY_SIZE: Final = 2**62
_LISTED: Final = ListingLimits(files=MAX_LISTED, file_bytes=_ANY_SIZE, total_bytes=_ANY_SIZE)
_SEARCHED: Final = replace(_LISTED, file_bytes=MAX_READ_BYTES)
_WHY: Final = {
    "path.malformed": "name",
    "diff.name": "name",
    "change.too-deep": "name",
    "path.denied": "denied",
    "path.missing": "missing",
    "path.link": "link",
    "path.not-regular": "not-regular",
    "path.binary": "not-text",
    "path.too-large": "too-large",
}

# Gives the diff and what is said with it.
ProposeChange = Callable[[str, Workspace], Awaitable[tuple[bytes, str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a changing tool would do.

    Attributes:
        proposal: What is to be approved and performed; None where nothing would change.
        result: The tool's result at once, where there is nothing to do; else None.
    """

    proposal: Diff | CommandProposal | None = None
    result: Result | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """The tools of a playbook.

    Attributes:
        keep: Stores exact bytes and returns their SHA-256 (`local_agent.store.blobs`).  Blocking.
        fetch: Gives them back.  Blocking.
        propose_change: Has the model propose a change in a scratch copy; None without a model.
    """

    keep: Callable[[bytes], str]
    fetch: Callable[[str], bytes]
    propose_change: ProposeChange | None = None

    async def read(self, tool: str, arguments: Arguments, workspace: Workspace) -> Result:
        """Return the result of a tool that changes nothing.

        Raises:
            CodexBridgeError: ``playbook.*``: it cannot be read, or is more than a step reads;
                ``path.missing``: the workspace went away; and whatever proposing a change raises.
        """
        check_arguments(TOOLS[tool], arguments)
        given = cast("Mapping[str, Any]", arguments)  # of the types that the table names
        match tool:
            case "read_file":
                return await asyncio.to_thread(_read_file, workspace, given["path"])
            case "list_files":
                return {"files": [*(await _listed(workspace, given["glob"])).files]}
            case "search":
                return await _search(workspace, given["query"], given.get("glob"))
            case "git_status":
                return await asyncio.to_thread(history.status, workspace)
            case "git_tags":
                return await asyncio.to_thread(history.tags, workspace, given.get("limit"))
            case "git_log":
                asked = given.get("since"), given.get("limit")
                return await asyncio.to_thread(history.log, workspace, *asked)
            case "git_diff":
                return await asyncio.to_thread(
                    history.diff, workspace, given["base"], given.get("head")
                )
            case "propose_change":
                return await self._propose_change(workspace, given["request"])
        raise InputError("playbook.tool", tool=tool)

    async def propose(self, tool: str, arguments: Arguments, workspace: Workspace) -> Wanted:
        """Return what a tool that changes something would do now; nothing is touched.

        Raises:
            CodexBridgeError: ``playbook.*``, ``diff.*``, ``change.*`` or ``command.*``: it cannot
                be done so.  What only the whole surroundings can tell is found when it is sealed.
        """
        check_arguments(TOOLS[tool], arguments)
        given = cast("Mapping[str, Any]", arguments)
        match tool:
            case "write_file":
                data = _encoded(tool, "content", given["content"])
                diff = await asyncio.to_thread(_rewritten, workspace, given["path"], data)
                if not diff:
                    return Wanted(result=_written(given["path"], data))
                return Wanted(proposal=await asyncio.to_thread(self._as_diff, diff))
            case "apply_diff":
                diff = _encoded(tool, "diff", given["diff"])
                return Wanted(proposal=await asyncio.to_thread(self._as_diff, diff))
            case "run_command":
                return Wanted(proposal=await asyncio.to_thread(_command, workspace, given))
            case "workspace_test" if workspace.test_command:
                line = read_command_line(workspace.test_command)
                return Wanted(proposal=CommandProposal(cmd=line.display, argv=line.argv))
            case "workspace_test":
                raise InputError("playbook.no-test", workspace=workspace.name)
        raise InputError("playbook.tool", tool=tool)

    async def result(
        self, tool: str, arguments: Arguments, did: Mapping[str, Any] | None = None
    ) -> Result:
        """Return the result of a tool that has performed what it proposed.

        The exit code is None where a signal or a bound ended the command.

        Args:
            tool: Its name.
            arguments: As they were proposed.
            did: What was done, as it is kept (`actions.operation.Ended.did`); a command must have
                been performed with `Performing.streams`.

        Raises:
            InputError: ``playbook.output-lost``.
            CodexBridgeError: as `local_agent.store.blobs.Blobs.get`.
        """
        given = cast("Mapping[str, Any]", arguments)
        match tool:
            case "write_file":
                return _written(given["path"], _encoded(tool, "content", given["content"]))
            case "apply_diff":
                diff = _encoded(tool, "diff", given["diff"])
                return {"files": await asyncio.to_thread(_touched, diff)}
            case "run_command" | "workspace_test" if did is not None:
                streams: Mapping[str, Any] = did.get("streams") or {}
                texts: Result = {
                    name: await asyncio.to_thread(self._stream, streams.get(name))
                    for name in ("stdout", "stderr")
                }
                run = did["run"]
                # What was ended may have caught that, and said that all was well.
                if (run.get("report") or {}).get("exit_code") == 0:
                    report = from_facts(run["report"])  # of failures, whatever the exit code says
                    texts["reported"] = {lang: verdict(report, lang) for lang in LANGS}
                return {"exit_code": run["exit_code"] if run["code"] is None else None, **texts}
        raise InputError("playbook.tool", tool=tool)

    async def _propose_change(self, workspace: Workspace, request: str) -> Result:
        if self.propose_change is None:
            raise InputError("playbook.no-model")
        diff, summary = await self.propose_change(request, workspace)
        try:
            return {"diff": diff.decode("utf-8"), "summary": summary}
        except UnicodeDecodeError:
            # With other characters in their place it would be another diff.
            raise InputError("playbook.file", path="diff", why="not-text") from None

    def _as_diff(self, diff: bytes) -> Diff:
        model = parse_diff(diff)
        return diff_proposal(self.keep(diff), diff, model)

    def _stream(self, kept: Mapping[str, Any] | None) -> str:
        if kept is None or kept["sha256"] is None:
            raise InputError("playbook.output-lost")
        data, dropped = self.fetch(kept["sha256"]), kept["dropped"]
        if dropped:
            half, mark = len(data) // 2, f"\n[… {dropped} bytes left out …]\n"
            data = data[:half] + mark.encode() + data[half:]
        return data.decode("utf-8", "replace")


# --- reading ---


@contextmanager
def _about(path: str) -> Iterator[None]:
    """Name the path in an error of the path guard."""
    try:
        yield
    except InputError as error:
        if error.code not in _WHY:
            raise
        facts = {**error.facts, "path": path, "why": _WHY[error.code]}
        raise InputError("playbook.file", **facts) from None


def _read_file(workspace: Workspace, path: str) -> Result:
    with workspace.opened() as root, _about(path):
        data = paths.read_bytes(root, paths.check_relative(path), max_bytes=MAX_READ_BYTES)
        data = root.encodings.shown(path, data)
    try:
        return {"path": path, "content": data.decode("utf-8"), "size": len(data)}
    except UnicodeDecodeError:
        raise InputError("playbook.file", path=path, why="not-text") from None


async def _listed(workspace: Workspace, glob: str | None) -> Listing:
    """Return the files that may be read and that a pattern means."""
    wanted = None if glob is None else Glob(glob)
    limits = SearchLimits(listing=_LISTED, seconds=SECONDS)
    found = await files.list_files(workspace.path, limits=limits, deny=workspace.deny)
    if found.truncated or found.skipped.get("too-large"):  # with no limit of size: too deep
        raise InputError("playbook.too-many-files", limit=MAX_LISTED)
    if wanted is None:
        return found
    meant = await asyncio.to_thread(lambda: tuple(filter(wanted.matches, found.files)))
    return replace(found, files=meant)


async def _search(workspace: Workspace, query: str, glob: str | None) -> Result:
    among = replace(await _listed(workspace, glob), near_large=True)
    limits = SearchLimits(listing=_SEARCHED, matches=MAX_PLACES, seconds=SECONDS)
    try:
        (found,) = await files.search_all(
            workspace.path,
            (query,),
            among=among,
            limits=limits,
            deny=workspace.deny,
            encoding=workspace.encoding,
        )
    except InputError as error:
        if error.code != "search.query":
            raise
        raise InputError("playbook.query", limit=MAX_QUERY_BYTES) from None
    if found.truncated:
        raise InputError("playbook.search-cut", limit=MAX_PLACES, seconds=round(SECONDS))
    return {
        "items": [
            {"path": item.path, "line": item.line, "preview": item.preview} for item in found.items
        ]
    }


# --- what would change ---


def _encoded(tool: str, argument: str, text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:  # half of a pair, which JSON can write
        raise InputError("playbook.not-unicode", tool=tool, argument=argument) from None


def _rewritten(workspace: Workspace, path: str, data: bytes) -> bytes:
    """Return the diff that gives a file this content; empty where it has it."""
    with _about(path):
        parts = parts_of(path)
    with open_tree(workspace.path, deny=workspace.deny, encoding=workspace.encoding) as tree:
        if paths.matches(parts, tree.deny):
            raise InputError("change.denied", path=path)
        found = tree.find(parts)
        data, _ = tree.encodings.rewritten(path, found.data if found else b"", data)
    executable = found is not None and bool(found.mode & 0o100)
    old = None if found is None else Side(found.data, executable=executable)
    try:
        return make_diff([Change(path, old, Side(data, executable=executable))])
    except InputError as error:
        if error.code != "diff.refused":
            raise
        raise InputError("playbook.file", path=path, why="binary") from None


def _written(path: str, data: bytes) -> Result:
    return {"path": path, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _touched(diff: bytes) -> list[JsonValue]:
    touched: set[str] = set()
    for file in parse_diff(diff).files:
        touched.add(file.path)
        if file.op == "rename" and file.old_path is not None:
            touched.add(file.old_path)
    return [*sorted(touched)]


def _command(workspace: Workspace, given: Mapping[str, Any]) -> CommandProposal:
    line = of_argv(given["argv"])
    timeout_s: int | None = given.get("timeout_s")
    if timeout_s is not None and not 1 <= timeout_s <= MAX_TIMEOUT_S:
        raise InputError("playbook.limit", argument="timeout_s", most=MAX_TIMEOUT_S)
    cwd: str | None = given.get("cwd")
    if cwd == ".":
        cwd = None
    if cwd is not None:
        _check_folder(workspace, cwd)
    stdin: str | None = given.get("stdin")
    if stdin is not None and len(_encoded("run_command", "stdin", stdin)) > MAX_STDIN_BYTES:
        raise InputError("playbook.too-long", argument="stdin", limit=MAX_STDIN_BYTES)
    return CommandProposal(
        cmd=line.display, argv=line.argv, cwd=cwd, timeout_s=timeout_s, stdin=stdin
    )


def _check_folder(workspace: Workspace, cwd: str) -> None:
    """Return when a command may start in a folder: one of the workspace itself, by no link.

    Raises:
        InputError: ``playbook.file``.
    """
    with _about(cwd), open_tree(workspace.path, deny=workspace.deny) as tree:
        parts = parts_of(cwd)
        try:
            found = tree.folder(parts)
        except InputError:
            found = None
        if found is None:
            raise InputError("playbook.file", path=cwd, why="not-a-folder")
