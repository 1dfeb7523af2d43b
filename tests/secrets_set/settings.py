"""Where secrets stand: the settings for writing the rules, and those held back for judging them.

``§`` is the secret; ``«N»``, ``«n»``, ``«k»``, ``«c»``, ``«P»``, ``«H»``, ``«d»``, ``«t»`` are its
name as ``API_KEY``, ``api_key``, ``api-key``, ``apiKey``, ``ApiKey``, ``Api-Key``, ``api.key`` and
``api key``; ``«z»`` is ``api_key`` with a blank of no width in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

ALONE: Final = {
    "prose": "Yesterday I used § for the deployment, it worked.",
    "end of a sentence": "The one we have is §.",
    "Chinese prose": "昨天部署用的是§，已经可以了。",
    "code span": "Use `§` for now.",
    "quoted": 'call("§", retries=3)',
    "log": "2026-03-01T10:00:00Z WARN upstream refused § status=401",
    "diff": "-old\n+§\n context",
    "numbered": "  12\t§\n  13\tnext",
    "cell": "| production | § | 2026-01-01 |",
    "JSON list": '["a","§","b"]',
    "escaped": '"line one\\n§\\nline three"',
    "in brackets": "(§)",
    "path": "https://files.example.com/x/§/readme",
    "coloured": "\x1b[32m§\x1b[0m ok",
    "argument": "deploy --with=§ now",
}

ALONE_HELD_BACK: Final = {
    "first": "§ is what it printed",
    "list": "- §\n- other",
    "XML": "<value>§</value>",
    "colon": "got:§",
    "shell": "echo § | base64",
    "Chinese brackets": "（§）已失效",
    "French quotes": "«§»",
    "CSV": "7,§,active",
    "quotation": "> > §",
    "two on a line": "§ § and that was it",
    "query": "GET /x?id=§&y=2 HTTP/1.1",
    "tab": "name\t§\tvalue",
}

NAMED: Final = {
    "env": "PORT=80\n«N»=§\nDEBUG=1",
    "env quoted": '«N»="§"',
    "export": "export «N»=§",
    "YAML": "app:\n  «n»: §\n  port: 8080",
    "YAML quoted": "«k»: '§'",
    "JSON": '{\n  "«c»": "§",\n  "port": 8080\n}',
    "minified": '{"id":7,"«n»":"§","ok":true}',
    "escaped": 'body = "{\\"«n»\\": \\"§\\"}"',
    "Python": '        self.«n» = "§"',
    "Python keyword": 'client = Client(region, «n»="§", timeout=5)',
    "Python dict": "options = {'«n»': '§', 'x': 1}",
    "JavaScript": "const «c» = '§';",
    "object": "  «c»: '§',\n  region,",
    "Go": '\t«c» := "§"',
    "Java": '  private static final String «N» = "§";',
    "log": "2026-03-01T10:00:00Z INFO start «n»=§ port=8080",
    "diff added": "@@ -1,2 +1,2 @@\n context\n+«N»=§\n",
    "diff removed": '-    «n»: "§"',
    "numbered": "  11\t[app]\n  12\t«n» = §\n",
    "table": "| «N» | § | production |",
    "table of code": "| `«n»` | `§` |",
    "Dockerfile": "FROM x\nENV «N» §\nRUN make",
    "Dockerfile =": "ENV PORT=80 «N»=§",
    "Actions": "    env:\n      «N»: §\n    run: make\n",
    "flag": "tool deploy --«k» § --verbose",
    "flag =": "tool deploy --«k»=§",
    "query": "curl 'https://api.internal.example/v1/items?«n»=§&page=2'",
    "form": "curl -d '«n»=§' https://api.internal.example/v1",
    "subscript": "app.config['«N»'] = '§'",
    "prose": "the «t» is § for now",
    "prose with a colon": "our «t»: §",
    "Chinese, is": "密码是 § 请更新",
    "Chinese, colon": "口令：§",
    "Chinese, is, close": "密钥为§，不要外传",
    "continued": '«n» = (\n    "§"\n)',
    "quoted in Chinese": "令牌是“§”。",
    "below": "«t»:\n§\n",
    "below, in YAML": "app:\n  «n»:\n    §\n  port: 8080\n",
    "below, in a literal of YAML": "«n»: |\n  §\nport: 8080\n",
    "below, in JSON": '{\n  "«c»":\n    "§",\n  "port": 8080\n}',
    "below, in a string of TOML": '[app]\n«n» = """\n§"""\nport = 1\n',
    "below, in Chinese": "密码：\n§\n",
    "below, in properties": "«d»=\\\n    §\nport=8080\n",
    "below, in a diff": "@@ -1,2 +1,3 @@\n context\n+«n»:\n+  §\n",
    "below, removed in a diff": "@@ -1,2 +1,1 @@\n-«n»:\n-§\n context\n",
    "below, numbered": "  11\t«n»:\n  12\t  §\n  13\tport: 1\n",
    "below, in Markdown": "**«t»:**\n\n`§`\n",
    "split name": "«z»: §",
}

NAMED_HELD_BACK: Final = {
    "TOML": '[server]\n«n» = "§"\nport = 1',
    "properties": "spring.«d»=§",
    "Kubernetes": "        - name: «N»\n          value: §\n",
    "Kubernetes, quoted": '        - name: «N»\n          value: "§"\n',
    "Terraform": '  «n»    = "§"',
    "Rust": 'const «N»: &str = "§";',
    "TypeScript": 'const «c»: string = "§";',
    "C#": 'public string «P» { get; set; } = "§";',
    "PHP": "define('«N»', '§');",
    "PHP array": "    '«n»' => '§',",
    "Ruby": "config.«n» = '§'",
    "XML": "<config><«c»>§</«c»></config>",
    "XML attribute": '<add key="«P»" value="§" />',
    "PowerShell": '$env:«N» = "§"',
    "Windows": "set «N»=§",
    "fish": "set -gx «N» §",
    "default": 'key = os.environ.get("«N»", "§")',
    "default, JavaScript": "const k = process.env.«N» || '§';",
    "Kotlin": 'val «c» = "§"',
    "Swift": 'let «c»: String = "§"',
    "grep": "src/app.py:12:    «n» = '§'",
    "grep -n": "12:«N»=§",
    "docker run": "docker run -e «N»=§ -p 80:80 image",
    "kubectl": "kubectl create secret generic x --from-literal=«k»=§",
    "helm": "helm install x --set app.«c»=§",
    "YAML folded": "«n»: >-\n  §\nnext: 1",
    "Chinese name": "线上的 «n» 是 §，请保密",
    "Chinese colon": "密钥: §",
    "Chinese is": "访问令牌为：§",
    "Chinese space": "管理员密码 §",
    "header": "POST /v1 HTTP/1.1\r\nHost: x\r\nX-«H»: §\r\n\r\n",
    "INI": "[db]\n«n»=§\n",
    "systemd": 'Environment="«N»=§"',
    "compose": "    environment:\n      - «N»=§\n",
    "struct": 'Config{«P»: "§", Region: "cn"}',
    "blame": "9fceb02d (ann 2026-01-01 10:00:00 +0800 12) «n» = '§'",
    "email": "Hi,\n\n«t» = §\n\nBest",
    "f-string bytes": "«n» = b'§'",
    "debugger": "(Pdb) p «n»\n«n»='§'",
    "setenv": 'os.Setenv("«N»", "§")',
    "template literal": "headers['«k»'] = `§`",
    "below, behind a comment of YAML": "«n»:  # of the test system\n  §\n",
    "below, in quotes of YAML": "server:\n  «k»:\n    '§'\n",
    "below, tagged in YAML": "«n»: !!str\n  §\n",
    "below, with an anchor of YAML": "«n»: &first\n  §\n",
    "below, in a list of YAML": "«n»:\n  - §\n",
    "below, with Windows' line ends": '"«n»" :\r\n\t"§"\r\n',
    "below, in a list of JSON": '{"«c»": [\n  "§"\n]}',
    "below, in a literal of TOML": "«n» = '''\n§'''\n",
    "below, in a list of TOML": '«n» = [\n  "§",\n]\n',
    "below, in HCL": "«n» = <<EOT\n§\nEOT\n",
    "below, in INI": "[db]\n«n» =\n    §\n",
    "below, in XML": "<«c»>\n  §\n</«c»>",
    "below, in a comment": "# «n»:\n#   §\n",
    "below, in a fence": "«t»:\n\n```text\n§\n```\n",
    "below, in reStructuredText": "The «t»::\n\n    §\n",
    "below, in a letter": "Hi,\n\nyour «t» is:\n\n    §\n\nBest",
    "below, quoted": "> > «t»:\n> > §\n",
    "below, as follows in Chinese": "口令如下：\n§\n",
    "below, with a blank line in Chinese": "密钥是：\n\n§\n谢谢",
    "below, with a small colon in Chinese": "  访问令牌:\r\n  §\r\n",
    "split name": "export «z»=§",
}


def _in_the_middle(unseen: str) -> Callable[[str], str]:
    return lambda secret: secret[: len(secret) // 2] + unseen + secret[len(secret) // 2 :]


def _after_each(unseen: str, size: int) -> Callable[[str], str]:
    return lambda secret: unseen.join(secret[at : at + size] for at in range(0, len(secret), size))


SPLIT: Final[Mapping[str, Callable[[str], str]]] = {
    "glued": lambda secret: f"token{secret}",
    "NUL": _in_the_middle("\0"),
    "backspace": _in_the_middle("x\b"),
    "zero-width space": _in_the_middle("\u200b"),
    "zero-width space, often": _after_each("\u200b", 6),
}

SPLIT_HELD_BACK: Final[Mapping[str, Callable[[str], str]]] = {
    "glued to a capital": lambda secret: f"myAPI{secret}",
    "glued to a digit": lambda secret: f"v2{secret}",
    "soft hyphen": _in_the_middle("\u00ad"),
    "word joiner": _in_the_middle("\u2060"),
    "mark of byte order": _in_the_middle("\ufeff"),
    "joiner": _in_the_middle("\u200d"),
    "isolate": _in_the_middle("\u2068"),
    "tag": _in_the_middle("\U000e0041"),
    "variation selector": _in_the_middle("\ufe0f"),
    "delete": _in_the_middle("\x7f"),
    "NUL, often": _after_each("\0", 1),
    "struck twice, as man does": lambda secret: "".join(f"{char}\b{char}" for char in secret),
    "underlined, as man does": lambda secret: "".join(f"_\b{char}" for char in secret),
}
