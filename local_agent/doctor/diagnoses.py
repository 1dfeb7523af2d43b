"""What each finding means: what was found, why it matters, what mends it.  Errors are in ERRORS.

Those of the machine and of the gateway are beside this.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.doctor import Diagnosis
from common.sentences import Sentence as Told
from local_agent.doctor.gateway_diagnoses import GATEWAY, NO_TASKS
from local_agent.doctor.machine_diagnoses import MACHINE

NO_START: Final = Told(en="the agent cannot start like this", zh="这样 Agent 无法启动")
NO_MODEL: Final = Told(
    en="explain, fix and review need a model; without one they are refused",
    zh="解释、修复、审查都需要模型；没有模型时不予受理",
)
RUN: Final = Told(en="{command}", zh="{command}")
FREE: Final = Told(
    en="free some: du -xh ~ | sort -h | tail", zh="清理空间：du -xh ~ | sort -h | tail"
)
NO_TASK_KEPT: Final = Told(
    en="no task is taken in, since none can be kept", zh="任务无法保存，因此不会受理"
)
LINKED: Final = Told(
    en="put what it leads to in its place, private to you",
    zh="请用它指向的内容（仅你可访问）替换链接",
)
MODEL_KEY: Final = Told(en="codexbridge models key {name}", zh="codexbridge models key {name}")

_OWN: Final = {
    "home.ok": Diagnosis(Told(en="private and writable: {path}", zh="私有且可写：{path}")),
    "home.new": Diagnosis(Told(en="made when first needed: {path}", zh="首次需要时创建：{path}")),
    "home.no-folder": Diagnosis(
        Told(en="{path} is a file", zh="{path} 是文件"),
        NO_START,
        Told(en="mv {path} {path}.old", zh="mv {path} {path}.old"),
    ),
    "home.foreign": Diagnosis(
        Told(en="{path} belongs to {owner}, not to you", zh="{path} 属于 {owner}，不属于你"),
        NO_START,
        Told(
            en="sudo chown -R {user} {path}, or run this as {owner}",
            zh="sudo chown -R {user} {path}，或以 {owner} 运行",
        ),
    ),
    "home.read-only": Diagnosis(
        Told(en="nothing can be written into {path}", zh="{path} 无法写入"),
        NO_START,
        Told(
            en="chmod u+rwx {path}; if its file system is mounted read-only, see dmesg",
            zh="chmod u+rwx {path}；若文件系统以只读挂载，请查看 dmesg",
        ),
    ),
    "home.no-locks": Diagnosis(
        Told(
            en="the file system of {path} gives no locks ({why})",
            zh="{path} 所在的文件系统不提供文件锁（{why}）",
        ),
        NO_START,
        Told(
            en="set CODEXBRIDGE_HOME to a folder on a local disk",
            zh="将 CODEXBRIDGE_HOME 设为本地磁盘上的文件夹",
        ),
    ),
    "home.config-read-only": Diagnosis(
        Told(en="nothing can be written into {path}", zh="{path} 无法写入"),
        Told(
            en="the agent runs; pairing, workspaces and settings cannot be changed there",
            zh="Agent 可以运行，但无法更改其中的配对、工作区和设置",
        ),
        Told(
            en="if that is not meant: chmod u+w {path}, or mount it writable",
            zh="如非本意：chmod u+w {path}，或以可写方式挂载",
        ),
    ),
    "home.open": Diagnosis(
        Told(en="other users may enter {path}", zh="其他用户可以进入 {path}"),
        Told(
            en="they see what is kept there; the agent closes it when it starts",
            zh="他们能看到其中的内容；Agent 启动时会收紧权限",
        ),
        RUN,
    ),
    "home.files-open": Diagnosis(
        Told(en="other users may read {path}", zh="其他用户可以读取 {path}"),
        Told(
            en="so it is not trusted, and the agent does not start",
            zh="因此不受信任，Agent 不会启动",
        ),
        RUN,
    ),
    "home.link": Diagnosis(
        Told(en="{path}: a link", zh="{path}：是链接"),
        Told(
            en="whether others may enter what it leads to is not looked at",
            zh="此处不检查其他用户能否进入链接指向的文件夹",
        ),
        LINKED,
    ),
    "home.files-link": Diagnosis(
        Told(en="{path}: a link", zh="{path}：是链接"),
        Told(
            en="so it is not trusted, and the agent does not start",
            zh="因此不受信任，Agent 不会启动",
        ),
        LINKED,
    ),
    "disk.ok": Diagnosis(Told(en="{free} free", zh="剩余 {free}")),
    "disk.low": Diagnosis(
        Told(en="only {free} free at {path}", zh="{path} 只剩 {free}"),
        Told(
            en="once it is full, tasks wait at the gateway and changes fail",
            zh="写满之后任务留在网关，改动会失败",
        ),
        FREE,
    ),
    "disk.full": Diagnosis(
        Told(en="full: {free} free at {path}", zh="已满：{path} 只剩 {free}"),
        NO_TASK_KEPT,
        FREE,
    ),
    "disk.no-inodes": Diagnosis(
        Told(
            en="no file can be added at {path}: {free} are free, but no inode",
            zh="{path} 无法再新建文件：空间还剩 {free}，但 inode 已用完",
        ),
        NO_TASK_KEPT,
        Told(
            en="delete what is not needed; where most files are: du --inodes -x ~ | sort -n | tail",
            zh="删除不需要的文件；查找文件最多的目录：du --inodes -x ~ | sort -n | tail",
        ),
    ),
    "settings.ok": Diagnosis(Told(en="{file}", zh="{file}")),
    "settings.none": Diagnosis(Told(en="no file: the defaults", zh="没有文件：使用默认值")),
    "pairing.ok": Diagnosis(Told(en="{machine} of {url}", zh="{url} 的 {machine}")),
    "pairing.alone": Diagnosis(Told(en="none: used without a gateway", zh="未配对：不使用网关")),
    "pairing.none": Diagnosis(
        Told(en="not paired with a gateway", zh="尚未与网关配对"),
        NO_TASKS,
        Told(
            en="codexbridge pair, or codexbridge init",
            zh="codexbridge pair，或 codexbridge init",
        ),
    ),
    "key.none": Diagnosis(Told(en="none needed without a pairing", zh="未配对，不需要")),
    "key.in-file": Diagnosis(
        Told(
            en="in a file only you can read (no usable system keyring was found)",
            zh="在仅你可读的文件中（未找到可用的系统密钥环）",
        )
    ),
    "key.in-keyring": Diagnosis(
        Told(en="in the system keyring ({where})", zh="在系统密钥环中（{where}）")
    ),
    "key.readable": Diagnosis(
        Told(en="other users may read the key file {path}", zh="其他用户可以读取密钥文件 {path}"),
        Told(
            en="whoever has it can pose as this machine, so the agent does not use it",
            zh="拿到它就能冒充本机，因此 Agent 不使用它",
        ),
        Told(
            en="{command}; if somebody may have read it: codexbridge pair --replace --gateway URL",
            zh="{command}；若可能已泄露：codexbridge pair --replace --gateway URL",
        ),
    ),
    "socket.ok": Diagnosis(Told(en="private: {path}", zh="私有：{path}")),
    "socket.none": Diagnosis(Told(en="made by the agent", zh="由 Agent 创建")),
    "socket.foreign": Diagnosis(
        Told(en="{path} belongs to {owner}", zh="{path} 属于 {owner}"),
        Told(en="what listens there is not your agent", zh="在那里监听的不是你的 Agent"),
        Told(
            en="sudo rm {path}, then codexbridge agent",
            zh="sudo rm {path}，再运行 codexbridge agent",
        ),
    ),
    "socket.no-socket": Diagnosis(
        Told(en="{path} is no socket", zh="{path} 不是套接字"),
        Told(
            en="the agent puts its socket there, in place of any file",
            zh="Agent 会在此处创建套接字，并替换已有的文件",
        ),
        Told(en="mv {path} {path}.old", zh="mv {path} {path}.old"),
    ),
    "socket.open": Diagnosis(
        Told(en="other users may reach {path}", zh="其他用户可以访问 {path}"),
        Told(en="they could try to speak with your agent", zh="他们可以尝试连接你的 Agent"),
        RUN,
    ),
    "socket.stale": Diagnosis(
        Told(en="nobody listens at {path}", zh="{path} 无人监听"),
        Told(en="an agent did not end in good order", zh="有 Agent 没有正常退出"),
        Told(en="codexbridge agent replaces it", zh="运行 codexbridge agent 会替换它"),
    ),
    "agent.ok": Diagnosis(
        Told(
            en="runs as {machine}; open tasks: {open}",
            zh="正在运行（{machine}）；未结束的任务：{open}",
        )
    ),
    "agent.other-settings": Diagnosis(
        Told(
            en="runs with other settings than those here",
            zh="运行中的 Agent 使用的设置与这里的不同",
        ),
        Told(
            en="what was changed since its start does not count yet",
            zh="启动之后的更改尚未生效",
        ),
        Told(
            en="start it again (codexbridge service install, or codexbridge agent); if its service "
            "sets variables of its own, set them here too",
            zh="重新启动（codexbridge service install 或 codexbridge agent）；"
            "如果它的服务另外设置了环境变量，请在此处也设置",
        ),
    ),
    "agent.stopped": Diagnosis(
        Told(en="not running", zh="没有运行"),
        Told(en="tasks wait at the gateway until it runs", zh="任务留在网关，直到它运行"),
        Told(en="codexbridge agent", zh="codexbridge agent"),
    ),
    "approvals.unseen": Diagnosis(
        Told(en="not seen while the agent is stopped", zh="Agent 没有运行，无法查看")
    ),
    "approvals.none": Diagnosis(Told(en="none", zh="无")),
    "approvals.waiting": Diagnosis(
        Told(
            en="{count} {count:waits|wait} for you ({tasks}): codexbridge approve",
            zh="{count} 个等待你审批（{tasks}）：codexbridge approve",
        )
    ),
    "service.installed": Diagnosis(Told(en="{file}", zh="{file}")),
    "service.none": Diagnosis(
        Told(
            en="none: the agent ends with its terminal; codexbridge service install",
            zh="没有：Agent 随所在终端一起结束；codexbridge service install",
        )
    ),
    "service.ok": Diagnosis(Told(en="runs, and starts at login", zh="正在运行，登录时自动启动")),
    "service.failed": Diagnosis(
        Told(en="it failed", zh="运行失败"),
        Told(en="tasks wait at the gateway until it runs", zh="任务留在网关，直到它运行"),
        Told(
            en="codexbridge service logs says why; then codexbridge service install",
            zh="codexbridge service logs 会说明原因；然后运行 codexbridge service install",
        ),
    ),
    "service.gone": Diagnosis(
        Told(
            en="{file} starts {program}, which is not there",
            zh="{file} 要启动的程序不存在：{program}",
        ),
        Told(en="no agent is started by it", zh="因此不会启动任何 Agent"),
        Told(en="codexbridge service install", zh="codexbridge service install"),
    ),
    "service.stopped": Diagnosis(
        Told(en="installed and not running", zh="已安装，没有运行"),
        Told(en="tasks wait at the gateway until it runs", zh="任务留在网关，直到它运行"),
        Told(en="codexbridge service install", zh="codexbridge service install"),
    ),
    "service.by-hand": Diagnosis(
        Told(en="runs, and does not start by itself", zh="正在运行，但不会自动启动"),
        Told(en="after the next login no agent runs", zh="下次登录后没有 Agent 运行"),
        Told(en="codexbridge service install", zh="codexbridge service install"),
    ),
    "workspaces.ok": Diagnosis(Told(en="{workspaces}", zh="{workspaces}")),
    "workspaces.none": Diagnosis(
        Told(en="none", zh="没有"),
        Told(en="a task has no folder to work in", zh="任务没有可用的文件夹"),
        Told(
            en="codexbridge workspace add PATH, or codexbridge init",
            zh="codexbridge workspace add 路径，或 codexbridge init",
        ),
    ),
    "workspaces.gone": Diagnosis(
        Told(en="the folder is gone: {paths}", zh="文件夹不存在：{paths}"),
        Told(en="tasks in {names} fail", zh="{names} 中的任务会失败"),
        Told(
            en="put it back or mount it; else codexbridge workspace remove {names}",
            zh="恢复或挂载该文件夹；否则运行 codexbridge workspace remove {names}",
        ),
    ),
    "workspaces.moved": Diagnosis(
        Told(en="a link now leads from {paths} to {real}", zh="{paths} 现在经由链接指向 {real}"),
        Told(
            en="{names} was opened at a path without links, so its tasks are refused",
            zh="{names} 打开时的路径不含链接，因此其中的任务会被拒绝",
        ),
        Told(
            en="codexbridge workspace add {real} --name {names}",
            zh="codexbridge workspace add {real} --name {names}",
        ),
    ),
    "workspaces.unreadable": Diagnosis(
        Told(en="you cannot read {paths}", zh="你无法读取 {paths}"),
        Told(en="tasks in {names} fail", zh="{names} 中的任务会失败"),
        Told(en="chmod u+rx {paths}", zh="chmod u+rx {paths}"),
    ),
    "workspaces.no-test": Diagnosis(
        Told(
            en="no test command is set for {names}, and its files name none or several",
            zh="{names} 没有设置测试命令，其文件也没有指明，或指明了多个",
        ),
        Told(en="@dev test asks for one", zh="@dev test 会要求指定命令"),
        Told(
            en="codexbridge workspace set {names} --test CMD",
            zh="codexbridge workspace set {names} --test 命令",
        ),
    ),
    "workspaces.foreign": Diagnosis(
        Told(en="belongs to another user: {paths}", zh="属于其他用户：{paths}"),
        Told(en="changes would write into files of theirs", zh="改动会写入他人的文件"),
        Told(
            en="open a copy of your own: codexbridge workspace add PATH",
            zh="改用自己的副本：codexbridge workspace add 路径",
        ),
    ),
    "workspaces.read-only": Diagnosis(
        Told(en="nothing can be written into {paths}", zh="{paths} 无法写入"),
        Told(en="every change in {names} would fail", zh="{names} 中的改动都会失败"),
        Told(en="chmod u+w {paths}", zh="chmod u+w {paths}"),
    ),
    "workspaces.git-unread": Diagnosis(
        Told(en="git of {names} cannot be read", zh="无法读取 {names} 的 git 仓库"),
        Told(
            en="it is not known what git ignores there: approved tasks may end as not run",
            zh="无法得知 git 忽略哪些文件：已批准的任务可能不会运行",
        ),
        Told(
            en="see what `git status` says in {paths}; if that is well, the repository is of a "
            "kind that is not read here (SHA-256, reftable)",
            zh="在 {paths} 中运行 git status，查看出错原因；若一切正常，说明此处不支持该仓库的格式"
            "（SHA-256、reftable）",
        ),
    ),
    "workspaces.test-lost": Diagnosis(
        Told(
            en="the test command of {names} needs {lacked}, which is missing or cannot be run",
            zh="{names} 的测试命令需要 {lacked}，但它不存在或无法运行",
        ),
        Told(en="@dev test fails there", zh="其中的 @dev test 会失败"),
        Told(
            en="install it (make a venv anew; give a script Unix line endings), or "
            "codexbridge workspace set {names} --test CMD",
            zh="安装它（venv 请重新创建；脚本请改用 Unix 换行），或运行 "
            "codexbridge workspace set {names} --test 命令",
        ),
    ),
    "workspaces.test-refused": Diagnosis(
        Told(
            en="settings or policy refuse the test command of {names}",
            zh="设置或策略拒绝运行 {names} 的测试命令",
        ),
        Told(en="@dev test is refused there", zh="其中的 @dev test 会被拒绝"),
        Told(
            en="if that is not meant: allow_run_terminal in agent.toml, or refuse_… in "
            "policies/NAME.toml",
            zh="如非本意：修改 agent.toml 的 allow_run_terminal 或 policies/NAME.toml 的 refuse_…",
        ),
    ),
    "policies.none": Diagnosis(Told(en="none", zh="无")),
    "policies.ok": Diagnosis(Told(en="{count} in force", zh="{count} 个生效")),
    "policies.broken": Diagnosis(
        Told(en="{file} cannot be read (key: {key})", zh="{file} 无法读取（键：{key}）"),
        Told(en="everything in that workspace is refused", zh="该工作区的一切操作都会拒绝"),
        Told(
            en="correct it; codexbridge help policy.toml shows every key",
            zh="请改正；codexbridge help policy.toml 列出全部键",
        ),
    ),
    "policies.stray": Diagnosis(
        Told(en="no workspace has the name of {files}", zh="没有与 {files} 同名的工作区"),
        Told(en="so nothing reads it, and it refuses nothing", zh="因此不会读取，也不起作用"),
        Told(
            en="give it the name of a workspace: codexbridge workspace list",
            zh="改成工作区的名称：codexbridge workspace list",
        ),
    ),
    "models.ok": Diagnosis(
        Told(
            en="{name} is asked; configured: {count}",
            zh="使用 {name}；已配置 {count} 个",
        )
    ),
    "models.answer": Diagnosis(
        Told(en="{name} is asked; answered: {count}", zh="使用 {name}；{count} 个可用")
    ),
    "models.unset": Diagnosis(
        Told(en="none configured", zh="没有配置"),
        NO_MODEL,
        Told(en="codexbridge models says how", zh="codexbridge models 会说明如何配置"),
    ),
    "models.key-missing": Diagnosis(
        Told(en="{name} has no key", zh="{name} 没有密钥"), NO_MODEL, MODEL_KEY
    ),
    "models.key-broken": Diagnosis(
        Told(en="the key of {name} cannot be read", zh="{name} 的密钥无法读取"), NO_MODEL, MODEL_KEY
    ),
    "models.key-away": Diagnosis(
        Told(
            en="the key of {name} is in the system keyring, which cannot be reached",
            zh="{name} 的密钥在系统密钥环中，目前无法访问",
        ),
        NO_MODEL,
        Told(
            en="unlock it, or store the key anew: codexbridge models key {name}",
            zh="先解锁，或重新存入：codexbridge models key {name}",
        ),
    ),
    "journal.none": Diagnosis(Told(en="made at the first start", zh="首次启动时创建")),
    "journal.ok": Diagnosis(
        Told(en="whole, version {version}, {size}", zh="完好，版本 {version}，{size}")
    ),
    "audit.empty": Diagnosis(Told(en="none yet", zh="还没有")),
    "audit.older": Diagnosis(
        Told(en="of an earlier release; checked at the next start", zh="旧版本格式；下次启动时检查")
    ),
    "audit.ok": Diagnosis(
        Told(en="the newest entries hold, up to {count}", zh="最新的部分校验通过，至第 {count} 条")
    ),
    "audit.whole": Diagnosis(
        Told(en="all entries hold: {count}", zh="共 {count} 条，全部校验通过")
    ),
}
DIAGNOSES: Final[Mapping[str, Diagnosis]] = {**MACHINE, **_OWN, **GATEWAY}
