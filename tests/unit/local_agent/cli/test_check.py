"""``codexbridge check``: the verdict of a real request, without asking, keeping or writing."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest

import codexbridge
from common.diff.parse import parse_diff
from common.diff.patching import patched
from common.home import Home
from local_agent.workspace.registry import Registry
from tests.unit.local_agent.cli.conftest import AgentDouble

Captured = pytest.CaptureFixture[str]
OLD = "def login():\n    retry = 3\n    return retry\n"
FIX = """\
--- a/login.py
+++ b/login.py
@@ -1,3 +1,3 @@
 def login():
-    retry = 3
+    retry = 5
     return retry
"""


@pytest.fixture
def folder(tmp_path: Path, home: Home) -> Path:
    """A folder with one file, and nobody's workspace."""
    root = tmp_path / "shop"
    root.mkdir()
    (root / "login.py").write_text(OLD, encoding="utf-8")
    return root


@pytest.fixture
def patch(tmp_path: Path) -> Path:
    """The patch in a file."""
    path = tmp_path / "fix.diff"
    path.write_text(FIX, encoding="utf-8")
    return path


def verdict(capsys: Captured, *arguments: object) -> dict[str, Any]:
    capsys.readouterr()
    code = codexbridge.main(["check", *map(str, arguments), "--json"])
    told = dict(json.loads(capsys.readouterr().out))
    assert code == (0 if told["verdict"] == "accepted" else 1)
    return told


def test_a_patch_that_fits_is_accepted(folder: Path, patch: Path, capsys: Captured) -> None:
    told = verdict(capsys, patch, "--folder", folder)
    assert (told["verdict"], told["code"], told["risk"]) == ("accepted", None, "normal")
    assert (told["folder"], told["moved"]) == (str(folder), 0)
    (file,) = told["files"]
    assert (file["op"], file["path"], file["added"], file["removed"]) == (
        "modify",
        "login.py",
        1,
        1,
    )
    assert codexbridge.main(["check", str(patch), "--folder", str(folder)]) == 0
    assert "Accepted" in capsys.readouterr().out


def test_what_a_task_proposes_is_checked_by_its_id(
    folder: Path, home: Home, agent: AgentDouble, capsys: Captured
) -> None:
    Registry(home, home=Path.home()).add(folder, test_command=None)
    agent.events["diff"] = [{"diff": base64.b64encode(FIX.encode()).decode()}]
    agent.answers["show"] = {"task": {"workspace": folder.name}, "approval": None}
    told = verdict(capsys, "t-7k3f")
    assert (told["verdict"], told["folder"]) == ("accepted", str(folder))
    assert agent.args_of("diff") == {"task": "T-7K3F"}


def test_nothing_is_written_anywhere(
    folder: Path, patch: Path, capsys: Captured, home: Home
) -> None:
    verdict(capsys, patch, "--folder", folder)
    assert sorted(path.name for path in folder.iterdir()) == ["login.py"]
    assert (folder / "login.py").read_text(encoding="utf-8") == OLD
    assert not home.state.exists()


def test_a_block_that_stands_elsewhere_is_counted(
    folder: Path, patch: Path, capsys: Captured
) -> None:
    (folder / "login.py").write_text("# top\n" * 5 + OLD, encoding="utf-8")
    told = verdict(capsys, patch, "--folder", folder)
    assert (told["verdict"], told["moved"]) == ("accepted", 1)
    codexbridge.main(["check", str(patch), "--folder", str(folder)])
    assert "another line" in capsys.readouterr().out


