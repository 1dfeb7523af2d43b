"""An admin's commands beside the server: one module for each subject, and here what they share.

Shared are where the store is, how a moment is told and how things are printed.  Only arguments and
print-outs are in this package; what the commands change and read are store functions, which work on
the same file whether or not a server runs on it.  Errors leave as they are: the launcher tells them
in one line and chooses the exit code.

Nothing heavy is imported before a command runs: ``--help`` needs none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from common.arguments import with_config
from common.sentences import Lang, Sentence, say
from gateway.faces.cli import sentences as texts

if TYPE_CHECKING:
    import argparse
    from contextlib import AbstractContextManager

    from common.clock import Instant
    from gateway.base.identity import Seal
    from gateway.base.messages import Person
    from gateway.base.settings import GatewaySettings
    from gateway.store.runner import AdminStore

# argparse has no public name for it
Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001
Command: TypeAlias = "Callable[[argparse.Namespace, Console], int]"  # returns the exit code


@dataclass(frozen=True, slots=True)
class Console:
    """The terminal of an admin, and the gateway that it belongs to."""

    lang: Lang
    environ: Mapping[str, str]
    settings: GatewaySettings
    config: Path | None = None  # the settings file that the command line named

    @property
    def state(self) -> Path:
        """The folder of this gateway's state."""
        from gateway.base.settings import state_dir

        return state_dir(self.settings, self.environ)

    def open_store(self) -> AbstractContextManager[AdminStore]:
        """Open the store beside whatever else uses it."""
        from gateway.base.settings import STORE_FILE
        from gateway.store.runner import open_admin

        return open_admin(self.state / STORE_FILE)

    def person(self, named: str) -> Person:
        """Return whom ``zhangwei`` or ``shop:zhangwei`` means, in full-width signs, too.

        Raises:
            InputError: ``member.unknown-app`` (app, apps).
        """
        import unicodedata

        from common.errors import InputError
        from gateway.base.messages import FIRST_APP, Person

        app, colon, user = unicodedata.normalize("NFKC", named[:256]).partition(":")
        if not colon:
            return Person(FIRST_APP, app)
        known = self.settings.wecom.every()
        if app not in known:
            raise InputError("member.unknown-app", app=app[:32], apps=tuple(known))
        return Person(app, user)

    def people(self, store: AdminStore, named: Iterable[str]) -> list[Person]:
        """Return everybody who is meant; ``@backend``, ``shop:@backend`` mean a group's members.

        Raises:
            InputError: ``member.unknown-app`` (app, apps), ``member.no-group`` (group).
        """
        from common.errors import InputError
        from gateway.store import members

        found: list[Person] = []
        for name in named:
            person = self.person(name)
            if not person.user.startswith("@"):
                found.append(person)
            elif group := store.read(members.of_group, person.app, person.user[1:]):
                found += group
            else:
                raise InputError("member.no-group", group=name[:64])
        return list(dict.fromkeys(found))

    def seal(self) -> Seal:
        """Return what signs envelopes as the server does: with the keys beside the store."""
        from gateway.base.identity import open_identity, sealer

        return sealer(open_identity(self.state).signing)

    def say(self, sentence: Sentence, **facts: object) -> str:
        """Return a sentence in the language of this terminal."""
        return with_config(say(sentence, self.lang, **facts), self.config)

    def tell(self, sentence: Sentence, **facts: object) -> int:
        """Print a sentence; returns exit code 0."""
        print(self.say(sentence, **facts), flush=True)
        return 0

    def tell_counts(
        self, sentence: Sentence, *counts: tuple[Sentence, int], **facts: object
    ) -> int:
        """Print a sentence and what was counted, where that is anything; returns exit code 0."""
        rest = (self.say(counted, count=count) for counted, count in counts if count)
        told = ("" if self.lang == "zh" else " ").join((self.say(sentence, **facts), *rest))
        print(told)
        return 0

    def print_json(self, value: object) -> int:
        """Print a document for programs; returns exit code 0."""
        import json

        print(json.dumps(value, ensure_ascii=False, indent=2))
        return 0

    def print_table(self, rows: Iterable[Sequence[str]]) -> int:
        """Print aligned columns, each row on one line of the terminal; returns exit code 0."""
        from shutil import get_terminal_size

        from common.terminal import clip_cells, table
        from common.text import one_line

        width = get_terminal_size().columns
        for line in table([[one_line(value) for value in row] for row in rows]):
            print(clip_cells(line, width))
        return 0

    def moment(self, at_ms: int, form: str = "") -> str:
        """Return a moment in the time zone of the gateway; with its offset, unless of a form."""
        from datetime import datetime

        from gateway.base.settings import zone_of

        then = datetime.fromtimestamp(at_ms / 1000, zone_of(self.settings.time_zone))
        return then.strftime(form or f"%Y-%m-%d %H:%M {then.isoformat()[-6:]}")


def described(to: Subparsers, name: str, what: Sentence, lang: Lang) -> argparse.ArgumentParser:
    """Add a command with its description and the options that all of them take."""
    parser = to.add_parser(name, help=say(what, lang), description=say(what, lang))
    add_files(parser, lang)
    return parser


def add_files(parser: argparse.ArgumentParser, lang: Lang, *, inner: bool = True) -> None:
    """Add the options that name the settings."""
    import argparse

    # The same options before and after the command: the later parser must not erase what the
    # earlier one found, so only the outermost has a default.
    default = argparse.SUPPRESS if inner else None
    for name, metavar, text in (
        ("--config", "FILE", texts.CONFIG),
        ("--secrets-dir", "DIR", texts.SECRETS),
    ):
        help_text = say(text, lang)
        parser.add_argument(name, type=Path, metavar=metavar, default=default, help=help_text)


def add_json(parser: argparse.ArgumentParser, lang: Lang) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help=say(texts.JSON, lang))


def now_ms() -> int:
    """Return the moment in milliseconds since the epoch."""
    return now().wall_ms


def now() -> Instant:
    """Return the moment."""
    from common.clock import SystemClock

    return SystemClock().now()
