"""What a proposal would look at: names, sizes and counts of a real folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from common.errors import InputError
from local_agent.context.collector import Collected, Collector
from local_agent.context.finding import MAX_TESTS, is_test
from local_agent.workspace.files import Listing, Match, SearchResult
from local_agent.workspace.git import Changes
from local_agent.workspace.registry import Workspace

FILES = {
    "src/app.py": 100,
    "src/login.py": 20_000,
    "src/deep/login.py": 5,
    "tests/test_login.py": 30,
    "tests/test_other.py": 30,
    "web/login.spec.ts": 30,
    "README.md": 7,
}


@pytest.fixture
def folder(tmp_path: Path) -> Workspace:
    for name, size in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    return Workspace(name="shop", path=tmp_path)


def a_collector(
    hits: dict[str, list[str]] | None = None, *, changes: Changes | None = None
) -> Collector:
    async def list_files(workspace: Workspace) -> Listing:
        return Listing(tuple(FILES), truncated=False, skipped={})

    async def search(workspace: Workspace, name: str) -> SearchResult:
        found = (hits or {}).get(name, [])
        items = tuple(Match(path, 1, "line") for path in found)
        return SearchResult(items, len(found), len(found), truncated=False, skipped={})

    async def local_changes(workspace: Path) -> Changes | None:
        return changes

    return Collector(list_files=list_files, search=search, local_changes=local_changes)


def paths(collected: Collected) -> list[str]:
    return [share.path for share in collected.files]


async def test_a_named_file_is_found_by_its_path_or_its_end(folder: Workspace) -> None:
    collect = a_collector().collect
    assert paths(await collect(folder, files=["src/app.py"], names=[])) == ["src/app.py"]
    both = await collect(folder, files=["login.py"], names=[])
    assert paths(both) == ["src/login.py", "src/deep/login.py"]
    assert paths(await collect(folder, files=["ogin.py"], names=[])) == []


async def test_files_that_hold_a_named_identifier_come_after_named_files(folder: Workspace) -> None:
    collector = a_collector({"sign_in": ["src/login.py", "src/app.py", "src/login.py"]})
    found = await collector.collect(folder, files=["src/app.py"], names=["sign_in"])
    assert paths(found) == ["src/app.py", "src/login.py"]
    assert [share.granted for share in found.files] == [100, 12_000]


async def test_tests_are_found_by_the_name_of_what_they_test(folder: Workspace) -> None:
    found = await a_collector().collect(folder, files=["src/login.py"], names=[])
    assert found.tests == ("tests/test_login.py", "web/login.spec.ts")
    assert len(found.tests) <= MAX_TESTS


async def test_a_binary_file_is_neither_shown_nor_taken_for_a_test(folder: Workspace) -> None:
    (folder.path / "tests/test_login.py").write_bytes(b"\x6f\0compiled")
    (folder.path / "src/app.py").write_bytes(b"\0")
    found = await a_collector().collect(folder, files=["src/login.py", "app.py"], names=[])
    assert paths(found) == ["src/login.py"]
    assert found.tests == ("web/login.spec.ts",)


async def test_what_went_away_or_may_not_be_read_is_left_out(folder: Workspace) -> None:
    (folder.path / "src/app.py").unlink()
    (folder.path / "src/app.py").symlink_to("/etc/passwd")
    (folder.path / "README.md").unlink()
    found = await a_collector().collect(folder, files=["src/app.py", "README.md"], names=[])
    assert found.files == ()


@pytest.mark.requirement("R52")
async def test_what_the_person_denies_is_not_looked_at(folder: Workspace) -> None:
    denied = replace(folder, deny=("README.md",))
    found = await a_collector().collect(denied, files=["src/app.py", "README.md"], names=[])
    assert paths(found) == ["src/app.py"]


async def test_the_state_of_the_repository_is_told_where_there_is_one(folder: Workspace) -> None:
    changes = Changes("main", None, None, None, (), total=3, added=0, removed=0)
    found = await a_collector(changes=changes).collect(folder, files=[], names=[])
    assert (found.branch, found.changed) == ("main", 3)
    assert await a_collector().collect(folder, files=[], names=[]) == Collected()


async def test_a_workspace_that_went_away_is_an_error(folder: Workspace) -> None:
    gone = replace(folder, path=folder.path / "gone")
    with pytest.raises(InputError) as caught:
        await a_collector().collect(gone, files=["src/app.py"], names=[])
    assert caught.value.code == "path.missing"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/conftest.py", True),
        ("test_a.py", True),
        ("a_test.go", True),
        ("src/a.spec.ts", True),
        ("src/__tests__/a.js", True),
        ("ATest.java", True),
        ("src/attest.py", False),
        ("src/contest.py", False),
        ("latest.md", False),
    ],
)
def test_tests_are_known_by_custom(path: str, *, expected: bool) -> None:
    assert is_test(path) == expected
