"""How settings are read: strictly, once, and every fault as one `ConfigError` that says what to do.

Order, strongest first: command line > environment > secrets directory > TOML file > defaults.
Each half declares its own frozen `Settings` class in its ``settings`` module; what the settings
are is no matter of this module.  Nothing here reads the process environment by itself.

One setting ``[wecom] corp_id`` of the gateway is spelled

    wecom.corp_id                          in the TOML file, as a table, and in error messages
    CODEXBRIDGE_GATEWAY__WECOM__CORP_ID    in the environment (lists and tables as JSON)
    wecom__corp_id                         as a file in the secrets directory

Tables that people name, such as ``[[wecom.apps]]`` with ``name = "shop"``, may also be written
``[wecom.apps.shop]``; the name is then a part of the path: ``wecom__apps__shop__token``.  What
stands outside of the file adds to a table that the file has, and makes none.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, NoReturn, TypeAlias, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, SecretBytes, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from common.errors import ConfigError

PREFIX: Final = "CODEXBRIDGE_"
HALVES: Final = ("gateway", "agent")
PROCESS_WIDE: Final = frozenset({"CODEXBRIDGE_HOME", "CODEXBRIDGE_LANG", "CODEXBRIDGE_CONFIG"})
MAX_FILE_BYTES: Final = 262_144  # a configuration is small; anything longer is the wrong file
MAX_SECRET_BYTES: Final = 8_192

# Marks a setting that the file alone may hold: what a folder puts into a terminal's environment (an
# ``.envrc``, an editor's settings) must not decide it.
FROM_FILE: Final = object()

_SEPARATOR: Final = "__"
_KEYS: Final = frozenset({"key", "api_key", "apikey", "token", "api_token", "secret"})
# Of pydantic's kinds of faults: what is said of it, and where it tells the bound.
_BOUNDS: Final = {
    "literal_error": ("choice", "expected"),
    "greater_than_equal": ("least", "ge"),
    "less_than_equal": ("most", "le"),
    "string_pattern_mismatch": ("characters", "pattern"),
    "string_too_long": ("long", "max_length"),
    "string_too_short": ("short", "min_length"),
    "too_long": ("many", "max_length"),
}
# The others, by how their names begin; what is not here is told without a reason.
_FORMS: Final = (
    ("int", "integer"),
    ("float", "number"),
    ("finite", "number"),
    ("bool", "boolean"),
    ("string", "text"),
    ("path", "text"),
    ("list", "list"),
    ("tuple", "list"),
    ("dict", "table"),
    ("mapping", "table"),
    ("model", "table"),
)
_CHOICE: Final = re.compile("'([^']*)'")
_PLACE_IN_LIST: Final = re.compile(r"\.\d+\Z")
_TOML_PLACE: Final = re.compile(r"\(at line (\d+), column (\d+)\)")


class UnfitError(ValueError):
    """Raised by a setting's own check.

    Args:
        why: Names the sentence, ``config.invalid/why``.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Section(BaseModel):
    """One table of the settings: frozen, closed, and silent about values in its errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Settings(Section):
    """Base of the one settings class of each half.

    Built directly it takes what it is given and looks nowhere else; `load` looks everywhere.

    Attributes:
        half: ``gateway`` or ``agent``; names the environment variables.
    """

    half: ClassVar[str]


SettingsT = TypeVar("SettingsT", bound=Settings)
Leaves: TypeAlias = Mapping[tuple[str, ...], FieldInfo]
Source = Literal["default", "file", "secrets", "environment", "command-line"]


@dataclass(frozen=True, slots=True)
class Sources:
    """Which source decides each setting, of those that were read together; it holds no values.

    Attributes:
        named: What each source says something of, the strongest last.
    """

    named: tuple[tuple[Source, frozenset[tuple[str, ...]]], ...] = ()

    def of(self, path: tuple[str, ...]) -> Source:
        """Return the source that a setting's value comes from."""
        return next((source for source, paths in reversed(self.named) if path in paths), "default")


