"""Playbooks, contract sections 1 and 2: what is refused before anything runs, and the exit codes.

``list``, ``show``, ``new`` and ``check`` are here too: they need no agent.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from common.errors import CodexBridgeError
from common.home import find_home
from local_agent.faces.control.client import stream
from tests.e2e.playbooks.stage import (
    Stage,
    agent,
    gate,
    playbook,
    reading,
    taken,
    tool,
    writing,
)
from tests.each import few

GOOD = playbook(reading("look"))
STEP = "- {name: look, type: tool, tool: read_file, args: {path: a.txt}}"


def front(lines: str) -> str:
    """Return a file with this front matter."""
    return f"---\n{lines}\n---\n"


def steps(lines: str) -> str:
    """Return a file with these steps."""
    return front(f"name: case\nsteps:\n{lines}")


def conditioned(text: str) -> str:
    """Return a file whose second step has this condition."""
    return playbook(reading("x"), reading("y", condition=text))


def sourced(source: object) -> str:
    """Return a file whose second step takes its path from there."""
    return playbook(reading("x"), taken(tool("y", "read_file"), source), reading("z"))


BAD: Mapping[str, str | bytes] = {
    # the file
    "an empty file": "",
    "blanks alone": " \n\n",
    "no front matter": "# A title\n\nname: x\n",
    "front matter later": "\n---\nname: case\n---\n",
    "front matter without an end": f"---\nname: case\nsteps:\n{STEP}\n",
    "empty front matter": "---\n---\n",
    "a list as front matter": front("- name: case"),
    "a text as front matter": front("just text"),
    "not UTF-8": b"---\nname: \xff\xfe\n---\n",
    "UTF-16": GOOD.encode("utf-16"),
    "a NUL": front("name: a\x00b\nsteps: []"),
    "not YAML": front("name: [case\nsteps: }"),
    "a tab as indentation": front("name: case\nsteps:\n\t- {}"),
    "an object tag": front("name: !!python/object:os.system x\nsteps: []"),
    "a tag": front(f"name: !str case\nsteps:\n{STEP}"),
    "an anchor": front(f"name: &a case\nsteps:\n{STEP}"),
    "an alias": front(f"name: &a case\nagent: *a\nsteps:\n{STEP}"),
    "too deep": front(f"name: case\nsteps: {'[' * 200}{']' * 200}"),
    # keys
    "no name": front(f"steps:\n{STEP}"),
    "no steps": front("name: case"),
    "empty steps": front("name: case\nsteps: []"),
    "steps that are no list": front("name: case\nsteps: {a: 1}"),
    "an unknown key": front(f"name: case\nversion: 1\nsteps:\n{STEP}"),
    "a repeated key": front(f"name: case\nname: other\nsteps:\n{STEP}"),
    "a name that is a number": front(f"name: 7\nsteps:\n{STEP}"),
    "a name with a slash": front(f"name: a/b\nsteps:\n{STEP}"),
    "a name with blanks": front(f"name: a b\nsteps:\n{STEP}"),
    "an unknown risk": front(f"name: case\nrisk_level: extreme\nsteps:\n{STEP}"),
    "triggers that are no list": front(f"name: case\ntrigger_keywords: {{a: b}}\nsteps:\n{STEP}"),
    "a trigger that is no text": front(f"name: case\ntrigger_keywords: [1]\nsteps:\n{STEP}"),
    # steps
    "a step that is text": steps("- look"),
    "a step without a name": steps("- {type: tool, tool: git_status}"),
    "a step without a type": steps("- {name: look, tool: git_status}"),
    "an unknown type": steps("- {name: look, type: shell}"),
    "an unknown key of a step": steps("- {name: look, type: tool, tool: git_status, retry: 3}"),
    "a repeated key of a step": steps("- {name: look, name: see, type: tool, tool: git_status}"),
    "two steps of one name": playbook(reading("x"), reading("x")),
    "a tool step without a tool": steps("- {name: look, type: tool}"),
    "an unknown tool": steps("- {name: look, type: tool, tool: rm_rf}"),
    "a tool of jobs alone": steps("- {name: look, type: tool, tool: job_complete}"),
    "a gate without a template": steps("- {name: sure, type: gate}"),
    "an agent step without words": steps("- {name: say, type: agent}"),
    "a tool on a gate": steps("- {name: s, type: gate, message_template: x, tool: git_status}"),
    # arguments
    "a missing argument": steps("- {name: look, type: tool, tool: read_file}"),
    "an unknown argument": playbook(tool("look", "read_file", path="a.txt", mode="r")),
    "a number as a path": playbook(tool("look", "read_file", path=7)),
    "a truth as a path": playbook(tool("look", "read_file", path=True)),
    "nothing as a path": steps("- {name: x, type: tool, tool: read_file, args: {path: }}"),
    "a text as a number": playbook(tool("log", "git_log", limit="five")),
    "a text as argv": playbook(tool("run", "run_command", argv="ls -l")),
    "an empty argv": playbook(tool("run", "run_command", argv=[])),
    "a number in argv": playbook(tool("run", "run_command", argv=["sleep", 1])),
    "args that are a list": steps("- {name: x, type: tool, tool: read_file, args: [a]}"),
    # args_from
    "a path to an unknown step": sourced("nobody.result"),
    "a path to itself": sourced({"path": "y.result.path"}),
    "a path to a later step": sourced({"path": "z.result.path"}),
    "a path without result": sourced("x"),
    "a path with an index in brackets": sourced({"path": "x.result[0]"}),
    "a call as a path": sourced({"path": "x.result.path()"}),
    "a source that is a number": sourced(7),
    "a source that is a list": sourced(["x.result"]),
    "a map with an unknown argument": sourced({"path": "x.result.path", "mode": "x.result.size"}),
    # conditions
    "a condition with and": conditioned("x.result.size and x.result.path"),
    "a condition with not": conditioned("not x.result.size"),
    "a condition with >": conditioned("x.result.size > 3"),
    "a condition with a call": conditioned("len(x.result)"),
    "a condition that imports": conditioned("__import__('os').system('true')"),
    "a condition with two comparisons": conditioned("x.result.size == 1 == 1"),
    "a condition without a value": conditioned("x.result.size =="),
    "a condition without a path": conditioned("== 8"),
    "a condition of values": conditioned("1 == 1"),
    "a condition with two words": conditioned("x.result.path == two words"),
    "a condition with a list": conditioned("x.result.path == [1]"),
    "a condition with one =": conditioned("x.result.size = 8"),
    "a condition with a word": conditioned("true"),
    "an empty condition": conditioned(""),
    "a condition that is a truth": steps(f"{STEP[:-1]}, condition: true}}"),
    # hooks
    "hooks that are a list": front(f"name: case\nhooks: [pre]\nsteps:\n{STEP}"),
    "hooks of an unknown phase": front(f"name: case\nhooks: {{before: x}}\nsteps:\n{STEP}"),
    "a hook with a path": front(f"name: case\nhooks: {{pre: ../x}}\nsteps:\n{STEP}"),
    "a hook that is a number": front(f"name: case\nhooks: {{pre: 3}}\nsteps:\n{STEP}"),
}


def check_refused(stage: Stage, case: str, verb: str) -> None:
    """Require that a file is refused, in one line and without a run."""
    path = stage.file(BAD[case])
    more = ("--json",) if verb == "run" else ()
    done = stage.cli("playbook", verb, str(path), *more)
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert f"TaskParseError: Failed to parse {path}: " in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.requirement("EX-6a")
@pytest.mark.parametrize("case", few(BAD, 2))
def test_check_refuses_a_file_that_cannot_be_taken(stage: Stage, case: str) -> None:
    check_refused(stage, case, "check")


@pytest.mark.requirement("EX-6a")
@pytest.mark.parametrize("case", few(BAD, 8))
def test_run_refuses_a_file_that_cannot_be_taken(stage: Stage, case: str) -> None:
    check_refused(stage, case, "run")


# What a reason names: the key, the step or the value.
NAMED: Mapping[str, Sequence[str]] = {
    "an unknown key": ("version",),
    "a repeated key": ("name",),
    "an unknown risk": ("risk_level", "extreme"),
    "an unknown type": ("look", "shell"),
    "an unknown tool": ("look", "rm_rf"),
    "two steps of one name": ("x",),
    "a missing argument": ("look", "path"),
    "an unknown argument": ("look", "mode"),
    "a number as a path": ("look", "path"),
    "a path to an unknown step": ("nobody",),
    "a path to a later step": ("z",),
    "a condition with and": ("x.result.size and x.result.path",),
    "a hook with a path": ("../x",),
    "an object tag": ("python",),
}


@pytest.mark.requirement("EX-6a")
@pytest.mark.parametrize("case", few(NAMED, 3))
def test_the_reason_names_what_is_wrong(stage: Stage, case: str) -> None:
    path = stage.file(BAD[case])
    done = stage.cli("playbook", "check", str(path))
    reason = done.stderr.partition(f"Failed to parse {path}: ")[2]
    assert [word for word in NAMED[case] if word not in reason] == []


def test_what_is_refused_is_no_run(stage: Stage) -> None:
    before = stage.runs()
    stage.cli("playbook", "run", str(stage.file("")), "--json")
    assert stage.runs() == before


GOOD_FILES: Mapping[str, bytes] = {
    "plain": GOOD.encode(),
    "with a byte order mark": b"\xef\xbb\xbf" + GOOD.encode(),
    "with CRLF": GOOD.replace("\n", "\r\n").encode(),
    "with both": b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode(),
    "with a body": (GOOD + "\n# For people\n\n---\n\nMore.\n").encode(),
    "in Chinese": playbook(reading("读取文件"), body="说明\n", agent="开发").encode(),
    "with everything": playbook(
        reading("look", description="Looks."),
        agent("say", condition="look.result.size != 0"),
        gate("sure"),
        writing("write", "b.txt"),
        agent="@dev",
        trigger_keywords=["tidy up", "整理一下"],
        risk_level="low",
    ).encode(),
}


@pytest.mark.requirement("EX-1", "EX-2")
@pytest.mark.parametrize("case", few(GOOD_FILES, 3))
def test_a_good_file_is_taken(stage: Stage, case: str) -> None:
    path = stage.file(GOOD_FILES[case])
    done = stage.cli("playbook", "check", str(path))
    assert (done.returncode, done.stderr) == (0, "")
    if case != "with everything":
        assert stage.follow(("playbook", "run", str(path))).ended("completed")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The environment of an installation without an agent."""
    return {"CODEXBRIDGE_HOME": str(tmp_path_factory.mktemp("alone"))}


