"""The grammar: what is a command, what is not, and what is never changed."""

from __future__ import annotations

import pytest

from common import dsl
from common.dsl import Command, Directed, FreeText, NotAddressed
from common.sentences import Lang
from common.terminal import cells
from common.verbs import COMMANDS, CommandSpec, Topic
from tests.each import each


@each(
    "text",
    ["", "hello", "@developer test", "@dev.example", "@devtest", "dev test", "hi @dev test", "@de"],
)
def test_what_does_not_start_with_the_prefix_is_not_for_us(text: str) -> None:
    assert dsl.parse(text) == NotAddressed()


@each(
    "text",
    [
        "@dev help",
        "@DEV Help",
        "＠ｄｅｖ　ｈｅｌｐ",
        "@dev\u2005help",
        "\ufeff @dev: help!",
        "@dev帮助。",
        "@dev ?",
    ],
)
def test_the_prefix_and_the_word_are_folded(text: str) -> None:
    assert dsl.parse(text) == Command("help")


def test_another_prefix_can_be_set() -> None:
    assert dsl.parse("@机器人 帮助", prefix="@机器人") == Command("help")
    assert dsl.parse("@dev help", prefix="@bot") == NotAddressed()


@pytest.mark.requirement("NL-9")
@each("spec", COMMANDS)
def test_every_name_and_alias_is_its_command(spec: CommandSpec) -> None:
    for word in (spec.name, *spec.aliases):
        assert dsl.parse(f"@dev {word}") == Command(spec.name)


def test_a_command_that_needs_its_own_answer_is_answered_by_its_name() -> None:
    others = {spec.name: spec.topic for spec in COMMANDS if spec.topic != spec.name}
    plain = dict.fromkeys(("help", "status", "search", "review"), Topic.PLAIN)
    assert others == plain | dict.fromkeys(
        ("use", "on", "whoami", "lang", "members"), Topic.GATEWAY
    )


def test_no_word_names_two_commands() -> None:
    words = [word for spec in COMMANDS for word in (spec.name, *spec.aliases)]
    assert len(words) == len(set(words))


@each(
    "text",
    [
        "help me find the bug",
        "status of the build?",
        "test the login page",
        "test-driven development, please",
        "apply dark mode to the page",
        "cancel the meeting reminder feature",
        "run the tests",
        "测试一下登录",
        "",
        "——",
    ],
)
def test_a_phrase_that_only_begins_like_a_command_is_natural_language(text: str) -> None:
    assert dsl.parse(f"@dev {text}") == FreeText(text)


@each("name", ["plan", "patch", "search", "review", "sync"])
def test_what_takes_a_text_takes_it_as_typed(name: str) -> None:
    assert dsl.parse(f"@dev {name}: add ＡＢＣ\n“x”") == Command(name, args="add ＡＢＣ\n“x”")


@each("name", ["status", "apply", "cancel"])
@each("given", ["T-7K3F", "t7k3f", "＃７ｋ３ｆ。", "T—7K3F"])
def test_an_id_is_read_as_people_type_it(name: str, given: str) -> None:
    assert dsl.parse(f"@dev {name} {given}") == Command(name, task_id="T-7K3F")


def test_chinese_needs_no_blank_before_an_id() -> None:
    assert dsl.parse("@dev取消T-7K3F") == Command("cancel", task_id="T-7K3F")
    assert dsl.parse("@dev 取消刚才的任务") == FreeText("取消刚才的任务")


@each(
    "texts, said",
    [
        (
            (
                "stop|Stop!|please stop|stop it now|stop the task|abort|cancel the current task"
                "|停|停！|停下|快停下来|先停一下|停止任务|别跑了，停|取消吧|终止"
            ),
            Command("cancel"),
        ),
        ("stop T-7K3F|停止 T-7K3F|终止任务 7k3f", Command("cancel", task_id="T-7K3F")),
        (
            (
                "cancel all|Cancel everything.|stop everything|cancel all of my tasks"
                "|please cancel all|取消全部|全部取消|取消所有任务"
                "|把我的任务全取消|停止全部|都取消了吧"
            ),
            Command("cancel", options={"all": ""}),
        ),
        (
            (
                "undo the last change|please undo my last change|take back the last change"
                "|撤消|撤消吧|撤销上一个改动|撤消刚才的修改|把上一个改动撤销掉|撤回你刚才的改动"
            ),
            Command("undo"),
        ),
        ("撤消 T-7K3F|撤消T-7K3F", Command("undo", task_id="T-7K3F")),
    ],
)
def test_cancel_and_undo_are_obeyed_however_they_are_said(texts: str, said: Command) -> None:
    assert {text: dsl.parse(f"@dev {text}") for text in texts.split("|")} == dict.fromkeys(
        texts.split("|"), said
    )


