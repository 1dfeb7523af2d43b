"""``codexbridge receipt``: have a task's receipt made, or check one anywhere.

Checking needs the file and the public key alone: no agent, no journal, no network.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from common.errors import AuthError, InputError
from common.sentences import RECEIPT_FAULTS, Lang, Sentence, say
from common.text import one_line
from local_agent.cli import words
from local_agent.words import REASONS

if TYPE_CHECKING:
    import argparse

    from common.receipt import Receipt
    from local_agent.cli.screen import Screen

RECEIPT: Final = Sentence(
    en="Prove what came of a task: who is said to have asked, who approved what, how it ended. "
    "`receipt T-7K3F` prints the signed receipt; `receipt verify FILE --key PUB` checks one, on "
    "any machine and without a network; `receipt key` prints this machine's public key. Only "
    "`verify` works without the running agent.",
    zh="证明一个任务的经过：据称由谁提出、谁批准了什么、结果如何。"
    "`receipt T-7K3F` 输出已签名的凭证；`receipt verify FILE --key PUB` 在任何机器上"
    "离线验证；`receipt key` 显示本机公钥。除 `verify` 外，都需要 Agent 正在运行。",
)
RECEIPT_WHAT: Final = Sentence(
    en="a task such as T-7K3F, or `verify`, or `key`",
    zh="任务编号（如 T-7K3F），或 `verify`、`key`",
)
RECEIPT_FILE: Final = Sentence(en="the receipt to verify", zh="要验证的凭证文件")
RECEIPT_KEY: Final = Sentence(
    en="the machine's public key, obtained from somewhere other than the receipt: base64, hex, or "
    "a file that holds it",
    zh="开发机的公钥（须从凭证以外的途径取得）：base64、十六进制，或存放它的文件",
)
RECEIPT_GATEWAY_KEY: Final = Sentence(
    en="the gateway's public key; without it its signature is not believed",
    zh="网关的公钥；不提供则不采信其签名",
)
RECEIPT_HOLDS: Final = Sentence(
    en="The receipt holds. The machine {machine} signed on {when}:",
    zh="凭证有效。开发机 {machine} 于 {when} 签名：",
)
RECEIPT_BROKEN: Final = Sentence(en="The receipt does NOT hold: {why}.", zh="凭证无效：{why}。")
RECEIPT_ASKED: Final = Sentence(
    en="{who}, so it is said, through the {channel}, {when}",
    zh="据称为 {who}，经由 {channel}，{when}",
)
CHANNELS: Final[Mapping[str, Sentence]] = {
    "wecom_app": Sentence(en="WeCom app", zh="企业微信应用"),
    "terminal": Sentence(en="terminal of the machine", zh="该开发机的终端"),
}
RECEIPT_WRITTEN: Final = Sentence(
    en="Wrote the receipt of {task} to {path}, for you alone to read.",
    zh="{task} 的凭证已写入 {path}，仅你可读。",
)
RECEIPT_DECISION: Final = Sentence(en="Decision", zh="决定")
RECEIPT_OUTCOME: Final = Sentence(en="Outcome", zh="结果")
RECEIPT_NOTHING_ASKED: Final = Sentence(
    en="no approval was asked for, and none given", zh="没有请求批准，也没有批准"
)
RECEIPT_UNDECIDED: Final = Sentence(
    en="{code} was asked for; nobody decided", zh="曾请求批准 {code}；无人作出决定"
)
RECEIPT_APPROVED: Final = Sentence(
    en="{code} approved by a person at the machine itself ({approver}), {when}",
    zh="{code} 由该开发机前的人批准（{approver}），{when}",
)
RECEIPT_REJECTED: Final = Sentence(
    en="{code} rejected by a person at the machine itself ({approver}), {when}",
    zh="{code} 由该开发机前的人拒绝（{approver}），{when}",
)
APPROVERS: Final[Mapping[str, Sentence]] = {
    "terminal": Sentence(en="terminal", zh="终端"),
    "desktop": Sentence(en="window", zh="窗口"),
    "passkey": Sentence(en="passkey", zh="通行密钥"),
}
RECEIPT_FROM_FILE: Final = Sentence(
    en="{code} answered by the answers file of a dry run or by its rollback ({decision}), {when}",
    zh="{code} 由试运行的答案文件或试运行的回滚回答（{decision}），{when}",
)
RECEIPT_OF_STEPS: Final = Sentence(
    en="A run executes nothing itself: what its steps did is in the receipts of {tasks}.",
    zh="剧本的执行任务本身不运行任何操作：各步骤所做的，见 {tasks} 的凭证。",
)
RECEIPT_DIGEST: Final = Sentence(en="{action}, digest {digest}", zh="{action}，摘要 {digest}")
RECEIPT_BY_PASSKEY: Final = Sentence(
    en="A passkey signed this digest; its signature was checked. The machine names it {code}.",
    zh="已用通行密钥对该摘要签名，签名已验证。该开发机记录的密钥为 {code}。",
)
RECEIPT_NOT_RUN: Final = Sentence(en="nothing was executed", zh="没有执行任何操作")
RECEIPT_RAN: Final = Sentence(en="execution began {when}", zh="开始执行于 {when}")
RECEIPT_USED: Final = Sentence(
    en="the approval was used {when}; whether anything ran is not recorded",
    zh="批准已于 {when} 使用；是否运行过没有记录",
)
RECEIPT_INTERRUPTED: Final = Sentence(
    en="begun {when}, then interrupted; how far it got is unknown",
    zh="开始于 {when}，随后中断；进行到哪一步不明",
)
RECEIPT_WROTE: Final = Sentence(en="{count} {count:file|files} written", zh="写入 {count} 个文件")
RECEIPT_EXIT: Final = Sentence(en="exit code {code}", zh="退出码 {code}")
RECEIPT_SIGNAL: Final = Sentence(en="ended by signal {signal}", zh="被信号 {signal} 终止")
RECEIPT_FILES: Final = Sentence(
    en="{count} {count:file|files} changed meanwhile", zh="期间改动了 {count} 个文件"
)
RECEIPT_OUTPUT: Final = Sentence(en="output kept under {digest}", zh="输出保存为 {digest}")
RECEIPT_PART: Final = Sentence(
    en="part {number} of {count}: {how}", zh="第 {number} 部分，共 {count} 部分：{how}"
)
RECEIPT_NOT_BEGUN: Final = Sentence(en="not begun", zh="没有开始")
RECEIPT_NO_END: Final = Sentence(en="begun; its end is not recorded", zh="已开始，结果没有记录")
RECEIPT_NO_GATEWAY: Final = Sentence(
    en="had signed nothing of the machine's log by then", zh="当时尚未对该开发机的日志签名"
)
RECEIPT_COVERED: Final = Sentence(
    en="keeps the machine's log up to entry {seq}. That this task's entries are in it is the "
    "machine's own word; its exported log shows them.",
    zh="保存该开发机的日志至第 {seq} 条。本任务的记录在其中，是开发机自己的说法；"
    "可用其导出的日志核对。",
)
RECEIPT_NOT_COVERED: Final = Sentence(
    en="keeps the machine's log up to entry {seq}, not yet the end of this task.",
    zh="保存该开发机的日志至第 {seq} 条，尚未包含本任务的结束。",
)
RECEIPT_CHECKED: Final = Sentence(
    en="Its signature was checked with the key given.", zh="其签名已用给出的公钥验证。"
)
RECEIPT_UNCHECKED: Final = Sentence(
    en="Whose signature that is was not checked: give --gateway-key.",
    zh="未核对签名者身份：请用 --gateway-key 给出公钥。",
)


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("receipt", description=say(RECEIPT, lang))
    parser.set_defaults(run=run)
    parser.add_argument("what", metavar="T-…|verify|key", help=say(RECEIPT_WHAT, lang))
    parser.add_argument("file", type=Path, nargs="?", metavar="FILE", help=say(RECEIPT_FILE, lang))
    parser.add_argument("--output", type=Path, metavar="FILE", help=say(words.NEW_FILE, lang))
    parser.add_argument("--key", metavar="PUB", help=say(RECEIPT_KEY, lang))
    parser.add_argument("--gateway-key", metavar="PUB", help=say(RECEIPT_GATEWAY_KEY, lang))
    words.add_json(parser, lang)


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Make a receipt, check one, or print this machine's public key.

    Raises:
        InputError: ``receipt.arguments``, ``input.public-key``, ``input.task-id``.
        StateError: ``receipt.open``, ``task.unknown``.
        UnavailableError: ``agent.not-running``.
    """
    match args.what:
        case "verify":
            return _verify(args, lang, environ)
        case "key":
            return _key(environ)
    return _make(args, lang, environ)


