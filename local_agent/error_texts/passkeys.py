"""What is said when a passkey cannot be added, removed or used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.sentences import Sentence

ERRORS: Final[Mapping[str, Sentence]] = {
    "passkey.not-installed": Sentence(
        en="Passkeys need the extra package webauthn. Install it, then restart the agent: "
        "pipx inject codexbridge 'webauthn>=3.0.1,<4', or pip install 'codexbridge[passkey]'",
        zh="使用通行密钥需要额外的软件包 webauthn。请安装后重新启动 Agent："
        "pipx inject codexbridge 'webauthn>=3.0.1,<4'，或 pip install 'codexbridge[passkey]'",
    ),
    "passkey.no-page": Sentence(
        en="The local page is not running, and a passkey is registered there. `codexbridge status` "
        "shows how the agent is doing.",
        zh="本地页面没有运行，而通行密钥需要在该页面注册。用 `codexbridge status` 查看状态。",
    ),
    "passkey.no-terminal": Sentence(
        en="Only a person at a terminal can add a passkey or see one-time codes: standard input "
        "is not a terminal here. Nothing was added.",
        zh="只有终端前的人可以添加通行密钥或查看一次性代码：此处的标准输入不是终端。"
        "没有添加任何通行密钥。",
    ),
    "passkey.busy": Sentence(
        en="Another terminal is adding a passkey right now. Finish it there or stop it with "
        "Ctrl-C, then try again.",
        zh="另一个终端正在添加通行密钥。请在那里完成，或按 Ctrl-C 停止，然后重试。",
    ),
    "passkey.no-ceremony": Sentence(
        en="No terminal waits for a passkey. To add one, run in a terminal: "
        "codexbridge passkey add NAME",
        zh="没有终端在等待通行密钥。如需添加，请在终端运行：codexbridge passkey add 名称",
    ),
    "passkey.timed-out": Sentence(
        en="No passkey was added within ten minutes, so this has ended. Begin again: "
        "codexbridge passkey add NAME",
        zh="十分钟内没有完成添加，本次操作已结束。请重新开始：codexbridge passkey add 名称",
    ),
    "passkey.wrong-code": Sentence(
        en="That is not the code on the page ({left} {left:try|tries} left). If the page shows "
        "none, somebody else answered: press Ctrl-C.",
        zh="与页面上的代码不符（还可输入 {left} 次）。如果页面没有显示代码，说明是别人作出了应答："
        "请按 Ctrl-C。",
    ),
    "passkey.not-accepted": Sentence(
        en="The passkey was not added: its code was wrong too often, or it could not be kept. "
        "Begin again: codexbridge passkey add NAME",
        zh="没有添加通行密钥：代码输错次数过多，或无法保存。请重新开始："
        "codexbridge passkey add 名称",
    ),
    "passkey.refused": Sentence(
        en="The passkey was not accepted; nothing was approved or added. Try again, or use the "
        "terminal: codexbridge approve",
        zh="通行密钥未通过验证；没有批准或添加任何内容。请重试，或在终端中批准："
        "codexbridge approve",
    ),
    "passkey.no-touch": Sentence(
        en="This request for a signature is no longer valid: it was used, timed out, or a wrong "
        "one-time code was typed three times. Nothing was approved. Press the button again.",
        zh="这次签名请求已失效：已用过、超时，或一次性代码输错三次。没有批准任何操作。请重新点按。",
    ),
    "passkey.wrong-once": Sentence(
        en="That is not the one-time code ({left} {left:try|tries} left). Nothing was approved.",
        zh="一次性代码不正确（还可输入 {left} 次）。没有批准任何操作。",
    ),
    "passkey.no-display": Sentence(
        en="High risk takes a one-time code, and nothing here can show one. Run in a terminal: "
        "codexbridge passkey code",
        zh="高风险操作需要一次性代码，而此处无法显示。请在终端运行：codexbridge passkey code",
    ),
    "passkey.none": Sentence(
        en="There is no passkey on this machine yet. Add one: codexbridge passkey add NAME",
        zh="本机还没有通行密钥。添加：codexbridge passkey add 名称",
    ),
    "passkey.name": Sentence(
        en="A passkey's name has 1 to {limit} visible characters, such as: laptop",
        zh="通行密钥的名称为 1 到 {limit} 个可见字符，例如：笔记本",
    ),
    "passkey.name-taken": Sentence(
        en="There is a passkey named “{name}” already. Choose another name, or remove it: "
        "codexbridge passkey remove NAME",
        zh="已有名为“{name}”的通行密钥。请换一个名称，或先删除：codexbridge passkey remove 名称",
    ),
    "passkey.too-many": Sentence(
        en="There are {limit} passkeys already, which is the most. Remove one first: "
        "codexbridge passkey list",
        zh="通行密钥已达上限（{limit} 个）。请先删除一个：codexbridge passkey list",
    ),
    "passkey.known": Sentence(
        en="This passkey was added before. One that was removed cannot come back: make a new one.",
        zh="这个通行密钥之前已经添加过。已删除的不能恢复：请新建一个。",
    ),
    "passkey.unknown": Sentence(
        en="There is no passkey named “{name}”. `codexbridge passkey list` lists them.",
        zh="没有名为“{name}”的通行密钥。用 `codexbridge passkey list` 可以列出。",
    ),
}
