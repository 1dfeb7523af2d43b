"""An installation in the making: what its files hold, and how one more value gets into them.

Nothing that is there is lost: the settings file keeps its comments and its mode, and a value that
is there already is not written again.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any, Final, TypeAlias

import tomlkit
from pydantic import SecretStr
from tomlkit.items import Table

from common.errors import ConfigError
from common.home import clear_unfinished, only_one, private_dir, write_private
from common.settings import is_secret, leaves, load, variable_name
from gateway.base.settings import (
    SECRETS_FOLDER,
    GatewaySettings,
    secrets_folder,
    settings_file,
)
from gateway.doctor import Subject

Name: TypeAlias = tuple[str, ...]
LOCK: Final = ".gateway-init.lock"
SECRETS: Final = frozenset(path for path, field in leaves(GatewaySettings) if is_secret(field))


class Draft:
    """The files of one installation, as far as they go.

    Args:
        environ: The process environment.
        file: Settings file that the command line named.
        secrets_dir: The same for the folder of secrets.

    Attributes:
        held: Answers that are not written until they have been tried.
        subject: What the doctor's checks look at: always the settings that were loaded last.
    """

    def __init__(
        self, environ: Mapping[str, str], file: Path | None, secrets_dir: Path | None
    ) -> None:
        self.file = settings_file(file, environ).absolute()
        known = secrets_folder(secrets_dir, file=file, environ=environ)
        self.secrets = (known or self.file.with_name(SECRETS_FOLDER)).absolute()
        self.held: dict[Name, Any] = {}
        self.subject = Subject(environ, self.file, self.secrets)
        self._environ = environ

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep a second run out, and clear away what a killed one has left.

        Raises:
            UnavailableError: ``init.busy`` (path).
        """
        with only_one(self.file.with_name(LOCK)):
            for path in (self.file.resolve(), *map(self.secret_file, SECRETS)):
                clear_unfinished(path)
            yield

    def load(self, more: Mapping[Name, Any] | None = None) -> GatewaySettings:
        """Return the settings so far, with what is held and more.

        Raises:
            ConfigError: as `common.settings.load`.
        """
        settings = load(
            GatewaySettings,
            file=self.file if self.file.exists() else None,
            environ=self._environ,
            secrets_dir=self.secrets if self.secrets.exists() else None,
            overrides=_nested(self.held | dict(more or {})),
        )
        self.subject.served = self.subject.loaded = settings
        return settings

    def value(self, name: Name) -> Any:
        """Return one setting as it is now; a secret in plain."""
        return _value(self.load(), name)

    def hold(self, name: Name, value: Any) -> None:
        """Let a value count from now on, without writing it.

        Raises:
            ConfigError: ``config.invalid`` and the like; then it does not count.
        """
        self.load({name: value})
        self.held[name] = value

    def put(self, name: Name, value: Any) -> None:
        """Write one value, whole or not at all.

        Raises:
            ConfigError: ``config.invalid`` and the like; or ``init.overridden`` (name, how): what
                was written does not count.
        """
        wanted = _value(self.load({name: value}), name)
        self.held.pop(name, None)
        if self.value(name) == wanted:
            return
        if name in SECRETS:
            if self.secrets.name == SECRETS_FOLDER:
                private_dir(self.secrets)
            write_private(self.secret_file(name), wanted.encode())
        else:
            self._put_in_file(name, wanted)
        if self.value(name) != wanted:
            how = variable_name(GatewaySettings, name)
            raise ConfigError("init.overridden", name=".".join(name), how=how)

    def secret_file(self, name: Name) -> Path:
        """Return where a secret stands, or would."""
        return self.secrets / "__".join(name)

    def _put_in_file(self, name: Name, value: Any) -> None:
        file = self.file.resolve()  # a link stays one
        there = file.exists()
        document = tomlkit.parse(file.read_text("utf-8-sig") if there else "")
        table: Any = document
        for part in name[:-1]:
            if not isinstance(table.get(part), Table | dict):
                table[part] = tomlkit.table()
            table = table[part]
        table[name[-1]] = list(value) if isinstance(value, tuple) else value
        mode = stat.S_IMODE(file.stat().st_mode) if there else 0o600
        write_private(file, tomlkit.dumps(document).encode(), mode=mode)


def _nested(values: Mapping[Name, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in values.items():
        table = reduce(lambda into, part: into.setdefault(part, {}), name[:-1], made)
        table[name[-1]] = value
    return made


def _value(settings: GatewaySettings, name: Name) -> Any:
    found = reduce(getattr, name, settings)
    return found.get_secret_value() if isinstance(found, SecretStr) else found
