"""Why a model gave nothing that can be used, and why an edit of it was not taken, by code.

One line each: what happened, what it means, what to do next.  They reach the terminal and the chat;
where one code has several reasons, each has its sentence under ``code/why``.  What a provider says
stands in ``said``: one line, bounded, without secrets (`local_agent.models.faults`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.sentences import Sentence

_NOTHING = Sentence(en="Nothing was changed.", zh="没有改动任何内容。")
_SAID = Sentence(en="It said: “{said}”", zh="其答复为：“{said}”")


def _model(en: str, zh: str) -> Sentence:
    return Sentence(en=f"{en} {_NOTHING.en}", zh=f"{zh}{_NOTHING.zh}")


def _both(code: str, en: str, zh: str) -> dict[str, Sentence]:
    """Return the sentence without and with what the provider said."""
    plain = _model(en, zh)
    said = Sentence(en=f"{plain.en} {_SAID.en}", zh=f"{plain.zh}{_SAID.zh}")
    return {code: plain, f"{code}/said": said}


_PROVIDER: Final = {
    **_both(
        "model.unreachable",
        "The model cannot be reached: no connection, or a wrong address. Look at the network and "
        "the model's base_url, then ask again.",
        "无法连接模型：网络不通或地址有误。请检查网络与该模型的 base_url，然后重试。",
    ),
    "model.unreachable/certificate": _model(
        "The model's address has no certificate that this machine trusts, so nothing was sent. "
        "Look at base_url, or let your administrator install the certificate.",
        "该模型地址的证书不受本机信任，因此没有发送任何内容。请检查 base_url，或请管理员安装证书。",
    ),
    **_both(
        "model.key",
        "The model's provider does not accept the key, or wants one. Store a valid one at the "
        "machine with `codexbridge models key NAME`.",
        "模型服务商不接受该密钥，或需要密钥。"
        "请在该开发机上用 `codexbridge models key 名称` 存入有效的一个。",
    ),
    "model.key/form": _model(
        "The stored key of the model has blanks or characters that no key has. Store it anew "
        "at the machine with `codexbridge models key NAME`.",
        "已存的模型密钥含有空白或不可能出现的字符。"
        "请在该开发机上用 `codexbridge models key 名称` 重新存入。",
    ),
    "model.key/keystore.keyring-away": _model(
        "The model's key is in the system keyring, which cannot be reached now. Unlock it, then "
        "ask again.",
        "模型密钥在系统密钥环中，目前无法访问。请先解锁，然后重试。",
    ),
    "model.key/config.key-file-broken": _model(
        "The stored key of the model cannot be read. Store it anew at the machine with "
        "`codexbridge models key NAME`.",
        "已存的模型密钥无法读取。请在该开发机上用 `codexbridge models key 名称` 重新存入。",
    ),
    "model.key/login": _model(
        "The model's program wants a login. `codexbridge help models` says how to give it one, or "
        "a key by key_variable.",
        "该模型的程序需要登录。登录方法或用 key_variable 提供密钥的方法见 "
        "`codexbridge help models`。",
    ),
    **_both(
        "model.quota",
        "What was paid for at the model's provider is used up. Top it up, or choose another model.",
        "模型服务商处的额度已用完。请充值，或换用其他模型。",
    ),
    **_both(
        "model.busy",
        "The model's provider has too many requests at the moment and refused, also when asked "
        "again. Try in a few minutes.",
        "模型服务商目前请求过多，重试后仍被拒绝。请过几分钟再试。",
    ),
    **_both(
        "model.server",
        "The model's provider has a fault of its own, also when asked again. Try later, or choose "
        "another model.",
        "模型服务商自身出现故障，重试后仍然失败。请稍后再试，或换用其他模型。",
    ),
    **_both(
        "model.context",
        "The request with its context is more than the model can read. Name fewer files, or choose "
        "a model with a larger context.",
        "请求连同上下文超出模型可读取的长度。请减少涉及的文件，或换用上下文更大的模型。",
    ),
    **_both(
        "model.not-found",
        "The provider knows no such model, or base_url names a wrong path. Look at both in the "
        "settings.",
        "服务商没有这个模型，或 base_url 的路径有误。请检查这两项设置。",
    ),
    **_both(
        "model.request",
        "The provider refused the request as it was put. Look at the model's settings: api, "
        "json_mode, effort and max_output_tokens.",
        "服务商拒绝了该请求的形式。请检查该模型的设置：api、json_mode、effort 与 "
        "max_output_tokens。",
    ),
    "model.request/redirect": _model(
        "The model's address sends elsewhere, and nothing is sent after it. Write its final "
        "address into base_url.",
        "该模型地址要求跳转到别处，系统不会跟随。请把最终地址写入 base_url。",
    ),
    **_both(
        "model.declined",
        "The model, or its provider's filter, would not answer this. Put it in other words, or "
        "choose another model.",
        "模型或服务商的内容审核拒绝回答。请换一种说法，或换用其他模型。",
    ),
}
_ANSWER: Final = {
    "model.cut": _model(
        "The model's answer broke off before its end. Ask again.",
        "模型的回答在结束前中断。请重试。",
    ),
    "model.cut/length": _model(
        "The model's answer reached the bound of its length and is not whole. Ask for less at "
        "once, or raise max_output_tokens.",
        "模型的回答达到长度上限，不完整。请一次少问一些，或调高 max_output_tokens。",
    ),
    "model.stalled": _model(
        "The model gave no sign of work for too long and was stopped. Ask again; for a slow model "
        "raise idle_seconds.",
        "模型长时间没有动静，已被终止。请重试；若模型较慢，请调高 idle_seconds。",
    ),
    "model.deadline": _model(
        "The model did not finish in its time and was stopped. Ask for less at once, or raise "
        "deadline_seconds.",
        "模型未在规定时间内完成，已被终止。请一次少问一些，或调高 deadline_seconds。",
    ),
    "model.too-large": _model(
        "The model's answer is larger than an answer may be and was stopped. Ask for less at once.",
        "模型的回答超出允许的大小，已被终止。请一次少问一些。",
    ),
    "model.answer": _model(
        "The model's answer could not be used. Ask again, in other words or for a smaller step.",
        "模型的回答无法使用。请换一种说法或缩小范围后重试。",
    ),
    "model.answer/empty": _model(
        "The model answered nothing. Ask again, or choose another model.",
        "模型没有给出任何回答。请重试，或换用其他模型。",
    ),
    "model.answer/protocol": _model(
        "What came from the model's address does not follow the interface that is set. Look at the "
        "model's base_url and api.",
        "该模型地址返回的内容不符合所设接口。请检查该模型的 base_url 与 api。",
    ),
    "model.answer/edit.form": _model(
        "The model did not give its edits in the form asked for, nor when asked again. Try "
        "another json_mode for it (“schema”, “object”, “prompt”), or another model.",
        "模型两次都没有按要求的格式给出修改。请为它换一种 json_mode（“schema”、“object”、"
        "“prompt”），或换用其他模型。",
    ),
    "model.program/missing": _model(
        "The program of the model is not there. Install codex {wanted}, or name its place: program "
        "in the model's settings.",
        "找不到该模型的程序。请安装 codex {wanted}，或在该模型的设置中用 program 指明位置。",
    ),
    "model.program/not-there": _model(
        "The program of the model is not there, or is no program. Look at program in the model's "
        "settings.",
        "找不到该模型的程序，或它不可执行。请检查该模型设置中的 program。",
    ),
    "model.program/toolchain.too-wide": _model(
        "The model's program would be able to read your home or CodexBridge's own files ({path}). "
        "Install it in a folder of its own, and name narrower folders in read_only.",
        "该模型的程序将能读取你的主目录或 CodexBridge 自己的文件（{path}）。"
        "请把它装在单独的文件夹中，并在 read_only 中填写更窄的文件夹。",
    ),
    "model.program/toolchain.missing": _model(
        "A folder that the model's program is to read is not there: {path}. Look at read_only in "
        "its settings.",
        "该模型的程序要读取的文件夹不存在：{path}。请检查其设置中的 read_only。",
    ),
    "model.program/version": _model(
        "The program of the model is of version {found}; only {wanted} is known to keep to what a "
        "proposal may do. Install that one.",
        "该模型的程序版本为 {found}；只有 {wanted} 经确认不会越出提议的范围。请安装该版本。",
    ),
    "model.program/workspace": _model(
        "The program of the model lies in a workspace, where a change could replace it. Install it "
        "elsewhere.",
        "该模型的程序位于工作区内，可能被改动替换。请安装到别处。",
    ),
    "model.program/writable": _model(
        "The program of the model can be written by other users of this machine. Take that right "
        "away: chmod go-w",
        "本机其他用户可以改写该模型的程序。请取消该权限：chmod go-w",
    ),
    "model.program/start": _model(
        "The program of the model does not start. `codexbridge models` tests it.",
        "该模型的程序无法启动。可用 `codexbridge models` 测试。",
    ),
    "model.program/protocol": _model(
        "The program of the model does not speak as this version of it should. Install it anew.",
        "该模型的程序的通信方式与此版本不符。请重新安装。",
    ),
    "model.program/lockdown": _model(
        "The program of the model does not keep to the rules it was started with, so it was ended.",
        "该模型的程序没有遵守启动时设定的限制，因此已被终止。",
    ),
    **_both(
        "model.program",
        "The program of the model cannot be used. `codexbridge models` tests it.",
        "该模型的程序无法使用。可用 `codexbridge models` 测试。",
    ),
    "model.ended": _model(
        "The program of the model ended by itself. Ask again; if it stays so, `codexbridge models` "
        "tests it.",
        "该模型的程序自行退出。请重试；若仍如此，可用 `codexbridge models` 测试。",
    ),
    "model.uncontained": _model(
        "This model's program runs only in a sandbox, and this machine has none that works. "
        "`codexbridge status` says why.",
        "该模型的程序只能在沙箱中运行，而本机没有可用的沙箱。`codexbridge status` 会说明原因。",
    ),
}
_MODELS: Final = {
    "config.unknown-setting/key": Sentence(
        en="There is no setting “{name}” (in {file}): keys do not stand in that file. Take it out, "
        "and store it with `codexbridge models key NAME`.",
        zh="没有“{name}”这个设置项（位于 {file}）：密钥不写在该文件中。"
        "请将其删去，并用 `codexbridge models key 名称` 存入。",
    ),
    "models.unknown": Sentence(
        en="The settings describe no model {name}. Known: {known}",
        zh="设置中没有模型 {name}。已知：{known}",
    ),
    "models.not-yet": Sentence(
        en="{name} is in the settings since the agent was started, so the agent does not know it "
        "yet. Start it again: codexbridge agent",
        zh="{name} 是启动 Agent 之后才写入设置的，Agent 还不知道。请重新启动：codexbridge agent",
    ),
    "models.none": Sentence(
        en="No model is configured. `codexbridge help models` says how to connect one.",
        zh="没有配置模型。接入方法见 `codexbridge help models`。",
    ),
    "models.key-form": Sentence(
        en="That is not a key: blanks or characters that no key has. Nothing was stored.",
        zh="这不是有效的密钥：含有空白或密钥中不会出现的字符。没有存入任何内容。",
    ),
    "models.key-form/empty": Sentence(
        en="No key was given. Nothing was stored.", zh="没有输入密钥。没有存入任何内容。"
    ),
    "models.key-form/long": Sentence(
        en="That is longer than a key may be (4096 characters). Nothing was stored.",
        zh="超过密钥的长度上限（4096 个字符）。没有存入任何内容。",
    ),
    "models.several": Sentence(
        en='The settings describe several models ({known}). Say which is asked: model = "NAME"',
        zh='设置中描述了多个模型（{known}）。请指明使用哪一个：model = "名称"',
    ),
    "models.not-for-kind": Sentence(
        en="The model {name}: {field} has no meaning for the kind {kind}. Remove it.",
        zh="模型 {name}：{field} 对 {kind} 类型没有意义。请删除。",
    ),
    "models.incomplete": Sentence(
        en="The model {name} of the kind {kind} needs {field}.",
        zh="模型 {name}（{kind} 类型）缺少 {field}。",
    ),
    "models.base-url": Sentence(
        en="The base_url of the model {name} is not an address: https://host/path, without login, "
        "query or fragment.",
        zh="模型 {name} 的 base_url 不是有效地址：应为 https://主机/路径，不含登录信息、查询或片段。",
    ),
    "models.base-url/insecure": Sentence(
        en="The base_url of the model {name} is not encrypted. Use https; http is only for this "
        "machine (127.0.0.1, [::1] or localhost).",
        zh="模型 {name} 的 base_url 未加密。请使用 https；http 只允许用于本机"
        "（127.0.0.1、[::1] 或 localhost）。",
    ),
}


def _edit(en: str, zh: str) -> Sentence:
    return Sentence(
        en=f"Edit {{index}}, {{path}}: {en}.", zh=f"第 {{index}} 处修改 {{path}}：{zh}。"
    )


def _form(en: str, zh: str) -> Sentence:
    return Sentence(
        en=f"Edit {{index}} (0: the answer beside its edits): {en}.",
        zh=f"第 {{index}} 处修改（0 表示修改之外的部分）：{zh}。",
    )


# Told to the model, too, when it is asked once more.
_EDITS: Final = {
    "edit.not-found": _edit(
        "the text to search for does not stand in the file. What is nearest to it begins at line "
        "{line} (0: nothing is near)",
        "文件中没有要查找的文本。最接近的内容始于第 {line} 行（0 表示没有相近内容）",
    ),
    "edit.not-unique": _edit(
        "the text to search for stands in the file more than once, such as at lines {lines}; take "
        "more lines around it",
        "要查找的文本在文件中不止一处，例如第 {lines} 行；请包含更多上下文",
    ),
    "edit.missing": _edit("there is no such file", "没有这个文件"),
    "edit.exists": _edit("there is such a file already", "已有这个文件"),
    "edit.redacted": _edit(
        "it would write the mark [redacted…] that stands for a secret",
        "会写入代表机密的标记 [redacted…]",
    ),
    "edit.too-large": _edit(
        "the file would be larger than {limit} bytes", "文件将超过 {limit} 字节"
    ),
    "edit.form": _form("it does not follow the form of edits", "不符合修改的格式"),
    "edit.form/json": _form("the answer is not one JSON object", "回答不是一个 JSON 对象"),
    "edit.form/object": _form("an object was expected", "应为对象"),
    "edit.form/key": _form("it has a key that the schema does not know", "含有格式之外的键"),
    "edit.form/text": _form("a text was expected", "应为文本"),
    "edit.form/too-long": _form("a text in it is too long", "其中的文本过长"),
    "edit.form/encoding": _form("a text in it is no Unicode", "其中的文本不是有效的 Unicode"),
    "edit.form/list": _form("a list was expected", "应为列表"),
    "edit.form/too-many": _form("there are too many edits", "修改过多"),
    "edit.form/path": _form("a path is missing", "缺少路径"),
    "edit.form/action": _form(
        "its action is none of edit, create, delete, rename",
        "其动作不是 edit、create、delete、rename 之一",
    ),
    "edit.form/fields": _form(
        "a field is filled that its action does not use", "填写了其动作不使用的字段"
    ),
    "edit.form/search": _form("the text to search for is empty", "要查找的文本为空"),
    "edit.form/no-change": _form("search and replace are the same", "查找与替换的文本相同"),
}
_ASKED_TWICE: Final = {
    f"model.answer/{code}": Sentence(
        en="The model's edits do not fit, nor did they when it was asked again. "
        f"{sentence.en} {_NOTHING.en}",
        zh=f"模型的修改无法应用，再次询问后仍然如此。{sentence.zh}{_NOTHING.zh}",
    )
    for code, sentence in _EDITS.items()
    if code in {"edit.missing", "edit.exists", "edit.redacted"}
} | {
    f"model.answer/{code}": Sentence(
        en="The model's edit of {path} does not fit the file, nor did it when asked again. "
        f"{_NOTHING.en} Ask again for a smaller step.",
        zh=f"模型对 {{path}} 的修改与文件不符，再次询问后仍然如此。{_NOTHING.zh}请缩小范围后重试。",
    )
    for code in ("edit.not-found", "edit.not-unique", "edit.too-large")
}
# Why an edit of a model was not taken; the path stands before it.
_SCRATCH: Final = {
    "scratch.outside": Sentence(en="it lies outside of the workspace", zh="位于工作区之外"),
    "scratch.forbidden": Sentence(
        en="it belongs to git or gives orders to coding agents; no model may edit it",
        zh="属于 git 或用于指挥编码 Agent；任何模型都不得修改",
    ),
    "scratch.withheld": Sentence(
        en="it exists, but no model may read it", zh="已存在，但任何模型都不得读取"
    ),
    "scratch.redacted": Sentence(
        en="the edit touches a line from which a secret was taken out",
        zh="该修改涉及已隐去机密的行",
    ),
    "scratch.link": Sentence(
        en="it is, or lies behind, a link; links are never followed",
        zh="是链接或位于链接之后；绝不跟随链接",
    ),
    "scratch.mode": Sentence(en="its file mode is not an ordinary one", zh="文件权限位不寻常"),
    "scratch.twin": Sentence(
        en="another file of the change differs from it in case or spelling alone",
        zh="与本次修改中的另一文件仅大小写或字符形式不同",
    ),
    "change.no-character": _model(
        "The change is refused: {path} is text in {encoding}, which has no “{character}”. Ask for "
        "other words, or declare another encoding in .editorconfig or by codexbridge workspace set "
        "NAME --encoding ENCODING.",
        "改动已拒绝：{path} 是 {encoding} 编码的文本，该编码中没有“{character}”。请换一种写法，"
        "或在 .editorconfig 中、或用 codexbridge workspace set 名称 --encoding 编码 声明其他编码。",
    ),
    "change.no-encoding": _model(
        "The change is refused: {path} is text neither in UTF-8 nor in a declared encoding. "
        "Declare one in .editorconfig or by codexbridge workspace set NAME --encoding gbk.",
        "改动已拒绝：{path} 既不是 UTF-8，也不是已声明编码的文本。请在 .editorconfig 中、或用 "
        "codexbridge workspace set 名称 --encoding gbk 声明编码。",
    ),
    "scratch.ended": _model(
        "The copy that the model edits was given back already. Ask again.",
        "供模型修改的副本已归还。请重试。",
    ),
    "scratch.binary": Sentence(en="it is not text", zh="不是文本"),
    "scratch.unreadable": Sentence(
        en="what would be edited was not told in a way that could be checked",
        zh="未以可核对的方式说明要修改的内容",
    ),
    "scratch.gone": _model(
        "The copy that the model edits is not there any more. Ask again.",
        "供模型修改的副本已不存在。请重试。",
    ),
    "scratch.too-many": _model(
        "There are more files than a copy for the model may hold. Ask for less at once, or open a "
        "smaller folder as a workspace.",
        "文件数超出供模型使用的副本上限。请一次少问一些，或改用更小的目录作为工作区。",
    ),
    "scratch.not-made": _model(
        "No copy could be made for the model to edit ({why}). Look at the free space of the disk.",
        "无法为模型建立供修改的副本（{why}）。请检查磁盘剩余空间。",
    ),
    "scratch.missing": Sentence(en="there is no such file", zh="没有这个文件"),
    "scratch.failed": Sentence(
        en="the program of the model could not make it", zh="模型的程序未能完成该修改"
    ),
    "scratch.too-large": Sentence(en="it is larger than a file may be", zh="超出文件的大小限制"),
    "path.denied": Sentence(
        en="it is kept out by the workspace's settings or looks like a secret",
        zh="按工作区设置不可触及，或疑似机密",
    ),
    "path.link": Sentence(
        en="it is, or lies behind, a symbolic link; links are never followed",
        zh="是符号链接或位于符号链接之后；绝不跟随链接",
    ),
    "path.malformed": Sentence(en="it is not a name that a file may have", zh="不是允许的文件名"),
    "path.not-regular": Sentence(en="it is not an ordinary file", zh="不是普通文件"),
    "path.binary": Sentence(en="it is not text", zh="不是文本"),
    "path.too-large": Sentence(en="it is larger than a file may be", zh="超出文件的大小限制"),
}

ERRORS: Final[Mapping[str, Sentence]] = {
    **_PROVIDER,
    **_ANSWER,
    **_MODELS,
    **_EDITS,
    **_ASKED_TWICE,
    **_SCRATCH,
}
