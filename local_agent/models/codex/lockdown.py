"""Which model codex drives, and what it runs under: its configuration and environment (R43, R62).

Each app-server gets a folder of its own, made for it and removed after it: nothing that it writes
there (trust in a folder, a log, a history) outlives it, and the person's ``~/.codex`` is neither
read nor written.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from common import PRODUCT
from common.home import private_dir, write_private
from local_agent.models.http.config import HttpModel

OPENAI: Final = "https://api.openai.com/v1"
KEY_VARIABLE: Final = "CODEXBRIDGE_MODEL_KEY"
_LOCKDOWN: Final = Path(__file__).with_name("lockdown.toml")
_PROVIDER: Final = "configured"
_PREFIX: Final = "run-"
_DESK: Final = f"{PRODUCT}-desk-"
_LINK: Final = "desk"  # so that what a kill left behind is found

# In the place of codex's own words about itself, which speak of a shell that is not there.
_INSTRUCTIONS: Final = """\
You work on a copy of some files of a project, which is the current folder. Your only tool is \
apply_patch: there is no shell, nothing can be run or listed, and files that you were not shown \
cannot be read. Nobody answers questions before the end of your turn. Call apply_patch only if the \
task lets you edit, and name files relative to the current folder. A patch has this form:

*** Begin Patch
*** Update File: src/name.py
@@ def the_function_around():
 an unchanged line, as it stands
-a line to remove
+a line to put in its place
*** Add File: src/new.py
+each line of the new file
*** Delete File: src/old.py
*** End Patch

Give three unchanged lines around each place, exactly as they stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodexModel:
    """One model.

    Attributes:
        name: What the person calls it.
        model: The provider's name for it.
        base_url: Of an interface of the Responses kind, as of `HttpModel`.
        key: For the provider; None where it needs none.  It reaches the program by its environment
            alone.
        program: Where codex is; None looks for it.
        deadline_s: For one whole turn.
        idle_s: Longest silence within a turn.

    Raises:
        ConfigError: ``models.base-url`` (name, why).
    """

    name: str
    model: str
    base_url: str = OPENAI
    key: str | None = field(default=None, repr=False)
    program: Path | None = None
    deadline_s: float = 300.0
    idle_s: float = 60.0

    def __post_init__(self) -> None:
        """Refuse an address that may not be dialled."""
        self.address()

    @property
    def is_local(self) -> bool:
        """Whether it is dialled on this machine, as of an `HttpModel`."""
        return self._behind.is_local

    def address(self) -> str:
        """Return the address that codex dials; the same ones are allowed as of an `HttpModel`."""
        return self._behind.address("").removesuffix("/")

    @property
    def _behind(self) -> HttpModel:
        return HttpModel(name=self.name, model=self.model, base_url=self.base_url, api="responses")


@dataclass(frozen=True, slots=True)
class Place:
    """The folders of one app-server.

    Attributes:
        root: Holds what follows; removed whole.
        codex_home: Its configuration and its state.
        home: An empty home, and where it starts.
        temporary: For its temporary files; codex wants its own home outside of it.
        desk: Outside of it, where turns find what they work in.  Codex tells a model, and with it
            the provider, the path of a file that it cannot change: this one says nothing of whose
            machine it is, where a folder below a home would.
    """

    root: Path
    desk: Path

    @property
    def codex_home(self) -> Path:
        return self.root / "codex"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def temporary(self) -> Path:
        return self.root / "tmp"


def make_place(folder: Path, model: CodexModel) -> Place:
    """Make the folders of a new app-server and write its configuration; blocks.

    Raises:
        ConfigError: ``config.not-private``.
    """
    private_dir(folder)
    root = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=folder))
    place = Place(root, Path(tempfile.mkdtemp(prefix=_DESK)))
    (root / _LINK).symlink_to(place.desk)
    for part in (place.codex_home, place.home, place.temporary):
        part.mkdir(mode=0o700)
    catalog = place.codex_home / "models.json"
    write_private(catalog, json.dumps(_catalog(model.model)).encode())
    write_private(place.codex_home / "config.toml", render(model, catalog).encode())
    return place


def remove_place(place: Place) -> None:
    """Remove what an app-server has left; blocks."""
    for folder in (place.root, place.desk):
        shutil.rmtree(folder, ignore_errors=True)


def remove_left(folder: Path) -> None:
    """Remove what app-servers of an agent that was killed have left; blocks."""
    for left in folder.glob(f"{_PREFIX}*"):
        link = left / _LINK
        desk = link.readlink() if link.is_symlink() else left
        # The program could have made it point anywhere.
        is_desk = desk.parent == Path(tempfile.gettempdir()) and desk.name.startswith(_DESK)
        remove_place(Place(left, desk if is_desk else left))


def environment(place: Place, key: str | None) -> dict[str, str]:
    """Return the whole environment of an app-server."""
    env = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": str(place.home),
        "CODEX_HOME": str(place.codex_home),
        "TMPDIR": str(place.temporary),
    }
    return env if key is None else {**env, KEY_VARIABLE: key}


def render(model: CodexModel, catalog: Path) -> str:
    """Return the configuration; blocks."""
    chosen = {
        "model": model.model,
        "model_provider": _PROVIDER,
        "model_catalog_json": str(catalog),
    }
    provider: dict[str, object] = {
        "name": _PROVIDER,
        "base_url": model.address(),
        "wire_api": "responses",
        "requires_openai_auth": False,
        "request_max_retries": 1,
        "stream_max_retries": 1,
        "stream_idle_timeout_ms": round(model.idle_s * 2000),  # ours is first
    }
    if model.key is not None:
        provider["env_key"] = KEY_VARIABLE
    parts = [
        _lines(chosen),
        _LOCKDOWN.read_text(encoding="utf-8"),
        f"[model_providers.{_PROVIDER}]",
        _lines(provider),
    ]
    return "\n".join(parts)


def _lines(values: Mapping[str, object]) -> str:
    return "".join(f"{name} = {_toml(value)}\n" for name, value in values.items())


def _toml(value: object) -> str:
    # A basic string of TOML is one of JSON but for DEL, which JSON leaves as it is.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _catalog(model: str) -> Mapping[str, Any]:
    """Return what codex is told of the model: it is the same for each, known to codex or not.

    Codex offers models that it does not know no `apply_patch`, and has those that it knows best
    write programs for a JavaScript engine; here each is offered the one tool.
    """
    known = {
        "slug": model,
        "display_name": model,
        "supported_reasoning_levels": [],
        "shell_type": "disabled",
        "visibility": "list",
        "supported_in_api": True,
        "priority": 1,
        "base_instructions": _INSTRUCTIONS,
        "apply_patch_tool_type": "freeform",
        "truncation_policy": {"mode": "bytes", "limit": 10_000},
        "supports_parallel_tool_calls": False,
        "supports_reasoning_summary_parameter": False,
        "support_verbosity": False,
        "experimental_supported_tools": [],
    }
    return {"models": [known]}
