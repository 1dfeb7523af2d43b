"""Rules of structure that import-linter cannot see."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PRODUCT = [ROOT / "codexbridge.py", *(ROOT / name for name in ("common", "gateway", "local_agent"))]
STARTS_CHILDREN = {
    "common/service.py",  # for a person at the command line; no agent and no gateway loads it
    "local_agent/sandbox/process.py",
    "local_agent/sandbox/warden.py",  # runs alone in the process that process.py starts
    "common/children.py",  # starts codexbridge itself, nothing else
}
READS_THE_CLOCK = {"common/clock.py"}
CHILD_CALLS = {
    "subprocess",
    "os.system",
    "os.popen",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.posix_spawnp",
    "pty.spawn",
    "pty.fork",
    "asyncio.create_subprocess_exec",
    "asyncio.create_subprocess_shell",
    *(f"os.exec{suffix}" for suffix in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
    *(f"os.spawn{suffix}" for suffix in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
}
CLOCK_CALLS = {
    "time.time",
    "time.time_ns",
    "time.monotonic",
    "time.monotonic_ns",
    "datetime.now",
    "datetime.datetime.now",
    "datetime.utcnow",
}


def _sources() -> Iterator[tuple[str, str]]:
    for place in PRODUCT:
        for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def _modules(*words: str) -> Iterator[tuple[str, ast.Module]]:
    """Yield the modules; where words are given, those whose text has one of them."""
    for name, text in _sources():
        if not words or any(word in text for word in words):
            yield name, ast.parse(text)


@dataclass
class Seen:
    """What stands in all modules, looked through once.

    Attributes:
        texts: Module and each text in it.
        sizes: Module, and each function in it with its lines.
    """

    texts: set[tuple[str, str]] = field(default_factory=set)
    sizes: list[tuple[str, str, int]] = field(default_factory=list)


@pytest.fixture(scope="module")
def seen() -> Seen:
    all_of_it = Seen()
    for name, tree in _modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant):
                if isinstance(node.value, str):
                    all_of_it.texts.add((name, node.value))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                size = (node.end_lineno or 0) - node.lineno + 1
                all_of_it.sizes.append((name, node.name, size))
    return all_of_it


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _uses(tree: ast.Module, names: set[str]) -> list[str]:
    used = [name for node in ast.walk(tree) if (name := _dotted(node)) in names]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            used += [alias.name for alias in node.names if alias.name in names]
        if isinstance(node, ast.ImportFrom):
            used += [
                f"{node.module}.{alias.name}"
                for alias in node.names
                if node.module in names or f"{node.module}.{alias.name}" in names
            ]
    return used


@pytest.mark.requirement("R1")
def test_only_the_process_modules_start_children() -> None:
    words = ("subprocess", "os.system", "os.popen", "os.fork", "os.exec", "os.spawn", "from os")
    offenders = {
        name: used
        for name, tree in _modules(*words, "posix_spawn", "pty")
        if name not in STARTS_CHILDREN and (used := _uses(tree, CHILD_CALLS))
    }
    assert offenders == {}


def test_only_the_clock_module_reads_the_clock() -> None:
    words = ("time.time", "time.monotonic", "from time", "import time", "datetime.now", "utcnow")
    offenders = {
        name: used
        for name, tree in _modules(*words)
        if name not in READS_THE_CLOCK and (used := _uses(tree, CLOCK_CALLS))
    }
    assert offenders == {}


@pytest.mark.requirement("P1")
def test_no_setting_flag_or_variable_can_stand_in_for_a_confirmation(seen: Seen) -> None:
    words = ("auto_approve", "autoapprove", "skip_approval", "always_allow", "assume_yes")
    offenders = [
        (name, value)
        for name, value in seen.texts
        if any(word in value.lower().replace("-", "_") for word in words) or value == "--yes"
    ]
    assert offenders == []


@pytest.mark.requirement("P1")
def test_who_decides_is_said_where_the_agent_is_assembled_and_nowhere_else() -> None:
    # In the window an armed click stands for the code (R29); nothing else may claim to be it.
    entrances = {
        (name, ast.unparse(argument))
        for name, tree in _modules("entrance")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "entrance"
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]
    }
    assert entrances == {
        ("local_agent/assembly.py", "'terminal'"),
        ("local_agent/assembly.py", "'dry-run'"),  # takes no code: for the copies of dry runs alone
        ("local_agent/assembly.py", "'passkey'"),
        ("local_agent/windows.py", "'desktop'"),
    }
    made = {
        name
        for name, tree in _modules("Entrance")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _dotted(node.func).endswith("Entrance")
    }
    assert made == {"local_agent/flow/gate.py"}


def test_modules_and_functions_stay_readable(seen: Seen) -> None:
    too_long = [
        f"{name}: {lines} lines" for name, text in _sources() if (lines := text.count("\n")) > 500
    ]
    too_long += [f"{name}: {what} has {size} lines" for name, what, size in seen.sizes if size > 60]
    assert too_long == []


def test_tests_are_no_package_that_could_shadow_the_product() -> None:
    assert list((ROOT / "tests").rglob("__init__.py")) == []


def test_an_agent_that_waits_has_not_loaded_what_carries_a_task() -> None:
    late = (
        *(
            "local_agent.flow.steps",
            "local_agent.flow.approving",
            "local_agent.flow.proposing",
        ),
        *("local_agent.actions.run_command.perform", "local_agent.actions.changes.describe"),
        *("local_agent.actions.git_sync.perform", "local_agent.workspace.writer"),
        *("local_agent.propose.context", "local_agent.reports.read", "local_agent.understand"),
        *("local_agent.propose.coding", "local_agent.models.http", "aiohttp", "pygit2"),
        *("local_agent.models.codex", "local_agent.models.acp", "webauthn"),
    )
    asked = f"import local_agent.assembly, sys; print([m for m in {late} if m in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", asked], cwd=ROOT, capture_output=True, check=True, encoding="utf-8"
    )
    assert found.stdout.strip() == "[]"


def test_a_warden_imports_next_to_nothing_since_every_command_waits_for_it() -> None:
    asked = (
        "import sys; bare = {*sys.modules}; sys.path.append('local_agent/sandbox'); import warden; "
    )
    asked += "print(*{*sys.modules} - bare)"
    found = subprocess.run(
        [sys.executable, "-I", "-S", "-c", asked],
        cwd=ROOT,
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    of_os = {"os", "os.path", "posixpath", "genericpath", "stat", "_stat", "_collections_abc"}
    built_in = {"abc", "_abc", "__future__", "marshal", "time", "posix", "errno", "_signal"}
    loaded = {*found.stdout.split()}
    assert loaded <= {"warden", "_ctypes", "fcntl", "resource"} | of_os | built_in
