"""The formats by which the rules were written (`held_back` judges them)."""

from __future__ import annotations

from typing import Final

from tests.secrets_set.making import Format

_BEGIN: Final = "-----BEGIN "
_END: Final = "-----END "
_KEY: Final = "PRIVATE KEY-----"
RSA_HEAD: Final = "MIIEpAIBAAKCAQEA"
PKCS8_HEAD: Final = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ"


def pem(kind: str, *, lines: int = 6) -> str:
    """Return the template of a private key in a file."""
    body = "".join("‹b64›\n" for _ in range(lines))
    return f"{_BEGIN}{kind}{_KEY}\n{body}‹b20›\n{_END}{kind}{_KEY}"


FORMATS: Final = (
    Format(name="AWS access key id", secret="AKIA‹q16›", names=("aws access key id",), marked=True),
    Format(name="AWS temporary id", secret="ASIA‹q16›", names=("access key",), marked=True),
    Format(
        name="AWS secret key",
        secret="‹b40›",
        names=("aws secret access key", "secret access key", "aws secret key"),
        shapes=("[default]\naws_secret_access_key = §\nregion = cn-north-1",),
    ),
    Format(
        name="Google API key",
        secret="AIza‹v35›",
        names=("google api key", "gmaps key"),
        marked=True,
        shapes=("https://maps.googleapis.com/maps/api/js?key=§&v=3",),
    ),
    Format(
        name="Google service account",
        secret="‹b64›‹b64›‹b64›",
        shapes=(
            f'{{"type":"service_account","private_key":"{_BEGIN}{_KEY}\\n§\\n{_END}{_KEY}\\n"}}',
            f'  "private_key": "{_BEGIN}{_KEY}\\n§\\n{_END}{_KEY}\\n",\n  "client_id": "1"',
        ),
    ),
    Format(
        name="Azure storage key",
        secret="‹b86›==",
        names=("account key", "azure storage key"),
        shapes=(
            "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=§;EndpointSuffix=core.net",
        ),
    ),
    Format(
        name="Azure SAS",
        secret="‹w42›%3D",
        shapes=("https://x.blob.core.windows.net/c?sv=2022-11-02&ss=b&sp=rwdl&sig=§",),
    ),
    Format(
        name="Azure client secret",
        secret="‹w3›8Q~‹v34›",
        names=("azure client secret", "client secret"),
        marked=True,
    ),
    Format(name="Alibaba id", secret="LTAI5t‹w18›", names=("access key id",), marked=True),
    Format(
        name="Alibaba secret",
        secret="‹w30›",
        names=("access key secret", "aliyun access key secret", "oss secret"),
    ),
    Format(name="Tencent id", secret="AKID‹w32›", names=("secret id",), marked=True),
    Format(name="Tencent secret", secret="‹w32›", names=("secret key", "tencent secret key")),
    Format(name="Volcengine secret", secret="‹w58›==", names=("volc secretkey", "volc secret key")),
    Format(name="OpenAI", secret="sk-‹w20›T3BlbkFJ‹w20›", names=("openai api key",), marked=True),
    Format(name="OpenAI project", secret="sk-proj-‹v80›T3BlbkFJ‹v74›", marked=True),
    Format(
        name="Anthropic", secret="sk-ant-api03-‹v93›AA", names=("anthropic api key",), marked=True
    ),
    Format(name="DeepSeek", secret="sk-‹x32›", names=("deepseek api key",), marked=True),
    Format(name="Zhipu", secret="‹x32›.‹w16›", names=("zhipuai api key",), marked=True),
    Format(name="Groq", secret="gsk_‹w52›", names=("groq api key",), marked=True),
    Format(name="Hugging Face", secret="hf_‹a34›", names=("hf token",), marked=True),
    Format(name="Cohere", secret="‹w40›", names=("cohere api key", "co api key")),
    Format(name="GitHub classic", secret="ghp_‹w36›", names=("github token",), marked=True),
    Format(name="GitHub app", secret="ghs_‹w36›", names=("gh token",), marked=True),
    Format(name="GitHub fine", secret="github_pat_‹w22›_‹w59›", marked=True),
    Format(
        name="GitLab",
        secret="glpat-‹v20›",
        names=("gitlab token",),
        marked=True,
        shapes=("curl -H 'PRIVATE-TOKEN: §' https://gitlab.example.com/api/v4/user",),
    ),
    Format(name="Gitee", secret="‹x32›", names=("gitee access token", "gitee token")),
    Format(name="Slack bot", secret="xoxb-‹d12›-‹d13›-‹w24›", names=("slack token",), marked=True),
    Format(name="Slack app", secret="xapp-1-A‹U10›-‹d13›-‹x64›", marked=True),
    Format(
        name="Slack hook",
        secret="T‹U10›/B‹U10›/‹w24›",
        shapes=(
            "https://hooks.slack.com/services/§",
            '{"url":"https://hooks.slack.com/services/§"}',
        ),
    ),
    Format(name="Discord bot", secret="M‹w25›.‹v6›.‹v38›", names=("discord token",), marked=True),
    Format(
        name="Discord hook",
        secret="‹v68›",
        shapes=("https://discord.com/api/webhooks/‹d19›/§",),
    ),
    Format(
        name="Telegram",
        secret="‹d10›:AA‹v33›",
        names=("telegram bot token",),
        marked=True,
        shapes=("https://api.telegram.org/bot§/getMe",),
    ),
    Format(
        name="WeCom hook",
        secret="‹u›",
        shapes=(
            "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=§",
            "curl 'https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=§' -d @body.json",
        ),
    ),
    Format(
        name="WeCom secret",
        secret="‹v43›",
        names=("corp secret", "corpsecret", "wecom secret"),
        shapes=("https://qyapi.weixin.qq.com/cgi-bin/gettoken?corpid=ww1a2b&corpsecret=§",),
    ),
    Format(name="EncodingAESKey", secret="‹w43›", names=("encoding aes key", "EncodingAESKey")),
    Format(
        name="access_token",
        secret="‹v120›",
        names=("access token",),
        shapes=('{"errcode":0,"errmsg":"ok","access_token":"§","expires_in":7200}',),
    ),
    Format(
        name="DingTalk hook",
        secret="‹x64›",
        shapes=("https://oapi.dingtalk.com/robot/send?access_token=§",),
    ),
    Format(name="DingTalk signing", secret="SEC‹x64›", names=("dingtalk secret",), marked=True),
    Format(
        name="Feishu hook",
        secret="‹u›",
        shapes=("https://open.feishu.cn/open-apis/bot/v2/hook/§",),
    ),
    Format(name="Stripe", secret="sk_live_‹w24›", names=("stripe secret key",), marked=True),
    Format(name="Stripe webhook", secret="whsec_‹w32›", marked=True),
    Format(name="SendGrid", secret="SG.‹v22›.‹v43›", names=("sendgrid api key",), marked=True),
    Format(name="Twilio key", secret="SK‹x32›", names=("twilio api key",), marked=True),
    Format(name="Mailgun", secret="key-‹x32›", names=("mailgun api key",), marked=True),
    Format(
        name="npm",
        secret="npm_‹w36›",
        names=("npm token",),
        marked=True,
        shapes=("//npm.example.com/:_authToken=§",),
    ),
    Format(name="PyPI", secret="pypi-AgEIcHlwaS5vcmc‹v150›", marked=True),
    Format(name="Docker Hub", secret="dckr_pat_‹v27›", marked=True),
    Format(name="Vault", secret="hvs.‹v90›", names=("vault token",), marked=True),
    Format(name="Databricks", secret="dapi‹x32›", names=("databricks token",), marked=True),
    Format(name="Datadog", secret="‹x32›", names=("dd api key", "datadog api key")),
    Format(name="Grafana", secret="glsa_‹w32›_‹x8›", marked=True),
    Format(
        name="Sentry DSN",
        secret="‹x32›",
        shapes=("https://§@o123456.ingest.sentry.io/4501234567",),
    ),
    Format(name="Linear", secret="lin_api_‹w40›", marked=True),
    Format(name="Notion", secret="ntn_‹w46›", names=("notion token",), marked=True),
    Format(name="Figma", secret="figd_‹v40›", marked=True),
    Format(name="Shopify", secret="shpat_‹x32›", marked=True),
    Format(name="DigitalOcean", secret="dop_v1_‹x64›", marked=True),
    Format(name="Cloudflare", secret="‹v40›", names=("cloudflare api token", "cf api key")),
    Format(
        name="JWT",
        secret="eyJhbGciOiJIUzI1NiJ9.eyJ‹v60›.‹v43›",
        names=("jwt", "id token"),
        marked=True,
        shapes=("Authorization: Bearer §", "curl -H 'authorization: bearer §' https://x.example"),
    ),
    Format(name="age", secret="AGE-SECRET-KEY-1‹U58›", marked=True),
    Format(name="pairing code", secret="CB1-‹q26›", marked=True),
    Format(
        name="RSA key",
        secret=pem("RSA "),
        marked=False,
        shapes=("§", "before\n§\nafter", "key: |\n§\n"),
    ),
    Format(
        name="OpenSSH key",
        secret="‹b70›\n‹b70›\n‹b32›==",
        shapes=(
            f"{_BEGIN}OPENSSH {_KEY}\n§\n{_END}OPENSSH {_KEY}\n",
            f"cat id_ed25519\n{_BEGIN}OPENSSH {_KEY}\n§\n",
        ),
    ),
    Format(
        name="EC key",
        secret="‹b64›",
        shapes=(
            f"+{_BEGIN}EC {_KEY}\n+§\n+‹b64›\n+{_END}EC {_KEY}",
            f"  7\t{_BEGIN}EC {_KEY}\n  8\t§\n  9\t‹b64›\n 10\t{_END}EC {_KEY}",
            f'key = "{_BEGIN}EC {_KEY}\\n§\\n{_END}EC {_KEY}"',
            f"{_BEGIN}EC {_KEY} § {_END}EC {_KEY}",
        ),
    ),
    Format(
        name="RSA body without armour",  # RFC 8017, A.1.2: version 0, a modulus of 2048 bits
        secret="‹b64›",
        shapes=(
            f"{RSA_HEAD}‹b48›\n§\n‹b64›\n‹b20›==\n",
            f"@@ -1 +1,3 @@\n+{RSA_HEAD}‹b48›\n+§\n+‹b64›\n",
            f"  41\t{RSA_HEAD}‹b48›\n  42\t§\n  43\t‹b64›\n",
            "tail of the file:\n‹b64›\n§\n‹b64›\n‹b20›==\nand its end",
            '    "‹b64›\\n"\n    "§\\n"\n    "‹b64›\\n"\n',
            f"log: {RSA_HEAD}‹b48›\\n§\\n‹b64›\\n",
        ),
    ),
    Format(  # as Java and its tools take it: the DER in base64, on one line
        name="PKCS #8 on one line",
        secret="‹b200›‹b200›==",
        names=("app private key",),
        shapes=(f"{PKCS8_HEAD}§", f"sign({PKCS8_HEAD}§, x)", f"私钥：{PKCS8_HEAD}§"),
    ),
    Format(
        name="database URL",
        secret="‹w20›",
        shapes=(
            "DATABASE_URL=postgres://app:§@db.internal:5432/shop",
            "mysql://root:§@127.0.0.1:3306/x?charset=utf8mb4",
            'url: "mongodb+srv://app:§@cluster0.abcde.mongodb.net/x"',
            "redis://:§@cache:6379/0",
            "amqp://guest:§@mq:5672/%2F",
        ),
    ),
    Format(
        name="password in a connection string",
        secret="‹p›",
        shapes=(
            "jdbc:mysql://db:3306/x?user=root&password=§&useSSL=false",
            "Server=tcp:x,1433;Database=d;User ID=sa;Password=§;Encrypt=True;",
            "host=localhost port=5432 user=app password=§ dbname=x",
        ),
    ),
    Format(
        name="password",
        secret="‹p›",
        names=("password", "db password", "redis password", "passwd", "mysql root password"),
        shapes=("password=§", "PGPASSWORD=§ psql -h db", "密码:§"),
    ),
    Format(
        name="password flag",
        secret="‹p›",
        shapes=(
            "mysql -h db -u root -p§ shop",
            "curl -u admin:§ https://x.example/api",
            "sshpass -p § ssh root@10.0.0.1",
            "mysqldump --user=root --password=§ shop > x.sql",
            "docker login -u ci -p § registry.example.com",
            "redis-cli -h cache -a § ping",
        ),
    ),
    Format(
        name="basic credentials",
        secret="‹b28›",
        shapes=("Authorization: Basic §", '{"auths":{"https://r.example":{"auth":"§"}}}'),
    ),
    Format(
        name="cookie",
        secret="‹x40›",
        names=("session id", "session token"),
        shapes=("Cookie: theme=dark; sessionid=§", "Set-Cookie: sid=§; Path=/; HttpOnly"),
    ),
    Format(
        name="files of tools",
        secret="‹w18›",
        shapes=(
            "machine api.example.com login ann password §",
            "machine api.example.com\n  login ann\n  password §\n",
            "db.internal:5432:shop:app:§",
            "https://ann:§@git.example.com",
            "[pypi]\nusername = __token__\npassword = §\n",
        ),
    ),
    Format(name="Django", secret="django-insecure-‹l50›", names=("secret key",), marked=True),
    Format(name="Rails", secret="‹x32›", names=("rails master key", "secret key base")),
    Format(
        name="JWT secret",
        secret="‹w24›",
        names=("jwt secret", "jwt signing key", "flask secret key"),
    ),
    Format(
        name="TOTP",
        secret="‹q32›",
        shapes=("otpauth://totp/Example:ann@example.com?secret=§&issuer=Example",),
    ),
    Format(name="wallet key", secret="0x‹x64›", names=("private key", "wallet private key")),
    Format(
        name="wallet phrase",
        secret="‹m›",
        shapes=('mnemonic = "§"', "MNEMONIC=§", "助记词：§", "seed phrase: §"),
    ),
)
