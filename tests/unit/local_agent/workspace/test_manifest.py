"""What changed between two moments."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from local_agent.workspace import manifest
from local_agent.workspace.manifest import Differences, compare, take


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for name in ("a", "b", "sub/c"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name, encoding="utf-8")
    return tmp_path


def _after(workspace: Path, script: str) -> Differences:
    before = take(workspace)
    exec(script, {"at": workspace, "os": os})  # noqa: S102  # the test's own lines
    return compare(before, take(workspace))


def test_nothing_changed_is_nothing_listed(workspace: Path) -> None:
    assert _after(workspace, "") == Differences(0, 0, 0, (), (), (), truncated=False)


@pytest.mark.requirement("R46")
def test_added_removed_and_changed_files_are_listed(workspace: Path) -> None:
    script = "(at/'a').write_bytes(b'A'); (at/'b').unlink(); (at/'sub/new').touch()"
    found = _after(workspace, script)
    assert found.names == ("+ sub/new", "- b", "~ a")
    assert (found.added, found.removed, found.changed) == (1, 1, 1)


@pytest.mark.requirement("R46")
def test_a_change_is_seen_though_time_and_size_were_set_back(workspace: Path) -> None:
    script = """
status = (at/'a').stat()
(at/'a').write_bytes(b'x')
os.utime(at/'a', ns=(status.st_atime_ns, status.st_mtime_ns))
"""
    assert _after(workspace, script).names == ("~ a",)


def test_a_changed_mode_is_a_change(workspace: Path) -> None:
    assert _after(workspace, "(at/'a').chmod(0o755)").names == ("~ a",)


@pytest.mark.requirement("R46")
def test_new_links_are_named_and_never_followed(workspace: Path) -> None:
    found = _after(workspace, "(at/'out').symlink_to('/usr'); (at/'loop').symlink_to('.')")
    assert found.names == ("+ loop", "+ out")
    assert found.links == ("loop", "out")


@pytest.mark.requirement("R46")
def test_changed_execution_surfaces_are_named(workspace: Path) -> None:
    (workspace / "Makefile").write_text("all:\n", encoding="utf-8")
    script = "(at/'Makefile').unlink(); (at/'.github').mkdir(); (at/'.github/x').touch()"
    assert _after(workspace, script).surfaces == (".github/x", "Makefile")


def test_of_gits_own_folder_only_what_is_obeyed_is_watched(workspace: Path) -> None:
    (workspace / ".git/hooks").mkdir(parents=True)
    (workspace / ".git/objects").mkdir()
    script = (
        "(at/'.git/hooks/x').touch(); (at/'.git/objects/y').touch(); (at/'.git/config').touch()"
    )
    assert _after(workspace, script).names == ("+ .git/config", "+ .git/hooks/x")


def test_a_walk_cut_short_says_so_and_calls_nothing_removed(workspace: Path) -> None:
    before = take(workspace)
    after = take(workspace, max_entries=1)
    found = compare(before, after)
    assert found.truncated
    assert found.incomplete
    assert found.removed == 0


def test_many_names_are_counted_and_not_all_listed(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest, "MAX_NAMES", 2)
    found = _after(workspace, "[(at/f'n{i}').touch() for i in range(5)]")
    assert (found.added, len(found.names), found.truncated) == (5, 2, True)
    assert not found.incomplete, "all were looked at"


@pytest.mark.requirement("R46")
def test_links_and_surfaces_are_listed_before_any_crowd(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest, "MAX_NAMES", 2)
    script = """
for number in range(5):
    (at/f'a{number}').touch()
