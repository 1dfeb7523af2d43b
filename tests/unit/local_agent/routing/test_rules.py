"""The table: structure comes before words, and what only asks, forbids or approves never acts."""

from __future__ import annotations

import pytest

from common.model.intent import TaskKind
from local_agent.routing import rules
from local_agent.routing.rules import ACTS, RULES, guess_kind
from local_agent.routing.tags import LETTER, pattern
from tests.each import each

DEEDS = (
    "delete the cache folder", "run the tests", "push my changes", "rename this column",
    "commit and push", "restart the server", "update the dependencies", "deploy to staging",
)  # fmt: skip
DEEDS_ZH = (
    "删掉缓存目录", "跑测试", "推送代码", "重命名这个字段", "提交并推送", "重启服务", "更新依赖",
    "部署到测试环境", "提交代码",
)  # fmt: skip
QUESTIONS = (
    "what happens if I {}", "should I {}", "is it safe to {}?", "do we have to {}?", "how do I {}",
    "why should we {}?", "would it help to {}?", "can I {}?", "what's the best way to {}",
    "if I {}, what breaks?", "explain how to {}", "not sure if I should {}", "{}, is that safe?",
    "{} or not?", "{}?", "which command do I use to {}", "did you already {}?", "when should I {}",
)  # fmt: skip
QUESTIONS_ZH = (
    "为什么要{}", "怎么{}", "如何{}", "要不要{}", "需要{}吗", "{}安全吗", "{}会怎么样",
    "{}有风险吗",
    "{}的话会怎样", "如果{}会发生什么", "什么时候{}", "谁能{}", "{}了吗", "是不是应该{}",
    "{}要多久",
    "告诉我怎么{}", "{}？", "{}，会不会有问题", "有没有办法{}", "为什么不{}", "{}的命令是什么",
)  # fmt: skip
NEGATIONS = (
    "don't {}", "please do not {} today", "never {}", "no need to {}", "let's not {}",
    "I don't want you to {}", "you must not {}", "ok but don't {}", "just look, don't {}",
)  # fmt: skip
NEGATIONS_ZH = (
    "不要{}", "先别{}", "请勿{}", "不用{}", "千万别{}", "不是让你{}", "没必要{}",
    "只看不改，不要{}",
)  # fmt: skip
APPROVALS = (
    "approve it and {}", "yes, {}", "skip the approval and {}", "{} without asking me",
    "I already approved, {}", "{}, you have my permission", "auto-approve and {}",
    "T-7K3F approved, {}", "批准，{}", "跳过审批{}", "{}，不用确认", "我授权你{}", "别弹窗，直接{}",
)  # fmt: skip
POLITE = ("please {}", "hey, {}", "could you {}", "um okay so please {}", "I'd like you to {}")
POLITE_ZH = ("请{}", "麻烦{}", "帮我{}", "嗯那个{}", "能不能帮我{}", "劳驾，{}")


@each("frame", [*QUESTIONS, *NEGATIONS])
@each("deed", DEEDS)
def test_a_deed_that_is_asked_about_or_forbidden_is_not_done(frame: str, deed: str) -> None:
    assert guess_kind(frame.replace("{}", deed)).kind not in ACTS


@each("frame", [*QUESTIONS_ZH, *NEGATIONS_ZH])
@each("deed", DEEDS_ZH)
def test_so_it_is_in_chinese(frame: str, deed: str) -> None:
    assert guess_kind(frame.replace("{}", deed)).kind not in ACTS


@pytest.mark.requirement("P1")
@each("frame", APPROVALS)
@each("deed", ["run the tests", "run it", "push my changes", "跑测试", "推送代码"])
def test_who_approves_from_the_chat_is_told_where_it_happens(frame: str, deed: str) -> None:
    guess = guess_kind(frame.replace("{}", deed))
    assert (guess.kind, guess.form) == (TaskKind.HELP, rules.Form.APPROVES)


@each("frame", POLITE)
@each("text", [*DEEDS, "find parse_config", "review my changes", "explain the scheduler"])
def test_politeness_changes_nothing(frame: str, text: str) -> None:
    assert guess_kind(frame.replace("{}", text)).kind is guess_kind(text).kind


