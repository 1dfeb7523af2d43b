"""Whatever a file held and whatever it is to hold: the proposed diff makes exactly that of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.diff.parse import parse_diff
from common.diff.patching import patched
from local_agent.playbooks.toolbox import _rewritten
from local_agent.workspace.registry import Workspace

LINES = st.sampled_from(
    ["a", "b", "\r", "\n", "\n", "\r\n", "é", "\ufeff", "\u2028", "--- a", "\\"]
)
NEW = st.one_of(st.lists(LINES).map("".join), st.text())
OLD = st.one_of(st.none(), NEW.map(str.encode), st.binary()).filter(
    lambda old: old is None or b"\0" not in old
)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return Workspace(name="project", path=tmp_path_factory.mktemp("project").resolve())


@given(OLD, NEW.filter(lambda new: "\0" not in new))
def test_the_diff_of_a_written_file_gives_exactly_its_bytes(
    workspace: Workspace, old: bytes | None, new: str
) -> None:
    place = Path(workspace.path, "file")
    place.unlink(missing_ok=True)
    if old is not None:
        place.write_bytes(old)
    diff = _rewritten(workspace, "file", new.encode())
    if not diff:
        assert old == new.encode()
        return
    (file,) = parse_diff(diff).files
    assert (file.path, file.op) == ("file", "add" if old is None else "modify")
    assert patched(file, old or b"") == new.encode()