def test_check_needs_no_agent(stage: Stage, alone: Mapping[str, str]) -> None:
    good, bad = stage.file(GOOD, "good.md"), stage.file("", "bad.md")
    assert stage.cli("playbook", "check", str(good), **alone).returncode == 0
    assert stage.cli("playbook", "check", str(bad), **alone).returncode == 2


def test_a_run_without_an_agent_is_refused(stage: Stage, alone: Mapping[str, str]) -> None:
    done = stage.cli("playbook", "run", str(stage.file(GOOD)), "--json", **alone)
    assert (done.returncode, done.stdout) == (2, "")
    assert "codexbridge init" in done.stderr, "nothing is set up there"


# --- exit code 2 ----------------------------------------------------------------------------------

FILE = "FILE"
REFUSED: Mapping[str, Sequence[str]] = {
    "no verb": (),
    "an unknown verb": ("play", FILE),
    "no file": ("run",),
    "an unknown option": ("run", FILE, "--force"),
    "an option that approves": ("run", FILE, "--yes"),
    "a file that is not there": ("run", "nowhere.md"),
    "a folder": ("run", "./folder/"),
    "an unknown playbook": ("run", "no-such-playbook"),
    "a name with a blank": ("run", "no such"),
    "an unknown workspace": ("run", FILE, "--workspace", "nowhere"),
    "a client with a slash": ("run", FILE, "--client", "a/b"),
    "a client that goes up": ("run", FILE, "--client", ".."),
    "a client that begins with a dot": ("run", FILE, "--client", ".hidden"),
    "an empty client": ("run", FILE, "--client", ""),
    "a client in Chinese": ("run", FILE, "--client", "团队"),
    "a client with a blank": ("run", FILE, "--client", "a b"),
    "a client with a line end": ("run", FILE, "--client", "a\n"),
    "a client that is too long": ("run", FILE, "--client", "x" * 65),
    "no timeout": ("run", FILE, "--gate-timeout", "0"),
    "a negative timeout": ("run", FILE, "--gate-timeout=-1"),
    "a timeout that is too long": ("run", FILE, "--gate-timeout", "300.1"),
    "a timeout of another scale": ("run", FILE, "--gate-timeout", "1e9"),
    "a timeout that is no number": ("run", FILE, "--gate-timeout", "soon"),
    "a timeout of nan": ("run", FILE, "--gate-timeout", "nan"),
    "a timeout of inf": ("run", FILE, "--gate-timeout", "inf"),
    "an empty timeout": ("run", FILE, "--gate-timeout", ""),
    "check of a file that is not there": ("check", "nowhere.md"),
    "check of a folder": ("check", "./folder"),
    "show of an unknown playbook": ("show", "no-such-playbook"),
    "show of a path": ("show", "../x"),
    "new with a path": ("new", "../x"),
    "new with a blank": ("new", "a b"),
    "new without a name": ("new", ""),
}


