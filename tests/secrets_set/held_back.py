"""The formats held back while the rules were written: what judges them.

At the first look with the newer kinds (below a name, glued or split, without armour) the rules for
the open half took out 92.8 % of this half and changed none of its look-alikes; what they missed was
closed afterwards.  Until new cases are added it measures what stays found, not what is unknown.
"""

from __future__ import annotations

from typing import Final

from tests.secrets_set.formats import PKCS8_HEAD, RSA_HEAD, pem
from tests.secrets_set.making import Format

_BEGIN: Final = "-----BEGIN "
_END: Final = "-----END "
_KEY: Final = "PRIVATE KEY-----"
_BLOCK: Final = "PRIVATE KEY BLOCK-----"
_OPENSSH: Final = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW"
_PUTTY: Final = (
    "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: x\nPublic-Lines: 1\nAAAA\n"
    "Private-Lines: 2\n§\nPrivate-MAC: ‹x64›\n"
)

FORMATS: Final = (
    Format(
        name="Google OAuth", secret="GOCSPX-‹v28›", names=("google client secret",), marked=True
    ),
    Format(name="Google access", secret="ya29.‹v120›", marked=True),
    Format(name="Huawei secret", secret="‹w40›", names=("hw secret key", "huaweicloud sk secret")),
    Format(
        name="Baidu secret", secret="‹w32›", names=("baidu secret key", "bce secret access key")
    ),
    Format(name="Moonshot", secret="sk-‹w48›", names=("moonshot api key",), marked=True),
    Format(name="Replicate", secret="r8_‹w37›", names=("replicate api token",), marked=True),
    Format(name="Mistral", secret="‹w32›", names=("mistral api key",)),
    Format(name="OpenRouter", secret="sk-or-v1-‹x64›", names=("openrouter api key",), marked=True),
    Format(name="GitHub OAuth", secret="gho_‹w36›", names=("oauth token",), marked=True),
    Format(name="GitHub refresh", secret="ghr_‹w76›", marked=True),
    Format(name="GitLab runner", secret="glrt-‹v20›", names=("runner token",), marked=True),
    Format(name="Bitbucket", secret="ATBB‹w32›", names=("bitbucket app password",), marked=True),
    Format(name="Atlassian", secret="ATATT3xFfGF0‹v176›=‹X8›", marked=True),
    Format(name="Slack user", secret="xoxp-‹d12›-‹d12›-‹d12›-‹x32›", marked=True),
    Format(name="Feishu secret", secret="‹w32›", names=("feishu app secret", "lark app secret")),
    Format(name="DingTalk app", secret="‹v64›", names=("ding app secret", "dingtalk app secret")),
    Format(
        name="Lark hook",
        secret="‹u›",
        shapes=("https://open.larksuite.com/open-apis/bot/v2/hook/§",),
    ),
    Format(
        name="Teams hook",
        secret="‹u›@‹u›/IncomingWebhook/‹x32›/‹u›",
        shapes=("https://acme.webhook.office.com/webhookb2/§",),
    ),
    Format(name="Stripe test", secret="rk_test_‹w24›", names=("stripe key",), marked=True),
    Format(name="Twilio auth", secret="‹x32›", names=("twilio auth token", "auth token")),
    Format(name="Mailchimp", secret="‹x32›-us12", names=("mailchimp api key",), marked=True),
    Format(name="RubyGems", secret="rubygems_‹x48›", names=("rubygems api key",), marked=True),
    Format(name="Terraform Cloud", secret="‹w14›.atlasv1.‹v64›", marked=True),
    Format(name="Doppler", secret="dp.pt.‹w43›", names=("doppler token",), marked=True),
    Format(name="New Relic", secret="NRAK-‹U27›", names=("new relic api key",), marked=True),
    Format(name="Grafana Cloud", secret="glc_‹w80›", names=("grafana token",), marked=True),
    Format(name="Sentry", secret="sntrys_‹w90›", names=("sentry auth token",), marked=True),
    Format(name="Airtable", secret="pat‹w14›.‹x64›", names=("airtable api key",), marked=True),
    Format(name="Postman", secret="PMAK-‹x24›-‹x34›", names=("postman api key",), marked=True),
    Format(name="Square", secret="EAAA‹v60›", names=("square access token",), marked=True),
    Format(name="PayPal", secret="E‹v79›", names=("paypal client secret", "paypal secret")),
    Format(name="Heroku", secret="‹u›", names=("heroku api key", "heroku api token")),
    Format(name="Vercel", secret="‹w24›", names=("vercel token", "now token")),
    Format(name="Netlify", secret="nfp_‹w36›", names=("netlify auth token",), marked=True),
    Format(name="Supabase", secret="sbp_‹x40›", names=("supabase access token",), marked=True),
    Format(name="Firebase", secret="AAAA‹v7›:APA91b‹v134›", names=("fcm server key",), marked=True),
    Format(name="Algolia", secret="‹x32›", names=("algolia admin api key", "algolia api key")),
    Format(
        name="Snowflake",
        secret="‹p›",
        names=("snowflake password", "snowflake pwd"),
        shapes=("snowflake://ann:§@acme-x1/db/schema",),
    ),
    Format(
        name="encrypted key",
        secret=pem("ENCRYPTED "),
        shapes=("§", "tls:\n§\nend"),
    ),
    Format(
        name="PGP key",
        secret="‹b64›",
        shapes=(
            f"{_BEGIN}PGP {_BLOCK}\n\n‹b64›\n§\n=‹b4›\n{_END}PGP {_BLOCK}",
            f"> {_BEGIN}PGP {_BLOCK}\n> \n> §\n> =‹b4›\n",
        ),
    ),
    Format(
        name="key cut at its beginning",
        secret="‹b64›",
        shapes=(f"‹b64›\n§\n‹b64›\n{_END}RSA {_KEY}\nok", f"-‹b64›\n-§\n-{_END}{_KEY}"),
    ),
    Format(
        name="key as source",
        secret="‹b64›",
        shapes=(
            f"key := `{_BEGIN}RSA {_KEY}\n§\n‹b64›\n{_END}RSA {_KEY}`",
            f"'{_BEGIN}RSA {_KEY}\\n' +\n  '§\\n' +\n  '{_END}RSA {_KEY}'",
        ),
    ),
    Format(
        name="OpenSSH body without armour",
        secret="‹b70›",
        shapes=(f"{_OPENSSH}\n§\n‹b32›==\n", f"> {_OPENSSH}\n> §\n> ‹b32›==\n"),
    ),
    Format(
        name="EC body without armour",  # RFC 5915
        secret="‹b64›",
        shapes=("MHcCAQEEI‹b55›\n§\n‹b36›==\n", "cut -c 2-:\n    MHcCAQEEI‹b55›\n    §\n"),
    ),
    Format(  # RFC 8410, on its one line
        name="Ed25519 body without armour",
        secret="MC4CAQAwBQYDK2VwBCIEI‹b43›",
        shapes=("§", "seen:\n\n§\n\nnothing else", "the one: §"),
    ),
    Format(
        name="PKCS #8 body without armour",
        secret="‹b64›",
        shapes=(
            f"{PKCS8_HEAD}‹b14›\n§\n‹b64›\n",
            f"-{PKCS8_HEAD}‹b14›\n-§\n-‹b64›\n",
            "MIIFLTBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQI‹b16›\n§\n‹b64›\n",  # PBES2
            "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg‹b16›\n§\n‹b26›\n",
            "// ‹b64›\n// §\n// ‹b64›\n",
            "      ‹b64›\n      §\n      ‹b64›\n      ‹b22›==\n",
        ),
    ),
    Format(
        name="DER as base64 wraps it",
        secret="‹b76›",
        shapes=(f"{RSA_HEAD}‹b60›\n§\n‹b76›\n", f"{PKCS8_HEAD}‹b26›\n§\n‹b76›\n"),
    ),
    Format(
        name="PEM in base64",  # as Kubernetes keeps it
        secret="‹b200›==",
        shapes=(
            "  tls.key: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ§\n",
            "got LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tC§ back",
            "LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS0tLS0tC§",
        ),
    ),
    Format(
        name="PuTTY",
        secret="‹b64›\n‹b64›",
        shapes=(_PUTTY,),
    ),
    Format(
        name="kubeconfig",
        secret="‹b200›==",
        shapes=("    client-key-data: §", "users:\n- name: x\n  user:\n    token: §"),
    ),
    Format(
        name="htpasswd",
        secret="$apr1$‹w8›$‹w22›",
        shapes=("ann:§", "bob:§\ncarol:x"),
    ),
    Format(
        name="shadow",
        secret="$6$‹w16›$‹w86›",
        shapes=("root:§:19000:0:99999:7:::",),
    ),
    Format(
        name="URL of a queue or a directory",
        secret="‹w16›",
        shapes=(
            "amqps://svc:§@rabbit.example.com/vhost",
            "ldapsearch -D cn=admin,dc=x -w § -b dc=x",
            "git clone https://oauth2:§@gitlab.example.com/a/b.git",
            "ftp://ann:§@files.example.com/x",
            "smtp://mailer%40example.com:§@smtp.example.com:587",
            "bind_password: §x9",
        ),
    ),
    Format(
        name="passwords of tools",
        secret="‹p›",
        names=("admin password", "smtp pass", "keystore password", "login pwd"),
        shapes=(
            "MYSQL_PWD=§ mysql -uroot",
            "ALTER USER 'app'@'%' IDENTIFIED BY '§';",
            "CREATE ROLE app LOGIN PASSWORD '§';",
            "wget --user ann --password § https://x.example/f",
            "curl --user ann:§ https://x.example",
            "svn co --username ann --password § svn://x",
            "keytool -storepass § -list",
            "openssl rsa -passin pass:§ -in k.pem",
            "net use z: \\\\srv\\share /user:ann § & password=§",
            "REDISCLI_AUTH=§ redis-cli ping",
            "账号 admin 密码 §",
            "默认密码为“§”，登录后修改",
            "root密码:§",
        ),
    ),
    Format(
        name="header",
        secret="‹v40›",
        shapes=(
            "> X-Api-Key: §",
            "< Set-Cookie: session=§; Secure",
            "proxy-authorization: Basic §",
            "X-Auth-Token: §",
            "x-goog-api-key: §",
            "api-key: §",
            "'Authorization': 'Token §'",
            'headers = {"Authorization": f"Bearer §"}',
            "X-Gitlab-Token: §",
            "x-csrf-token: §",
        ),
    ),
    Format(
        name="cookie value",
        secret="‹w32›",
        names=("session secret", "cookie secret"),
        shapes=("JSESSIONID=§; Path=/", "PHPSESSID=§", "connect.sid=s%3A§.x; Path=/"),
    ),
    Format(name="PHP framework key", secret="base64:‹b43›=", names=("app key",)),
    Format(
        name="split string",
        secret="‹w20›",
        shapes=(
            'api_key = "‹w10›" \\\n    "§"',
            "apiKey = '‹w10›' +\n  '§';",
            "curl https://x.example \\\n  -H \\\n  'Authorization: Bearer §'",
        ),
    ),
)
