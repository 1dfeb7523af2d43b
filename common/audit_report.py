"""What a person or a program is told of a checked audit log; the same in both halves.

Reads and writes the files of `common.audit_check`, each line bounded before it is looked at.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from common.audit import Entry, SignedHead, base_of, broken, continued, verify_head
from common.audit_check import (
    MAX_LINE_BYTES,
    Checked,
    entry_line,
    kept_line,
    last_line,
)
from common.errors import AuthError, InputError
from common.heads import KeptHead, verify_kept
from common.sentences import AUDIT, AUDIT_FAULTS, Lang, say
from common.signing import VerifyKey, parse_public_key
from common.text import one_line

MAX_KEY_FILE: Final = 4096


def told(check: Callable[[], Checked], lang: Lang, *, as_json: bool) -> tuple[int, str]:
    """Check a log, and return the exit code and what to print: 0 when it holds, 1 when not.

    Args:
        check: Raises AuthError ``audit.broken`` where the log does not hold.
        lang: Language of the words.
        as_json: For programs.

    Raises:
        CodexBridgeError: it could not be checked.
    """
    try:
        checked = check()
    except AuthError as error:
        if error.code != "audit.broken":
            raise
        return 1, _broken(error.facts, lang, as_json=as_json)
    if as_json:
        return 0, _document({"ok": True, "broken": None, **_record(checked)})
    return 0, "\n".join(_lines(checked, lang))


def export_lines(
    entries: Iterable[tuple[object, ...]],
    kept: Iterable[KeptHead],
    signed: SignedHead | None,
    *,
    since: int | None = None,
) -> Iterator[bytes]:
    """Yield the lines of an export; rows come as the store has them, of whatever type.

    Args:
        entries: From ``since`` on.
        kept: Heads of other halves.
        signed: The signed end.
        since: Number of the first entry that is wanted; by default the first there is.

    Raises:
        AuthError: ``audit.broken``: what does not hold is not exported as if it did.
        InputError: ``audit.since``: there is no such entry yet.
    """
    head = None
    for row in entries:
        head = continued(base_of(row) if head is None else head, row)
        yield entry_line(cast("Entry", row))
    if head is None and since is not None and since > 1:
        raise InputError("audit.since", since=since)
    end = head.seq if head else 0
    try:
        for one in kept:
            verify_kept(one)
            yield kept_line(one)
    except AuthError:
        raise broken(end, "kept") from None
    try:
        if signed is not None:
            verify_head(signed)
    except AuthError:
        raise broken(end, "head") from None
    yield last_line(signed)


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of an exported file, none longer than one byte over the bound."""
    with path.open("rb") as file:
        while line := file.readline(MAX_LINE_BYTES + 1):
            yield line


@contextmanager
def output(path: Path | None) -> Iterator[BinaryIO]:
    """Open a new file for the user alone, or standard output; what fails midway leaves none.

    Raises:
        FileExistsError: nothing is ever written over.
    """
    if path is None:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def export(lines: Iterable[bytes], path: Path | None, lang: Lang) -> str:
    """Write an export to a new file, or to standard output.

    Returns:
        What to tell the person of the file; nothing where the export itself was printed.

    Raises:
        AuthError: ``audit.not-exported`` (seq): the log does not hold.
        InputError: ``audit.since``.
        FileExistsError: nothing is ever written over.
    """
    count = 0
    try:
        with output(path) as file:
            for count, line in enumerate(lines, 1):  # noqa: B007  the count is told
                file.write(line)
    except AuthError as error:
        if error.code != "audit.broken":
            raise
        raise AuthError("audit.not-exported", **error.facts) from None
    return say(AUDIT["written"], lang, path=one_line(str(path)), count=count) if path else ""


def given_key(text: str) -> VerifyKey:
    """Return the public key that a person names: base64, hex, or a file that holds either.

    Raises:
        InputError: ``input.public-key``.
    """
    with suppress(AuthError):
        return parse_public_key(text)
    with suppress(AuthError, OSError, ValueError), Path(text).open("rb") as file:
        return parse_public_key(file.read(MAX_KEY_FILE).decode("ascii"))
    raise InputError("input.public-key", given=text[:80])


def key_text(public_key: bytes) -> str:
    """Return a public key as it is told and taken everywhere: base64."""
    return base64.b64encode(public_key).decode("ascii")


def _broken(facts: dict[str, object], lang: Lang, *, as_json: bool) -> str:
    if as_json:
        return _document({"ok": False, "broken": {"seq": facts["seq"], "what": facts["what"]}})
    why = say(AUDIT_FAULTS[str(facts["what"])], lang)
    return say(AUDIT["broken"], lang, seq=facts["seq"], why=why)


def _lines(checked: Checked, lang: Lang) -> Iterator[str]:
    head = checked.head
    if head.seq == 0:
        yield say(AUDIT["empty"], lang)
        return
    yield say(
        AUDIT["whole"] if checked.first == 1 else AUDIT["part"],
        lang,
        count=head.seq - checked.first + 1,
        first=checked.first,
        last=head.seq,
        hash=head.hash.hex()[:16],
    )
    if checked.signed:
        key = VerifyKey(checked.signed.public_key).key_id
        yield say(AUDIT["signed"], lang, seq=checked.signed.seq, key=key)
        if newer := head.seq - checked.signed.seq:
            yield say(AUDIT["newer"], lang, count=newer)
    else:
        yield say(AUDIT["unsigned"], lang)
    if checked.renewed:
        yield say(AUDIT["renewed"], lang, seq=checked.renewed)
    newest = {name: peer for peer, name in checked.machines.items()}
    for kept in checked.kept:
        said = AUDIT["kept" if kept.own_seq else "nothing-of-ours"]
        peer = _peer(kept, checked, newest, lang)
        yield say(said, lang, peer=peer, seq=kept.seq, own_seq=kept.own_seq)
    if not checked.kept:
        yield say(AUDIT["alone"], lang)


def _peer(kept: KeptHead, checked: Checked, newest: Mapping[str, str], lang: Lang) -> str:
    """Return how people name another half; ``newest`` has the peer that a name means today."""
    if kept.peer in checked.gateways:
        # One is the gateway; a machine that was paired anew has known several.
        which = "gateway" if len(checked.gateways) == 1 else "gateway-of-key"
        return say(AUDIT[which], lang, key=VerifyKey(kept.public_key).key_id)
    machine = checked.machines.get(kept.peer)
    if machine is None:
        return say(AUDIT["machine-unnamed"], lang)
    which = "machine" if newest[machine] == kept.peer else "machine-before"
    return say(AUDIT[which], lang, machine=one_line(machine, 80))


def _record(checked: Checked) -> dict[str, Any]:
    signed = checked.signed
    return {
        "first": checked.first,
        "entries": checked.head.seq - checked.first + 1,
        "head": {"seq": checked.head.seq, "hash": checked.head.hash.hex()},
        "renewed": checked.renewed,
        "signed": signed
        and {"seq": signed.seq, "at": signed.at, "key": key_text(signed.public_key)},
        "kept": [
            {
                "peer": kept.peer,
                "machine": checked.machines.get(kept.peer),
                "seq": kept.seq,
                "own_seq": kept.own_seq,
                "at": kept.at,
                "key": key_text(kept.public_key),
            }
            for kept in checked.kept
        ],
    }


def _document(value: object) -> str:
    return json.dumps(value, indent=2, sort_keys=True)