def load(
    model: type[SettingsT],
    *,
    file: Path | None,
    environ: Mapping[str, str],
    secrets_dir: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> SettingsT:
    """Return the settings of one half.  Blocks on small files: call it before the loop runs.

    Args:
        model: The half's settings class.
        file: TOML file, or None when there is none; a file that was named must exist.
        environ: The process environment.
        secrets_dir: Directory with one file per secret (systemd credentials, container secrets).
        overrides: Command line, as nested tables; None stands for "not given".

    Raises:
        ConfigError: ``config.unknown-variable`` (name, did_you_mean), ``config.unknown-setting``
            (name, file, did_you_mean), ``config.no-file`` (file), ``config.broken-toml`` (file,
            line, column), ``config.file-too-large``, ``config.file-writable-by-others``,
            ``config.file-readable-by-others`` (path), ``config.files-readable-by-others`` (path,
            count, names), ``config.secret-in-file`` (name, file, how),
            ``config.file-only`` (name), ``config.missing`` and ``config.missing-in-file`` (name,
            how), ``config.invalid`` (name, why).  Never with a value.
    """
    settings, _ = load_with_sources(
        model, file=file, environ=environ, secrets_dir=secrets_dir, overrides=overrides
    )
    return settings


def load_with_sources(
    model: type[SettingsT],
    *,
    file: Path | None,
    environ: Mapping[str, str],
    secrets_dir: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> tuple[SettingsT, Sources]:
    """Return the same settings as `load`, and where each value came from.

    Raises:
        ConfigError: as `load`.
    """
    from_file = _by_name(model, _read_toml(file), file) if file else {}
    known = dict(every_leaf(model, from_file))
    variables = _own_variables(model, known, environ)
    _refuse_secrets(model, known, from_file, file)
    from_secrets = _read_secrets(known, secrets_dir) if secrets_dir else {}
    layers: tuple[tuple[Source, Mapping[str, Any]], ...] = (
        ("file", from_file),
        ("secrets", _decode(known, from_secrets)),
        ("environment", _decode(known, variables)),
        ("command-line", overrides or {}),
    )
    named = tuple((source, frozenset(_paths(layer))) for source, layer in layers)
    merged: dict[str, Any] = {}
    for _, layer in layers:
        merged = _merge(merged, layer)
    try:
        return model(**merged), Sources(named)
    except ValidationError as error:
        _explain(model, error, file)


def variable_name(model: type[Settings], path: tuple[str, ...]) -> str:
    """Return the environment variable of one setting, such as CODEXBRIDGE_AGENT__LANGUAGE."""
    return f"{PREFIX}{model.half.upper()}{_SEPARATOR}" + _SEPARATOR.join(path).upper()


def leaves(model: type[BaseModel]) -> Iterator[tuple[tuple[str, ...], FieldInfo]]:
    """Yield path and field of every setting, in the order of declaration."""
    for name, field in model.model_fields.items():
        section = _section(field.annotation)
        if section is None:
            yield (name,), field
        else:
            yield from (((name, *path), leaf) for path, leaf in leaves(section))


def every_leaf(
    model: type[BaseModel], table: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, ...], FieldInfo]]:
    """Yield what `leaves` does, and every setting of each table that the file names.

    Args:
        model: Of the settings.
        table: What the file says.
    """
    for path, field in leaves(model):
        yield path, field
        if kind := _named(field):
            for name in _table_at(table, path):
                yield from (((*path, name, *leaf), inner) for leaf, inner in leaves(kind))


def is_secret(field: FieldInfo) -> bool:
    """Tell whether the field holds a secret, which may stand in no TOML file."""
    kinds = {field.annotation, *get_args(field.annotation)}
    return bool(kinds & {SecretStr, SecretBytes})


def is_from_file(field: FieldInfo) -> bool:
    """Tell whether the file alone may hold the setting."""
    return FROM_FILE in field.metadata


def _section(annotation: object) -> type[BaseModel] | None:
    for kind in (annotation, *get_args(annotation)):
        # A list or dict of models is one setting; only `Section` and `Section | None` are tables.
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind if kind is annotation or type(None) in get_args(annotation) else None
    return None


def _named(field: FieldInfo) -> type[Section] | None:
    """Return the section of which people name tables; None where it is no such setting."""
    is_dict = get_origin(field.annotation) in (dict, Mapping) and not is_from_file(field)
    kind = get_args(field.annotation)[-1] if is_dict else None
    return kind if isinstance(kind, type) and issubclass(kind, Section) else None


def _table_at(table: object, path: tuple[str, ...]) -> Mapping[str, Any]:
    for name in path:
        table = table.get(name) if isinstance(table, Mapping) else None
    return table if isinstance(table, Mapping) else {}


def _by_name(model: type[Settings], table: Mapping[str, Any], file: Path) -> Mapping[str, Any]:
    """Return what the file says, each list of named tables as a table of them.

    Raises:
        ConfigError: ``config.invalid`` (name, why): one has no name, or another one's.
    """
    for path, field in leaves(model):
        listed = _table_at(table, path[:-1]).get(path[-1]) if _named(field) else None
        if not isinstance(listed, list):
            continue
        found: dict[str, Any] = {}
        for entry in listed:
            name = entry.get("name") if isinstance(entry, Mapping) else None
            if not isinstance(name, str) or name in found:
                raise ConfigError("config.invalid", name=".".join(path), why="names", file=file)
            found[name] = {key: value for key, value in entry.items() if key != "name"}
        table = _merge(table, _under(path, found))
    return table


