"""``codexbridge gateway doctor``: what is wrong with this gateway, and what mends it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from common.sentences import Lang, say
from gateway.faces.cli import Subparsers, described
from gateway.faces.cli import sentences as texts

if TYPE_CHECKING:
    import argparse

    from common.doctor import Doctor, Examined, Tone
    from gateway.doctor import Subject

NAME: Final = "doctor"
WATCH_S: Final = 5.0


def add_parsers(actions: Subparsers, lang: Lang) -> None:
    """Declare the arguments."""
    how = described(actions, NAME, texts.DOCTOR, lang).add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help=say(texts.JSON, lang))
    how.add_argument("--fix", action="store_true", help=say(texts.DOCTOR_FIX, lang))
    how.add_argument("--watch", action="store_true", help=say(texts.DOCTOR_WATCH, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Look at everything; settings that cannot be read are a finding like any other."""
    import asyncio

    from common.doctor import Doctor, is_well
    from gateway.doctor import DIAGNOSES, Subject
    from gateway.faces.cli.error_texts import ERRORS

    subject = Subject(environ, args.config, args.secrets_dir)
    doctor = Doctor(DIAGNOSES, ERRORS, lang)
    found = asyncio.run(_look(args, subject, doctor, lang))
    if args.json:
        import json

        print(_clean(json.dumps(doctor.to_json(found), ensure_ascii=False, indent=2), subject))
    return 0 if is_well(found) else 1


async def _look(
    args: argparse.Namespace, subject: Subject, doctor: Doctor, lang: Lang
) -> list[Examined]:
    import asyncio

    from common.doctor import examine, is_well, mend
    from gateway.doctor import all_checks

    checks = all_checks(subject)
    found = await examine(checks)
    if args.json:
        return found
    _print(args, subject, doctor, found)
    if args.fix:
        before, found = found, await mend(found, may=_may, lang=lang)
        if found != before:
            _print(args, subject, doctor, found)
    while args.watch and not is_well(found):
        before = found
        await asyncio.sleep(WATCH_S)
        found = await examine(checks)
        known = {one.check.name: _gist(one) for one in before}
        _print(args, subject, doctor, [one for one in found if known[one.check.name] != _gist(one)])
    return found


def _gist(one: Examined) -> tuple[str, Tone]:
    return one.finding.code, one.finding.tone


def _print(
    args: argparse.Namespace, subject: Subject, doctor: Doctor, found: list[Examined]
) -> None:
    from shutil import get_terminal_size

    from common.arguments import with_config
    from common.terminal import Ink

    if not found:
        return
    ink = Ink(on=sys.stdout.isatty() and not subject.environ.get("NO_COLOR"))
    lines = doctor.lines(found, ink=ink, width=get_terminal_size().columns)
    print(_clean(with_config("\n".join(lines), args.config), subject), flush=True)


def _clean(text: str, subject: Subject) -> str:
    """Return the text without this gateway's secrets, which no finding should hold anyway."""
    from common.redact import redact_known
    from gateway.base.settings import secrets_of

    return redact_known(text, secrets_of(subject.loaded)) if subject.loaded else text


def _may(question: str) -> bool:
    """Ask at the terminal; whoever says nothing says no."""
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes", "是")
    except EOFError:
        print()
        return False