@each(
    "text",
    [
        *("stop retrying", "stop the server", "stop all tests", "cancel all orders of a user"),
        *(
            "停止服务",
            "取消按钮",
            "取消全选",
            "取消所有订单",
            "全停了",
            "取消了",
            "撤销按钮改成灰色",
        ),
        *("undo the last commit", "why does it stop", "停" * 60, "我的" * 30 + "全取消"),
    ],
)
def test_what_only_begins_like_a_cancel_or_an_undo_is_natural_language(text: str) -> None:
    assert dsl.parse(f"@dev {text}") == FreeText(text)


def test_a_mistyped_id_stays_in_its_place() -> None:
    assert dsl.parse("@dev cancel T-UUUU") == Command("cancel", args="T-UUUU")


@pytest.mark.requirement("R7")
@pytest.mark.parametrize(
    ("typed", "cmd"),
    [
        ('--cmd="pytest -q"', "pytest -q"),
        ("--cmd='a \"b\" \\c'", 'a "b" \\c'),
        ('--cmd="say \\"hi\\" \\\\ \\n"', 'say "hi" \\ \\n'),
        ("--cmd=“npm test”", "npm test"),
        ("--cmd=”npm test”", "npm test"),
        ("--cmd=「ｎｐｍ　ｔｅｓｔ」", "ｎｐｍ　ｔｅｓｔ"),
        ("--cmd=＂a b＂", "a b"),
        ("—cmd＝pytest -q", "pytest -q"),
        ("－－ｃｍｄ＝pytest", "pytest"),
        ("--CMD pytest -k 'a b'", "pytest -k 'a b'"),
        ("--cmd = make  test", "make  test"),
    ],
)
def test_a_quoted_command_is_never_changed(typed: str, cmd: str) -> None:
    assert dsl.parse(f"@dev test {typed}") == Command("test", options={"cmd": cmd})


def test_an_option_may_follow_a_chinese_word_without_a_blank() -> None:
    assert dsl.parse("@dev 测试--cmd=make") == Command("test", options={"cmd": "make"})


@each(
    "typed",
    [
        "--cmd=",
        '--cmd="',
        '--cmd=""',
        "--cmd='  '",
        '--cmd="a" b',
        '--cmd="a" "b"',
        '--cmd="a\\"',
        "--cmd=“a” b”",
        "--command=x",
        "--cmd",
        "-",
        "--cmd1=x",
    ],
)
def test_an_option_that_cannot_be_read_is_kept_and_gives_no_command(typed: str) -> None:
    assert dsl.parse(f"@dev test {typed}") == Command("test", args=typed)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_help_fits_a_message_and_names_every_command(lang: Lang) -> None:
    text = dsl.help_text(lang)
    assert len(text.encode()) <= 2048
    assert all((spec.usage.zh if lang == "zh" else spec.usage.en) in text for spec in COMMANDS)
    assert max(cells(row) for row in text.splitlines()[2:]) <= 38, "one line of a phone each"


@pytest.mark.parametrize(("lang", "what"), [("en", "a model"), ("zh", "模型")])
def test_the_help_says_once_what_needs_a_model(lang: Lang, what: str) -> None:
    lines = dsl.help_text(lang).splitlines()
    marked = [line.split()[0] for line in lines if line.endswith(" *")]
    en, zh = ["plan", "patch", "revise", "apply"], ["计划", "补丁", "修订", "应用"]
    assert marked == (en if lang == "en" else zh)
    assert [line.startswith("* ") for line in lines if what in line] == [True]


