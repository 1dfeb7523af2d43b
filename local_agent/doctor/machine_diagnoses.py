"""What each finding about the machine means; the others are in `diagnoses`."""

from __future__ import annotations

from typing import Final

from common.doctor import Diagnosis
from common.sentences import Sentence as Told

INSTALL: Final = Told(en="install it: {install}", zh="安装：{install}")
UNSANDBOXED: Final = Told(
    en="commands run NOT SANDBOXED: each asks for the whole code, or a policy refuses it",
    zh="命令只能在未隔离的状态下运行：每次都要输入完整确认码，或按策略拒绝",
)
TERMINAL_ONLY: Final = Told(
    en="approvals are asked at a terminal only (codexbridge approve)",
    zh="只能在终端审批（codexbridge approve）",
)

MACHINE: Final = {
    "program.ok": Diagnosis(
        Told(
            en="CodexBridge {version}, Python {python}, in {path}",
            zh="CodexBridge {version}，Python {python}，位于 {path}",
        )
    ),
    "program.mixed": Diagnosis(
        Told(en="parts of two installations run together ({path})", zh="两份安装混用（{path}）"),
        Told(en="their versions may differ", zh="两者版本可能不同"),
        Told(
            en="start it as `python -I -m codexbridge`, or install it again",
            zh="用 `python -I -m codexbridge` 启动，或重新安装",
        ),
    ),
    "sandbox.ok": Diagnosis(Told(en="commands sandboxed by {level}", zh="命令由 {level} 隔离")),
    "sandbox.not-installed": Diagnosis(
        Told(en="bubblewrap is not installed", zh="未安装 bubblewrap"), UNSANDBOXED, INSTALL
    ),
    "sandbox.no-namespaces": Diagnosis(
        Told(
            en="user namespaces are off: user.max_user_namespaces is 0",
            zh="用户命名空间已关闭：user.max_user_namespaces 为 0",
        ),
        UNSANDBOXED,
        Told(
            en="sudo sysctl -w user.max_user_namespaces=15000 (to keep it: /etc/sysctl.d)",
            zh="sudo sysctl -w user.max_user_namespaces=15000（永久生效请写入 /etc/sysctl.d）",
        ),
    ),
    "sandbox.namespaces-off": Diagnosis(
        Told(
            en="user namespaces are off: kernel.unprivileged_userns_clone is 0",
            zh="用户命名空间已关闭：kernel.unprivileged_userns_clone 为 0",
        ),
        UNSANDBOXED,
        Told(
            en="sudo sysctl -w kernel.unprivileged_userns_clone=1 (to keep it: /etc/sysctl.d)",
            zh="sudo sysctl -w kernel.unprivileged_userns_clone=1（永久生效请写入 /etc/sysctl.d）",
        ),
    ),
    "sandbox.apparmor": Diagnosis(
        Told(
            en="AppArmor keeps bubblewrap from user namespaces, the default of Ubuntu 24.04",
            zh="AppArmor 不允许 bubblewrap 使用用户命名空间（Ubuntu 24.04 的默认设置）",
        ),
        UNSANDBOXED,
        Told(
            en="sudo apt install apparmor-profiles && sudo ln -s "
            "/usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && "
            "sudo systemctl reload apparmor",
            zh="sudo apt install apparmor-profiles && sudo ln -s "
            "/usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && "
            "sudo systemctl reload apparmor",
        ),
    ),
    "sandbox.too-old": Diagnosis(
        Told(
            en="bubblewrap is too old (0.8 or newer is needed): {detail}",
            zh="bubblewrap 版本过旧（需要 0.8 或更新）：{detail}",
        ),
        UNSANDBOXED,
        Told(
            en="update it: {install}; before Debian 12 and Ubuntu 24.04 build it from its source: "
            "github.com/containers/bubblewrap",
            zh="更新：{install}；早于 Debian 12 和 Ubuntu 24.04 的发行版请从源码编译："
            "github.com/containers/bubblewrap",
        ),
    ),
    "sandbox.container": Diagnosis(
        Told(
            en="this container does not let bubblewrap start: {detail}",
            zh="容器不允许 bubblewrap 启动：{detail}",
        ),
        UNSANDBOXED,
        Told(
            en="run the agent outside of it, or let the container use user namespaces (Docker: "
            "--security-opt seccomp=unconfined --security-opt systempaths=unconfined)",
            zh="在容器外运行 Agent，或允许容器使用用户命名空间（Docker：--security-opt "
            "seccomp=unconfined --security-opt systempaths=unconfined）",
        ),
    ),
    "sandbox.seccomp": Diagnosis(
        Told(
            en="the kernel refuses the filter of system calls: {detail}",
            zh="内核拒绝系统调用过滤：{detail}",
        ),
        UNSANDBOXED,
        Told(
            en="use a kernel with CONFIG_SECCOMP_FILTER, as distributions have it",
            zh="换用带 CONFIG_SECCOMP_FILTER 的内核（发行版默认都有）",
        ),
    ),
    "sandbox.cannot-start": Diagnosis(
        Told(en="bubblewrap does not start: {detail}", zh="bubblewrap 无法启动：{detail}"),
        UNSANDBOXED,
        Told(
            en="try bwrap --unshare-user --ro-bind / / true; then update it: {install}",
            zh="先试 bwrap --unshare-user --ro-bind / / true；再更新：{install}",
        ),
    ),
    "sandbox.leaks": Diagnosis(
        Told(en="the sandbox does not hold: {detail}", zh="沙箱没有隔离住：{detail}"),
        UNSANDBOXED,
        Told(
            en="update the kernel and bubblewrap ({install}); if it stays: codexbridge bugreport",
            zh="更新内核与 bubblewrap（{install}）；若仍如此：codexbridge bugreport",
        ),
    ),
    "sandbox.architecture": Diagnosis(
        Told(
            en="no filter of system calls for this processor", zh="没有适用于此处理器的系统调用过滤"
        ),
        UNSANDBOXED,
        Told(en="use an x86-64 or ARM64 machine", zh="请使用 x86-64 或 ARM64 的机器"),
    ),
    "sandbox.home": Diagnosis(
        Told(en="the home folder holds parts of the system", zh="主目录中有系统文件"),
        UNSANDBOXED,
        Told(
            en="run the agent as a user with a home folder of its own",
            zh="请用有独立主目录的用户运行 Agent",
        ),
    ),
    "git.ok": Diagnosis(Told(en="{version}", zh="{version}")),
    "git.missing": Diagnosis(
        Told(en="git is not installed", zh="未安装 git"),
        Told(en="nothing can be pushed; all else works", zh="无法推送；其余不受影响"),
        INSTALL,
    ),
    "git.old": Diagnosis(
        Told(en="{version} is older than {oldest}", zh="{version} 低于 {oldest}"),
        Told(en="a push may fail for an option unknown to it", zh="推送可能因不认识的选项而失败"),
        Told(en="update it: {install}", zh="更新：{install}"),
    ),
    "desktop.ok": Diagnosis(Told(en="approvals are shown in windows", zh="审批以窗口显示")),
    "desktop.off": Diagnosis(
        Told(en="switched off (windows = false)", zh="已关闭（windows = false）")
    ),
    "desktop.no-display": Diagnosis(
        Told(en="DISPLAY is not set here", zh="此处没有设置 DISPLAY"),
        TERMINAL_ONLY,
        Told(
            en="start the agent from your desktop session; without a desktop, set windows = false "
            "in agent.toml",
            zh="从桌面会话启动 Agent；没有桌面时，在 agent.toml 中设置 windows = false",
        ),
    ),
    "desktop.only-wayland": Diagnosis(
        Told(
            en="WAYLAND_DISPLAY is set, and DISPLAY is not: XWayland does not run",
            zh="设置了 WAYLAND_DISPLAY 而没有 DISPLAY：XWayland 没有运行",
        ),
        TERMINAL_ONLY,
        Told(
            en="install XWayland (package xwayland or xorg-x11-server-Xwayland) and log in again",
            zh="安装 XWayland（软件包 xwayland 或 xorg-x11-server-Xwayland），然后重新登录",
        ),
    ),
    "desktop.no-tk": Diagnosis(
        Told(en="Python has no Tk", zh="Python 缺少 Tk"), TERMINAL_ONLY, INSTALL
    ),
    "desktop.built-without-tk": Diagnosis(
        Told(en="this Python has no Tk: {python}", zh="此 Python 缺少 Tk：{python}"),
        TERMINAL_ONLY,
        Told(
            en="install Tk ({install}), then install CodexBridge with the system's own python3",
            zh="安装 Tk（{install}），再用系统自带的 python3 安装 CodexBridge",
        ),
    ),
    "desktop.no-rights": Diagnosis(
        Told(
            en="XAUTHORITY names {path}, which this user cannot read",
            zh="XAUTHORITY 指向的 {path} 当前用户无法读取",
        ),
        TERMINAL_ONLY,
        Told(
            en="start the agent from your own desktop session, not by sudo or su",
            zh="从自己的桌面会话启动 Agent，不要用 sudo 或 su",
        ),
    ),
    "desktop.no-fonts": Diagnosis(
        Told(en="there is no font at all, and Tk needs one", zh="没有任何字体，而 Tk 需要字体"),
        TERMINAL_ONLY,
        INSTALL,
    ),
    "desktop.no-answer": Diagnosis(
        Told(en="the display {display} does not answer", zh="显示服务 {display} 没有应答"),
        TERMINAL_ONLY,
        Told(
            en="start the agent from the desktop session in use; over ssh use ssh -X",
            zh="从正在使用的桌面会话启动 Agent；通过 ssh 时用 ssh -X",
        ),
    ),
    "desktop.agent-without": Diagnosis(
        Told(
            en="windows can be opened here, but not where the agent was started",
            zh="此处可以打开窗口，但启动 Agent 的环境不能",
        ),
        TERMINAL_ONLY,
        Told(
            en="stop the agent and start it here: codexbridge agent",
            zh="停止 Agent 后从此处启动：codexbridge agent",
        ),
    ),
    "fonts.ok": Diagnosis(Told(en="Chinese: {family}", zh="中文：{family}")),
    "fonts.unneeded": Diagnosis(Told(en="not needed without windows", zh="没有窗口，不需要")),
    "fonts.unknown": Diagnosis(Told(en="not known: no fc-list here", zh="未知：没有 fc-list")),
    "fonts.no-chinese": Diagnosis(
        Told(en="no font has Chinese", zh="没有中文字体"),
        Told(en="Chinese in the window shows as empty boxes", zh="窗口中的中文会显示为方框"),
        INSTALL,
    ),
    "page.ok": Diagnosis(
        Told(en="can be opened: codexbridge open", zh="可以打开：codexbridge open")
    ),
    "page.no-loopback": Diagnosis(
        Told(en="no port of 127.0.0.1 can be had: {why}", zh="无法使用 127.0.0.1 的端口：{why}"),
        Told(en="the local page cannot be opened", zh="无法打开本地页面"),
        Told(en="sudo ip link set lo up", zh="sudo ip link set lo up"),
    ),
}
