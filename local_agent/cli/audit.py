"""``codexbridge audit``: check the audit log of this machine, or give it out.

Works on the journal's file alone, whether or not the agent runs, and on an exported file with
nothing but a public key.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from common.home import Home, find_home
from common.sentences import Lang, Sentence, say
from local_agent.cli import words

if TYPE_CHECKING:
    import argparse

    from common.audit_check import Checked

AUDIT: Final = Sentence(
    en="The audit log of this machine: what happened, chained and signed.",
    zh="本机的审计日志：链式记录并签名。",
)
AUDIT_VERIFY: Final = Sentence(
    en="Check every byte of the audit log: the chain, its signed end, and the head that the "
    "gateway signed. Names the first broken entry; exit code 1. The agent may be running or not.",
    zh="检查审计日志的每个字节：链、已签名的末端，以及网关签名的链头。"
    "指出第一条损坏的记录；退出码 1。Agent 是否运行都可以。",
)
AUDIT_FILE: Final = Sentence(en="check this exported file instead", zh="改为检查此导出文件")
AUDIT_KEY: Final = Sentence(
    en="public key of the exported log's owner: base64, hex, or a file that holds it; without it "
    "this machine's own",
    zh="导出日志所有者的公钥：base64、十六进制，或存放它的文件；省略时为本机公钥",
)
AUDIT_EXPORT: Final = Sentence(
    en="Print the audit log as JSON lines, with its signatures: the file verifies anywhere.",
    zh="以 JSON 行输出审计日志及其签名；该文件可在任何地方验证。",
)
AUDIT_SINCE: Final = Sentence(
    en="begin with this entry; it can then be checked only from there on",
    zh="从此条记录开始；此后也只能从该处检查",
)


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    audit = subparsers.add_parser("audit", description=say(AUDIT, lang))
    audit.set_defaults(run=run)
    actions = audit.add_subparsers(dest="action", required=True, metavar="COMMAND")
    what = say(AUDIT_VERIFY, lang)
    verify = actions.add_parser("verify", help=what, description=what)
    verify.add_argument("--file", type=Path, metavar="FILE", help=say(AUDIT_FILE, lang))
    verify.add_argument("--key", metavar="PUB", help=say(AUDIT_KEY, lang))
    words.add_json(verify, lang)
    what = say(AUDIT_EXPORT, lang)
    export = actions.add_parser("export", help=what, description=what)
    export.add_argument("--output", type=Path, metavar="FILE", help=say(words.NEW_FILE, lang))
    export.add_argument("--since", type=int, metavar="SEQ", help=say(AUDIT_SINCE, lang))


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
    from local_agent.faces.page.audit import check_journal
    from local_agent.link.keys import OwnKeys

    if args.key and not args.file:
        raise InputError("audit.file-needed")
    if not args.file:
        return partial(check_journal, home)
    keys = {given_key(args.key).raw} if args.key else OwnKeys(home)
    if isinstance(keys, OwnKeys) and not keys.exist():
        raise InputError("audit.no-key")
    return partial(check_export, read_lines(args.file), keys=keys)


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
