"""``codexbridge status``: how the agent is doing, on one screen.

The quickest command there is: nothing is imported here that the answer does not need.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from common.clock import SystemClock
from common.errors import UnavailableError
from common.home import find_home
from common.sentences import Lang, explain, say
from common.text import one_line
from local_agent.cli import status_words, words
from local_agent.cli.screen import Screen, print_json, screen_for
from local_agent.cli.tasks import asker
from local_agent.faces.control.client import call

if TYPE_CHECKING:
    import argparse

    from local_agent.views.codec import Json
    from local_agent.views.status import (
        AuditStanding,
        Connection,
        OpenWorkspace,
        PolicyStanding,
        StatusView,
        WindowsStanding,
    )
    from local_agent.views.task import WaitingTask

from local_agent.cli import disclosure_words

EXIT_NOT_RUNNING = 3  # as `systemctl status` of a unit that is not active


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("status", description=say(words.STATUS, lang))
    parser.add_argument("--json", action="store_true", help=say(words.JSON, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Print the status.

    Returns:
        0 when the agent runs, whatever its troubles; 3 when it does not.

    Raises:
        UnavailableError: ``agent.not-listening``, ``agent.no-answer``: it runs and cannot be asked.
    """
    try:
        found = call(find_home(environ), environ, "status")
    except UnavailableError as error:
        if error.code != "agent.not-running":
            if args.json:
                print_json({"running": True, "listening": False})
            raise
        if args.json:
            print_json({"running": False})
        from local_agent.error_texts import ERRORS

        print(f"codexbridge: {explain(error, ERRORS, lang)}", file=sys.stderr)
        return EXIT_NOT_RUNNING
    if args.json:
        print_json(_for_programs(found))
    else:
        from local_agent.views.codec import from_json
        from local_agent.views.status import StatusView

        # Of whichever version the agent is: after an upgrade the older one still runs.
        _print(from_json(StatusView, found, loose=True), screen_for(lang, environ))
    return 0


def _for_programs(found: Json) -> dict[str, Any]:
    gateway = found["gateway"]
    return {
        "running": True,
        "listening": True,
        **found,
        "connected": gateway["state"] == "connected",
        "clock_skew_seconds": gateway.get("skew_s") or None,
    }


def _print(found: StatusView, screen: Screen) -> None:
    rows = [
        (words.MACHINE, [screen.ink("bold", one_line(found.machine))]),
        (words.GATEWAY, gateway_lines(found.gateway, screen)),
        (status_words.KEY, [_key(found.key_storage, screen)]),
        (status_words.AUDIT_LABEL, _audit(found.audit, screen)),
        (status_words.WORKSPACES, _workspaces(found, screen)),
        (status_words.MODEL, [_model(found.model, screen)]),
        (status_words.SANDBOX, [_sandbox(found.sandbox, screen)]),
        (status_words.ASKS, [_asks(found.windows, screen)]),
        (
            status_words.TASKS_LABEL,
            [screen.say(status_words.OPEN_TASKS, count=found.open_tasks)],
        ),
        (status_words.APPROVALS, _approvals(found.approvals, screen)),
    ]
    screen.fields([row for row in rows if row[1] != [""]])


def gateway_lines(gateway: Connection, screen: Screen) -> list[str]:
    """Return how the connection to the gateway stands, and why when it does not."""
    url = one_line(gateway.url or "")
    match gateway.state:
        case "unpaired":
            return [screen.ink("dim", screen.say(status_words.UNPAIRED))]
        case "connected":
            return [screen.ink("green", screen.say(status_words.CONNECTED, url=url))]
        case "connecting":
            return [screen.say(status_words.CONNECTING, url=url)]
    line = screen.say(
        status_words.NOT_CONNECTED,
        url=url,
        since=clock_time(gateway.since_ms),
        seconds=gateway.retry_s,
    )
    return [screen.ink("red", line), _why(gateway, screen)]


def _why(gateway: Connection, screen: Screen) -> str:
    if gateway.skew_s:
        return screen.say(status_words.CLOCK_DIFFERS, seconds=abs(gateway.skew_s))
    return screen.say(status_words.LINK_WHY.get(gateway.why, status_words.LINK_WHY["protocol"]))


