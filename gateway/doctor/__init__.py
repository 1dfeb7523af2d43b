"""What can be wrong with an installation of the gateway: the checks, in the order of their causes.

`local` looks at files and the store, `network` at WeCom's API and at the way in from outside;
`words` says what their findings mean.  Nothing here changes anything unless a person allows a fix,
and nothing of a secret is in any finding.  A server runs `at_start` once it listens.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

from common.doctor import Check, Finding
from common.sentences import Sentence
from gateway.base.messages import FIRST_APP
from gateway.doctor.local import Local
from gateway.doctor.network import Network
from gateway.doctor.network_words import NETWORK
from gateway.doctor.subject import Subject
from gateway.doctor.words import LOCAL, TITLES

__all__ = ["DIAGNOSES", "Subject", "all_checks", "at_start"]

DIAGNOSES: Final = {**LOCAL, **NETWORK}
# What hangs on what.
_AFTER: Final = {
    "settings": ("secrets",),
    "callback-keys": ("settings",),  # of each app, as are those of the token and the callback
    "state": ("settings",),
    "disk": ("state",),
    "store": ("state", "disk"),
    "audit-log": ("store",),
    "keys": ("store",),
    "members": ("store",),
    "wecom-api": ("settings",),
    "clock": ("wecom-api",),
    "wecom-token": ("wecom-api",),
    "wecom-app": ("wecom-token",),
    "port": ("settings", "keys"),
    "public-url": ("port",),
    "callback": ("public-url", "callback-keys"),
    "link": ("callback", "keys"),
    "messages": ("callback", "audit-log"),
    "machines": ("members",),
    "ready": ("port", "store", "wecom-app"),
    "outbox": ("store", "wecom-app", "ready"),
    "alarms": ("audit-log",),
}
_OF_APP: Final = {"callback-keys", "wecom-token", "wecom-app", "callback", "messages"}
_AT_START: Final = (
    *("version", "settings", "callback-keys", "state", "disk"),
    *("wecom-api", "clock", "wecom-token", "wecom-app"),
)


def all_checks(subject: Subject) -> list[Check]:
    """Return every check, each after those that it hangs on."""
    local, network, apps = Local(subject), Network(subject), subject.apps
    return [
        _check("version", local.version),
        _check("secrets", local.secrets),
        _check("settings", local.settings),
        *_checks("callback-keys", local.callback_keys, apps),
        _check("state", local.state),
        _check("disk", local.disk),
        _check("store", local.store),
        _check("audit-log", local.audit_log),
        _check("keys", local.keys),
        _check("members", local.members),
        _check("wecom-api", network.wecom_api),
        _check("clock", network.skew),
        *_checks("wecom-token", network.wecom_token, apps),
        *_checks("wecom-app", network.wecom_app, apps),
        _check("port", network.port),
        _check("public-url", network.public_url),
        *_checks("callback", network.callback, apps),
        _check("link", network.link),
        *_checks("messages", local.messages, apps),
        _check("machines", local.machines),
        _check("ready", network.ready),
        _check("outbox", local.outbox),
        _check("alarms", local.alarms),
    ]


def at_start(subject: Subject) -> list[Check]:
    """Return what a server looks at beside its work; what is not here, its start has refused."""
    return [check for check in all_checks(subject) if check.name.partition(".")[0] in _AT_START]


def _check(name: str, look: Callable[[], Awaitable[Finding]]) -> Check:
    return Check(name, TITLES[name], look, _AFTER.get(name, ()))


def _checks(
    name: str, look: Callable[[str], Awaitable[Finding]], apps: Sequence[str]
) -> list[Check]:
    """Return a check of each app: ``wecom-token`` of the first, ``wecom-token.shop`` of others."""
    title = TITLES[name]
    return [
        Check(
            name if app == FIRST_APP else f"{name}.{app}",
            title if len(apps) == 1 else Sentence(en=f"{title.en} {app}", zh=f"{title.zh} {app}"),
            partial(look, app),
            tuple(
                f"{one}.{app}" if one in _OF_APP and app != FIRST_APP else one
                for one in _AFTER.get(name, ())
            ),
        )
        for app in apps
    ]
