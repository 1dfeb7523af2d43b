"""What a finding about the gateway, the way there and its clock means.

What keeps a running agent from its gateway (``gateway.*`` of `link.condition.Why`) is worded in
`local_agent.cli.status`.
"""

from __future__ import annotations

from typing import Final

from common.doctor import Diagnosis
from common.sentences import Sentence as Told

NO_TASKS: Final = Told(en="no task from the chat reaches this machine", zh="聊天中的任务到不了本机")

GATEWAY: Final = {
    "gateway.none": Diagnosis(Told(en="none", zh="无")),
    "gateway.connected": Diagnosis(Told(en="{url}, connected", zh="{url}，已连接")),
    "gateway.connecting": Diagnosis(Told(en="{url}, connecting", zh="{url}，连接中")),
    "gateway.answers": Diagnosis(Told(en="{url} answers", zh="{url} 有应答")),
    "gateway.retrying": Diagnosis(
        Told(
            en="{url} answers here; the agent is not connected, and tries again within {seconds} s",
            zh="{url} 在此处有应答；Agent 未连接，{seconds} 秒内重试",
        ),
        Told(en="tasks wait at the gateway until then", zh="连接之前任务留在网关"),
        Told(
            en="look again in a minute; if it stays so, start the agent with the variables that "
            "are set here (HTTPS_PROXY, SSL_CERT_FILE)",
            zh="一分钟后再检查；若仍如此，请用此处的环境变量（HTTPS_PROXY、SSL_CERT_FILE）"
            "启动 Agent",
        ),
    ),
    "gateway.breaks": Diagnosis(
        Told(
            en="the connection to {url} fails again and again; it broke soon after it was made",
            zh="与 {url} 的连接多次失败，最近一次建立后不久就断开",
        ),
        Told(en="tasks and answers come late", zh="任务和回复会延迟"),
        Told(
            en="let the proxy before the gateway keep it open for a minute (nginx: "
            "proxy_read_timeout 60s); else ask the gateway's admin for its log",
            zh="网关前面的代理服务器应保持连接至少一分钟（nginx：proxy_read_timeout 60s）；"
            "否则请网关管理员查看日志",
        ),
    ),
    "gateway.name": Diagnosis(
        Told(en="the name {host} cannot be resolved", zh="无法解析域名 {host}"),
        NO_TASKS,
        Told(
            en="check the network and DNS: getent hosts {host}",
            zh="请检查网络与 DNS：getent hosts {host}",
        ),
    ),
    "gateway.proxy-unread": Diagnosis(
        Told(
            en="HTTPS_PROXY is not the address of an HTTP proxy",
            zh="HTTPS_PROXY 不是 HTTP 代理地址",
        ),
        NO_TASKS,
        Told(
            en="set HTTPS_PROXY=http://HOST:PORT for the agent (SOCKS cannot be used), or unset it",
            zh="为 Agent 设置 HTTPS_PROXY=http://主机:端口（不支持 SOCKS），或取消该变量",
        ),
    ),
    "gateway.proxy-away": Diagnosis(
        Told(
            en="the proxy {proxy} (HTTPS_PROXY) does not answer as one",
            zh="代理服务器 {proxy}（HTTPS_PROXY）没有正常应答",
        ),
        NO_TASKS,
        Told(
            en="check that it runs, and its address, which mostly begins with http://; or go "
            "without it: NO_PROXY={host}",
            zh="请检查它是否在运行，以及地址是否正确（通常以 http:// 开头）；不需要代理时设置 "
            "NO_PROXY={host}",
        ),
    ),
    "gateway.proxy-refused": Diagnosis(
        Told(
            en="the proxy {proxy} (HTTPS_PROXY) does not connect to {host}: HTTP {status}",
            zh="代理服务器 {proxy}（HTTPS_PROXY）没有连接到 {host}：HTTP {status}",
        ),
        NO_TASKS,
        Told(
            en="407: put its user name and password into HTTPS_PROXY; else ask its admin to let "
            "CONNECT to {host} through, or go without it: NO_PROXY={host}",
            zh="407：在 HTTPS_PROXY 中写上用户名和密码；否则请代理管理员放行到 {host} 的 CONNECT，"
            "或不使用代理：NO_PROXY={host}",
        ),
    ),
    "gateway.no-tls": Diagnosis(
        Told(
            en="what answers at {url} does not speak TLS, or breaks it off",
            zh="{url} 上的服务不支持 TLS，或中断了握手",
        ),
        NO_TASKS,
        Told(
            en="check the port of the gateway's address with its admin; then codexbridge pair "
            "--replace --gateway URL",
            zh="请与网关管理员核对地址中的端口；然后运行 codexbridge pair --replace --gateway URL",
        ),
    ),
    "gateway.certificate-other": Diagnosis(
        Told(en="the certificate of {url} is of another name", zh="{url} 的证书属于其他域名"),
        NO_TASKS,
        Told(
            en="nothing was sent; ask the gateway's admin for a certificate of {host}",
            zh="什么也没有发送；请网关管理员换用 {host} 的证书",
        ),
    ),
    "gateway.certificate-expired": Diagnosis(
        Told(
            en="the certificate of {url} is out of its time, or this machine's clock is wrong",
            zh="{url} 的证书不在有效期内，或本机时钟有误",
        ),
        NO_TASKS,
        Told(
            en="check the clock (timedatectl); else ask the gateway's admin to renew it",
            zh="先检查时钟（timedatectl）；否则请网关管理员更新证书",
        ),
    ),
    "gateway.certificate-unknown": Diagnosis(
        Told(
            en="the certificate of {url} is self-signed, or of an issuer unknown here",
            zh="{url} 的证书是自签名的，或颁发机构不受本机信任",
        ),
        NO_TASKS,
        Told(
            en="nothing was sent; check what this machine trusts (ca-certificates, SSL_CERT_FILE), "
            "else ask the gateway's admin for a valid certificate",
            zh="什么也没有发送；请检查本机信任的 CA 证书（ca-certificates、SSL_CERT_FILE），"
            "否则请网关管理员换用有效的证书",
        ),
    ),
    "clock.ok": Diagnosis(Told(en="agrees with the gateway's", zh="与网关一致")),
    "clock.unknown": Diagnosis(Told(en="nothing to compare it with", zh="没有可比对的时钟")),
    "clock.off": Diagnosis(
        Told(en="differs from the gateway's by {seconds} s", zh="与网关相差 {seconds} 秒"),
        Told(en="so every message is refused", zh="因此拒绝所有消息"),
        Told(
            en="timedatectl set-ntp true, on the side that is wrong",
            zh="在有误的一端运行 timedatectl set-ntp true",
        ),
    ),
}
