"""``codexbridge status``: how the agent is doing, on one screen.

The quickest command there is: nothing is imported here that the answer does not need.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from common.clock import SystemClock
from common.errors import UnavailableError
from common.home import find_home
from common.sentences import Lang, Sentence, explain, say
from common.text import one_line
from local_agent.cli import words
from local_agent.cli.screen import Screen, print_json, screen_for
from local_agent.cli.tasks import asker, wanted
from local_agent.faces.control.client import call
from local_agent.views import Json, from_json
from local_agent.words import DISCLOSED, DISCLOSURES

if TYPE_CHECKING:
    import argparse

    from local_agent.views.status import (
        AuditStanding,
        Connection,
        OpenWorkspace,
        PolicyStanding,
        StatusView,
        WindowsStanding,
    )
    from local_agent.views.task import WaitingTask

STATUS: Final = Sentence(
    en="How the agent of this machine is doing. Exit code 3: it is not running.",
    zh="查看本机 Agent 的状态。退出码 3：Agent 没有运行。",
)
KEY: Final = Sentence(en="Key", zh="密钥")
WORKSPACES: Final = Sentence(en="Workspaces", zh="工作区")
POLICY_IN_FORCE: Final = Sentence(en="policy: yes", zh="策略：有")
POLICY_BROKEN: Final = Sentence(
    en="policy: BROKEN ({where}): everything is refused",
    zh="策略：无效（{where}）：一切操作都被拒绝",
)
POLICY_STRAY: Final = Sentence(
    en="{file} has the name of no workspace, so nothing reads it",
    zh="{file} 与任何工作区都不同名，不会被读取",
)
MODEL: Final = Sentence(en="Model", zh="模型")
NO_MODEL: Final = Sentence(
    en="none; `codexbridge models` says how to connect one",
    zh="无；`codexbridge models` 会说明如何接入",
)
SANDBOX: Final = Sentence(en="Sandbox", zh="沙箱")
ASKS: Final = Sentence(en="Asks", zh="审批方式")
ASKS_BOTH: Final = Sentence(en="in a window, and at a terminal", zh="窗口与终端")
ASKS_LOOKING: Final = Sentence(
    en="at a terminal; whether windows can be opened is being found out",
    zh="终端；正在确认能否打开窗口",
)
ASKS_TERMINAL: Final = Sentence(en="at a terminal ({why})", zh="终端（{why}）")
NO_WINDOWS: Final = {
    "setting": Sentence(en="windows are switched off", zh="窗口已关闭"),
    "no-screen": Sentence(
        en="no DISPLAY where the agent was started", zh="启动 Agent 的环境中没有 DISPLAY"
    ),
    "no-window": Sentence(
        en="no window could be opened: the display does not answer, or Python lacks Tk",
        zh="无法打开窗口：显示服务没有应答，或 Python 缺少 Tk",
    ),
}
TASKS_LABEL: Final = Sentence(en="Tasks", zh="任务")
OPEN_TASKS: Final = Sentence(en="{count} open", zh="{count} 个未结束")
APPROVALS: Final = Sentence(en="Approvals", zh="待批准")
NO_APPROVALS: Final = Sentence(en="none", zh="无")
AUDIT_LABEL: Final = Sentence(en="Audit log", zh="审计日志")
AUDIT_STANDS: Final = Sentence(
    en="{count} {count:entry|entries}; the gateway has signed for {own_seq}",
    zh="共 {count} 条；网关已签名确认至第 {own_seq} 条",
)
AUDIT_ALONE: Final = Sentence(en="{count} {count:entry|entries}", zh="共 {count} 条")
AUDIT_FORKED: Final = Sentence(
    en="ALARM since {since}: the gateway signed what contradicts the logs. One of them was cut, "
    "changed or put back in time. Run `codexbridge audit verify`, and ask your admin.",
    zh="警报（自 {since}）：网关签名的内容与日志矛盾，其中一方被截断、改动或回退。"
    "请运行 `codexbridge audit verify` 并联系管理员。",
)
CONNECTED: Final = Sentence(en="{url}, connected", zh="{url}，已连接")
CONNECTING: Final = Sentence(en="{url}, connecting", zh="{url}，连接中")
UNPAIRED: Final = Sentence(
    en="not paired; codexbridge pair", zh="未配对；codexbridge pair --gateway URL"
)
NOT_CONNECTED: Final = Sentence(
    en="{url}, not connected since {since}; next try within {seconds} s",
    zh="{url}，自 {since} 起未连接；{seconds} 秒内重试",
)
CLOCK_DIFFERS: Final = Sentence(
    en="the clocks differ by {seconds} s, so nothing is accepted; set the wrong one right "
    "(timedatectl set-ntp true)",
    zh="两端时钟相差 {seconds} 秒，因此拒绝所有消息；请校准有误的一端（timedatectl set-ntp true）",
)
# What happened, what it means, what to do: by `link.condition.Why`.
LINK_WHY: Final = {
    "connect": Sentence(
        en="nothing answers there; check the network and whether the gateway runs",
        zh="该地址没有应答；请检查网络，以及网关是否在运行",
    ),
    "tls": Sentence(
        en="its certificate does not verify, so nothing was sent; ask the gateway's admin",
        zh="证书未通过验证，因此什么也没有发送；请联系网关管理员",
    ),
    "http": Sentence(
        en="what answers there is not a CodexBridge gateway; check the address, and the proxy if "
        "there is one before it",
        zh="该地址上的不是 CodexBridge 网关；请检查地址及其前面的代理服务器",
    ),
    "busy": Sentence(
        en="the gateway has no room for a new connection now; it gets its turn by itself",
        zh="网关暂时无法接受新连接；稍后会自动重连",
    ),
    "limited": Sentence(
        en="too many failed attempts came from this network address, so the gateway or a proxy "
        "before it refuses more for now; the agent tries again, and the admin can find out who it "
        "is",
        zh="来自本网络地址的失败尝试过多，网关或其前面的代理服务器暂时拒绝连接；Agent 会自动重试，"
        "管理员可查明来源",
    ),
    "slowed": Sentence(
        en="more than 2,000 messages came within an hour, so one is accepted every 2 s; cancels "
        "are obeyed at once, and nothing is lost",
        zh="一小时内收到超过 2,000 条消息，现在每 2 秒接收一条；取消请求立即生效，不会丢失任何内容",
    ),
    "too-much": Sentence(
        en="the requests of the last hour are longer than this machine takes in, so the next ones "
        "wait; cancels are obeyed at once, and nothing is lost",
        zh="最近一小时的请求文字总量已达本机上限，新请求需要等待；取消请求立即生效，不会丢失任何内容",
    ),
    "unheard": Sentence(
        en="the gateway has not acknowledged thousands of reports, so no new request is taken in; "
        "cancels are obeyed at once. Its admin finds the reason in its log",
        zh="网关有数千条报告未确认，因此暂不接收新请求；取消请求立即生效。"
        "网关管理员可在网关日志中找到原因",
    ),
    "lost": Sentence(
        en="the connection broke; nothing is lost by that", zh="连接中断；不会因此丢失任何内容"
    ),
    "shutdown": Sentence(
        en="the gateway went away in good order, as for a restart; nothing is lost by that",
        zh="网关正常退出（例如重启）；不会因此丢失任何内容",
    ),
    "timeout": Sentence(
        en="the gateway did not answer in time; check the network and the gateway's load",
        zh="网关未及时应答；请检查网络以及网关的负载",
    ),
    "dead": Sentence(
        en="the other side fell silent, so the connection was given up; check the network",
        zh="对方长时间没有响应，连接已断开；请检查网络",
    ),
    "store-unavailable": Sentence(
        en="the gateway could not write to its store; its admin finds the reason in its log",
        zh="网关无法写入其存储；管理员可在网关日志中找到原因",
    ),
    "congested": Sentence(
        en="the gateway announced more new keys in a day than this machine takes, so it was not "
        "listened to; what it sent waits there. Its admin knows whether that is in order",
        zh="网关一天内宣布的新密钥超过本机接受的数量，因此已断开；消息留在网关等待。请向网关管理员确认",
    ),
    "rekeyed": Sentence(
        en="a key was replaced, and the connection is made anew with it",
        zh="密钥已更换，正在用新密钥重新连接",
    ),
    "too-fast": Sentence(
        en="one side sent far more than the link allows, and was stopped; if it comes again, "
        "something is broken or hostile: see both logs",
        zh="一方发送的内容远超链路允许的量，已被制止；若再次出现，说明有故障或恶意行为：请查看两端日志",
    ),
    "journal": Sentence(
        en="this machine's journal cannot be written, as when the disk is full; what comes waits "
        "at the gateway until it can",
        zh="本机的任务日志无法写入，例如磁盘已满；恢复之前，新消息留在网关等待",
    ),
    "protocol": Sentence(
        en="one side broke the rules of the link, so it was closed; bring both sides up to date, "
        "and if it stays, see both logs",
        zh="一方违反了链路规则，连接已关闭；请把两端都更新到最新版本，若仍如此请查看两端日志",
    ),
    "auth": Sentence(
        en="the gateway does not admit this machine: it was removed, or paired anew; "
        "ask the gateway's admin for a code, then codexbridge pair --replace --gateway URL, and "
        "start the agent again",
        zh="网关不接纳本机：本机已被移除，或已重新配对；请向网关管理员索取配对码，"
        "再运行 codexbridge pair --replace --gateway URL，并重新启动 Agent",
    ),
    "revoked": Sentence(
        en="the gateway's admin has removed this machine, and it gets no more work; "
        "to come back, ask the admin for a code, then codexbridge pair --replace --gateway URL, "
        "and start the agent again",
        zh="网关管理员已移除本机，本机不再收到任务；如需恢复，请向管理员索取配对码，"
        "再运行 codexbridge pair --replace --gateway URL，并重新启动 Agent",
    ),
    "wrong-gateway": Sentence(
        en="what answers there does not hold the key that this machine was paired with: another "
        "gateway, or somebody in between; ask the admin before you pair again",
        zh="对方没有与本机配对时的密钥：是另一个网关，或有人居中冒充；重新配对之前请先向管理员核实",
    ),
    "taken-over": Sentence(
        en="another process connected with this machine's key, perhaps a copy of its folder; "
        "stop the other one, and if it is not yours, have this machine removed and pair it again",
        zh="另一个进程用本机密钥接入了网关，可能是本机目录的副本；请停掉它；"
        "若不是你运行的，请让管理员移除本机并重新配对",
    ),
    "sequence-gap": Sentence(
        en="the two sides disagree about which messages there were: one was restored from a "
        "backup, or messages were cut out. Nothing after the gap is accepted. Ask the admin what "
        "happened, then pair this machine again",
        zh="两端对已有消息的记录不一致：一端是从备份恢复的，或有消息被截去。缺口之后的消息都会拒绝。"
        "请先向管理员问明原因，再重新配对本机",
    ),
    "clock-skew": Sentence(
        en="the clocks of the two sides differ by more than a minute, so nothing is accepted; "
        "set the wrong one right (timedatectl set-ntp true)",
        zh="两端时钟相差超过一分钟，因此拒绝所有消息；请校准有误的一端（timedatectl set-ntp true）",
    ),
    "version": Sentence(
        en="the two sides have no version of the link in common; update the older one",
        zh="两端没有共同的链路版本；请更新较旧的一端",
    ),
    "version-gateway": Sentence(
        en="the gateway is too old for this machine; its admin must update the gateway",
        zh="网关版本过旧，无法与本机配合；请管理员更新网关",
    ),
    "version-machine": Sentence(
        en="this machine's CodexBridge is too old for the gateway; update it here",
        zh="本机的 CodexBridge 版本过旧，无法与网关配合；请更新本机",
    ),
}

EXIT_NOT_RUNNING = 3  # as `systemctl status` of a unit that is not active


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("status", description=say(STATUS, lang))
    parser.set_defaults(run=run)
    words.add_json(parser, lang)


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Print the status.

    Returns:
        0 when the agent runs, whatever its troubles; 3 when it does not.

    Raises:
        UnavailableError: ``agent.not-listening``, ``agent.no-answer``: it runs and cannot be asked.
    """
    try:
        found = call(find_home(environ), environ, "status")
    except UnavailableError as error:
        if error.code != "agent.not-running":
            if args.json:
                print_json({"running": True, "listening": False})
            raise
        if args.json:
            print_json({"running": False})
        from local_agent.error_texts import ERRORS

        print(f"codexbridge: {explain(error, ERRORS, lang)}", file=sys.stderr)
        return EXIT_NOT_RUNNING
    if args.json:
        print_json(_for_programs(found))
    else:
        from local_agent.views.status import StatusView

        # Of whichever version the agent is: after an upgrade the older one still runs.
        _print(from_json(StatusView, found, loose=True), screen_for(lang, environ))
    return 0


