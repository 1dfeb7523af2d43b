"""Builds the gateway, in the order of its parts, and runs it until it is told to stop.

Nothing is decided here: each part is made once, handed what it needs, and started.  What a gateway
cannot do without is checked before anything listens (P8).
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import aiohttp
from aiohttp import web

from common.clock import Clock, SystemClock
from common.doctor import Doctor, examine
from common.errors import ConfigError
from common.home import private_dir, write_private
from common.logs import Log, Secrets, adopt_libraries, open_log
from common.sentences import Lang
from gateway.app.renewal import Renewal
from gateway.app.serving import (
    allow_connections,
    bind,
    listening,
    running,
    spare_collector,
    stop_signal,
    until_stopped,
)
from gateway.base.identity import KeyRing, open_identity, sealer
from gateway.base.settings import (
    STORE_FILE,
    GatewaySettings,
    admins_of,
    check_servable,
    note_served,
    public_url,
    secrets_of,
    state_dir,
    zone_of,
)
from gateway.channels import ADMINS, Channels, open_channels
from gateway.doctor import DIAGNOSES, Subject, at_start
from gateway.faces.cli.error_texts import ERRORS
from gateway.faces.http import guarded_app, health_routes
from gateway.flow import withdrawal
from gateway.flow.access import IntakePolicy, Limits
from gateway.flow.alarms import NOTED_FILE, Admins, Alarms, DiskWatch
from gateway.flow.countersigning import Countersigner
from gateway.flow.intake import Intake
from gateway.flow.outbox import Outbox
from gateway.flow.results import Results
from gateway.flow.upkeep import Upkeep
from gateway.link.endpoint import LINK_PATH, AgentEndpoint, PreauthPool
from gateway.link.hub import Hub
from gateway.link.mailbox import Mailbox
from gateway.link.pairing import PAIR_PATH, PairingEndpoint
from gateway.store import Store, members
from gateway.store import outbox as messages
from gateway.store.runner import SqliteRunner, open_store
from gateway.wecom.egress import open_session

RECALLED_MS: Final = 3600 * 1000  # the longest that any channel counts


@dataclass(frozen=True, slots=True)
class Gateway:
    """The parts that live as long as the server."""

    app: web.Application
    channels: Channels
    hub: Hub
    outbox: Outbox
    upkeep: Upkeep
    alarms: Alarms
    disk: DiskWatch


def run_gateway(subject: Subject, *, port_file: Path | None = None) -> int:
    """Serve until SIGTERM or SIGINT, and return the exit code.

    Args:
        subject: The installation, with the settings to serve.
        port_file: Where to write the port once everything is ready.

    Raises:
        ConfigError: something must be put right first; nothing was listening yet.
        UnavailableError: ``gateway.part-failed`` (part).
    """
    settings, environ = _served(subject), subject.environ
    check_servable(settings)
    os.umask(0o077)
    allow_connections()
    secrets = Secrets(secrets_of(settings))
    log = open_log(
        "gateway",
        level=logging.getLevelNamesMapping()[settings.log_level.upper()],
        json=settings.log_format == "json",
        secrets=secrets,
    )
    adopt_libraries(log)
    state = private_dir(state_dir(settings, environ))
    with bind(settings.listen.host, settings.listen.port) as listener:
        store = open_store(state / STORE_FILE)
        ring = open_identity(state)
        note_served(settings, state)
        spare_collector()
        serving = _serve(
            subject, store, listener, ring=ring, log=log, secrets=secrets, port_file=port_file
        )
        asyncio.run(serving)
    return 0


def build(
    settings: GatewaySettings,
    store: SqliteRunner,
    *,
    ring: KeyRing,
    port: int,
    session: aiohttp.ClientSession,
    clock: Clock,
    log: Log,
    noted: Path,
) -> Gateway:
    """Make every part and join them; nothing runs yet.

    Raises:
        ConfigError: a part cannot be made from these settings.
    """
    zone, seal, rule = zone_of(settings.time_zone), sealer(ring.signing), _policy(settings)
    channels = open_channels(settings, session=session, clock=clock, log=log)
    outbox = Outbox(store, channels.deliver, clock=clock, log=log)
    admins = _admins(settings, wake=outbox.wake)
    alarms = Alarms(store, admins=admins, clock=clock, log=log, noted=noted)
    disk = DiskWatch(store, channels.deliver, admins=admins, clock=clock, log=log)
    countersigner = Countersigner(seal=seal, key=ring.newest, is_ours=ring.holds, log=log)
    results = Results(
        store,
        seal=seal,
        clock=clock,
        zone=zone,
        lang=settings.language,
        wake_outbox=outbox.wake,
        countersigner=countersigner,
        log=log,
    )
    mailbox = Mailbox(
        store,
        seal=seal,
        clock=clock,
        receive=results.received,
        recheck=withdrawal.recheck,
        reload_keys=ring.reload,
    )
    hub = Hub(mailbox, clock=clock, log=log, note=alarms)
    intake = Intake(store, rule, alarms, seal=seal, clock=clock, wake_agent=hub.wake, sender=outbox)
    upkeep = Upkeep(
        store,
        seal=seal,
        ring=ring,
        countersigner=countersigner,
        clock=clock,
        zone=zone,
        prefix=settings.prefix,
        wake_agent=hub.wake,
        wake_outbox=outbox.wake,
        log=log,
    )
    app = _guarded(settings, store, outbox, clock=clock, log=log)
    app.add_routes(channels.routes(intake, alarms))
    url = public_url(settings, port=port)
    app.add_routes(_for_machines(url, store, ring, hub=hub, mailbox=mailbox, clock=clock, log=log))
    return Gateway(app, channels, hub, outbox, upkeep, alarms, disk)


def _for_machines(
    url: str, store: Store, ring: KeyRing, *, hub: Hub, mailbox: Mailbox, clock: Clock, log: Log
) -> list[web.RouteDef]:
    agents = AgentEndpoint(
        ring.offered, url, hub=hub, preauth=PreauthPool(), deliveries=mailbox, clock=clock, log=log
    )
    pairing = PairingEndpoint(
        ring.newest, url, store=store, clock=clock, note=hub.admission.note, log=log
    )
    return [*agents.routes(), *pairing.routes()]


def _admins(settings: GatewaySettings, *, wake: Callable[[], None]) -> Admins:
    return Admins(
        channel=ADMINS,
        named=admins_of(settings),
        apps=settings.wecom.every().keys(),
        lang=settings.language,
        zone=zone_of(settings.time_zone),
        wake=wake,
    )


def _policy(settings: GatewaySettings) -> IntakePolicy:
    return IntakePolicy(
        prefix=settings.prefix,
        lang=settings.language,
        zone=zone_of(settings.time_zone),
        ttl_s=settings.task_ttl_hours * 3600,
        limits=Limits(tasks_per_day=settings.limits.tasks_per_day),
        daily={
            name: app.tasks_per_day
            for name, app in settings.wecom.apps.items()
            if app.tasks_per_day is not None
        },
        of_groups=settings.limits.groups,
        admins=frozenset(admins_of(settings)),
    )


def _guarded(
    settings: GatewaySettings, store: SqliteRunner, outbox: Outbox, *, clock: Clock, log: Log
) -> web.Application:
    apps = settings.wecom.every()

    async def ready() -> Mapping[str, bool]:
        # A writing transaction that writes nothing: it needs the writer and the lock, not the disk.
        await store.write(lambda _conn: None)
        return {"store": True, "disk": not store.is_full}

    def sending() -> Mapping[str, str | None]:
        return {app: hold.code if (hold := outbox.held.get(app)) else None for app in apps}

    proxies = settings.trusted_proxies
    signed = {*(app.callback_path for app in apps.values()), LINK_PATH, PAIR_PATH}
    app = guarded_app(log=log, clock=clock, trusted_proxies=proxies, signed=signed)
    app.add_routes(health_routes(ready, sending))
    return app


async def _serve(
    subject: Subject,
    store: SqliteRunner,
    listener: socket.socket,
    *,
    ring: KeyRing,
    log: Log,
    secrets: Secrets,
    port_file: Path | None,
) -> None:
    stop = stop_signal()
    settings, clock = _served(subject), SystemClock()
    port: int = listener.getsockname()[1]
    # Left in the opposite order: first nobody is let in any more, at last the store is closed.
    async with AsyncExitStack() as until_the_end:
        until_the_end.push_async_callback(store.close)
        if not await store.read(members.count):
            raise ConfigError("config.no-members")
        session = await until_the_end.enter_async_context(
            await open_session(settings, subject.environ, current=partial(_served, subject))
        )
        gateway = build(
            settings,
            store,
            ring=ring,
            port=port,
            session=session,
            clock=clock,
            log=log,
            noted=state_dir(settings, subject.environ) / NOTED_FILE,
        )
        await gateway.upkeep.begin()
        now_ms = clock.now().wall_ms
        for to, at_ms in await store.read(messages.tried, since_ms=now_ms - RECALLED_MS):
            gateway.channels.recall(to, max(now_ms - at_ms, 0) / 1000)
        until_the_end.push_async_callback(gateway.upkeep.end)
        until_the_end.push_async_callback(gateway.alarms.end)
        parts = {
            "alarms": gateway.alarms.run(),
            "disk": gateway.disk.run(),
            "store": store.until_broken(),
            "outbox": gateway.outbox.run(),
            "relay": gateway.hub.run(),
            "upkeep": gateway.upkeep.run(),
            "secrets": _renewal(subject, gateway, secrets=secrets, log=log).run(),
        }
        tasks = await until_the_end.enter_async_context(running(parts))
        await until_the_end.enter_async_context(
            listening(gateway.app, listener, goodbye=gateway.hub.close)
        )
        if port_file is not None:
            await asyncio.to_thread(write_private, port_file, f"{port}\n".encode())
        url = public_url(settings, port=port)
        log.info("listening", url=url, host=settings.listen.host, port=port)
        looking = running(
            {"doctor": _look_around(subject, gateway.outbox.newly_held, settings.language, log)}
        )
        await until_the_end.enter_async_context(looking)
        await until_stopped(stop, tasks, log=log)
        log.info("stopping")


def _served(subject: Subject) -> GatewaySettings:
    assert subject.served is not None  # noqa: S101  # narrows: it is this server's own
    return subject.served


def _renewal(subject: Subject, gateway: Gateway, *, secrets: Secrets, log: Log) -> Renewal:
    async def take(settings: GatewaySettings) -> None:
        secrets.learn(secrets_of(settings))
        await gateway.channels.renew(settings)
        subject.served = settings  # also the way out reads it there
        await asyncio.to_thread(note_served, settings, subject.state)
        await gateway.outbox.try_again()

    return Renewal(
        _served(subject),
        read=subject.read,
        folder=lambda: subject.secrets_folder,
        take=take,
        log=log,
    )


async def _look_around(subject: Subject, again: asyncio.Event, lang: Lang, log: Log) -> None:
    """Log what the doctor finds: a wrong secret need not wait for the first reply to be seen.

    It looks again whenever an app is held: what came of one try says less than a look does.
    """
    doctor = Doctor(DIAGNOSES, ERRORS, lang)
    while True:
        again.clear()
        try:
            doctor.log(await examine(at_start(subject)), log)
        except Exception:  # nobody waits for it
            log.exception("doctor.failed")
        await again.wait()
