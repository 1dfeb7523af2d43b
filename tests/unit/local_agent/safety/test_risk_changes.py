"""Which facts make a change or an undo high risk, and which refuse it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from common.diff.model import DiffModel, FileDiff, Hunk
from common.seal import SealedChange
from local_agent.actions.changes.payload import change_payload, undo_payload
from local_agent.actions.registry import ACTIONS
from local_agent.safety.authority import classify_operation
from local_agent.safety.risk import Circumstances, Risk
from tests.each import each
from tests.sealed import ZEROS


def modified(path: str, line: str | bytes = "x = 1", **facts: Any) -> FileDiff:
    """Return a file in which one line is added."""
    raw = line if isinstance(line, bytes) else line.encode()
    hunk = Hunk(old_start=1, old_count=0, new_start=1, new_count=1, lines=(b"+" + raw,))
    file = FileDiff(
        op="modify",
        path=path,
        old_path=path,
        old_mode=None,
        new_mode=None,
        hunks=(hunk,),
        added=1,
        removed=0,
    )
    return replace(file, **facts)


def sealed(file: FileDiff, **facts: Any) -> SealedChange:
    """Return what is sealed of a file."""
    gone, new = file.op == "delete", file.op == "add"
    change = SealedChange(
        op=file.op,
        path=file.path,
        old_path=file.old_path,
        old_sha256=None if new else ZEROS,
        old_mode=None if new else (file.old_mode or "100644"),
        new_sha256=None if gone else ZEROS,
        new_mode=None if gone else (file.new_mode or file.old_mode or "100644"),
        size=0 if gone else 10,
    )
    return replace(change, **facts)


def risk_of(*files: FileDiff, **known: Any) -> Risk:
    payload = change_payload(ZEROS, [sealed(file) for file in files])
    around = Circumstances(**{"diff": DiffModel(files)} | known)
    return classify_operation("apply_diff", payload, around, known=ACTIONS)


def test_what_git_runs_as_a_hook_is_an_execution_surface() -> None:
    known = {"hooks": ("tools/hooks",)}
    assert risk_of(modified("tools/hooks/lib.sh"), **known).reasons == ("execution-surface",)
    assert risk_of(modified("tools/other.sh"), **known).level == "normal"


def test_an_ordinary_change_is_normal() -> None:
    assert risk_of(modified("src/main.py"), modified("docs/读我.md", "你好，世界")) == Risk(
        "normal", ()
    )


def test_a_new_file_and_a_rename_are_normal() -> None:
    made = modified("src/new.py", op="add", old_path=None, new_mode="100644")
    moved = modified("src/b.py", op="rename", old_path="src/a.py")
    assert risk_of(made, moved).level == "normal"


@pytest.mark.requirement("R29")
@pytest.mark.requirement("R38")
@each(
    "file, reason",
    [
        (modified("a.py", op="delete", hunks=()), "deletes"),
        (modified(".github/workflows/ci.yml"), "execution-surface"),
        (modified("conftest.py"), "execution-surface"),
        (modified("AGENTS.md"), "execution-surface"),
        (modified("CLAUDE.md"), "execution-surface"),
        (modified(".claude/settings.json"), "execution-surface"),
        (modified(".mcp.json"), "execution-surface"),
        (modified("lib/evil.pth"), "execution-surface"),
        (modified("lib/sitecustomize.py"), "execution-surface"),
        (modified("docs/makefile.md", op="rename", old_path="Makefile"), "execution-surface"),
        (modified("Makefile", op="rename", old_path="docs/makefile.md"), "execution-surface"),
        (modified("x.txt", op="copy", old_path="Dockerfile"), "execution-surface"),
        (modified(".gitignore"), "dotfile"),
        (modified(".config/x/y"), "dotfile"),
        (modified("uv.lock"), "lock-file"),
        (modified("web/package-lock.json"), "lock-file"),
        (modified("go.sum"), "lock-file"),
        (modified("requirements-dev.txt"), "lock-file"),
        (modified("run.sh", old_mode="100644", new_mode="100755"), "executable"),
        (modified("run.sh", op="add", old_path=None, new_mode="100755"), "executable"),
        (modified(".env"), "secret-file"),
        (modified("keys/id_rsa"), "secret-file"),
        (modified("a.py", 'aws = "AKIAIOSFODNN7EXAMPLE"'), "secret-content"),
        (modified("a.py", "x = 1 \u202e# y"), "hidden-characters"),
        (modified("a.py", "a\u200bb = 1"), "hidden-characters"),
        (modified("a.py", "раypal = 1"), "look-alike-characters"),
        (modified("src/аuth.py"), "look-alike-characters"),
        (modified("b.py", op="rename", old_path="src/аuth.py"), "look-alike-characters"),
        (modified("a.py", "x = 1；rm(y)"), "look-alike-characters"),
        *[(modified(name), "shell-name") for name in ("-rf", "a/$(id)", "*.py", "a`b", "~/x")],
        (modified("a.py", b"caf\xe9"), "other-encoding"),
        (modified("a.py", "x" * 401), "long-lines"),
    ],
)
def test_a_fact_makes_a_change_high_risk(file: FileDiff, reason: str) -> None:
    risk = risk_of(file)
    assert risk.level == "high"
    assert reason in risk.reasons


@each(
    "path", ["src/lock.py", "docs/blocks.md", "src/clock.json", "go/mod.go", "src/requirements.py"]
)
def test_a_name_that_only_sounds_alike_is_ordinary(path: str) -> None:
    assert risk_of(modified(path)).level == "normal"


def test_what_is_removed_says_nothing_about_what_comes() -> None:
    hunk = Hunk(1, 1, 1, 1, lines=(b"-" + "a\u200bb".encode(), b"+ab"))
    assert risk_of(modified("a.py", hunks=(hunk,), removed=1)).level == "normal"


def test_an_executable_file_that_stays_one_is_ordinary() -> None:
    kept = sealed(modified("run.sh"), old_mode="100755", new_mode="100755")
    around = Circumstances(diff=DiffModel((modified("run.sh"),)))
    risk = classify_operation("apply_diff", change_payload(ZEROS, [kept]), around, known=ACTIONS)
    assert risk.level == "normal"


def test_a_copy_of_an_executable_is_one_more() -> None:
    file = modified("b.sh", op="copy", old_path="a.sh")
    copied = sealed(file, old_mode="100755", new_mode="100755")
    around = Circumstances(diff=DiffModel((file,)))
    risk = classify_operation("apply_diff", change_payload(ZEROS, [copied]), around, known=ACTIONS)
    assert risk.reasons == ("executable",)


def test_blocks_that_stand_elsewhere_are_said_to() -> None:
    assert risk_of(modified("a.py"), moved=1) == Risk("high", ("moved",))


@pytest.mark.requirement("R6")
@pytest.mark.requirement("R29")
def test_many_files_are_high_risk_and_too_many_are_refused() -> None:
    files = [modified(f"src/{number}.py") for number in range(501)]
    assert risk_of(*files[:50]).level == "normal"
    assert risk_of(*files[:51]) == Risk("high", ("many-files",))
    assert risk_of(*files[:500]).level == "high"
    assert risk_of(*files) == Risk("refused", ("too-many-files",))


@pytest.mark.requirement("R34")
@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (".git/config", "git-folder"),
        ("sub/.GIT/hooks/x", "git-folder"),
        ("git~1/config", "git-folder"),
        ("/etc/passwd", "outside-workspace"),
        ("../x", "outside-workspace"),
        ("a//b", "outside-workspace"),
        ("a/./b", "outside-workspace"),
        ("con.txt", "unsafe-name"),
        ("a\\b", "unsafe-name"),
        ("a:b", "unsafe-name"),
        ("a\u202eb", "unsafe-name"),
        ("a ", "unsafe-name"),
        ("x" * 256, "unsafe-name"),
    ],
)
def test_a_name_refuses_a_change_also_where_it_comes_from(path: str, reason: str) -> None:
    assert risk_of(modified(path)) == Risk("refused", (reason,))
    moved = modified("a.py", op="rename", old_path=path)
    assert risk_of(moved) == Risk("refused", (reason,))


@pytest.mark.requirement("R4")
def test_a_change_whose_diff_nobody_read_is_refused() -> None:
    assert risk_of(modified("a.py"), diff=None) == Risk("refused", ("unread-diff",))


@pytest.mark.requirement("P2")
@each(
    "other",
    [
        (),
        (modified("b.py"),),
        (modified("a.py"), modified("b.py")),
        (modified("a.py", op="delete", hunks=()),),
        (modified("a.py", op="rename", old_path="b.py"),),
        (modified("a.py", old_mode="100644", new_mode="100755"),),
    ],
)
def test_a_diff_that_says_other_than_is_sealed_is_refused(other: tuple[FileDiff, ...]) -> None:
    assert risk_of(modified("a.py"), diff=DiffModel(other)) == Risk("refused", ("unread-diff",))


@pytest.mark.requirement("R29")
@pytest.mark.parametrize(
    ("file", "level"),
    [(modified("a.py"), "normal"), (modified("a.py", op="delete", hunks=()), "high")],
)
def test_an_undo_is_judged_as_the_change_that_it_is(file: FileDiff, level: str) -> None:
    payload = undo_payload(ZEROS, [sealed(file)], approval_id="approval-1", short_id="T-7K3F")
    assert (
        classify_operation(
            "undo", payload, Circumstances(diff=DiffModel((file,))), known=ACTIONS
        ).level
        == level
    )
    assert classify_operation("undo", payload, known=ACTIONS).level == "refused"