@pytest.mark.requirement("R32")
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    ("change", "code", "why"),
    [
        (("retry = 3", "retry = 4"), "diff.context", None),
        (("b/login.py", "b/../login.py"), "diff.name", "component"),
        (("+++ b/login.py", "+++ b/other.py"), "diff.refused", "names-differ"),
        (("@@ -1,3", "@@ -1,4"), "diff.refused", "cut"),
        (("login.py", "none.py"), "change.missing", None),
    ],
)
def test_a_refusal_says_why_and_where(
    folder: Path,
    patch: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    lang: str,
    change: tuple[str, str],
    code: str,
    why: str | None,
) -> None:
    monkeypatch.setenv("CODEXBRIDGE_LANG", lang)
    patch.write_text(FIX.replace(*change), encoding="utf-8")
    told = verdict(capsys, patch, "--folder", folder)
    assert (told["verdict"], told["code"]) == ("refused", code)
    assert why is None or told["why"] == why
    assert told["line"] or told["path"]
    assert told["files"] == []
    assert codexbridge.main(["check", str(patch), "--folder", str(folder)]) == 1
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert code not in said


def test_high_risk_is_told_with_its_reasons(folder: Path, patch: Path, capsys: Captured) -> None:
    patch.write_text(
        "--- a/login.py\n+++ /dev/null\n@@ -1,3 +0,0 @@\n"
        + "".join(f"-{line}\n" for line in OLD.splitlines()),
        encoding="utf-8",
    )
    told = verdict(capsys, patch, "--folder", folder)
    assert (told["risk"], bool(told["reasons"])) == ("high", True)
    codexbridge.main(["check", str(patch), "--folder", str(folder)])
    assert "high risk" in capsys.readouterr().out


@pytest.mark.requirement("R3")
def test_the_policy_of_a_workspace_counts(
    folder: Path, patch: Path, capsys: Captured, home: Home
) -> None:
    Registry(home, home=Path.home()).add(folder, confirmed=())
    policies = home.config / "policies"
    policies.mkdir(mode=0o700)
    policy = policies / "shop.toml"
    policy.write_text('refuse_paths = ["login.py"]\n', encoding="utf-8")
    policy.chmod(0o600)
    for where in (("--workspace", "shop"), ("--folder", folder), ()):
        told = verdict(capsys, patch, *where)
        assert (told["verdict"], told["code"]) == ("refused", "policy.refused")
    codexbridge.main(["check", str(patch)])
    assert capsys.readouterr().out.startswith("Refused: ")
    policy.write_text("what = 1\n", encoding="utf-8")
    assert verdict(capsys, patch)["code"] == "policy.unknown-key"


def test_without_a_workspace_the_current_folder_is_meant(
    folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(FIX.encode()), encoding="utf-8"))
    assert verdict(capsys, "-")["folder"] == str(folder)


def test_a_workspace_that_is_not_there_is_wrong_input(
    folder: Path, patch: Path, capsys: Captured
) -> None:
    assert codexbridge.main(["check", str(patch), "--workspace", "none"]) == 2
    assert codexbridge.main(["check", str(patch), "--folder", str(folder / "x")]) == 2
    assert capsys.readouterr().err.count("\n") == 2


@pytest.mark.parametrize(
    ("there", "why"),
    [(OLD.replace("\n", "\r\n").encode(), "line-ends"), (b"", "applied")],
)
def test_a_patch_that_does_not_fit_has_its_common_reason_told(
    folder: Path, patch: Path, capsys: Captured, there: bytes, why: str
) -> None:
    login = folder / "login.py"
    login.write_bytes(there or patched(parse_diff(FIX.encode()).files[0], OLD.encode()))
    told = verdict(capsys, patch, "--folder", folder)
    assert (told["code"], told["why"]) == ("diff.context", why)


def test_the_file_that_the_policy_keeps_is_named(
    folder: Path, patch: Path, capsys: Captured, home: Home
) -> None:
    Registry(home, home=Path.home()).add(folder, name="shop", confirmed=())
    policies = home.config / "policies"
    policies.mkdir(mode=0o700)
    (policies / "shop.toml").write_text('refuse_paths = ["login.*"]\n', encoding="utf-8")
    (policies / "shop.toml").chmod(0o600)
    told = verdict(capsys, patch, "--workspace", "shop")
    assert (told["code"], told["path"]) == ("policy.refused", "login.py")
    codexbridge.main(["check", str(patch), "--workspace", "shop"])
    assert "login.py" in capsys.readouterr().out
