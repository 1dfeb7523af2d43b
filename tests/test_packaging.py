"""What is shipped, and how it is pinned."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import codexbridge

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]


@pytest.mark.requirement("R74")
def test_every_locked_package_is_pinned_by_hash() -> None:
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    loose = [
        package["name"]
        for package in lock["package"]
        if package["name"] != "codexbridge"
        and not all("hash" in wheel for wheel in package.get("wheels", [package.get("sdist", {})]))
    ]
    assert loose == []
    bootstrap = (ROOT / ".ci" / "bootstrap.txt").read_text(encoding="utf-8")
    assert "--hash=sha256:" in bootstrap


def test_the_version_is_told_in_one_way() -> None:
    assert PROJECT["version"] == codexbridge.__version__


def test_the_source_archive_lists_only_what_is_there() -> None:
    listed = PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert [name for name in listed if not (ROOT / name).exists()] == []


def test_the_wheel_brings_along_what_help_shows() -> None:
    brought = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert brought == {"docs/how-to": "common/how_to", "config": "common/examples"}
    assert all((ROOT / folder).is_dir() for folder in brought)


def test_python_versions_are_claimed_only_where_they_ran() -> None:
    claimed = [name for name in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", name)]
    assert [name.rpartition(" ")[2] for name in claimed] == ["3.11", "3.12", "3.13"]


def test_every_runtime_dependency_is_imported_somewhere() -> None:
    names = {re.split(r"[\[<>=!~ ]", line)[0] for line in PROJECT["dependencies"]}
    modules = {
        "pycryptodome": "Crypto",
        "sv-ttk": "sv_ttk",
        "pyyaml": "yaml",
    }
    text = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in ("common", "gateway", "local_agent")
        for path in (ROOT / folder).rglob("*.py")
    )
    unused = [
        name
        for name in sorted(names)
        if not re.search(rf"(?m)^\s*(from|import) {modules.get(name, name)}\b", text)
    ]
    assert unused == []
