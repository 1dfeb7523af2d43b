"""``codexbridge gateway status``: whether messages come in and go out, app by app, and why not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from common.sentences import Lang
from gateway.faces.cli import Command, Console, Subparsers, add_json, described
from gateway.faces.cli import sentences as texts

if TYPE_CHECKING:
    import argparse

    from common.doctor import Finding
    from gateway.base.settings import App
    from gateway.store.outbox_admin import Standing

_LOOKS: Final = {"port", "disk", "ready", "messages"}
_STORE: Final = {"disk", "ready"}
MARKS: Final = {True: "✓", False: "✗"}


def add_parsers(actions: Subparsers, lang: Lang) -> None:
    """Declare the arguments."""
    add_json(described(actions, "status", texts.STATUS, lang), lang)


def run(args: argparse.Namespace, console: Console) -> int:
    """Show how the gateway stands; returns 1 where it does not run or an app cannot do its work.

    Raises:
        ConfigError: ``config.missing``: nothing is set up.
    """
    from common.doctor import Tone
    from common.errors import ConfigError
    from gateway.store import agents, outbox_admin

    apps = console.settings.wecom.every()
    if not any(app.corp_id for app in apps.values()):
        raise ConfigError("config.missing", why="nothing")
    with console.open_store() as store:
        found = {one.app: one for one in store.read(outbox_admin.standings)}
        machines = [one for one in store.read(agents.everyone) if one.revoked_at is None]
    runs, unread, ill = _look(console)
    online = sum(machine.online for machine in machines) if runs else 0
    stand = {name: _record(app, found.get(name), unread.get(name)) for name, app in apps.items()}
    well = runs and ill is None and all(one["held"] is None for one in stand.values())
    well = well and all(finding.tone is not Tone.BAD for finding in unread.values())
    if args.json:
        known = {"online": online, "known": len(machines)}
        why = ill.code if ill else None
        console.print_json({"running": runs, "store": why, "apps": stand, "machines": known})
        return 0 if well else 1
    console.tell(texts.STATUS_RUNS if runs else texts.STATUS_STOPPED, mark=MARKS[runs])
    if ill is not None:
        console.tell(texts.STATUS_STORE, **_words(console, ill))
    for name, app in apps.items():
        _tell(console, name, app, stand[name], unread.get(name))
    console.tell(texts.STATUS_MACHINES, online=online, known=len(machines))
    return 0 if well else 1


COMMANDS: Final[Mapping[str, Command]] = {"status": run}


def _look(console: Console) -> tuple[bool, dict[str, Finding], Finding | None]:
    """Return whether it runs, what of an app cannot be read, and why nothing can be kept.

    It is as the doctor sees it.
    """
    import asyncio

    from common.doctor import Tone, examine
    from gateway.base.messages import FIRST_APP
    from gateway.doctor import Subject, all_checks

    subject = Subject(console.environ, served=console.settings, loaded=console.settings)
    wanted = [one for one in all_checks(subject) if one.name.partition(".")[0] in _LOOKS]
    found = asyncio.run(examine(wanted))
    unread = {
        one.check.name.partition(".")[2] or FIRST_APP: one.finding
        for one in found
        if one.finding.code.startswith("callback.")
    }
    ill = (
        one.finding for one in found if one.check.name in _STORE and one.finding.tone is Tone.BAD
    )
    return subject.running, unread, next(ill, None)


def _record(app: App, standing: Standing | None, unread: Finding | None) -> dict[str, Any]:
    from dataclasses import asdict

    hold = standing.hold if standing else None
    return {
        "corp_id": app.corp_id,
        "agent_id": app.agent_id,
        "held": asdict(hold) if hold else None,
        "unread": unread.code if unread else None,
        "waiting": standing.waiting if standing else 0,
        "failed": standing.failed if standing else 0,
        "heard_at": standing.heard_at if standing else None,
        "sent_at": standing.sent_at if standing else None,
    }


def _tell(
    console: Console, name: str, app: App, one: Mapping[str, Any], unread: Finding | None
) -> None:
    from common.doctor import Tone

    heard_at, sent_at = one["heard_at"], one["sent_at"]
    heard = texts.HEARD if heard_at else texts.NEVER_HEARD
    sent = texts.LAST_SENT if sent_at else texts.NEVER_SENT
    facts = {
        "app": name,
        "corp": app.corp_id,
        "agent": app.agent_id,
        "heard": console.say(heard, at=console.moment(heard_at or 0)),
        "sent": console.say(sent, at=console.moment(sent_at or 0)),
        "waiting": one["waiting"],
        "failed": one["failed"],
    }
    held = one["held"]
    is_unsure = unread is not None and unread.tone is Tone.WARN
    mark = "!" if is_unsure and held is None else MARKS[held is unread is None]
    console.tell(texts.STATUS_APP, mark=mark, **facts)
    if unread is not None:
        sentence = texts.STATUS_UNSURE if is_unsure else texts.STATUS_UNREAD
        console.tell(sentence, **_words(console, unread))
    if held is not None:
        from gateway.base.messages import SendOutcome
        from gateway.doctor.network import refused

        since = console.moment(held["since_at"], "%H:%M")
        outcome = SendOutcome("retry", held["errcode"], held["errmsg"], 0.0, held["code"])
        words = _words(console, refused(name, app, outcome))
        console.tell(texts.STATUS_HELD, since=since, **words)


def _words(console: Console, finding: Finding) -> dict[str, str]:
    """Return what is wrong, why it matters and what mends it, in the doctor's own words."""
    from common.doctor import Doctor
    from gateway.doctor import DIAGNOSES
    from gateway.faces.cli.error_texts import ERRORS

    return Doctor(DIAGNOSES, ERRORS, console.lang).words(finding)
