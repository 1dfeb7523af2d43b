"""A scripted ``codex app-server``: `main`, with ``SCRIPT.json app-server …`` (`codex_desk`).

It speaks the lines of the real one and, as that does, writes files itself once an edit was
accepted, wherever the path leads.  The script is JSON: ``log`` (a file that gets each
line it was sent, and its environment first), ``thread`` (more of the answer to ``thread/start``),
``complains`` (said on stderr), ``refuses`` (methods answered with an error) and ``turns``: a list
of steps for each turn in order, the last for all that follow.  ``when`` maps words to the steps of
a turn whose input holds them.  What a step does is said at the functions below.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

Steps = Generator[int | None, dict[str, Any], None]  # yields the request whose answer it awaits


class Turn:
    """One turn of one thread."""

    def __init__(self, server: Server, thread: str, number: str, steps: list[Any]) -> None:
        self.server = server
        self.ids = {"threadId": thread, "turnId": number}
        self.cwd = server.folders[thread]
        self.waits_for: int | None = None
        self.is_deaf = False
        self._steps = self._run(steps)

    def go_on(self, answer: dict[str, Any] | None = None) -> None:
        """Do the next steps, until one waits for an answer or for ever."""
        try:
            self.waits_for = self._steps.send(answer)  # type: ignore[arg-type]  # None begins
        except StopIteration:
            self.end("completed")

    def end(self, status: str, error: object = None) -> None:
        self.server.turns.remove(self)
        self.say(
            "turn/completed", turn={"id": self.ids["turnId"], "status": status, "error": error}
        )

    def say(self, method: str, **params: object) -> None:
        self.server.send({"method": method, "params": {**self.ids, **params}})

    def _run(self, steps: list[Any]) -> Steps:
        self.say("turn/started")
        for number, step in enumerate(steps):
            yield from getattr(self, f"_{step['do']}")(step, f"item_{number}")

    def _text(self, step: Any, name: str) -> Steps:
        """Say ``text`` in deltas of ``piece`` characters."""
        self.say("item/started", item={"type": "agentMessage", "id": name, "text": ""})
        size = step.get("piece", 10)
        for at in range(0, len(step["text"]), size):
            delta = step["text"][at : at + size]
            self.say("item/agentMessage/delta", itemId=name, delta=delta)
        self.say("item/completed", item={"type": "agentMessage", "id": name, "text": step["text"]})
        yield from ()

    def _usage(self, step: Any, _: str) -> Steps:
        """Tell what was used: ``input`` and ``output``."""
        total = {"inputTokens": step["input"], "outputTokens": step["output"]}
        self.say("thread/tokenUsage/updated", tokenUsage={"total": total})
        yield from ()

    def _change(self, step: Any, name: str) -> Steps:
        """Ask to make ``changes`` (op, path, text, to), and make them unless it ``breaks``."""
        item = {
            "type": "fileChange",
            "id": name,
            "changes": [self._told(c) for c in step["changes"]],
        }
        self.say("item/started", item=item)
        if "then" in step:
            self.say(step["then"], itemId=name, changes=[])
        asked = {"itemId": name, **self.ids, **step.get("with", {})}
        answer = yield self.server.ask("item/fileChange/requestApproval", asked)
        accepted = answer.get("result") == {"decision": "accept"}
        if accepted and not step.get("breaks"):
            for change in step["changes"]:
                self._make(change)
        item["status"] = "failed" if step.get("breaks") else "completed" if accepted else "declined"
        self.say("item/completed", item=item)

    def _ask(self, step: Any, _: str) -> Steps:
        """Ask ``method`` with ``params``, and wait for the answer."""
        yield self.server.ask(step["method"], {**self.ids, **step.get("params", {})})

    def _tell(self, step: Any, _: str) -> Steps:
        """Tell ``method`` with ``params``."""
        self.say(step["method"], **step.get("params", {}))
        yield from ()

    def _raw(self, step: Any, _: str) -> Steps:
        """Write ``line`` as it is, ``times`` times in one line."""
        sys.stdout.write(step["line"] * step.get("times", 1) + "\n")
        sys.stdout.flush()
        yield from ()

    def _fail(self, step: Any, _: str) -> Steps:
        """End the turn with ``error``."""
        self.end("failed", step["error"])
        yield None

    def _hang(self, step: Any, _: str) -> Steps:
        """Say nothing more; with ``deaf`` not even when interrupted."""
        self.is_deaf = step.get("deaf", False)
        yield None

    def _crash(self, _: Any, __: str) -> Steps:
        """End at once."""
        os._exit(3)
        yield None

    def _cling(self, step: Any, _: str) -> Steps:
        """Ignore what asks to end, and leave a process behind that does so, too."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0:
            os.setsid()
            Path(step["tells"]).write_text(str(os.getpid()), encoding="utf-8")
            time.sleep(60)
            os._exit(0)
        while not Path(step["tells"]).exists():
            time.sleep(0.01)
        self.say("item/started", item={"type": "clinging", "id": "x"})
        time.sleep(60)
        yield None

    def _told(self, change: Any) -> dict[str, Any]:
        kind: dict[str, Any] = {"type": change["op"]}
        if change["op"] == "update":
            kind["move_path"] = self._absolute(change["to"]) if change.get("to") else None
        path = self._absolute(change["path"])
        return {"path": path, "kind": kind, "diff": change.get("text", "")}

    def _absolute(self, path: str) -> str:
        return f"{self.cwd}/{path}" if not path.startswith("/") else path

    def _make(self, change: Any) -> None:
        path = Path(self._absolute(change["path"]))
        if change["op"] == "delete" or change.get("to"):
            path.unlink()
        if change["op"] != "delete":
            path = Path(self._absolute(change.get("to") or change["path"]))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(change["text"].encode())


