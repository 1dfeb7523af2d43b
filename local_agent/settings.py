"""The settings of the agent: what a person may decide in ``agent.toml`` or the environment.

Nothing here can approve anything or turn a guard off (P1, P8).  What is bound to one machine and
must not come from a file that travels, such as the gateway's key, is in the pairing instead
(`local_agent.link.pairing`); workspaces are in `local_agent.workspace.registry`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from common.errors import ConfigError
from common.home import Home
from common.settings import FROM_FILE, Section, Settings, load

SETTINGS_FILE = "agent.toml"
MODEL_NAME: Final = r"^[a-z0-9-]{1,32}$"

ModelKind = Literal["http", "codex", "acp"]
_Word = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^\S+$")]
_AbsolutePath = Annotated[str, Field(max_length=1024, pattern=r"^/[^\x00]*$")]
_Argument = Annotated[str, Field(max_length=1024, pattern=r"^[^\x00]*$")]
_Price = Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)]
_OF_ALL: Final = frozenset(
    {"kind", "deadline_seconds", "idle_seconds", "price_input", "price_output", "currency"}
)
_OF_KIND: Final[dict[ModelKind, frozenset[str]]] = {
    "http": frozenset(
        {"model", "base_url", "api", "json_mode", "effort", "max_output_tokens", "stream"}
    ),
    "codex": frozenset({"model", "base_url", "program"}),
    "acp": frozenset({"program", "args", "read_only", "key_variable"}),
}
_NEEDED: Final[dict[ModelKind, tuple[str, ...]]] = {
    "http": ("model", "base_url"),
    "codex": ("model",),
    "acp": ("program",),
}


class NaturalLanguage(Section):
    """How free text is understood (seed 002 §11).

    Attributes:
        enable: Whether free text is routed at all; False leaves the commands of the grammar.
        use_model_router: Whether a model may be asked which kind a text is.  Its answer picks a
            kind and nothing more (R63).
        confidence_threshold: Percent-free share from 0 to 1 below which a text counts as a
            question.
    """

    enable: bool = True
    use_model_router: bool = False
    confidence_threshold: Annotated[float, Field(ge=0, le=1)] = 0.55


class ModelSettings(Section):
    """One table ``[models.NAME]``: a model that may be asked, and what it may take.

    Its key is none of it: that is in the keystore of the machine (`local_agent.models.keys`).

    Attributes:
        kind: ``http`` for an OpenAI-compatible interface, ``codex`` for codex app-server, ``acp``
            for any other agent of the Agent Client Protocol (experimental).
        model: The provider's name for it.
        base_url: Of the interface, up to and with its version; https, or http to this machine.
        api: Which of the two OpenAI-compatible interfaces.
        json_mode: How an answer in a form is asked for.
        effort: Of reasoning, in the provider's words.
        max_output_tokens: Of one answer; None leaves the provider's own bound.
        stream: Whether the answer is taken in while it is written.
        program: Of a model that a program drives; an absolute path.
        args: For that program.
        read_only: Folders beside the program's own that it must be able to read.
        key_variable: The environment variable in which it looks for its key.
        deadline_seconds: For one whole turn.
        idle_seconds: Longest silence within a turn.
        price_input: Of a million tokens that are read; for the account alone.
        price_output: Of a million tokens that are written.
        currency: Of both.
    """

    kind: ModelKind
    model: _Word | None = None
    base_url: _Word | None = None
    api: Literal["responses", "chat"] = "chat"
    json_mode: Literal["schema", "object", "prompt"] = "schema"
    effort: Annotated[str, Field(pattern=r"^[a-z]{1,20}$")] | None = None
    max_output_tokens: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    stream: bool = True
    program: _AbsolutePath | None = None
    args: Annotated[tuple[_Argument, ...], Field(max_length=32)] = ()
    read_only: Annotated[tuple[_AbsolutePath, ...], Field(max_length=16)] = ()
    key_variable: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{1,63}$")] | None = None
    deadline_seconds: Annotated[int, Field(ge=10, le=3600)] = 300
    idle_seconds: Annotated[int, Field(ge=5, le=3600)] = 60
    price_input: _Price | None = None
    price_output: _Price | None = None
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"


class AgentSettings(Settings):
    """Everything the agent reads at its start, once.

    Attributes:
        nl: Natural language.
        model: The name of the model that is asked; None means the only one there is.
        models: The models that may be asked, by name.
        default_test_command: What a bare ``@dev test`` runs where the workspace names nothing.
        allow_apply_patch: False refuses every change; True grants nothing by itself.
        allow_run_terminal: False refuses every command; True grants nothing by itself.
        prefix: What a message to the agent begins with.
        approval_hours: How long an approval may wait for a person.  At most 72.
        windows: Whether questions are shown in windows where there is a screen; False asks at the
            terminal alone.
        language: Of everything this machine says where no request decides it; None asks LANG.
        theme: Of the approval window; ``auto`` goes with the desktop.
        log_level: Least level that is logged.
        log_format: ``text`` for people, ``json`` for collectors.
    """

    half: ClassVar[str] = "agent"

    nl: NaturalLanguage = NaturalLanguage()
    model: Annotated[str | None, FROM_FILE] = None
    models: Annotated[
        Mapping[Annotated[str, Field(pattern=MODEL_NAME)], ModelSettings],
        Field(max_length=32),
        FROM_FILE,
    ] = {}
    default_test_command: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    allow_apply_patch: bool = True
    allow_run_terminal: bool = True
    prefix: Annotated[str, Field(pattern=r"^@\S{1,31}$")] = "@dev"
    approval_hours: Annotated[int, Field(ge=1, le=72)] = 24
    windows: bool = True
    language: Literal["en", "zh"] | None = None
    theme: Literal["auto", "light", "dark"] = "auto"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["text", "json"] = "text"

    @model_validator(mode="after")
    def _check_models(self) -> Self:
        for name, model in self.models.items():
            _check_model(name, model)
        if self.model is not None and self.model not in self.models:
            known = tuple(self.models)
            raise ConfigError("models.unknown", name=self.model, known=known)
        if self.model is None and len(self.models) > 1:
            raise ConfigError("models.several", known=tuple(self.models))
        return self

    @property
    def asked_model(self) -> str | None:
        """The name of the model that is asked, None where none is configured."""
        return self.model or next(iter(self.models), None)


def fields_of(kind: ModelKind) -> tuple[str, ...]:
    """Return the settings that a model of a kind may have, in the order of declaration."""
    return tuple(name for name in ModelSettings.model_fields if name in _OF_ALL | _OF_KIND[kind])


def _check_model(name: str, model: ModelSettings) -> None:
    for field in sorted(model.model_fields_set - _OF_ALL - _OF_KIND[model.kind]):
        raise ConfigError("models.not-for-kind", name=name, field=field, kind=model.kind)
    for field in _NEEDED[model.kind]:
        if getattr(model, field) is None:
            raise ConfigError("models.incomplete", name=name, field=field, kind=model.kind)


def load_settings(home: Home, environ: Mapping[str, str], file: Path | None) -> AgentSettings:
    """Read the settings from the named file, from CODEXBRIDGE_CONFIG, or from the usual place.

    Args:
        home: Where the usual file may lie; there need not be one.
        environ: The process environment.
        file: What the command line named.

    Raises:
        ConfigError: as `common.settings.load`; ``models.unknown`` (name, known), ``models.several``
            (known), ``models.not-for-kind``, ``models.incomplete`` (name, field, kind).
    """
    return load(AgentSettings, file=settings_file(home, environ, file), environ=environ)


def fingerprint(settings: AgentSettings) -> str:
    """Return what is the same for the same settings alone; the secrets among them do not count."""
    return hashlib.sha256(settings.model_dump_json().encode()).hexdigest()


def settings_file(home: Home, environ: Mapping[str, str], file: Path | None) -> Path | None:
    """Return the file that `load_settings` reads; None where there is none."""
    usual = home.config / SETTINGS_FILE
    named = file or (Path(said) if (said := environ.get("CODEXBRIDGE_CONFIG")) else None)
    return named or (usual if usual.exists() else None)