def _for_programs(found: Json) -> dict[str, Any]:
    gateway = found["gateway"]
    return {
        "running": True,
        "listening": True,
        **found,
        "connected": gateway["state"] == "connected",
        "clock_skew_seconds": gateway.get("skew_s") or None,
    }


def _print(found: StatusView, screen: Screen) -> None:
    rows = [
        (words.MACHINE, [screen.ink("bold", one_line(found.machine))]),
        (words.GATEWAY, gateway_lines(found.gateway, screen)),
        (KEY, [_key(found.key_storage, screen)]),
        (AUDIT_LABEL, _audit(found.audit, screen)),
        (WORKSPACES, _workspaces(found, screen)),
        (MODEL, [_model(found.model, screen)]),
        (SANDBOX, [_sandbox(found.sandbox, screen)]),
        (ASKS, [_asks(found.windows, screen)]),
        (
            TASKS_LABEL,
            [screen.say(OPEN_TASKS, count=found.open_tasks)],
        ),
        (APPROVALS, _approvals(found.approvals, screen)),
    ]
    screen.fields([row for row in rows if row[1] != [""]])


def gateway_lines(gateway: Connection, screen: Screen) -> list[str]:
    """Return how the connection to the gateway stands, and why when it does not."""
    url = one_line(gateway.url or "")
    match gateway.state:
        case "unpaired":
            return [screen.ink("dim", screen.say(UNPAIRED))]
        case "connected":
            line = screen.ink("green", screen.say(CONNECTED, url=url))
            return [line, _why(gateway, screen)] if gateway.why else [line]
        case "connecting":
            return [screen.say(CONNECTING, url=url)]
    line = screen.say(
        NOT_CONNECTED,
        url=url,
        since=clock_time(gateway.since_ms),
        seconds=gateway.retry_s,
    )
    return [screen.ink("red", line), _why(gateway, screen)]


