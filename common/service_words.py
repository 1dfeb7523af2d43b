"""What is told of a service (`common.service`), in both languages."""

from __future__ import annotations

from typing import Final

from common.sentences import Sentence

WORDS: Final = {
    "help-install": Sentence(
        en="Write the unit, start it now and from now on by itself, and wait until it answers.",
        zh="写入服务单元，立即启动并设为自动启动，然后等待其应答。",
    ),
    "help-remove": Sentence(
        en="Stop the service and remove its unit; state and settings stay.",
        zh="停止服务并删除服务单元；状态和设置保留。",
    ),
    "help-status": Sentence(
        en="How the service stands. Exit code 3: it is not running.",
        zh="查看服务的状态。退出码 3：没有运行。",
    ),
    "help-logs": Sentence(en="Show what the service logged.", zh="查看服务的日志。"),
    "help-dry-run": Sentence(
        en="only show the unit and what it runs; change nothing",
        zh="只显示服务单元及其运行的命令，不做任何更改",
    ),
    "help-json": Sentence(en="print JSON for programs", zh="以 JSON 输出，供程序读取"),
    "help-follow": Sentence(en="go on showing what comes", zh="持续显示新日志"),
    "help-lines": Sentence(en="how many of the newest lines (50)", zh="显示最新的多少行（50）"),
    "would-write": Sentence(en="Unit file: {file}", zh="服务单元文件：{file}"),
    "would-run": Sentence(en="It runs: {command}", zh="它运行：{command}"),
    "as-it-was": Sentence(en="The unit is as it was: {file}", zh="服务单元没有变化：{file}"),
    "written": Sentence(en="Wrote {file}", zh="已写入 {file}"),
    "rewritten": Sentence(
        en="Wrote {file} anew; it is restarted.", zh="已更新 {file}；服务随之重启。"
    ),
    "overwrite": Sentence(
        en="{file} was not written by CodexBridge. Overwrite it? [y/N] ",
        zh="{file} 不是由 CodexBridge 写入的。要覆盖吗？[y/N] ",
    ),
    "answers": Sentence(
        en="It runs and answers (process {pid}). See: {verb} status",
        zh="已运行并正常应答（进程 {pid}）。查看：{verb} status",
    ),
    "linger": Sentence(
        en="It starts when you log in and ends with your last session. To have it run from boot, "
        "without a login: loginctl enable-linger {user}. Windows still need your desktop; until "
        "then you are asked at a terminal.",
        zh="它在你登录时启动，随你的最后一个会话结束。如需开机即运行、无需登录："
        "loginctl enable-linger {user}。窗口仍需要桌面会话，在此之前只能在终端批准。",
    ),
    "no-answer": Sentence(
        en="It was started and does not answer. Its log says:",
        zh="已启动，但没有应答。日志显示：",
    ),
    "see-status": Sentence(
        en="Put that right, then run `{verb} install` again. More: {verb} status, {verb} logs",
        zh="请先解决上述问题，再运行 `{verb} install`。详情：{verb} status、{verb} logs",
    ),
    "none": Sentence(
        en="There is no service ({file}); nothing was changed.",
        zh="没有安装服务（{file}）；未做任何更改。",
    ),
    "removed": Sentence(
        en="The service is stopped and {file} removed. State and settings stay where they are.",
        zh="服务已停止，{file} 已删除。状态和设置保留在原处。",
    ),
    "unit": Sentence(en="Unit", zh="服务单元"),
    "missing": Sentence(en="none", zh="没有"),
    "enabled": Sentence(en="Starts", zh="启动方式"),
    "at-login": Sentence(en="when you log in", zh="登录时自动启动"),
    "at-boot": Sentence(en="at boot", zh="开机时自动启动"),
    "by-hand": Sentence(en="only by hand", zh="只能手动启动"),
    "state": Sentence(en="State", zh="状态"),
    "state-active": Sentence(
        en="running since {since}, process {pid}", zh="正在运行，始于 {since}，进程 {pid}"
    ),
    "state-restarting": Sentence(
        en="FAILED; it is started again in a moment", zh="失败；稍后会自动重启"
    ),
    "state-failed": Sentence(en="FAILED; it is not started again", zh="失败；不会再自动启动"),
    "state-inactive": Sentence(en="not running", zh="没有运行"),
    "restarts": Sentence(en="Restarts", zh="自动重启次数"),
    "last-exit": Sentence(en="Last exit", zh="上次退出"),
    "ended-well": Sentence(en="none, or in good order", zh="无，或正常结束"),
    "by-code": Sentence(en="exit code {code}: {about}", zh="退出码 {code}：{about}"),
    "by-signal": Sentence(en="ended by signal {signal}", zh="因信号 {signal} 结束"),
    "lingers": Sentence(en="Without login", zh="未登录时"),
    "lingers-yes": Sentence(en="runs (linger)", zh="运行（linger）"),
    "lingers-no": Sentence(
        en="does not run; loginctl enable-linger has it run from boot",
        zh="不运行；loginctl enable-linger 可使其开机即运行",
    ),
    "next": Sentence(en="To do", zh="下一步"),
    "next-none": Sentence(en="nothing", zh="无"),
    "next-install": Sentence(en="{verb} install", zh="{verb} install"),
    "next-enable": Sentence(
        en="{verb} install has it start by itself", zh="{verb} install 可设为自动启动"
    ),
    "next-start": Sentence(en="{verb} install starts it", zh="{verb} install 可将其启动"),
    "next-settings": Sentence(
        en="{verb} logs names the setting; put it right, then {verb} install",
        zh="{verb} logs 会指出有误的设置；更正后运行 {verb} install",
    ),
    "next-logs": Sentence(en="{verb} logs says why", zh="{verb} logs 会说明原因"),
}
# Beside the product's own, those by which systemd says what it could not do.
EXITS: Final = {
    1: Sentence(en="it failed", zh="运行失败"),
    2: Sentence(en="wrong settings or input", zh="设置或输入有误"),
    200: Sentence(en="its folder cannot be entered", zh="无法进入其文件夹"),
    203: Sentence(
        en="its program is gone or may not be run: install again",
        zh="程序不存在或不能运行：请重新安装",
    ),
    217: Sentence(en="its user does not exist", zh="运行它的用户不存在"),
    226: Sentence(
        en="a folder named in the unit does not exist", zh="服务单元中指定的文件夹不存在"
    ),
    243: Sentence(en="a secret file cannot be read", zh="无法读取机密文件"),
}
# By systemd's `Result=`; what is not here is told by the ending alone.
RESULTS: Final = {
    "oom-kill": Sentence(en="out of memory ({ending})", zh="内存不足（{ending}）"),
    "timeout": Sentence(en="it took too long ({ending})", zh="超时（{ending}）"),
    "core-dump": Sentence(en="it crashed ({ending})", zh="程序崩溃（{ending}）"),
    "resources": Sentence(
        en="systemd could not start it ({ending})", zh="systemd 无法启动它（{ending}）"
    ),
}
SERVICE_ERRORS: Final = {
    "service.no-systemd": Sentence(
        en="No systemd runs here, as in most containers, so there is no service. Run it in the "
        "foreground, or by what supervises this container.",
        zh="此处没有运行 systemd（多数容器如此），因此没有服务。请在前台运行，"
        "或交给容器的管理程序。",
    ),
    "service.no-user-bus": Sentence(
        en="Your systemd cannot be reached, as after su, sudo or in a container. Log in as {user} "
        "itself, or: loginctl enable-linger {user}; export XDG_RUNTIME_DIR=/run/user/{uid}",
        zh="无法连接你的 systemd（su、sudo 之后或容器中如此）。请直接以 {user} 登录，或运行："
        "loginctl enable-linger {user}; export XDG_RUNTIME_DIR=/run/user/{uid}",
    ),
    "service.tool": Sentence(en="`{command}` failed: {why}", zh="`{command}` 失败：{why}"),
    "service.foreign": Sentence(
        en="{file} was not written by CodexBridge and is not overwritten. Move it away, or answer "
        "yes at a terminal.",
        zh="{file} 不是由 CodexBridge 写入的，不会覆盖。请将其移走，或在终端上确认覆盖。",
    ),
    "service.not-ours": Sentence(
        en="{file} was not written by CodexBridge, so it is not removed. Remove it yourself.",
        zh="{file} 不是由 CodexBridge 写入的，不会删除。请自行删除。",
    ),
    "service.runs-elsewhere": Sentence(
        en="It runs already, outside of the service. Stop it (Ctrl-C in its terminal), then run "
        "`{verb} install` again.",
        zh="它已在服务之外运行。请先停止（在其终端按 Ctrl-C），再运行 `{verb} install`。",
    ),
    "service.not-installed": Sentence(
        en="{python} cannot start CodexBridge from another folder. Install it: pipx install .",
        zh="{python} 无法从其他文件夹启动 CodexBridge。请先安装：pipx install .",
    ),
    "service.characters": Sentence(
        en="A path of the service has a control character: {given}. Move it.",
        zh="服务的路径中有控制字符：{given}。请换一个位置。",
    ),
    "service.as-root": Sentence(
        en="An agent belongs to a person: run this without sudo, as {user}.",
        zh="Agent 属于个人：请不要使用 sudo，以 {user} 的身份运行。",
    ),
    "service.needs-root": Sentence(
        en="The gateway is a service of the machine: run this with sudo.",
        zh="网关是本机的系统服务：请使用 sudo 运行。",
    ),
    "service.config-needed": Sentence(
        en="Name the settings: codexbridge gateway --config FILE service install",
        zh="请指定设置文件：codexbridge gateway --config FILE service install",
    ),
    "service.no-user": Sentence(
        en="There is no user {user}. Create it: useradd --system --home-dir /var/lib/codexbridge "
        "--create-home --shell /usr/sbin/nologin {user}",
        zh="没有用户 {user}。请创建：useradd --system --home-dir /var/lib/codexbridge "
        "--create-home --shell /usr/sbin/nologin {user}",
    ),
    "service.root-user": Sentence(
        en="The gateway does not run as root. Name another user with --user.",
        zh="网关不以 root 运行。请用 --user 指定其他用户。",
    ),
    "service.in-home/program": Sentence(
        en="CodexBridge is installed in {path}, a home folder, which the gateway's service cannot "
        "see. Install it for all: sudo PIPX_HOME=/opt/pipx PIPX_BIN_DIR=/usr/local/bin pipx "
        "install .",
        zh="CodexBridge 安装在用户主目录中（{path}），网关服务无法访问。请为所有用户安装："
        "sudo PIPX_HOME=/opt/pipx PIPX_BIN_DIR=/usr/local/bin pipx install .",
    ),
    "service.in-home/file": Sentence(
        en="{path} is in a home folder, which the gateway's service cannot see. Move it to "
        "/etc/codexbridge.",
        zh="{path} 位于用户主目录，网关服务无法访问。请移到 /etc/codexbridge。",
    ),
    "service.in-home/state": Sentence(
        en="The state folder {path} is in a home folder, which the gateway's service cannot see. "
        'Set state_dir = "/var/lib/codexbridge".',
        zh="状态文件夹 {path} 位于用户主目录，网关服务无法访问。请设置 "
        'state_dir = "/var/lib/codexbridge"。',
    ),
    "service.no-state": Sentence(
        en="The state folder is missing. Create it: install -d -m 700 -o {user} {path}",
        zh="状态文件夹不存在。请创建：install -d -m 700 -o {user} {path}",
    ),
}
