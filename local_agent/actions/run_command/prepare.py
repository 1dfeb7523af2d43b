"""What a command would be if it ran now: the sealed description and how to start it (P2).

Made twice from the same inputs: when a command is proposed, and again when it was approved.  What
differs between the two is drift.  Its environment is built from scratch (R43).  Programs are looked
for in the confirmed toolchains and in the system's own directories, in this order, and nowhere
else: never by the agent's PATH, which may hold the workspace (R40).  Blocking: it looks at the
workspace and hashes what the command would start from.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from common.errors import InputError, StateError
from common.home import Home
from common.seal import Place, Seal
from common.strict_json import canonical
from local_agent.actions.run_command.command_line import SHELL, CommandLine
from local_agent.actions.run_command.named import named_files
from local_agent.actions.run_command.payload import Executable, SealedCopy, command_payload
from local_agent.safety.risk_commands import hides
from local_agent.sandbox.bubblewrap import (
    NOT_SANDBOXED,
    Level,
    Profile,
    bubblewrap_profile,
    find_bubblewrap,
    system_sockets,
)
from local_agent.sandbox.process import KEPT_BYTES
from local_agent.sandbox.toolchains import SYSTEM
from local_agent.workspace.git.config import hook_places
from local_agent.workspace.git.outside import sockets_in, unshown
from local_agent.workspace.git.repository import git_head
from local_agent.workspace.registry import Workspace, place_of
from local_agent.workspace.survey import Survey, Surveyor

SYSTEM_PATH: Final = tuple(
    map(Path, ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"))
)
MAX_PROGRAM_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a description depends on besides the command and its workspace.

    Attributes:
        places: Our own directories; no command may see them.
        home: The person's home.
        environ: The agent's environment, for the variables that a workspace passes on.
        level: What the sandbox's test at start proved (`local_agent.sandbox.self_test`).
        surveyor: Looks at the files of workspaces, and remembers what it has read.
        workspaces: Gives the real paths of all workspaces; no command may see any but its own.
    """

    places: Home
    home: Path
    environ: Mapping[str, str]
    level: Level
    surveyor: Surveyor = field(default_factory=Surveyor, compare=False)
    workspaces: Callable[[], tuple[Path, ...]] = field(default=tuple, compare=False)

    @property
    def private(self) -> tuple[Path, ...]:
        """Our own directories, which no sandbox shows."""
        return (self.places.config, self.places.state, self.places.run)

    def hidden_from(self, workspace: Workspace) -> tuple[Path, ...]:
        """Return what its sandbox covers wherever a bind would show it.

        Ours, and the other workspaces but those that hold a confirmed toolchain of this one.
        """
        tools = [path for tool in workspace.toolchains for path in tool.paths]
        others = [
            other
            for other in self.workspaces()
            if other not in (workspace.path, workspace.stands_for)
            and not any(path.is_relative_to(other) for path in tools)
        ]
        return (*self.private, *others)


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of a workspace that a command runs on, at the workspace's own path.

    Attributes:
        path: Where it lies outside of the sandbox.
        of: For the seal: which change is in it.
    """

    path: Path
    of: SealedCopy


def copies_folder(places: Home) -> Path:
    """Return where all copies lie."""
    return places.state / "checks"


def copy_folder(places: Home, task_id: str) -> Path:
    """Return where the copy of a task lies, if it has one."""
    return copies_folder(places) / task_id


@dataclass(frozen=True, slots=True)
class Prepared:
    """A command as it would run now.

    Attributes:
        payload: For the seal (`local_agent.actions.run_command.payload`).
        workspace: For the seal: where it would run, by name and identity.
        git_head: For the seal: the commit that is checked out, None where there is none.
        display: The command on one line, for people.
        env: The environment, for the dialog; only its names and a hash are sealed.
        argv: What is started, sandbox included.  Made anew at the run, never stored.
        cwd: Real path in which it starts.
        base: For the seal: the files it starts from (`local_agent.workspace.survey`).
        seccomp: The filter of system calls that the sandbox is given.
    """

    payload: dict[str, Any]
    workspace: Place
    git_head: str | None
    display: str
    env: Mapping[str, str]
    argv: tuple[str, ...]
    cwd: Path
    base: Mapping[str, str] = field(default_factory=dict)
    seccomp: bytes = b""


def describe(
    around: Surroundings,
    workspace: Workspace,
    line: CommandLine,
    *,
    cwd: str,
    timeout_s: int,
    network: bool,
    copy: Copy | None = None,
    stdin: str | None = None,
    anew: bool = False,
    sealed: Seal | None = None,
) -> Prepared:
    """Return the command as it would run now; ``anew``: with every file of the workspace read.

    Where it was ``sealed``, what that compares by its path is compared again.

    Raises:
        InputError: ``command.*``, ``sandbox.*``, ``workspace.*``: it cannot run.
        StateError: ``check.not-sandboxed``: nothing could put the copy in its place.
    """
    place, folder = place_of(workspace), _folder(workspace, cwd)
    home = around.home.resolve()
    survey = around.surveyor.survey(workspace.path, anew=anew)
    profile, closed = _sandbox(around, workspace, home, survey, network=network, copy=copy)
    env = build_environment(workspace, around.environ, home=home, cwd=folder)
    word, inside = line.argv[0] if line.argv is not None else SHELL, profile.level != "none"
    beside = copy.path if copy else None
    program = resolve_program(word, workspace, cwd=folder, sandboxed=inside, copy=beside)
    start = around.surveyor.survey(copy.path, whole=True) if copy else survey
    named = named_files(line, folder, workspace, on_copy=copy is not None)
    base, uncompared = start.beside(workspace.path, named, sealed)
    payload = command_payload(
        argv=line.argv,
        shell=SHELL if line.argv is None else None,
        script=line.script,
        cwd=folder.relative_to(workspace.path).as_posix(),
        env=env,
        executable=program,
        sandbox_level=profile.level,
        profile_sha256=profile.sha256,
        network=network,
        timeout_s=timeout_s,
        output_cap=KEPT_BYTES,
        copy=copy.of if copy else None,
        stdin=stdin,
        uncompared=uncompared,
        lacks=("git",) if inside and unshown(workspace) else (),
    )
    rest = line.argv[1:] if line.argv is not None else ("-c", line.script or "")
    argv = tuple(profile.wrap([program.path, *rest], cwd=folder, closed=closed))
    head = git_head(workspace.path)
    return Prepared(
        payload, place, head, line.display, env, argv, folder, base=base, seccomp=profile.seccomp
    )


def describe_sealed(
    around: Surroundings, workspace: Workspace, seal: Seal, *, anew: bool = False
) -> Prepared:
    """Return what was sealed as it would run now; read ``anew``, as `describe` has it.

    Raises:
        InputError: as `describe`.
    """
    sealed = seal.payload
    argv, script = sealed.get("argv"), sealed.get("script")
    copied = sealed.get("copy")
    place = copy_folder(around.places, seal.task_id)
    return describe(
        around,
        workspace,
        CommandLine(argv=tuple(argv) if argv is not None else None, script=script),
        cwd=sealed["cwd"],
        timeout_s=sealed["timeout"],
        network=sealed["network"],
        copy=Copy(place, SealedCopy(**copied)) if copied else None,
        stdin=sealed.get("stdin"),
        anew=anew,
        sealed=seal,
    )


def find_drift(seal: Seal, now: Prepared) -> tuple[str, ...]:
    """Return the names of what is not, byte for byte, as it was approved."""
    drift = ["workspace"] if now.workspace != seal.workspace else []
    if now.git_head != seal.git_head:
        drift.append("git_head")  # the person was shown another commit
    # Both ways: a file too large to be read is in nothing but a line of its own.
    if dict(now.base) != dict(seal.base):
        drift.append("base")
    if canonical(dict(seal.payload)) != canonical(now.payload):
        names = sorted(seal.payload.keys() | now.payload.keys())
        drift += [name for name in names if seal.payload.get(name) != now.payload.get(name)]
    return tuple(drift)


def _folder(workspace: Workspace, cwd: str) -> Path:
    place = _real(workspace.path / cwd)
    if not place.is_relative_to(workspace.path):
        moved = _real(workspace.path) != workspace.path
        raise InputError("workspace.moved" if moved else "command.outside", program=cwd)
    if not os.path.isdir(place):  # noqa: PTH112  # whatever the name is, it raises nothing
        raise InputError("command.folder", folder=cwd)
    return place


def _sandbox(
    around: Surroundings,
    workspace: Workspace,
    home: Path,
    survey: Survey,
    *,
    network: bool,
    copy: Copy | None,
) -> tuple[Profile, list[Path]]:
    """Return the sandbox, and the sockets to be covered at the start."""
    hidden = around.hidden_from(workspace)
    elsewhere = (workspace.path, home, *map(_real, hidden))
    # The system's folders are shown with all that lies in them.
    sockets = system_sockets(apart_from=elsewhere)
    closed, unknown = _closed_behind(around, workspace)
    profile = _profile(
        around,
        workspace,
        home,
        survey,
        hidden=hidden,
        network=network,
        strangers=survey.strangers or unknown or sockets is None,
        copy=copy,
    )
    near = _closed(around, workspace, survey, copied=copy is not None)
    of_git = (path for tool in workspace.toolchains for path in sockets_in(tool))
    return profile, [*near, *closed, *of_git, *(sockets or ())]


def _profile(
    around: Surroundings,
    workspace: Workspace,
    home: Path,
    survey: Survey,
    *,
    hidden: tuple[Path, ...],
    network: bool,
    strangers: bool,
    copy: Copy | None,
) -> Profile:
    program = find_bubblewrap() if around.level == "bubblewrap" else None
    if program is None:
        if copy is not None:
            raise StateError("check.not-sandboxed")
        return NOT_SANDBOXED
    return bubblewrap_profile(
        program,
        workspace=workspace.path,
        home=home,
        read_only=tuple(path for tool in workspace.toolchains for path in tool.shown),
        private=hidden,
        repositories=survey.repositories,
        hooks=hook_places(workspace.path),
        network=network,
        strangers=strangers,
        copy=copy.path if copy else None,
        also_at=workspace.stands_for,
    )


def _closed(
    around: Surroundings, workspace: Workspace, survey: Survey, *, copied: bool
) -> list[Path]:
    """Return the sockets in the workspace; those in our own directories are hidden with these.

    Of a workspace that a copy stands for, only the repository and the toolchains are shown.
    """
    # A copy for a dry run lies within our own, and what is in it is shown.
    private = map(_real, around.private)
    hidden = tuple(place for place in private if not workspace.path.is_relative_to(place))
    tools = [path for tool in workspace.toolchains for path in tool.paths]
    shown = (workspace.path / ".git", *tools) if copied else (workspace.path,)
    sockets = [workspace.path / path for path in survey.sockets]
    return [
        path
        for path in sockets
        if any(map(path.is_relative_to, shown)) and not any(map(path.is_relative_to, hidden))
    ]


def _closed_behind(around: Surroundings, workspace: Workspace) -> tuple[list[Path], bool]:
    """Return the sockets to be covered in what a dry run's copy stands for, and if more may be.

    Nothing but its toolchains is shown of that; no socket is copied, so the copy has none.
    """
    folder = workspace.stands_for
    tools = [path for tool in workspace.toolchains for path in tool.paths]
    if folder is None or not any(path.is_relative_to(folder) for path in tools):
        return [], False
    survey = around.surveyor.survey(folder)
    sockets = (folder / path for path in survey.sockets)
    return [path for path in sockets if any(map(path.is_relative_to, tools))], survey.strangers


def build_environment(
    workspace: Workspace, environ: Mapping[str, str], *, home: Path, cwd: Path
) -> dict[str, str]:
    """Return the whole environment of a command.

    HOME is the real path of the home; inside the sandbox it is empty.

    Args:
        workspace: Whose toolchains, and which variables the person passes on.
        environ: The agent's environment, for the passed-on variables alone.
        home: Real path of the person's home.
        cwd: Where the command starts; bubblewrap sets PWD to it, so it is sealed as well.
    """
    env = {name: environ[name] for name in workspace.pass_env if name in environ}
    for toolchain in reversed(workspace.toolchains):
        env |= dict(toolchain.env)
    return env | {
        "PATH": ":".join(map(str, _search_path(workspace))),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "TMPDIR": "/tmp",  # noqa: S108  # a variable for the child, no file of ours
        "CI": "1",
        "PWD": str(cwd),
    }


def resolve_program(
    word: str, workspace: Workspace, *, cwd: Path, sandboxed: bool, copy: Path | None = None
) -> Executable:
    """Return the program that a command's first word means.

    ``path`` is what is executed, not its target: a venv's ``python`` must be started by the link.
    Only a shell, or what starts one, is started as itself by a link of another name that is not the
    system's: it would hide that from whoever approves.
    ``dev`` and ``ino`` are the target's, so that turning the link elsewhere shows.

    Args:
        word: A bare name; a path relative to ``cwd``, with or without ``./``, as in any shell; or
            an absolute path.
        workspace: Whose toolchains are searched.
        cwd: Real path in which the command starts.
        sandboxed: Whether the program must be visible inside the sandbox.
        copy: What takes the place of the workspace's own files inside the sandbox.

    Raises:
        InputError: ``command.not-found`` (also for a file that cannot be run: whoever asks in the
            chat is not told which files there are), ``command.outside`` (a relative path that
            leads out of workspace, toolchains and system), ``command.not-visible`` (inside the
            sandbox), ``command.program-too-large``.
    """
    found = _locate(word, workspace, cwd)
    real = _real(found)
    # Before anything is looked at: of what lies elsewhere, nobody is told whether it is there.
    if lies_elsewhere(found, workspace):
        if sandboxed:
            raise InputError("command.not-visible", program=word)
        if not word.startswith("/"):
            raise InputError("command.outside", program=word)
    held = real if copy is None else _in_copy(real, workspace, copy)
    try:
        status = held.stat()
    except OSError:  # such as a name that is too long, or a folder that is closed to us
        raise InputError("command.not-found", program=word) from None
    if not stat.S_ISREG(status.st_mode) or not os.access(held, os.X_OK):
        raise InputError("command.not-found", program=word)
    inside = real.is_relative_to(workspace.path)
    by_target = hides(found.name, real.name) and not any(map(found.is_relative_to, SYSTEM))
    return Executable(
        path=str(real if by_target else found),
        dev=status.st_dev,
        ino=status.st_ino,
        sha256=_sha256(held, word) if inside else None,
    )


def lies_elsewhere(program: Path, workspace: Workspace) -> bool:
    """Tell whether a path, or where it leads, is outside of workspace, toolchains and system."""
    places = (*SYSTEM, *_open_places(workspace))
    ways = (_real(program.parent) / program.name, _real(program))
    return not all(any(map(path.is_relative_to, places)) for path in ways)


def _search_path(workspace: Workspace) -> tuple[Path, ...]:
    tools = [place for toolchain in workspace.toolchains for place in toolchain.bin_dirs]
    return tuple(dict.fromkeys([*tools, *SYSTEM_PATH]))


def _open_places(workspace: Workspace) -> tuple[Path, ...]:
    tools = [path for toolchain in workspace.toolchains for path in toolchain.paths]
    return (workspace.path, *tools, *map(_real, tools))


def _in_copy(real: Path, workspace: Workspace, copy: Path) -> Path:
    """Return where the bytes lie that bear this name inside a sandbox on a copy."""
    tools = [path for toolchain in workspace.toolchains for path in toolchain.paths]
    if not real.is_relative_to(workspace.path) or any(map(real.is_relative_to, tools)):
        return real
    return copy / real.relative_to(workspace.path)


def _locate(word: str, workspace: Workspace, cwd: Path) -> Path:
    if word.startswith("/"):
        return Path(word)
    if "/" in word:
        # The link itself, as a venv's python is one to the system's; its target is looked at next.
        found = _real((cwd / word).parent) / Path(word).name
        if not any(found.is_relative_to(place) for place in _open_places(workspace)):
            raise InputError("command.outside", program=word)
        return found
    for place in _search_path(workspace):
        candidate = place / word
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):  # noqa: PTH113  # as above
            return candidate
    raise InputError("command.not-found", program=word)


def _real(path: Path) -> Path:
    """Return where links lead; a loop of them leads nowhere, where `Path.resolve` would raise."""
    return Path(os.path.realpath(path))


def _sha256(path: Path, word: str) -> str:
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size > MAX_PROGRAM_BYTES:
            raise InputError("command.program-too-large", program=word, limit=MAX_PROGRAM_BYTES)
        return hashlib.file_digest(file, "sha256").hexdigest()
