"""From words to an intent: the grammar first, then structure, then the table of words."""

from __future__ import annotations

import time

import pytest

from common.model.intent import MAX_FILES, TaskKind
from common.verbs import COMMANDS, Topic
from local_agent.understand.reader import Reader
from tests.each import each

READER = Reader()


@pytest.mark.parametrize(
    ("text", "kind", "topic"),
    [
        ("@dev help", "help", "plain"),
        ("@dev status T-7K3F", "status", "plain"),
        ("@dev plan add a cache", "change", "plan"),
        ("@dev patch fix it", "change", "patch"),
        ("@dev apply T-7K3F", "help", "apply"),
        ("@dev cancel", "help", "cancel"),
        ("@dev test", "run", "test"),
        ("@dev 测试", "run", "test"),
        ("@dev test --nope", "run", "bad-option"),
        ("@dev", "help", "empty"),
        ("help", "help", "plain"),
    ],
)
def test_the_grammar_comes_first_with_or_without_its_prefix(
    text: str, kind: str, topic: str
) -> None:
    reading = READER.read(text)
    assert (reading.intent.kind, reading.topic.value) == (kind, topic)
    assert reading.intent.confidence == 1.0
    assert not reading.unsure


@each(
    "text, kind",
    [
        # The words of the seed, each alone.
        ("why is it built like this", "explain"),
        ("explain the scheduler", "explain"),
        ("what does sweep do", "explain"),
        ("fix the login bug", "change"),
        ("implement paging", "change"),
        ("refactor the parser", "change"),
        ("add a retry", "change"),
        ("change the colour", "change"),
        ("run the tests", "run"),
        ("test it", "run"),
        ("build the app", "run"),
        ("lint the code", "run"),
        ("there is an error in the page", "diagnose"),
        ("a stacktrace came", "diagnose"),
        ("the job failed", "diagnose"),
        ("got an exception", "diagnose"),
        ("find parse_config", "search"),
        ("locate the settings", "search"),
        ("where is parse_config", "search"),
        ("search for TODO", "search"),
        ("review my changes", "review"),
        # The same in Chinese.
        ("为什么要做两遍", "explain"),
        ("解释一下这个函数", "explain"),
        ("修复登录的问题", "change"),
        ("实现分页", "change"),
        ("重构解析器", "change"),
        ("添加重试", "change"),
        ("把颜色改成红色", "change"),
        ("跑一下测试", "run"),
        ("执行单元测试", "run"),
        ("页面报错了", "diagnose"),
        ("任务失败了", "diagnose"),
        ("查找 parse_config", "search"),
        ("parse_config 在哪里定义", "search"),
        ("看看我的改动", "review"),
        ("审查一下代码", "review"),
    ],
)
@pytest.mark.requirement("NL-4.1a")
@pytest.mark.requirement("NL-12.2")
def test_each_word_of_the_table_leads_to_its_kind(text: str, kind: str) -> None:
    reading = READER.read(text)
    assert reading.intent.kind == kind
    assert not reading.unsure


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("please could you run the tests?", "run"),
        ("can you explain why the tests fail?", "explain"),
        ("fix the failing test", "change"),
        ("add a function to find users", "change"),
        ("find where errors are raised", "search"),
        ("review the change I made to the build", "review"),
        ("why does the build fail after we changed it?", "explain"),
        ("the test failed with an exception", "diagnose"),
        ("麻烦帮我跑一下测试", "run"),
        ("能不能帮我解释一下为什么测试失败", "explain"),
        ("帮我修复失败的测试", "change"),
    ],
)
def test_the_leading_verb_and_the_question_come_before_other_words(text: str, kind: str) -> None:
    assert READER.read(text).intent.kind == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("don't run the tests, just explain the failure", "explain"),
        ("do not change anything, review my diff", "review"),
        ("fix the bug without running the tests", "change"),
        ("never run anything", "help"),
        ("不要跑测试，只看看我的改动", "review"),
        ("别改代码，解释一下", "explain"),
        ("特别要修复这个", "change"),
    ],
)
def test_what_is_forbidden_is_not_wished(text: str, kind: str) -> None:
    assert READER.read(text).intent.kind == kind