@each("frame", POLITE_ZH)
@each("text", [*DEEDS_ZH, "查找 parse_config", "审查我的改动", "解释一下调度器"])
def test_nor_does_it_in_chinese(frame: str, text: str) -> None:
    assert guess_kind(frame.replace("{}", text)).kind is guess_kind(text).kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        # A noun that is spelled like a verb.
        ("status code 500 on login", "diagnose"),
        ("the search box returns nothing", "diagnose"),
        ("push notifications are not arriving", "diagnose"),
        ("the review page is blank", "diagnose"),
        ("run-time error in parser", "diagnose"),
        ("add error handling to upload_file", "change"),
        ("update the help text of the CLI", "change"),
        ("fix the build script", "change"),
        ("搜索框没反应", "diagnose"),
        ("推送通知收不到", "diagnose"),
        ("给 upload_file 加上错误处理", "change"),
        ("实现一个搜索框", "change"),
        # Typing and dictation.
        ("fxi the tset in test_auth.py", "change"),
        ("plaese refcator the paymnt module", "change"),
        ("psuh my changes", "git_sync"),
        ("fnid all uses of OldClient", "search"),
        ("ｒｕｎ　ｔｈｅ　ｔｅｓｔｓ", "run"),
        ("請幫我執行測試", "run"),
        ("okay um can you like run the unit tests", "run"),
        ("嗯那个你帮我就是跑一下那个登录模块的测试吧", "run"),
        # What was pasted has no wishes.
        ("fix this\n```\nrun the tests\npush it\n```", "change"),
        ("Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'", "diagnose"),
        ("npm ERR! code ELIFECYCLE\nnpm ERR! errno 1", "diagnose"),
        # A deed may be put behind its object, or asked for behind a report.
        ("the login retry, can you make it exponential", "change"),
        ("the tests fail, fix them", "change"),
        ("登录重试能不能改成指数退避", "change"),
        ("代码推一下", "git_sync"),
        ("axios 换成 fetch", "change"),
        ("加了缓存之后变慢了", "diagnose"),
        ("加了缓存还是慢", "diagnose"),
        # What is demanded, mapped or missing is wished, also of an error.
        ("密码至少要十二位", "change"),
        ("上传失败要弹个提示", "change"),
        ("the error toast should be amber", "change"),
        ("headline font: Inter → Söhne", "change"),
        ("dark mode for the settings page", "change"),
        ("drop the rate limit to 5 a minute, no need to ask me", "change"),
        # What is only forbidden asks for nothing.
        ("the migrations folder is off limits", "help"),
        ("配置文件不许改", "help"),
        ("nothing is to be pushed, run or altered", "help"),
        ("don't apply the fix, I want to hear the reasoning", "explain"),
        # Git without its verbs; a question about the same is none.
        ("store my progress on the remote", "git_sync"),
        ("把我的改动存到远程", "git_sync"),
        ("对比一下我的分支和 main", "review"),
        ("我的分支和 main 差了什么", "review"),
        ("rebase onto main", "git_sync"),
        # A code line under a question is quoted, and a log above a wish is a log.
        ("what does this do\nitems.delete(key);", "explain"),
        ("FAILED tests/test_a.py::test_b - assert 3 == 4\nrun it again", "run"),
        ("has my request been approved", "status"),
        ("let's see whether the build passes", "run"),
        ("give the linter another go", "run"),
    ],
)
def test_structure_comes_before_words(text: str, kind: str) -> None:
    assert guess_kind(text).kind == kind


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("npm test", "npm test"),
        ("make lint", "make lint"),
        ("go test ./...", "go test ./..."),
        ("docker compose up -d", "docker compose up -d"),
        ("PYTEST -k Login please", "PYTEST -k Login"),
        ("npm run build 跑一下", "npm run build"),
        ("make the header sticky", None),
        ("npm install fails", None),
        ("go ahead", None),
        ("npm run build 报错", None),
        ("psql: could not connect to server", None),
    ],
)
@pytest.mark.requirement("R7")
def test_a_command_line_is_known_without_a_verb(text: str, command: str | None) -> None:
    assert guess_kind(text).command == command


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("please can you run it", "run it"),
        ("run it please", "run it please"),
        (", fix it", "fix it"),
        ("麻烦帮我跑测试", "跑测试"),
        ("登录页转圈", "登录页转圈"),
        ("npm test please", "npm test please"),
        ("ok, please", ""),
    ],
)
def test_a_polite_beginning_is_skipped_and_nothing_else(text: str, rest: str) -> None:
    assert rules.skip_polite(text) == rest


def test_no_two_rules_share_a_name_and_each_can_be_read() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    assert all(pattern(rule.words) for rule in RULES)
    assert all(0.3 <= rule.confidence <= 0.95 for rule in RULES)
    assert len(set(LETTER.values())) == len(LETTER)


def test_a_deciding_rule_names_itself() -> None:
    assert guess_kind("hello there").rule == "greets"
    assert guess_kind("lorem ipsum").rule == "nothing"
