"""The launcher: whose packages run, how fast help is, and how anything ends in one line."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Literal

import pytest

import codexbridge
from common.sentences import SHARED, say
from tests.each import each

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).parent.parent.parent
HEAVY = ("sqlalchemy", "aiohttp", "keyring", "pydantic", "cryptography", "websockets", "asyncio")


def run(
    *arguments: str, environ: dict[str, str] | None = None, cwd: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=kept | {"LANG": "C.UTF-8", **(environ or {})},
        capture_output=True,
        encoding="utf-8",
        timeout=20,
        check=False,
    )


def launch(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return run(str(ROOT / "codexbridge.py"), *arguments, environ=environ)


def imported_by(*arguments: str, **environ: str) -> set[str]:
    script = (
        "import sys, codexbridge\n"
        f"try: codexbridge.main({list(arguments)!r})\n"
        "except SystemExit: pass\n"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    done = run("-c", script, environ={"PYTHONPATH": str(ROOT), **environ})
    return set(done.stderr.splitlines()[-1].split())


@each("arguments", [("--help",), ("-h",), ("--version",)])
def test_help_and_version_import_nothing_heavy_and_nothing_of_ours(
    arguments: tuple[str, ...],
) -> None:
    assert imported_by(*arguments).isdisjoint((*HEAVY, "common", "gateway", "local_agent"))


def test_status_imports_nothing_heavy(tmp_path: Path) -> None:
    assert imported_by("status", CODEXBRIDGE_HOME=str(tmp_path)).isdisjoint(HEAVY)


@each("lang", ["en", "zh"])
def test_every_command_is_listed_and_has_help(lang: str) -> None:
    listed = launch("--help", CODEXBRIDGE_LANG=lang)
    assert listed.returncode == 0
    script = (
        "import sys, codexbridge\n"
        "for name in codexbridge.COMMANDS:\n"
        "    try: code = codexbridge.main([name, '--help'])\n"
        "    except SystemExit as end: code = end.code\n"
        "    print('\\f', name, code, sep='\\n')\n"
    )
    helped = run("-c", script, environ={"PYTHONPATH": str(ROOT), "CODEXBRIDGE_LANG": lang})
    assert (helped.returncode, helped.stderr) == (0, "")
    begun = ""
    for name, part in zip(codexbridge.COMMANDS, helped.stdout.split("\f"), strict=False):
        assert f"\n  {name} " in listed.stdout
        assert f"codexbridge {name}" in part
        assert begun in part
        begun = f"\n{name}\n0\n"
    assert helped.stdout.endswith(begun)


@pytest.mark.requirement("P1")
@pytest.mark.requirement("R5")
def test_approve_offers_no_option_that_answers() -> None:
    said = launch("approve", "--help").stdout
    options = {word.strip("[],") for word in said.split() if word[0] in "-["}
    # `--only` leaves files out: what is left is sealed anew, and asked about like any other.
    # `--check` asks for another approval, of the tests on a copy.
    harmless = {"-h", "--help", "--only", "--check"}
    assert {option for option in options if option.startswith("-")} <= harmless
    for option in ("--yes", "-y", "--force", "--code=7K3F"):
        assert launch("approve", option).returncode == 2


def test_the_version_is_that_of_the_distribution() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert launch("--version").stdout == f"codexbridge {project['version']}\n"


@pytest.mark.parametrize("where", ["cwd", "PYTHONPATH"])
@pytest.mark.parametrize("shape", ["common/__init__.py", "local_agent/__init__.py", "gateway.py"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_foreign_package_is_refused_and_does_not_run(
    tmp_path: Path, where: str, shape: str, lang: str
) -> None:
    planted = tmp_path / shape
    planted.parent.mkdir(exist_ok=True)
    planted.write_text("open('ran', 'w')\n", encoding="utf-8")
    paths = [str(ROOT)] if where == "cwd" else [str(tmp_path), str(ROOT)]
    done = run(
        *("-m", "codexbridge", "status"),
        cwd=tmp_path if where == "cwd" else ROOT / "tests",
        environ={"PYTHONPATH": os.pathsep.join(paths), "CODEXBRIDGE_LANG": lang},
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert str(planted) in done.stderr
    assert list(tmp_path.rglob("ran")) == []


def test_isolated_mode_ignores_what_lies_in_the_working_folder(tmp_path: Path) -> None:
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "__init__.py").write_text("raise SystemExit(9)", encoding="utf-8")
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import codexbridge; "
    done = run("-I", "-c", script + "print(codexbridge.foreign_package('en'))", cwd=tmp_path)
    assert done.stdout == "None\n"


def test_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codexbridge, "PACKAGES", ("no_such_package_of_ours",))
    assert "no_such_package_of_ours" in (codexbridge.foreign_package("en") or "")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_unknown_command_is_one_line_with_what_was_meant(lang: str) -> None:
    done = launch("statsu", CODEXBRIDGE_LANG=lang)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "status" in done.stderr
    of_the_chat = launch("revise", "T-7K3F", CODEXBRIDGE_LANG=lang)
    assert 'codexbridge ask "revise …"' in of_the_chat.stderr
    early = launch("--json", "status", CODEXBRIDGE_LANG=lang)
    assert early.returncode == 2
    assert early.stderr.count("\n") == 1
    assert "codexbridge status --json" in early.stderr
    for words in (("--lang", "zh", "help"), ("--lang=zh", "help")):
        unknown = launch(*words, CODEXBRIDGE_LANG=lang)
        assert unknown.returncode == 2
        assert "help --lang" not in unknown.stderr, "which there is not, either"
        assert "CODEXBRIDGE_LANG" in unknown.stderr


def test_without_a_command_help_is_shown_and_nothing_succeeds() -> None:
    done = launch()
    assert done.returncode == 2
    assert "approve" in done.stdout


def test_wrong_configuration_is_one_line_and_exit_code_2() -> None:
    done = launch("status", CODEXBRIDGE_HOME="relative")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "CODEXBRIDGE_HOME" in done.stderr


def test_the_hint_of_an_error_names_the_settings_file_in_use(tmp_path: Path) -> None:
    file = tmp_path / "gw.toml"
    file.write_text('language = "en"\n', encoding="utf-8")
    home = {"CODEXBRIDGE_HOME": str(tmp_path / "home"), "CODEXBRIDGE_LANG": "en"}
    done = launch("gateway", "--config", str(file), "member", "remove", "nobody", **home)
    assert f"codexbridge gateway --config {file} member list" in done.stderr


def test_no_agent_is_exit_code_3_for_status_and_1_for_the_others(tmp_path: Path) -> None:
    for command, code in (("status", 3), ("tasks", 1)):
        done = launch(command, CODEXBRIDGE_HOME=str(tmp_path))
        assert done.returncode == code
        assert done.stderr.count("\n") == 1


def test_a_bug_is_one_line_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from local_agent.cli import status

    def broken(*_: object) -> int:
        raise ZeroDivisionError("a secret value")

    monkeypatch.setattr(status, "run", broken)
    assert codexbridge.main(["status"]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "secret" not in said


def test_ctrl_c_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    from local_agent.cli import status

    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(status, "run", interrupted)
    assert codexbridge.main(["status"]) == 130


def test_a_reader_that_goes_away_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, str(ROOT / "codexbridge.py"), "--help"],
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=20,
            check=False,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    ("named", "code"), [("missing.json", "system.no-file"), ("", "system.folder")]
)
def test_a_file_that_cannot_be_used_is_told_in_the_language_of_the_terminal(
    tmp_path: Path, named: str, code: str, lang: Literal["en", "zh"]
) -> None:
    path = str(tmp_path / named)
    verify = ("receipt", "verify", path, "--key", "11" * 32)
    done = launch(*verify, CODEXBRIDGE_LANG=lang, CODEXBRIDGE_HOME=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == f"codexbridge: {say(SHARED[code], lang, path=path)}\n"


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    ("number", "path", "code"),
    [
        (errno.ENOSPC, None, "system.full"),
        (errno.ENOSPC, "a", "system.full"),
        (errno.EROFS, "a", "system.read-only"),
    ],
)
def test_a_full_or_read_only_disk_is_told_in_the_language_of_the_terminal(
    number: int,
    path: str | None,
    code: str,
    lang: Literal["en", "zh"],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> int:
        raise OSError(number, os.strerror(number), path)

    monkeypatch.setattr("local_agent.cli.status.run", fail)
    monkeypatch.setenv("CODEXBRIDGE_LANG", lang)
    assert codexbridge.main(["status"]) == 1
    assert capsys.readouterr().err == f"codexbridge: {say(SHARED[code], lang, path=path)}\n"


@pytest.mark.parametrize(
    ("environ", "lang"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US", "CODEXBRIDGE_LANG": "zh"}, "zh"),
        ({"CODEXBRIDGE_LANG": "", "LC_MESSAGES": "ZH_TW"}, "zh"),
    ],
)
def test_the_language_of_the_machine_is_read_from_its_environment(
    environ: dict[str, str], lang: str
) -> None:
    assert codexbridge.system_language(environ) == lang


@pytest.mark.requirement("P7")
@each(
    "words, closed",
    [
        ("tasks", ">&-"),
        ("gateway status", ">&-"),
        ("nonsense", ">&-"),
        ("--help", ">&-"),
        ("workspace list", "2>&-"),
        ("tasks", "<&- >&- 2>&-"),
        ("--help", ">/dev/full"),
        ("gateway --help", "1</dev/null"),
    ],
)
def test_where_nobody_can_be_told_nothing_ends_in_a_traceback(words: str, closed: str) -> None:
    # What is written where no stream is would go into a file that got its number.
    command = f'exec "{sys.executable}" codexbridge.py {words} {closed}'
    kept = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "CODEXBRIDGE_HOME": "/nonexistent/home"}
    done = subprocess.run(
        ["sh", "-c", command], cwd=ROOT, env=kept, capture_output=True, timeout=20, check=False
    )
    told = done.stderr.decode().splitlines()
    assert len(told) <= 1, told
    assert "went wrong" not in "".join(told)
    assert done.returncode in (0, 1, 2)
