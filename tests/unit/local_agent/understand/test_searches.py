"""How a wish to find something is read."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from local_agent.understand.searches import find_search
from local_agent.workspace.searching import Query, Scope
from tests.each import each


def inside(name: str, *, sure: bool = True) -> Scope:
    return Scope(name, sure=sure)


@each(
    "text, query, wanted",
    [
        ("find parse_config", "parse_config", Query(phrase="parse_config", whole=True)),
        ("find login", "login", Query(phrase="login")),
        (
            "search delays in test_login.py",
            "delays in test_login.py",
            Query(phrase="delays", scopes=(inside("test_login.py", sure=False),)),
        ),
        ("find Session.login", "Session.login", Query(phrase="Session.login")),
        ("list all TODOs", "TODOs", Query(phrase="TODO", whole=True)),
        ("list all fixmes", "all fixmes", Query(phrase="FIXME", whole=True)),
        (
            "TODOs in *.py",
            "TODOs in *.py",
            Query(phrase="TODO", whole=True, scopes=(inside("*.py"),)),
        ),
        (
            "is there any TODO left in src/?",
            "there any TODO left in src/",
            Query(phrase="TODO", whole=True, scopes=(inside("src"),)),
        ),
        (
            "retry only in tests",
            "retry only in tests",
            Query(phrase="retry", scopes=(inside("tests"),)),
        ),
        (
            "只在 tests 里找 retry",
            "只在 tests 里找 retry",
            Query(phrase="retry", scopes=(inside("tests"),)),
        ),
        (
            "搜一下 src 里的 token",
            "src 里的 token",
            Query(phrase="token", scopes=(inside("src", sure=False),)),
        ),
        (
            'search for "rate limit" in the gateway',
            "rate limit",
            Query(phrase="rate limit", scopes=(inside("gateway", sure=False),)),
        ),
        ('find "in src/" in docs/', "in src/", Query(phrase="in src/", scopes=(inside("docs"),))),
        (
            "grep retry in python files",
            "retry in python files",
            Query(phrase="retry", scopes=(inside("*.py"),)),
        ),
        (
            "find retry except in vendor",
            "retry except in vendor",
            Query(phrase="retry", scopes=(Scope("vendor", outside=True),)),
        ),
        (
            "查 retry，除了 vendor 目录",
            "retry，除了 vendor 目录",
            Query(phrase="retry", scopes=(Scope("vendor", outside=True),)),
        ),
        ("which files use axios", "use axios", Query(phrase="axios", paths_only=True)),
        ("哪些文件引用了 axios？", "哪些文件引用了 axios", Query(phrase="axios", paths_only=True)),
        (
            "find error handling",
            "error handling",
            Query(phrase="error handling", words=("error", "handling")),
        ),
        (
            "找登录的处理函数",
            "登录的处理函数",
            Query(phrase="登录的处理函数", words=("登录", "处理函数")),
        ),
        (
            "find x in the project",
            "x in the project",
            Query(phrase="x in the project", words=("x", "project")),
        ),
        ("目的", "目的", Query(phrase="目的")),
    ],
)
def test_what_is_looked_for_and_where(text: str, query: str, wanted: Query) -> None:
    assert find_search(text, query) == wanted


def test_what_is_quoted_is_taken_as_it_stands() -> None:
    assert find_search("find `the TODOs in x`", "the TODOs in x") == Query(phrase="the TODOs in x")


@given(st.text(max_size=100), st.text(min_size=1, max_size=60))
def test_no_text_raises_or_leaves_nothing_to_look_for(text: str, query: str) -> None:
    assert find_search(text, query).phrase or not query.strip()


@each("piece", ["in a", "a*", "*", "在a里", "a/", "that ", "的", "除", "not in ", "a"])
def test_a_long_text_takes_no_longer_than_its_beginning(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    begun = time.process_time()
    find_search(text, text)
    assert time.process_time() - begun < 0.3