@each("word", [word for spec in COMMANDS for word in (spec.name, *spec.aliases)])
def test_every_verb_of_the_grammar_is_read_alone_and_with_more(word: str) -> None:
    for text in (word, f"@dev {word}", f"@dev {word} it", f"@dev {word} T-7K3F"):
        assert READER.read(text).topic in Topic


@pytest.mark.requirement("NL-4.1c")
@each("text", ["🦔", "the thing with the stuff", "那个东西"])
def test_the_unclear_is_a_question_and_nothing_more(text: str) -> None:
    reading = READER.read(text)
    assert (reading.intent.kind, reading.unsure) == (TaskKind.EXPLAIN, True)
    assert reading.intent.params.cmd is None


@pytest.mark.parametrize(
    "text",
    [
        "what is the current branch?",
        "which branch am I on?",
        "当前分支是什么？",
        "我现在在哪个分支",
    ],
)
def test_a_question_for_the_branch_is_one_for_the_status(text: str) -> None:
    assert READER.read(text).intent.kind is TaskKind.STATUS


@pytest.mark.parametrize(
    "text", ["what have I changed since the last commit", "what did I change since my last commit?"]
)
def test_a_question_for_changes_since_a_commit_is_no_wish_to_commit(text: str) -> None:
    assert READER.read(text).intent.kind is TaskKind.REVIEW


def test_under_the_threshold_only_a_plan_or_an_answer_can_follow() -> None:
    strict = Reader(threshold=1.0)
    assert strict.read("run the tests").intent.kind is TaskKind.EXPLAIN
    assert strict.read("fix the tests").intent.kind is TaskKind.CHANGE
    assert strict.read("@dev test").intent.kind is TaskKind.RUN


@pytest.mark.requirement("P1")
@each(
    "text",
    [
        "approve",
        "Approve T-7K3F",
        "yes",
        "LGTM",
        "同意",
        "批准 T-7K3F",
        "通过了",
        "可以执行",
        "@dev approve t7k3f",
    ],
)
def test_a_yes_from_the_chat_is_only_a_question_about_approving(text: str) -> None:
    reading = READER.read(text)
    assert (reading.intent.kind, reading.topic) == (TaskKind.HELP, Topic.APPROVE)


@each("text", ["no", "reject T-7K3F", "拒绝", "不同意", "驳回 T-7K3F"])
def test_a_no_from_the_chat_is_told_how_to_cancel(text: str) -> None:
    assert READER.read(text).topic is Topic.REJECT


@each("text", ["whoami", "@dev lang zh", "@dev 成员"])
def test_a_machine_leaves_to_the_gateway_what_is_about_people(text: str) -> None:
    assert READER.read(text).topic is Topic.GATEWAY


@each("text", ["machines", "@dev use dev-2", "@dev on dev-2 test", "@dev 在 dev-2 上跑测试", "on"])
def test_a_machine_does_not_act_on_what_names_a_machine(text: str) -> None:
    reading = READER.read(text)
    assert (reading.intent.kind, reading.topic) == (TaskKind.HELP, Topic.GATEWAY)


def test_free_text_can_be_switched_off_and_commands_still_work() -> None:
    router = Reader(free_text=False)
    assert router.read("@dev run the tests").topic is Topic.FREE_TEXT_OFF
    assert router.read("@dev test").topic is Topic.TEST


def test_a_named_id_is_kept() -> None:
    assert READER.read("@dev status t7k3f").task_id == "T-7K3F"


@pytest.mark.parametrize(
    ("text", "cmd"),
    [
        ('@dev test --cmd="pytest -x"', "pytest -x"),
        ("run pytest -q", "pytest -q"),
        ("please run npm test", "npm test"),
        ("run `make all` please", "make all"),
        ("run the command `npm ci && npm test`", "npm ci && npm test"),
        ("运行 make test", "make test"),
        ("执行一下 npm run build", "npm run build"),
        ("run rm -rf / ; echo $HOME", "rm -rf / ; echo $HOME"),
    ],
)
@pytest.mark.requirement("R7")
def test_a_command_is_taken_as_it_was_written(text: str, cmd: str) -> None:
    assert READER.read(text).intent.params.cmd == cmd


