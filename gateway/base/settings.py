"""The gateway's settings: what an admin decides, checked once, frozen.

Secrets never stand in the TOML file (`common.settings` refuses them there): they come from the
environment, from ``--secrets-dir``, from systemd's credentials or from the folder beside that file,
where ``gateway init`` puts them.  Everything has a default here,
so that the admin's commands work before the chat is configured; `check_servable` names what the
server itself cannot do without.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import re
import secrets
from collections.abc import Mapping
from datetime import timedelta, timezone, tzinfo
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias, TypeVar
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, Field, SecretStr

from common.errors import ConfigError, InputError
from common.home import find_home, write_private
from common.protocol.codec import origin_of
from common.sentences import Lang
from common.settings import Section, Settings, UnfitError, load, variable_name
from gateway.base.messages import FIRST_APP, GROUP, USER_ID, Person

SETTINGS_FILE: Final = "gateway.toml"
SERVED_FILE: Final = "served.json"
STORE_FILE: Final = "gateway.db"
SECRETS_OF_SYSTEMD: Final = "CREDENTIALS_DIRECTORY"
SECRETS_FOLDER: Final = "gateway-secrets"  # beside the settings file
_BROADEST: Final = {4: 8, 6: 16}  # prefixes; of private ones of IPv6 all, such as fc00::/7
_PATH: Final = re.compile(r"(?:/[A-Za-z0-9._~-]{1,64}){1,8}")
_OFFSET: Final = re.compile(r"([+-])([01]\d):([0-5]\d)")
_APP: Final = r"^[a-z][a-z0-9]{0,31}$"  # also a part of file names and of variables
_OURS: Final = ("/agent", "/health")

SectionT = TypeVar("SectionT", bound=BaseModel)
PerDay: TypeAlias = Annotated[int, Field(ge=0, le=100_000)]
Users: TypeAlias = tuple[Annotated[str, Field(pattern=f"^{USER_ID}$")], ...]


def is_loopback(host: str) -> bool:
    """Tell whether ``host`` is a literal loopback address; a name never is (R15)."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def base_of(url: str) -> str:
    """Return the one spelling of ``scheme://host[:port]``, or '' for ''.

    Raises:
        UnfitError: anything beyond an origin, or plain http beyond this machine (R15).
    """
    if not url:
        return ""
    bare = url.strip().rstrip("/")
    try:
        origin = origin_of(bare)
    except InputError:
        raise UnfitError("origin") from None
    parts = urlsplit(bare)
    if parts.scheme not in ("http", "https") or parts.path or parts.query or parts.fragment:
        raise UnfitError("origin")
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        raise UnfitError("https")
    return origin


def zone_of(name: str) -> tzinfo:
    """Return the time zone for ``+08:00`` or for a name such as ``Europe/Berlin``.

    Raises:
        UnfitError: no such zone on this machine.
    """
    if match := _OFFSET.fullmatch(name):
        offset = timedelta(hours=int(match[2]), minutes=int(match[3]))
        return timezone(-offset if match[1] == "-" else offset)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UnfitError("zone") from None


def _time_zone(name: str) -> str:
    zone_of(name)
    return name


def _callback_path(path: str) -> str:
    if not _PATH.fullmatch(path) or path.startswith(_OURS):
        raise UnfitError("callback-path")
    return path


def _another(app: str) -> str:
    if app == FIRST_APP:  # its members would be those of another corp
        raise UnfitError("first-app")
    return app


def _network(text: str) -> str:
    try:
        network = ipaddress.ip_network(text, strict=False)
        if network.version == 6 and (mapped := network.network_address.ipv4_mapped):
            # A client of IPv4 is looked up as such, however its socket shows it.
            text = f"{mapped}/{max(network.prefixlen - 96, 0)}"
            network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise UnfitError("network") from None
    is_own = network.version == 6 and network.is_private
    if network.prefixlen < _BROADEST[network.version] and not is_own:
        # What a client writes into X-Forwarded-For would be taken for its address.
        raise UnfitError("network-broad")
    return str(network)


