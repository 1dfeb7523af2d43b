"""Which files could help, and in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from local_agent.propose.context import finding
from local_agent.propose.context.collected import Around
from local_agent.propose.context.diagnostics import Diagnostic
from local_agent.propose.context.finding import (
    MAX_ALIKE,
    MAX_IN_FOLDER,
    Named,
    Wanted,
    about_changes,
    about_failure,
    find_named,
    find_spoken,
    is_test,
    search_terms,
    wanted,
)
from local_agent.workspace.files import Match
from tests.each import each

KNOWN = (
    "README.md",
    "src/app.py",
    "src/config.py",
    "src/main.py",
    "src/store/db.py",
    "src/store/rows.py",
    "tests/test_app.py",
    "tests/test_config.py",
)


def found(
    *,
    files: Sequence[str] = (),
    names: Sequence[str] = (),
    around: Around | None = None,
    hits: Mapping[str, Sequence[Match]] | None = None,
    changed: Sequence[str] = (),
    diagnostics: Sequence[Diagnostic] = (),
) -> list[Wanted]:
    return wanted(
        files=[find_named(name, KNOWN) for name in files],
        names=names,
        around=around or Around(),
        hits=hits or {},
        changed=changed,
        diagnostics=diagnostics,
        known=KNOWN,
    )


@pytest.mark.requirement("NL-5.1")
def test_the_order_is_that_of_worth() -> None:
    order = found(
        files=["README.md"],
        around=Around(active_file="src/main.py", selection=(3, 5)),
        hits={
            "load": [
                Match("src/app.py", 9, "load()"),
                Match("src/config.py", 4, "def load():"),
                Match("src/config.py", 2, "x = load()"),
            ]
        },
        changed=["src/store/db.py"],
        diagnostics=[Diagnostic("src/store/rows.py", 7)],
    )
    assert order == [
        Wanted("README.md", "named"),
        Wanted("src/main.py", "selection", selection=(3, 5)),
        Wanted("src/main.py", "active", (3, 5)),
        Wanted("src/config.py", "defines:load", (4, 2)),
        Wanted("src/app.py", "mentions:load", (9,)),
        Wanted("tests/test_app.py", "test-of"),
        Wanted("tests/test_config.py", "test-of"),
        Wanted("src/store/db.py", "changed"),
        Wanted("src/store/rows.py", "diagnostic", (7,)),
    ]


def test_a_folder_that_is_named_gives_its_files() -> None:
    inside = [Wanted("src/store/db.py", "in-folder"), Wanted("src/store/rows.py", "in-folder")]
    assert found(files=["src/store"]) == inside
    assert found(names=["src/store"]) == inside
    assert found(names=["store/rows.py"]) == [Wanted("src/store/rows.py", "named")]


def test_files_come_before_folders() -> None:
    order = found(files=["store", "README.md"])
    assert order[0].path == "README.md"


def test_a_file_counts_once_with_all_its_lines() -> None:
    (one,) = found(
        files=["src/main.py"],
        diagnostics=[Diagnostic("src/main.py", 7), Diagnostic("src/main.py", 9)],
    )
    assert one == Wanted("src/main.py", "named", (7, 9))


def test_tests_come_after_the_code_that_they_use() -> None:
    order = found(
        hits={"go": [Match("tests/test_app.py", 1, "go()"), Match("src/app.py", 1, "go()")]}
    )
    assert [one.path for one in order] == ["src/app.py", "tests/test_app.py"]


def test_a_remark_without_folder_counts_where_it_can_mean_one_file_alone() -> None:
    assert found(diagnostics=[Diagnostic("rows.py", 3)]) == [
        Wanted("src/store/rows.py", "diagnostic", (3,))
    ]
    assert found(diagnostics=[Diagnostic("gone.py", 3)]) == []


def test_what_is_not_listed_is_not_wanted_but_for_what_the_person_looks_at() -> None:
    assert found(changed=["build/out.js"]) == []
    assert found(around=Around(active_file=".env")) == [Wanted(".env", "active")]


@pytest.mark.parametrize(
    ("names", "terms"),
    [
        (["load_all"], ("load_all",)),
        (["Session.login"], ("Session.login", "login")),
        (["os.go"], ("os.go",)),
        (["src/store"], ()),
        (["aaaa", "bbbb", "cccc"], ("aaaa", "bbbb")),
    ],
)
def test_names_are_searched_for_whole_and_by_their_last_part(
    names: list[str], terms: tuple[str, ...]
) -> None:
    assert search_terms(names, 2) == terms


def test_tests_share_a_name_with_what_they_test() -> None:
    known = ("a/test_x.py", "a/x.py", "a/x_test.go", "b/x.spec.ts", "test_xy.py", "tests/x.md")
    assert finding.tests_of(["a/x.py"], known) == (
        "a/test_x.py",
        "a/x_test.go",
        "b/x.spec.ts",
        "tests/x.md",
    )
    assert finding.tests_of(["a/test_x.py"], known) == ()
    assert finding.tests_of(["a/__init__.py"], known) == ()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/conftest.py", True),
        ("test_a.py", True),
        ("a_test.go", True),
        ("src/a.spec.ts", True),
        ("src/__tests__/a.js", True),
        ("ATest.java", True),
        ("src/attest.py", False),
        ("src/contest.py", False),
        ("latest.md", False),
    ],
)
def test_tests_are_known_by_custom(path: str, *, expected: bool) -> None:
    assert is_test(path) == expected


SPOKEN_OF = (
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
    assert find_named(name, SPOKEN_OF).files == files


def test_the_exact_path_comes_first() -> None:
    assert find_named("login.py", ("a/login.py", "login.py")).files == ("login.py", "a/login.py")


def test_a_folder_gives_its_files_the_upper_ones_first() -> None:
    assert find_named("src/auth", SPOKEN_OF) == Named(
        inside=("src/auth/login.py", "src/auth/deep/token.py")
    )
    assert find_named("auth/", SPOKEN_OF).inside == (
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
    known = [path for path in SPOKEN_OF if "token" not in text or "login" not in path]
    assert find_spoken(text, known) == files


def test_a_word_that_many_files_bear_names_none() -> None:
    assert find_spoken("the index", [f"{n}/index.ts" for n in range(MAX_ALIKE)])
    assert find_spoken("the index", [f"{n}/index.ts" for n in range(MAX_ALIKE + 1)]) == ()


@each(
    "text",
    [
        "explain my changes",
        "what did I change in the parser",
        "summarise the uncommitted work",
        "are these local edits right?",
        "git diff please",
        "看看我的改动",
        "本地修改有没有问题",
        "未提交的代码讲一下",
    ],
)
def test_a_request_about_changes_is_known(text: str) -> None:
    assert about_changes(text)


@each("text", ["change the parser", "add a cache", "修改 login.py", "解释一下"])
def test_a_request_to_change_something_is_not_about_changes(text: str) -> None:
    assert not about_changes(text)


@each("text", ["why does the test fail", "mypy complains", "构建报错", "测试失败了"])
def test_a_request_about_a_failure_is_known(text: str) -> None:
    assert about_failure(text)


@pytest.mark.parametrize("text", ["explain login.py", "解释 login.py"])
def test_another_request_is_not(text: str) -> None:
    assert not about_failure(text)
