"""The path guard: names that are no names, links, secrets, and what is no file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from common.errors import InputError
from local_agent.workspace import paths
from local_agent.workspace.paths import (
    Reader,
    check_relative,
    denied_part,
    is_denied,
    is_execution_surface,
    open_file,
    open_root,
    read_text,
)
from tests.each import each


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    (path / "src").mkdir(parents=True)
    (path / "src/main.py").write_text("print('hi')\n", encoding="utf-8")
    return path


def _code(workspace: Path, path: str, **bounds: int) -> str:
    with pytest.raises(InputError) as caught:
        read_text(workspace, path, **bounds)  # type: ignore[arg-type]  # bounds are ints alone
    return caught.value.code


def test_a_file_is_read_by_its_relative_path(workspace: Path) -> None:
    assert read_text(workspace, "src/main.py") == "print('hi')\n"


def test_names_in_any_script_are_names(workspace: Path) -> None:
    (workspace / "源码").mkdir()
    (workspace / "源码/café.py").write_bytes(b"\xff\n")
    assert read_text(workspace, "源码/café.py") == "�\n"
    assert check_relative("a-b_c+d/e f.txt") == ("a-b_c+d", "e f.txt")


@pytest.mark.requirement("R52")
@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../outside",
        "src/../../outside",
        "./src",
        "src//main.py",
        "src/",
        "src/\x00",
        "src/a\nb",
        "src/\u202egnp.py",
        "src/a\u200b",
        "src/a\u2028b",
        " src/main.py",
        "src /main.py",
        "src/\ud800",
        "x" * 256,
        "é" * 128,
        "/".join(["xxxxxxxxx"] * 103),
    ],
)
def test_a_path_with_a_trick_in_it_is_refused(workspace: Path, path: str) -> None:
    assert _code(workspace, path) == "path.malformed"


@pytest.mark.requirement("R52")
@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        ".GIT/config",
        "git~1/config",
        "\uff0egit/config",
        "sub/.git/hooks/x",
        ".env",
        ".env.local",
        ".ENV",
        "deploy/key.pem",
        "id_rsa",
        "keys/id_ed25519",
        "cert.p12",
        ".netrc",
        ".npmrc",
        ".pypirc",
        "kubeconfig",
        "terraform.tfstate",
        "aws_credentials.json",
        "passwords.kdbx",
        ".ssh/known_hosts",
        ".env.d/plain.txt",
    ],
)
def test_secrets_and_gits_own_are_never_read(workspace: Path, path: str) -> None:
    file = workspace / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("secret", encoding="utf-8")
    assert _code(workspace, path) == "path.denied"


def test_ordinary_names_are_not_denied() -> None:
    for name in ("main.py", "environment.py", "README.md", ".gitignore", "pem.py", "identity.py"):
        assert not denied_part(name)


@pytest.mark.requirement("R52")
def test_no_link_is_followed(workspace: Path) -> None:
    outside = workspace.parent / "outside"
    outside.mkdir()
    (outside / "file").write_text("secret", encoding="utf-8")
    (workspace / "folder").symlink_to(outside)
    (workspace / "file").symlink_to(outside / "file")
    (workspace / "inner").symlink_to("src/main.py")
    assert _code(workspace, "folder/file") == "path.missing"
    assert _code(workspace, "file") == "path.link"
    assert _code(workspace, "inner") == "path.link"


def test_what_is_no_text_file_is_refused_and_never_waited_for(workspace: Path) -> None:
    os.mkfifo(workspace / "fifo")
    (workspace / "binary").write_bytes(b"\x7fELF\x00")
    (workspace / "large").write_bytes(b"x" * 11)
    assert _code(workspace, "fifo") == "path.not-regular"
    assert _code(workspace, "src") == "path.not-regular"
    assert _code(workspace, "binary") == "path.binary"
    assert _code(workspace, "large", max_bytes=10) == "path.too-large"
    assert _code(workspace, "absent") == "path.missing"
    assert _code(workspace, "src/main.py/x") == "path.missing"
    assert read_text(workspace, "large", max_bytes=11) == "x" * 11


def test_a_workspace_that_is_gone_or_a_link_is_missing(workspace: Path) -> None:
    (workspace.parent / "link").symlink_to(workspace)
    assert _code(workspace.parent / "absent", "x") == "path.missing"
    assert _code(workspace.parent / "link", "src/main.py") == "path.missing"


def test_a_folder_that_is_moved_while_it_is_read_leads_nowhere_else(workspace: Path) -> None:
    with open_root(workspace) as root:
        workspace.rename(workspace.parent / "moved")
        (workspace / "src").mkdir(parents=True)
        (workspace / "src/main.py").write_text("other", encoding="utf-8")
        with os.fdopen(open_file(root, ("src", "main.py")), encoding="utf-8") as file:
            assert file.read() == "print('hi')\n"


def test_reading_leaves_no_descriptor_open(workspace: Path) -> None:
    before = len([*OPEN.iterdir()])
    for path in ("src/main.py", "src", "absent", "src/absent", ".env"):
        try:
            read_text(workspace, path)
        except InputError:
            continue
    assert len([*OPEN.iterdir()]) == before


@pytest.mark.requirement("R52")
def test_the_workspaces_and_the_persons_lists_deny_in_addition(workspace: Path) -> None:
    text = "# ours\nprivate/\n*.log\n!src/main.py\nsrc/inner/x*\n"
    (workspace / ".codexbridgeignore").write_text(text, encoding="utf-8")
    for path in ("private/a", "a.log", "src/b.log", "src/inner/x1", "kept.txt"):
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text("x", encoding="utf-8")
        code = "" if path == "kept.txt" else _code(workspace, path)
        assert code in ("", "path.denied")
    assert read_text(workspace, "kept.txt") == "x"
    with pytest.raises(InputError) as caught:
        read_text(workspace, "kept.txt", deny=("kept*",))
    assert caught.value.code == "path.denied"
    assert read_text(workspace, "src/main.py")


@pytest.mark.requirement("R6")
def test_a_deny_list_that_cannot_be_read_denies_everything(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deny = workspace / ".codexbridgeignore"
    deny.symlink_to("/etc/hostname")
    assert _code(workspace, "src/main.py") == "path.denied"
    deny.unlink()
    deny.write_text("x\n" * (paths.MAX_DENY_PATTERNS + 1), encoding="utf-8")
    assert _code(workspace, "src/main.py") == "path.denied"
    deny.write_text("x" * 256, encoding="utf-8")
    assert _code(workspace, "src/main.py") == "path.denied"
    monkeypatch.setattr(paths, "MAX_DENY_BYTES", 10)
    deny.write_text("x\n" * 10, encoding="utf-8")
    assert _code(workspace, "src/main.py") == "path.denied"


def test_a_pattern_denies_a_folder_with_all_in_it() -> None:
    assert is_denied(("a", "secret", "b"), ("secret",))
    assert is_denied(("a", "b", "c"), ("a/b",))
    assert not is_denied(("a", "b", "c"), ("b/c",))
    assert not is_denied(("a",), ())


@each(
    "path, surface",
    [
        (".github/workflows/ci.yml", True),
        ("sub/.vscode/tasks.json", True),
        (".idea/workspace.xml", True),
        (".husky/pre-commit", True),
        (".git/hooks/pre-commit", True),
        (".codex/config.toml", True),
        (".codexbridge/x", True),
        (".claude/settings.json", True),
        (".devcontainer/devcontainer.json", True),
        ("tests/conftest.py", True),
        ("Makefile", True),
        ("build/rules.mk", True),
        ("Dockerfile", True),
        ("docker/Dockerfile.dev", True),
        ("package.json", True),
        ("web/vite.config.ts", True),
        ("web/.eslintrc.cjs", True),
        ("setup.py", True),
        ("pyproject.toml", True),
        ("lib/sitecustomize.py", True),
        ("lib/evil.pth", True),
        ("AGENTS.md", True),
        ("sub/Claude.MD", True),
        (".mcp.json", True),
        (".envrc", True),
        (".npmrc", True),
        (".gitattributes", True),
        (".gitmodules", True),
        (".pre-commit-config.yaml", True),
        ("src/main.py", False),
        ("docs/github.md", False),
        ("src/config.js", False),
        ("src/src.js", False),
        ("src/dockerfiles.md", False),
        ("src/makefile.txt", False),
    ],
)
@pytest.mark.requirement("R38")
def test_execution_surfaces_are_known_by_place_and_by_name(path: str, surface: bool) -> None:
    assert is_execution_surface(path) is surface


OPEN = Path("/proc/self/fd")


def _read(workspace: Path, *names: str, deny: tuple[str, ...] = ()) -> list[str]:
    """Return the content of each, or why there is none."""
    told = []
    with open_root(workspace, deny=deny) as root, Reader(root) as reader:
        for name in names:
            try:
                told.append(reader.read(name, max_bytes=100).decode())
            except InputError as error:
                told.append(error.code)
    return told


@pytest.mark.requirement("R52")
def test_a_reader_of_many_files_refuses_what_a_single_reading_would(
    workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("topsecret", encoding="utf-8")
    for name in ("src/.env", "own.txt", "src/deep/own/a", "id_rsa/a", "src/deep/a"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("topsecret", encoding="utf-8")
    (workspace / "src/link").symlink_to(tmp_path / "secret")
    (workspace / "folder").symlink_to(tmp_path)
    (workspace / "src/binary").write_bytes(b"a\0b")
    (workspace / "src/long").write_bytes(b"x" * 101)
    os.mkfifo(workspace / "src/fifo")
    names = ["src/main.py", "src/.env", "own.txt", "src/deep/own/a", "id_rsa/a", "src/link"]
    names += ["folder/secret", "src/binary", "src/long", "src/fifo", "../secret", "src//main.py"]
    assert _read(workspace, *names, "src", "src/main.py", deny=("own*",)) == [
        "print('hi')\n",
        "path.denied",
        "path.denied",
        "path.denied",
        "path.denied",
        "path.link",
        "path.missing",
        "path.binary",
        "path.too-large",
        "path.not-regular",
        "path.malformed",
        "path.malformed",
        "path.not-regular",
        "print('hi')\n",
    ]


def test_a_reader_keeps_few_folders_open_and_closes_them(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "_KEPT_OPEN", 2)
    names = [f"folder{number}/a" for number in range(9)]
    for name in names:
        (workspace / name).parent.mkdir()
        (workspace / name).write_text(name, encoding="utf-8")
    before = len([*OPEN.iterdir()])
    with open_root(workspace) as root, Reader(root) as reader:
        assert [reader.read(name).decode() for name in (*names, *names)] == [*names, *names]
        assert len([*OPEN.iterdir()]) <= before + 1 + 2
    assert len([*OPEN.iterdir()]) == before


def test_a_file_that_grew_beyond_the_limit_is_refused(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = workspace / "src/main.py"
    real = os.read

    def growing(handle: int, size: int) -> bytes:
        content = real(handle, size)
        if target.stat().st_size < 200:
            with target.open("a", encoding="utf-8") as file:
                file.write("x" * 50)
        return content

    monkeypatch.setattr(os, "read", growing)
    assert _read(workspace, "src/main.py") == ["path.too-large"]