def test_the_help_names_the_prefix_that_is_set() -> None:
    assert "@dev" not in dsl.help_text("en", prefix="@bot")


def test_what_the_help_shows_is_understood() -> None:
    for line in dsl.help_text("en").splitlines()[2:-1]:
        usage = "@dev " + line.split(": ")[0].replace("[", "").replace("]", "").replace(
            "ID", "T-7K3F"
        )
        assert isinstance(dsl.parse(usage.replace("…", "x")), Command | Directed)


@pytest.mark.parametrize(
    ("text", "machine", "rest", "said"),
    [
        ("@dev on dev-1 test", "dev-1", "test", Command("test")),
        ("@dev ON ＤＥＶ－１， test", "dev-1", "test", Command("test")),
        (
            "@dev on dev—1: cancel T-7K3F",
            "dev-1",
            "cancel T-7K3F",
            Command("cancel", task_id="T-7K3F"),
        ),
        ("@dev on dev-1", "dev-1", "", FreeText("")),
        ("@dev 在 dev-1 上跑测试", "dev-1", "跑测试", Command("test")),
        ("@dev在dev-1上取消T-7K3F", "dev-1", "取消T-7K3F", Command("cancel", task_id="T-7K3F")),
        ("@dev on a on b test", "a", "on b test", FreeText("on b test")),
    ],
)
def test_one_message_can_be_for_one_machine(
    text: str, machine: str, rest: str, said: Command | FreeText
) -> None:
    assert dsl.parse(text) == Directed(machine, rest, said)


def test_a_command_for_one_machine_is_never_touched() -> None:
    found = dsl.parse('@dev on dev-1 test --cmd="a  B"')
    assert isinstance(found, Directed)
    assert found.text == 'test --cmd="a  B"'
    assert isinstance(found.said, Command)
    assert found.said.options == {"cmd": "a  B"}


@each(
    "text",
    [
        "@dev on main.py fix the import",
        "@dev 在 src 里查找 x",
        "@dev在src目录查找x",
        "@dev 在线吗",
        "@dev on my_branch run it",
    ],
)
def test_a_place_in_the_workspace_is_no_machine(text: str) -> None:
    assert dsl.parse(text) == FreeText(text.removeprefix("@dev").strip())


@pytest.mark.parametrize(
    ("text", "machine"),
    [("@dev use dev-2", "dev-2"), ("@dev USE Dev-2.", "dev-2"), ("@dev 使用dev-2。", "dev-2")],
)
def test_a_machine_is_chosen_by_its_name(text: str, machine: str) -> None:
    assert dsl.parse(text) == Command("use", args=machine)


@each("text", ["use pytest to run them", "使用pytest跑测试", "电脑上跑测试"])
def test_a_sentence_that_begins_like_a_choice_is_natural_language(text: str) -> None:
    assert dsl.parse(f"@dev {text}") == FreeText(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cancel task", Command("cancel")),
        ("cancel the last one", Command("cancel")),
        ("undo last", Command("undo")),
        ("undo it", Command("undo")),
        ("status find", Command("status", args="find")),
        ("cancel TASK", Command("cancel")),
        ("UNDO LAST", Command("undo")),
        ("cancel T-7K3F please", Command("cancel", task_id="T-7K3F")),
        ("undo T-7K3F please", Command("undo", task_id="T-7K3F")),
        ("undo T-7K3F src/a.py, please", Command("undo", args="src/a.py", task_id="T-7K3F")),
        ("cancel t-task", Command("cancel", task_id="T-TASK")),
        ("cancel 7k3f", Command("cancel", task_id="T-7K3F")),
    ],
)
def test_a_word_is_no_id_unless_it_is_written_as_one(text: str, said: Command) -> None:
    assert dsl.parse(f"@dev {text}") == said


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("stauts", "status"),
        ("tset", "test"),
        ("cancle T-7K3F", "cancel T-7K3F"),
        ("aply", "apply"),
        ("Whomai", "whoami"),
        ("ｓｔａｔｕ", "status"),
        ("hello", None),
        ("fix it", None),
        ("", None),
    ],
)
def test_a_mistyped_verb_is_known(text: str, meant: str | None) -> None:
    assert dsl.mistyped(text) == meant