class Server:
    """The program."""

    def __init__(self, script: dict[str, Any]) -> None:
        self._script = script
        self._asked = -1
        self._begun = self._count_begun()  # also by those before it
        self.folders: dict[str, str] = {}
        self.turns: list[Turn] = []

    def run(self) -> None:
        """Answer until the end of stdin."""
        self._log(dict(os.environ))
        sys.stderr.write(self._script.get("complains", ""))
        sys.stderr.flush()
        for line in sys.stdin:
            message = json.loads(line)
            self._log(message)
            if "method" not in message:
                waiting = [turn for turn in self.turns if turn.waits_for == message["id"]]
                waiting[0].go_on(message)
            elif "id" in message:
                self._answer(message["id"], message["method"], message["params"])

    def send(self, message: object) -> None:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()

    def ask(self, method: str, params: object) -> int:
        self._asked += 1
        self.send({"id": self._asked, "method": method, "params": params})
        return self._asked

    def _answer(self, number: int, method: str, params: Any) -> None:
        if method in self._script.get("refuses", ()):
            self.send({"id": number, "error": {"code": -32600, "message": "scripted refusal"}})
            return
        if method == "turn/start":
            self._start(number, params["threadId"], json.dumps(params["input"]))
            return
        result: dict[str, Any] = {}
        if method == "thread/start":
            thread = f"thread-{len(self.folders)}"
            self.folders[thread] = params["cwd"]
            result = {
                "thread": {"id": thread},
                "approvalPolicy": "on-request",
                "approvalsReviewer": "user",
                "sandbox": {"type": "readOnly", "networkAccess": False},
                "instructionSources": [],
                **self._script.get("thread", {}),
            }
        self.send({"id": number, "result": result})
        if method == "turn/interrupt":
            for turn in [turn for turn in self.turns if turn.ids == params and not turn.is_deaf]:
                turn.end("interrupted")

    def _start(self, number: int, thread: str, asked: str) -> None:
        turns, when = self._script["turns"], self._script.get("when", {})
        for_these_words = [steps for words, steps in when.items() if words in asked]
        steps = [*for_these_words, turns[min(self._begun, len(turns) - 1)]][0]
        self._begun += 1
        turn = Turn(self, thread, f"turn-{self._begun}", steps)
        self.turns.append(turn)
        self.send({"id": number, "result": {"turn": {"id": turn.ids["turnId"]}}})
        turn.go_on()

    def _count_begun(self) -> int:
        log = Path(self._script.get("log", os.devnull))
        return log.read_text(encoding="utf-8").count('"turn/start"') if log.exists() else 0

    def _log(self, line: object) -> None:
        if log := self._script.get("log"):
            with Path(log).open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


def main() -> None:
    """Be the program that the script tells of."""
    Server(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))).run()
