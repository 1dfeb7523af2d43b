"""Playbooks are found by name, one's own first, and read once from ordinary files."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from common.errors import CodexBridgeError, ConfigError, InputError
from common.home import Home
from common.sentences import explain
from local_agent.error_texts import ERRORS
from local_agent.playbooks.definition import MAX_FILE_BYTES, TaskParseError
from local_agent.playbooks.library import (
    Phrases,
    find_playbook,
    list_playbooks,
    read_playbook,
)
from local_agent.playbooks.template import new_playbook
from tests.each import each

SHIPPED = Path(__file__).parent / "shipped"
MINE = "---\nname: {name}\nsteps: [{{name: mine, type: tool, tool: git_status}}]\n---\n"


@pytest.fixture
def places(tmp_path: Path) -> Home:
    home = Home(tmp_path / "config", tmp_path / "state", tmp_path / "run")
    (home.config / "playbooks" / "hooks").mkdir(mode=0o700, parents=True)
    return home


def write(places: Home, name: str, text: str | None = None, *, mode: int = 0o644) -> Path:
    file = places.config / "playbooks" / f"{name}.md"
    file.write_text(text or MINE.format(name=file.stem), encoding="utf-8")
    file.chmod(mode)
    return file


def code(places: Home, name: str) -> str:
    with pytest.raises(CodexBridgeError) as caught:
        find_playbook(places, name, shipped=SHIPPED)
    assert "?" not in explain(caught.value, ERRORS, "en")
    return caught.value.code


def test_a_shipped_one_is_found_with_its_hooks_and_bytes(places: Home) -> None:
    found = find_playbook(places, "release-notes", shipped=SHIPPED)
    assert (found.origin, found.path) == ("shipped", SHIPPED / "release-notes.md")
    assert found.definition.name == "release-notes"
    assert found.raw == found.path.read_bytes()
    assert found.sha256 == hashlib.sha256(found.raw).hexdigest()
    assert [step.tool for step in found.hooks["clean-tree"].steps] == ["git_status"]
    assert found.raw_hooks == {"clean-tree": (SHIPPED / "hooks" / "clean-tree.md").read_bytes()}


def test_an_own_one_is_preferred(places: Home) -> None:
    file = write(places, "weekly")
    found = find_playbook(places, "weekly", shipped=SHIPPED)
    assert (found.origin, found.path, found.definition.steps[0].name) == ("own", file, "mine")


def test_without_a_folder_of_ones_own_there_are_the_shipped_ones(places: Home) -> None:
    shutil.rmtree(places.config)
    assert find_playbook(places, "weekly", shipped=SHIPPED).origin == "shipped"
    assert [one.name for one in list_playbooks(places, shipped=SHIPPED)] == [
        *("fix-test", "release-notes", "weekly"),
    ]


def test_a_broken_one_of_ones_own_is_not_replaced_in_silence(places: Home) -> None:
    write(places, "weekly", "---\nname: weekly\n---\n")
    assert code(places, "weekly") == "playbook.parse"


@each("name", ["", "a b", "../x", "a/b", "周报", "a\n", "a\x00", "x" * 65, "é"])
def test_other_names_are_never_looked_for(name: str, tmp_path: Path) -> None:
    home = Home(tmp_path / "config", tmp_path / "state", tmp_path / "run")
    assert code(home, name) == "playbook.name"


def test_one_that_there_is_not_is_unknown(places: Home) -> None:
    assert code(places, "nothing") == "playbook.unknown"
    assert code(places, "..") == "playbook.unknown"


def test_its_name_is_that_of_its_file(places: Home) -> None:
    write(places, "other", MINE.format(name="another"))
    with pytest.raises(TaskParseError) as caught:
        find_playbook(places, "other", shipped=SHIPPED)
    assert caught.value.facts["why"] == "other-name"


@each("mode", [0o664, 0o646, 0o666, 0o620])
def test_one_that_others_can_change_is_not_read(mode: int, tmp_path: Path) -> None:
    home = Home(tmp_path / "config", tmp_path / "state", tmp_path / "run")
    (home.config / "playbooks").mkdir(mode=0o700, parents=True, exist_ok=True)
    write(home, "mine", mode=mode)
    assert code(home, "mine") == "playbook.not-private"


def test_a_folder_that_others_can_change_is_not_read(places: Home) -> None:
    write(places, "mine")
    (places.config / "playbooks").chmod(0o777)
    assert code(places, "mine") == "playbook.not-private"
    assert find_playbook(places, "weekly", shipped=SHIPPED).origin == "shipped"


def test_one_that_belongs_to_somebody_else_is_not_read(
    places: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, user = write(places, "mine"), os.getuid()
    if user == 0:
        os.chown(file, 12_345, -1)  # what root owns is taken
    else:
        monkeypatch.setattr(os, "getuid", lambda: user + 1)
    assert code(places, "mine") == "playbook.not-private"


def test_hooks_of_ones_own_are_held_to_the_same(places: Home) -> None:
    write(places, "mine", new_playbook("mine").replace("# hooks:\n#   pre:", "hooks:\n   pre:"))
    with pytest.raises(TaskParseError) as missing:
        find_playbook(places, "mine", shipped=SHIPPED)
    assert missing.value.facts["why"] == "no-hook"
    hook = write(places, "hooks/check-branch", mode=0o666)
    assert code(places, "mine") == "playbook.not-private"
    hook.chmod(0o600)
    assert list(find_playbook(places, "mine", shipped=SHIPPED).hooks) == ["check-branch"]
    hook.parent.chmod(0o770)
    assert code(places, "mine") == "playbook.not-private"


def test_a_broken_hook_is_blamed_by_its_own_path(places: Home) -> None:
    write(places, "mine", MINE.format(name="mine").replace("steps", "hooks: {post: h}\nsteps"))
    file = write(places, "hooks/h", "---\nname: h\nsteps: [{name: a, type: gate}]\n---\n")
    with pytest.raises(TaskParseError) as caught:
        find_playbook(places, "mine", shipped=SHIPPED)
    assert caught.value.file_path == str(file)


def test_a_link_or_another_kind_of_file_is_not_read_as_ones_own(places: Home) -> None:
    folder = places.config / "playbooks"
    (folder / "link.md").symlink_to(SHIPPED / "weekly.md")
    (folder / "folder.md").mkdir()
    os.mkfifo(folder / "pipe.md")
    for name in ("link", "folder", "pipe"):
        assert code(places, name) == "playbook.not-a-file"


def test_a_file_is_read_wherever_it_lies(tmp_path: Path) -> None:
    file = tmp_path / "any name.md"
    file.write_text(MINE.format(name="mine"), encoding="utf-8")
    file.chmod(0o666)
    (tmp_path / "link").symlink_to(file)
    for path in (file, tmp_path / "link"):
        found = read_playbook(path)
        assert (found.origin, found.path, found.definition.name) == ("file", path, "mine")


def test_the_hooks_of_a_file_stand_beside_it(tmp_path: Path) -> None:
    shutil.copytree(SHIPPED, tmp_path / "copy")
    assert list(read_playbook(tmp_path / "copy" / "fix-test.md").hooks) == ["clean-tree"]
    shutil.rmtree(tmp_path / "copy" / "hooks")
    with pytest.raises(TaskParseError) as caught:
        read_playbook(tmp_path / "copy" / "fix-test.md")
    assert (caught.value.facts["why"], caught.value.facts["line"]) == ("no-hook", 4)


@pytest.mark.cpu(6)
def test_what_is_no_ordinary_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    for path in (tmp_path / "pipe.md", tmp_path, Path("/dev/zero"), Path("/dev/null")):
        with pytest.raises(InputError) as caught:
            read_playbook(path)
        assert caught.value.code == "playbook.not-a-file"


def test_a_large_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    file = tmp_path / "large.md"
    with file.open("wb") as opened:
        opened.truncate(1 << 40)
    with pytest.raises(TaskParseError) as caught:
        read_playbook(file)
    assert caught.value.facts == {"why": "too-large", "path": str(file), "line": 0} | {
        "limit": MAX_FILE_BYTES
    }


def test_a_file_that_there_is_not_is_told_by_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        read_playbook(tmp_path / "gone.md")
    assert caught.value.filename is not None


def test_what_may_not_be_read_is_told(places: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    write(places, "mine")

    def denied(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(ConfigError) as caught:
        find_playbook(places, "mine", shipped=SHIPPED)
    assert (caught.value.code, caught.value.facts["why"]) == (
        *("playbook.unreadable", "Permission denied"),
    )


def test_the_list_tells_the_broken_ones_beside_the_others(places: Home) -> None:
    write(places, "weekly")
    write(places, "fix-test", "---\nname: fix-test\nsteps: []\n---\n")
    write(places, "two words")
    write(places, "zero", mode=0o666)
    write(places, ".hidden")
    (places.config / "playbooks" / "notes.txt").write_text("x", encoding="utf-8")
    listed = list_playbooks(places, shipped=SHIPPED)
    assert [(one.name, one.origin, one.instead) for one in listed] == [
        ("fix-test", "own", True),
        ("release-notes", "shipped", False),
        ("two words", "own", False),
        ("weekly", "own", True),
        ("zero", "own", False),
    ]
    assert [one.error and one.error.code for one in listed] == [
        *("playbook.parse", None, "playbook.name", None, "playbook.not-private"),
    ]
    assert [one.found is None for one in listed] == [one.error is not None for one in listed]


def test_nothing_at_all_is_an_empty_list(tmp_path: Path) -> None:
    home = Home(tmp_path / "config", tmp_path / "state", tmp_path / "run")
    assert list_playbooks(home, shipped=tmp_path / "none") == ()


def test_all_that_the_product_ships_can_be_read(places: Home) -> None:
    assert [one.error for one in list_playbooks(places) if one.error] == []


WITH_PHRASE = MINE.replace("name: {name}", "name: {name}\ntrigger_keywords: [{phrase}]")


def test_phrases_are_read_again_only_where_a_file_has_changed(places: Home) -> None:
    phrases = Phrases(places, shipped=SHIPPED / "none")
    assert dict(phrases.read()) == {}
    file = write(places, "mine", WITH_PHRASE.format(name="mine", phrase="do mine"))
    write(places, "broken", "---\n")
    first = phrases.read()
    assert dict(first) == {"mine": ("do mine",), "broken": ()}
    assert phrases.read() is first
    before = file.stat()
    write(places, "mine", WITH_PHRASE.format(name="mine", phrase="my mine"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert phrases.read()["mine"] == ("my mine",)
    file.unlink()
    assert list(phrases.read()) == ["broken"]


def test_phrases_of_a_playbook_whose_hook_goes_away_are_gone(places: Home) -> None:
    hook = places.config / "playbooks" / "hooks" / "look.md"
    hook.write_text(MINE.format(name="look"), encoding="utf-8")
    text = WITH_PHRASE.format(name="mine", phrase="do mine")
    write(places, "mine", text.replace("steps:", "hooks: {pre: look}\nsteps:"))
    phrases = Phrases(places, shipped=SHIPPED / "none")
    assert phrases.read()["mine"] == ("do mine",)
    hook.unlink()
    assert phrases.read()["mine"] == ()


def test_an_unknown_name_is_answered_with_those_that_are_alike(places: Home) -> None:
    write(places, "weekly-report")
    with pytest.raises(InputError) as caught:
        find_playbook(places, "weekly-reprot", shipped=SHIPPED)
    assert caught.value.code == "playbook.unknown"
    assert "Alike: weekly-report" in explain(caught.value, ERRORS, "en")
    with pytest.raises(InputError) as caught:
        find_playbook(places, "nothing-like-it", shipped=SHIPPED / "none")
    assert "near" not in caught.value.facts
