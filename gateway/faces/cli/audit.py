"""``codexbridge gateway audit``: check the gateway's audit log, or give it out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from common.sentences import Lang, say
from gateway.faces.cli import Command, Console, Subparsers, add_json, described, now_ms
from gateway.faces.cli import sentences as texts

if TYPE_CHECKING:
    import argparse

    from common.audit_check import Checked
    from common.audit_reader import AuditReader


def add_parsers(actions: Subparsers, lang: Lang) -> None:
    """Declare the arguments."""
    audit = described(actions, "audit", texts.AUDIT, lang)
    does = audit.add_subparsers(dest="does", required=True, metavar="COMMAND")
    verify = described(does, "verify", texts.AUDIT_VERIFY, lang)
    verify.add_argument("--file", type=Path, metavar="FILE", help=say(texts.AUDIT_FILE, lang))
    verify.add_argument("--key", metavar="PUB", help=say(texts.AUDIT_KEY, lang))
    add_json(verify, lang)
    export = described(does, "export", texts.AUDIT_EXPORT, lang)
    export.add_argument("--output", type=Path, metavar="FILE", help=say(texts.NEW_FILE, lang))
    export.add_argument("--since", type=int, metavar="SEQ", help=say(texts.AUDIT_SINCE, lang))
    described(does, "key", texts.AUDIT_SHOW_KEY, lang)


def run(args: argparse.Namespace, console: Console) -> int:
    """Check or export the log, or print the key that signs it.

    Raises:
        InputError: ``audit.file-needed``, ``audit.no-key``, ``audit.since``, ``input.public-key``.
        ConfigError: ``audit.none`` and the like.
        StoreError: ``audit.unreadable``.
        AuthError: ``audit.not-exported``.
    """
    match args.does:
        case "export":
            return _export(console, args.output, args.since)
        case "key":
            return _key(console)
    from common.audit_report import told

    code, text = told(_check(console, args), console.lang, as_json=args.json)
    print(text)
    return code


COMMANDS: Final[Mapping[str, Command]] = {"audit": run}


def _check(console: Console, args: argparse.Namespace) -> partial[Checked]:
    from common.audit_check import check_export
    from common.audit_report import given_key, read_lines
    from common.errors import InputError

    if args.key and not args.file:
        raise InputError("audit.file-needed")
    if not args.file:
        return partial(_check_store, console)
    keys = {given_key(args.key).raw} if args.key else _own_keys(console)
    if not keys:
        raise InputError("audit.no-key")
    return partial(check_export, read_lines(args.file), keys=keys)


def _check_store(console: Console) -> Checked:
    from gateway.base.settings import STORE_FILE
    from gateway.store.runner import read_audit

    with read_audit(console.state / STORE_FILE) as log:
        return _checked(log, console)


def _checked(log: AuditReader, console: Console) -> Checked:
    return log.check(keys=_own_keys(console), to_the_end=False)


def _export(console: Console, output_file: Path | None, since: int | None) -> int:
    from common.audit_report import export
    from gateway.base.settings import STORE_FILE
    from gateway.store.runner import read_audit

    with read_audit(console.state / STORE_FILE) as log:
        wrote = export(_export_lines(log, console, since), output_file, console.lang)
    if wrote:
        print(wrote)
    return 0


def _export_lines(log: AuditReader, console: Console, since: int | None) -> Iterator[bytes]:
    from common.audit import sign_head
    from common.audit_report import export_lines
    from gateway.base.identity import open_identity

    # Signed to its last entry, or anybody could write on; and only what holds is signed.
    checked = _checked(log, console)
    signed = checked.signed
    if signed is None or signed.seq < checked.head.seq:
        signed = sign_head(open_identity(console.state).current, checked.head, now_ms())
    yield from export_lines(log.entries(since), log.kept(), signed, since=since)


def _key(console: Console) -> int:
    from common.audit_report import key_text
    from gateway.base.identity import open_identity

    print(key_text(open_identity(console.state).current.public.raw))
    return 0


def _own_keys(console: Console) -> frozenset[bytes]:
    from gateway.base.identity import KEYS, KeyRing

    ring = KeyRing(console.state / KEYS)  # a check makes no key where there is none
    return frozenset(key.public.raw for key in ring.offered()) if ring.reload() else frozenset()
