"""What the tools of a playbook read, and what they propose; nothing is changed by either."""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common.errors import CodexBridgeError, InputError
from common.model.proposal import CommandProposal, Diff
from common.model.state import Reason
from local_agent.error_texts import ERRORS
from local_agent.playbooks import toolbox as module
from local_agent.playbooks.toolbox import MAX_READ_BYTES, Toolbox
from local_agent.workspace.files import SearchLimits
from local_agent.workspace.registry import Workspace
from tests.changing import Changing
from tests.machine import Machine
from tests.running import command_task, run

pytestmark = pytest.mark.heavy


class Bench:
    """A workspace and the tools for it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "project"
        self.path.mkdir()
        self.changing = Changing.at(self.path, folder / "state")
        self.workspace: Workspace = self.changing.workspace
        blobs = self.changing.blobs
        self.tools = Toolbox(keep=blobs.put, fetch=blobs.get)

    def write(self, path: str, content: bytes | str = b"") -> Path:
        place = self.path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        return place

    async def read(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return await self.tools.read(tool, arguments, self.workspace)

    async def refused(self, tool: str, **arguments: Any) -> str:
        """Return code and reason of an error, which has a sentence."""
        with pytest.raises(CodexBridgeError) as caught:
            await self.read(tool, **arguments)
        return told(caught.value)

    async def proposed(self, tool: str, **arguments: Any) -> Diff | CommandProposal:
        wanted = await self.tools.propose(tool, arguments, self.workspace)
        assert wanted.result is None
        assert wanted.proposal is not None
        return wanted.proposal

    async def not_proposed(self, tool: str, **arguments: Any) -> str:
        with pytest.raises(CodexBridgeError) as caught:
            await self.tools.propose(tool, arguments, self.workspace)
        return told(caught.value)

    async def done(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Propose a change, make it as an approved task does, and return the tool's result."""
        proposal = await self.proposed(tool, **arguments)
        assert isinstance(proposal, Diff)
        diff = await asyncio.to_thread(self.changing.blobs.get, proposal.diff_id)
        _, outcome = await self.changing.apply(diff)
        assert outcome.reason is Reason.COMPLETED
        return await self.tools.result(tool, arguments)


def told(error: CodexBridgeError) -> str:
    why = error.facts.get("why")
    code = f"{error.code}/{why}" if why and error.code.startswith("playbook.") else error.code
    if error.code.startswith("playbook.") and error.code != "playbook.argument":
        assert code in ERRORS
    return code


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


# --- read_file ---


async def test_a_file_is_read_exactly(bench: Bench) -> None:
    text = "\ufeffa\r\n密码 password=hunter2222\n\nend"
    bench.write("sub/a.txt", text)
    found = await bench.read("read_file", path="sub/a.txt")
    assert found == {"path": "sub/a.txt", "content": text, "size": len(text.encode())}
    bench.write("empty")
    assert await bench.read("read_file", path="empty") == {
        "path": "empty", "content": "", "size": 0
    }  # fmt: skip


async def test_a_file_of_the_most_that_is_read_is_read_and_one_byte_more_is_not(
    bench: Bench,
) -> None:
    bench.write("big", b"x" * MAX_READ_BYTES)
    assert (await bench.read("read_file", path="big"))["size"] == MAX_READ_BYTES
    bench.write("big", b"x" * (MAX_READ_BYTES + 1))
    assert await bench.refused("read_file", path="big") == "playbook.file/too-large"