def _why(gateway: Connection, screen: Screen) -> str:
    if gateway.skew_s:
        return screen.say(CLOCK_DIFFERS, seconds=abs(gateway.skew_s))
    return screen.say(LINK_WHY.get(gateway.why, LINK_WHY["protocol"]))


def clock_time(at_ms: int) -> str:
    """Return local date and time of a moment."""
    import datetime as dt

    moment = dt.datetime.fromtimestamp(at_ms / 1000, tz=dt.UTC).astimezone()
    return moment.strftime("%m-%d %H:%M")


def _key(where: str | None, screen: Screen) -> str:
    if not where:
        return ""
    if where == "file":
        return screen.ink("red", screen.say(words.IN_FILE))
    return screen.say(words.IN_KEYRING)


def _audit(audit: AuditStanding, screen: Screen) -> list[str]:
    count, own_seq = audit.entries, audit.gateway_keeps
    if own_seq:
        lines = [screen.say(AUDIT_STANDS, count=count, own_seq=own_seq)]
    else:
        lines = [screen.say(AUDIT_ALONE, count=count)]
    if audit.forked_at is not None:
        since = clock_time(audit.forked_at)
        lines.append(screen.ink("red", screen.say(AUDIT_FORKED, since=since)))
    return lines


def _workspaces(found: StatusView, screen: Screen) -> list[str]:
    stray = strays_told(found.stray_policies, screen)
    if not found.workspaces:
        return [screen.say(words.NO_WORKSPACES), *stray]
    return [*(_workspace(item, screen) for item in found.workspaces), *stray]