@pytest.mark.parametrize("case", few(REFUSED, 4))
def test_what_is_refused_ends_with_2(stage: Stage, case: str) -> None:
    (stage.files / "folder").mkdir()
    path = stage.file(playbook(writing("write", "b.txt")))
    arguments = [str(path) if one == FILE else one for one in REFUSED[case]]
    more = ["--json"] if arguments[:1] == ["run"] else []
    done = stage.cli("playbook", *arguments, *more)
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert done.stderr.strip()
    assert not (stage.place.root / "config" / "x.md").exists()


@pytest.mark.parametrize("special", ["fifo", "/dev/zero"])
def test_a_file_that_is_no_file_is_refused(stage: Stage, special: str) -> None:
    path = Path(special)
    if special == "fifo":
        path = stage.files / "fifo.md"
        os.mkfifo(path)
    for verb in ("check", "run"):
        assert stage.cli("playbook", verb, str(path)).returncode == 2


def test_a_file_that_is_too_large_is_refused(stage: Stage) -> None:
    path = stage.file(GOOD + "x" * 20_000_000)
    done = stage.cli("playbook", "check", str(path))
    assert done.returncode == 2
    assert f"TaskParseError: Failed to parse {path}: " in done.stderr


# --- the other exit codes -------------------------------------------------------------------------


