"""Playbooks, contract section 3: what a run tells, line by line (seed 003, AC 22–28)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.playbooks.stage import (
    MAX_LINE_BYTES,
    UUID,
    Event,
    Ran,
    Stage,
    agent,
    command,
    gate,
    playbook,
    reading,
    taken,
    tool,
    writing,
)
from tests.each import few
from tests.model_script import edits, status, text

ANSWER = "Written in pieces, as it comes."
WHOLE = (
    reading("look"),
    reading("not now", condition="look.result.size == 9"),
    gate("sure", "Change what says {look.result.content}?"),
    writing("write", "b.txt"),
    command("run", "cat", "b.txt"),
    agent("think", "What is it? {message}"),
    taken(tool("keep", "write_file", path="kept.txt"), {"content": "think.result.text"}),
)
# The events of this run in order, each with the step that it belongs to.
ORDER = (
    ("task_start", None),
    ("hook_start", None),
    ("function_result", "before"),
    ("hook_result", None),
    ("step_start", "look"),
    ("function_result", "look"),
    ("step_complete", "look"),
    ("step_skipped", "not now"),
    ("step_start", "sure"),
    ("confirmation_required", "sure"),
    ("gate_result", "sure"),
    ("step_complete", "sure"),
    ("step_start", "write"),
    ("function_result", "write"),
    ("step_complete", "write"),
    ("step_start", "run"),
    ("function_result", "run"),
    ("step_complete", "run"),
    ("step_start", "think"),
    ("step_retry", "think"),
    ("stream", None),
    ("step_complete", "think"),
    ("step_start", "keep"),
    ("confirmation_required", "keep"),
    ("gate_result", "keep"),
    ("function_result", "keep"),
    ("step_complete", "keep"),
    ("hook_start", None),
    ("function_result", "after"),
    ("hook_result", None),
    ("task_complete", None),
)
FIELDS: Mapping[str, Mapping[str, type | tuple[type, ...]]] = {
    "task_start": {
        "task_id": str,
        "short_id": str,
        "task_name": str,
        "total_steps": int,
        "workdir": str,
    },
    "step_start": {"step": str, "step_index": int},
    "step_skipped": {"step": str, "step_index": int, "reason": str},
    "stream": {"chunk": str},
    "function_result": {"function": str, "step": str, "success": bool, "result": dict},
    "confirmation_required": {
        "step": str,
        "message": str,
        "request_id": str,
        "timeout_s": (int, float),
        "dynamic": bool,
    },
    "gate_result": {"step": str, "request_id": str, "confirmed": bool, "reason": str},
    "step_retry": {"step": str, "attempt": int, "error": str},
    "step_complete": {"step": str, "status": str},
    "hook_start": {"hook": str, "phase": str},
    "hook_result": {"hook": str, "phase": str, "success": bool},
    "task_complete": {"task_name": str, "status": str, "summary": str},
}


@pytest.fixture(scope="module")
def whole(open_stage: Stage) -> Ran:
    """One run in which everything happens that can in one that completes."""
    open_stage.reset()
    open_stage.hook("first", reading("before"))
    open_stage.hook("last", reading("after"))
    open_stage.model.say(status(500), text(ANSWER, pieces=8))
    return open_stage.run(
        *WHOLE,
        name="whole",
        hooks={"pre": "first", "post": "last"},
        options=("--message", "Tell me"),
        decide="approve",
    ).ended("completed")


def keys_of(value: Any) -> Iterator[str]:
    """Every key at every depth."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from keys_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from keys_of(item)


@pytest.mark.requirement("EX-8")
def test_a_run_tells_its_events_in_the_order_of_its_steps(whole: Ran) -> None:
    told = [
        (event["type"], event.get("step"))
        for at, event in enumerate(whole.events)
        if event["type"] != "stream" or whole.events[at - 1]["type"] != "stream"
    ]
    assert told == [*ORDER]


@pytest.mark.requirement("EX-22", "EX-23", "EX-24", "EX-25", "EX-26", "EX-27", "EX-28")
@pytest.mark.parametrize("kind", FIELDS)
def test_each_event_has_its_fields(whole: Ran, kind: str) -> None:
    found = whole.all(kind)
    assert found
    for event in found:
        for name, wanted in FIELDS[kind].items():
            assert isinstance(event[name], wanted), event


def test_each_kind_of_event_is_one_of_the_contract(whole: Ran) -> None:
    assert set(whole.types) <= {*FIELDS, "step_error"}


