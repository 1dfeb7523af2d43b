"""``codexbridge audit``: check the audit log of this machine, or give it out.

Works on the journal's file alone, whether or not the agent runs, and on an exported file with
nothing but a public key.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from common.home import Home, find_home
from common.sentences import Lang, say
from local_agent.cli import proof_words, words

if TYPE_CHECKING:
    import argparse

    from common.audit_check import Checked


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    audit = subparsers.add_parser("audit", description=say(proof_words.AUDIT, lang))
    actions = audit.add_subparsers(dest="action", required=True, metavar="COMMAND")
    what = say(proof_words.AUDIT_VERIFY, lang)
    verify = actions.add_parser("verify", help=what, description=what)
    verify.add_argument("--file", type=Path, metavar="FILE", help=say(proof_words.AUDIT_FILE, lang))
    verify.add_argument("--key", metavar="PUB", help=say(proof_words.AUDIT_KEY, lang))
    verify.add_argument("--json", action="store_true", help=say(words.JSON, lang))
    what = say(proof_words.AUDIT_EXPORT, lang)
    export = actions.add_parser("export", help=what, description=what)
    export.add_argument("--output", type=Path, metavar="FILE", help=say(proof_words.NEW_FILE, lang))
    export.add_argument("--since", type=int, metavar="SEQ", help=say(proof_words.AUDIT_SINCE, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Check or export the log.

    Raises:
        InputError: ``audit.file-needed``, ``audit.no-key``, ``audit.since``, ``input.public-key``.
        ConfigError: ``audit.none`` and the like.
        StoreError: ``audit.unreadable``.
        AuthError: ``audit.not-exported``.
    """
    home = find_home(environ)
    if args.action == "export":
        return _export(home, args.output, args.since, lang)
    from common.audit_report import told

    code, text = told(_check(home, args), lang, as_json=args.json)
    print(text)
    return code


def _check(home: Home, args: argparse.Namespace) -> partial[Checked]:
    from common.audit_check import check_export
    from common.audit_report import given_key, read_lines
    from common.errors import InputError
    from local_agent.cli.own_keys import OwnKeys

    if args.key and not args.file:
        raise InputError("audit.file-needed")
    if not args.file:
        return partial(_check_journal, home)
    keys = {given_key(args.key).raw} if args.key else OwnKeys(home)
    if isinstance(keys, OwnKeys) and not keys.exist():
        raise InputError("audit.no-key")
    return partial(check_export, read_lines(args.file), keys=keys)


def _check_journal(home: Home) -> Checked:
    from local_agent.cli.own_keys import OwnKeys
    from local_agent.store.audit_log import read_audit
    from local_agent.store.lock import JOURNAL

    with read_audit(home.state / JOURNAL) as log:
        return log.check(keys=OwnKeys(home), to_the_end=True)


def _export(home: Home, output_file: Path | None, since: int | None, lang: Lang) -> int:
    from common.audit_report import export, export_lines
    from local_agent.store.audit_log import read_audit
    from local_agent.store.lock import JOURNAL

    with read_audit(home.state / JOURNAL) as log:
        signed = next(iter(log.signed()), None)
        lines = export_lines(log.entries(since), log.kept(), signed, since=since)
        wrote = export(lines, output_file, lang)
    if wrote:
        print(wrote)
    return 0