def test_the_exit_code_is_0_1_or_3(stage: Stage) -> None:
    assert stage.run(reading("look")).code == 0
    assert stage.run(reading("look", "nowhere.txt")).code == 1
    assert stage.run(gate("sure"), decide="reject").code == 3
    assert stage.run(gate("sure"), options=("--gate-timeout", "0.2")).code == 3


@pytest.mark.parametrize("lang", few(["en", "zh"], 2))
def test_for_people_the_exit_codes_are_the_same(stage: Stage, lang: str) -> None:
    more = {"LANG": "zh_CN.UTF-8" if lang == "zh" else "C.UTF-8"}
    good = stage.file(GOOD, "good.md")
    failing = stage.file(playbook(reading("look", "nowhere.txt")), "failing.md")
    late = stage.file(playbook(gate("sure")), "late.md")
    codes = [
        stage.cli("playbook", "run", str(good), **more).returncode,
        stage.cli("playbook", "run", str(failing), **more).returncode,
        stage.cli("playbook", "run", str(late), "--gate-timeout", "0.2", **more).returncode,
    ]
    assert codes == [0, 1, 3]


# --- playbooks by name ----------------------------------------------------------------------------


@pytest.fixture
def own(stage: Stage) -> Iterator[Path]:
    """The folder of this person's own playbooks."""
    stage.own.mkdir(mode=0o700, exist_ok=True)
    yield stage.own
    stage.reset()


def test_a_playbook_of_the_own_folder_is_run_by_name(stage: Stage, own: Path) -> None:
    stage.file(playbook(reading("look"), name="mine"), "mine.md", own)
    ran = stage.follow(("playbook", "run", "mine")).ended("completed")
    assert ran.events[0]["task_name"] == "mine"