(at/'z').symlink_to('/usr')
(at/'Makefile').touch()
"""
    assert _after(workspace, script).names == ("+ Makefile", "+ z")


@pytest.mark.requirement("R46")
def test_a_crowd_of_files_keeps_no_surface_from_being_looked_at(workspace: Path) -> None:
    before = take(workspace, max_entries=20)
    crowd = workspace / "zz"
    crowd.mkdir()
    for number in range(30):
        (crowd / str(number)).touch()
    (workspace / ".vscode").mkdir()
    (workspace / ".vscode/tasks.json").touch()
    found = compare(before, take(workspace, max_entries=20))
    assert found.incomplete
    assert found.surfaces == (".vscode/tasks.json",)


@pytest.mark.requirement("R46")
def test_a_folder_that_cannot_be_listed_is_told_of(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As for an ordinary user after `chmod 0311`; to root every folder is open.
    monkeypatch.setattr(os, "access", lambda path, _mode: Path(path).name != ".vscode")
    before = take(workspace)
    (workspace / ".vscode").mkdir()
    (workspace / ".vscode/tasks.json").touch()
    found = compare(before, take(workspace))
    assert (found.names, found.surfaces, found.links) == (("+ .vscode",), (".vscode",), ())


def test_a_workspace_that_went_away_is_empty(tmp_path: Path) -> None:
    assert take(tmp_path / "absent").stamps == {}


@pytest.mark.requirement("R46")
def test_a_file_that_lends_its_owners_rights_is_notable(tmp_path: Path) -> None:
    before = manifest.take(tmp_path)
    (tmp_path / "tool").write_bytes(b"x")
    (tmp_path / "tool").chmod(0o4755)
    assert manifest.compare(before, manifest.take(tmp_path)).surfaces == ("tool",)


@pytest.mark.requirement("R46")
def test_a_file_with_another_name_outside_is_told_and_one_inside_is_not(
    workspace: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "file"
    outside.write_text("x", encoding="utf-8")
    before = take(workspace)
    os.link(outside, workspace / "shared")
    os.link(workspace / "a", workspace / "twin")
    found = compare(before, take(workspace))
    assert found.links == ("shared",)
    assert found.names == ("+ shared", "+ twin", "~ a")


def test_a_folder_that_is_gone_has_nothing_in_it(workspace: Path) -> None:
    assert manifest.take(workspace / "gone").stamps == {}


ACCESS, DEFAULT, CAPABILITY = (
    "system.posix_acl_access",
    "system.posix_acl_default",
    ("security.capability"),
)


def _acl(*named: int, mode: int = 7) -> bytes:
    """Return a list of the owner, of accounts by number, the group, a mask and the others."""
    owner, group, mask, others = (1, 7), (4, 5), (16, mode), (32, 5)
    entries = [(*owner, -1), *((2, mode, who) for who in named)]
    entries += [(*one, -1) for one in (group, mask, others)]
    return b"\x02\0\0\0" + b"".join(struct.pack("<HHi", *entry) for entry in entries)


def _rights_of(path: Path) -> set[str]:
    return set(os.listxattr(path)) & set(manifest.RIGHTS)


@pytest.fixture
def listed(workspace: Path) -> Path:
    try:
        os.setxattr(workspace / "a", ACCESS, _acl(1000))
    except OSError:
        pytest.skip("this file system keeps no access lists")
    return workspace


@pytest.mark.requirement("R46")
def test_rights_that_appear_are_taken_back(listed: Path) -> None:
    before = take(listed)
    os.setxattr(listed / "a", ACCESS, _acl(1000, 1001))
    os.setxattr(listed / "b", ACCESS, _acl(1001))
    (listed / "sub/new").mkdir()
    os.setxattr(listed / "sub/new", DEFAULT, _acl(1001))
    os.setxattr(listed, DEFAULT, _acl(1001))
    after = take(listed)
    rights = manifest.restore_rights(listed, before, after)
    assert rights == ((".", "a", "b", "sub/new"), ())
    assert compare(before, after, rights=rights).rights == rights[0]
    assert os.getxattr(listed / "a", ACCESS) == _acl(1000)
    assert [_rights_of(listed / name) for name in ("", "b", "sub/new")] == [set()] * 3


@pytest.mark.requirement("R46")
def test_what_a_person_gave_stays_and_is_inherited(listed: Path) -> None:
    os.setxattr(listed / "sub", DEFAULT, _acl(1000))
    before = take(listed)
    (listed / "sub/new").mkdir()
    (listed / "sub/new/file").touch()
    (listed / "a").chmod(0o640)
    assert manifest.restore_rights(listed, before, take(listed)) == ((), ())
    assert _rights_of(listed / "sub/new/file") == {ACCESS}
    os.setxattr(listed / "sub/new/file", ACCESS, _acl(1000, 1001))
    assert manifest.restore_rights(listed, before, take(listed))[0] == ("sub/new/file",)


@pytest.mark.requirement("R46")
def test_a_capability_that_appears_is_taken_back(workspace: Path) -> None:
    before = take(workspace)
    try:  # cap_net_raw=ep, as version 2
        os.setxattr(workspace / "a", CAPABILITY, struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0))
    except PermissionError:
        pytest.skip("only root gives capabilities to files")
    rights = manifest.restore_rights(workspace, before, take(workspace))
    assert rights == (("a",), ())
    assert _rights_of(workspace / "a") == set()


def test_rights_are_restored_through_no_link_put_there_since(listed: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b").touch()
    (listed / "in").mkdir()
    (listed / "in" / "b").touch()
    os.setxattr(listed / "in" / "b", ACCESS, _acl(4000))
    before = take(listed)
    os.setxattr(listed / "in" / "b", ACCESS, _acl(4000, 4001))
    after = take(listed)
    (listed / "in").rename(listed / "moved")
    (listed / "in").symlink_to(outside)

    assert manifest.restore_rights(listed, before, after) == ((), ("in/b",))

    assert _rights_of(outside / "b") == set()


def test_what_lies_too_deep_for_a_path_makes_the_list_incomplete(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = take(workspace)
    monkeypatch.chdir(workspace)
    for _ in range(21):
        Path("d" * 200).mkdir()
        os.chdir("d" * 200)
    Path("hidden").touch()

    assert compare(before, take(workspace)).incomplete


def test_folders_count_among_the_entries(workspace: Path) -> None:
    for number in range(20):
        (workspace / f"empty{number}").mkdir()

    assert take(workspace, max_entries=20).truncated
