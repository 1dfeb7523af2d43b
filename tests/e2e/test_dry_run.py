"""Dry runs of playbooks through real processes: a copy changes, and the workspace by no byte."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.place import CODE, Place, Terminal, sample, wait_until
from tests.e2e.test_changes import git
from tests.e2e.test_unsandboxed import ROOT, WITHOUT_BUBBLEWRAP

pytestmark = [pytest.mark.needs("bubblewrap")]

COMMAND = """\
set -e
pwd
cat login.py notes.txt > seen.txt
echo from-a-command >> {workspace}/notes.txt
echo y > {workspace}/by-its-name.txt
echo x > .git/config && exit 3
echo x > {workspace}/.git/config && exit 3
touch {outside}/reached && exit 3
cat {secret} && exit 3
cat /proc/net/dev | tail -n +3 | grep -v lo: && exit 3
true
"""
PLAYBOOK = """\
---
name: all-tools
steps:
  - name: look
    type: tool
    tool: read_file
    args: {path: login.py}
  - name: go
    type: gate
    message_template: "Write?"
  - name: write
    type: tool
    tool: write_file
    args: {path: notes.txt, content: "hello\\n"}
  - name: patch
    type: tool
    tool: apply_diff
    args:
      diff: |
        diff --git a/login.py b/login.py
        --- a/login.py
        +++ b/login.py
        @@ -1 +1 @@
        -retry = 3
        +retry = 5
  - name: run
    type: tool
    tool: run_command
    args: {argv: ["sh", "tool.sh"]}
  - name: seen
    type: tool
    tool: git_status
  - name: late
    type: tool
    tool: write_file
    args: {path: sub/late.txt, content: "late\\n"}
    condition: seen.result.clean == false
---
Uses every kind of tool.
"""
ONE_WRITE = """\
---
name: one-write
steps:
  - name: write
    type: tool
    tool: write_file
    args: {path: notes.txt, content: "hello\\n"}
---
Writes a file.
"""
EVERY = [{"step": "*", "decision": "approve"}]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "shop-api"
    secret, outside = tmp_path / "secret.txt", tmp_path / "outside"
    secret.write_text("secret\n", encoding="utf-8")
    outside.mkdir()
    script = COMMAND.format(workspace=root, outside=outside, secret=secret)
    sample(root, [("login.py", "retry = 3\n"), ("tool.sh", script), ("sub/deep/a.txt", "a\n")])
    (root / "login.py").chmod(0o640)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    (root / "outside").symlink_to(outside)
    (root / "untracked.txt").write_text("mine\n", encoding="utf-8")
    os.mkfifo(root / "pipe")
    return root


@pytest.fixture
def place(place: Place, workspace: Path) -> Place:
    place.run("workspace", "add", str(workspace), "--name", "shop", "--toolchains", "none")
    place.start_agent(connected=False)
    return place


def state_of(root: Path) -> dict[str, tuple[object, ...]]:
    """Return what every entry is, git's own included: kind, mode, size, time of change, content."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted([root, *root.rglob("*")]):
        status = path.lstat()
        content = ""
        if path.is_symlink():
            content = str(path.readlink())
        elif path.is_file():
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        name = str(path.relative_to(root))
        found[name] = (status.st_mode, status.st_mtime_ns, status.st_ino, content)
    return found