@pytest.mark.parametrize("name", few(["A.b-c_d", "a", "9", "x" * 64], 4))
def test_names_that_a_playbook_may_have(stage: Stage, own: Path, name: str) -> None:
    stage.file(playbook(reading("look"), name=name), f"{name}.md", own)
    assert stage.follow(("playbook", "run", name)).ended("completed")


def test_list_tells_the_own_playbooks_and_the_shipped_ones(stage: Stage, own: Path) -> None:
    stage.file(playbook(reading("look"), name="mine", body="# What it is for\n"), "mine.md", own)
    stage.file("", "broken.md", own)
    done = stage.cli("playbook", "list", "--json")
    assert done.returncode == 0
    listed = {row["name"]: row for row in json.loads(done.stdout)["playbooks"]}
    assert listed["mine"]["error"] is None
    assert "What it is for" in listed["mine"]["about"]
    assert "TaskParseError" in listed["broken"]["error"]
    shown = stage.cli("playbook", "list").stdout
    assert "mine" in shown
    assert "broken" in shown


def test_show_tells_the_steps(stage: Stage, own: Path) -> None:
    text = playbook(reading("look"), gate("be sure"), name="mine", body="What it is for.\n")
    stage.file(text, "mine.md", own)
    shown = stage.cli("playbook", "show", "mine").stdout
    assert [word in shown for word in ("mine", "look", "be sure", "What it is for.")] == [True] * 4
    told = json.loads(stage.cli("playbook", "show", "mine", "--json").stdout)
    assert [step["name"] for step in told["steps"]] == ["look", "be sure"]


@pytest.mark.parametrize("lang", few(["C.UTF-8", "zh_CN.UTF-8"], 2))
def test_what_new_writes_can_be_checked_shown_and_run(stage: Stage, own: Path, lang: str) -> None:
    assert stage.cli("playbook", "new", "fresh", LANG=lang).returncode == 0
    path = own / "fresh.md"
    assert stage.cli("playbook", "check", str(path)).returncode == 0
    assert stage.cli("playbook", "show", "fresh").returncode == 0
    ran = stage.follow(("playbook", "run", "fresh"), decide="approve").ended("completed")
    assert ran.events[0]["task_name"] == "fresh"


def test_new_overwrites_nothing(stage: Stage, own: Path) -> None:
    path = stage.file("mine", "fresh.md", own)
    assert stage.cli("playbook", "new", "fresh").returncode == 2
    assert path.read_text(encoding="utf-8") == "mine"


# --- from other places ----------------------------------------------------------------------------


def test_ask_lists_the_playbooks(stage: Stage, own: Path) -> None:
    stage.file(playbook(reading("look"), name="mine"), "mine.md", own)
    done = stage.cli("ask", "@dev playbook")
    assert "mine" in done.stdout


def test_ask_runs_a_playbook_with_words(stage: Stage, own: Path) -> None:
    stage.file(playbook(agent("say", "Words: {message}"), name="mine"), "mine.md", own)
    done = stage.cli("ask", "@dev playbook mine and some words")
    assert done.returncode == 0
    assert "A plain answer." in done.stdout
    assert "Words: and some words" in stage.model.prompts[0]


@pytest.mark.requirement("P8")
@pytest.mark.parametrize("client", ["../../escape", "/abs", "..", "", "a\0b", "x" * 300])
def test_a_client_that_names_no_folder_is_refused_at_the_socket_too(
    stage: Stage, client: str
) -> None:
    environ = stage.place.environ
    path = str(stage.file(playbook(reading("look"))))
    plain = {"name": "", "message": "", "gate_ms": 1000, "workspace": "", "lang": "en"}
    asked: dict[str, Any] = {"path": path, **plain, "dry": False, "answers": False}
    with pytest.raises(CodexBridgeError) as refused:
        list(stream(find_home(environ), environ, "play", client=client, **asked))
    assert refused.value.code == "playbook.client"
    assert stage.cli("runs", "--json").returncode == 0


def test_answers_are_read_from_an_ordinary_file_alone(stage: Stage) -> None:
    path, pipe = stage.file(playbook(reading("look"))), stage.files / "pipe"
    os.mkfifo(pipe)
    done = stage.cli("playbook", "run", str(path), "--dry-run", "--answers", str(pipe))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
