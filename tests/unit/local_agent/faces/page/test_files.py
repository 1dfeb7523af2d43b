"""Folders and files on the page: no way out of the workspace, and bounds on whatever lies there."""

from __future__ import annotations

import json
import os
import socket
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from common.errors import InputError
from local_agent.faces.page import files
from local_agent.faces.page.files import list_folder, read_image, view_file
from local_agent.views import to_json
from local_agent.views.files import FileView, FolderView
from local_agent.workspace import paths
from local_agent.workspace.registry import Workspace
from tests.each import each

PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
IMAGES = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0" + bytes(64),
    "image/gif": b"GIF89a" + bytes(64),
    "image/webp": b"RIFF\x40\0\0\0WEBPVP8 " + bytes(64),
}
MALFORMED = (
    *("..", "../outside", "src/..", "src/../../outside", ".", "./src", "src/.", "src//main.py"),
    *("/", "/etc/passwd", "//etc/passwd", "src/", "src/\0", "\0", "a\nb", "a\rb", "a\x1bb"),
    *("a\x7fb", "a\u202eb", "a\u200b", "a\u2028b", " src", "src ", "\t", "\ud800"),
    *("x" * 256, "é" * 128, "/".join(["xxxxxxxxx"] * 103), "x/" * 500_000),
)
# Names as any other, which nothing here bears.
PLAIN = (
    *("..\\outside", "\\etc\\passwd", "C:\\Windows", "src\\main.py", "%2e%2e/outside", "..."),
    *("src/%2e%2e", "~", "~root", "file:", "．．/outside", "nowhere", "src/nowhere/deeper"),
    "src/main.py/deeper",
)
SECRETS = (
    *(".env", ".ENV", ".env.local", "key.pem", "id_rsa", ".git/config", ".git", ".ssh/known_hosts"),
    *("src/.env", "app.tfstate", "aws-credentials.json", "private/notes", "secret-plan.txt"),
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    folder = tmp_path / "project"
    for name in ("src", "here", ".git", ".ssh", "private"):
        (folder / name).mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "main.py").write_bytes(b"outside\n")
    write(folder, "src/main.py", b"print('hi')\n")
    for name in SECRETS:
        if not (folder / name).exists():
            write(folder, name, b"API_KEY=1\n")
    write(folder, ".codexbridgeignore", b"secret-*\n")
    return Workspace(name="project", path=folder, deny=("private",))


