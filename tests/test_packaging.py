"""What is shipped, and how it is pinned."""

from __future__ import annotations

import hashlib
import re
import subprocess
import tomllib
import zipfile
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


# What browsers are given of others, as it was published: the file, and the licence beside it.
VENDORED = {
    # htm 3.1.1, preact/standalone.module.js, with preact 10
    "preact.js": "72284e8e9079c87817145df1110f74e8a2aa040b2fc384922e18dfcb46fc1fd7",
    "preact.LICENSE": "1fe6958409c8c257a70c587a18b6f7f412b179b456630790d30b2ec9a8e4b7d4",
    "htm.LICENSE": "740725f7252e750af735d0028cc534970772f513331e9f68150fede8fb3ce00f",
    # marked 18.2.1, lib/marked.esm.js
    "marked.js": "5371fea86fd0656b4fc7bea7c94c663109d82789b69433eeee78d42895aa44de",
    "marked.LICENSE": "8e3a3f82f59a60958f56ca08f445647c32a4733dc7ca6c2c46f6eb898471ab9c",
}
PAGES = ("common/page/static", "local_agent/faces/page/static", "gateway/simulator/static")


@pytest.mark.requirement("R74")
def test_every_vendored_library_is_pinned_and_has_its_licence() -> None:
    folder = ROOT / "common/page/static/vendor"
    found = {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.iterdir()
        if not file.name.endswith(".d.ts")  # for the checks alone, written by us
    }
    assert found == VENDORED
    assert "marked v18.2.1 " in (folder / "marked.js").read_text(encoding="utf-8")[:200]
    licences = {"preact": "Jason Miller", "htm": "Apache License", "marked": "MarkedJS"}
    for name, words in licences.items():
        assert words in (folder / f"{name}.LICENSE").read_text(encoding="utf-8"), name
    named = {file.name for one in PROJECT["license-files"] for file in ROOT.glob(one)}
    assert named == {"LICENSE", "NOTICE", *(f"{name}.LICENSE" for name in licences)}


def test_the_page_loads_nothing_from_elsewhere() -> None:
    for folder in PAGES:
        for file in (ROOT / folder).iterdir():
            if file.suffix in (".js", ".css", ".html"):
                text = file.read_text(encoding="utf-8")
                loaded = re.findall(
                    r"""(?:from|import|src=|href=|url)\W{0,3}["'(]([^"')\s]+)""", text
                )
                away = [one for one in loaded if re.match(r"[a-z]+:|//", one)]
                assert away == [], file


@pytest.mark.heavy
def test_the_wheel_brings_along_what_browsers_are_given(tmp_path: Path) -> None:
    uv = ROOT / ".venv/bin/uv"
    subprocess.run(
        [uv, "build", "--quiet", "--wheel", "--offline", "--out-dir", tmp_path],
        cwd=ROOT,
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
    wanted = {
        str(file.relative_to(ROOT))
        for folder in PAGES
        for file in (ROOT / folder).rglob("*")
        if file.is_file()
    }
    assert len(wanted) > 20
    assert wanted - names == set()


def test_the_wheel_brings_along_the_manual_page_in_both_languages() -> None:
    brought = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    pages = {str(file.relative_to(ROOT)) for file in (ROOT / "docs/man").rglob("*.1")}
    assert {*brought} == pages
    assert {*brought.values()} == {
        "share/man/man1/codexbridge.1",
        "share/man/zh_CN/man1/codexbridge.1",
    }


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