@pytest.mark.requirement("EX-22")
def test_the_start_names_the_run(whole: Ran) -> None:
    start = whole.events[0]
    assert UUID.fullmatch(start["task_id"])
    assert start["short_id"].startswith("T-")
    assert (start["task_name"], start["total_steps"]) == ("whole", len(WHOLE))
    assert Path(start["workdir"]) == whole.stage.workspace
    assert not start.get("resumed")


@pytest.mark.requirement("EX-23")
def test_steps_are_counted_from_0(whole: Ran) -> None:
    counted = [
        (event["step"], event["step_index"])
        for event in whole.events
        if event["type"] in ("step_start", "step_skipped")
    ]
    assert counted == [(step["name"], index) for index, step in enumerate(WHOLE)]


@pytest.mark.requirement("EX-24")
def test_a_function_result_names_the_tool(whole: Ran) -> None:
    named = {event["step"]: event["function"] for event in whole.all("function_result")}
    assert named["look"] == "read_file"
    assert named["write"] == "write_file"
    assert named["run"] == "run_command"


@pytest.mark.requirement("EX-25")
def test_the_model_is_streamed_in_pieces_that_make_the_answer(whole: Ran) -> None:
    chunks = [event["chunk"] for event in whole.all("stream")]
    assert len(chunks) > 1
    assert "".join(chunks) == ANSWER


@pytest.mark.requirement("EX-26")
def test_a_gate_tells_its_template_and_what_it_covers(whole: Ran) -> None:
    asked = whole.one("confirmation_required", step="sure")
    assert asked["message"].startswith("Change what says one\ntwo")
    assert not asked["dynamic"]
    said = json.dumps(asked["covers"])
    assert [one in said for one in ("write", "b.txt", "run", "cat")] == [True] * 4
    assert "keep" not in said


def test_a_dynamic_question_has_no_covers(whole: Ran) -> None:
    asked = whole.one("confirmation_required", step="keep")
    assert asked["dynamic"]
    assert not asked.get("covers")


def test_each_question_has_its_gate_result(whole: Ran) -> None:
    asked = [(one["step"], one["request_id"]) for one in whole.all("confirmation_required")]
    told = [(one["step"], one["request_id"]) for one in whole.all("gate_result")]
    assert asked == told
    assert len(set(asked)) == 2
    assert all(one["confirmed"] and one["reason"] == "approved" for one in whole.all("gate_result"))


@pytest.mark.requirement("EX-27")
def test_a_step_that_is_skipped_does_not_begin(whole: Ran) -> None:
    assert not whole.all("step_start", step="not now")
    assert not whole.all("step_complete", step="not now")


def test_a_second_attempt_is_told_with_its_reason(whole: Ran) -> None:
    told = whole.one("step_retry")
    assert told["step"] == "think"
    assert told["error"]


def test_hooks_are_told_with_their_phase(whole: Ran) -> None:
    told = [(one["hook"], one["phase"]) for one in whole.all("hook_start")]
    assert told == [("first", "pre"), ("last", "post")]
    assert all(one["success"] for one in whole.all("hook_result"))


@pytest.mark.requirement("EX-28")
def test_the_end_is_the_last_event_and_the_only_one(whole: Ran) -> None:
    assert whole.types.count("task_complete") == 1
    assert whole.events[-1]["task_name"] == "whole"
    assert whole.events[-1]["status"] == "completed"


def test_no_key_begins_with_an_underscore(whole: Ran) -> None:
    assert [key for event in whole.events for key in keys_of(event) if key.startswith("_")] == []


def test_each_line_is_one_object_of_bounded_size(whole: Ran) -> None:
    for line in whole.raw:
        assert isinstance(json.loads(line), dict)
        assert len(line) + 1 <= MAX_LINE_BYTES


def test_nothing_but_events_is_on_standard_output_and_nothing_is_on_the_other(whole: Ran) -> None:
    assert whole.stderr == ""


@pytest.mark.requirement("EX-34")
@pytest.mark.parametrize("failing", [0, 1, 2], ids=["first", "middle", "last"])
def test_a_failing_tool_is_told_and_ends_the_run(stage: Stage, failing: int) -> None:
    steps = [reading(f"s{number}") for number in range(3)]
    steps[failing] = reading(f"s{failing}", "nowhere.txt")
    ran = stage.run(*steps).ended("failed")
    before = ["step_start", "function_result", "step_complete"] * failing
    assert ran.types[1 : 1 + len(before)] == before
    tail = ran.events[1 + len(before) :]
    kinds = [event["type"] for event in tail if event["type"] != "step_complete"]
    assert kinds == ["step_start", "function_result", "step_error", "task_complete"]
    told = ran.all("function_result")[-1]
    assert (told["success"], told["function"]) == (False, "read_file")
    assert "nowhere.txt" in told["result"]["error"]
    assert "nowhere.txt" in ran.one("step_error", step=f"s{failing}")["error"]