async def test_nothing_is_read_that_is_outside_denied_or_no_text(bench: Bench) -> None:
    outside = bench.path.parent / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret", encoding="utf-8")
    (bench.path / "out").symlink_to(outside)
    (bench.path / "in").mkdir()
    bench.write("in/file", "x")
    (bench.path / "alias").symlink_to("in")
    (bench.path / "link").symlink_to("in/file")
    (bench.path / "leaving").symlink_to(outside / "secret")
    os.mkfifo(bench.path / "fifo")
    door = socket.socket(socket.AF_UNIX)
    door.bind(str(bench.path / "door"))
    bench.write("latin", "caf\xe9".encode("latin-1"))
    bench.write("nul", b"a\0b")
    bench.write(".git/config", "x")
    bench.write(".env", "TOKEN=1")
    bench.write("private/x", "x")
    bench.workspace = replace(bench.workspace, deny=("private",))
    cases = {
        "none": "missing",
        "in/none": "missing",
        "in/file/x": "missing",
        "out/secret": "missing",
        "alias/file": "missing",
        "link": "link",
        "leaving": "link",
        "fifo": "not-regular",
        "in": "not-regular",
        "door": "link",
        "latin": "not-text",
        "nul": "not-text",
        ".git/config": "denied",
        ".GIT/config": "denied",
        ".env": "denied",
        "private/x": "denied",
        "../outside/secret": "name",
        "in/../in/file": "name",
        "./in/file": "name",
        str(outside / "secret"): "name",
        "": "name",
        "a\0b": "name",
        "a\udc80": "name",
        "in//file": "name",
        "x" * 300: "name",
    }
    found = {path: await bench.refused("read_file", path=path) for path in cases}
    door.close()
    assert found == {path: f"playbook.file/{why}" for path, why in cases.items()}


async def test_arguments_are_checked_before_anything_is_done(bench: Bench) -> None:
    assert await bench.refused("read_file") == "playbook.argument/missing"
    assert await bench.refused("read_file", path=1) == "playbook.argument/text"
    assert await bench.refused("git_status", more="x") == "playbook.argument/unknown"
    assert await bench.refused("write_file", path="a", content="x") == "playbook.tool"
    assert await bench.not_proposed("read_file", path="a") == "playbook.tool"


# --- list_files, search ---


async def test_files_are_listed_sorted_without_git_links_secrets_and_what_git_ignores(
    bench: Bench,
) -> None:
    for path in ("b.py", "a.py", "sub/c.py", "sub/.hid/d.py", ".git/x.py", "id_rsa.py"):
        bench.write(path)
    bench.write("large.py", b"x" * (2 * 1024 * 1024))
    (bench.path / "alias").symlink_to("sub")
    (bench.path / "link.py").symlink_to("a.py")
    assert await bench.read("list_files", glob="**/*.py") == {
        "files": ["a.py", "b.py", "large.py", "sub/.hid/d.py", "sub/c.py"]
    }
    assert await bench.read("list_files", glob="*.md") == {"files": []}
    assert await bench.refused("list_files", glob="../*") == "playbook.glob"


