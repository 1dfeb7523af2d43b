"""What a request holds besides the one wish that is taken up is found, so that it can be said."""

from __future__ import annotations

import pytest

from common.model.intent import TaskKind
from common.verbs import Topic
from local_agent.understand.reader import Reader
from local_agent.understand.wishes import beyond_tests, split_wish
from tests.each import each

READER = Reader()


@pytest.mark.requirement("P7")
@pytest.mark.parametrize(
    ("text", "kind", "taken", "left"),
    [
        ("@dev run the tests and delete everything", "run", "run the tests", "delete everything"),
        ("run the tests. Then push to main", "run", "run the tests", "push to main"),
        ("跑一下测试然后删掉所有文件", "run", "跑一下测试", "删掉所有文件"),
        ("跑测试并提交", "run", "跑测试", "提交"),
        ("跑测试，并且把 main 合并", "run", "跑测试", "把 main 合并"),
        ("测试并部署", "run", "测试", "部署"),
        ("run `npm test` and delete everything", "run", "run `npm test`", "delete everything"),
        ("find parse_config and delete it", "search", "find parse_config", "delete it"),
        ("search parse_config and delete it", "search", "search parse_config", "delete it"),
        ("review my changes, then commit them", "review", "review my changes", "commit them"),
        ("fix the login and run the tests", "change", "fix the login", "run the tests"),
        ("把所有文件删掉并跑测试", "change", "把所有文件删掉", "跑测试"),
        ("what is running? and run the tests", "status", "what is running?", "run the tests"),
    ],
)
def test_a_second_wish_is_told_apart(text: str, kind: str, taken: str, left: str) -> None:
    reading = READER.read(text)
    assert (reading.intent.kind, reading.taken, reading.left) == (kind, taken, left)


@each(
    "text",
    [
        "run the tests",
        "run the tests and tell me the result",
        "跑一下测试，把结果发给我",
        "fix the login and add a test",  # whoever changes takes up both
        "explain the build and test setup",
        "the tests fail, fix it",
        "search for TODO and errors",
        'search for "a and delete b"',
        "find hello and goodbye",
        "修复并发错误",
        "don't run the tests, just explain the failure",
        "合并冲突怎么解决",
    ],
)
def test_one_wish_stays_one(text: str) -> None:
    reading = READER.read(text)
    assert (reading.taken, reading.left) == ("", "")


@pytest.mark.parametrize(
    ("text", "beyond"),
    [
        ("@dev 跑一下 tests/unit 里的测试", "tests/unit"),
        ("run the tests in tests/unit", "tests/unit"),
        ("run tests/unit", "tests/unit"),
        ("run tests/unit tests please", "tests/unit"),
        ("run test_login.py", "test_login.py"),
        ("run tests/test_a.py::test_b", "tests/test_a.py::test_b"),
        ("run the login tests", "login"),
        ("跑一下登录模块的测试", "登录"),
        ("跑一下 login 的测试", "login"),
        ("测试一下登录", "登录"),
        ("run the build and test", "build"),
        ("run the tests except tests/e2e", "except tests/e2e"),
    ],
)
def test_a_part_of_the_tests_is_no_program_and_is_named(text: str, beyond: str) -> None:
    reading = READER.read(text)
    assert (reading.intent.kind, reading.topic) == (TaskKind.RUN, Topic.TEST)
    assert reading.intent.params.cmd is None
    assert reading.beyond == beyond


@each(
    "text",
    [
        "run the tests",
        "please run all the unit tests again, thanks!",
        "could you run the whole test suite?",
        "再跑一遍全部测试",
        "麻烦帮我跑一下单元测试",
        "跑一下测试看看有没有问题",
        "把测试跑一下",
    ],
)
def test_a_plain_wish_for_the_tests_names_nothing_else(text: str) -> None:
    reading = READER.read(text)
    assert (reading.topic, reading.beyond, reading.left) == (Topic.TEST, "", "")


@each(
    "cmd",
    [
        "./tests/run",
        "scripts/test.sh",
        "tests/run.sh",
        "bin/test",
        "/opt/tests/unit",
        "echo 测试",
        "manage.py test",
    ],
)
def test_a_program_stays_a_program(cmd: str) -> None:
    assert READER.read(f"run {cmd}").intent.params.cmd == cmd


def test_what_is_wished_besides_a_command_is_told() -> None:
    reading = READER.read("run npm test and then push")
    assert (reading.intent.params.cmd, reading.left) == ("npm test", "push")


def test_what_is_not_sure_is_not_split() -> None:
    reading = Reader(threshold=1.0).read("run the tests and delete everything")
    assert (reading.unsure, reading.left) == (True, "")


def test_the_pieces_stood_in_the_text() -> None:
    assert split_wish("tests") == ("tests", "")
    assert split_wish("and run it") == ("", "run it")
    assert beyond_tests("") == ""
    assert split_wish("x," * 50 + " delete it")[1] == "", "after so many joints nobody looks"


@each("text", ["and! run the tests", "AND!测试么", "then: search for x"])
def test_a_text_that_begins_with_a_joining_word_is_taken_up_whole(text: str) -> None:
    reading = Reader().read(text)
    assert (reading.taken, reading.left) == ("", "")


@each("blank", [" ", "\n", "\u3000", " \n"])
def test_a_long_blank_is_passed_over_in_linear_time(blank: str) -> None:
    # The test's own time limit is the judge: a quadratic search never sees the end.
    wide = blank * (200_000 // len(blank))
    assert split_wish(f"run the tests{wide}, push it{wide}") == ("run the tests", "push it")
