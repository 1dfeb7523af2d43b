"""Finding literal text, with ripgrep and without, and within bounds."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import InputError
from local_agent.sandbox.process import Kept, read_tool
from local_agent.workspace import files
from local_agent.workspace.files import Finder, Match, SearchLimits, SearchResult, search_all
from local_agent.workspace.listing import Budget, ListingLimits

BOTH = pytest.mark.parametrize(
    "finder", ["python", pytest.param("ripgrep", marks=pytest.mark.needs("ripgrep"))]
)


def _write(path: Path, found: dict[str, str | bytes]) -> None:
    for name, text in found.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(text if isinstance(text, bytes) else text.encode())


async def search(workspace: Path, query: str, **options: Any) -> SearchResult:
    (found,) = await search_all(workspace, (query,), **options)
    return found


def _places(result: SearchResult) -> list[tuple[str, int]]:
    return [(item.path, item.line) for item in result.items]


@BOTH
async def test_lines_are_found_by_path_and_number(tmp_path: Path, finder: Finder) -> None:
    _write(tmp_path, {"b.py": "x\nneedle\n\nneedle needle", "a/c.py": "  needle\r\n", "d": "no"})
    found = await search(tmp_path, "needle", finder=finder)
    assert found.items == (
        Match("a/c.py", 1, "needle"),
        Match("b.py", 2, "needle"),
        Match("b.py", 4, "needle needle"),
    )
    assert found.truncated is False


@BOTH
@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("a.c", "a.c"),
        ("a*", "a*"),
        ("(x", "f(x"),
        ("[", "a["),
        ("\\d", "\\d+"),
        ("--flag", "x --flag"),
        ("-e", "-e"),
        ("测试", "一个测试"),
        ("é", "café"),
        ("$HOME `id` ; |", "$HOME `id` ; |"),
        ("\t", "a\tb x"),
    ],
)
async def test_a_query_is_literal_text_and_nothing_else(
    tmp_path: Path, finder: Finder, query: str, line: str
) -> None:
    _write(tmp_path, {"hit": f"{line}\n", "miss": "abc\nnothing of it\n", "-f": "x\n"})
    if query.strip():
        assert _places(await search(tmp_path, query, finder=finder)) == [("hit", 1)]
    else:
        with pytest.raises(InputError):
            await search(tmp_path, query, finder=finder)


@BOTH
async def test_case_matters_once_a_capital_is_typed(tmp_path: Path, finder: Finder) -> None:
    _write(tmp_path, {"a": "TODO\ntodo\nToDo\nÉ\n"})
    assert _places(await search(tmp_path, "todo", finder=finder)) == [("a", 1), ("a", 2), ("a", 3)]
    assert _places(await search(tmp_path, "TODO", finder=finder)) == [("a", 1)]
    assert _places(await search(tmp_path, "é", finder=finder)) == []


@BOTH
@pytest.mark.requirement("R52")
async def test_what_may_not_be_read_is_not_found(tmp_path: Path, finder: Finder) -> None:
    outside = tmp_path / "outside"
    _write(outside, {"file": "needle\n"})
    work = tmp_path / "work"
    _write(
        work, {"kept": "needle\n", ".env": "needle\n", "binary": b"needle\n\0", "own/x": "needle"}
    )
    (work / "link").symlink_to(outside / "file")
    (work / "folder").symlink_to(outside)
    found = await search(work, "needle", finder=finder, deny=("own",))
    assert _places(found) == [("kept", 1)]
    listed = await files.list_files(work, deny=("own",))
    assert listed.skipped == {"denied": 2, "not-regular": 2}


@BOTH
async def test_odd_encodings_are_bytes_as_they_are(tmp_path: Path, finder: Finder) -> None:
    utf16 = "needle".encode("utf-16")
    _write(tmp_path, {"latin": b"\xe9 needle \xff\n", "utf16": utf16, "bom": "\ufeffneedle\n"})
    found = await search(tmp_path, "needle", finder=finder)
    assert _places(found) == [("bom", 1), ("latin", 1)]
    assert found.items[1].preview == "� needle �"


@BOTH
async def test_a_search_that_reaches_its_matches_says_so(tmp_path: Path, finder: Finder) -> None:
    _write(tmp_path, {"a": "needle\n" * 3, "b": "needle\n" * 3})
    found = await search(tmp_path, "needle", finder=finder, limits=SearchLimits(matches=4))
    assert (_places(found)[-1], found.truncated) == (("b", 1), True)
    found = await search(tmp_path, "needle", finder=finder, limits=SearchLimits(matches=6))
    assert (len(found.items), found.truncated) == (6, False)


@BOTH
async def test_a_search_that_reaches_its_files_says_so(tmp_path: Path, finder: Finder) -> None:
    _write(tmp_path, dict.fromkeys("abc", "needle\n"))
    limits = SearchLimits(listing=ListingLimits(files=2))
    found = await search(tmp_path, "needle", finder=finder, limits=limits)
    assert (_places(found), found.truncated) == ([("a", 1), ("b", 1)], True)


@BOTH
async def test_a_search_whose_time_is_up_says_so(tmp_path: Path, finder: Finder) -> None:
    _write(tmp_path, {"a": "needle\n"})
    limits = SearchLimits(seconds=0)
    found = await search(tmp_path, "needle", finder=finder, limits=limits, clock=ManualClock())
    assert (found.items, found.truncated) == ((), True)


async def test_a_preview_is_one_short_line_with_nothing_hidden(tmp_path: Path) -> None:
    _write(tmp_path, {"a": "needle \u202e\x1b[31m" + "长" * 100_000 + "\n"})
    found = await search(tmp_path, "needle")
    preview = found.items[0].preview
    assert len(preview.encode()) <= files.PREVIEW_BYTES
    assert preview.startswith("needle ⟨U+202E⟩⟨U+001B⟩[31m长")


@pytest.mark.parametrize("query", ["", "  ", "a\nb", "a\rb", "a\0b", "x" * 513])
async def test_a_query_that_is_no_line_is_refused(tmp_path: Path, query: str) -> None:
    with pytest.raises(InputError) as caught:
        await search(tmp_path, query)
    assert caught.value.code == "search.query"


async def test_a_query_that_is_no_unicode_finds_nothing(tmp_path: Path) -> None:
    _write(tmp_path, {"a": "x"})
    assert (await search(tmp_path, "\ud800", finder="ripgrep")).items == ()


async def test_a_workspace_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        await search(tmp_path / "absent", "x")
    assert caught.value.code == "path.missing"


@pytest.mark.needs("ripgrep")
async def test_many_files_are_asked_about_in_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_BATCH_BYTES", 40)
    _write(tmp_path, {f"{n:02}/a.txt": "needle\n" if n % 3 else "no\n" for n in range(20)})
    found = await search(tmp_path, "needle", finder="ripgrep")
    assert len(found.items) == 13
    assert not found.truncated


@pytest.mark.needs("ripgrep")
async def test_ripgrep_is_used_where_it_is_worth_a_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    real = files._ask

    async def counting(
        program: str, workspace: Path, folders: list[str], *rest: object, **more: object
    ) -> object:
        asked.append(folders)
        return await real(program, workspace, folders, *rest, **more)  # type: ignore[arg-type]  # passed on

    monkeypatch.setattr(files, "_ask", counting)
    monkeypatch.setattr(files, "_WORTH_A_CHILD", 3)
    _write(tmp_path, {"a": "needle", "b": "x"})
    assert len((await search(tmp_path, "needle")).items) == 1
    assert asked == []
    _write(tmp_path, {"c": "needle"})
    assert len((await search(tmp_path, "needle")).items) == 2
    assert asked == [["./"]]


@pytest.mark.needs("ripgrep")
async def test_sizes_are_looked_at_where_a_large_file_lies_beside_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    async def telling(argv: Sequence[str], **rest: object) -> tuple[int | None, Kept]:
        asked.append(any(word.startswith("--max-filesize=") for word in argv))
        return await read_tool(argv, **rest)  # type: ignore[arg-type]  # passed on

    monkeypatch.setattr(files, "read_tool", telling)
    limits = SearchLimits(listing=ListingLimits(file_bytes=100))
    _write(tmp_path, {"a": "needle"})
    assert len((await search(tmp_path, "needle", limits=limits, finder="ripgrep")).items) == 1
    _write(tmp_path, {".env": "needle" * 100})
    assert len((await search(tmp_path, "needle", limits=limits, finder="ripgrep")).items) == 1
    _write(tmp_path, {"b": "needle"})
    found = await files.list_files(tmp_path, limits=limits)
    known = replace(found, near_large=True)
    (among,) = await search_all(tmp_path, ("needle",), among=known, finder="ripgrep")
    assert len(among.items) == 2
    assert asked == [False, True, True]


async def test_a_ripgrep_that_fails_excludes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path, {"a": "needle\n"})
    for broken in ("/bin/false", "/no/such/rg"):
        monkeypatch.setattr(files, "find_ripgrep", lambda broken=broken: broken)
        # `false` says "nothing found" by its exit code, as ripgrep would.
        expected = 0 if broken == "/bin/false" else 1
        assert len((await search(tmp_path, "needle", finder="ripgrep")).items) == expected
    monkeypatch.setattr(files, "find_ripgrep", lambda: None)
    assert len((await search(tmp_path, "needle", finder="ripgrep")).items) == 1


@pytest.mark.requirement("R52")
async def test_a_file_swapped_for_a_link_while_ripgrep_runs_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path, {"work/a": "needle\n", "outside": "needle and a secret\n"})

    def swap() -> None:
        (tmp_path / "work/a").unlink()
        (tmp_path / "work/a").symlink_to(tmp_path / "outside")

    async def swapping(*_: object, **__: object) -> set[str]:
        await asyncio.to_thread(swap)
        return {"a"}

    monkeypatch.setattr(files, "_ask", swapping)
    monkeypatch.setattr(files, "find_ripgrep", lambda: "/usr/bin/rg")
    found = await search(tmp_path / "work", "needle", finder="ripgrep")
    assert found.items == ()


async def test_a_cancelled_search_stops_its_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    budgets: list[Budget] = []
    real = files._list
    started = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(path: Path, bounds: SearchLimits, budget: Budget, deny: object) -> object:
        budgets.append(budget)
        loop.call_soon_threadsafe(started.set)
        budget.stop.wait(5)
        return real(path, bounds, budget, ())

    monkeypatch.setattr(files, "_list", slow)
    task = asyncio.create_task(search(tmp_path, "x"))
    await asyncio.wait_for(started.wait(), 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert budgets[0].stop.is_set()


async def test_files_can_be_listed_alone(tmp_path: Path) -> None:
    _write(tmp_path, {"a": "x", ".env": "x", "own/b": "x"})
    found = await files.list_files(tmp_path, deny=("own",))
    assert found.files == ("a",)


@pytest.mark.requirement("R40")
def test_ripgrep_is_not_looked_up_by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy("/bin/true", tmp_path / "rg")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert files.find_ripgrep() != str(tmp_path / "rg")


TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


@pytest.mark.requirement("R54")
@pytest.mark.parametrize(
    "query", [TOKEN[:9], TOKEN[4:12], TOKEN, TOKEN.lower()[:12], "correcthors"]
)
async def test_a_secret_is_not_spelled_out_by_searching_for_it(tmp_path: Path, query: str) -> None:
    padding = "x, " * 2000
    lines = [
        f'TOKEN = "{TOKEN}"',
        f"{padding} TOKEN = '{TOKEN}' {padding}",
        'password = "correcthorsebattery"',
    ]
    _write(tmp_path, {"conf.py": "\n".join(lines)})
    assert (await search(tmp_path, query)).items == ()


@pytest.mark.parametrize("query", ["TOKEN", "token_of", "read_key_2048", "password"])
async def test_names_beside_secrets_are_found(tmp_path: Path, query: str) -> None:
    lines = [f'TOKEN = "{TOKEN}"', "password = token_of(read_key_2048())"]
    _write(tmp_path, {"conf.py": "\n".join(lines)})
    assert (await search(tmp_path, query)).items != ()
