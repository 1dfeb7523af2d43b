"""Playbooks, contract section 2: arguments, conditions and templates in a run (AC 12 and 13).

Many cases share one run: a playbook with a step for each, and each case looks at its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.e2e.playbooks.stage import (
    Ran,
    Stage,
    agent,
    command,
    gate,
    reading,
    taken,
    tool,
    writing,
)
from tests.each import few
from tests.model_script import text

Step = dict[str, Any]

# --- arguments ------------------------------------------------------------------------------------

LOOK = reading("look", "src/app.py")
LIST = tool("list", "list_files", glob="*.txt")
FIND = tool("find", "search", query="retry later")
READ = tool("last", "read_file")
SKIPPED = reading("skipped", condition="look.result.size == 0")

# Steps before the last, `args_from` of the last (which reads a file), the file that it reads.
READS: Mapping[str, tuple[Sequence[Step], Step, str]] = {
    "a string gives an object's keys": ((LOOK,), taken(READ, "look.result"), "src/app.py"),
    "a string to an object further down": (
        (FIND,),
        taken(READ, "find.result.items.0"),
        "src/deep/notes.md",
    ),
    "a map gives one argument": ((LIST,), taken(READ, {"path": "list.result.files.1"}), "b.txt"),
    "a map goes through keys and indices": (
        (FIND,),
        taken(READ, {"path": "find.result.items.0.path"}),
        "src/deep/notes.md",
    ),
    "args win over a string": (
        (LOOK,),
        taken(reading("last", "a.txt"), "look.result"),
        "a.txt",
    ),
    "args win over a map": (
        (LIST,),
        taken(reading("last", "a.txt"), {"path": "list.result.files.1"}),
        "a.txt",
    ),
    "a name with blanks": (
        (reading("look at it", "b.txt"),),
        taken(READ, {"path": "look at it.result.path"}),
        "b.txt",
    ),
    "a name in Chinese": (
        (reading("读取 文件", "b.txt"),),
        taken(READ, {"path": "读取 文件.result.path"}),
        "b.txt",
    ),
    "a name with a letter from elsewhere": (
        (reading("prüfen é", "b.txt"),),
        taken(READ, "prüfen é.result"),
        "b.txt",
    ),
    "a name with a dot": (
        (reading("v1.2", "b.txt"),),
        taken(READ, {"path": "v1.2.result.path"}),
        "b.txt",
    ),
    "what the model said": ((agent("say"),), taken(READ, {"path": "say.result.text"}), "a.txt"),
    "a step far before": (
        (LOOK, LIST, FIND, reading("other")),
        taken(READ, {"path": "look.result.path"}),
        "src/app.py",
    ),
}


@pytest.mark.requirement("EX-13", "R65")
@pytest.mark.parametrize("case", few(READS, 2))
def test_arguments_come_from_earlier_steps(stage: Stage, case: str) -> None:
    before, last, wanted = READS[case]
    stage.model.say(text("a.txt"))
    ran = stage.run(*before, last).ended("completed")
    assert ran.result("last")["path"] == wanted


def test_inputs_are_given_at_the_terminal_and_what_is_wrong_runs_nothing(stage: Stage) -> None:
    inputs = {"file": {"type": "text"}, "days": {"type": "integer", "default": 7}}
    look = tool("look", "read_file", path="{inputs.file}")
    ran = stage.run(look, inputs=inputs, options=("--input", "file=b.txt")).ended("completed")
    assert ran.result("look")["path"] == "b.txt"
    for options in ((), ("--input", "file=b.txt", "--input", "days=x"), ("--input", "other=1")):
        refused = stage.run(look, inputs=inputs, options=options)
        assert (refused.code, refused.events) == (2, [])
        assert "Nothing ran" in refused.stderr


def test_a_command_in_the_sandbox_reads_what_was_sealed(stage: Stage) -> None:
    reads = tool("reads", "run_command", argv=["cat", "-"], stdin="读 {message}\n")
    ran = stage.run(reads, decide="approve", options=("--message", "it")).ended("completed")
    assert ran.result("reads")["stdout"] == "读 it\n"


def test_keys_that_the_tool_does_not_know_are_dropped(stage: Stage) -> None:
    ran = stage.run(
        reading("look"),  # path, content and size, of which write_file knows two
        taken(tool("copy", "write_file", path="copy.txt"), "look.result"),
        decide="approve",
    ).ended("completed")
    assert ran.result("copy")["path"] == "copy.txt"
    assert stage.read("copy.txt") == "one\ntwo\n"


def test_a_number_stays_a_number(stage: Stage) -> None:
    stage.write("one.txt", "1")
    ran = stage.run(
        reading("look", "one.txt"),
        taken(tool("log", "git_log"), {"limit": "look.result.size"}),
    ).ended("completed")
    assert len(ran.result("log")["commits"]) == 1


@pytest.mark.parametrize("content", ["a\r\nb\r\n", "🙂 中 é\t\x01\n", "no end"], ids=ascii)
def test_what_is_handed_on_is_exact(stage: Stage, content: str) -> None:
    stage.write("in.txt", content)
    (stage.workspace / "in.txt").write_bytes(content.encode())
    stage.run(
        reading("look", "in.txt"),
        taken(tool("copy", "write_file", path="out.txt"), {"content": "look.result.content"}),
        decide="approve",
    ).ended("completed")
    assert (stage.workspace / "out.txt").read_bytes() == content.encode()


def test_a_list_is_handed_on_as_a_list(stage: Stage) -> None:
    stage.write("true", "")
    ran = stage.run(
        tool("some", "list_files", glob="true"),
        taken(tool("run", "run_command"), {"argv": "some.result.files"}),
        decide="approve",
    ).ended("completed")
    assert ran.result("run")["exit_code"] == 0


# Steps before the last, the last, the path that the error names.
FAILS: Mapping[str, tuple[Sequence[Step], Step, str]] = {
    "a key that is not there": (
        (LOOK,),
        taken(READ, {"path": "look.result.nothing"}),
        "look.result.nothing",
    ),
    "an index that is not there": (
        (LIST,),
        taken(READ, {"path": "list.result.files.99"}),
        "list.result.files.99",
    ),
    "a key of a text": (
        (LOOK,),
        taken(READ, {"path": "look.result.content.length"}),
        "look.result.content.length",
    ),
    "an attribute": (
        (LOOK,),
        taken(READ, {"path": "look.result.__class__"}),
        "look.result.__class__",
    ),
    "a key of a list": (
        (LIST,),
        taken(READ, {"path": "list.result.files.first"}),
        "list.result.files.first",
    ),
    "a step that was skipped": (
        (LOOK, SKIPPED),
        taken(READ, {"path": "skipped.result.path"}),
        "skipped.result.path",
    ),
    "a skipped step as a string": ((LOOK, SKIPPED), taken(READ, "skipped.result"), "skipped"),
    "a string form to a text": (
        (LOOK,),
        taken(READ, "look.result.content"),
        "look.result.content",
    ),
    "a string form to a list": ((LIST,), taken(READ, "list.result.files"), "list.result.files"),
    "a string form to a number": ((LOOK,), taken(READ, "look.result.size"), "look.result.size"),
    "an object without the argument": ((LIST,), taken(READ, "list.result"), "path"),
    "a number for a text": ((LOOK,), taken(READ, {"path": "look.result.size"}), "path"),
    "a list for a text": ((LIST,), taken(READ, {"path": "list.result.files"}), "path"),
    "a text for a number": (
        (LOOK,),
        taken(tool("last", "git_log"), {"limit": "look.result.path"}),
        "limit",
    ),
    "a truth for a number": (
        (tool("state", "git_status"),),
        taken(tool("last", "git_log"), {"limit": "state.result.clean"}),
        "limit",
    ),
    "a text for a list": (
        (LOOK,),
        taken(tool("last", "run_command"), {"argv": "look.result.path"}),
        "argv",
    ),
    "an empty list for a command": (
        (tool("none", "list_files", glob="*.none"),),
        taken(tool("last", "run_command"), {"argv": "none.result.files"}),
        "argv",
    ),
    "a missing text of a write": (
        (LOOK,),
        taken(tool("last", "write_file", path="b.txt"), {"content": "look.result.nothing"}),
        "look.result.nothing",
    ),
}


@pytest.mark.requirement("EX-13", "EX-34")
@pytest.mark.parametrize("case", few(FAILS, 2))
def test_the_step_fails_and_the_tool_is_not_called(stage: Stage, case: str) -> None:
    before, last, named = FAILS[case]
    ran = stage.run(*before, last, reading("after")).ended("failed")
    assert named in ran.one("step_error", step="last")["error"]
    assert ran.one("function_result", step="last")["success"] is False
    assert not ran.all("confirmation_required")
    assert not ran.all("step_start", step="after")
    assert stage.read("b.txt") == "before\n"


# --- conditions -----------------------------------------------------------------------------------

HELD: Mapping[str, bool] = {
    "look.result": True,
    "look.result.size": True,
    "look.result.content": True,
    "empty.result.content": False,
    "empty.result.size": False,
    "all.result.files": True,
    "none.result.files": False,
    "state.result.clean": True,
    "zero.result.content": True,
    "untrue.result.content": True,
    "sure.result.confirmed": True,
    "run.result.exit_code": False,
    "say.result.text": True,
    "look.result.size == 8": True,
    "look.result.size == 8.0": True,
    "look.result.size == 9": False,
    "look.result.size != 8": False,
    "look.result.size != 9": True,
    'look.result.size == "8"': False,
    'look.result.size != "8"': True,
    "look.result.size == null": False,
    "look.result.size != null": True,
    "look.result.size == true": False,
    "run.result.exit_code == 0": True,
    "run.result.exit_code != 0": False,
    "run.result.exit_code == -1": False,
    "run.result.exit_code == false": False,
    "zero.result.content == 0": False,
    'zero.result.content == "0"': True,
    "zero.result.content == '0'": True,
    "state.result.clean == true": True,
    "state.result.clean == false": False,
    "state.result.clean != true": False,
    'state.result.clean == "true"': False,
    "sure.result.confirmed == true": True,
    "untrue.result.content == false": False,
    'untrue.result.content == "false"': True,
    "state.result.branch == main": True,
    'state.result.branch == "main"': True,
    "state.result.branch == 'main'": True,
    "state.result.branch==main": True,
    "state.result.branch == Main": False,
    "state.result.branch != main": False,
    "state.result.branch != dev": True,
    'words.result.content == "two words"': True,
    'equal.result.content == "a == b"': True,
    "zh.result.content == 中文": True,
    'zh.result.content == "中文"': True,
    "all.result.files.0 == a.txt": True,
    "all.result.files.1 == a.txt": False,
    "all.result.files.99": False,
    "all.result.files.99 != a.txt": False,
    "look.result.nothing": False,
    "look.result.nothing == 1": False,
    "look.result.nothing != 1": False,
    "look.result.nothing == null": False,
    "look.result.__class__": False,
    "look.result.content.__len__": False,
    "nobody.result": False,
    "nobody.result.x == 1": False,
    "nobody.result.x != 1": False,
    "skipped.result": False,
    "skipped.result.size != 8": False,
    "at the end.result.size != 8": False,
    "look at it.result.size == 8": True,
    "读取.result.path == a.txt": True,
}
BEFORE = (
    reading("look"),
    reading("look at it"),
    reading("读取"),
    reading("empty", "empty.txt"),
    reading("zero", "zero.txt"),
    reading("untrue", "untrue.txt"),
    reading("words", "words.txt"),
    reading("equal", "equal.txt"),
    reading("zh", "zh.txt"),
    tool("all", "list_files", glob="[ab].txt"),
    tool("none", "list_files", glob="*.none"),
    tool("state", "git_status"),
    agent("say"),
    gate("sure"),
    command("run", "true"),
    reading("skipped", condition="look.result.size == 0"),
)
VALUES = {
    "empty.txt": "",
    "zero.txt": "0",
    "untrue.txt": "false",
    "words.txt": "two words",
    "equal.txt": "a == b",
    "zh.txt": "中文",
    ".gitignore": "*\n",
}


@pytest.fixture(scope="module")
def judged(open_stage: Stage) -> Ran:
    """One run with a step for each condition."""
    open_stage.reset()
    for name, content in VALUES.items():
        open_stage.write(name, content)
    asked = [reading(f"if {at}", condition=text) for at, text in enumerate(HELD)]
    steps = (*BEFORE, *asked, reading("at the end"))
    return open_stage.run(*steps, decide="approve").ended("completed")


@pytest.mark.requirement("EX-12", "R65")
@pytest.mark.parametrize(("at", "condition"), [*enumerate(HELD)], ids=HELD)
def test_a_condition_decides_whether_a_step_runs(judged: Ran, at: int, condition: str) -> None:
    name = f"if {at}"
    assert bool(judged.all("step_start", step=name)) is HELD[condition]
    assert bool(judged.all("step_skipped", step=name)) is not HELD[condition]


@pytest.mark.parametrize(
    "step",
    [
        agent("asked", condition="look.result.size == 9"),
        gate("asked", condition="look.result.size == 9"),
        writing("asked", "b.txt", condition="look.result.size == 9"),
    ],
    ids=["agent", "gate", "write"],
)
def test_a_skipped_step_of_any_kind_does_nothing(stage: Stage, step: Step) -> None:
    ran = stage.run(reading("look"), step).ended("completed")
    assert ran.one("step_skipped")["reason"]
    assert not ran.all("confirmation_required")
    assert stage.model.requests == []
    assert stage.read("b.txt") == "before\n"


# --- templates ------------------------------------------------------------------------------------

MESSAGE = "Say {look.result.path} and {message}!"
# What stands in a template, and what the model is asked; None: as it is written.
RENDERED: Mapping[str, str | None] = {
    "{message}": MESSAGE,
    "{message} and {message}": f"{MESSAGE} and {MESSAGE}",
    "{look.result.path}": "a.txt",
    "{look.result.size}": "8",
    "{look.result.content}": "one\ntwo\n",
    "{all.result.files.1}": "b.txt",
    "{look at it.result.size}": "8",
    "{读取.result.path}": "a.txt",
    "{braces.result.content}": "{look.result.path}",
    "{look.result.nothing}": None,
    "{all.result.files.99}": None,
    "{nobody.result}": None,
    "{skipped.result.path}": None,
    "{at the end.result.path}": None,
    "{look.result.__class__}": None,
    "{look.__class__}": None,
    "{message.__class__}": None,
    "{message!r}": None,
    "{message:>99}": None,
    "{look.result.size:05}": None,
    "{look.result.size + 1}": None,
    "{0}": None,
    "{}": None,
    "{ }": None,
    "{unknown}": None,
    "{": None,
    "}": None,
    "100% $HOME %s \\n": None,
    '{"key": "value"}': None,
}


@pytest.fixture(scope="module")
def rendered(open_stage: Stage) -> Sequence[str]:
    """What the model was asked, for each template in order."""
    open_stage.reset()
    open_stage.write("braces.txt", "{look.result.path}")
    before = (
        reading("look"),
        reading("look at it"),
        reading("读取"),
        reading("braces", "braces.txt"),
        tool("all", "list_files", glob="[ab].txt"),
        reading("skipped", condition="look.result.size == 0"),
    )
    asked = [agent(f"ask {at}", f"«{text}»") for at, text in enumerate(RENDERED)]
    options = ("--message", MESSAGE)
    open_stage.run(*before, *asked, reading("at the end"), options=options).ended("completed")
    return open_stage.model.prompts


@pytest.mark.parametrize(("at", "template"), [*enumerate(RENDERED)], ids=RENDERED)
def test_a_template_is_filled_once_with_plain_data(
    rendered: Sequence[str], at: int, template: str
) -> None:
    wanted = RENDERED[template]
    assert f"«{template if wanted is None else wanted}»" in rendered[at]


@pytest.mark.requirement("EX-26")
@pytest.mark.parametrize(
    ("template", "wanted"),
    [
        ("Write {look.result.path}?", "Write a.txt?"),
        ("{message}", "my words"),
        ("Sure about {nobody.result}?", "Sure about {nobody.result}?"),
        ("确认 {look.result.size}？", "确认 8？"),
    ],
)
def test_a_gate_asks_with_its_template(stage: Stage, template: str, wanted: str) -> None:
    ran = stage.run(
        reading("look"),
        gate("sure", template),
        options=("--message", "my words"),
        decide="approve",
    ).ended("completed")
    assert ran.one("confirmation_required")["message"] == wanted


def test_an_agent_step_without_template_asks_with_its_description(stage: Stage) -> None:
    step = {"name": "say", "type": "agent", "description": "Describe the weather."}
    stage.run(step).ended("completed")
    assert "Describe the weather." in stage.model.prompts[0]