@each(
    "text",
    ["run the tests", "run it", "build frontend", "lint", "test pytest", "跑", "run the\nls"],
)
def test_no_command_is_guessed(text: str) -> None:
    assert READER.read(text).intent.params.cmd is None


@pytest.mark.parametrize(
    ("text", "topic"),
    [("run the tests", Topic.TEST), ("跑单测", Topic.TEST), ("run the linter", Topic.PLAIN)],
)
def test_only_a_wish_for_tests_means_the_test_command(text: str, topic: Topic) -> None:
    assert READER.read(text).topic is topic


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("find parse_config", "parse_config"),
        ("where is parse_config defined?", "parse_config"),
        ("find all usages of TaskRow in the codebase", "TaskRow"),
        ('search for "hello world"', "hello world"),
        ("grep `a.b(c)`", "a.b(c)"),
        ("查找 parse_config 的定义", "parse_config"),
        ("parse_config 在哪里定义", "parse_config"),
        ("搜索“登录失败”", "登录失败"),
        ("找一下登录按钮", "登录按钮"),
        ("find hello world", "hello world"),
        ("search delays in test_login.py", "delays in test_login.py"),
        ("查找 test_login.py 里的 delays", "test_login.py 里的 delays"),
        ("find", None),
    ],
)
def test_what_is_looked_for_is_taken_out_of_the_words(text: str, query: str | None) -> None:
    assert READER.read(text).intent.params.query == query


def test_a_range_of_commits_is_no_file() -> None:
    for text in ("review main..feature", "review HEAD~1..HEAD"):
        assert not READER.read(text).intent.params.files


@pytest.mark.requirement("NL-4.2")
def test_files_are_found_bounded_and_never_outside() -> None:
    text = "fix src/app.py, ./x ../up.py /etc/passwd.txt http://a.b/c.js login.ts Makefile v1.2"
    assert READER.read(text).intent.params.files == ("src/app.py", "login.ts", "Makefile")
    many = " ".join(f"f{number}.py" for number in range(30))
    assert len(READER.read(f"fix {many}").intent.params.files or ()) == MAX_FILES


def test_a_long_text_is_read_at_its_beginning() -> None:
    log = "ERROR 12:00:01 job 7 failed\n" * 2000
    reading = READER.read(f"please fix the retry, it fails:\n{log}")
    assert reading.intent.kind is TaskKind.CHANGE
    assert len(reading.intent.summary.encode()) <= 120


@each(
    "text",
    [
        "commit and push",
        "push my changes",
        "push",
        "git push",
        "please push it",
        "can you push my changes",
        "commit my changes and push them",
        "commit all changes and push to origin",
        "Commit and push: fix the login",
        'commit and push "fix the login"',
        "commit and push with message fix the login",
        "sync to github",
        "sync my changes with GitHub",
        "let's push the branch up to origin please",
        "提交并推送",
        "提交代码并推送",
        "提交推送",
        "把改动推上去",
        "把这次改动都推上去",
        "同步到 GitHub",
        "把代码同步到 GitHub 上",
        "推一下代码",
        "推送代码",
        "请把我的改动推送到github",
        "推送到远端",
        "提交到 GitHub",
        "提交并推送：修复登录",
        "把代码推上去，谢谢",
    ],
)
def test_a_wish_to_push_is_a_git_sync(text: str) -> None:
    reading = READER.read(text)
    assert reading.intent.kind is TaskKind.GIT_SYNC
    assert (reading.topic, reading.left, reading.unsure) == (Topic.PLAIN, "", False)