async def test_more_files_than_can_be_listed_are_an_error_and_no_shorter_list(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LISTED", replace(module._LISTED, files=2))
    for name in "ab":
        bench.write(name)
    assert await bench.read("list_files", glob="**") == {"files": ["a", "b"]}
    bench.write("c")
    assert await bench.refused("list_files", glob="a") == "playbook.too-many-files"


async def test_folders_too_deep_to_be_listed_are_an_error(bench: Bench) -> None:
    bench.write("/".join(["d"] * 70) + "/x")
    assert await bench.refused("list_files", glob="**") == "playbook.too-many-files"


async def test_a_search_tells_path_line_and_preview_by_path_and_line(bench: Bench) -> None:
    bench.write("b.py", "x\n  needle = 1\n")
    bench.write("a.txt", "Needle\nneedle\n")
    bench.write(".env", "needle")
    assert await bench.read("search", query="needle") == {
        "items": [
            {"path": "a.txt", "line": 1, "preview": "Needle"},
            {"path": "a.txt", "line": 2, "preview": "needle"},
            {"path": "b.py", "line": 2, "preview": "needle = 1"},
        ]
    }
    found = await bench.read("search", query="needle", glob="*.py")
    assert [item["path"] for item in found["items"]] == ["b.py"]
    assert await bench.read("search", query="[n]eedle") == {"items": []}
    assert await bench.refused("search", query="two\nlines") == "playbook.query"
    assert await bench.refused("search", query="x", glob="/") == "playbook.glob"


async def test_a_search_that_finds_too_much_says_so(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_PLACES", 3)
    bench.write("a", "x\n" * 3)
    assert len((await bench.read("search", query="x"))["items"]) == 3
    bench.write("a", "x\n" * 4)
    assert await bench.refused("search", query="x") == "playbook.search-cut"


async def test_large_files_are_searched_with_and_without_ripgrep(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("large", b"x\n" * 1_000_000 + b"needle\n")
    for number in range(1001):  # from here on ripgrep is asked
        bench.write(f"many/{number}")
    found = await bench.read("search", query="needle")
    assert [(item["path"], item["line"]) for item in found["items"]] == [("large", 1_000_001)]
    assert SearchLimits().listing.file_bytes < 2_000_000


# --- write_file, apply_diff ---


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (None, "a\nb\n"),
        (None, ""),
        (None, "no end"),
        (b"a\n", ""),
        (b"", "a"),
        (b"a\r\nb\r\n", "a\nb\n"),
        (b"a\nb\n", "a\r\nb\r\n"),
        (b"a\rb\rc", "a\rB\rc"),
        (b"caf\xe9\nb\n\xff\xfe", "caf\u00e9\nb\n"),
        (b"a\nb", "a\nb\n"),
        (b"a\nb\n", "a\nb"),
        (b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n", "diff --git a/x b/x\n\\ No newline at end of file\n"),
        (b"x\n", "\ufeffx\u2028y\x0c\x1b[1m\n"),
    ],
)
async def test_a_file_gets_exactly_the_bytes_that_were_asked_for(
    bench: Bench, old: bytes | None, new: str
) -> None:
    place = bench.path / "new/sub/a.txt"
    if old is not None:
        bench.write("new/sub/a.txt", old)
        place.chmod(0o750)
    result = await bench.done("write_file", path="new/sub/a.txt", content=new)
    data = new.encode()
    assert place.read_bytes() == data
    assert place.stat().st_mode & 0o777 == (0o644 if old is None else 0o750)
    sha256 = hashlib.sha256(data).hexdigest()
    assert result == {"path": "new/sub/a.txt", "size": len(data), "sha256": sha256}


async def test_what_is_there_already_is_the_result_at_once_and_asks_nobody(bench: Bench) -> None:
    bench.write("a", "same\n")
    wanted = await bench.tools.propose(
        "write_file", {"path": "a", "content": "same\n"}, bench.workspace
    )
    assert wanted.proposal is None
    sha256 = hashlib.sha256(b"same\n").hexdigest()
    assert wanted.result == {"path": "a", "size": 5, "sha256": sha256}


async def test_nothing_is_written_outside_by_links_or_where_it_is_denied(bench: Bench) -> None:
    outside = bench.path.parent / "outside"
    outside.mkdir()
    (bench.path / "out").symlink_to(outside)
    (bench.path / "link").symlink_to("a")
    bench.write("a", "x")
    (bench.path / "folder").mkdir()
    os.mkfifo(bench.path / "fifo")
    bench.write("sub/.git/HEAD", "x")
    bench.write("binary", b"a\0b")
    bench.workspace = replace(bench.workspace, deny=("private",))
    cases = {
        "out/x": "change.symlink",
        "link": "change.symlink",
        "a/x": "change.not-folder",
        "folder": "change.folder",
        "fifo": "change.special",
        "sub/x": "change.submodule",
        "binary": "playbook.file/binary",
        "nul": "playbook.file/name",
        "private/x": "change.denied",
        ".git/hooks/pre-commit": "playbook.file/name",
        "sub/.GIT/config": "playbook.file/name",
        "../x": "playbook.file/name",
        "/etc/x": "playbook.file/name",
        "a/../b": "playbook.file/name",
        "": "playbook.file/name",
        "\udc80": "playbook.file/name",
        "d/" * 70 + "x": "playbook.file/name",
    }
    found = {path: await bench.not_proposed("write_file", path=path, content="y") for path in cases}
    assert found == cases
    assert not list(outside.iterdir())


async def test_content_that_no_diff_can_tell_is_refused(bench: Bench) -> None:
    ask = bench.not_proposed
    assert await ask("write_file", path="a", content="\ud800") == "playbook.not-unicode"
    assert await ask("write_file", path="a", content="a\0") == "playbook.file/binary"
    assert await ask("write_file", path="a", content="x" * 2_100_000) == "diff.too-large"


async def test_a_diff_is_proposed_byte_for_byte_and_its_files_are_the_result(bench: Bench) -> None:
    bench.write("b.txt", "one\n")
    bench.write("old.txt", "kept\n")
    diff = (
        "diff --git a/old.txt b/a.txt\nrename from old.txt\nrename to a.txt\n"
        "diff --git a/b.txt b/b.txt\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-one\n+zwei 二\n"
        "diff --git a/c/d.txt b/c/d.txt\nnew file mode 100644\n"
        "--- /dev/null\n+++ b/c/d.txt\n@@ -0,0 +1 @@\n+new\n"
    )
    result = await bench.done("apply_diff", diff=diff)
    assert result == {"files": ["a.txt", "b.txt", "c/d.txt", "old.txt"]}
    assert (bench.path / "b.txt").read_text(encoding="utf-8") == "zwei 二\n"
    assert (bench.path / "a.txt").exists()


async def test_what_is_no_diff_is_refused(bench: Bench) -> None:
    assert await bench.not_proposed("apply_diff", diff="") == "diff.empty"
    assert await bench.not_proposed("apply_diff", diff="hello\n") == "diff.refused"
    outside = "--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n"
    assert await bench.not_proposed("apply_diff", diff=outside) == "diff.name"


# --- run_command ---


async def test_a_command_is_proposed_by_its_arguments_folder_and_time(bench: Bench) -> None:
    (bench.path / "sub").mkdir()
    argv = ["echo", "$HOME", "a b", "*", ";"]
    proposal = await bench.proposed("run_command", argv=argv, cwd="sub", timeout_s=5)
    assert isinstance(proposal, CommandProposal)
    assert proposal.argv == tuple(argv)
    assert proposal.cmd == "echo '$HOME' 'a b' '*' ';'"
    assert (proposal.cwd, proposal.timeout_s) == ("sub", 5)
    plain = await bench.proposed("run_command", argv=["make"], cwd=".")
    assert plain.to_dict() == {"type": "command", "cmd": "make", "argv": ["make"]}


async def test_a_command_starts_in_a_folder_of_the_workspace_itself(bench: Bench) -> None:
    outside = bench.path.parent / "outside"
    outside.mkdir()
    (bench.path / "out").symlink_to(outside)
    (bench.path / "in").mkdir()
    (bench.path / "alias").symlink_to("in")
    bench.write("file")
    bench.write(".git/hooks/x")
    cases = {
        "none": "not-a-folder",
        "file": "not-a-folder",
        "out": "not-a-folder",
        "alias": "not-a-folder",
        "..": "name",
        "../outside": "name",
        "/tmp": "name",
        "in/..": "name",
        ".git": "name",
        "": "name",
    }
    found = {cwd: await bench.not_proposed("run_command", argv=["x"], cwd=cwd) for cwd in cases}
    assert found == {cwd: f"playbook.file/{why}" for cwd, why in cases.items()}


async def test_a_command_has_arguments_and_at_most_an_hour(bench: Bench) -> None:
    ask = bench.not_proposed
    assert await ask("run_command", argv=[]) == "playbook.argument/texts"
    assert await ask("run_command", argv=["a\x07"]) == "command.control-character"
    assert await ask("run_command", argv="make") == "playbook.argument/texts"
    for seconds in (0, -1, 3601):
        assert await ask("run_command", argv=["a"], timeout_s=seconds) == "playbook.limit"


def kept(bench: Bench, data: bytes, dropped: int = 0) -> dict[str, Any]:
    return {"sha256": bench.changing.blobs.put(data), "dropped": dropped}


async def test_the_result_of_a_command_has_its_streams_as_text(bench: Bench) -> None:
    out = await asyncio.to_thread(kept, bench, b"ok \xff\r\n")
    err = await asyncio.to_thread(kept, bench, b"headtail", 12)
    did = {"run": {"exit_code": 3, "code": None}, "streams": {"stdout": out, "stderr": err}}
    result = await bench.tools.result("run_command", {"argv": ["x"]}, did)
    assert result == {
        "exit_code": 3,
        "stdout": "ok \ufffd\r\n",
        "stderr": "head\n[… 12 bytes left out …]\ntail",
    }


async def test_a_command_that_ran_out_of_time_has_no_exit_code(bench: Bench) -> None:
    out = await asyncio.to_thread(kept, bench, b"")
    run = {"exit_code": 0, "code": "command.timeout"}
    did = {"run": run, "streams": {"stdout": out, "stderr": out}}
    result = await bench.tools.result("run_command", {"argv": ["x"]}, did)
    assert result == {"exit_code": None, "stdout": "", "stderr": ""}


@pytest.mark.parametrize("streams", [None, {"stdout": {"sha256": None, "dropped": 0}}])
async def test_output_that_was_not_kept_is_no_empty_output(bench: Bench, streams: Any) -> None:
    did = {"run": {"exit_code": 0, "code": None}, "streams": streams}
    with pytest.raises(InputError) as caught:
        await bench.tools.result("run_command", {"argv": ["x"]}, did)
    assert told(caught.value) == "playbook.output-lost"


@pytest.mark.needs("bubblewrap")
async def test_a_command_runs_as_proposed_and_its_result_is_exact(sandboxed: Machine) -> None:
    (sandboxed.path / "sub").mkdir()
    tools = Toolbox(keep=sandboxed.blobs.put, fetch=sandboxed.blobs.get)
    script = 'printf "%s|" "$@"; pwd; printf "\\377" >&2; exit 4'
    arguments: dict[str, Any] = {
        "argv": ["sh", "-c", script, "sh", "$HOME", "a b", "*"], "cwd": "sub", "timeout_s": 20
    }  # fmt: skip
    wanted = await tools.propose("run_command", arguments, sandboxed.workspace)
    assert isinstance(wanted.proposal, CommandProposal)
    ended = await run(sandboxed, command_task(**dict(wanted.proposal)))
    assert ended.reason is Reason.FAILED
    assert await tools.result("run_command", arguments, ended.did) == {
        "exit_code": 4,
        "stdout": f"$HOME|a b|*|{sandboxed.path}/sub\n",
        "stderr": "\ufffd",
    }


# --- propose_change ---


async def test_a_change_is_proposed_by_what_was_handed_in(bench: Bench) -> None:
    assert await bench.refused("propose_change", request="x") == "playbook.no-model"
    said: list[str] = []
    diff = b"some diff\n"

    async def make(request: str, workspace: Workspace) -> tuple[bytes, str]:
        said.extend((request, workspace.name))
        return diff, "done"

    bench.tools = replace(bench.tools, propose_change=make)
    found = await bench.read("propose_change", request="fix it")
    assert (found, said) == ({"diff": "some diff\n", "summary": "done"}, ["fix it", "project"])
    diff = b"\xff"
    assert await bench.refused("propose_change", request="fix it") == "playbook.file/not-text"
