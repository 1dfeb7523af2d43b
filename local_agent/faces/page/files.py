"""Folders and files of a workspace for the local page: one level, one page of a text, one image.

Everything is opened through `local_agent.workspace.paths`: part by part, no links, nothing that is
denied.  What a file is, its bytes decide and never its name.  Blocking, and bounded in memory and
time whatever lies there.
"""

from __future__ import annotations

import heapq
import os
import re
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import BinaryIO, Final, Literal

from common.diff.view import shown
from common.errors import InputError
from common.text import reveal_all
from local_agent.views.files import FileLine, FileView, FolderEntry, FolderView, HexRow
from local_agent.workspace import paths
from local_agent.workspace.paths import Root
from local_agent.workspace.registry import Workspace

MAX_ENTRIES: Final = 500  # of a page
MAX_LOOKED_AT: Final = 200_000  # entries of one folder
MAX_LINES: Final = 2000  # of a page
MAX_PAGE_BYTES: Final = 400_000  # of a page, as it is shown
MAX_LINE_CHARS: Final = 2000
MAX_IMAGE_BYTES: Final = 8 * 1024 * 1024
MAX_COUNTED_BYTES: Final = 16 * 1024 * 1024  # of a file whose lines are counted
MAX_SCANNED_BYTES: Final = 256 * 1024 * 1024  # up to the end of a page
DUMPED_BYTES: Final = 512
_DUMP_ROW: Final = 16
_SNIFFED: Final = 8192  # a NUL in the first bytes means binary, as git has it
_CHUNK: Final = 65_536
_CONTINUATION: Final = bytes(range(0x80, 0xC0))  # bytes that begin no character of UTF-8
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_CURSOR: Final = re.compile(rf"([01])((?:[0-9a-f]{{2}}){{1,{paths.MAX_PART_BYTES}}})")
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_Kind = Literal["folder", "file", "link", "other"]
_Key = tuple[int, str, str]  # how entries are ordered


def list_folder(workspace: Workspace, path: str, *, after: str = "") -> FolderView:
    """Return one page of what a folder holds.

    Args:
        workspace: Whose folder.
        path: From its top; empty for the top itself.
        after: As the page before gave it.

    Raises:
        InputError: ``files.name``, ``files.denied``, ``files.missing``, ``files.link``,
            ``files.not-a-folder``, ``files.unreadable``, each with ``path``; ``files.cursor``;
            ``files.no-workspace``.
    """
    parts = _parts(path) if path else ()
    begin = _read_cursor(after) if after else None
    with _open_root(workspace) as root:
        handle = _open_folder(root, parts, path)
        try:
            kept, total, complete = _nearest(handle, begin)
            page = kept[:MAX_ENTRIES]
            entries = tuple(_entry(root, parts, handle, key) for key in page)
        finally:
            os.close(handle)
    more = len(kept) > MAX_ENTRIES
    return FolderView(
        workspace=workspace.name,
        path=path,
        entries=entries,
        total=total,
        complete=complete,
        more=more,
        after=_cursor(page[-1]) if more else "",
    )


def view_file(workspace: Workspace, path: str, *, first_line: int = 1) -> FileView:
    """Return a file: a page of its lines, that it is an image, or how its bytes begin.

    Args:
        workspace: Whose file.
        path: From its top.
        first_line: Where the page begins.

    Raises:
        InputError: ``files.name``, ``files.denied``, ``files.missing``, ``files.link``,
            ``files.not-regular``, ``files.unreadable``, each with ``path``; ``files.line``;
            ``files.no-workspace``.
    """
    if first_line < 1:
        raise InputError("files.line")
    with _open_file(workspace, path) as file:
        size = os.fstat(file.fileno()).st_size
        head = _head(file, _SNIFFED)
        media_type = _media_type(head)
        if media_type and size <= MAX_IMAGE_BYTES:
            return FileView(
                workspace=workspace.name, path=path, kind="image", size=size, media_type=media_type
            )
        if media_type or b"\0" in head or head.startswith(_UTF16):
            return FileView(
                workspace=workspace.name,
                path=path,
                kind="binary",
                size=size,
                media_type=media_type,
                dump=tuple(_dump(head[:DUMPED_BYTES])),
            )
        page = _read_page(_readable(workspace, path, file), first_line)
        return FileView(
            workspace=workspace.name,
            path=path,
            kind="text",
            size=size,
            utf8=page.utf8,
            line_ends=page.line_ends,
            unended=page.unended,
            lines=page.lines,
            next_line=page.next_line,
            line_count=_count_lines(file) if size <= MAX_COUNTED_BYTES else None,
            stopped=page.stopped,
        )


