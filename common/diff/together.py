"""The files of one diff beside each other: each is one file, on any file system."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from common.diff.headers import Header
from common.diff.names import twin_key
from common.errors import InputError


def check_together(headers: Sequence[Header]) -> None:
    """Return when no two sections can mean one file, and no file is another's folder.

    Raises:
        InputError: ``diff.refused`` with ``why``: ``file-twice``, ``twin`` (alike but for case or
            normalisation), ``file-is-folder`` or ``copy-source`` (there only afterwards).
    """
    claimed = _claimed(headers)
    made = {header.new for header in headers if header.op in ("add", "rename", "copy")}
    gone = {header.old for header in headers if header.op in ("delete", "rename")}
    after = [(header.new, header) for header in headers]
    for header in headers:
        if header.op != "copy" or header.old is None:
            continue
        if header.old in made:
            raise _refusal("copy-source", header)
        if claimed.setdefault(twin_key(header.old), header.old) != header.old:
            raise _refusal("twin", header)
        if header.old not in gone:
            after.append((header.old, header))
    _check_folders((header.old, header) for header in headers)
    _check_folders(after)


def _claimed(headers: Sequence[Header]) -> dict[str, str]:
    claimed: dict[str, str] = {}
    for header in headers:
        # The source of a copy stays, and may be changed or copied again besides.
        names = {header.new} if header.op == "copy" else {header.old, header.new}
        for name in sorted(name for name in names if name is not None):
            key = twin_key(name)
            if key in claimed:
                raise _refusal("file-twice" if claimed[key] == name else "twin", header)
            claimed[key] = name
    return claimed


def _check_folders(names: Iterable[tuple[str | None, Header]]) -> None:
    # With the lowest separator a folder sorts directly before what is in it.
    keys = sorted(
        ((twin_key(name).replace("/", "\0"), header) for name, header in names if name),
        key=lambda found: found[0],
    )
    for (folder, _), (key, header) in pairwise(keys):
        if key.startswith(folder + "\0"):
            raise _refusal("file-is-folder", header)


def _refusal(why: str, header: Header) -> InputError:
    return InputError("diff.refused", why=why, line=header.line + 1)
