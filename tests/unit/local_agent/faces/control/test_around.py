"""The place that a person names when they ask: it is there, or nothing is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from common.errors import InputError
from common.sentences import LANGS, Lang, explain
from local_agent.error_texts import ERRORS
from local_agent.faces.control.around import Around, check_there, read_around
from local_agent.faces.control.wire import Arguments
from local_agent.workspace.registry import Workspace
from tests.each import each


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