def _readable(workspace: Workspace, path: str, file: BinaryIO) -> BinaryIO:
    """Return a file in UTF-8, where it is a text in another declared encoding."""
    content = _head(file, paths.MAX_FILE_BYTES + 1)
    if len(content) > paths.MAX_FILE_BYTES or content.isascii():
        return file
    with _open_root(workspace) as root:
        text = root.encodings.shown(path, content)
    return file if text == content else BytesIO(text)


def read_image(workspace: Workspace, path: str) -> tuple[str, bytes]:
    """Return the media type of an image, by its bytes, and these.

    Raises:
        InputError: as `view_file`; ``files.not-an-image`` (path), ``files.image-too-large`` (path,
            limit).
    """
    with _open_file(workspace, path) as file:
        content = _head(file, MAX_IMAGE_BYTES + 1)
    media_type = _media_type(content)
    if not media_type:
        raise InputError("files.not-an-image", path=path)
    if len(content) > MAX_IMAGE_BYTES:
        raise InputError("files.image-too-large", path=path, limit=MAX_IMAGE_BYTES)
    return media_type, content


# -- opening ---------------------------------------------------------------------------------------


def _parts(path: str) -> tuple[str, ...]:
    try:
        return paths.check_relative(path)
    except InputError:
        raise InputError("files.name", path=path[: paths.MAX_PATH_BYTES]) from None


@contextmanager
def _open_root(workspace: Workspace) -> Iterator[Root]:
    with ExitStack() as opened:
        try:
            root = opened.enter_context(workspace.opened())
        except InputError:
            raise InputError("files.no-workspace", name=workspace.name) from None
        yield root


@contextmanager
def _open_file(workspace: Workspace, path: str) -> Iterator[BinaryIO]:
    parts = _parts(path)
    with _open_root(workspace) as root:
        if not stat.S_ISREG(_look(root, parts, path).st_mode):
            raise InputError("files.not-regular", path=path)
        try:
            handle = paths.open_file(root, parts)
        except InputError:  # not readable, or another one since we looked
            raise InputError("files.unreadable", path=path) from None
    with os.fdopen(handle, "rb", buffering=_CHUNK) as file:
        yield file


def _open_folder(root: Root, parts: tuple[str, ...], path: str) -> int:
    if parts and not stat.S_ISDIR(_look(root, parts, path).st_mode):
        raise InputError("files.not-a-folder", path=path)
    try:
        return paths.open_folder(root, parts)
    except InputError:
        raise InputError("files.unreadable", path=path) from None


def _look(root: Root, parts: tuple[str, ...], path: str) -> os.stat_result:
    """Return what bears a name, without opening it: opening a device or a pipe can do something."""
    if paths.is_denied(parts, root.deny):
        raise InputError("files.denied", path=path)
    folder = os.dup(root.handle)
    try:
        for part in parts[:-1]:
            _lstat(part, folder, path)
            below = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
        return _lstat(parts[-1], folder, path)
    except (FileNotFoundError, NotADirectoryError):
        raise InputError("files.missing", path=path) from None
    except OSError:
        raise InputError("files.unreadable", path=path) from None
    finally:
        os.close(folder)


