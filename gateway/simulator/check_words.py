"""What `sim check` demands and why it matters, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.sentences import Sentence

ANSWERED: Final = Sentence(en="HTTP {status}", zh="HTTP {status}")
SILENT: Final = Sentence(en="no answer", zh="无应答")
SIZE: Final = Sentence(en="{count} {count:byte|bytes}", zh="{count} 字节")
TOOK: Final = Sentence(en="{seconds} s", zh="{seconds} 秒")
EXACT: Final = Sentence(en="exact", zh="完全一致")
NEWLINE: Final = Sentence(en="with a newline", zh="多了换行")
QUOTES: Final = Sentence(en="in quotes", zh="多了引号")
BOM: Final = Sentence(en="with a BOM", zh="多了 BOM")
MORE: Final = Sentence(en="{count} bytes more", zh="多了 {count} 字节")
EMPTY: Final = Sentence(en="empty", zh="空")
REPLY: Final = Sentence(en="passive reply: {kind}", zh="被动回复：{kind}")
BAD_REPLY: Final = Sentence(en="WeCom would drop it: {why}", zh="企业微信会丢弃：{why}")
FETCHED: Final = Sentence(en="it was fetched", zh="去获取了")
OF: Final = Sentence(en="{count} of {all}", zh="{all} 次中有 {count} 次")
UP_TO: Final = Sentence(en="up to {count} bytes", zh="最多 {count} 字节")
NAMED: Final = Sentence(en="{names}", zh="{names}")
NONE: Final = Sentence(en="none", zh="没有")

WHAT: Final[Mapping[str, Sentence]] = {
    "verify.answers": Sentence(
        en="the URL check is answered with the decrypted echostr", zh="URL 验证返回解密后的 echostr"
    ),
    "verify.exact": Sentence(
        en="only the echo is returned: no BOM, quotes or newline",
        zh="只返回明文本身：没有 BOM、引号和换行",
    ),
    "verify.in-time": Sentence(
        en="the URL check is answered within 1 second", zh="URL 验证在 1 秒内应答"
    ),
    "verify.plus": Sentence(en="an echostr with %2B is understood", zh="能识别含 %2B 的 echostr"),
    "verify.raw-plus": Sentence(
        en="an echostr with a bare + is understood", zh="能识别含裸 + 的 echostr"
    ),
    "verify.long": Sentence(en="a long echo is returned whole", zh="很长的 echo 也完整返回"),
    "verify.extra": Sentence(
        en="an extra parameter in the URL does not break the signature check",
        zh="URL 中的其他参数不影响签名验证",
    ),
    "verify.type": Sentence(
        en="the echo is text/plain, with nosniff", zh="echo 以 text/plain 和 nosniff 返回"
    ),
    "verify.forged": Sentence(
        en="an echostr with a wrong signature is refused", zh="拒绝签名错误的 echostr"
    ),
    "verify.tampered": Sentence(en="a changed echostr is refused", zh="拒绝改动过的 echostr"),
    "verify.stale": Sentence(en="an hour-old URL check is refused", zh="拒绝一小时前的 URL 验证"),
    "verify.missing": Sentence(
        en="a URL check without echostr is refused", zh="拒绝没有 echostr 的 URL 验证"
    ),
    "verify.twice": Sentence(
        en="a URL check with echostr twice is refused", zh="拒绝有两个 echostr 的 URL 验证"
    ),
    "verify.oracle": Sentence(
        en="a captured message is not decrypted as an echo", zh="不会把截获的消息当作 echo 解密返回"
    ),
    "message.taken": Sentence(
        en="a message is answered 200 within 5 seconds", zh="消息在 5 秒内返回 200"
    ),
    "message.reply": Sentence(
        en="the answer is empty, or a correctly encrypted passive reply",
        zh="应答为空，或是正确加密的被动回复",
    ),
    "message.repeat": Sentence(
        en="the same bytes are answered 200 three times", zh="同样的内容发三次，都返回 200"
    ),
    "message.renewed": Sentence(
        en="the same message, encrypted and signed anew, is answered 200",
        zh="同一条消息重新加密和签名后，仍返回 200",
    ),
    "message.unicode": Sentence(
        en="a text with Chinese, emoji and markup is accepted", zh="接收含中文、表情和标记的文本"
    ),
    "message.long": Sentence(en="a text of 2 KB is accepted", zh="接收 2 KB 的文本"),
    "message.event": Sentence(
        en="the event enter_agent is answered 200", zh="事件 enter_agent 返回 200"
    ),
    "message.click": Sentence(en="a click on a card is answered 200", zh="卡片点击返回 200"),
    "message.unknown": Sentence(
        en="a message of an unknown type is answered 200", zh="未知的消息类型返回 200"
    ),
    "message.no-xml": Sentence(
        en="a correctly encrypted message that is not XML is answered 200",
        zh="加密正确但内容不是 XML 的消息返回 200",
    ),
    "message.parallel": Sentence(
        en="8 messages at once are all answered in time", zh="同时发 8 条消息，每条都按时应答"
    ),
    "message.pieces": Sentence(
        en="a body in several pieces is accepted", zh="接收分几段到达的请求体"
    ),
    "message.chunked": Sentence(en="a chunked body is accepted", zh="接收 chunked 编码的请求体"),
    "message.plain-field": Sentence(
        en="Encrypt alone, without CDATA, is accepted", zh="接收不带 CDATA、只有 Encrypt 的请求"
    ),
    "message.outer": Sentence(
        en="a changed ToUserName outside the encryption has no effect",
        zh="改动加密之外的 ToUserName 不起作用",
    ),
    "refuse.alike": Sentence(
        en="a wrong signature, padding or receive id is answered alike",
        zh="签名、填充、receive id 错误时应答相同",
    ),
    "refuse.forged": Sentence(en="a wrong signature is refused", zh="拒绝错误的签名"),
    "refuse.tampered": Sentence(en="changed ciphertext is refused", zh="拒绝改动过的密文"),
    "missing": Sentence(en="a request without {name} is refused", zh="拒绝缺少 {name} 的请求"),
    "twice": Sentence(en="a request with {name} twice is refused", zh="拒绝有两个 {name} 的请求"),
    "malformed": Sentence(en="a malformed {name} is refused", zh="拒绝格式错误的 {name}"),
    "refuse.stale": Sentence(en="an hour-old timestamp is refused", zh="拒绝一小时前的 timestamp"),
    "refuse.future": Sentence(
        en="a timestamp one hour ahead is refused", zh="拒绝一小时后的 timestamp"
    ),
    "refuse.shifted": Sentence(
        en="a digit moved from timestamp to nonce is refused",
        zh="拒绝把 timestamp 的数字挪到 nonce 的请求",
    ),
    "refuse.odd-nonce": Sentence(
        en="a nonce that WeCom never sends is refused, even if signed",
        zh="拒绝企业微信不会用的 nonce，即使签名正确",
    ),
    "refuse.padding": Sentence(en="broken padding is refused", zh="拒绝损坏的填充"),
    "refuse.padding-0": Sentence(en="padding of length 0 is refused", zh="拒绝长度为 0 的填充"),
    "refuse.padding-33": Sentence(
        en="padding longer than 32 is refused", zh="拒绝长度超过 32 的填充"
    ),
    "refuse.length-over": Sentence(
        en="a length beyond the end is refused", zh="拒绝超出末尾的长度字段"
    ),
    "refuse.length-under": Sentence(
        en="a length that is too small is refused", zh="拒绝偏小的长度字段"
    ),
    "refuse.short": Sentence(
        en="plain text too short for a message is refused", zh="拒绝短得放不下消息的明文"
    ),
    "refuse.receiver": Sentence(en="another receive id is refused", zh="拒绝其他 receive id"),
    "refuse.no-receiver": Sentence(en="an empty receive id is refused", zh="拒绝空的 receive id"),
    "refuse.cut": Sentence(en="truncated ciphertext is refused", zh="拒绝截断的密文"),
    "refuse.no-base64": Sentence(
        en="ciphertext that is not Base64 is refused", zh="拒绝不是 Base64 的密文"
    ),
    "refuse.empty": Sentence(en="an empty body is refused", zh="拒绝空请求体"),
    "refuse.no-encrypt": Sentence(
        en="a body without Encrypt is refused", zh="拒绝没有 Encrypt 的请求体"
    ),
    "refuse.no-xml": Sentence(en="broken XML is refused", zh="拒绝不完整的 XML"),
    "refuse.no-utf-8": Sentence(
        en="a body that is not UTF-8 is refused", zh="拒绝不是 UTF-8 的请求体"
    ),
    "refuse.double": Sentence(
        en="a body with two Encrypt is refused, the first one signed",
        zh="拒绝有两个 Encrypt 的请求体（第一个有签名）",
    ),
    "refuse.double-last": Sentence(
        en="a body with two Encrypt is refused, the last one signed",
        zh="拒绝有两个 Encrypt 的请求体（最后一个有签名）",
    ),
    "refuse.dtd": Sentence(en="a document type (DTD) is refused", zh="拒绝文档类型声明（DTD）"),
    "refuse.entity": Sentence(en="an XML entity is refused", zh="拒绝 XML 实体"),
    "refuse.bomb": Sentence(en="nested entities are refused at once", zh="立即拒绝层层嵌套的实体"),
    "refuse.external": Sentence(
        en="an external entity is refused, and not fetched", zh="拒绝外部实体，也不去获取"
    ),
    "refuse.large": Sentence(en="a body of 4 MB is refused", zh="拒绝 4 MB 的请求体"),
    "refuse.put": Sentence(en="PUT is refused", zh="拒绝 PUT"),
    "refuse.delete": Sentence(en="DELETE is refused", zh="拒绝 DELETE"),
    "all.no-failure": Sentence(
        en="every refusal is answered, never with a 5xx",
        zh="每次拒绝都明确应答，从不返回 5xx",
    ),
    "all.no-traces": Sentence(
        en="no refusal shows a parser's error or a stack trace", zh="拒绝时不泄露解析器错误和调用栈"
    ),
    "all.no-body": Sentence(en="refusals have an empty body", zh="拒绝时应答为空"),
    "all.no-banner": Sentence(en="no answer names the server software", zh="应答不透露服务器软件"),
    "all.still-there": Sentence(
        en="after all this a message is still answered 200", zh="所有检查之后，消息仍返回 200"
    ),
}

WHY: Final[Mapping[str, Sentence]] = {
    "verify": Sentence(
        en="Otherwise the console does not save the URL: “echostr校验失败”.",
        zh="否则管理后台无法保存 URL，并提示“echostr校验失败”。",
    ),
    "verify-time": Sentence(
        en="The console waits for 1 second, then rejects the URL.",
        zh="管理后台只等 1 秒，之后拒绝该 URL。",
    ),
    "exact": Sentence(
        en="The console compares byte by byte; frameworks add quotes (JSON), a BOM or a newline.",
        zh="管理后台逐字节比较；框架常会加上引号（JSON）、BOM 或换行。",
    ),
    "plus": Sentence(
        en="Base64 contains +. Proxies may undo %2B, and form decoders turn + into a space: the "
        "check then fails now and then.",
        zh="Base64 中有 +。代理服务器可能还原 %2B，表单解码又把 + 变成空格：验证会时好时坏。",
    ),
    "extra": Sentence(
        en="A check over all parameters fails once the URL has one of its own.",
        zh="如果对所有参数验签，URL 自带参数时就会失败。",
    ),
    "type": Sentence(
        en="The echo is chosen by whoever signs; a browser must not read it as a page.",
        zh="echo 的内容由签名方决定；浏览器不应把它当成网页。",
    ),
    "forged": Sentence(
        en="Anybody on the internet can call the URL: the signature alone shows that it is WeCom.",
        zh="互联网上任何人都能访问该 URL：只有签名能证明对方是企业微信。",
    ),
    "replay": Sentence(
        en="Whoever captured a request could send it again for ever.",
        zh="截获请求的人可以无限期地重放它。",
    ),
    "oracle": Sentence(
        en="Both are signed alike: whoever captured a message could have it decrypted as a "
        "URL check.",
        zh="两者签名方式相同：截获消息的人可以借 URL 验证让你解密。",
    ),
    "syntax": Sentence(
        en="Of two values, which was verified and which is used? Lax parsing leaves that "
        "to chance.",
        zh="两个值中验证的是哪个，使用的又是哪个？解析不严格就全凭运气。",
    ),
    "shifted": Sentence(
        en="Nothing separates the signed values: moved digits keep the signature valid, and one "
        "captured request becomes many.",
        zh="签名的各个值之间没有分隔：挪动数字后签名仍然有效，一个截获的请求就变成许多个。",
    ),
    "deadline": Sentence(
        en="WeCom disconnects after 5 seconds and delivers again: members get answers twice.",
        zh="企业微信 5 秒后断开并重新投递：成员会收到重复的回复。",
    ),
    "reply": Sentence(
        en="WeCom drops any other body, so the member sees nothing.",
        zh="其他内容企业微信会丢弃，成员也就看不到。",
    ),
    "repeat": Sentence(
        en="WeCom delivers again until it gets a 200.",
        zh="没有收到 200，企业微信就会重新投递。",
    ),
    "after-200": Sentence(
        en="It does come from WeCom: any other status only makes it deliver three more times.",
        zh="它确实来自企业微信：返回其他状态只会让它再投递三次。",
    ),
    "pieces": Sentence(
        en="Networks and proxies cut bodies as they like.", zh="网络和代理服务器会随意切分请求体。"
    ),
    "xml": Sentence(
        en="Accept exactly what WeCom sends, in any form that XML allows.",
        zh="只接收企业微信会发的内容，但要支持 XML 允许的各种写法。",
    ),
    "outer": Sentence(
        en="Only Encrypt is signed: the fields around it can be forged.",
        zh="只有 Encrypt 有签名：外层字段可以伪造。",
    ),
    "alike": Sentence(
        en="Differences tell an attacker which part was right (a padding oracle).",
        zh="差异会告诉攻击者哪一部分是对的（填充预言攻击）。",
    ),
    "padding": Sentence(
        en="PKCS#7 with 32-byte blocks, every byte checked; lax unpadding accepts changed "
        "messages.",
        zh="PKCS#7，块长 32 字节，逐字节检查；去填充不严格会接受改动过的消息。",
    ),
    "length": Sentence(
        en="Slices past the end are cut silently, and the receive id is compared as empty.",
        zh="越界的切片会静默截断，receive id 就成了与空值比较。",
    ),
    "receiver": Sentence(
        en="It alone ties a message to your corp; a token or key may be shared with others.",
        zh="只有它把消息与你的企业绑定：Token 或密钥可能与他人共用。",
    ),
    "double": Sentence(
        en="One may be verified and the other used.", zh="可能验证了一个，却使用另一个。"
    ),
    "dtd": Sentence(
        en="WeCom sends none; document types are how XML parsers are attacked.",
        zh="企业微信不会发送；针对 XML 解析器的攻击都从这里开始。",
    ),
    "bomb": Sentence(
        en="A kilobyte becomes a hundred million characters, before any signature is checked.",
        zh="在验证签名之前，1 KB 就能膨胀成一亿个字符。",
    ),
    "external": Sentence(
        en="It reads files and internal addresses for an attacker (XXE).",
        zh="攻击者可借它读取文件和内网地址（XXE）。",
    ),
    "large": Sentence(
        en="Unlimited bodies fill the memory, before any signature is checked.",
        zh="请求体没有上限，会在验证签名之前占满内存。",
    ),
    "method": Sentence(
        en="Only GET and POST mean anything here.", zh="这里只有 GET 和 POST 有意义。"
    ),
    "failure": Sentence(
        en="A 5xx says that something unforeseen broke, and whoever sends it can repeat it.",
        zh="5xx 说明出现了意料之外的故障，发送者可以反复触发。",
    ),
    "traces": Sentence(
        en="Details in a refusal help an attacker to probe.",
        zh="拒绝时说得越多，越方便攻击者试探。",
    ),
    "banner": Sentence(
        en="Names and versions tell an attacker which known holes to try.",
        zh="名称和版本会告诉攻击者可以尝试哪些已知漏洞。",
    ),
    "still-there": Sentence(
        en="Bad requests from others must not shut WeCom out.",
        zh="他人的恶意请求不应把企业微信挡在门外。",
    ),
}
