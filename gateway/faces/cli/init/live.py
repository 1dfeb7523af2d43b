"""The second half of `gateway init`: what needs the running gateway, up to Ctrl-C.

A gateway that answers on the port already is used as it is; else one is started here, as a child
that ends with this command.
"""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from common.children import Child, Children
from common.doctor import Finding, Tone
from common.errors import ConfigError, UnavailableError
from common.home import private_dir
from common.protocol.pairing import pairing_line
from common.sentences import say
from gateway.base.messages import FIRST_APP, URL_CHECKED, SendOutcome
from gateway.doctor.local import UNREAD
from gateway.doctor.network import refused
from gateway.doctor.subject import named
from gateway.faces.cli import now, now_ms
from gateway.faces.cli.devices import await_machine, make_code
from gateway.faces.cli.init import texts
from gateway.faces.cli.service import check_seen
from gateway.flow.alarms import read_noted
from gateway.store import audit, outbox_admin

if TYPE_CHECKING:
    from gateway.faces.cli.init.flow import Setup

LOG: Final = "gateway"
LIVE_SECONDS: Final = 30.0
LOOK_SECONDS: Final = 0.1
POLL_SECONDS: Final = 0.5
SEND_SECONDS: Final = 10.0  # between two tries to send
GREETED: Final = "member.greeted"
TOKEN: Final = ("wecom", "token")
AES_KEY: Final = ("wecom", "encoding_aes_key")
_LATER: Final = {"machines.away", "alarms.recent"}  # one that was just paired is still set up


def go_live(setup: Setup) -> int:
    """Run the gateway, have the console save its address, greet the member, pair; then stay."""
    with running(setup) as gateway:
        setup.look("public-url", "callback", "link", "ready", "outbox")
        save_in_console(setup, gateway)
        greet(setup, gateway)
        pair(setup, gateway)
        return stay(setup, gateway)


class Running:
    """The gateway that answers; ``child`` if it was started here."""

    def __init__(self, child: Child | None) -> None:
        self.child = child

    def check(self) -> None:
        """See that what was started here still runs.

        Raises:
            UnavailableError: ``init.gateway-ended`` (why, path).
        """
        if self.child is not None and not self.child.running:
            raise UnavailableError("init.gateway-ended", why=self.child.last(), path=self.child.log)


@contextmanager
def running(setup: Setup) -> Iterator[Running]:
    """Start a gateway unless one answers; one that was started ends with the block."""
    if setup.draft.subject.running:
        setup.screen.tell(texts.RUNS_ALREADY)
        yield Running(None)
        return
    children = Children(setup.environ, private_dir(setup.console.state))
    try:
        gateway = Running(children.start(LOG, ["gateway", *_files(setup)]))
        _until_live(setup, gateway)
        setup.screen.tell(texts.STARTED, url=setup.public, log=_log(setup))
        yield gateway
    finally:
        children.stop()


def _files(setup: Setup) -> list[str]:
    named = (("--config", setup.args.config), ("--secrets-dir", setup.args.secrets_dir))
    return [word for flag, path in named if path for word in (flag, str(path.absolute()))]


def _log(setup: Setup) -> Path:
    return setup.console.state / f"{LOG}.log"


def _until_live(setup: Setup, gateway: Running) -> None:
    until = now().mono + LIVE_SECONDS
    while not setup.answers():
        gateway.check()
        if now().mono > until:
            raise UnavailableError("init.not-live", path=_log(setup))
        time.sleep(LOOK_SECONDS)


def save_in_console(setup: Setup, gateway: Running) -> None:
    """Say what to save in WeCom's console, and wait until WeCom has checked it."""
    screen, draft = setup.screen, setup.draft
    screen.title(texts.STEP_CONSOLE)
    if _was_checked(setup):
        screen.tell(texts.CONSOLE_DONE)
        return
    screen.tell(texts.SAVE_THIS)
    url = f"{setup.public}{draft.load().wecom.callback_path}"
    shown = [("URL", url)]
    # Until they are saved there, whoever saves them has to read them.
    shown += [("Token", draft.value(TOKEN)), ("EncodingAESKey", draft.value(AES_KEY))]
    screen.print("\n".join(f"    {label:<16}{value}" for label, value in shown))
    screen.tell(texts.WAIT_CONSOLE)
    begun_ms, told = now_ms(), 0
    while not _was_checked(setup):
        gateway.check()
        for event, at_ms in sorted(_noted(setup).items(), key=lambda one: one[1]):
            if event in UNREAD and at_ms >= max(begun_ms, told + 1):
                told = at_ms  # a check came, and these keys do not open it
                facts = {"at": setup.console.moment(at_ms, "%H:%M"), **named(FIRST_APP)}
                setup.show("messages", Finding(event, Tone.BAD, facts))
        if screen.entered(POLL_SECONDS):
            screen.tell(texts.CONSOLE_LATER)
            return
    screen.tell(texts.CONSOLE_DONE)