def write(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def refusal(ask: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        ask()
    return caught.value.code


def refusals(workspace: Workspace, path: str) -> set[str]:
    """Return how a path is refused by all that takes one."""
    asks = (
        lambda: view_file(workspace, path),
        lambda: read_image(workspace, path),
        lambda: list_folder(workspace, path),
    )
    return {refusal(ask) for ask in asks}


def viewed(workspace: Workspace, content: bytes, name: str = "file") -> FileView:
    write(workspace.path, name, content)
    return view_file(workspace, name)


def texts(view: FileView) -> list[str]:
    return [line.text for line in view.lines]


def names(view: FolderView) -> list[str]:
    return [entry.name for entry in view.entries]


# -- no way out ------------------------------------------------------------------------------------


@pytest.mark.requirement("R52")
def test_a_path_that_is_none_is_refused_before_anything_is_opened(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[object] = []
    monkeypatch.setattr(os, "open", lambda *args, **_: opened.append(args))
    for path in MALFORMED:
        assert refusals(workspace, path) == {"files.name"}, path[:40]
    assert refusal(lambda: view_file(workspace, "")) == "files.name"
    assert opened == []


def test_backslashes_and_encoded_dots_are_no_more_than_names(workspace: Workspace) -> None:
    for path in PLAIN:
        assert refusals(workspace, path) == {"files.missing"}, path


@pytest.mark.requirement("R52")
def test_secrets_and_what_is_denied_are_never_opened(workspace: Workspace) -> None:
    for path in SECRETS:
        assert refusals(workspace, path) == {"files.denied"}, path


def test_what_is_denied_is_listed_by_its_name(workspace: Workspace) -> None:
    refused = {entry.name: entry.refused for entry in list_folder(workspace, "").entries}
    assert refused[".env"] == refused[".git"] == refused["private"] == "denied"
    assert refused["secret-plan.txt"] == "denied"
    assert refused["src"] == refused[".codexbridgeignore"] == ""


@pytest.mark.requirement("R52")
def test_links_are_shown_and_never_followed(workspace: Workspace, tmp_path: Path) -> None:
    for name, target in (("file", "outside/main.py"), ("folder", "outside"), ("gone", "nowhere")):
        (workspace.path / name).symlink_to(tmp_path / target)
    kinds = {entry.name: (entry.kind, entry.size) for entry in list_folder(workspace, "").entries}
    assert kinds["file"] == kinds["folder"] == kinds["gone"] == ("link", None)
    for path in ("file", "folder", "gone", "folder/main.py", "folder/nowhere"):
        assert refusals(workspace, path) == {"files.link"}, path


@pytest.mark.parametrize("swapped", ["src", "src/main.py"])
def test_a_link_put_there_after_the_check_is_not_followed(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    look = files._look

    def swap(root: paths.Root, parts: tuple[str, ...], path: str) -> os.stat_result:
        found = look(root, parts, path)
        place = workspace.path / swapped
        place.rename(tmp_path / "away")
        place.symlink_to(tmp_path / "outside" / ("main.py" if swapped != "src" else ""))
        return found

    monkeypatch.setattr(files, "_look", swap)
    assert refusal(lambda: view_file(workspace, "src/main.py")) == "files.unreadable"


def test_a_folder_swapped_for_a_link_after_the_check_is_not_listed(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = files._look

    def swap(root: paths.Root, parts: tuple[str, ...], path: str) -> os.stat_result:
        found = look(root, parts, path)
        (workspace.path / "src").rename(tmp_path / "away")
        (workspace.path / "src").symlink_to(tmp_path / "outside")
        return found

    monkeypatch.setattr(files, "_look", swap)
    assert refusal(lambda: list_folder(workspace, "src")) == "files.unreadable"


def test_a_parent_swapped_for_a_link_while_it_is_looked_at_is_not_followed(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lstat = files._lstat

    def swap(part: str, folder: int, path: str) -> os.stat_result:
        found = lstat(part, folder, path)
        if part == "src":
            (workspace.path / "src").rename(tmp_path / "away")
            (workspace.path / "src").symlink_to(tmp_path / "outside")
        return found

    monkeypatch.setattr(files, "_lstat", swap)
    assert refusal(lambda: view_file(workspace, "src/main.py")) == "files.missing"


def test_what_may_not_be_read_is_told_as_such(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> os.stat_result:
        raise PermissionError

    monkeypatch.setattr(files, "_lstat", refuse)
    assert refusals(workspace, "src/main.py") == {"files.unreadable"}


def test_an_entry_that_goes_while_it_is_listed_has_no_size(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    nearest = files._nearest
    path = write(workspace.path, "here/file", b"12")

    def go(handle: int, begin: tuple[int, str, str] | None) -> object:
        found = nearest(handle, begin)
        path.unlink()
        return found

    monkeypatch.setattr(files, "_nearest", go)
    (entry,) = list_folder(workspace, "here").entries
    assert (entry.name, entry.kind, entry.size) == ("file", "other", None)


def test_what_is_no_ordinary_file_is_not_opened(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(workspace.path / "pipe")
    monkeypatch.chdir(workspace.path)  # an address of a socket is short
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
        kinds = {entry.name: entry.kind for entry in list_folder(workspace, "").entries}
        assert kinds["pipe"] == kinds["socket"] == "other"
        for name in ("pipe", "socket"):
            assert refusal(lambda: view_file(workspace, name)) == "files.not-regular"  # noqa: B023  called at once
            assert refusal(lambda: read_image(workspace, name)) == "files.not-regular"  # noqa: B023  called at once
            assert refusal(lambda: list_folder(workspace, name)) == "files.not-a-folder"  # noqa: B023  called at once
    assert refusal(lambda: view_file(workspace, "src")) == "files.not-regular"
    assert refusal(lambda: list_folder(workspace, "src/main.py")) == "files.not-a-folder"


def test_a_device_is_not_opened() -> None:
    # Devices cannot be made by everybody, so those of the system are looked at.
    devices = Workspace(name="devices", path=Path("/dev"))
    kinds = {entry.name: entry.kind for entry in list_folder(devices, "").entries}
    assert kinds["zero"] == "other"
    assert refusal(lambda: view_file(devices, "zero")) == "files.not-regular"


def test_a_workspace_that_is_gone_is_named(workspace: Workspace, tmp_path: Path) -> None:
    workspace.path.rename(tmp_path / "moved")
    assert refusal(lambda: list_folder(workspace, "")) == "files.no-workspace"
    assert refusal(lambda: view_file(workspace, "src/main.py")) == "files.no-workspace"


# -- folders ---------------------------------------------------------------------------------------


def test_folders_come_first_and_case_does_not_matter(workspace: Workspace) -> None:
    for name in ("b.txt", "A.txt", "a.TXT", "C.txt", "源码.txt"):
        write(workspace.path, f"here/{name}", b"12345")
    for name in ("Zoo", "alpha"):
        (workspace.path / "here" / name).mkdir()
    view = list_folder(workspace, "here")
    assert names(view) == [
        *("alpha", "Zoo", "A.txt", "a.TXT", "b.txt", "C.txt", "源码.txt"),
    ]
    assert [entry.size for entry in view.entries[:3]] == [None, None, 5]
    assert (view.total, view.complete, view.more, view.after) == (7, True, False, "")


def test_every_entry_is_on_one_page(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_ENTRIES", 7)
    folder = workspace.path / "here"
    raw = [b"\xff%d" % number for number in range(5)]
    for name in (*(f"F{number}".encode() for number in range(20)), *raw, b"a\nb"):
        (Path(os.fsdecode(os.fsencode(folder) + b"/" + name))).touch()
        (Path(os.fsdecode(os.fsencode(folder) + b"/D" + name))).mkdir()
    seen, after, pages = [], "", 0
    while True:
        view = list_folder(workspace, "here", after=after)
        seen += names(view)
        after, pages = view.after, pages + 1
        if not view.more:
            break
    assert len(seen) == len(set(seen)) == 2 * 26
    assert pages == 8


@each("after", ["x", "2", "0", "0zz", "1" + "ff" * 300, "é", "0 ", "1ff\n", "1FF"])
def test_a_cursor_of_no_page_is_refused(tmp_path: Path, after: str) -> None:
    place = Workspace(name="project", path=tmp_path)
    assert refusal(lambda: list_folder(place, "", after=after)) == "files.cursor"


def test_a_name_with_hidden_characters_is_shown_with_them(workspace: Workspace) -> None:
    for name in (b"a\nb", b"gpj.\xe2\x80\xaeexe", b"\xe9", b" x", b"a\tb", b"<b>"):
        Path(os.fsdecode(os.fsencode(workspace.path / "here") + b"/" + name)).touch()
    view = list_folder(workspace, "here")
    refused = {entry.name: entry.refused for entry in view.entries}
    assert refused == {
        "a⟨U+000A⟩b": "name",
        "gpj.⟨U+202E⟩exe": "name",
        "⟨0xE9⟩": "name",
        " x": "name",
        "a⟨U+0009⟩b": "name",
        "<b>": "",
    }
    json.dumps(to_json(view), ensure_ascii=False).encode()


def test_a_folder_of_too_many_is_told_as_incomplete(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_LOOKED_AT", 3)
    for number in range(5):
        write(workspace.path, f"here/{number}", b"")
    view = list_folder(workspace, "here")
    assert (view.total, view.complete, len(view.entries)) == (3, False, 3)


@pytest.mark.thorough
def test_a_folder_of_a_hundred_thousand_is_held_a_page_at_a_time(workspace: Workspace) -> None:
    folder = os.open(workspace.path / "here", os.O_RDONLY)
    for number in range(100_000):
        os.close(os.open(f"{number:06}", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)
    tracemalloc.start()
    view = list_folder(workspace, "here")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (view.total, view.more, len(view.entries)) == (100_000, True, 500)
    assert most < 4_000_000
    assert list_folder(workspace, "here", after=view.after).entries[0].name == "000500"


# -- texts -----------------------------------------------------------------------------------------


def test_a_text_is_shown_by_its_lines(workspace: Workspace) -> None:
    view = viewed(workspace, b"one\n\ttwo\n\nfour")
    assert [(line.number, line.text, line.left) for line in view.lines] == [
        (1, "one", 0),
        (2, "\ttwo", 0),
        (3, "", 0),
        (4, "four", 0),
    ]
    assert (view.kind, view.size, view.line_count, view.next_line) == ("text", 14, 4, None)
    assert (view.utf8, view.line_ends, view.unended, view.stopped) == (True, "lf", True, False)


def test_an_empty_file_has_no_lines(workspace: Workspace) -> None:
    view = viewed(workspace, b"")
    assert (view.kind, view.lines, view.line_count, view.line_ends) == ("text", (), 0, "none")


@each(
    "content, shown, utf8, ends",
    [
        (b"a\xe9b\n", ["a⟨0xE9⟩b"], False, "lf"),  # Latin-1
        (b"\xef\xbb\xbfa\n", ["⟨U+FEFF⟩a"], True, "lf"),
        (b"a\r\nb\r\n", ["a", "b"], True, "crlf"),
        (b"a\r\nb\n", ["a⟨U+000D⟩", "b"], True, "mixed"),
        (b"a\rb", ["a⟨U+000D⟩b"], True, "none"),
        ("a\u202eb\u200b\x1b[2J\n".encode(), ["a⟨U+202E⟩b⟨U+200B⟩⟨U+001B⟩[2J"], True, "lf"),
        (b"<script>alert(1)</script>", ["<script>alert(1)</script>"], True, "none"),
        ("你好\u2028".encode(), ["你好⟨U+2028⟩"], True, "none"),
    ],
)
def test_nothing_in_a_line_is_hidden(
    tmp_path: Path, content: bytes, shown: list[str], utf8: bool, ends: str
) -> None:
    view = viewed(Workspace(name="project", path=tmp_path), content)
    assert (texts(view), view.utf8, view.line_ends) == (shown, utf8, ends)


def test_a_late_nul_is_shown_too(workspace: Workspace) -> None:
    view = viewed(workspace, b"a\n" * 5000 + b"b\0c\n")
    assert view_file(workspace, view.path, first_line=5001).lines[0].text == "b⟨U+0000⟩c"


def test_a_long_text_comes_in_pages(workspace: Workspace) -> None:
    view = viewed(workspace, b"".join(b"%d\n" % number for number in range(1, 50_001)))
    assert (len(view.lines), view.next_line, view.line_count) == (2000, 2001, 50_000)
    first, seen = 1, 0
    while first is not None:
        view = view_file(workspace, "file", first_line=first)
        assert [line.text for line in view.lines] == [str(line.number) for line in view.lines]
        assert view.lines[0].number == first
        seen, first = seen + len(view.lines), view.next_line  # type: ignore[assignment]  # None ends it
    assert seen == 50_000
    assert view_file(workspace, "file", first_line=50_001).lines == ()
    assert view_file(workspace, "file", first_line=10**12).lines == ()
    assert refusal(lambda: view_file(workspace, "file", first_line=0)) == "files.line"


def test_a_page_is_full_at_its_bytes_as_they_are_shown(workspace: Workspace) -> None:
    view = viewed(workspace, b"a\n" + (b"\x01" * 1000 + b"\n") * 100)
    size = sum(len(text.encode()) for text in texts(view))
    assert size <= 400_000
    assert view.next_line == len(view.lines) + 1
    assert 30 < len(view.lines) < 101


def test_exactly_a_page_has_no_other(workspace: Workspace) -> None:
    view = viewed(workspace, b"x\n" * 2000)
    assert (len(view.lines), view.next_line, view.unended) == (2000, None, False)


@each(
    "line, kept, left",
    [
        ("x" * 2000, 2000, 0),
        ("x" * 2001, 2000, 1),
        ("字" * 30_000, 2000, 28_000),  # longer than what is read at once
        ("字" * 2001, 2000, 1),
        ("x" * 65_536, 2000, 63_536),
        ("x" * 65_535, 2000, 63_535),
        ("x" * 200_000, 2000, 198_000),
    ],
)
def test_a_long_line_is_cut_and_the_rest_counted(
    tmp_path: Path, line: str, kept: int, left: int
) -> None:
    place = Workspace(name="project", path=tmp_path)
    for end in ("", "\n", "\r\n"):
        view = viewed(place, (line + end + ("next" if end else "")).encode())
        assert (len(view.lines[0].text), view.lines[0].left) == (kept, left), end
        assert texts(view)[1:] == (["next"] if end else [])
        assert view.utf8


def test_no_more_is_looked_at_than_the_bound(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_SCANNED_BYTES", 200_000)
    view = viewed(workspace, b"begin\n" + b"x" * 1_000_000)
    assert (view.stopped, view.unended, view.next_line) == (True, False, None)
    assert view.lines[1].left < 300_000
    view = viewed(workspace, b"ab\n" * 1_000_000)
    assert view.line_count == 1_000_000
    assert view.next_line == 2001
    view = view_file(workspace, "file", first_line=900_000)
    assert (view.lines, view.stopped) == ((), True)


def test_lines_of_a_large_file_are_not_counted(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_COUNTED_BYTES", 10)
    assert viewed(workspace, b"ab\n" * 5).line_count is None
    with (workspace.path / "file").open("rb") as grown:
        assert files._count_lines(grown) is None


# -- images and other bytes ------------------------------------------------------------------------


def test_an_image_is_known_by_its_bytes(workspace: Workspace) -> None:
    for media_type, content in IMAGES.items():
        view = viewed(workspace, content, "notes.txt")
        assert (view.kind, view.media_type, view.lines) == ("image", media_type, ())
        assert read_image(workspace, "notes.txt") == (media_type, content)


@each(
    "name, content, kind",
    [
        ("page.png", b"<html><script>alert(1)</script></html>\n", "text"),
        ("late.png", b"<html>" + PNG, "binary"),
        ("drawing.svg", b"<svg xmlns='x'><script>alert(1)</script></svg>\n", "text"),
        ("sound.webp", b"RIFF\x40\0\0\0WAVEfmt ", "binary"),
        ("short.png", b"\x89PNG", "text"),
        ("empty.gif", b"", "text"),
    ],
)
def test_what_only_bears_the_name_of_an_image_is_none(
    tmp_path: Path, name: str, content: bytes, kind: str
) -> None:
    place = Workspace(name="project", path=tmp_path)
    view = viewed(place, content, name)
    assert (view.kind, view.media_type) == (kind, "")
    assert refusal(lambda: read_image(place, name)) == "files.not-an-image"


def test_an_image_beyond_the_limit_is_not_given(workspace: Workspace) -> None:
    path = write(workspace.path, "large.png", PNG)
    os.truncate(path, files.MAX_IMAGE_BYTES)
    assert view_file(workspace, "large.png").kind == "image"
    assert len(read_image(workspace, "large.png")[1]) == files.MAX_IMAGE_BYTES
    os.truncate(path, files.MAX_IMAGE_BYTES + 1)
    view = view_file(workspace, "large.png")
    assert (view.kind, view.media_type, len(view.dump)) == ("binary", "image/png", 32)
    assert refusal(lambda: read_image(workspace, "large.png")) == "files.image-too-large"


def test_other_bytes_are_dumped(workspace: Workspace) -> None:
    view = viewed(workspace, b"\x7fELF\0<b>\xff" + bytes(1000))
    assert (view.kind, view.size, len(view.dump)) == ("binary", 1009, 32)
    first = view.dump[0]
    assert (first.offset, first.text) == (0, ".ELF.<b>........")
    assert first.hex == "7f 45 4c 46 00 3c 62 3e ff 00 00 00 00 00 00 00"
    assert view.dump[-1].offset == 496
    last = viewed(workspace, b"\0" * 17).dump[-1]
    assert (last.offset, last.hex) == (16, "00")


@each("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_utf_16_is_dumped(tmp_path: Path, codec: str) -> None:
    view = viewed(Workspace(name="project", path=tmp_path), "hello\n".encode(codec))
    assert view.kind == "binary"
    chinese = viewed(Workspace(name="project", path=tmp_path), "你好".encode("utf-16"))
    assert chinese.kind == "binary"  # though it holds no NUL


def test_a_sparse_file_of_ten_gigabytes_is_not_read(workspace: Workspace) -> None:
    path = write(workspace.path, "sparse", b"")
    os.truncate(path, 10 * 1024**3)
    view = view_file(workspace, "sparse")
    assert (view.kind, view.size, len(view.dump)) == ("binary", 10 * 1024**3, 32)
    assert refusal(lambda: read_image(workspace, "sparse")) == "files.not-an-image"
    path.write_bytes(b"x" * 8192)
    os.truncate(path, 10 * 1024**3)
    view = view_file(workspace, "sparse")
    assert (view.kind, view.stopped, view.line_count) == ("text", True, None)
    assert len(view.lines) == 1


def test_a_view_is_json(workspace: Workspace) -> None:
    for content in (b"a\xe9\n", PNG, b"\0"):
        json.dumps(to_json(viewed(workspace, content)), ensure_ascii=False).encode()
