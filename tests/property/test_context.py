"""However a workspace and a request look, a model is shown no more than the limits."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local_agent.propose.coding import with_seeded
from local_agent.propose.context.collected import Around, Budget, Candidate, Kind, Piece
from local_agent.propose.context.collector import Collector
from local_agent.propose.context.cutting import cut_lines, readable
from local_agent.propose.context.diagnostics import parse_diagnostics
from local_agent.propose.prompt import prompt
from local_agent.propose.review import Looked, range_pieces, to_show
from local_agent.workspace import files
from local_agent.workspace.files import Listing, SearchResult
from local_agent.workspace.git.ranges import FileLines, RangeChanges
from local_agent.workspace.git.repository import ChangedFile, Changes
from local_agent.workspace.registry import Workspace

KINDS: tuple[Kind, ...] = ("file", "selection", "tree", "git", "changes", "diagnostics")
CANDIDATE = st.builds(
    Candidate,
    kind=st.sampled_from(KINDS),
    path=st.sampled_from(["", *(f"{number}.py" for number in range(15))]),
    size=st.integers(0, 30_000),
    why=st.just("named"),
    priority=st.integers(0, 2),
)
CANDIDATES = st.lists(CANDIDATE, max_size=40)
BUDGET = st.builds(
    Budget,
    max_files=st.integers(0, 12),
    max_file_bytes=st.integers(0, 15_000),
    max_total_bytes=st.integers(0, 70_000),
)
_PIECES = (
    *(
        "a",
        "b c",
        "def load():",
        "测",
        "\t",
        "x" * 300,
        " ghp_" + "a1B2" * 9 + " ",
        "\u202e",
        "password=x",
    ),
    *(
        "-----BEGIN RSA PRIVATE KEY-----",
        "MIIEowIBAAKCAQEA7bq" * 3,
        "-----END RSA PRIVATE KEY-----",
    ),
)
_BYTES = (b"\n", b"\r\n", b"\n\n", b"\xff", b"\x1b[31m", b"\x07", b"\n" * 50)
CONTENT = st.lists(st.sampled_from([*map(str.encode, _PIECES), *_BYTES]), max_size=60).map(b"".join)


@pytest.mark.requirement("NL-5.1")
@given(CANDIDATES, BUDGET)
def test_a_division_keeps_its_limits_and_accounts_for_everything(
    candidates: list[Candidate], budget: Budget
) -> None:
    division = budget.divide(candidates)
    grants = division.grants
    assert sum(grant.granted for grant in grants) <= budget.max_total_bytes
    assert len({grant.candidate.path for grant in grants} - {""}) <= budget.max_files
    by_file: Counter[str] = Counter()
    for grant in grants:
        assert 0 <= grant.granted <= grant.candidate.size
        by_file[grant.candidate.path] += grant.granted if grant.candidate.path else 0
    assert max(by_file.values(), default=0) <= budget.max_file_bytes
    told = Counter((grant.candidate.path, grant.candidate.size) for grant in grants)
    told.update((one.path, one.size) for one in division.left_out)
    assert told == Counter((one.path, one.size) for one in candidates)


@given(CANDIDATES, BUDGET, st.integers(0, 20_000))
def test_more_room_takes_nothing_from_anybody(
    candidates: list[Candidate], budget: Budget, more: int
) -> None:
    wider = replace(budget, max_total_bytes=budget.max_total_bytes + more)
    before = {id(grant.candidate): grant.granted for grant in budget.divide(candidates).grants}
    after = {id(grant.candidate): grant.granted for grant in wider.divide(candidates).grants}
    assert all(after[one] >= size for one, size in before.items())


@given(CANDIDATES, CANDIDATE, BUDGET)
def test_who_comes_last_takes_nothing_from_anybody(
    candidates: list[Candidate], last: Candidate, budget: Budget
) -> None:
    before = budget.divide(candidates).grants
    after = budget.divide([*candidates, replace(last, priority=3)]).grants
    assert after[: len(before)] == before


@settings(deadline=None)
@given(CONTENT, st.integers(0, 3000), st.lists(st.integers(-2, 200), max_size=6))
def test_what_is_cut_fits_and_keeps_the_numbers_of_its_lines(
    content: bytes, limit: int, matters: list[int]
) -> None:
    lines = readable(content)
    cuttings = cut_lines(lines, limit, matters)
    assert sum(len(one.text.encode()) for one in cuttings) <= limit
    for one in cuttings:
        assert "a1B2a1B2" not in one.text
        for number, line in enumerate(one.text.splitlines()[:1], start=one.first_line):
            plain = "redacted" not in line and len(line) < 300
            assert not plain or line == lines[number - 1]
    assert not any(char in one.text for one in cuttings for char in "\x1b\x07\r")


@given(st.text(max_size=2000), st.sampled_from(["/w", "/", "/a b"]))
def test_no_text_leads_out_of_the_workspace(text: str, workspace: str) -> None:
    for one in parse_diagnostics(text, workspace=workspace):
        assert not one.path.startswith("/")
        assert ".." not in one.path.split("/")
        assert one.path.isprintable()


@pytest.mark.requirement("NL-5.1", "R52")
@given(
    st.dictionaries(
        st.sampled_from([f"{a}/{b}.py" for a in ("src", "lib", "tests") for b in "abcdefgh"]),
        CONTENT,
        max_size=16,
    ),
    st.lists(st.sampled_from(["a.py", "src", "lib/b.py", "gone.py", ".env", "../x"]), max_size=6),
    st.sampled_from(["", "explain my changes", "src/a.py:3: error: broken", "why does it fail"]),
    st.none() | st.tuples(st.integers(0, 40), st.integers(0, 40)),
)
@settings(max_examples=15, deadline=None)
def test_a_context_keeps_the_limits(
    contents: dict[str, bytes], names: list[str], text: str, selection: tuple[int, int] | None
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        for name, content in ({".env": b"SECRET=topsecret\n"} | contents).items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(content * 5)
        around = Around(active_file="src/a.py", selection=selection)
        collected = asyncio.run(
            _collector([*contents]).collect(
                Workspace(name="w", path=folder),
                files=names,
                names=["load"],
                text=text,
                around=around,
            )
        )
    sizes = sent(collected.pieces)
    assert sum(sizes.values()) <= 60_000
    assert len(sizes.keys() - {""}) <= 10
    assert max((size for path, size in sizes.items() if path), default=0) <= 12_000
    assert "topsecret" not in "".join(piece.text for piece in collected.pieces)
    assert len(collected.used) == len(collected.pieces)


@pytest.mark.requirement("NL-5.1")
def test_the_numbers_of_short_lines_count_against_the_limits(tmp_path: Path) -> None:
    contents = {f"src/{number}.py": b"x\n" * 6000 for number in range(12)}
    for name, content in contents.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    workspace = Workspace(name="w", path=tmp_path.resolve())
    found = asyncio.run(_collector([]).collect(workspace, files=[*contents], names=[]))
    sizes = sent(found.pieces)
    assert 50_000 < sum(sizes.values()) <= 60_000
    assert 10_000 < max(sizes.values()) <= 12_000
    assert all(one["cut"] for one in found.explained()["used"] if one["kind"] == "file")
    shown = {piece.path for piece in found.pieces}
    assert contents.keys() - shown == {one.path for one in found.left_out if one.path}


@pytest.mark.requirement("NL-5.1")
def test_a_review_and_a_revision_keep_the_limits_as_well() -> None:
    texts = {f"{number}.py": "x\n" * 2500 for number in range(10)}
    found = [Piece(kind="file", path=path, text=text) for path, text in texts.items()]
    patch = Piece(kind="changes", path="a.py", text="+x\n" * 8000)
    reviewed = to_show(Looked(pieces=(patch,)), found)
    assert reviewed[0] is patch
    assert 40_000 < sum(sent(reviewed).values()) <= 60_000
    marked = FileLines(path="b.py", text="+\u202e\n".encode() * 2000)
    changes = RangeChanges(
        base="",
        tip="",
        commits=(),
        commit_total=0,
        files=(),
        total=1,
        added=1,
        removed=0,
        lines=(marked,),
    )
    [one] = range_pieces(changes)
    assert one.cut
    assert 11_900 < max(sent([one]).values()) <= 12_000
    seeded = {f"s{number}.py": b"y" * 20_000 for number in range(6)}
    revised = with_seeded(found, seeded)
    sizes = sent(revised, numbered=False)
    assert 50_000 < sum(sizes.values()) <= 60_000
    assert max(sizes.values()) <= 12_000


def sent(pieces: Sequence[Piece], *, numbered: bool = True) -> Counter[str]:
    """Return the bytes that a model is sent of each file, marks and line numbers and all."""
    sizes: Counter[str] = Counter()
    for piece in pieces:
        told = prompt("", [piece], nonce="0123456789abcdef", numbered=numbered)
        sizes[piece.path] += len(told.rpartition("<<<")[0].encode())
    return sizes


def _collector(changed: list[str]) -> Collector:
    async def list_files(workspace: Workspace) -> Listing:
        return await files.list_files(workspace.path)

    async def search_all(
        workspace: Workspace, queries: Sequence[str], among: Listing
    ) -> Sequence[SearchResult]:
        return await files.search_all(workspace.path, queries, among=among, finder="python")

    async def local_changes(path: Path) -> Changes:
        del path
        found = tuple(ChangedFile(name, "modified", 1, 1) for name in (".env", *changed))
        return Changes("main", None, None, None, found, len(found), 1, 1)

    return Collector(list_files=list_files, search_all=search_all, local_changes=local_changes)
