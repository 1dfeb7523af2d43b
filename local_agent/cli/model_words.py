"""What `codexbridge models` says; both languages, like `words`."""

from __future__ import annotations

from typing import Final

from common.sentences import Sentence

MODELS: Final = Sentence(
    en="The models that are configured on this machine, and their keys",
    zh="本机配置的模型及其密钥",
)
LIST: Final = Sentence(
    en="show each model: which one is asked, where its key lies, what it has used",
    zh="显示各个模型：当前使用哪个、密钥存放位置、用量",
)
TEST: Final = Sentence(
    en="ask the smallest question through the running agent, and say how it went",
    zh="通过运行中的 Agent 提出一个最小的问题，并说明结果",
)
KEY: Final = Sentence(
    en="store the key of a model; it is read from a hidden prompt, or from standard input",
    zh="存入模型密钥；从隐藏的输入提示或标准输入读取",
)
NAME: Final = Sentence(en="name of a table [models.NAME]", zh="表 [models.NAME] 的名称")
NAME_OR_ASKED: Final = Sentence(
    en="name of a table [models.NAME]; without it, the model that is asked",
    zh="表 [models.NAME] 的名称；省略时为当前使用的模型",
)
DELETE: Final = Sentence(en="remove the stored key", zh="删除已存的密钥")
NONE: Final = Sentence(
    en="No model is configured: what needs one is not done. To connect one, write it into\n"
    "{file}, such as",
    zh="没有配置模型：需要模型的请求不会进行。如需接入，请写入\n{file}，例如",
)
NONE_NEXT: Final = Sentence(
    en="then store its key (codexbridge models key {name}), start the agent again and try it\n"
    "(codexbridge models test). More: codexbridge help models",
    zh="然后存入密钥（codexbridge models key {name}），重新启动 Agent 并测试\n"
    "（codexbridge models test）。详见 codexbridge help models",
)
ASKED: Final = Sentence(en="asked", zh="使用中")
EXPERIMENTAL: Final = Sentence(en="experimental", zh="实验性")
KEY_LABEL: Final = Sentence(en="key", zh="密钥")
USED_LABEL: Final = Sentence(en="last {days} days", zh="最近 {days} 天")
FAILED_LABEL: Final = Sentence(en="last failure", zh="最近一次失败")
NO_KEY: Final = Sentence(
    en="none (store one: codexbridge models key {name})",
    zh="无（存入：codexbridge models key {name}）",
)
NO_KEY_NEEDED: Final = Sentence(en="none, and it needs none", zh="无，也不需要")
KEY_AT: Final = {
    "file": Sentence(en="in a file that only you can read", zh="在仅本人可读的文件中"),
    "keyring": Sentence(en="in the system keyring", zh="在系统密钥环中"),
    "away": Sentence(
        en="in the system keyring, which cannot be reached now",
        zh="在系统密钥环中，目前无法访问",
    ),
    "broken": Sentence(
        en="cannot be read; store it anew: codexbridge models key {name}",
        zh="无法读取；请重新存入：codexbridge models key {name}",
    ),
}
USED: Final = Sentence(
    en="{turns} turns ({failed} failed), {read} tokens read, {written} written",
    zh="{turns} 轮（失败 {failed}），读入 {read}、写出 {written} 个 token",
)
COST: Final = Sentence(en="about {cost} {currency}", zh="约 {cost} {currency}")
FAILED: Final = Sentence(en="{at}: {why}", zh="{at}：{why}")
KEY_PROMPT: Final = Sentence(
    en="Key of the model {name} (not shown): ", zh="模型 {name} 的密钥（不显示）："
)
KEY_STORED: Final = Sentence(
    en="The key of {name} is stored {where}. The agent uses it from the next question on. "
    "To try it: codexbridge models test {name}",
    zh="{name} 的密钥已存{where}。下一个问题起生效。试一试：codexbridge models test {name}",
)
KEY_DELETED: Final = Sentence(en="The key of {name} is removed.", zh="{name} 的密钥已删除。")
TESTING: Final = Sentence(en="Asking {name} …", zh="正在询问 {name} …")
WORKS: Final = Sentence(
    en="{name} answers: {model}, {latency} ms", zh="{name} 可用：{model}，{latency} 毫秒"
)
WORKS_VERSION: Final = Sentence(
    en="{name} answers: {model}, {version}, {latency} ms",
    zh="{name} 可用：{model}，{version}，{latency} 毫秒",
)
