"""``codexbridge gateway service``: the gateway as a service of the machine, as a named user."""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from common.errors import ConfigError, InputError
from common.sentences import Lang, say
from gateway.faces.cli import Subparsers, described
from gateway.faces.cli import sentences as texts

if TYPE_CHECKING:
    import argparse

    from gateway.base.settings import GatewaySettings

NAME: Final = "service"
USER: Final = "codexbridge"
HIDDEN: Final = ("/home", "/root", "/run/user")  # by ProtectHome=
ROOT: Final = Path("/")
_STATES: Final = Path("/var/lib")
_HEALTH_S: Final = 1.0


def add_parsers(actions: Subparsers, lang: Lang) -> None:
    """Declare the arguments."""
    from common.service import add_actions

    install = add_actions(described(actions, NAME, texts.SERVICE, lang), lang)["install"]
    help_text = say(texts.SERVICE_USER, lang)
    install.add_argument("--user", metavar="NAME", default=USER, help=help_text)


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Do what was asked for; only installing needs settings, and root needs no secrets.

    Raises:
        InputError: ``service.needs-root``, ``service.config-needed``, ``service.no-user`` and
            ``service.root-user`` (user).
        ConfigError: ``service.in-home`` (path), ``service.no-state`` (path, user), and as
            `load_settings`.
        CodexBridgeError: as `common.service.run`.
    """
    from common import service
    from common.units import Service
    from gateway.base.settings import GatewaySettings, load_settings

    changes = args.care == "remove" or (args.care == "install" and not args.dry_run)
    if changes and os.geteuid() != 0:
        raise InputError("service.needs-root")
    settings = GatewaySettings()
    command: tuple[str, ...] = ()
    marks: dict[str, list[str]] = {}
    if args.care == "install":
        named = args.config or environ.get("CODEXBRIDGE_CONFIG")
        if not named:
            raise InputError("service.config-needed")
        config = Path(named).absolute()
        settings = load_settings(file=config, environ=environ, secrets_dir=None)
        state = _state(settings, environ, args.user)
        secrets = args.secrets_dir.absolute() if args.secrets_dir else None
        check_seen(config, secrets, state)
        marks = {"STATE": _state_lines(state, args.user), "CREDENTIALS": _credentials(secrets)}
        command = service.own_command("gateway", "--config", str(config))
        if sys.platform == "darwin" and secrets:  # launchd hands out no credentials
            command = (*command, "--secrets-dir", str(secrets))
    asked = Service(
        name=service.GATEWAY,
        system=True,
        verb="codexbridge gateway service",
        template=Path(__file__).with_name("gateway.service").read_text(encoding="utf-8"),
        marks=marks,
        command=command,
        environment=service.carried(environ, lang),
        user=getattr(args, "user", USER),
        home=ROOT,
        is_ready=lambda: _answers(settings),
        lang=lang,
        environ=environ,
        tell=print,
        ask=input if sys.stdin is not None and sys.stdin.isatty() else None,
    )
    return service.run(asked, args)


def _state(settings: GatewaySettings, environ: Mapping[str, str], user: str) -> Path:
    """Return the state folder as the service's user finds it, and so whoever acts as that user."""
    from gateway.base.settings import state_dir

    try:
        account = pwd.getpwnam(user)
    except KeyError:
        raise InputError("service.no-user", user=user) from None
    if account.pw_uid == 0:
        raise InputError("service.root-user", user=user)
    if settings.state_dir or environ.get("CODEXBRIDGE_HOME"):
        return state_dir(settings, environ)
    darwin = sys.platform == "darwin"
    usual = "Library/Application Support" if darwin else ".local/state"
    return Path(account.pw_dir) / usual / "codexbridge" / "gateway"


def check_seen(config: Path, secrets: Path | None, state: Path) -> None:
    """Refuse what lies in a home folder, which the unit hides.

    Raises:
        ConfigError: ``service.in-home`` (why, path).
    """
    seen = [("program", Path(place)) for place in (sys.prefix, sys.base_prefix, __file__)]
    seen += [("file", config), ("file", secrets or config), ("state", state)]
    for why, path in seen:
        if any(path.resolve().is_relative_to(home) for home in HIDDEN):
            raise ConfigError("service.in-home", why=why, path=path)


def _state_lines(state: Path, user: str) -> list[str]:
    from common.units import word

    if state.is_relative_to(_STATES) and state != _STATES:
        # Made, and given to the user, by systemd.
        return [f"StateDirectory={word(state.relative_to(_STATES))}", "StateDirectoryMode=0700"]
    if not state.is_dir():
        raise ConfigError("service.no-state", path=state, user=user)
    return [f"ReadWritePaths={word(state)}"]


def _credentials(secrets: Path | None) -> list[str]:
    from common.units import plain

    names = sorted(one.name for one in secrets.iterdir() if one.is_file()) if secrets else []
    return [
        f"LoadCredential={plain(name)}:{plain(secrets)}/{plain(name)}"
        for name in names
        if not name.startswith(".")
    ]


def _answers(settings: GatewaySettings) -> bool:
    import http.client

    from gateway.base.addresses import LIVE_PATH

    listen = settings.listen
    if listen.port == 0:  # any free one: it cannot be told which
        return True
    asking = http.client.HTTPConnection(listen.host, listen.port, timeout=_HEALTH_S)
    try:
        asking.request("GET", LIVE_PATH)
        return asking.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        asking.close()