@each(
    "text",
    [
        "why did the push fail",
        "how do I push to github?",
        "should I push my changes?",
        "push my changes?",
        "explain git push",
        "don't push",
        "do not push my changes",
        "push failed",
        "push to github failed with 403",
        "the push to origin was rejected",
        "push notifications are broken",
        "push the button handler into its own module",
        "push --force",
        "add push notifications",
        "implement sync to github",
        "review my changes",
        "怎么推送代码",
        "如何同步到 GitHub",
        "为什么推送失败",
        "推送失败了",
        "推送被拒绝了怎么办",
        "不要推送",
        "先别推送",
        "没有推送成功",
        "推送了吗",
        "推荐一个库",
        "推送消息到用户",
        "推送通知功能坏了",
        "实现推送到 GitHub 的功能",
        "同步一下两个列表",
        "我的改动",
        # After the command word too.
        "sync why did it fail",
        "推送 失败了怎么办",
        "推送 不要",
    ],
)
def test_a_question_a_negation_and_a_report_are_no_git_sync(text: str) -> None:
    assert READER.read(text).intent.kind is not TaskKind.GIT_SYNC


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("commit my changes", Topic.COMMIT),
        ("commit but don't push", Topic.COMMIT),
        ("提交代码", Topic.COMMIT),
        ("先提交，别推送", Topic.COMMIT),
        ("pull the latest changes", Topic.PULL),
        ("拉一下最新代码", Topic.PULL),
        ("commit my changes and push them", Topic.PLAIN),
        ("提交到 GitHub", Topic.PLAIN),
    ],
)
def test_half_a_sync_is_known_as_such(text: str, topic: Topic) -> None:
    reading = READER.read(text)
    assert (reading.intent.kind, reading.topic) == (TaskKind.GIT_SYNC, topic)


@pytest.mark.parametrize(
    ("text", "task_id", "feedback"),
    [
        ("revise T-7K3F make it shorter", "T-7K3F", "make it shorter"),
        ("@dev 修订 T-7K3F，改短一点", "T-7K3F", "改短一点"),
        ("revise T-7K3F", "T-7K3F", ""),
        ("@dev修改提案T-7K3F", "T-7K3F", ""),
    ],
)
def test_a_proposal_is_revised_by_its_id(text: str, task_id: str, feedback: str) -> None:
    reading = READER.read(text)
    assert (reading.intent.kind, reading.topic) == (TaskKind.CHANGE, Topic.REVISE)
    assert (reading.task_id, reading.subject) == (task_id, feedback)


@each("text", ["revise", "revise T-UUUU", "修订"])
def test_without_an_id_nothing_is_revised(text: str) -> None:
    reading = READER.read(text)
    assert (reading.intent.kind, reading.topic) == (TaskKind.HELP, Topic.REVISE)


def test_a_phrase_behind_revise_is_natural_language() -> None:
    assert READER.read("revise the wording of README.md").topic is Topic.PLAIN


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("search is broken", "diagnose"),
        ("review why the build fails", "explain"),
        ("plan 和 patch 有什么区别", "explain"),
        ("同步 的代码在哪", "search"),
    ],
)
def test_a_command_word_that_is_talked_of_is_no_command(text: str, kind: str) -> None:
    reading = READER.read(text)
    assert reading.intent.kind == kind


def test_a_command_to_push_stays_a_command() -> None:
    reading = READER.read("run git push")
    assert (reading.intent.kind, reading.intent.params.cmd) == (TaskKind.RUN, "git push")


@pytest.mark.parametrize(
    ("text", "topic", "subject"),
    [
        ("@dev sync", "sync", ""),
        ("@dev 同步", "sync", ""),
        ("@dev sync fix the login", "sync", "fix the login"),
        ("@dev sync: fix the login", "sync", "fix the login"),
        ('@dev sync "fix the login"', "sync", '"fix the login"'),
        ("@dev 推送 修复登录", "sync", "修复登录"),
        ("@dev sync to github", "plain", "sync to github"),
        ("@dev sync now", "plain", "sync now"),
        ("@dev 推送 代码", "plain", "推送代码"),
    ],
)
def test_after_the_command_word_stands_the_message_or_where_to(
    text: str, topic: str, subject: str
) -> None:
    reading = READER.read(text)
    assert reading.intent.kind is TaskKind.GIT_SYNC
    assert (reading.topic.value, reading.subject) == (topic, subject)


