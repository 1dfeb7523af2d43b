"""What both doctors share."""

from __future__ import annotations

import os
import socket
import stat
from contextlib import closing
from pathlib import Path

import pytest

from common.doctor import Check, Examined, Finding, Fix, Tone, examine, mend
from common.errors import StateError
from common.home import close_to_others
from common.sentences import Sentence


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


TITLE = Sentence(en="a check", zh="检查")


async def test_a_question_shows_what_is_hidden_in_a_name() -> None:
    asked: list[str] = []
    what = Sentence(en="Close {names}?", zh="关闭 {names}？")
    facts = {"names": "a\x1b[2K\r\nAll is well \u202e"}
    finding = Finding("x.open", Tone.BAD, facts, Fix(what, lambda: None))

    async def look() -> Finding:
        return finding

    def may(question: str) -> bool:
        asked.append(question)
        return False

    found = [Examined(Check("x", TITLE, look), finding)]
    assert await mend(found, may=may, lang="en") == found
    assert asked == ["Close a⟨U+001B⟩[2K All is well ⟨U+202E⟩?"]


async def test_a_broken_check_hides_no_other() -> None:
    async def broken() -> Finding:
        raise OverflowError("of whatever was read")

    async def look() -> Finding:
        return Finding("y.fine")

    checks = [Check("x", TITLE, broken), Check("y", TITLE, look), Check("z", TITLE, look, ("x",))]
    first, second, third = (one.finding for one in await examine(checks))
    assert (first.code, first.tone) == ("doctor.broken", Tone.BAD)
    assert first.facts["what"] == "OverflowError"
    assert str(first.facts["where"]).startswith("test_doctor.py:")
    assert (second.code, third.code) == ("y.fine", "doctor.unseen")


class TestCloseToOthers:
    def test_a_file_a_folder_and_a_socket_are_closed(self, tmp_path: Path) -> None:
        file, folder, bound = (tmp_path / name for name in ("file", "folder", "socket"))
        file.write_bytes(b"")
        folder.mkdir()
        with closing(socket.socket(socket.AF_UNIX)) as listening:
            listening.bind(str(bound))
        for path, mode in ((file, 0o646), (folder, 0o755), (bound, 0o777)):
            path.chmod(mode)
            close_to_others(path, path.lstat())
            assert _mode(path) == mode & 0o700

    def test_what_is_there_now_is_left_alone(self, tmp_path: Path) -> None:
        path, other = tmp_path / "file", tmp_path / "other"
        for one in (path, other):
            one.write_bytes(b"")
            one.chmod(0o644)
        found = path.lstat()
        other.replace(path)
        with pytest.raises(StateError, match=r"doctor\.changed"):
            close_to_others(path, found)
        assert _mode(path) == 0o644

    @pytest.mark.parametrize("before", [True, False])
    def test_a_link_is_not_followed(self, tmp_path: Path, *, before: bool) -> None:
        path, other = tmp_path / "file", tmp_path / "other"
        other.write_bytes(b"")
        other.chmod(0o644)
        path.write_bytes(b"")
        found = path.lstat()
        path.unlink()
        path.symlink_to(other)
        with pytest.raises(StateError, match=r"doctor\.changed"):
            close_to_others(path, path.lstat() if before else found)
        assert _mode(other) == 0o644

    def test_a_fifo_is_not_waited_for(self, tmp_path: Path) -> None:
        path = tmp_path / "fifo"
        os.mkfifo(path, 0o644)
        close_to_others(path, path.lstat())
        assert _mode(path) == 0o600
