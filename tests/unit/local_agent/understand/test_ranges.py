"""Which changes a wish for a review names."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from local_agent.understand.ranges import MAX_COUNT, find_range
from local_agent.workspace.git.ranges import Range
from tests.each import each

LOCAL = Range()
THIS_BRANCH = Range(kind="between")


def last(count: int) -> Range:
    return Range(kind="last", count=count)


def commit(tip: str) -> Range:
    return Range(kind="commit", tip=tip)


def between(base: str, tip: str = "") -> Range:
    return Range(kind="between", base=base, tip=tip)


@each(
    "text, wanted",
    [
        ("review HEAD~3..HEAD", between("HEAD~3", "HEAD")),
        ("review main..feature", between("main", "feature")),
        ("审一下 main...feature/login", between("main", "feature/login")),
        ("what is in main..", between("main")),
        ("ｒｅｖｉｅｗ　ｍａｉｎ．．ｄｅｖ", between("main", "dev")),
        ("review the last commit", last(1)),
        ("what changed since the last commit?", LOCAL),
        ("what have I changed after my latest commit", LOCAL),
        ("上次提交之后改了什么？", LOCAL),
        ("what changed since main", between("main")),
        ("can you take a look at my last commit?", last(1)),
        ("review the last 3 commits", last(3)),
        ("look over the previous two commits please", last(2)),
        ("check my last couple of commits", last(2)),
        ("the most recent commits", last(3)),
        ("review the last 999999 commits", last(MAX_COUNT)),
        ("最近三个提交", last(3)),
        ("看看上一个提交", last(1)),
        ("帮我审一下最近 5 次提交", last(5)),
        ("最近几个commit有没有问题", last(3)),
        ("review commit abc1234", commit("abc1234")),
        ("审查提交 1a2b3c4d", commit("1a2b3c4d")),
        ("3f2a91c 这个提交有问题吗", commit("3f2a91c")),
        ("review HEAD^", commit("HEAD^")),
        ("review this branch", THIS_BRANCH),
        ("审查当前分支", THIS_BRANCH),
        ("this branch against main", between("main")),
        ("review my changes against origin/main", between("origin/main")),
        ("compare it with develop", between("develop")),
        ("feature/login vs main", between("main", "feature/login")),
        ("review branch fix-1 against release/2.0", between("release/2.0", "fix-1")),
        ("review the feature/x branch", between("", "feature/x")),
        ("看看 feature/login 分支和 main 的差异", between("main", "feature/login")),
        ("main和feature/login的区别", between("main", "feature/login")),
        ("everything since v1.2", between("v1.2")),
        ("从 main 以来的改动", between("main")),
        ("review this vs the last one", LOCAL),
        ("review branch it", LOCAL),
        ("review staged", Range(kind="staged")),
        ("--staged", Range(kind="staged")),
        ("review what is staged please", Range(kind="staged")),
        ("审一下暂存的改动", Range(kind="staged")),
        ("review", LOCAL),
        ("review my changes", LOCAL),
        ("review my unstaged changes", LOCAL),
        ("审一下还没暂存的", LOCAL),
        ("review my changes...please", LOCAL),
        ("hmm..ok review it", LOCAL),
        ("review src/cart/total.ts", LOCAL),
        ("review ../shop", LOCAL),
        ("review PR #12", LOCAL),
        ("check my changes before I merge", LOCAL),
        ("the changes since yesterday", LOCAL),
        ("commit added stuff", LOCAL),
        ("review issue 1234567", LOCAL),
        ("", LOCAL),
        ("...", LOCAL),
    ],
)
def test_the_range_that_is_meant(text: str, wanted: Range) -> None:
    assert find_range(text) == wanted


@given(
    st.text(alphabet="HEADmain~^.. 最近三个提交commit0123abc/vs against分支和的last", max_size=80)
)
def test_no_text_raises(text: str) -> None:
    assert find_range(text).kind in ("local", "staged", "last", "commit", "between")


@each("piece", ["a", "a.", "..", "main..", "HEAD~", "和a", "last ", "0a", " ", "a/"])
def test_a_long_text_takes_no_longer_than_its_beginning(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    begun = time.process_time()
    find_range(text)
    assert time.process_time() - begun < 0.3
