"""`control.asking`: a patch from a file and an undo become tasks, and nothing more.

The place that a person names when they ask is there, or nothing is asked.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from common.errors import InputError, RemoteProtocolError, StateError
from common.model.state import Reason, TaskState
from common.sentences import LANGS, Lang, explain
from local_agent.error_texts import ERRORS
from local_agent.faces.control.asking import MAX_PATHS, Around, check_there, read_around
from local_agent.faces.control.wire import Arguments
from local_agent.workspace.registry import Workspace
from tests.asked import PATCH
from tests.each import each
from tests.sealed import LINE, Step, Wish, ending
from tests.unit.local_agent.faces.control.conftest import PATIENCE, Desk


async def begun(desk: Desk, op: str, **args: Any) -> Mapping[str, Any]:
    """Ask, and carry the task until a person is needed."""
    asking = asyncio.create_task(desk.steps(op, **args))
    async with asyncio.timeout(PATIENCE):
        await desk.engine.written.wait()
    task_id = desk.engine.submitted[0].task_id
    for expected, state in pairwise(LINE[:6]):
        await desk.change(Step(task_id=task_id, expected=expected, state=state))
    *_, (last, value) = await asking
    assert last
    return value


async def test_a_patch_becomes_a_task_with_its_exact_bytes_beside_it(desk: Desk) -> None:
    value = await begun(desk, "apply", body=PATCH, name="fix.diff", lang="en", workspace="shop")
    assert value["task"]["state"] == "WAITING_APPROVAL"
    (new,) = desk.engine.submitted
    assert (new.source, new.channel, new.workspace) == ("local_ui", "terminal", "shop")
    assert new.text == "@dev patch fix.diff"
    assert new.attachment == hashlib.sha256(PATCH).hexdigest()
    assert desk.shelf.kept[new.attachment] == PATCH


@pytest.mark.requirement("R26")
async def test_the_name_of_a_file_hides_nothing_in_the_request(desk: Desk) -> None:
    await begun(desk, "apply", body=PATCH, name="a\u202eb\nc" + "d" * 900, lang="zh", workspace="")
    (new,) = desk.engine.submitted
    assert new.text.startswith("@dev patch a⟨U+202E⟩b cd")
    assert len(new.text.encode()) < 300
    assert new.workspace is None


@pytest.mark.requirement("R32")
@pytest.mark.parametrize("patch", [b"", b"no diff\n", b"Binary files a/x and b/x differ\n"])
async def test_what_is_no_diff_begins_nothing_and_is_not_kept(desk: Desk, patch: bytes) -> None:
    with pytest.raises(InputError) as refused:
        await desk.steps("apply", body=patch, name="x", lang="en", workspace="")
    assert refused.value.code.startswith("diff.")
    assert (desk.engine.submitted, desk.shelf.kept) == ([], {})


async def test_an_undo_asks_as_the_chat_would(desk: Desk) -> None:
    await desk.db.run(desk.db.journal.tasks.create, Wish(workspace="shop"), 1)
    only = ["a b.py", "c'd.py", "plain.py"]
    await begun(desk, "undo", task="T-7K3F", only=only, lang="zh")
    (new,) = desk.engine.submitted
    assert new.text == "@dev undo T-7K3F 'a b.py' 'c'\"'\"'d.py' plain.py"
    assert (new.workspace, new.lang, new.attachment) == ("shop", "zh", None)


async def test_an_undo_of_no_task_begins_nothing(desk: Desk) -> None:
    with pytest.raises(StateError) as refused:
        await desk.steps("undo", task="T-7K3F", only=[], lang="en")
    assert refused.value.code == "task.unknown"


@pytest.mark.requirement("R19")
@pytest.mark.parametrize("only", [None, "a", [5], ["a"] * (MAX_PATHS + 1)])
async def test_files_of_another_type_are_refused(desk: Desk, only: Any) -> None:
    await desk.db.run(desk.db.journal.tasks.create, Wish(), 1)
    with pytest.raises(RemoteProtocolError):
        await desk.steps("undo", task="T-7K3F", only=only, lang="en")
    assert desk.engine.submitted == []


async def test_what_is_asked_again_keeps_its_patch_and_what_it_checks(desk: Desk) -> None:
    again = Wish(attachment="ab" * 32, checks="approval-1")
    await desk.db.run(desk.db.journal.tasks.create, again, 1)
    await desk.change(ending(Reason.FAILED, TaskState.RECEIVED, TaskState.FAILED))
    await begun(desk, "retry", task="T-7K3F", may_have_run=False)
    (new,) = desk.engine.submitted
    assert (new.attachment, new.checks) == ("ab" * 32, "approval-1")


async def test_a_place_in_the_workspace_goes_along_with_what_is_asked(desk: Desk) -> None:
    (desk.workspaces.only.path / "a.py").write_text("1\n2\n", encoding="utf-8")
    here = {"file": "a.py", "first": 1, "last": 2}
    await begun(desk, "ask", text="fix it", lang="en", workspace="", **here)
    (new,) = desk.engine.submitted
    assert json.loads(new.around_json or "") == {"file": "a.py", "lines": [1, 2]}


@pytest.mark.parametrize(
    ("here", "code"),
    [
        ({"file": "nope.py", "first": 0, "last": 0}, "ask.nowhere"),
        ({"file": "a.py", "first": 3, "last": 3}, "ask.nowhere"),
        ({"file": "/a.py", "first": 0, "last": 0}, "ask.at"),
        ({"file": "a.py", "first": 0, "last": 0, "workspace": "other"}, "workspace.unknown"),
    ],
)
async def test_with_a_place_that_is_not_there_nothing_is_asked(
    desk: Desk, here: dict[str, Any], code: str
) -> None:
    (desk.workspaces.only.path / "a.py").write_text("1\n2\n", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        await desk.steps("ask", **{"text": "fix it", "lang": "en", "workspace": ""} | here)
    assert refused.value.code == code
    assert desk.engine.submitted == []


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text("a\nb\nc\n", encoding="utf-8")
    (tmp_path / "open.txt").write_text("a\nb", encoding="utf-8")
    (tmp_path / "empty").touch()
    (tmp_path / "picture").write_bytes(b"\x89PNG\0")
    (tmp_path / ".env").write_text("KEY=1\n", encoding="utf-8")
    (tmp_path / "private.txt").write_text("x\n", encoding="utf-8")
    (tmp_path / "away").symlink_to("/etc/passwd")
    return Workspace(name="shop", path=tmp_path, default=True, deny=("private.txt",))


@pytest.mark.parametrize(
    ("file", "lines"),
    [
        ("src/app.py", None),
        ("src/app.py", (1, 3)),
        ("src/app.py", (3, 3)),
        ("open.txt", (2, 2)),
        ("empty", None),
    ],
)
def test_a_place_that_is_there_is_taken(
    shop: Workspace, file: str, lines: tuple[int, int] | None
) -> None:
    around = Around(file, lines)
    assert check_there(around, shop) is None  # type: ignore[func-returns-value]  # it raises nothing
    kept = json.loads(around.stored())
    assert kept == {"file": file} | ({"lines": list(lines)} if lines else {})


@pytest.mark.parametrize(
    ("file", "lines", "why"),
    [
        ("src/nope.py", None, "missing"),
        ("nope/app.py", (1, 1), "missing"),
        ("src", None, "missing"),
        ("src/app.py", (2, 4), "beyond"),
        ("src/app.py", (4, 4), "beyond"),
        ("open.txt", (3, 3), "beyond"),
        ("empty", (1, 1), "beyond"),
        (".env", None, "denied"),
        ("private.txt", None, "denied"),
        ("picture", None, "unreadable"),
        ("away", None, "unreadable"),
    ],
)
@pytest.mark.parametrize("lang", LANGS)
def test_a_place_that_is_not_there_is_one_truthful_line(
    shop: Workspace, file: str, lines: tuple[int, int] | None, why: str, lang: Lang
) -> None:
    with pytest.raises(InputError) as refused:
        check_there(Around(file, lines), shop)
    assert (refused.value.code, refused.value.facts["why"]) == ("ask.nowhere", why)
    told = explain(refused.value, ERRORS, lang)
    assert file in told
    assert "\n" not in told
    assert "?" not in told


def test_how_many_lines_there_are_is_told(shop: Workspace) -> None:
    with pytest.raises(InputError) as refused:
        check_there(Around("src/app.py", (2, 9)), shop)
    assert (refused.value.facts["lines"], refused.value.facts["last"]) == (3, 9)


def test_a_place_is_read_from_what_was_asked() -> None:
    assert read_around(Arguments({})) is None
    assert read_around(Arguments({"file": "", "first": 0, "last": 0})) is None
    whole = Arguments({"file": "a.py", "first": 0, "last": 0})
    assert read_around(whole) == Around("a.py", None)
    assert read_around(Arguments({"file": "a.py", "first": 3, "last": 0})) == Around("a.py", (3, 3))


@pytest.mark.requirement("R34")
@each("file", ["/etc/passwd", "../a", "a\u202eb", "a//b", "./a"])
def test_a_path_that_is_none_of_the_workspace_is_refused(file: str) -> None:
    with pytest.raises(InputError) as refused:
        read_around(Arguments({"file": file, "first": 0, "last": 0}))
    assert refused.value.code == "ask.at"