def test_lines_come_while_the_run_waits(stage: Stage) -> None:
    seen: list[Event] = []

    def look(_: Stage, event: Event) -> None:
        seen.append(event)
        stage.approve(event)

    ran = stage.run(reading("look"), gate("sure"), decide=look).ended("completed")
    assert seen == ran.all("confirmation_required")


@pytest.mark.parametrize(
    "locale",
    [
        {"LANG": "C", "LC_ALL": "C"},
        {"LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"LANG": "POSIX", "PYTHONIOENCODING": "ascii"},
        {"LANG": "zh_CN.GB18030", "PYTHONIOENCODING": "gb18030"},
    ],
    ids=["C", "C-without-coercion", "ascii", "gb18030"],
)
def test_lines_are_utf_8_whatever_the_locale(stage: Stage, locale: Mapping[str, str]) -> None:
    stage.write("zh.txt", "你好，世界 – é 🙂\n")
    ran = stage.run(reading("读取", "zh.txt"), environ=locale).ended("completed")
    assert ran.result("读取")["content"] == "你好，世界 – é 🙂\n"
    assert b"\\ufffd" not in b"".join(ran.raw)


def test_the_program_itself_gives_utf_8_under_the_c_locale(stage: Stage) -> None:
    stage.write("zh.txt", "你好\n")
    path = stage.file(playbook(reading("读取", "zh.txt")))
    done = stage.program("playbook", "run", str(path), "--json", LANG="C", LC_ALL="C")
    assert done.returncode == 0
    events = [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]
    assert events[1]["step"] == "读取"
    assert events[2]["result"]["content"] == "你好\n"


# --- results that are too big for a line ----------------------------------------------------------

BIG: Mapping[str, str] = {
    "just below": "x" * 60_000,
    "just above": "x" * 66_000,
    "many lines": "line\n" * 40_000,
    "Chinese": "中" * 40_000,
    "escaped": '"\\' * 20_000,
    "emoji": "🙂" * 20_000,
}


@pytest.mark.parametrize("kind", few(BIG, 2))
def test_a_big_result_is_shortened_in_the_line_and_whole_in_its_file(
    stage: Stage, kind: str
) -> None:
    stage.write("big.txt", BIG[kind])
    ran = stage.run(reading("big", "big.txt")).ended("completed")
    assert max(map(len, ran.raw)) < MAX_LINE_BYTES
    told = ran.result("big")
    if not told.get("truncated"):
        assert told["content"] == BIG[kind]
        return
    path = Path(told["result_path"])
    assert path.is_absolute()
    assert path.is_relative_to(stage.state)
    whole = json.loads(path.read_text(encoding="utf-8"))
    assert whole["content"] == BIG[kind]
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.requirement("EX-13")
def test_later_steps_get_the_whole_of_a_shortened_result(stage: Stage) -> None:
    stage.write("big.txt", BIG["many lines"])
    ran = stage.run(
        reading("big", "big.txt"),
        taken(tool("copy", "write_file", path="copy.txt"), {"content": "big.result.content"}),
        decide="approve",
    ).ended("completed")
    assert ran.result("big")["truncated"] is True
    assert stage.read("copy.txt") == BIG["many lines"]


def test_a_long_list_is_shortened(stage: Stage) -> None:
    for number in range(1_200):
        stage.write(f"many/{number:04}-{'x' * 60}.txt", "")
    ran = stage.run(
        tool("all", "list_files", glob="many/*"),
        taken(tool("last", "read_file"), {"path": "all.result.files.1199"}),
    ).ended("completed")
    told = ran.result("all")
    assert told["truncated"] is True
    assert len(json.loads(Path(told["result_path"]).read_text(encoding="utf-8"))["files"]) == 1_200
    assert ran.result("last")["path"] == f"many/1199-{'x' * 60}.txt"
    assert max(map(len, ran.raw)) < MAX_LINE_BYTES


LONG: Mapping[str, tuple[Sequence[dict[str, Any]], Mapping[str, str]]] = {
    "a gate's message": (
        (reading("big", "big.txt"), gate("sure", "{big.result.content}")),
        {"big.txt": "word " * 30_000},
    ),
    "what a gate covers": (
        (gate("sure"), *(writing(f"w{n}", f"{n}.txt", "中" * 500) for n in range(64))),
        {},
    ),
    "a dynamic question": ((writing("write", "b.txt", "中" * 60_000),), {}),
    "an error": ((reading("look", "x" * 60_000),), {}),
    "a reason to skip": ((reading("look", condition="x.result == " + "y" * 900),), {}),
    "a name": ((reading("n" * 64),), {}),
}


@pytest.mark.parametrize("kind", few(LONG, 2))
def test_no_line_is_too_long_for(stage: Stage, kind: str) -> None:
    steps, files = LONG[kind]
    for name, content in files.items():
        stage.write(name, content)
    ran = stage.run(*steps, decide="reject")
    assert ran.status in ("completed", "failed", "aborted")
    assert max(map(len, ran.raw)) < MAX_LINE_BYTES


@pytest.mark.parametrize("answer", ["中" * 50_000], ids=["Chinese"])
def test_no_line_is_too_long_for_a_long_answer(stage: Stage, answer: str) -> None:
    stage.model.say(text(answer, pieces=20))
    ran = stage.run(agent("say")).ended("completed")
    assert "".join(event["chunk"] for event in ran.all("stream")) == answer
    assert max(map(len, ran.raw)) < MAX_LINE_BYTES


# --- what the tools that read give ---

READING: Mapping[str, tuple[str, Mapping[str, Any], Mapping[str, Any]]] = {
    "read_file": (
        "read_file",
        {"path": "a.txt"},
        {"path": "a.txt", "content": "one\ntwo\n", "size": 8},
    ),
    "read_file in a folder": (
        "read_file",
        {"path": "src/deep/notes.md"},
        {"path": "src/deep/notes.md", "size": 21},
    ),
    "list_files": ("list_files", {"glob": "*.txt"}, {"files": ["a.txt", "b.txt"]}),
    "list_files below": ("list_files", {"glob": "src/**/*.md"}, {"files": ["src/deep/notes.md"]}),
    "list_files without a match": ("list_files", {"glob": "*.none"}, {"files": []}),
    "search": (
        "search",
        {"query": "retry = 3"},
        {"items": [{"path": "src/app.py", "line": 3, "preview": "retry = 3"}]},
    ),
    "search with a glob": (
        "search",
        {"query": "retry", "glob": "**/*.md"},
        {"items": [{"path": "src/deep/notes.md", "line": 3, "preview": "retry later"}]},
    ),
    "search without a match": ("search", {"query": "no such words"}, {"items": []}),
    "git_status": ("git_status", {}, {"branch": "main", "clean": True, "changed": []}),
    "git_diff": ("git_diff", {"base": "HEAD"}, {"diff": "", "files": []}),
}


@pytest.mark.requirement("EX-9")
@pytest.mark.parametrize("case", few(READING, 2))
def test_what_a_reading_tool_gives(stage: Stage, case: str) -> None:
    name, args, wanted = READING[case]
    ran = stage.run(tool("look", name, **args)).ended("completed")
    assert ran.result("look").items() >= wanted.items()
    assert not ran.all("confirmation_required")


def test_git_log_gives_commits(stage: Stage) -> None:
    ran = stage.run(tool("log", "git_log", limit=1)).ended("completed")
    (commit,) = ran.result("log")["commits"]
    assert commit["subject"] == "first"
    assert commit.keys() >= {"id", "author", "at", "subject"}


def test_list_files_leaves_out_git_and_what_lies_behind_links(stage: Stage) -> None:
    outside = stage.files / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("no", encoding="utf-8")
    (stage.workspace / "link").symlink_to(outside)
    ran = stage.run(tool("all", "list_files", glob="**/*")).ended("completed")
    found = ran.result("all")["files"]
    assert found == sorted(found)
    assert not [name for name in found if name.startswith((".git/", "link/"))]


BAD_PATHS = ("../files/case.md", "/etc/passwd", ".git/config", "link/secret.txt", "src", "a\x00b")


@pytest.mark.parametrize("path", few(BAD_PATHS, 2))
@pytest.mark.parametrize("kind", ["read_file", "write_file"])
def test_a_path_out_of_the_workspace_fails_the_step(stage: Stage, path: str, kind: str) -> None:
    outside = stage.files / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("no", encoding="utf-8")
    (stage.workspace / "link").symlink_to(outside)
    stage.model.say(text(path))
    step = tool("do", kind, **({"content": "bad\n"} if kind == "write_file" else {}))
    ran = stage.run(agent("say"), taken(step, {"path": "say.result.text"}), decide="approve")
    ran.ended("failed")
    assert not ran.all("confirmation_required")
    assert ran.one("function_result")["success"] is False
    assert (outside / "secret.txt").read_text(encoding="utf-8") == "no"


# --- what the tools that change give ---

DIFF = """--- a/b.txt
+++ b/b.txt
@@ -1 +1 @@
-before
+after
"""
CHANGING: Mapping[str, tuple[dict[str, Any], Mapping[str, Any], Mapping[str, str]]] = {
    "write_file": (
        writing("do", "b.txt", "new\n"),
        {
            "path": "b.txt",
            "size": 4,
            "sha256": "7aa7a5359173d05b63cfd682e3c38487f3cb4f7f1d60659fe59fab1505977d4c",
        },
        {"b.txt": "new\n"},
    ),
    "write_file makes parents": (
        writing("do", "new/deep/er.txt", "x"),
        {"path": "new/deep/er.txt", "size": 1},
        {"new/deep/er.txt": "x"},
    ),
    "write_file without a last line end": (
        writing("do", "b.txt", "no end"),
        {"size": 6},
        {"b.txt": "no end"},
    ),
    "write_file in Chinese": (
        writing("do", "说明.md", "你好\n"),
        {"size": 7},
        {"说明.md": "你好\n"},
    ),
    "write_file of the same": (writing("do", "b.txt", "before\n"), {"size": 7}, {}),
    "write_file empty": (writing("do", "empty.txt", ""), {"size": 0}, {"empty.txt": ""}),
    "apply_diff": (
        tool("do", "apply_diff", diff=DIFF),
        {"files": ["b.txt"]},
        {"b.txt": "after\n"},
    ),
    "run_command": (
        command("do", "sh", "-c", "echo out; echo err >&2"),
        {"exit_code": 0, "stdout": "out\n", "stderr": "err\n"},
        {},
    ),
    "run_command without a shell": (
        command("do", "echo", "$HOME; *"),
        {"stdout": "$HOME; *\n"},
        {},
    ),
    "run_command in a folder": (
        tool("do", "run_command", argv=["ls"], cwd="src/deep"),
        {"stdout": "notes.md\n"},
        {},
    ),
    "run_command with bytes that are no text": (
        command("do", "printf", "a\\377b"),
        {"stdout": "a\ufffdb"},
        {},
    ),
}


@pytest.mark.requirement("EX-30")
@pytest.mark.parametrize("case", few(CHANGING, 2))
def test_what_a_changing_tool_gives(stage: Stage, case: str) -> None:
    step, wanted, files = CHANGING[case]
    ran = stage.run(step, decide="approve").ended("completed")
    assert ran.result("do").items() >= wanted.items()
    assert {name: stage.read(name) for name in files} == files


def test_write_file_keeps_the_mode_and_the_exact_bytes(stage: Stage) -> None:
    (stage.workspace / "run.sh").chmod(0o755)
    content = "a\r\nb\tc \n\nlast"
    ran = stage.run(writing("do", "run.sh", content), decide="approve").ended("completed")
    assert (stage.workspace / "run.sh").read_bytes() == content.encode()
    assert (stage.workspace / "run.sh").stat().st_mode & 0o777 == 0o755
    assert ran.result("do")["size"] == len(content)


def test_apply_diff_does_all_or_nothing(stage: Stage) -> None:
    diff = DIFF + DIFF.replace("b.txt", "a.txt")  # the second does not fit
    ran = stage.run(tool("do", "apply_diff", diff=diff), decide="approve").ended("failed")
    assert stage.read("b.txt") == "before\n"
    assert ran.one("step_error")["error"]


def test_a_proposed_change_changes_nothing(stage: Stage) -> None:
    edit = {"path": "b.txt", "action": "edit", "search": "before\n", "replace": "after\n"}
    stage.model.say(edits("Say after.", edit))
    ran = stage.run(tool("propose", "propose_change", request="say after")).ended("completed")
    assert "+after" in ran.result("propose")["diff"]
    assert ran.result("propose")["summary"]
    assert stage.read("b.txt") == "before\n"