def _proxy(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname if parts.port != 0 else None
    except ValueError:  # the port is none
        raise UnfitError("proxy") from None
    beyond = "@" in parts.netloc or parts.path.strip("/") or parts.query or parts.fragment
    if url and (parts.scheme != "http" or not host or beyond):
        raise UnfitError("proxy")
    return url.rstrip("/")


def _host(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        raise UnfitError("address") from None


class Listen(Section):
    """Where the server listens.  TLS is the reverse proxy's part."""

    host: Annotated[str, AfterValidator(_host)] = "127.0.0.1"
    port: int = Field(default=8787, ge=0, le=65535, description="0 takes any free port")


class LimitsOfMembers(Section):
    """How much one member may ask for."""

    tasks_per_day: int = Field(default=0, ge=0, le=100_000, description="0 for no limit")
    groups: dict[Annotated[str, Field(pattern=f"^{GROUP}$")], PerDay] = Field(
        default={},
        max_length=64,
        description="tasks a day of each member of a group, instead of any other limit",
    )


class Egress(Section):
    """The way out to WeCom's API."""

    proxy: Annotated[str, AfterValidator(_proxy)] = Field(
        default="", description="http://HOST:PORT of an HTTP proxy; its login is a secret"
    )
    proxy_login: SecretStr = Field(default=SecretStr(""), description="USER:PASSWORD")
    use_environment: bool = Field(
        default=False, description="HTTPS_PROXY and NO_PROXY of the process count"
    )
    ca_bundle: Path | None = Field(
        default=None, description="PEM file of authorities to trust besides the system's"
    )


class App(Section):
    """A self-built app of a corp (WeCom pages 90930, 90968)."""

    corp_id: str = Field(default="", max_length=64)
    agent_id: int = Field(default=0, ge=0)
    token: SecretStr = SecretStr("")
    encoding_aes_key: SecretStr = SecretStr("")
    corp_secret: SecretStr = SecretStr("")
    # Accepted beside the others while they are changed in the console.
    next_token: SecretStr = SecretStr("")
    next_encoding_aes_key: SecretStr = SecretStr("")
    callback_path: Annotated[str, AfterValidator(_callback_path)] = "/wecom/app"


class MoreApp(App):
    """One more app; its members, secrets and messages are kept under its name."""

    callback_path: Annotated[str, AfterValidator(_callback_path)] = Field(
        default="/wecom/NAME", description="NAME is the name of the app"
    )
    admins: Users = Field(default=(), description="UserIDs that are admins in this app")
    tasks_per_day: int | None = Field(
        default=None, ge=0, le=100_000, description="in this app instead of limits.tasks_per_day"
    )


class WeCom(App):
    """WeCom, and the app that is called ``main``."""

    api_base: Annotated[str, AfterValidator(base_of)] = "https://qyapi.weixin.qq.com"
    apps: dict[Annotated[str, Field(pattern=_APP), AfterValidator(_another)], MoreApp] = Field(
        default={}, max_length=16
    )

    def every(self) -> dict[str, App]:
        """Return all apps by their names."""
        more: dict[str, App] = {
            name: app.model_copy(update={"callback_path": app.callback_path.replace("NAME", name)})
            for name, app in self.apps.items()
        }
        return more if more and not self.corp_id else {FIRST_APP: self, **more}


class GatewaySettings(Settings):
    """All settings of the gateway."""

    half: ClassVar[str] = "gateway"

    public_url: Annotated[str, AfterValidator(base_of)] = Field(
        default="", description="what machines and WeCom dial; only a loopback listener has one"
    )
    state_dir: Path | None = Field(default=None, description="absolute; else the platform's place")
    language: Lang = Field(default="zh", description="for members whose language is not set")
    time_zone: Annotated[str, AfterValidator(_time_zone)] = "+08:00"
    admins: Users = Field(
        default=(), description="UserIDs that are admins besides members of that role"
    )
    prefix: str = Field(default="@dev", pattern=r"^\S{1,32}$")
    task_ttl_hours: int = Field(default=8, ge=1, le=24, description="how long a task may queue")
    trusted_proxies: tuple[Annotated[str, AfterValidator(_network)], ...] = ()
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["text", "json"] = "text"
    listen: Listen = Listen()
    limits: LimitsOfMembers = LimitsOfMembers()
    wecom: WeCom = WeCom()
    egress: Egress = Egress()


def load_settings(
    *,
    file: Path | None,
    environ: Mapping[str, str],
    secrets_dir: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> GatewaySettings:
    """Return the settings from everywhere they may stand; blocks on small files.

    Args:
        file: What the command line named; else CODEXBRIDGE_CONFIG, else the usual place if it is
            there.
        environ: The process environment.
        secrets_dir: What the command line named; else as `secrets_folder` says.
        overrides: Stronger than everything else, as nested tables.

    Raises:
        ConfigError: as `common.settings.load` says.
    """
    place = settings_file(file, environ)
    is_named = file is not None or environ.get("CODEXBRIDGE_CONFIG")
    return load(
        GatewaySettings,
        file=place if is_named or place.exists() else None,
        environ=environ,
        secrets_dir=secrets_folder(secrets_dir, file=file, environ=environ),
        overrides=overrides,
    )


def settings_file(file: Path | None, environ: Mapping[str, str]) -> Path:
    """Return where the settings stand, or would: what was named, else the usual place."""
    named = file or environ.get("CODEXBRIDGE_CONFIG")
    return Path(named) if named else find_home(environ).config / SETTINGS_FILE


def secrets_folder(
    secrets_dir: Path | None, *, file: Path | None, environ: Mapping[str, str]
) -> Path | None:
    """Return where secrets lie as files, if they do.

    That is what was named; else systemd's credentials of this unit; else the folder beside the
    settings file, where there is one.
    """
    if secrets_dir is not None:
        return secrets_dir
    if credentials := environ.get(SECRETS_OF_SYSTEMD):
        return Path(credentials)
    beside = settings_file(file, environ).with_name(SECRETS_FOLDER)
    return beside if beside.exists() else None


def check_servable(settings: GatewaySettings) -> None:
    """Refuse to serve without what keeps it safe (P8).

    Raises:
        ConfigError: ``config.missing`` (name, how), ``config.secret-missing`` (name, how, file),
            ``config.public-url-required`` or ``config.trusted-proxies-required`` (host),
            ``config.same-app`` or ``config.same-path`` (app, other).
    """
    for name, app in settings.wecom.every().items():
        _check_app(name, app)
    _check_distinct(settings.wecom.every())
    if not settings.public_url and not is_loopback(settings.listen.host):
        raise ConfigError("config.public-url-required", host=settings.listen.host)
    public = urlsplit(settings.public_url).hostname or settings.listen.host
    behind_a_proxy = is_loopback(settings.listen.host) and not is_loopback(public)
    if behind_a_proxy and not settings.trusted_proxies:
        # Unnamed, the proxy would make one client of everybody, and anyone's bad requests would
        # shut WeCom out.
        raise ConfigError("config.trusted-proxies-required", host=settings.listen.host)


def _check_app(app: str, given: App) -> None:
    names = ("corp_id", "agent_id", "token", "encoding_aes_key", "corp_secret")
    why = None if any(getattr(given, name) for name in names) else "nothing"
    for name in names:
        path = setting_of(app, name)
        facts = {"name": ".".join(path), "how": variable_name(GatewaySettings, path)}
        value = getattr(given, name)
        if isinstance(value, SecretStr):
            if not value.get_secret_value():
                raise ConfigError("config.secret-missing", **facts, file="__".join(path))
        elif not value:
            raise ConfigError("config.missing", **facts, file=None, why=why)


def _check_distinct(apps: Mapping[str, App]) -> None:
    for code, what in (
        ("config.same-app", lambda app: (app.corp_id, app.agent_id)),
        ("config.same-path", lambda app: app.callback_path),
    ):
        known: dict[object, str] = {}
        for name, app in apps.items():
            if (other := known.setdefault(what(app), name)) != name:
                raise ConfigError(code, app=name, other=other)


def admins_of(settings: GatewaySettings) -> tuple[Person, ...]:
    """Return whom the settings name as admins; they need not be members."""
    named = [Person(FIRST_APP, user) for user in settings.admins]
    for name, app in settings.wecom.apps.items():
        named += [Person(name, user) for user in app.admins]
    return tuple(named)


def setting_of(app: str, name: str) -> tuple[str, ...]:
    """Return the path of one setting of an app."""
    return ("wecom", name) if app == FIRST_APP else ("wecom", "apps", app, name)


def secrets_of(section: BaseModel) -> list[str]:
    """Return every secret of the settings, whichever section it stands in."""
    found: list[str] = []
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, SecretStr):
            found.append(value.get_secret_value())
        for part in value.values() if isinstance(value, dict) else (value,):
            if isinstance(part, BaseModel):
                found += secrets_of(part)
    return found


def with_secrets(settings: SectionT, found: SectionT) -> SectionT:
    """Return settings with the secrets that stand in others, wherever both have the section."""
    changed: dict[str, Any] = {}
    for name in type(settings).model_fields:
        ours, theirs = getattr(settings, name), getattr(found, name)
        if isinstance(ours, SecretStr):
            changed[name] = theirs
        elif isinstance(ours, BaseModel):
            changed[name] = with_secrets(ours, theirs)
        elif isinstance(ours, dict):
            changed[name] = ours | {
                key: with_secrets(part, theirs[key])
                for key, part in ours.items()
                if key in theirs and isinstance(part, BaseModel)
            }
    return settings.model_copy(update=changed)


def note_served(settings: GatewaySettings, state: Path) -> None:
    """Keep with which settings a server starts, so that it is seen when they are others."""
    salt = secrets.token_hex(16)
    noted = {"salt": salt, "digest": _digest(settings, salt)}
    write_private(state / SERVED_FILE, json.dumps(noted).encode())


def is_served(settings: GatewaySettings, state: Path) -> bool:
    """Tell whether a server was last started with these settings; True where it is not known."""
    try:
        noted = json.loads((state / SERVED_FILE).read_bytes()[:1024])
        wanted = _digest(settings, str(noted["salt"]))
        return hmac.compare_digest(wanted.encode(), str(noted["digest"]).encode())
    except (OSError, ValueError, KeyError, TypeError):
        return True


def _digest(settings: GatewaySettings, salt: str) -> str:
    # The secrets with it: it lies beside the private key, and is as private.
    whole = settings.model_dump_json() + "\0".join(secrets_of(settings))
    return hashlib.sha256((salt + whole).encode()).hexdigest()


def public_url(settings: GatewaySettings, *, port: int) -> str:
    """Return the origin that machines dial; ``port`` is the one that was really bound.

    The default exists only for a loopback listener, which `check_servable` has seen to.
    """
    if settings.public_url:
        return settings.public_url
    host = settings.listen.host
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def state_dir(settings: GatewaySettings, environ: Mapping[str, str]) -> Path:
    """Return the directory of the store and the key.

    Raises:
        ConfigError: ``config.invalid`` when it is not absolute.
    """
    if settings.state_dir is None:
        return find_home(environ).state / "gateway"
    if not settings.state_dir.is_absolute():
        raise ConfigError("config.invalid", name="state_dir", why="absolute", file=None)
    return settings.state_dir