def _make(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    from common.audit_report import output
    from common.home import find_home
    from common.ids import parse_short_id
    from local_agent.faces.control.client import call

    short_id = parse_short_id(args.what)
    if args.file or args.key or args.gateway_key:
        raise InputError("receipt.arguments")
    answer = call(find_home(environ), environ, "receipt", task=short_id)
    with output(args.output) as file:
        file.write(answer["receipt"].encode("ascii"))
    if args.output:
        path = one_line(str(args.output))
        print(say(RECEIPT_WRITTEN, lang, task=short_id, path=path))
    task = call(find_home(environ), environ, "show", task=short_id).get("task") or {}
    steps = (task.get("playbook_run") or {"steps": ()})["steps"]
    if asked := dict.fromkeys(step["task"] for step in steps if step["task"]):
        print(say(RECEIPT_OF_STEPS, lang, tasks=", ".join(asked)), file=sys.stderr)
    return 0


def _key(environ: Mapping[str, str]) -> int:
    from common.home import find_home
    from local_agent.faces.control.client import call

    print(call(find_home(environ), environ, "status")["public_key"])
    return 0


def _verify(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    from common.audit_report import given_key
    from common.receipt import MAX_RECEIPT_BYTES, verify_receipt
    from local_agent.cli.screen import print_json, screen_for

    if not args.file or not args.key:
        raise InputError("receipt.arguments")
    key = given_key(args.key)
    gateway_key = given_key(args.gateway_key) if args.gateway_key else None
    with args.file.open("rb") as file:
        data = file.read(MAX_RECEIPT_BYTES + 1)
    try:
        receipt = verify_receipt(data, key=key, gateway_key=gateway_key)
    except AuthError as error:
        if error.code != "receipt.broken":
            raise
        what = str(error.facts["what"])
        if args.json:
            print_json({"ok": False, "broken": what})
        else:
            print(say(RECEIPT_BROKEN, lang, why=say(RECEIPT_FAULTS[what], lang)))
        return 1
    if args.json:
        print_json({"ok": True, "broken": None, **_record(receipt)})
    else:
        _print(receipt, screen_for(lang, environ))
    return 0


def _record(receipt: Receipt) -> dict[str, Any]:
    return {
        "receipt": dict(receipt.facts),
        "decision": receipt.decision,
        "gateway_key_checked": receipt.gateway_checked,
        "gateway_keeps_the_end": receipt.covered,
    }


def _print(receipt: Receipt, screen: Screen) -> None:
    from local_agent.cli.tasks import moment_anywhere

    facts, task = receipt.facts, receipt.facts["task"]
    machine = one_line(facts["machine"], 80)
    asked = screen.say(
        RECEIPT_ASKED,
        who=one_line(task["claimed_user"], 80),
        channel=_named(task["channel"], CHANNELS, screen),
        when=moment_anywhere(task["asked_at"]),
    )
    rows: list[tuple[Sentence, list[str]]] = [
        (words.TASK, [screen.ink("bold", f"{task['short_id']}  {task['task_id']}")]),
        (words.MACHINE, [machine]),
        (words.ASKED_BY, [asked]),
        (RECEIPT_DECISION, [*_decision(receipt, screen)]),
        (RECEIPT_OUTCOME, [*_outcome(receipt, screen)]),
        (words.GATEWAY, [_gateway(receipt, screen)]),
    ]
    screen.tell(RECEIPT_HOLDS, machine=machine, when=moment_anywhere(facts["at"]))
    screen.fields(rows)


def _named(code: str, names: Mapping[str, Sentence], screen: Screen) -> str:
    """Return the word for a code; one of a release to come is told as it is."""
    return screen.say(names[code]) if code in names else one_line(code, 40)


def _decision(receipt: Receipt, screen: Screen) -> Iterator[str]:
    from common.seal import short_code
    from local_agent.actions.registry import ACTIONS
    from local_agent.cli.tasks import moment_anywhere

    approval = receipt.facts["approval"]
    if approval is None:
        yield screen.say(RECEIPT_NOTHING_ASKED)
        return
    if receipt.decision is None:
        yield screen.say(RECEIPT_UNDECIDED, code=approval["code"])
    else:
        said = RECEIPT_APPROVED if receipt.decision == "approve" else RECEIPT_REJECTED
        if approval["approver"] == "dry-run":
            said = RECEIPT_FROM_FILE
        yield screen.say(
            said,
            code=approval["code"],
            when=moment_anywhere(approval["decided_at"]),
            approver=_named(approval["approver"], APPROVERS, screen),
            decision=receipt.decision,
        )
        if receipt.reason:
            yield one_line(receipt.reason, 400)
    yield screen.say(
        RECEIPT_DIGEST,
        action=_named(
            approval["action"], {word: row.card.named for word, row in ACTIONS.items()}, screen
        ),
        digest=approval["digest"],
    )
    if signed := approval.get("assertion"):
        yield screen.say(RECEIPT_BY_PASSKEY, code=short_code(signed["passkey"]))


def _outcome(receipt: Receipt, screen: Screen) -> Iterator[str]:
    from common.model.state import Reason
    from local_agent.cli.tasks import moment_anywhere

    outcome = receipt.facts["outcome"]
    reason = screen.say(REASONS[outcome["reason"]])
    yield f"{reason}  {moment_anywhere(receipt.facts['task']['ended_at'])}"
    # A grant is taken before what would run is looked at again: what had drifted never ran.
    parts = outcome.get("parts", ())
    drifted = outcome["reason"] == Reason.DRIFTED
    if outcome["began_at"] is None or (drifted and not any(map(_is_done, parts))):
        yield screen.say(RECEIPT_NOT_RUN)
        return
    yield screen.say(_doing(receipt), when=moment_anywhere(outcome["began_at"]))
    if outcome["exit_code"] is not None:
        yield screen.say(RECEIPT_EXIT, code=outcome["exit_code"])
    if outcome["signal"] is not None:
        yield screen.say(RECEIPT_SIGNAL, signal=outcome["signal"])
    if outcome["changed_files"] is not None:
        ran = receipt.facts["approval"]["action"] == "run_command"
        said = RECEIPT_FILES if ran else RECEIPT_WROTE
        yield screen.say(said, count=outcome["changed_files"])
    if outcome["output_sha256"] is not None:
        yield screen.say(RECEIPT_OUTPUT, digest=outcome["output_sha256"])
    for part in parts:
        number = part["index"] + 1
        yield screen.say(RECEIPT_PART, number=number, count=len(parts), how=_ended(part, screen))


def _is_done(part: Mapping[str, Any]) -> bool:
    return bool(part["reason"] == "completed")


def _ended(part: Mapping[str, Any], screen: Screen) -> str:
    """Return how one of several operations ended."""
    if part["began_at"] is None:
        return screen.say(RECEIPT_NOT_BEGUN)
    return screen.say(REASONS.get(part["reason"], RECEIPT_NO_END))


def _doing(receipt: Receipt) -> Sentence:
    """Return what was done of what was approved, as far as the machine has recorded it."""
    from common.model.state import Reason
    from local_agent.actions.registry import ACTIONS

    outcome, action = receipt.facts["outcome"], receipt.facts["approval"]["action"]
    row = ACTIONS.get(action)
    if action == "run_command":
        ran = outcome["exit_code"] is not None or outcome["signal"] is not None
        return RECEIPT_RAN if ran else RECEIPT_USED
    if outcome["reason"] == Reason.COMPLETED:
        return (row.card.done if row else None) or RECEIPT_USED
    if outcome["reason"] == Reason.UNKNOWN or outcome["closed_at"] is None:
        return RECEIPT_INTERRUPTED
    return (row.card.not_done if row else None) or RECEIPT_USED


def _gateway(receipt: Receipt, screen: Screen) -> str:
    if receipt.kept is None:
        return screen.say(RECEIPT_NO_GATEWAY)
    kept = RECEIPT_COVERED if receipt.covered else RECEIPT_NOT_COVERED
    whose = RECEIPT_CHECKED if receipt.gateway_checked else RECEIPT_UNCHECKED
    gap = "" if screen.lang == "zh" else " "
    return f"{screen.say(kept, seq=receipt.kept.own_seq)}{gap}{screen.say(whose)}"