@each(
    "text",
    [
        "@dev sync the config with what the docs say",
        "@dev sync our fork with upstream",
        "@dev sync all the api types with the backend",
    ],
)
def test_a_sentence_behind_the_command_word_is_no_message(text: str) -> None:
    reading = READER.read(text)
    assert reading.topic is not Topic.SYNC
    assert reading.unsure or reading.intent.kind is TaskKind.GIT_SYNC


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("commit and push, then run the tests", "run the tests"),
        ("推一下代码，然后跑测试", "跑测试"),
        ("@dev sync to github and run the tests", "run the tests"),
        # It may as well belong to the message.
        ("commit and push: fix the login and add tests", ""),
    ],
)
def test_what_is_wished_besides_a_push_is_told(text: str, left: str) -> None:
    reading = READER.read(text)
    assert (reading.intent.kind, reading.left) == (TaskKind.GIT_SYNC, left)


@each(
    "text",
    ["推" + " " * 2000, "我的" * 1000, "push" + " all" * 500, "同步" + " " * 1990 + "到"],
)
def test_no_text_keeps_the_words_of_a_push_busy(text: str) -> None:
    begun = time.process_time()
    READER.read(text)
    assert time.process_time() - begun < 1.0


@pytest.mark.parametrize(
    ("text", "task_id"),
    [
        ("please take back the change of T-7K3F", "T-7K3F"),
        ("撤销 T-7K3F 的改动", "T-7K3F"),
        ("undo the change you just made", None),
        ("把刚才应用的改动还原", None),
    ],
)
def test_a_wish_to_take_back_names_its_task_or_none(text: str, task_id: str | None) -> None:
    reading = READER.read(text)
    assert (reading.topic, reading.task_id, reading.unsure) == (Topic.UNDO, task_id, False)


@each("text", ["stop the task", "取消刚才的任务", "别跑了，停下"])
def test_a_wish_to_stop_is_told_how(text: str) -> None:
    assert READER.read(text).topic is Topic.CANCEL


@each(
    "text", ["add an undo button", "the undo button does nothing", "怎么撤销改动", "实现撤销功能"]
)
def test_what_only_speaks_of_it_takes_nothing_back(text: str) -> None:
    assert READER.read(text).topic is not Topic.UNDO


@each(
    "text, cmd, left",
    [
        ("run npm run build and see if it passes", "npm run build", ""),
        ("run pytest -q tests/api and check whether it passes", "pytest -q tests/api", ""),
        ("跑一下 make test 看有没有问题", "make test", ""),
        ("试一下 cargo test 过不过", "cargo test", ""),
        ("运行 mvn -q test 看下能不能通过", "mvn -q test", ""),
        ("帮我跑一下 pnpm build，确认没问题", "pnpm build", ""),
        ("give npm run e2e a try and tell me if it is stable", "npm run e2e", ""),
        ("run ruff check . and see what is left", "ruff check .", ""),
        ("run make lint. does it pass?", "make lint", ""),
        ("跑下 go test ./... 把结果告诉我", "go test ./...", ""),
        ("run npm test and see if it passes, then commit", "npm test", "commit"),
        ("跑一下 make test 看看有没有问题，没问题就提交", "make test", "没问题就提交"),
        ("跑 make test，失败了就修", "make test", "失败了就修"),
    ],
)
def test_a_run_that_is_to_be_looked_at_is_a_run_of_exactly_that(
    text: str, cmd: str, left: str
) -> None:
    reading = READER.read(text)
    assert (reading.intent.kind, reading.unsure) == (TaskKind.RUN, False)
    assert (reading.intent.params.cmd, reading.left) == (cmd, left)


@each(
    "text",
    [
        *("does make test pass?", "npm run build 能过吗", "为什么 npm run build 过不了"),
        *("how do I run make test", "运行 npm test 会报错吗", "try a shorter name", "试试别的办法"),
        *("don't run npm test and see if it passes", "别跑 make test 看有没有问题"),
    ],
)
def test_a_question_about_a_command_is_no_run(text: str) -> None:
    assert READER.read(text).intent.kind is not TaskKind.RUN


