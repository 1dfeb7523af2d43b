"""What the findings of `network` mean: said, why it matters, what mends it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.doctor import Diagnosis
from gateway.doctor.words import NO_CALLBACK, NO_SENDING, NO_START, good, ill

PROXY_REFUSED: Final = ill(
    ("the proxy refuses", "代理服务器拒绝"),
    NO_SENDING,
    (
        "correct egress.proxy and its secret egress.proxy_login, or let the proxy pass WeCom's API",
        "更正 egress.proxy 与密钥 egress.proxy_login，或让代理服务器放行企业微信接口",
    ),
)
PROXY_AWAY: Final = ill(
    ("the proxy takes no connection", "无法连接代理服务器"),
    NO_SENDING,
    ("correct egress.proxy, or start the proxy", "更正 egress.proxy，或启动代理服务器"),
)
_NO_ANSWER: Final = (
    "the gateway tries again by itself; if it stays so, look at the network and at egress.proxy",
    "网关会自动重试；如仍如此，请检查网络和 egress.proxy",
)
_IN_ITS_PLACE: Final = (
    "a proxy or a sign-in page answers in its place: let the gateway reach WeCom directly",
    "代理服务器或登录页代为响应：请让网关直接访问企业微信",
)
_NO_MACHINES: Final = ("machines cannot connect", "开发机无法连接")
_AUTHORITY: Final = (
    "if your company's proxy opens TLS, name its authority as egress.ca_bundle",
    "如果公司的代理服务器会解密 TLS，请把其 CA 证书设为 egress.ca_bundle",
)
_WECOM: Final = {
    "wecom-api.fine": good("{host} answers", "{host} 有响应"),
    "wecom-api.status": ill(
        ("{host} answers with status {status}", "{host} 返回状态 {status}"),
        NO_SENDING,
        (
            "a proxy on the way refuses: let the gateway reach {host}, or correct wecom.api_base",
            "途中的代理服务器拒绝了请求：请放行到 {host} 的访问，或更正 wecom.api_base",
        ),
    ),
    "wecom-api.html": ill(
        ("what answers as {host} is not WeCom", "以 {host} 响应的不是企业微信"),
        NO_SENDING,
        _IN_ITS_PLACE,
    ),
    "wecom.unreadable": ill(
        ("what answered a call is no answer of WeCom", "接口调用得到的不是企业微信的响应"),
        NO_SENDING,
        _IN_ITS_PLACE,
    ),
    "clock.fine": good("{seconds} s off", "相差 {seconds} 秒"),
    "clock.unknown": good("not compared: WeCom named no time", "未比较：企业微信没有给出时间"),
    **dict.fromkeys(
        ("clock.ahead", "clock.behind"),
        ill(
            ("{seconds} s off WeCom's", "与企业微信相差 {seconds} 秒"),
            (
                "messages more than 300 s off are refused, and machines more than 60 s",
                "相差超过 300 秒的消息和超过 60 秒的开发机会被拒绝",
            ),
            ("timedatectl set-ntp true", "timedatectl set-ntp true"),
        ),
    ),
    "wecom-token.fine": good("corp id and secret are right", "企业 ID 和 Secret 正确"),
    "wecom-app.fine": good("app {app} answers", "应用 {app} 有响应"),
    "wecom.app-closed": ill(
        ("app {app} is switched off", "应用 {app} 已停用"),
        ("nobody can write to it or hear of it", "成员无法给它发消息，也收不到消息"),
        (
            "WeCom's console: 应用管理 → 自建 → the app → 启用",
            "企业微信管理后台：应用管理 → 自建 → 该应用 → 启用",
        ),
    ),
    "wecom-app.not-seen": ill(
        ("members do not see app {app}: {names}", "这些成员看不到应用 {app}：{names}"),
        ("they cannot write to it, and hear nothing", "他们无法给它发消息，也收不到消息"),
        (
            "WeCom's console: 应用管理 → 自建 → the app → 可见范围",
            "企业微信管理后台：应用管理 → 自建 → 该应用 → 可见范围",
        ),
    ),
    "wecom-app.other-case": ill(
        (
            "WeCom writes UserIDs of members otherwise: {theirs}, and not {names}",
            "成员的 UserID 与企业微信的写法不同：应为 {theirs}，而不是 {names}",
        ),
        (
            "upper and lower case count here, so their messages are refused",
            "这里区分大小写，因此他们的消息会被拒绝",
        ),
        (
            (
                "codexbridge gateway member add USER and gateway bind MACHINE USER, as WeCom "
                "writes it; then gateway member remove USER, as it was"
            ),
            (
                "按企业微信的写法执行 codexbridge gateway member add USER 和 gateway bind MACHINE "
                "USER，再按原来的写法执行 gateway member remove USER"
            ),
        ),
    ),
    "wecom.bad-corp-id": ill(
        ("WeCom knows no corp {corp} ({errcode})", "企业微信中没有企业 {corp}（{errcode}）"),
        NO_SENDING,
        (
            "correct {of}.corp_id: 我的企业 → 企业信息 → 企业ID",
            "更正 {of}.corp_id：我的企业 → 企业信息 → 企业ID",
        ),
    ),
    "wecom.bad-secret": ill(
        ("{of}.corp_secret is wrong ({errcode})", "{of}.corp_secret 不正确（{errcode}）"),
        NO_SENDING,
        (
            "copy it again into {file}__corp_secret: 应用管理 → 自建 → the app → Secret",
            "重新复制到 {file}__corp_secret：应用管理 → 自建 → 该应用 → Secret",
        ),
    ),
    "wecom.bad-agent-id": ill(
        ("the secret is not of app {app} ({errcode})", "Secret 不属于应用 {app}（{errcode}）"),
        NO_SENDING,
        (
            "take {of}.agent_id and the secret from one app: 应用管理 → 自建 → the app → AgentId",
            "{of}.agent_id 与 Secret 须来自同一应用：应用管理 → 自建 → 该应用 → AgentId",
        ),
    ),
    "wecom.forbidden": ill(
        ("the secret may not use this API ({errcode})", "该 Secret 无权调用此接口（{errcode}）"),
        NO_SENDING,
        (
            "use the secret of the app itself: 应用管理 → 自建 → the app → Secret",
            "使用应用自己的 Secret：应用管理 → 自建 → 该应用 → Secret",
        ),
    ),
    "wecom.untrusted-address": ill(
        (
            "WeCom does not trust our address {address} ({errcode})",
            "企业微信不信任出口地址 {address}（{errcode}）",
        ),
        NO_SENDING,
        (
            "add {address}: 应用管理 → 自建 → the app → 企业可信IP; it counts a minute later",
            "添加 {address}：应用管理 → 自建 → 该应用 → 企业可信IP；约一分钟后生效",
        ),
    ),
    **dict.fromkeys(
        ("wecom.busy", "wecom.too-often"),
        ill(
            ("WeCom is busy or limits us ({errcode})", "企业微信繁忙或限流（{errcode}）"),
            (
                "nothing can be said of the secret, and replies wait",
                "无法判断 Secret 是否正确，回复会等待",
            ),
            (
                "the gateway goes on by itself; a limit of an hour or a day has to end first",
                "网关会自动继续；如果是每小时或每天的上限，要等它结束",
            ),
        ),
    ),
    **dict.fromkeys(
        ("wecom.refused", "wecom.token-refused", "wecom.bad-address"),
        ill(
            ("WeCom refuses: {errcode} {errmsg}", "企业微信拒绝：{errcode} {errmsg}"),
            NO_SENDING,
            (
                "look up the number: developer.work.weixin.qq.com → 全局错误码",
                "查询错误码：developer.work.weixin.qq.com → 全局错误码",
            ),
        ),
    ),
    **dict.fromkeys(("wecom.proxy-refused", "wecom-api.proxy-refused"), PROXY_REFUSED),
    **dict.fromkeys(("wecom.proxy-away", "wecom-api.proxy-away"), PROXY_AWAY),
    "wecom.no-such-name": ill(
        ("the name of WeCom's API is not known here", "本机无法解析企业微信接口的域名"),
        NO_SENDING,
        (
            "look at the DNS of this machine: getent hosts qyapi.weixin.qq.com",
            "请检查本机 DNS：getent hosts qyapi.weixin.qq.com",
        ),
    ),
    "wecom.no-trust": ill(
        (
            "what answers as WeCom has no certificate that is trusted here",
            "以企业微信响应的一方没有本机信任的证书",
        ),
        NO_SENDING,
        _AUTHORITY,
    ),
    "wecom.no-connection": ill(
        ("WeCom's API takes no connection from here", "无法从本机连接企业微信接口"),
        NO_SENDING,
        (
            "let the firewall pass port 443, or set egress.proxy",
            "请让防火墙放行 443 端口，或设置 egress.proxy",
        ),
    ),
    **{
        code: ill(said, NO_SENDING, _NO_ANSWER)
        for code, said in (
            ("wecom.http", ("WeCom's API answers {errmsg}", "企业微信接口返回 {errmsg}")),
            ("wecom.unreachable", ("WeCom did not answer", "企业微信没有响应")),
        )
    },
}

_HERE: Final = {
    "port.fine": good("answers on {host} port {port}", "在 {host} 端口 {port} 上响应"),
    "port.not-running": ill(
        ("does not run (port {port} on {host} is free)", "没有运行（{host} 的端口 {port} 空闲）"),
        NO_CALLBACK,
        ("{start}", "{start}"),
    ),
    "port.other-gateway": ill(
        (
            "port {port} on {host} belongs to another gateway: it has other keys than {state}",
            "{host} 的端口 {port} 属于另一个网关：它的密钥与 {state} 中的不同",
        ),
        NO_START,
        (
            "stop it, or use another port: codexbridge gateway init --port PORT",
            "停止它，或换一个端口：codexbridge gateway init --port 端口",
        ),
    ),
    "port.silent": ill(
        (
            "what has port {port} on {host}, this gateway or another program, does not answer",
            "占用 {host} 的端口 {port} 的网关或其他程序没有响应",
        ),
        NO_CALLBACK,
        (
            "ss -ltnp shows what it is; if the gateway: look at log and disk, and restart it",
            "用 ss -ltnp 查看是哪个程序；如果是网关，请查看日志和磁盘，然后重启网关",
        ),
    ),
    "port.taken": ill(
        ("another program has port {port} on {host}", "{host} 的端口 {port} 被其他程序占用"),
        NO_START,
        (
            "stop it (ss -ltnp shows it), or set another listen.port",
            "停止该程序（用 ss -ltnp 查看），或设置其他 listen.port",
        ),
    ),
    "ready.fine": good("yes", "是"),
    "ready.other-settings": ill(
        (
            "the running gateway has other settings or secrets than those here",
            "运行中的网关使用的设置或密钥与这里的不同",
        ),
        ("what was changed since its start does not count yet", "启动之后的更改尚未生效"),
        (
            "restart the gateway; if its service sets variables of its own, set them here too",
            "重启网关；如果它的服务另外设置了环境变量，请在此处也设置",
        ),
    ),
    "ready.full": ill(
        ("the running gateway finds no room in {path}", "运行中的网关在 {path} 中没有可用空间"),
        (
            "no message is taken in; what was accepted is kept",
            "无法接收消息；已接收的内容不会丢失",
        ),
        (
            "free some space, or raise a quota; the gateway goes on within seconds",
            "请清理空间或提高配额；网关会在几秒内恢复",
        ),
    ),
    "ready.not": ill(
        ("the running gateway is not: {names}", "运行中的网关尚未就绪：{names}"),
        (
            "it still works with what it read or met before",
            "它仍在使用之前读到或遇到的状况",
        ),
        (
            "restart the gateway, or wait ten minutes; then look at its log",
            "重启网关，或等待十分钟；然后查看日志",
        ),
    ),
    "public-url.fine": good(
        "{url}, certificate for {days} more {days:day|days}", "{url}，证书还有 {days} 天到期"
    ),
    "public-url.plain": good("{url}, this machine alone", "{url}，仅限本机"),
    "public-url.expires": ill(
        ("the certificate ends in {days} {days:day|days}: {url}", "证书 {days} 天后到期：{url}"),
        ("then neither WeCom nor machines connect", "到期后企业微信和开发机都无法连接"),
        ("renew it at the reverse proxy", "请在反向代理上续期"),
    ),
    "callback.fine": good("{url} decrypts", "{url} 可以解密"),
    "callback.refused": ill(
        ("the gateway behind {url} has other keys", "{url} 后面的网关使用其他密钥"),
        (
            "it was started with other settings, or is not this one",
            "它以其他设置启动，或不是这个网关",
        ),
        ("restart the gateway", "请重启网关"),
    ),
    "callback.query": ill(
        ("a proxy changes the query of {url}", "代理服务器改动了 {url} 的查询参数"),
        NO_CALLBACK,
        (
            "have it pass on path and query as they come (nginx: proxy_pass without a path)",
            "让它原样转发路径和查询参数（nginx：proxy_pass 不带路径）",
        ),
    ),
    "callback.elsewhere": ill(
        (
            "something else answers at {url} (status {status})",
            "响应 {url} 的是其他程序（状态 {status}）",
        ),
        NO_CALLBACK,
        (
            "have the reverse proxy pass this path on to the gateway, or correct public_url",
            "让反向代理把此路径转发到网关，或更正 public_url",
        ),
    ),
    "callback.no-post": ill(
        (
            "{url} answers the URL check, but refuses a message (POST, status {status})",
            "{url} 可以通过 URL 校验，但拒收消息（POST，状态 {status}）",
        ),
        NO_CALLBACK,
        (
            "have the proxy or its firewall pass POST bodies of up to 64 kB on to the gateway",
            "让代理服务器或防火墙把不超过 64 kB 的 POST 请求转发到网关",
        ),
    ),
    "callback.redirected": ill(
        ("{url} redirects elsewhere (status {status})", "{url} 跳转到别处（状态 {status}）"),
        ("WeCom follows no redirect", "企业微信不跟随跳转"),
        (
            "set public_url to where it leads, or end the redirect",
            "把 public_url 改为跳转目标，或取消跳转",
        ),
    ),
    "callback.no-gateway": ill(
        (
            "the proxy at {url} does not reach the gateway (status {status})",
            "{url} 的代理服务器连不上网关（状态 {status}）",
        ),
        NO_CALLBACK,
        (
            "have it pass on to listen.host and listen.port",
            "让它转发到 listen.host 和 listen.port",
        ),
    ),
    "callback.address": ill(
        (
            "the gateway takes everybody for the proxy {address}",
            "网关把所有来访者都当成代理服务器 {address}",
        ),
        ("bad requests of one would shut out all", "一个人的错误请求会让所有人被拒绝"),
        (
            "have the proxy set X-Forwarded-For to the client's address",
            "让代理服务器把 X-Forwarded-For 设为来访者地址",
        ),
    ),
    "link.fine": good("{url} answers", "{url} 有响应"),
    "link.no-upgrade": ill(
        ("no WebSocket at {url} (status {status})", "{url} 不能建立 WebSocket（状态 {status}）"),
        _NO_MACHINES,
        (
            "have the proxy pass on Upgrade and Connection (nginx: proxy_http_version 1.1)",
            "让代理服务器转发 Upgrade 和 Connection（nginx：proxy_http_version 1.1）",
        ),
    ),
    "link.too-often": ill(
        (
            "too many requests from this address failed, so {url} does not answer it for now",
            "来自本机地址的失败请求过多，{url} 暂时不响应",
        ),
        ("whether machines can connect is not known yet", "暂时无法确定开发机能否连接"),
        ("run this again in two minutes", "两分钟后重新运行"),
    ),
    "link.held": ill(
        ("the WebSocket at {url} stays silent", "{url} 的 WebSocket 没有数据"),
        _NO_MACHINES,
        (
            "end buffering at the proxy (nginx: proxy_buffering off)",
            "关闭代理服务器的缓冲（nginx：proxy_buffering off）",
        ),
    ),
    "link.elsewhere": ill(
        ("not this gateway answers at {url}", "响应 {url} 的不是这个网关"),
        _NO_MACHINES,
        (
            "have the proxy pass /agent on to this gateway",
            "让代理服务器把 /agent 转发到这个网关",
        ),
    ),
}

# Why no line could be had: said the same of both ways, mended at another place.
_CUT_OFF: Final = {
    "dns": ("the name {host} cannot be resolved: {why}", "无法解析 {host}：{why}"),
    "refused": ("{host} refuses the connection", "{host} 拒绝连接"),
    "unreachable": ("{host} cannot be reached: {why}", "无法连接 {host}：{why}"),
    "silent": ("{host} does not answer", "{host} 没有响应"),
    "tls": ("{host} speaks no TLS", "{host} 不支持 TLS"),
    "expired": ("the certificate of {host} has expired", "{host} 的证书已过期"),
    "early": ("the certificate of {host} is not valid yet", "{host} 的证书尚未生效"),
    "untrusted": (
        "the certificate of {host} is not trusted: {why}",
        "{host} 的证书不受信任：{why}",
    ),
    "other-host": ("the certificate is not for {host}: {why}", "证书不属于 {host}：{why}"),
}
_OUT: Final = (
    "let the gateway reach {host}: check DNS, firewall, egress proxy, clock and wecom.api_base",
    "让网关能访问 {host}：请检查 DNS、防火墙、出口代理服务器、时钟和 wecom.api_base",
)
_CERTIFICATES: Final = (
    "renew the certificate at the reverse proxy, with its whole chain, for the name in public_url",
    "在反向代理上为 public_url 中的域名更换证书，并包含完整证书链",
)
_IN: Final = (
    "check the DNS entry, the firewall, the reverse proxy and public_url",
    "请检查 DNS 记录、防火墙、反向代理和 public_url",
)
_OF_CERTIFICATE: Final = ("expired", "early", "untrusted", "other-host")

NETWORK: Final[Mapping[str, Diagnosis]] = {
    **_WECOM,
    **_HERE,
    **{
        f"wecom-api.{what}": ill(
            said, NO_SENDING, _AUTHORITY if what in ("untrusted", "tls") else _OUT
        )
        for what, said in _CUT_OFF.items()
    },
    **{
        f"public-url.{what}": ill(
            said, NO_CALLBACK, _CERTIFICATES if what in _OF_CERTIFICATE else _IN
        )
        for what, said in _CUT_OFF.items()
    },
}