def _lstat(part: str, folder: int, path: str) -> os.stat_result:
    found = os.stat(part, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISLNK(found.st_mode):
        raise InputError("files.link", path=path)
    return found


# -- folders ---------------------------------------------------------------------------------------


def _nearest(handle: int, begin: _Key | None) -> tuple[list[_Key], int, bool]:
    """Return the entries of a page and one more, how many were looked at, and if these are all.

    The whole folder is passed by for every page, but no more than one page is held.
    """
    total, complete = 0, True

    def keys() -> Iterator[_Key]:
        nonlocal total, complete
        with os.scandir(handle) as found:
            for entry in found:
                if total == MAX_LOOKED_AT:
                    complete = False
                    return
                total += 1
                key = _key(entry.name, is_folder=entry.is_dir(follow_symlinks=False))
                if begin is None or key > begin:
                    yield key

    return heapq.nsmallest(MAX_ENTRIES + 1, keys()), total, complete


def _key(name: str, *, is_folder: bool) -> _Key:
    return (0 if is_folder else 1, name.casefold(), name)


def _cursor(key: _Key) -> str:
    return f"{key[0]}{os.fsencode(key[2]).hex()}"


def _read_cursor(text: str) -> _Key:
    found = _CURSOR.fullmatch(text)
    if found is None:
        raise InputError("files.cursor")
    return _key(os.fsdecode(bytes.fromhex(found[2])), is_folder=found[1] == "0")


def _entry(root: Root, parts: tuple[str, ...], folder: int, key: _Key) -> FolderEntry:
    name = key[2]
    kind: _Kind = "other" if key[0] else "folder"
    size = None
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        pass  # gone meanwhile
    else:
        kind = _kind(found.st_mode)
        size = found.st_size if kind == "file" else None
    refused: Literal["", "denied", "name"] = ""
    if not paths.is_plain(name) or len("/".join((*parts, name)).encode()) > paths.MAX_PATH_BYTES:
        refused = "name"
    elif paths.is_denied((*parts, name), root.deny):
        refused = "denied"
    return FolderEntry(name=_told(name), kind=kind, size=size, refused=refused)


def _kind(mode: int) -> _Kind:
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISREG(mode):
        return "file"
    return "link" if stat.S_ISLNK(mode) else "other"


def _told(name: str) -> str:
    """Return a name as it is where it can be opened by it, else with nothing hidden in it."""
    return name if paths.is_plain(name) else reveal_all(shown(os.fsencode(name)))


# -- files -----------------------------------------------------------------------------------------


def _head(file: BinaryIO, size: int) -> bytes:
    """Return the first bytes, and stand at the beginning again."""
    head = file.read(size)
    file.seek(0)
    return head


def _media_type(head: bytes) -> str:
    """Return the type of an image that browsers draw and that holds no script; else nothing."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    return ""


def _dump(head: bytes) -> Iterator[HexRow]:
    for offset in range(0, len(head), _DUMP_ROW):
        row = head[offset : offset + _DUMP_ROW]
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)
        yield HexRow(offset=offset, hex=row.hex(" "), text=text)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line as it was read.

    Attributes:
        kept: Its first characters.
        left: How many more there are.
        end: Its line end; empty at the end of the file, or of what is looked at.
    """

    kept: bytes
    left: int
    end: bytes


@dataclass(frozen=True, slots=True)
class _Page:
    lines: tuple[FileLine, ...]
    utf8: bool
    line_ends: Literal["none", "lf", "crlf", "mixed"]
    unended: bool
    next_line: int | None
    stopped: bool


def _read_page(file: BinaryIO, first_line: int) -> _Page:
    lines: list[tuple[str, _Line]] = []
    size, next_line = 0, None
    found = _go_to(file, first_line)
    while found and len(lines) < MAX_LINES and (line := _read_line(file)) is not None:
        text = shown(line.kept)
        size += len(text.encode()) + 1
        if lines and size > MAX_PAGE_BYTES:
            next_line = first_line + len(lines)
            break
        lines.append((text, line))
    stopped = next_line is None and _is_over(file)
    if len(lines) == MAX_LINES and not stopped and _is_more(file):
        next_line = first_line + MAX_LINES
    ends = [line.end for _, line in lines if line.end]
    line_ends = _line_ends(ends)
    carriage = shown(b"\r")
    return _Page(
        lines=tuple(
            FileLine(
                number=number,
                # Of a file that has them at every line, they are no more than its form.
                text=text + carriage if line_ends == "mixed" and line.end == b"\r\n" else text,
                left=line.left,
            )
            for number, (text, line) in enumerate(lines, first_line)
        ),
        utf8=all(_is_utf8(line.kept) for _, line in lines),
        line_ends=line_ends,
        unended=bool(lines) and not lines[-1][1].end and not stopped,
        next_line=next_line,
        stopped=stopped,
    )


def _go_to(file: BinaryIO, number: int) -> bool:
    """Stand at the beginning of a line; False where the file, or what is looked at, ends before."""
    left = number - 1
    while left:
        begin = file.tell()
        chunk = b"" if begin >= MAX_SCANNED_BYTES else file.read(_CHUNK)
        if not chunk:
            return False
        if (count := chunk.count(b"\n")) < left:
            left -= count
            continue
        at = -1
        for _ in range(left):
            at = chunk.index(b"\n", at + 1)
        file.seek(begin + at + 1)
        left = 0
    return True


def _read_line(file: BinaryIO) -> _Line | None:
    """Return the next line; of a long one its beginning, and the rest is counted and let go."""
    piece = b"" if _is_over(file) else file.readline(_CHUNK)
    if not piece:
        return None
    tail = piece[-2:]
    begin = piece[: len(piece) - len(_line_end(tail))]
    text = begin.decode("utf-8", "surrogateescape")
    if len(text) <= MAX_LINE_CHARS and len(piece) < _CHUNK:
        return _Line(begin, 0, _line_end(tail))
    kept = text[:MAX_LINE_CHARS].encode("utf-8", "surrogateescape")
    if piece.endswith(b"\n"):
        return _Line(kept, len(text) - MAX_LINE_CHARS, _line_end(tail))
    count = _characters(piece)
    while not tail.endswith(b"\n") and not _is_over(file) and (piece := file.readline(_CHUNK)):
        count += _characters(piece)
        tail = (tail + piece)[-2:]
    end = _line_end(tail)
    left = count - len(end) - _characters(kept)
    return _Line(kept, max(left, 0), end)


def _line_end(tail: bytes) -> bytes:
    if tail.endswith(b"\r\n"):
        return b"\r\n"
    return b"\n" if tail.endswith(b"\n") else b""


def _line_ends(ends: list[bytes]) -> Literal["none", "lf", "crlf", "mixed"]:
    kinds = set(ends)
    if len(kinds) > 1:
        return "mixed"
    if not kinds:
        return "none"
    return "crlf" if b"\r\n" in kinds else "lf"


def _characters(piece: bytes) -> int:
    return len(piece.translate(None, _CONTINUATION))


def _is_over(file: BinaryIO) -> bool:
    return file.tell() >= MAX_SCANNED_BYTES


def _is_more(file: BinaryIO) -> bool:
    at = file.tell()
    more = bool(file.read(1))
    file.seek(at)
    return more


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _count_lines(file: BinaryIO) -> int | None:
    """Return how many lines there are; None where the file has grown beyond what is counted."""
    file.seek(0)
    count, last, looked = 0, b"\n", 0
    while chunk := file.read(_CHUNK):
        count += chunk.count(b"\n")
        last, looked = chunk[-1:], looked + len(chunk)
        if looked > MAX_COUNTED_BYTES:
            return None
    return count + (last != b"\n")
