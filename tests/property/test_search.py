"""ripgrep changes how long a search takes, never what it finds."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local_agent.workspace.files import search_all

# Few bytes, so that queries are met; those that make ripgrep think: BOM, NUL, CR, invalid UTF-8.
_PIECES = (*"aAb.-ksKſéÉ测", "\N{KELVIN SIGN}", "\ufeff")
_BYTES = (b"\n", b"\r\n", b" ", b"\xff", b"\xfe", b"\0")
CONTENT = st.lists(
    st.sampled_from([*map(str.encode, _PIECES), *_BYTES]),
    max_size=30,
).map(b"".join)
QUERY = st.text(st.sampled_from("aAb.-ks é測测\\*^$ſK"), min_size=1, max_size=4)


@pytest.mark.needs("ripgrep")
@given(st.lists(CONTENT, min_size=1, max_size=5), QUERY.filter(str.strip))
@settings(max_examples=60, deadline=None)
def test_with_and_without_ripgrep_the_same_is_found(contents: list[bytes], query: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        for number, content in enumerate(contents):
            (Path(place) / f"-{number}.txt").write_bytes(content)
        with_ripgrep = asyncio.run(search_all(Path(place), (query,), finder="ripgrep"))
        without = asyncio.run(search_all(Path(place), (query,), finder="python"))
    assert with_ripgrep == without