def _under(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    for part in reversed(path):
        value = {part: value}
    return dict(value)


def _own_variables(
    model: type[Settings], every: Leaves, environ: Mapping[str, str]
) -> dict[str, str]:
    known = {variable_name(model, path): name for path, name in _outside(every)}
    other_halves = tuple(f"{PREFIX}{h.upper()}{_SEPARATOR}" for h in HALVES if h != model.half)
    own: dict[str, str] = {}
    for name, text in environ.items():
        if not name.upper().startswith(PREFIX):
            continue
        if name in known:
            own[known[name]] = text
        elif setting := _of_file(model, name):
            raise ConfigError("config.file-only", name=setting)
        elif name not in PROCESS_WIDE and not name.startswith(other_halves):
            near = _near(name, [*known, *PROCESS_WIDE])
            raise ConfigError("config.unknown-variable", name=name, **near)
    return own


def _outside(every: Leaves) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield path and name of what may be set outside of the file."""
    for path, field in every.items():
        if not is_from_file(field):
            yield path, _SEPARATOR.join(path)


def _of_file(model: type[Settings], variable: str) -> str | None:
    for path, field in leaves(model):
        name = variable_name(model, path)
        if is_from_file(field) and (variable == name or variable.startswith(f"{name}{_SEPARATOR}")):
            return ".".join(path)
    return None


def _read_toml(file: Path) -> dict[str, Any]:
    raw = _read(
        file, MAX_FILE_BYTES, lambda found: found.st_mode & 0o002, "config.file-writable-by-others"
    )
    try:
        # A byte order mark is what an editor of another system left behind, not a fault.
        return tomllib.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line, column = raw.count(b"\n", 0, error.start) + 1, 1
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = _TOML_PLACE.search(str(error))
        # Without a place it is the end of the file that came too early.
        line = int(place[1]) if place else raw.count(b"\n") + 1
        column = int(place[2]) if place else len(raw) - raw.rfind(b"\n")
    # The parser's own words may quote the file, and with it a misplaced secret.
    raise ConfigError("config.broken-toml", file=file, line=line, column=column)


def _read(path: Path, limit: int, exposed: Callable[[os.stat_result], int], code: str) -> bytes:
    try:
        with path.open("rb") as stream:
            if exposed(os.fstat(stream.fileno())):
                raise ConfigError(code, path=path)
            raw = stream.read(limit + 1)
    except OSError as error:
        raise ConfigError("config.no-file", file=path, why=error.strerror) from None
    if len(raw) > limit:
        raise ConfigError("config.file-too-large", path=path, limit=limit)
    return raw


def _read_secrets(every: Leaves, directory: Path) -> dict[str, str]:
    known = {name for _, name in _outside(every)}
    try:
        names = sorted(path.name for path in directory.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise ConfigError("config.no-file", file=directory, why=error.strerror) from None
    for name in names:
        if name not in known:
            raise _unknown(name, sorted(known), directory)
    _check_unseen(directory, names)
    return {name: _read_secret(directory / name) for name in names}


def _check_unseen(directory: Path, names: list[str]) -> None:
    """Tell of all files that others can read at once: whoever mends one mends the rest, too."""
    try:
        seen = [name for name in names if readable_by_others((directory / name).stat())]
    except OSError as error:
        raise ConfigError("config.no-file", file=error.filename, why=error.strerror) from None
    if len(seen) > 1:
        facts = {"count": len(seen), "path": directory, "names": " ".join(seen)}
        raise ConfigError("config.files-readable-by-others", **facts)


def _read_secret(path: Path) -> str:
    raw = _read(path, MAX_SECRET_BYTES, readable_by_others, "config.file-readable-by-others")
    try:
        return raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise ConfigError("config.invalid", name=path.name, why="utf-8") from None


def readable_by_others(found: os.stat_result) -> int:
    """Return which bits of a file's mode let others read or change it."""
    # Group read on root's file is the mask of an access list that systemd wrote for us.
    return found.st_mode & (0o027 if found.st_uid == 0 else 0o077)


def _refuse_secrets(
    model: type[Settings], every: Leaves, table: Mapping[str, Any], file: Path | None
) -> None:
    for path, field in every.items():
        if is_secret(field) and path[-1] in _table_at(table, path[:-1]):
            name, how = ".".join(path), variable_name(model, path)
            raise ConfigError("config.secret-in-file", name=name, file=file, how=how)


def _paths(table: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, value in table.items():
        if value is not None:
            yield (*above, name)
        if isinstance(value, Mapping):
            yield from _paths(value, (*above, name))


def _decode(every: Leaves, names: Mapping[str, str]) -> dict[str, Any]:
    known = {_SEPARATOR.join(path): (path, field) for path, field in every.items()}
    decoded: dict[str, Any] = {}
    for name, text in names.items():
        # An empty variable is an unset one: compose files and units cannot leave a line out.
        if not text:
            continue
        path, field = known[name]
        value: Any = text
        if _is_composite(field.annotation):
            try:
                value = json.loads(text)
            except (ValueError, RecursionError):
                raise ConfigError("config.invalid", name=".".join(path), why="json") from None
        decoded = _merge(decoded, _under(path, value))
    return decoded


def _is_composite(annotation: object) -> bool:
    """Tell whether one word cannot spell the value, so that it is written as JSON."""
    kinds = {get_origin(kind) or kind for kind in (annotation, *get_args(annotation))}
    return bool(kinds & {list, tuple, dict, set, frozenset})


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for name, value in above.items():
        if isinstance(value, Mapping):
            under = merged.get(name)
            merged[name] = _merge(under if isinstance(under, Mapping) else {}, value)
        elif value is not None:
            merged[name] = value
    return merged


def _explain(model: type[Settings], error: ValidationError, file: Path | None) -> NoReturn:
    faults = error.errors(include_url=False, include_input=False)
    # A misspelt name is the likelier cause of a missing one, so it is told first.
    fault = min(faults, key=lambda fault: fault["type"] != "extra_forbidden")
    path = tuple(str(part) for part in fault["loc"] if part != "[key]")
    name = ".".join(path) or model.half
    match fault["type"]:
        case "extra_forbidden":
            raise _unknown(name, _known(model, path), file) from None
        case "missing":
            path = _first_required(model, path)
            name, how = ".".join(path), variable_name(model, path)
            # What stands in the file alone has no variable to set it by.
            code = "config.missing-in-file" if _of_file(model, how) else "config.missing"
            raise ConfigError(code, name=name, how=how, file=file) from None
        case kind if kind in _BOUNDS:
            why, bound = _BOUNDS[kind]
            told = str(fault["ctx"][bound])  # a bound of ours, nothing that was given
            wanted = tuple(_CHOICE.findall(told)) if why == "choice" else told
            facts = {"name": name, "why": why, "wanted": wanted, "file": file}
            raise ConfigError("config.invalid", **facts) from None
        case kind:
            # Never in pydantic's own words: they are of one language, and may quote the value.
            ours = fault.get("ctx", {}).get("error")
            form = next((why for begin, why in _FORMS if kind.startswith(begin)), "form")
            why = ours.why if isinstance(ours, UnfitError) else form
            name = _PLACE_IN_LIST.sub("", name)  # “trusted_proxies.0” is no name of a setting
            raise ConfigError("config.invalid", name=name, why=why, file=file) from None


def _known(model: type[Settings], path: tuple[str, ...]) -> list[str]:
    """Return the settings there are, those of each table that a person names included."""
    known = [".".join(leaf) for leaf, _ in leaves(model)]
    for leaf, field in leaves(model):
        if path[: len(leaf)] == leaf and len(path) > len(leaf) + 1:
            named = ".".join(path[: len(leaf) + 1])
            tables = [kind for kind in get_args(field.annotation) if _section(kind)]
            known += [f"{named}.{own}" for table in tables for own in table.model_fields]
    return known


def _first_required(model: type[Settings], path: tuple[str, ...]) -> tuple[str, ...]:
    # A whole table may be missing; a person can act only on a setting within it.
    required = (
        leaf for leaf, field in leaves(model) if leaf[: len(path)] == path and field.is_required()
    )
    return next(required, path)


def _unknown(name: str, known: list[str], file: Path | None) -> ConfigError:
    facts = {"name": name, "file": file, **_near(name, known)}
    if name.rpartition(".")[2].casefold() in _KEYS:
        return ConfigError("config.unknown-setting", **facts | {"why": "key"})
    return ConfigError("config.unknown-setting", **facts)


def _near(name: str, candidates: list[str]) -> dict[str, str]:
    found = difflib.get_close_matches(name, candidates, n=1, cutoff=0.6)
    return {"did_you_mean": found[0]} if found else {"did_you_mean": "", "why": "none"}