def clock_time(at_ms: int) -> str:
    """Return local date and time of a moment."""
    import datetime as dt

    moment = dt.datetime.fromtimestamp(at_ms / 1000, tz=dt.UTC).astimezone()
    return moment.strftime("%m-%d %H:%M")


def _key(where: str | None, screen: Screen) -> str:
    if not where:
        return ""
    if where == "file":
        return screen.ink("red", screen.say(words.IN_FILE))
    return screen.say(words.IN_KEYRING)


def _audit(audit: AuditStanding, screen: Screen) -> list[str]:
    count, own_seq = audit.entries, audit.gateway_keeps
    if own_seq:
        lines = [screen.say(status_words.AUDIT_STANDS, count=count, own_seq=own_seq)]
    else:
        lines = [screen.say(status_words.AUDIT_ALONE, count=count)]
    if audit.forked_at is not None:
        since = clock_time(audit.forked_at)
        lines.append(screen.ink("red", screen.say(status_words.AUDIT_FORKED, since=since)))
    return lines


def _workspaces(found: StatusView, screen: Screen) -> list[str]:
    stray = strays_told(found.stray_policies, screen)
    if not found.workspaces:
        return [screen.say(words.NO_WORKSPACES), *stray]
    return [*(_workspace(item, screen) for item in found.workspaces), *stray]


def _workspace(item: OpenWorkspace, screen: Screen) -> str:
    told = [
        one_line(item.name),
        one_line(item.path, 400),
        disclosure_told(item.disclosure, screen) if item.disclosure else "",
        policy_told(item.policy, screen),
    ]
    return "  ".join(part for part in told if part)


def _model(name: str | None, screen: Screen) -> str:
    return screen.say(status_words.NO_MODEL) if name is None else one_line(name, 100)


def _sandbox(level: str, screen: Screen) -> str:
    if level == "none":
        return screen.ink("red", screen.say(words.NOT_SANDBOXED))
    return screen.say(words.SANDBOXED, level=level)


def _asks(windows: WindowsStanding, screen: Screen) -> str:
    if windows.state != "off":
        known = {"on": status_words.ASKS_BOTH, "looking": status_words.ASKS_LOOKING}
        return screen.say(known[windows.state])
    why = screen.say(status_words.NO_WINDOWS[windows.why])
    return screen.say(status_words.ASKS_TERMINAL, why=why)


def _approvals(found: Sequence[WaitingTask], screen: Screen) -> list[str]:
    from local_agent.cards.words import time_left

    if not found:
        return [screen.say(status_words.NO_APPROVALS)]
    now_ms = SystemClock().now().wall_ms
    return [
        "  ".join(
            (
                screen.ink("bold", item.short_id),
                time_left(item.expires_at, now_ms, screen.lang),
                asker(screen, item),
                one_line(item.text, 60),
            )
        )
        for item in found
    ]


def policy_told(policy: PolicyStanding, screen: Screen) -> str:
    """Return how the policy of a workspace stands; empty where it has none."""
    if policy.state == "broken":
        where = [one_line(part, 400) for part in (policy.file, policy.key) if part]
        told = screen.say(status_words.POLICY_BROKEN, where=", ".join(where))
        return screen.ink("red", told)
    return screen.say(status_words.POLICY_IN_FORCE) if policy.state == "in-force" else ""


def disclosure_told(level: str, screen: Screen) -> str:
    """Return what the chat may be told of a workspace, in a few words."""
    known = disclosure_words.LEVELS.get(level)
    shown = screen.say(known) if known else one_line(level, 32)
    told = screen.say(status_words.DISCLOSED, level=shown)
    return screen.ink("red", told) if level == "full" else told


def strays_told(files: Sequence[str], screen: Screen) -> list[str]:
    """Return that these policy files belong to no workspace, so that nothing reads them."""
    return [screen.say(status_words.POLICY_STRAY, file=one_line(file, 400)) for file in files]
