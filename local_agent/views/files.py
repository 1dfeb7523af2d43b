"""Files and folders of a workspace, as a person looks at them on the local page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderEntry:
    """One name in a folder.

    Attributes:
        name: With every hidden character shown; what is not ``refused`` is opened by it.
        kind: What bears the name; a link is shown as one, whatever it leads to.
        size: In bytes; None for all but files.
        refused: Why it cannot be opened: ``denied`` by the workspace's rules or as a secret,
            ``name`` has characters that no name here may have; empty where it can be.
    """

    name: str
    kind: Literal["folder", "file", "link", "other"]
    size: int | None
    refused: Literal["", "denied", "name"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderView:
    """One page of a folder: folders first, then the rest, each by name without regard to case.

    Attributes:
        path: From the top of the workspace; empty for the top itself.
        total: Entries that were looked at.
        complete: Whether these were all; a folder of very many is not looked through to its end.
        more: Whether there is another page.
        after: Where that begins; empty without one.
    """

    workspace: str
    path: str
    entries: tuple[FolderEntry, ...]
    total: int
    complete: bool
    more: bool
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLine:
    """One line, without its end and with nothing hidden in it.

    Attributes:
        left: Characters beyond those that are shown.
    """

    number: int
    text: str
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HexRow:
    """Sixteen bytes.

    Attributes:
        text: The same bytes as ASCII, with a dot for what is not printable.
    """

    offset: int
    hex: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileView:
    """A file, or one page of a text.

    Attributes:
        path: From the top of the workspace.
        kind: By its content, never by its name.
        size: In bytes.
        media_type: Of an image; ``binary`` has one where the image is too large to be shown.
        utf8: Whether the lines shown are UTF-8; other bytes stand as ``⟨0xE9⟩`` in them.
        line_ends: Of the lines shown; of ``mixed`` ones, each carriage return is shown.
        unended: Whether the last line shown ends the file without a line feed.
        lines: Of a text.
        next_line: Where the next page begins; None at the end.
        line_count: Of the whole file; None where it is too large to count.
        stopped: A bound was reached before the page was full: what follows is not shown.
        dump: The beginning of what is binary.
    """

    workspace: str
    path: str
    kind: Literal["text", "image", "binary"]
    size: int
    media_type: str = ""
    utf8: bool = True
    line_ends: Literal["none", "lf", "crlf", "mixed"] = "none"
    unended: bool = False
    lines: tuple[FileLine, ...] = ()
    next_line: int | None = None
    line_count: int | None = None
    stopped: bool = False
    dump: tuple[HexRow, ...] = ()