@pytest.mark.requirement("P7")
@each(
    "texts, topic",
    [
        (
            (
                "切到 dev 分支拉最新代码|rebase 到 main|拉一下最新代码|merge main into my branch"
                "|switch to develop"
                "|open a PR against develop|merge PR 12|合并 PR 12|删掉远程分支 feature/x"
                "|create a branch called fix-1"
                "|tag it v1.2.0 and push the tag|cherry-pick 3fa91c2 onto release|提个 PR"
                "|squash my last two commits"
            ),
            Topic.PULL,
        ),
        (
            (
                "commit and push|commit the merge fix and push it|push my branch"
                "|publish my branch|提交并推送"
                "|把合并冲突的修复提交推送了|推送当前分支|合并完了，提交推送一下|推一下翻译分支"
            ),
            Topic.PLAIN,
        ),
        ("commit my work|只提交测试文件", Topic.COMMIT),
        (
            (
                "deploy to production|restart the server|restart the test server|重启服务"
                "|部署到生产环境"
                "|send an email to the team|book a meeting room for three|发邮件给全组|订个会议室"
                "|回滚线上"
            ),
            Topic.UNSUPPORTED,
        ),
    ],
)
def test_what_is_not_offered_is_told_by_its_reason(texts: str, topic: Topic) -> None:
    found = {text: READER.read(text) for text in texts.split("|")}
    assert {text: reading.topic for text, reading in found.items()} == dict.fromkeys(found, topic)
    assert not any(reading.unsure for reading in found.values())


def test_a_further_wish_for_what_is_not_offered_is_told() -> None:
    reading = READER.read("commit and push, then open a PR")
    assert (reading.topic, reading.left) == (Topic.PLAIN, "open a PR")


@pytest.mark.requirement("P1")
@each(
    "text, kind",
    [
        ("登录为什么失败", TaskKind.EXPLAIN),
        ("登录为什么失败？", TaskKind.EXPLAIN),
        ("why did login fail", TaskKind.EXPLAIN),
        ("login fails on empty passwords, why?", TaskKind.EXPLAIN),
        ("帮我看看登录为什么失败", TaskKind.EXPLAIN),
        ("为什么登录失败了，修一下", TaskKind.CHANGE),
        ("can you fix the login retry?", TaskKind.CHANGE),
        ("用例单独跑能过，整体跑就挂", TaskKind.DIAGNOSE),
    ],
)
def test_a_question_leads_to_no_change_with_or_without_its_mark(text: str, kind: TaskKind) -> None:
    assert READER.read(text).intent.kind is kind


@pytest.mark.requirement("P7")
@each(
    "text, kind, topic",
    [
        ("can you merge the PR please?", TaskKind.GIT_SYNC, Topic.PULL),
        ("can you switch to branch dev?", TaskKind.GIT_SYNC, Topic.PULL),
        ("can you push a tag v1.2?", TaskKind.GIT_SYNC, Topic.PULL),
        ("push --tags", TaskKind.GIT_SYNC, Topic.PULL),
        ("打个 v2.3.0 的标签并推上去", TaskKind.GIT_SYNC, Topic.PULL),
        ("跑下单元测试看看过不过", TaskKind.RUN, Topic.TEST),
        ("跑下测试，看有没有挂", TaskKind.RUN, Topic.TEST),
        ("run all tests, do they pass?", TaskKind.RUN, Topic.TEST),
        ("could you tell me who merged PR 12?", TaskKind.EXPLAIN, Topic.PLAIN),
        ("跑单元测试会不会失败？", TaskKind.EXPLAIN, Topic.PLAIN),
    ],
)
def test_a_polite_deed_and_what_to_look_at_afterwards_are_no_question(
    text: str, kind: TaskKind, topic: Topic
) -> None:
    read = READER.read(text)
    assert (read.intent.kind, read.topic) == (kind, topic)


@pytest.mark.requirement("P7")
@each(
    "text", ["fix the login timeout?", "push my changes?", "the retry count, is it configurable?"]
)
def test_the_answer_to_a_deed_with_a_question_mark_says_that_nothing_was_done(text: str) -> None:
    read = READER.read(text)
    assert (read.intent.kind, read.acts) == (TaskKind.EXPLAIN, not text.startswith("the"))