def _workspace(item: OpenWorkspace, screen: Screen) -> str:
    told = [
        one_line(item.name),
        one_line(item.path, 400),
        disclosure_told(item.disclosure, screen) if item.disclosure else "",
        policy_told(item.policy, screen),
    ]
    return "  ".join(part for part in told if part)


def _model(name: str | None, screen: Screen) -> str:
    return screen.say(NO_MODEL) if name is None else one_line(name, 100)


def _sandbox(level: str, screen: Screen) -> str:
    if level == "none":
        return screen.ink("red", screen.say(words.NOT_SANDBOXED))
    return screen.say(words.SANDBOXED, level=level)


def _asks(windows: WindowsStanding, screen: Screen) -> str:
    if windows.state != "off":
        known = {"on": ASKS_BOTH, "looking": ASKS_LOOKING}
        return screen.say(known[windows.state])
    return screen.say(ASKS_TERMINAL, why=screen.say(NO_WINDOWS[windows.why]))


def _approvals(found: Sequence[WaitingTask], screen: Screen) -> list[str]:
    from local_agent.cards.words import time_left

    if not found:
        return [screen.say(NO_APPROVALS)]
    now_ms = SystemClock().now().wall_ms
    return [
        "  ".join(
            (
                screen.ink("bold", item.short_id),
                time_left(item.expires_at, now_ms, screen.lang),
                asker(screen, item),
                one_line(wanted(screen, item), 60),
            )
        )
        for item in found
    ]


def policy_told(policy: PolicyStanding, screen: Screen) -> str:
    """Return how the policy of a workspace stands; empty where it has none."""
    if policy.state == "broken":
        where = [one_line(part, 400) for part in (policy.file, policy.key) if part]
        return screen.ink("red", screen.say(POLICY_BROKEN, where=", ".join(where)))
    return screen.say(POLICY_IN_FORCE) if policy.state == "in-force" else ""


def disclosure_told(level: str, screen: Screen) -> str:
    """Return what the chat may be told of a workspace, in a few words."""
    known = DISCLOSURES.get(level)
    shown = screen.say(known) if known else one_line(level, 32)
    told = screen.say(DISCLOSED, level=shown)
    return screen.ink("red", told) if level == "full" else told


def strays_told(files: Sequence[str], screen: Screen) -> list[str]:
    """Return that these policy files belong to no workspace, so that nothing reads them."""
    return [screen.say(POLICY_STRAY, file=one_line(file, 400)) for file in files]