def played(
    place: Place, tmp_path: Path, *verb: str, answers: object | None = None, text: str = ""
) -> tuple[int, list[dict[str, Any]]]:
    """Run ``playbook VERB``, with a playbook and answers as files; return exit code and events."""
    words = list(verb)
    if text:
        name = text.split("name: ", 1)[1].split("\n", 1)[0]
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
        words.append(str(tmp_path / f"{name}.md"))
    if answers is not None:
        (tmp_path / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
        words += ["--answers", str(tmp_path / "answers.json")]
    done = place.run("playbook", *words, "--json", check=False)
    assert "Traceback" not in done.stderr
    assert done.stdout or done.returncode == 2, done.stderr
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def of_type(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == kind]


@pytest.mark.requirement("P1")
@pytest.mark.requirement("P2")
def test_every_tool_acts_in_the_copy_and_the_workspace_stays(
    place: Place, workspace: Path, tmp_path: Path
) -> None:
    before = state_of(workspace)
    code, events = played(place, tmp_path, "run", "--dry-run", answers=EVERY, text=PLAYBOOK)
    assert code == 0, events
    assert state_of(workspace) == before
    assert not (tmp_path / "outside/reached").exists()
    copy = Path(events[0]["workdir"])
    assert copy.parent.parent == place.root / "state/dry-runs"
    assert (copy / "login.py").read_text(encoding="utf-8") == "retry = 5\n"
    assert (copy / "login.py").stat().st_mode & 0o777 == 0o640
    # Where its files name the workspace by its own path, they find the copy.
    assert (copy / "notes.txt").read_text(encoding="utf-8") == "hello\nfrom-a-command\n"
    assert (copy / "by-its-name.txt").exists()
    assert (copy / "seen.txt").read_text(encoding="utf-8") == "retry = 5\nhello\n"
    assert (copy / "sub/late.txt").exists()
    assert (copy / "outside").is_symlink()
    assert not (copy / "pipe").exists()
    # The gate's question, and one of its own for what it could not cover.
    asked = of_type(events, "confirmation_required")
    assert [(one["step"], one["dynamic"]) for one in asked] == [("go", False), ("late", True)]
    # It is told for what it is, and is nothing that could be undone in the workspace.
    gate = asked[0]["short_id"]
    shown = place.run("show", gate).stdout
    assert "shop (dry run)" in shown
    assert "answers file of a dry run" in shown
    assert "codexbridge undo" not in shown
    assert "dry run" in place.run("runs").stdout
    assert "(dry run)" in place.run("show", events[0]["short_id"]).stdout
    assert json.loads(place.run("runs", "--json").stdout)["runs"][0]["dry_run"] is True
    place.run("receipt", gate, "--output", str(tmp_path / "receipt"))
    key = place.run("receipt", "key").stdout.strip()
    said = place.run("receipt", "verify", str(tmp_path / "receipt"), "--key", key).stdout
    assert "answers file of a dry run or by its rollback (approve)" in said
    assert "by a person" not in said
    assert place.run("audit", "verify").returncode == 0
    # Nobody is led to the copy by a name.
    assert "dry" not in place.run("workspace", "list").stdout
    for words in (
        ("undo", gate),
        ("retry", gate),
        ("apply", gate),
        ("approve", gate),
        ("ask", "--workspace", "shop", f"@dev undo {gate}"),
        ("ask", "--workspace", "shop", f"@dev apply {gate}"),
        ("ask", "--workspace", "shop (dry run)", "@dev git status"),
        ("ask", "--workspace", str(copy), "@dev git status"),
        ("playbook", "run", str(tmp_path / "all-tools.md"), "--workspace", "shop (dry run)"),
    ):
        assert place.run(*words, check=False).returncode != 0, words
    assert state_of(workspace) == before


@pytest.mark.requirement("P5")
def test_a_dry_run_is_taken_back_in_its_copy_and_asks_nobody(
    place: Place, workspace: Path, tmp_path: Path
) -> None:
    before = state_of(workspace)
    steps, _, rest = PLAYBOOK.partition("  - name: run\n")  # it changes what was written
    text = steps + "  - name: seen\n" + rest.partition("  - name: seen\n")[2]
    code, events = played(place, tmp_path, "run", "--dry-run", answers=EVERY, text=text)
    assert code == 0, events
    copy, short_id = Path(events[0]["workdir"]), events[0]["short_id"]
    assert (copy / "sub/late.txt").exists()
    told = place.run("playbook", "rollback", short_id).stdout
    assert "waits for you" not in told
    assert "the workspace was not changed" in told
    assert (copy / "login.py").read_text(encoding="utf-8") == "retry = 3\n"
    assert not (copy / "sub/late.txt").exists()
    assert not (copy / "notes.txt").exists()
    [run] = json.loads(place.run("runs", "--json").stdout)["runs"]
    assert run["status"] == "rolled_back"
    assert "Nothing in the workspace was changed" in place.run("show", run["short_id"]).stdout
    assert played(place, tmp_path, "rollback", short_id) == (2, [])
    assert state_of(workspace) == before


def test_of_a_copy_that_is_gone_nothing_is_taken_back(
    place: Place, workspace: Path, tmp_path: Path
) -> None:
    before = state_of(workspace)
    code, events = played(place, tmp_path, "run", "--dry-run", answers=EVERY, text=ONE_WRITE)
    assert code == 0
    shutil.rmtree(Path(events[0]["workdir"]).parent)
    done = place.run("playbook", "rollback", events[0]["short_id"], check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not there any more" in done.stderr
    assert state_of(workspace) == before


OUTWARD = {
    "through a link": "write_file\n    args: {path: outside/made.txt, content: x}",
    "up and out": "write_file\n    args: {path: ../../../outside/made.txt, content: x}",
    "by an absolute path": "write_file\n    args: {path: %s, content: x}",
    "a hook": "write_file\n    args: {path: .git/hooks/pre-push, content: x}",
    "a setting of git": 'apply_diff\n    args: {diff: "--- /dev/null\\n+++ b/.git/c\\n'
    '@@ -0,0 +1 @@\\n+x\\n"}',
    "by a diff through a link": 'apply_diff\n    args: {diff: "--- /dev/null\\n'
    '+++ b/outside/made.txt\\n@@ -0,0 +1 @@\\n+x\\n"}',
    "a program that lies outside": 'run_command\n    args: {argv: ["outside/tool"]}',
    "a folder that lies outside": 'run_command\n    args: {argv: ["true"], cwd: outside}',
}


@pytest.mark.requirement("P1")
def test_what_would_reach_out_of_the_copy_is_refused_and_nobody_is_asked(
    place: Place, workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside/tool").write_text("#!/bin/sh\ntouch made.txt\n", encoding="utf-8")
    (tmp_path / "outside/tool").chmod(0o755)
    before = state_of(workspace), state_of(tmp_path / "outside")
    for case, step in OUTWARD.items():
        tool = step.replace("%s", str(workspace / "made.txt"))
        text = f"---\nname: outward\nsteps:\n  - name: out\n    type: tool\n    tool: {tool}\n---\n"
        code, events = played(place, tmp_path, "run", "--dry-run", answers=EVERY, text=text)
        assert (code, of_type(events, "gate_result")) == (1, []), (case, events)
        copy = Path(events[0]["workdir"])
        assert not (copy / ".git/hooks/pre-push").exists(), case
        assert (state_of(workspace), state_of(tmp_path / "outside")) == before, case


@pytest.mark.thorough
def test_of_a_linked_worktree_the_repository_elsewhere_stays_as_it_is(
    place: Place, workspace: Path, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    git(workspace, "worktree", "add", "-q", "-b", "side", str(tree))
    place.run("workspace", "add", str(tree), "--name", "tree", "--toolchains", "none")
    (tree / "login.py").write_text("retry = 4\n", encoding="utf-8")
    before = state_of(workspace), state_of(tree)
    script = f"git add -A; git commit -qm x; echo x > .git; rm -rf {workspace}/.git; true"
    text = f"""\
---
name: in-a-tree
steps:
  - name: write
    type: tool
    tool: write_file
    args: {{path: notes.txt, content: "hello\\n"}}
  - name: run
    type: tool
    tool: run_command
    args: {{argv: ["sh", "-c", "{script}"]}}
  - LOOK
---
Looks at a repository that lies elsewhere.
"""
    words = ("run", "--dry-run", "--workspace", "tree")
    for tool in ("git_status", "git_log", "git_diff, args: {base: HEAD}"):
        look = f"{{name: look, type: tool, tool: {tool}}}"
        code, events = played(
            place, tmp_path, *words, answers=EVERY, text=text.replace("LOOK", look)
        )
        assert (state_of(workspace), state_of(tree)) == before
        # git would look at the worktree itself: it is not asked about the copy.
        assert (code, "git repository" in events[-1]["summary"]) == (1, True), events
        copy = Path(events[0]["workdir"])
        assert (copy / "notes.txt").read_text(encoding="utf-8") == "hello\n"
        assert (copy / ".git").read_bytes() == (tree / ".git").read_bytes()


@pytest.mark.thorough
def test_a_denied_step_is_asked_again_by_a_resume_in_the_same_copy(
    place: Place, workspace: Path, tmp_path: Path
) -> None:
    before = state_of(workspace)
    answers = [{"step": "late", "decision": "deny"}, *EVERY]
    code, events = played(place, tmp_path, "run", "--dry-run", answers=answers, text=PLAYBOOK)
    assert code == 3
    results = [(one["step"], one["reason"]) for one in of_type(events, "gate_result")]
    assert results == [("go", "approved"), ("late", "denied")]
    copy, short_id = Path(events[0]["workdir"]), events[0]["short_id"]
    # Approvals do not outlive a resume, and neither do answers.
    code, again = played(place, tmp_path, "resume", short_id, "--gate-timeout", "0.3")
    assert (code, again[0]["workdir"], again[0]["resumed"]) == (3, str(copy), True)
    assert [one["reason"] for one in of_type(again, "gate_result")] == ["timeout"]
    code, again = played(place, tmp_path, "resume", short_id, answers=EVERY)
    assert (code, [one["step"] for one in of_type(again, "step_start")]) == (0, ["late"])
    assert (copy / "sub/late.txt").exists()
    assert state_of(workspace) == before


@pytest.mark.thorough
def test_what_the_file_does_not_answer_waits_for_a_person(
    place: Place, workspace: Path, tmp_path: Path
) -> None:
    before = state_of(workspace)
    other = [{"step": "another", "decision": "approve"}]
    code, events = played(
        place, tmp_path, "run", "--dry-run", "--gate-timeout", "0.3", answers=other, text=ONE_WRITE
    )
    assert (code, of_type(events, "gate_result")[0]["reason"]) == (3, "timeout")
    with Terminal(
        place.environ, "playbook", "run", str(tmp_path / "one-write.md"), "--dry-run"
    ) as terminal:
        code_shown = CODE.search(terminal.read_until(":", "：", after=CODE))
        assert code_shown
        assert "shop (dry run)" in terminal.shown
        terminal.type(code_shown[1])
        shown = terminal.read_to_end()
    assert "completed" in shown
    assert state_of(workspace) == before
    [copy] = [
        path
        for path in (place.root / "state/dry-runs").glob("*/*")
        if (path / "notes.txt").exists()
    ]
    assert copy.name == "shop-api"


@pytest.mark.requirement("P1")
def test_no_file_answers_for_a_real_run_and_a_malformed_one_for_none(
    place: Place, workspace: Path, tmp_path: Path
) -> None:
    before = state_of(workspace)
    assert played(place, tmp_path, "run", answers=EVERY, text=ONE_WRITE) == (2, [])
    bad = {"step": "*", "decision": "approve", "more": 1}
    for answers in ([bad], {"*": "approve"}, float("nan"), [["*", "approve"]], "x" * 300_000):
        told = played(place, tmp_path, "run", "--dry-run", answers=answers, text=ONE_WRITE)
        assert told == (2, [])
    (tmp_path / "answers.json").write_bytes(b"\xff not json")
    words = ("run", "--dry-run", "--answers", str(tmp_path / "answers.json"))
    assert played(place, tmp_path, *words, text=ONE_WRITE) == (2, [])
    assert json.loads(place.run("runs", "--json").stdout)["runs"] == []
    # Nor for a real run that is carried on.
    code, events = played(place, tmp_path, "run", "--gate-timeout", "0.3", text=ONE_WRITE)
    assert code == 3
    told = played(place, tmp_path, "resume", events[0]["short_id"], answers=EVERY)
    assert told == (2, [])
    assert state_of(workspace) == before
    assert not (place.root / "state/dry-runs").exists()


@pytest.mark.thorough
def test_a_copy_that_was_swapped_for_the_workspace_is_not_carried_on(
    place: Place, workspace: Path, tmp_path: Path
) -> None:
    answers = [{"step": "go", "decision": "deny"}]
    _, events = played(place, tmp_path, "run", "--dry-run", answers=answers, text=PLAYBOOK)
    copy = Path(events[0]["workdir"])
    copy.rename(copy.with_name("aside"))
    copy.symlink_to(workspace)
    before = state_of(workspace)
    told = played(place, tmp_path, "resume", events[0]["short_id"], answers=EVERY)
    assert told == (2, [])
    assert state_of(workspace) == before


@pytest.mark.thorough
def test_without_a_sandbox_a_command_waits_for_a_person(
    place: Place, workspace: Path, tmp_path: Path
) -> None:
    place.kill("agent")
    script = tmp_path / "agent.py"
    script.write_text(WITHOUT_BUBBLEWRAP, encoding="utf-8")
    with (place.root / "agent.log").open("ab") as log:
        place.processes["agent"] = subprocess.Popen(
            [sys.executable, str(script)],
            env=place.environ | {"PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    wait_until(place.status)
    before = state_of(workspace)
    text = PLAYBOOK.replace('  - name: go\n    type: gate\n    message_template: "Write?"\n', "")
    words = ("run", "--dry-run", "--gate-timeout", "2")
    code, events = played(place, tmp_path, *words, answers=EVERY, text=text)
    assert code == 3
    results = [(one["step"], one["reason"]) for one in of_type(events, "gate_result")]
    assert results == [("write", "approved"), ("patch", "approved"), ("run", "timeout")]
    assert state_of(workspace) == before


@pytest.mark.thorough
def test_a_dry_run_that_was_cut_off_is_carried_on_in_its_copy(
    place: Place, workspace: Path, tmp_path: Path
) -> None:
    before = state_of(workspace)
    text = ONE_WRITE.replace(
        "---\nWrites",
        '  - name: wait\n    type: tool\n    tool: run_command\n    args: {argv: ["sh", "-c",'
        ' "echo begun >> begun.txt; sleep 60 & wait"]}\n---\nWrites',
    )
    name = tmp_path / "one-write.md"
    name.write_text(text, encoding="utf-8")
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps(EVERY), encoding="utf-8")
    words = ("playbook", "run", str(name), "--dry-run", "--answers", str(answers))
    with Terminal(place.environ, *words):
        [begun] = wait_until(lambda: list((place.root / "state").glob("dry-runs/*/*/begun.txt")))
        place.kill("agent")
    place.start_agent(connected=False)
    [run] = json.loads(place.run("runs", "--json").stdout)["runs"]
    assert (run["status"], run["dry_run"]) == ("failed", True)
    code, events = played(place, tmp_path, "resume", run["short_id"], "--gate-timeout", "0.3")
    assert (code, [one["step"] for one in of_type(events, "step_start")]) == (3, ["wait"])
    assert Path(events[0]["workdir"]) == begun.parent
    assert begun.read_text(encoding="utf-8") == "begun\n", "nobody answered, so nothing ran again"
    assert state_of(workspace) == before


def test_a_workspace_that_cannot_be_copied_is_told_and_nothing_is_run(
    place: Place, workspace: Path, tmp_path: Path
) -> None:
    with (workspace / "disk.img").open("wb") as file:
        file.truncate(1 << 42)
    assert played(place, tmp_path, "run", "--dry-run", answers=EVERY, text=ONE_WRITE) == (2, [])
    (workspace / "disk.img").unlink()
    assert list((place.root / "state/dry-runs").iterdir()) == []
    (place.root / "state/dry-runs").rmdir()
    (place.root / "state/dry-runs").symlink_to(tmp_path)
    assert played(place, tmp_path, "run", "--dry-run", answers=EVERY, text=ONE_WRITE) == (2, [])
    assert json.loads(place.run("runs", "--json").stdout)["runs"] == []