def _was_checked(setup: Setup) -> bool:
    """Tell whether WeCom has checked the address, or sent something, since these keys are there."""
    files = [setup.draft.secret_file(name) for name in (TOKEN, AES_KEY)]
    since = max((int(file.stat().st_mtime * 1000) for file in files if file.exists()), default=0)
    with setup.console.open_store() as store:
        heard = {one.app: one.heard_at or 0 for one in store.read(outbox_admin.standings)}
        checked = store.read(audit.newest_events, app=FIRST_APP)
    if heard.get(FIRST_APP, 0) > since:
        return True
    found = (*_noted(setup).items(), *checked)
    return any(event == URL_CHECKED and at_ms >= since for event, at_ms in found)


def _noted(setup: Setup) -> dict[str, int]:
    return read_noted(setup.console.state, FIRST_APP)


def greet(setup: Setup, gateway: Running) -> None:
    """Send the first member a message, which shows that sending works."""
    screen, console = setup.screen, setup.console
    screen.title(texts.STEP_MESSAGE)
    with console.open_store() as store:
        if any(event == GREETED for event, _ in store.read(audit.newest_events)):
            screen.tell(texts.GREETED, user=setup.user)
            return
    text = say(texts.ALL_READY, setup.draft.load().language)
    told = ""
    while (outcome := asyncio.run(_send(setup, text))).kind != "sent":
        if outcome.kind == "permanent":
            errcode = "—" if outcome.errcode is None else outcome.errcode
            facts = {"user": setup.user, "code": errcode, "errmsg": outcome.errmsg}
            screen.tell(texts.NOT_DELIVERED, **facts)
            return
        if outcome.code != told:
            setup.show("wecom-app", refused(FIRST_APP, setup.draft.load().wecom, outcome))
            screen.tell(texts.WAIT_MESSAGE, seconds=round(SEND_SECONDS))
        told = outcome.code
        gateway.check()
        if screen.entered(SEND_SECONDS):
            screen.tell(texts.GREET_LATER)
            return
    with console.open_store() as store:
        store.write(lambda conn: audit.append(conn, GREETED, now_ms(), user=setup.user))
    screen.tell(texts.GREETED, user=setup.user)


async def _send(setup: Setup, text: str) -> SendOutcome:
    from common.clock import SystemClock
    from gateway.wecom.client import WeComClient
    from gateway.wecom.egress import open_session

    settings = setup.draft.load()
    wecom = settings.wecom
    async with await open_session(settings, setup.environ) as session:
        client = WeComClient(
            api_base=wecom.api_base,
            corp_id=wecom.corp_id,
            agent_id=wecom.agent_id,
            corp_secret=wecom.corp_secret.get_secret_value(),
            clock=SystemClock(),
            session=session,
        )
        return await client.send_text(setup.user, text, repeated=True)


def pair(setup: Setup, gateway: Running) -> None:
    """Show the line that joins a machine, and wait for it; none where one is joined already."""
    screen = setup.screen
    screen.title(texts.STEP_MACHINE)
    for agent in setup.bound():
        if agent.machine == setup.machine:
            screen.tell(texts.ONLINE if agent.online else texts.AWAY, machine=agent.machine)
            return
    while True:
        code, until = make_code(setup.console, setup.machine, setup.user)
        line = pairing_line(setup.public, code)
        at = f"{setup.console.moment(until, '%H:%M')} ({setup.draft.load().time_zone})"
        screen.tell(texts.PAIR_THIS, machine=setup.machine, until=at)
        screen.print(f"\n    {line}\n")
        screen.qr(line)
        screen.tell(texts.WAIT_MACHINE)
        try:
            await_machine(code, setup.console, between=partial(_look_up, setup, gateway))
            return
        except _SkippedError:
            screen.tell(texts.MACHINE_LATER, until=at)
            return
        except UnavailableError as error:
            if error.code != "pairing.over":
                raise
            screen.complain(error)


class _SkippedError(Exception):
    """The person does not wait for the machine."""


def _look_up(setup: Setup, gateway: Running) -> None:
    gateway.check()
    if setup.screen.entered(0):
        raise _SkippedError


def _tell_service(setup: Setup) -> None:
    draft = setup.draft
    try:
        check_seen(draft.file, draft.secrets, setup.console.state)
    except ConfigError:
        setup.screen.tell(texts.MOVE_FIRST)
        return
    places = ("--config", str(draft.file), "--secrets-dir", str(draft.secrets))
    command = shlex.join(("sudo", "codexbridge", "gateway", *places, "service", "install"))
    setup.screen.tell(texts.AS_A_SERVICE, command=command)


def stay(setup: Setup, gateway: Running) -> int:
    """Say what runs, and stay until Ctrl-C if it was started here; returns the exit code."""
    screen, found = setup.screen, setup.examine()
    ill = (Tone.BAD, Tone.WARN)
    left = [one for one in found if one.finding.tone in ill and one.finding.code not in _LATER]
    screen.title(texts.STEP_LEFT if left else texts.STEP_DONE, count=len(left))
    screen.show(left)
    screen.tell(texts.IN_PLACE, url=setup.public, file=setup.draft.file, state=setup.console.state)
    if gateway.child is None:
        return 0
    try:
        _tell_service(setup)
        screen.tell(texts.STAYS, log=_log(setup))
        while True:
            gateway.check()
            time.sleep(POLL_SECONDS)
    except KeyboardInterrupt:
        screen.print()
        screen.tell(texts.STOPPING)
    return 0
