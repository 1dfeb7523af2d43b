"""A scripted agent of the Agent Client Protocol: ``python -I tests/acp_agent.py SCRIPT``.

Written by hand against the protocol's pages, not on the library that the product uses.  SCRIPT is
JSON: ``hello`` (more of the answer to ``initialize``), ``refuses`` (methods answered with an error:
code, message, data) and ``turns``: a list of steps for each prompt in order, the last for all that
follow.  What a step does is said at the functions below.  Each line that it is sent is kept in
``log.jsonl`` in its home, with its environment first.
"""

from __future__ import annotations

import itertools
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SESSION = "sess-1"
OPTIONS = [
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "once", "name": "Once", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


class Agent:
    """One run of the program."""

    def __init__(self, script: dict[str, Any]) -> None:
        self.script = script
        self.log = (Path.home() / "log.jsonl").open("a", encoding="utf-8")
        self.keep({"environ": dict(os.environ), "cwd": str(Path.cwd())})
        self.turn = 0
        self.numbers = itertools.count()
        self.result: dict[str, Any] = {}

    def keep(self, message: object) -> None:
        """Write down for the test."""
        self.log.write(json.dumps(message) + "\n")
        self.log.flush()

    def read(self) -> dict[str, Any]:
        """Return the next message; the end of the input ends the program."""
        line = sys.stdin.readline()
        if not line:
            sys.exit(0)
        message: dict[str, Any] = json.loads(line)
        self.keep(message)
        return message

    def send(self, **message: object) -> None:
        """Say one message."""
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def serve(self) -> None:
        """Answer until the end of the input."""
        while True:
            asked = self.read()
            if "id" in asked and "method" in asked:
                self.answer(asked["id"], asked["method"])

    def answer(self, number: object, method: str) -> None:
        if refusal := self.script.get("refuses", {}).get(method):
            self.send(id=number, error=refusal)
        elif method == "initialize":
            hello = {"protocolVersion": 1, "agentInfo": {"name": "scripted", "version": "1.2"}}
            self.send(id=number, result=hello | self.script.get("hello", {}))
        elif method == "session/new":
            self.send(id=number, result={"sessionId": SESSION})
        else:
            self.prompt(number)

    def prompt(self, number: object) -> None:
        turns = self.script["turns"]
        steps = turns[min(self.turn, len(turns) - 1)]
        self.turn += 1
        self.result = {"stopReason": "end_turn"}
        for step in steps:
            getattr(self, f"do_{step['do']}")(**{k: v for k, v in step.items() if k != "do"})
            if "error" in self.result:
                self.send(id=number, error=self.result["error"])
                return
        self.send(id=number, result=self.result)

    def update(self, event: str, **update: object) -> None:
        """Tell of something."""
        params = {"sessionId": SESSION, "update": {"sessionUpdate": event, **update}}
        self.send(method="session/update", params=params)

    def request(self, name: str, **params: object) -> dict[str, Any]:
        """Ask the client and return its whole answer."""
        number = next(self.numbers)
        self.send(id=number, method=name, params={"sessionId": SESSION, **params})
        while (answer := self.read()).get("id") != number or "method" in answer:
            pass
        return answer

    # --- steps ---

    def do_text(self, text: str) -> None:
        """Say something."""
        self.update("agent_message_chunk", content={"type": "text", "text": text})

    def do_permit(
        self,
        kind: str,
        paths: list[str],
        title: str = "",
        raw: object = None,
        write: dict[str, str] | None = None,
        told: str = "all",
    ) -> None:
        """Ask to do something; once it is allowed, write what was asked for.

        ``told`` says where the kind and paths stand: ``all`` in the request, ``before`` in the
        update before it.
        """
        call: dict[str, Any] = {"toolCallId": f"call-{next(self.numbers)}"}
        known = call | {
            "kind": kind,
            "title": title or kind,
            "locations": [{"path": self.place(path)} for path in paths],
            "rawInput": raw,
        }
        self.update("tool_call", **(known | {"status": "pending"}))
        asked = known if told == "all" else call
        answer = self.request("session/request_permission", toolCall=asked, options=OPTIONS)
        outcome = answer["result"]["outcome"]
        self.do_text(f"{outcome.get('optionId', outcome['outcome'])};")
        if outcome.get("optionId") == "once":
            for path, text in (write or {}).items():
                Path(path).write_text(text, encoding="utf-8")

    def do_write_through(self, path: str, text: str) -> None:
        """Have the client write a file."""
        answer = self.request("fs/write_text_file", path=self.place(path), content=text)
        self.do_text("refused;" if "error" in answer else "written;")

    def do_read_through(self, path: str, **more: int) -> None:
        """Have the client read a file, and say it."""
        answer = self.request("fs/read_text_file", path=self.place(path), **more)
        self.do_text(answer["result"]["content"] if "result" in answer else "refused;")

    def do_ask_for(self, method: str, **params: object) -> None:
        """Ask for anything, and say the code of the answer's error."""
        answer = self.request(method, **params)
        self.do_text(f"{answer.get('error', {}).get('code')};")

    def do_write(self, path: str, text: str) -> None:
        """Write a file without asking; say whether that worked."""
        try:
            Path(path).write_text(text, encoding="utf-8")
        except OSError:
            self.do_text("no;")
        else:
            self.do_text("yes;")

    def do_look(self, path: str) -> None:
        """Say what a file or folder holds, or that there is none."""
        place = Path(path)
        try:
            if place.is_dir():
                found = str(sorted(child.name for child in place.iterdir()))
            else:
                found = place.read_text(encoding="utf-8")
        except OSError:
            found = "hidden"
        self.do_text(f"{found};")

    def do_dial(self, port: int = 0, path: str = "") -> None:
        """Say whether a port of this machine, or a socket with a name, can be reached."""
        try:
            with socket.socket(socket.AF_UNIX if path else socket.AF_INET) as link:
                link.settimeout(2)
                link.connect(path or ("127.0.0.1", port))
        except OSError:
            self.do_text("no;")
        else:
            self.do_text("yes;")

    def do_spawn(self) -> None:
        """Leave a process behind in a session of its own."""
        subprocess.Popen(  # noqa: S602
            "sleep 1000", shell=True, start_new_session=True, stdin=subprocess.DEVNULL
        )
        self.do_text("left;")

    def do_usage(self, read: int, written: int) -> None:
        """Tell what was used."""
        used = {"inputTokens": read, "outputTokens": written, "totalTokens": read + written}
        self.result["usage"] = used

    def do_stop(self, reason: str) -> None:
        """End the turn for a reason."""
        self.result["stopReason"] = reason

    def do_fail(self, code: int, message: str, data: object = None) -> None:
        """End the turn with an error."""
        self.result = {"error": {"code": code, "message": message, "data": data}}

    def do_news(self) -> None:
        """Tell of something that no library knows yet."""
        self.update("from_the_future", something=[1, 2])
        self.send(method="session/also_from_the_future", params={})

    def do_raw(self, text: str) -> None:
        """Write something that may be no message."""
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def do_flood(self, size: int, piece: int, chatter: bool = False) -> None:
        """Say very much: words, or signs of work with something in them."""
        for _ in range(size // piece):
            if chatter:
                self.update("agent_thought_chunk", content={"type": "text", "text": "x" * piece})
            else:
                self.do_text("x" * piece)

    def do_hang(self) -> None:
        """Do nothing for ever, also when told to end."""
        while True:
            time.sleep(100)

    def do_tick(self) -> None:
        """Show signs of work for ever."""
        while True:
            self.update("agent_thought_chunk", content={"type": "text", "text": "hm"})
            time.sleep(0.02)

    def do_exit(self) -> None:
        """End in the middle of a turn."""
        sys.exit(3)

    @staticmethod
    def place(path: str) -> str:
        """Return a path as agents tell it: absolute, by where it works."""
        return path if path.startswith("/") else str(Path.cwd() / path)


if __name__ == "__main__":
    Agent(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))).serve()
