"""A command is taken exactly as it is named, and only where one is."""

from __future__ import annotations

import pytest

from common.model.intent import TaskKind
from common.verbs import Topic
from local_agent.understand.commands import find_named
from local_agent.understand.reader import Reader
from tests.each import each

READER = Reader()


@pytest.mark.requirement("R7")
@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("运行：rm -rf build", "rm -rf build"),
        ("test it with `pnpm vitest -t login`", "pnpm vitest -t login"),
        ("请执行：pytest tests/ -x -q", "pytest tests/ -x -q"),
        ("用 `make check` 跑一下测试", "make check"),
        (
            "please run this:\n```sh\nnpm run build -- --watch=false\n```",
            "npm run build -- --watch=false",
        ),
        ("npm test", "npm test"),
        ("go test ./... please", "go test ./..."),
        ("./scripts/check.sh --fast", "./scripts/check.sh --fast"),
        ("帮我跑一下 cargo test -p core", "cargo test -p core"),
        ("run: docker compose up -d", "docker compose up -d"),
        ('execute "make lint"', "make lint"),
        ("git push --force", "git push --force"),
        ("git status", "git status"),
        ("rm -rf /", "rm -rf /"),  # what it would do is said, and asked, at the machine
        ("docker system prune -af", "docker system prune -af"),
        ("kubectl delete pod web-1", "kubectl delete pod web-1"),
    ],
)
def test_a_named_command_is_run_as_written(text: str, command: str) -> None:
    reading = READER.read(text)
    assert (reading.intent.kind, reading.intent.params.cmd) == (TaskKind.RUN, command)
    assert not reading.unsure


@each(
    "text",
    [
        "don't run `rm -rf build`",
        "不要运行：rm -rf build",
        "why does `npm test` fail?",
        "what does `make check` do",
        "npm test fails on Windows",
        "npm test 报错了",
        "fix the login, then run npm test",
        "run `npm test` fails with EPERM",
        "执行 npm install 报错 EPERM",
        "the build runs `tsc -p .`, is that right?",
    ],
)
def test_a_command_that_is_only_mentioned_is_not_run(text: str) -> None:
    reading = READER.read(text)
    assert reading.intent.kind is not TaskKind.RUN or reading.unsure


@pytest.mark.requirement("R7")
@each(
    "text, command",
    [
        ("rm -rf ~/下载", "rm -rf ~/下载"),
        ("rm -rf build/{a,b}", "rm -rf build/{a,b}"),
        ("git log --author=张三 -5", "git log --author=张三 -5"),
        ("NODE_ENV=test npm test", "NODE_ENV=test npm test"),
        ("cd web && npm test", "cd web && npm test"),
        ("git commit -m first", "git commit -m first"),
        ("帮我跑一下 npm test，谢谢", "npm test"),
        ("run npm test.", "npm test"),
        ("run: 'rm -rf build'", "rm -rf build"),
        ("run the tests with 'npm publish'", "npm publish"),
        ("pytest -k 登录 -x", "pytest -k 登录 -x"),
        ("run this:\n```\nrm -rf build\n```", "rm -rf build"),
        ("run:\n```shell\nnpm test\n```", "npm test"),
        ("run ```bash ./build.sh```", "bash ./build.sh"),
        ("执行下面的命令：ls -la", "ls -la"),
        ("run: ( cd web && npm test )", "( cd web && npm test )"),
        ("run npm test && (cd web && npm test)", "npm test && (cd web && npm test)"),
        ("运行：rm -rf " + "a/ " * 900 + "end", "rm -rf " + "a/ " * 900 + "end"),
    ],
)
def test_a_command_is_taken_whole(text: str, command: str) -> None:
    reading = READER.read(text)
    assert (reading.intent.params.cmd, reading.unsure) == (command, False)


@pytest.mark.requirement("R7")
@each(
    "text",
    [
        "run the tests, do not run rm -rf build",
        "运行测试，不要执行 rm -rf build",
        "run the tests but don't run npm publish",
        "run lint but do not execute scripts/deploy.sh",
        "跑一下测试，别用 `rm -rf build` 跑",
        "don't test with `npm publish`, just run the tests",
        "run npm test\n\n> run rm -rf build",
        "run the tests. this is what broke it:\n```\nrm -rf build\n```",
        "run the tests before we run deploy.sh",
        "git push —dry-run",
        "git push --force, but not to main",
        "git push --force\n不要执行",
        "npm publish，先别",
        "npm ci\nnpm test",
        "run `npm test` and `npm run build`",
        "运行 npm test，别加 --watch",
        "git push worked",
        "npm test 要跑五分钟",
        "git push --force 千万别",
        "rm -rf --force 不要执行",
        "git push -f wait",
        "run npm test --watch never",
        "rm -rf build, dist",
        "执行：rm -rf build；不要动 dist",
        "运行：npm test（不要加 --watch）",
        "run npm test (without --watch)",
        "run npm test &&",
        "运行：`npm ci` `npm test`",
        "npm test ...",
        "npm install took forever",
        "git commit -m thanks",
        "git checkout -b please",
        "pytest -x passed here",
        "run the tests and then explain what `rm -rf build` does",
        "run the tests and then run `rm -rf build`",
        "run the linter and then delete `rm -rf x`",
        "if it fails, run `rm -rf build`",
        "不是现在，明天再跑 `npm publish`",
        "run the build, then remove `npm run deploy` from the README",
        "跑一下测试，再解释一下 `git push --force`",
        "run time went up",
        "npm test :(",
    ],
)
def test_no_other_command_than_the_one_named_and_no_part_of_it(text: str) -> None:
    reading = READER.read(text)
    assert reading.intent.params.cmd is None
    assert reading.unsure or reading.intent.kind is not TaskKind.GIT_SYNC


@each("text", ["pytest for the api", "mypy against src", "jest tests in the cart folder"])
def test_a_wish_that_opens_with_a_program_is_no_command(text: str) -> None:
    assert READER.read(text).intent.params.cmd is None


def test_what_is_quoted_beside_a_wish_to_test_is_no_command() -> None:
    script = "run this:\n```python\nprint(1)\n```"
    for text in ("run the tests with “login page” in the name", script):
        assert READER.read(text).intent.params.cmd is None


@each(
    "text", ["run time is too slow", "execution plan", "跑步机的代码在哪", "make sense?", "go on"]
)
def test_a_word_that_only_looks_like_a_verb_names_no_command(text: str) -> None:
    found = find_named(text)
    assert found is None or not found.plain


def test_a_mistyped_verb_is_asked_about() -> None:
    assert READER.read("@dev aply").topic is Topic.MISTYPED
    assert READER.read("@dev aply T-7K3F").topic is Topic.MISTYPED


@pytest.mark.requirement("P7")
def test_the_wish_that_is_taken_up_is_told_with_its_command() -> None:
    reading = READER.read("please run the tests with `npm test`, then fix what fails")
    assert reading.intent.params.cmd == "npm test"
    assert reading.taken == "please run the tests with `npm test`"
    assert reading.left == "fix what fails"
