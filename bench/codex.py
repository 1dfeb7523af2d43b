"""What our part of a codex turn costs, beside the same turn driven by hand in the same run.

    python -m bench.codex [--rounds N] [--json]

A turn is one request with one edit: the model (scripted, on loopback) calls ``apply_patch``, then
says a sentence.  *Bare* drives a warm ``codex app-server`` with plain lines, accepts the edit
without a look and reads the file back.  *Whole* is the backend in a scratch copy that is lent for
it: its client, the gate, and our diff at the end.  Both run the same binary under the same
configuration.  They take turns, in either order; the ratio is the median over the rounds.

*start* is a first question, to a program that must be found, checked and started.

Aim: whole at most 1.3 times bare.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import Any, Final

from bench.aims import Aim
from common.home import Home
from local_agent.models.backend import Turn
from local_agent.models.codex.backend import CodexBackend
from local_agent.models.codex.lockdown import CodexModel, environment, make_place, remove_place
from local_agent.models.codex.program import Surroundings, find_program
from local_agent.propose.scratch import Scratches
from local_agent.workspace.registry import Workspace
from tests.codex_program import PROGRAM, is_there
from tests.model_script import apply_patch, text
from tests.model_server import started

AIM: Final = Aim(1.3)
FILES: Final = 200
BEFORE: Final = "".join(f"line {number}\n" for number in range(100))
PATCH: Final = "\n".join(
    [
        *("*** Begin Patch", "*** Update File: file-7.txt", "@@"),
        *(" line 49", "-line 50", "+line fifty", " line 51", "*** End Patch"),
    ]
)
INSTRUCTIONS: Final = "Make the change that is asked for."
PROMPT: Final = "Write the fiftieth line of file-7.txt in words.\n\n" + BEFORE


class Bare:
    """A warm app-server and plain lines."""

    def __init__(self, program: Process, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self._number = 0

    async def hello(self) -> None:
        """Open the conversation."""
        info = {"clientInfo": {"name": "bench", "version": "1"}, "capabilities": None}
        await self._ask("initialize", info)
        self._say({"method": "initialized"})

    async def turn(self) -> float:
        """Make one turn and return its seconds."""
        file = self._folder / "file-7.txt"
        file.write_text(BEFORE, encoding="utf-8")
        began = time.perf_counter()
        thread = await self._ask(
            "thread/start",
            {
                "cwd": str(self._folder),
                "sandbox": "read-only",
                "approvalPolicy": "on-request",
                "approvalsReviewer": "user",
                "ephemeral": True,
                "developerInstructions": INSTRUCTIONS,
            },
        )
        words = [{"type": "text", "text": PROMPT}]
        await self._ask("turn/start", {"threadId": thread["thread"]["id"], "input": words})
        while (message := await self._hear()).get("method") != "turn/completed":
            pass
        assert message["params"]["turn"]["status"] == "completed", message
        assert b"fifty" in file.read_bytes()
        return time.perf_counter() - began

    async def _ask(self, method: str, params: object) -> Any:
        self._number += 1
        self._say({"id": self._number, "method": method, "params": params})
        while (message := await self._hear()).get("id") != self._number or "method" in message:
            pass
        return message["result"]

    async def _hear(self) -> dict[str, Any]:
        assert self._program.stdout
        message: dict[str, Any] = json.loads(await self._program.stdout.readline())
        if "method" in message and "id" in message:
            self._say({"id": message["id"], "result": {"decision": "accept"}})
        return message

    def _say(self, message: object) -> None:
        assert self._program.stdin
        self._program.stdin.write(json.dumps(message).encode() + b"\n")


class Whole:
    """The backend, with a scratch copy and our diff."""

    def __init__(self, backend: CodexBackend, scratches: Scratches, workspace: Workspace) -> None:
        self._backend = backend
        self._scratches = scratches
        self._workspace = workspace

    async def turn(self) -> float:
        """Make one turn and return its seconds."""
        began = time.perf_counter()
        async with self._scratches.lend(self._workspace, whole=True) as scratch:
            turn = Turn(
                task_id="bench",
                instructions=INSTRUCTIONS,
                prompt=PROMPT,
                want="edits",
                scratch=scratch,
            )
            await self._backend.ask(turn, lambda _: None)
            made = await scratch.diff()
        took = time.perf_counter() - began
        assert b"+line fifty" in made.diff
        return took


async def measure(folder: Path, rounds: int) -> dict[str, float]:
    """Return seconds and ratios."""
    workspace = Workspace(name="bench", path=folder / "workspace")
    bare_folder = folder / "bare"
    for made in (workspace.path, bare_folder):
        made.mkdir()
        for number in range(FILES):
            (made / f"file-{number}.txt").write_text(BEFORE, encoding="utf-8")
    # Each request asks for the patch until the conversation holds its outcome.
    done = text("The fiftieth line is in words.", when="custom_tool_call_output")
    turns = 2 * rounds + 8
    with started(folder, *[done] * turns, then=apply_patch(PATCH)) as service:
        model = CodexModel(
            name="bench", model="bench-1", base_url=service.base_url, program=PROGRAM
        )
        around = Surroundings(folder=folder / "codex", environ={}, workspaces=lambda: ())
        backend = CodexBackend(model, around, max_turns=10_000)
        whole = Whole(backend, Scratches(_home(folder)), workspace)
        place = make_place(folder / "by-hand", model)
        program = await asyncio.create_subprocess_exec(
            *(str(find_program(PROGRAM, {}, ())), "app-server", "--strict-config"),
            cwd=place.home,
            env=environment(place, None),
            stdin=PIPE,
            stdout=PIPE,
            limit=1 << 24,
        )
        try:
            bare = Bare(program, bare_folder)
            await bare.hello()
            first = await whole.turn()
            return {"start": first, **await _compare(bare, whole, rounds)}
        finally:
            await backend.aclose()
            program.kill()
            await program.wait()
            remove_place(place)


async def _compare(bare: Bare, whole: Whole, rounds: int) -> dict[str, float]:
    for _ in range(2):
        await bare.turn()
        await whole.turn()
    times: dict[Any, list[float]] = {bare: [], whole: []}
    for number in range(rounds):
        for one in (bare, whole) if number % 2 else (whole, bare):
            times[one].append(await one.turn())
    ratios = [ours / theirs for ours, theirs in zip(times[whole], times[bare], strict=True)]
    return {
        "bare": statistics.median(times[bare]),
        "whole": statistics.median(times[whole]),
        "ratio": statistics.median(ratios),
    }


def _home(folder: Path) -> Home:
    return Home(folder / "config", folder / "state", folder / "run")


def main() -> int:
    """Measure, print, and return 0: a figure is a report, not a verdict."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="5 rounds")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not is_there():
        print("codex is not installed (make codex): nothing measured")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(measure(Path(folder), 5 if options.quick else options.rounds))
    if options.json:
        print(json.dumps(found, indent=2))
        return 0
    print(f"a warm turn by hand    {found['bare'] * 1000:7.1f} ms")
    print(f"the whole backend      {found['whole'] * 1000:7.1f} ms")
    print(f"ratio                  {found['ratio']:7.2f}     ({AIM.beside(found['ratio'])})")
    print(f"a first question       {found['start'] * 1000:7.1f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
