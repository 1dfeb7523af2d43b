"""Each shipped playbook, on a repository made from a real project, with real commands and files.

The project is an sdist that the lock file pins.  A scripted model stands in for a real one: what is
tested is what it is asked, what a person is shown, and what becomes of the workspace.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from local_agent.playbooks.library import SHIPPED
from tests import model_script as script
from tests.codex_program import PROGRAM
from tests.e2e.place import CODE, Place, Terminal, wait_until
from tests.e2e.proposing import codex, configure, http
from tests.model_server import Started, started

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.needs("bubblewrap"),
    pytest.mark.needs("git"),
]

ROOT: Final = Path(__file__).parents[2]
PROJECT: Final = "unidiff"
CODE_FILE: Final = "unidiff/patch.py"
RIGHT: Final = "return sum(1 for line in self if line.is_removed)"
WRONG: Final = "return sum(1 for line in self if line.is_added)  # removed"
PROPERTY: Final = '''\
    @property
    def is_addition_only(self) -> bool:
        """Whether the hunk adds lines and removes none."""
        return self.added > 0 and self.removed == 0

'''
NOTES: Final = "# Changes since v1\n\n- New: `Hunk.is_addition_only` tells what its name says."
REVIEW: Final = "unidiff/patch.py:180: removed counts added lines; count removed ones."
ADVICE: Final = "1. pyproject.toml: setuptools floats without a lock; pin it."
CAUSE: Final = "hunk-removed-counts-added-lines: patch.py, Hunk.removed; count is_removed."
WRONG_CAUSE: Final = "change-the-words-of-the-readme: README.md is at fault."
PATCH: Final = f"""\
*** Begin Patch
*** Update File: {CODE_FILE}
@@
-        {WRONG}
+        {RIGHT}
*** End Patch"""

ANSWERS: Final = {
    # With the newline that models end with, and blanks.
    "Where do the release notes begin": script.text(" v1\n"),
    "Write the release notes of": script.text(NOTES),
    "Write a weekly report": script.text("report-of-the-week"),
    "Review what this branch changes": script.text(REVIEW),
    "what should be done about the dep": script.text(ADVICE),
    "mislead-the-model": script.text(WRONG_CAUSE),
    "ask-the-codex": script.text(f"{CAUSE} ask-codex"),
    "Tests fail; their output is in": script.text(CAUSE),
    "change-the-words-of-the-readme": script.edits(
        "other words",
        {"path": "README.md", "action": "edit", "search": "# Unidiff\n", "replace": "# Diffs\n"},
    ),
    "hunk-removed-counts-added-lines": script.edits(
        "removed lines are counted",
        {"path": CODE_FILE, "action": "edit", "search": WRONG, "replace": RIGHT},
    ),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project as it was released, fetched by the hash that the lock file has."""
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    (package,) = (one for one in lock["package"] if one["name"] == PROJECT)
    folder = tmp_path_factory.mktemp("project")
    pinned = f"{PROJECT}=={package['version']} --hash={package['sdist']['hash']}\n"
    (folder / "pinned.txt").write_text(pinned, encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-binary", ":all:", "--require-hashes", "-r", "pinned.txt"]
    subprocess.run([*pip, *options], cwd=folder, check=True, timeout=120)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    (made,) = (path for path in folder.iterdir() if path.is_dir())
    return made


def _git(root: Path, *arguments: str, author: str = "Li Wei", at: str = "") -> str:
    environ = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(root),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_AUTHOR_NAME": author,
        "GIT_COMMITTER_NAME": author,
        "EMAIL": "t@example.com",
        **({"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at} if at else {}),
    }
    done = subprocess.run(
        ["git", *arguments],
        cwd=root,
        check=True,
        capture_output=True,
        env=environ,
        encoding="utf-8",
    )
    return done.stdout.strip()


def _commit(root: Path, subject: str, *, author: str, at: str) -> None:
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "-m", subject, author=author, at=at)


def _replace(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.fixture(scope="module")
def history(project: Path) -> Path:
    """A repository of it: a release, work on main, and on a branch a change that breaks tests."""
    (project / ".gitignore").write_text("__pycache__/\n", encoding="utf-8")
    _git(project, "init", "-q", "-b", "main")
    _commit(project, "Release 1", author="Li Wei", at="2026-03-02T10:00:00+08:00")
    _git(project, "tag", "v1")
    _replace(project / CODE_FILE, "    def is_valid(", f"{PROPERTY}    def is_valid(")
    _commit(project, "Add is_addition_only", author="Wang Fang", at="2026-03-20T10:00:00+08:00")
    _git(project, "checkout", "-q", "-b", "counting")
    _replace(project / CODE_FILE, RIGHT, WRONG)
    _commit(project, "Simplify counting", author="Li Wei", at="2026-03-24T10:00:00+08:00")
    # Meanwhile on main: what the branch does not have.
    _git(project, "checkout", "-q", "main")
    _replace(project / "README.md", "Simple Python library", "Small Python library")
    _commit(project, "Reword the README", author="Wang Fang", at="2026-03-25T10:00:00+08:00")
    _git(project, "checkout", "-q", "counting")
    return project


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """What the model answers, by what it is asked."""
    edit, said = script.apply_patch(PATCH), script.text("removed lines are counted")
    steps = [script.only(edit, when="ask-codex"), script.only(said, when="ask-codex")]
    steps += [script.only(step, when=when, always=True) for when, step in ANSWERS.items()]
    with started(tmp_path_factory.mktemp("service"), *steps) as server:
        yield server


@dataclass
class Desk:
    """One installation; each run has a workspace of its own."""

    place: Place
    folder: Path
    history: Path
    service: Started
    _runs: int = 0

    def workspace(self, name: str) -> Path:
        """Add a copy of the repository as a workspace."""
        root = self.folder / name
        shutil.copytree(self.history, root, symlinks=True)
        self.place.run("workspace", "add", str(root), "--toolchains", "none")
        return root

    def ask_model(self, asked: str) -> None:
        """Let this model be asked; none for the empty name."""
        models = {"local": http(self.service, "responses"), "codex": codex(PROGRAM, self.service)}
        configure(self.place, models if asked else {}, asked=asked or "none")
        if not asked:
            (self.place.root / "config" / "agent.toml").unlink()
        if "agent" in self.place.processes:
            agent = self.place.processes.pop("agent")
            agent.terminate()
            agent.wait(10)
        self.place.start_agent(connected=False)

    def run(self, name: str, root: Path, *, message: str = "") -> Run:
        """Begin a run; a person watches it from another terminal."""
        wanted = ("--workspace", root.name, "--message", message, "--json")
        return self.start("playbook", "run", name, *wanted)

    def start(self, *arguments: str) -> Run:
        """Begin what is followed by its events."""
        self._runs += 1
        run = Run(self.place, f"run-{self._runs}")
        self.place.start(run.name, *arguments)
        return run

    def requests(self) -> list[str]:
        """Return all that the model was asked, as it read it."""
        lines = self.service.record.read_text(encoding="utf-8").splitlines()
        bodies = [json.loads(json.loads(line)["body"]) for line in lines]
        return [json.dumps(body, ensure_ascii=False) for body in bodies]


@dataclass
class Run:
    """A run and the person who decides."""

    place: Place
    name: str
    _decided: int = 0

    def events(self) -> list[dict[str, Any]]:
        """Return those so far."""
        lines = self.place.log(self.name).splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n") and line[0] == "{"]

    def _asked(self) -> list[dict[str, Any]]:
        return [one for one in self.events() if one["type"] == "confirmation_required"]

    def question(self) -> dict[str, Any]:
        """Wait for the next question."""
        return wait_until(lambda: next(iter(self._asked()[self._decided :]), {}))

    def approve(self) -> str:
        """Look through all that the next question shows, type its code; return the screen."""
        asked = self.question()
        self._decided += 1
        with Terminal(self.place.environ, "approve", asked["short_id"]) as terminal:
            shown = terminal.read_until(":", "›", after=ASKS)
            if shown.rstrip().endswith("›"):
                terminal.type("a")
                shown = terminal.read_until(":", after=CODE)
            code = CODE.search(shown)
            assert code, shown
            terminal.type(code[0] if "both groups" in shown else code[1])
            return shown + terminal.read_to_end()

    def reject(self) -> None:
        """Say no to the next question."""
        asked = self.question()
        self._decided += 1
        self.place.run("reject", asked["short_id"])

    def end(self) -> dict[str, Any]:
        """Wait for the end, and return its last event."""
        self.place.processes.pop(self.name).wait(25)
        last = self.events()[-1]
        assert last["type"] in ("task_complete", "rollback_result"), self.place.log(self.name)
        assert len(self._asked()) == self._decided
        return last

    def result(self, step: str) -> Any:
        """Return what a tool step gave."""
        events = [one for one in self.events() if one["type"] == "function_result"]
        return next(one["result"] for one in events if one["step"] == step)

    def skipped(self) -> list[str]:
        """Return the steps that were skipped."""
        return [one["step"] for one in self.events() if one["type"] == "step_skipped"]


# It waits for more; a line that is half there may end in a colon as well.
ASKS: Final = re.compile(f"{CODE.pattern}|›")


@pytest.fixture(scope="module")
def desk(
    tmp_path_factory: pytest.TempPathFactory, history: Path, service: Started
) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("desk")
    with ExitStack() as stack:
        place = Place.at(folder / "home")
        stack.callback(place.stop)
        made = Desk(place, folder, history, service)
        made.ask_model("local")
        yield made


def text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def test_the_six_are_there_and_say_what_they_do(desk: Desk) -> None:
    listed = json.loads(desk.place.run("playbook", "list", "--json").stdout)["playbooks"]
    assert [one["name"] for one in listed] == sorted(file.stem for file in SHIPPED.glob("*.md"))
    assert len(listed) == 6
    for one in listed:
        assert one["error"] is None
        assert any(trigger.isascii() for trigger in one["triggers"])
        assert not all(trigger.isascii() for trigger in one["triggers"])
        assert one["about"].isascii(), "that of the person alone"


def test_release_notes_of_a_real_range_are_written_once_approved(desk: Desk) -> None:
    root = desk.workspace("notes")
    run = desk.run("release-notes", root, message="for those who parse diffs")
    assert "git describe" in run.approve()
    shown = run.approve()
    assert "release-notes.draft.md" in shown
    assert "since v1" in shown
    assert "is_addition_only" in shown
    assert run.end()["status"] == "completed"
    assert text(root / "release-notes.draft.md") == NOTES
    subjects = [one["subject"] for one in run.result("commits")["commits"]]
    assert subjects == ["Simplify counting", "Add is_addition_only"]
    assert run.result("changes")["files"] == [CODE_FILE]
    asked = next(one for one in desk.requests() if "Write the release notes of" in one)
    assert "Simplify counting" in asked
    assert "is_addition_only" in asked
    assert "for those who parse diffs" in asked


def test_release_notes_that_are_rejected_leave_nothing(desk: Desk) -> None:
    root = desk.workspace("no-notes")
    run = desk.run("release-notes", root)
    run.approve()
    run.reject()
    assert run.end()["status"] == "aborted"
    assert _git(root, "status", "--porcelain") == ""


def test_a_failing_test_is_mended_and_tested_with_one_approval(desk: Desk) -> None:
    root = desk.workspace("mend")
    run = desk.run("fix-failing-test", root)
    run.approve()
    shown = run.approve()
    assert RIGHT in shown
    assert "tests again" in shown
    assert run.end()["status"] == "completed"
    assert (run.result("tests")["stderr"], run.result("tests again")["exit_code"]) == ("failed", 0)
    assert WRONG not in text(root / CODE_FILE)
    assert _git(root, "status", "--porcelain") == f"M {CODE_FILE}"
    asked = next(one for one in desk.requests() if "Tests fail; their output" in one)
    assert "AssertionError" in asked
    again = desk.run("fix-failing-test", root)
    again.approve()
    assert again.end()["status"] == "completed"
    assert again.skipped() == ["diagnosis", "proposal", "confirm", "apply", "tests again"]


def test_a_change_that_does_not_help_fails_the_run_and_is_rolled_back(desk: Desk) -> None:
    root = desk.workspace("worse")
    run = desk.run("fix-failing-test", root, message="mislead-the-model")
    run.approve()
    run.approve()
    assert run.end()["status"] == "failed"
    assert text(root / "README.md").startswith("# Diffs\n")
    back = desk.start("playbook", "rollback", run.events()[0]["short_id"], "--json")
    back.approve()
    assert back.end()["type"] == "rollback_result"
    assert _git(root, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("message", "language"), [("写周报", "Simplified Chinese"), ("my weekly report", "English")]
)
def test_the_weekly_report_asks_nothing_and_is_in_the_language_of_the_message(
    desk: Desk, message: str, language: str
) -> None:
    root = desk.workspace(f"week-{language[0].lower()}")
    (root / "half.py").write_text("done = False\n", encoding="utf-8")
    run = desk.run("weekly-report", root, message=message)
    end = run.end()
    assert (end["status"], end["summary"]) == ("completed", "report-of-the-week")
    asked = next(one for one in desk.requests() if message in one)
    assert f"Answer in {language}" in asked
    for known in ("Simplify counting", "Wang Fang", "2026-03-24T10:00:00+08:00", "half.py"):
        assert known in asked


def test_the_weekly_report_is_answered_in_the_chat(
    place: Place, history: Path, service: Started
) -> None:
    configure(place, {"local": http(service, "responses")}, asked="local")
    place.start_all(history, "true")
    place.callback("@dev playbook weekly-report 只写本周")
    assert "report-of-the-week" in place.hears("report-of-the-week")
    (task,) = place.tasks()
    assert task["reason"] == "completed"


def test_dependencies_are_listed_and_advice_follows(desk: Desk) -> None:
    root = desk.workspace("deps")
    for name, content in DECLARED.items():
        (root / name).write_text(content, encoding="utf-8")
    run = desk.run("dependency-audit", root)
    run.approve()
    run.approve()
    end = run.end()
    assert (end["status"], end["summary"]) == ("completed", ADVICE)
    parts = _parts(text(root / "dependency-audit.md"))
    assert set(parts["No lock file beside it or at the top"].split()) == {
        "pyproject.toml",
        "setup.cfg",
        "requirements.txt",
    }
    assert parts["Not from the registry"].split("\n") == [
        "go.mod:7: replace example.com/a => ../a",
        'package.json:5:     "b": "github:a/b"',
        "requirements.txt:3: git+https://example.com/a.git",
    ]
    assert parts["Any version will do"].split("\n") == [
        'package.json:4:     "a": "*",',
        "requirements.txt:1: requests",
    ]
    assert "setuptools>=61.0" in parts["All that is declared"]
    assert "homepage" not in parts["All that is declared"]


DECLARED: Final = {
    "requirements.txt": "requests\nflask==3.0.0\ngit+https://example.com/a.git\n",
    "package.json": '{\n  "homepage": "https://x.example",\n  "dependencies": {\n'
    '    "a": "*",\n    "b": "github:a/b"\n  }\n}\n',
    "package-lock.json": "{}\n",
    "go.mod": "module x\n\nrequire (\n\texample.com/a v1.0.0\n)\n\nreplace example.com/a => ../a\n",
    "go.sum": "",
}


def test_health_is_measured_shown_and_kept(desk: Desk) -> None:
    root = desk.workspace("health")
    (root / ".env").write_text("A=1\n", encoding="utf-8")
    (root / "merge.py").write_text("<<<<<<< ours\n# TODO: choose\n", encoding="utf-8")
    run = desk.run("repo-health", root)
    run.approve()
    shown = run.approve()
    assert "counting" in shown
    assert "merge.py" in shown
    assert run.end()["status"] == "completed"
    parts = _parts(text(root / "repo-health.md"))
    assert parts["Lacking"].split("\n") == ["CI"]
    assert parts["Should perhaps not be here"] == ".env"
    assert parts["Lines with TODO, FIXME, XXX"] == "merge.py:1"
    assert parts["Last commit"].endswith("Simplify counting")
    assert parts["Last commit"].startswith("2026-03-24")


def test_a_branch_is_reviewed_from_where_it_left_main(desk: Desk) -> None:
    root = desk.workspace("review")
    run = desk.run("review-branch", root, message="the counts")
    run.approve()
    end = run.end()
    assert (end["status"], end["summary"]) == ("completed", REVIEW)
    assert [one["subject"] for one in run.result("commits")["commits"]] == ["Simplify counting"]
    assert run.result("changes")["files"] == [CODE_FILE]  # what main got since is not among them
    asked = next(one for one in desk.requests() if "Review what this branch changes" in one)
    assert "the counts" in asked
    assert _git(root, "status", "--porcelain") == ""


def test_on_the_main_branch_there_is_nothing_to_review(desk: Desk) -> None:
    root = desk.workspace("review-main")
    _git(root, "checkout", "-q", "main")
    run = desk.run("review-branch", root)
    run.approve()
    assert run.end()["status"] == "failed"


def test_without_a_model_facts_are_still_given(desk: Desk) -> None:
    root = desk.workspace("bare")
    desk.ask_model("")
    try:
        health = desk.run("repo-health", root)
        health.approve()
        health.approve()
        assert health.end()["status"] == "completed"
        audit = desk.run("dependency-audit", root)
        audit.approve()
        audit.approve()
        assert audit.end()["status"] == "failed"  # at its last step, the advice
        assert "setuptools" in text(root / "dependency-audit.md")
        assert "Last commit" in text(root / "repo-health.md")
    finally:
        desk.ask_model("local")


@pytest.mark.needs("codex (make codex)")
def test_the_real_codex_mends_a_failing_test(desk: Desk) -> None:
    root = desk.workspace("codex")
    desk.ask_model("codex")
    try:
        run = desk.run("fix-failing-test", root, message="ask-the-codex")
        run.approve()
        assert RIGHT in run.approve()
        assert run.end()["status"] == "completed"
        assert _git(root, "status", "--porcelain") == f"M {CODE_FILE}"
    finally:
        desk.ask_model("local")


def _parts(report: str) -> dict[str, str]:
    """Return the parts of a report by heading, without their indent."""
    _, *parts = report.split("\n## ")
    halves = [part.partition("\n\n") for part in parts]
    return {head: body.strip("\n").replace("\n    ", "\n").strip() for head, _, body in halves}
