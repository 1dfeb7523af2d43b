"""What a name of a request may mean."""

from __future__ import annotations

import pytest

from local_agent.propose.context.naming import (
    MAX_ALIKE,
    MAX_IN_FOLDER,
    Named,
    find_named,
    find_spoken,
)

KNOWN = (
    "README.md",
    "docs/auth/index.md",
    "src/auth/deep/token.py",
    "src/auth/login.py",
    "src/login.py",
    "web/login.ts",
)


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("src/login.py", ("src/login.py",)),
        ("login.py", ("src/auth/login.py", "src/login.py")),
        ("auth/login.py", ("src/auth/login.py",)),
        ("./README.md", ("README.md",)),
        ("ogin.py", ()),
        ("", ()),
        ("/", ()),
    ],
)
def test_a_file_is_found_by_its_path_or_its_end(name: str, files: tuple[str, ...]) -> None:
    assert find_named(name, KNOWN).files == files


def test_the_exact_path_comes_first() -> None:
    assert find_named("login.py", ("a/login.py", "login.py")).files == ("login.py", "a/login.py")


def test_a_folder_gives_its_files_the_upper_ones_first() -> None:
    assert find_named("src/auth", KNOWN) == Named(
        inside=("src/auth/login.py", "src/auth/deep/token.py")
    )
    assert find_named("auth/", KNOWN).inside == (
        "docs/auth/index.md",
        "src/auth/login.py",
        "src/auth/deep/token.py",
    )


def test_a_large_folder_is_bounded() -> None:
    assert len(find_named("a", [f"a/{number}" for number in range(500)]).inside) == MAX_IN_FOLDER


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("update the Readme please", ("README.md",)),
        ("login 为什么重试三次", ("src/auth/login.py", "src/login.py", "web/login.ts")),
        ("why does the token of a login expire", ("src/auth/deep/token.py",)),
        ("why do logins expire", ()),
        ("", ()),
    ],
)
def test_a_plain_word_may_be_the_name_of_a_file(text: str, files: tuple[str, ...]) -> None:
    known = KNOWN if "token" not in text else tuple(path for path in KNOWN if "login" not in path)
    assert find_spoken(text, known) == files


def test_a_word_that_many_files_bear_names_none() -> None:
    assert find_spoken("the index", [f"{n}/index.ts" for n in range(MAX_ALIKE)])
    assert find_spoken("the index", [f"{n}/index.ts" for n in range(MAX_ALIKE + 1)]) == ()
