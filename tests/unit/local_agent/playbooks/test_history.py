"""What steps read of real repositories, also of hostile, empty, shallow and broken ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pygit2
import pytest

from common.diff.parse import parse_diff
from common.errors import InputError
from local_agent.error_texts import ERRORS
from local_agent.playbooks import history
from local_agent.workspace.registry import Workspace
from tests.hostile_repository import make_hostile_repository

pytestmark = pytest.mark.heavy

IDENTITY = {
    "GIT_AUTHOR_NAME": "Zhang 三",
    "GIT_AUTHOR_EMAIL": "zhang@example.com",
    "GIT_COMMITTER_NAME": "Zhang",
    "GIT_COMMITTER_EMAIL": "zhang@example.com",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "PATH": "/usr/bin:/bin",
}
DAY = 86_400
BEGAN = 1_700_000_000  # 2023-11-14T22:13:20Z


class Shop:
    """A repository."""

    def __init__(self, path: Path) -> None:
        path.mkdir(exist_ok=True)
        self.path = path.resolve()
        self.workspace = Workspace(name="shop", path=self.path)
        self.days = 0

    def git(self, *words: str) -> str:
        when = f"{BEGAN + self.days * DAY} +0800"
        done = subprocess.run(
            ["git", *words],
            cwd=self.path,
            env=IDENTITY | {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when},
            check=True,
            capture_output=True,
            encoding="utf-8",
        )
        return done.stdout.strip()

    def write(self, path: str, content: bytes | str) -> Path:
        place = self.path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        return place

    def commit(self, subject: str, **written: bytes | str) -> str:
        for name, content in written.items():
            self.write(name, content)
        self.git("add", "-A")
        self.git("commit", "-qm", subject, "--allow-empty")
        self.days += 1
        return self.git("rev-parse", "HEAD")

    def log(self, since: str | None = None, limit: int | None = None) -> list[Any]:
        commits = history.log(self.workspace, since, limit)["commits"]
        assert isinstance(commits, list)
        return commits

    def subjects(self, since: str | None = None, limit: int | None = None) -> list[str]:
        return [commit["subject"] for commit in self.log(since, limit)]

    def diff(self, base: str, head: str | None = None) -> dict[str, Any]:
        return history.diff(self.workspace, base, head)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    made = Shop(tmp_path / "shop")
    made.git("init", "-q", "-b", "main")
    return made


def refused(call: Any, *arguments: Any) -> str:
    with pytest.raises(InputError) as caught:
        call(*arguments)
    assert caught.value.code in ERRORS
    return caught.value.code


# --- status ---


def test_the_status_names_branch_and_changed_paths(shop: Shop) -> None:
    shop.commit("first", a="1\n", b="1\n", c="1\n")
    assert history.status(shop.workspace) == {"branch": "main", "clean": True, "changed": []}
    shop.write(".gitignore", "ignored\n")
    shop.write("ignored", "x")
    shop.write("a", "2\n")
    (shop.path / "b").unlink()
    shop.git("mv", "c", "moved")
    shop.write("sub/new", "x")
    assert history.status(shop.workspace) == {
        "branch": "main",
        "clean": False,
        "changed": [".gitignore", "a", "b", "c", "moved", "sub/new"],
    }


def test_before_the_first_commit_and_detached_there_is_a_status(shop: Shop) -> None:
    shop.write("a", "x")
    assert history.status(shop.workspace) == {"branch": "main", "clean": False, "changed": ["a"]}
    first = shop.commit("first")
    shop.git("checkout", "-q", "--detach", first)
    assert history.status(shop.workspace) == {"branch": None, "clean": True, "changed": []}


def test_names_that_are_no_utf8_are_told_as_text(shop: Shop) -> None:
    Path(os.fsdecode(os.fsencode(shop.path) + b"/caf\xe9")).touch()
    assert history.status(shop.workspace)["changed"] == ["caf\ufffd"]


def test_more_changes_than_can_be_told_are_an_error(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "MAX_CHANGED", 2)
    first = shop.commit("first")
    shop.write("a", "1")
    shop.write("b", "1")
    assert len(history.status(shop.workspace)["changed"]) == 2  # type: ignore[arg-type]  # a list
    shop.write("c", "1")
    assert refused(history.status, shop.workspace) == "playbook.too-much"
    shop.commit("second")
    assert refused(shop.diff, first) == "playbook.too-much"


# --- log ---


def test_the_log_tells_the_newest_first_with_id_author_time_and_subject(shop: Shop) -> None:
    shop.commit("first", a="1")
    newest = shop.commit("second line\nof the subject\n\nbody", a="2")
    assert shop.log()[0] == {
        "id": newest,
        "author": "Zhang 三",
        "at": "2023-11-16T06:13:20+08:00",
        "subject": "second line of the subject",
        "body": "body",
    }
    assert shop.log()[1]["body"] == ""
    assert shop.subjects() == ["second line of the subject", "first"]


def test_the_log_since_a_revision_leaves_it_out_and_since_a_time_has_it_in(shop: Shop) -> None:
    ids = [shop.commit(f"day {day}") for day in range(4)]
    shop.git("tag", "v1", ids[1])
    shop.git("tag", "2023-11-17", ids[2])
    assert shop.subjects("v1") == shop.subjects(ids[1][:8]) == ["day 3", "day 2"]
    assert shop.subjects("HEAD~1") == ["day 3"]
    assert shop.subjects("HEAD") == []
    assert shop.subjects("2023-11-16T22:13:20Z") == ["day 3", "day 2"]
    assert shop.subjects("2023-11-17T06:13:21+08:00") == ["day 3"]
    assert shop.subjects("2023-11-17") == ["day 3"]  # it is the name of a tag, too
    assert shop.subjects("2030-01-01") == []
    assert len(shop.subjects("2000-01-01")) == 4


@pytest.mark.parametrize("ago", ["2 weeks ago", "14 days ago", "336 hours ago", "1 Month ago"])
def test_relative_dates_are_read_as_git_reads_them(shop: Shop, ago: str) -> None:
    shop.commit("old")
    shop.days = round((time.time() - BEGAN) / DAY) - 3
    shop.commit("three days old")
    assert shop.subjects(ago) == ["three days old"]
    assert shop.subjects("1 day ago") == []
    assert refused(shop.log, "7 moons ago") == "playbook.revision"


def test_tags_are_told_newest_first_with_their_commits(shop: Shop) -> None:
    assert history.tags(shop.workspace, None) == {"tags": []}
    ids = [shop.commit(f"day {day}", a=str(day)) for day in range(3)]
    shop.git("tag", "v1", ids[0])
    shop.git("tag", "-a", "v3", "-m", "third", ids[2])
    shop.git("tag", "v2", ids[1])
    shop.git("tag", "of-a-file", f"{ids[0]}:a")
    told: Any = history.tags(shop.workspace, None)["tags"]
    assert [(one["name"], one["commit"]) for one in told] == [
        ("v3", ids[2]), ("v2", ids[1]), ("v1", ids[0]),
    ]  # fmt: skip
    assert told[-1]["at"] == "2023-11-15T06:13:20+08:00"
    assert history.tags(shop.workspace, 1)["tags"] == told[:1]
    assert refused(history.tags, shop.workspace, 0) == "playbook.limit"


def test_a_commit_whose_clock_was_wrong_hides_nothing_after_it(shop: Shop) -> None:
    shop.commit("day 0")
    shop.days = -500
    shop.commit("wrong clock")
    shop.days = 2
    shop.commit("day 2")
    found = shop.subjects("2023-11-01")
    assert found[0] == "day 2"
    assert set(found) == {"day 2", "day 0"}


def test_the_log_is_bounded_and_says_where_it_cannot_be(shop: Shop) -> None:
    for day in range(3):
        shop.commit(f"day {day}")
    assert shop.subjects(limit=2) == ["day 2", "day 1"]
    for limit in (0, -1, 1001):
        assert refused(shop.log, None, limit) == "playbook.limit"
    for since in ("nothing", "", "HEAD~9", ":/day", "HEAD@{1}", "..", "--all", "2023-13-01", "\0"):
        assert refused(shop.log, since) == "playbook.revision"


def test_an_empty_repository_has_no_commits_and_no_revisions(shop: Shop) -> None:
    assert shop.log() == []
    assert shop.log("2024-01-01") == []
    assert refused(shop.log, "HEAD") == "playbook.revision"
    assert refused(shop.diff, "HEAD") == "playbook.revision"


def test_a_commit_of_odd_bytes_and_times_is_told_as_far_as_it_can_be(shop: Shop) -> None:
    tree = shop.git("write-tree")
    raw = (
        f"tree {tree}\nauthor caf".encode()
        + b"\xe9 <a@b> 99999999999999 +9999\n"
        + b"committer caf <a@b> 1700000000 +9999\n\n\n\nh\xe9l\x01lo\n"
    )
    made = pygit2.Repository(str(shop.path)).write(pygit2.enums.ObjectType.COMMIT, raw)
    shop.git("update-ref", "refs/heads/main", str(made))
    (commit,) = shop.log()
    assert commit["author"] == "caf\ufffd"
    assert commit["subject"] == "h\ufffdl\x01lo"
    assert commit["at"].startswith("2023-11-1")


# --- diff ---


def test_a_diff_tells_what_differs_and_can_be_applied_again(shop: Shop) -> None:
    base = shop.commit("first", a="1\n2\n", gone="x\n", run="#!/bin/sh\n", empty="")
    (shop.path / "gone").unlink()
    (shop.path / "run").chmod(0o755)
    shop.commit("second", a="1\nzwei 二", new="n\n", also="")
    shop.write("a", "not committed")
    found = shop.diff(base)
    assert found["files"] == ["a", "also", "gone", "new", "run"]
    assert "-2\n+zwei 二\n\\ No newline at end of file\n" in found["diff"]
    assert "old mode 100644\nnew mode 100755\n" in found["diff"]
    model = parse_diff(found["diff"].encode())
    assert [file.path for file in model.files] == found["files"]
    assert shop.diff("HEAD", "HEAD") == {"diff": "", "files": []}
    assert shop.diff("HEAD", base)["files"] == found["files"]


def test_a_diff_is_between_two_commits_whatever_was_between_them(shop: Shop) -> None:
    base = shop.commit("first", a="1\n")
    shop.commit("second", a="2\n")
    shop.commit("third", a="1\n", b="1\n")
    assert shop.diff(base)["files"] == ["b"]
    assert shop.diff("HEAD~1", "main")["files"] == ["a", "b"]


def test_of_what_may_not_be_read_or_is_no_text_only_the_name_is_told(shop: Shop) -> None:
    base = shop.commit("first")
    shop.write("private/x", "classified\n")
    shop.write(".env", "TOKEN=classified\n")
    shop.write("nul", b"a\0b")
    shop.write("latin", "caf\xe9\n".encode("latin-1"))
    shop.write("large", b"x" * (history.MAX_FILE_BYTES + 1))
    (shop.path / "link").symlink_to("/etc/passwd")
    shop.commit("second")
    shop.workspace = Workspace(name="shop", path=shop.path, deny=("private",))
    found = shop.diff(base)
    assert found["files"] == [".env", "large", "latin", "link", "nul", "private/x"]
    assert "classified" not in found["diff"]
    assert "/etc/passwd" not in found["diff"]
    assert "+caf\ufffd\n" in found["diff"]
    told = [line for line in found["diff"].splitlines() if line.startswith("# ")]
    assert told == [
        "# .env differs and is not shown: secret",
        "# large differs and is not shown: too large",
        "# link differs and is not shown: symbolic link",
        "# nul differs and is not shown: binary",
        "# private/x differs and is not shown: secret",
    ]


def test_a_name_with_a_line_feed_forges_no_line_of_a_diff(shop: Shop) -> None:
    base = shop.commit("first")
    shop.write("a\n+++ b/forged", "x\n")
    shop.commit("second")
    found = shop.diff(base)
    assert found["files"] == ["a\n+++ b/forged"]
    assert len(found["diff"].splitlines()) == 1


def test_a_diff_that_is_more_than_a_step_reads_is_an_error(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = shop.commit("first")
    shop.commit("second", a="x\n" * 1000)
    assert shop.diff(base)["files"] == ["a"]
    monkeypatch.setattr(history, "MAX_DIFF_BYTES", 500)
    assert refused(shop.diff, base) == "playbook.too-much"
    monkeypatch.setattr(history, "MAX_READ_BYTES", 500)
    assert refused(shop.diff, base) == "playbook.too-much"


def test_names_that_stand_for_no_commit_are_refused(shop: Shop) -> None:
    shop.commit("first", a="1")
    blob = shop.git("rev-parse", "HEAD:a")
    for name in ("none", "", blob, "HEAD:a", "HEAD^{tree}", "\udc80", "x" * 300):
        assert refused(shop.diff, name) == "playbook.revision"
        assert refused(shop.diff, "HEAD", name or "none") == "playbook.revision"


# --- where there is little or nothing to be read ---


def test_without_a_repository_everything_says_so(tmp_path: Path) -> None:
    plain = Shop(tmp_path / "plain")
    elsewhere = Shop(tmp_path / "elsewhere")
    elsewhere.git("init", "-q", str(elsewhere.path / "sub"))
    hanging = Shop(tmp_path / "hanging")
    hanging.git("init", "-q")
    (hanging.path / ".git/config").unlink()
    os.mkfifo(hanging.path / ".git/config")
    for shop in (plain, elsewhere, hanging):
        assert refused(history.status, shop.workspace) == "playbook.no-repository"
        assert refused(shop.log) == "playbook.no-repository"
        assert refused(shop.diff, "HEAD") == "playbook.no-repository"


def test_a_shallow_clone_has_the_commits_that_it_has(shop: Shop, tmp_path: Path) -> None:
    first = shop.commit("first", a="1\n")
    shop.commit("second", a="2\n")
    shop.commit("third", a="3\n")
    shop.git("clone", "-q", "--depth", "2", f"file://{shop.path}", str(tmp_path / "shallow"))
    shallow = Shop(tmp_path / "shallow")
    assert shallow.subjects() == ["third", "second"]
    assert shallow.diff("HEAD~1")["files"] == ["a"]
    assert refused(shallow.diff, first) == "playbook.revision"
    assert history.status(shallow.workspace)["clean"] is True


def test_a_history_with_holes_is_told_as_such(shop: Shop) -> None:
    first = shop.commit("first", a="1\n")
    shop.commit("second", a="2\n")
    shop.git("gc", "-q", "--prune=now")  # then each object anew as a file of its own
    pack = next((shop.path / ".git/objects/pack").glob("*.pack"))
    moved = shop.path.parent / "pack"
    shutil.move(pack, moved)
    shutil.rmtree(pack.parent)
    with moved.open("rb") as packed:
        subprocess.run(
            ["git", "unpack-objects", "-q"],
            cwd=shop.path, env=IDENTITY, stdin=packed, check=True,
        )  # fmt: skip
    (shop.path / ".git/objects" / first[:2] / first[2:]).unlink()
    assert refused(shop.log) == "playbook.history"


@pytest.mark.requirement("R37")
def test_nothing_of_a_hostile_repository_runs(tmp_path: Path) -> None:
    made = make_hostile_repository(tmp_path)
    workspace = Workspace(name="shop-api", path=made.path.resolve())
    changed = history.status(workspace)["changed"]
    assert isinstance(changed, list)
    assert {"login.py", "old.py"} <= set(changed)
    assert history.log(workspace, None, None)["commits"]
    head = str(pygit2.Repository(str(made.path)).head.target)
    assert history.diff(workspace, head, None) == {"diff": "", "files": []}
    assert made.sprung() == []
