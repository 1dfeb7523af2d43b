"""Where may be pushed to: the forms that are understood whole."""

from __future__ import annotations

import pytest

from common.errors import InputError
from local_agent.workspace.git.remote_url import RemoteUrl, Rewrite, read_url, rewritten
from tests.each import each


@pytest.mark.parametrize(
    ("text", "scheme"),
    [
        ("https://github.com/zhang/shop.git", "https"),
        ("https://zhang@dev.azure.com:443/zhang/shop", "https"),
        ("https://zhang%40example.com@github.com/a%20b;c.git", "https"),
        ("http://127.0.0.1:8080/shop.git", "http"),
        ("http://[::1]/shop.git", "http"),
        ("ssh://git@github.com/zhang/shop.git", "ssh"),
        ("ssh://git@git.example.com:2222/~/shop.git", "ssh"),
        ("git@github.com:zhang/shop.git", "ssh"),
        ("gitee.com:zhang/shop.git", "ssh"),
        ("git@host:/srv/shop.git", "ssh"),
        ("git@host:~zhang/shop.git", "ssh"),
        ("file:a", "ssh"),  # a host of that name, as git reads it
    ],
)
def test_https_ssh_and_a_loopback_literal_are_pushed_to(text: str, scheme: str) -> None:
    url = read_url(text)
    assert (url.text, url.scheme, url.path) == (text, scheme, "")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/srv/git/shop.git", "/srv/git/shop.git"),
        ("file:///srv/git/shop.git", "/srv/git/shop.git"),
        ("/srv/项目 一/shop.git", "/srv/项目 一/shop.git"),
        ("/srv/a:b", "/srv/a:b"),
    ],
)
def test_an_absolute_path_is_a_local_repository(text: str, path: str) -> None:
    assert read_url(text) == RemoteUrl(text, "file", path)


@each(
    "text, why",
    [
        ("https://zhang:secret@github.com/shop.git", "password"),
        ("https://:secret@github.com/shop.git", "password"),
        ("https://ghp_0123456789abcdefghijklmnopqrstuvwxyz@github.com/a.git", "password"),
        ("https://" + "a" * 40 + "@github.com/a.git", "password"),
        ("ssh://git:secret@github.com/a.git", "password"),
        ("http://github.com/a.git", "plain-http"),
        ("http://localhost/a.git", "plain-http"),
        ("http://127.0.0.1.example.com/a.git", "plain-http"),
        ("git://github.com/a.git", "transport"),
        ("ftp://github.com/a.git", "transport"),
        ("ext::id", "transport"),
        ("fd::3", "transport"),
        ("host::path", "transport"),
        ("HTTPS://github.com/a.git", "transport"),
        ("https:///a.git", "transport"),
        ("https://github.com", "transport"),
        ("https://github.com/a.git?x=1", "transport"),
        ("https://github.com/a.git#x", "transport"),
        ("https://-oProxyCommand=id/a", "transport"),
        ("ssh://-oProxyCommand=id/a", "transport"),
        ("ssh://-x@host/a", "characters"),
        # git unescapes these two whole, and would find another host, or another path.
        ("ssh://evil.example%2Fme@github.com/a.git", "characters"),
        ("ssh://git@github.com/%2e%2e/a.git", "characters"),
        ("file:///srv/%77s/a.git", "characters"),
        ("https://evil.example%2Fme@github.com/a.git", "transport"),
        ("-oProxyCommand=id:a", "transport"),
        ("git@-host:a", "transport"),
        ("host:-path", "transport"),
        ("file://host/a", "transport"),
        ("../shop.git", "relative"),
        ("shop.git", "relative"),
        ("-shop", "relative"),
        ("//host/share", "relative"),
        ("", "characters"),
        ("https://github.com/a b", "characters"),
        ("https://github.com/a\nb", "characters"),
        ('https://github.com/"', "characters"),
        ("https://github.com/\\", "characters"),
        ("https://gіthub.com/a.git", "characters"),
        ("/srv/\u202eshop", "characters"),
        ("/" + "a" * 1024, "characters"),
    ],
)
def test_anything_else_is_refused_with_its_reason(text: str, why: str) -> None:
    with pytest.raises(InputError) as caught:
        read_url(text)
    assert (caught.value.code, caught.value.facts) == ("sync.url", {"why": why})


def test_the_longest_rule_wins_and_those_for_pushes_come_first() -> None:
    rules = [
        Rewrite("https://a/", "gh:", push=False),
        Rewrite("https://b/zhang/", "gh:zhang/", push=False),
    ]
    assert rewritten("gh:li/x", rules) == "https://a/li/x"
    assert rewritten("gh:zhang/x", rules) == "https://b/zhang/x"
    rules.append(Rewrite("ssh://c/", "gh:", push=True))
    assert rewritten("gh:zhang/x", rules) == "ssh://c/zhang/x"
    assert rewritten("https://d/x", rules) == "https://d/x"


def test_a_rule_that_names_the_result_whole_is_refused() -> None:
    rules = [Rewrite("https://a/", "gh:", push=False), Rewrite("evil", "https://a/x", push=False)]
    with pytest.raises(InputError) as caught:
        rewritten("gh:x", rules)
    assert (caught.value.code, caught.value.facts) == ("sync.url", {"why": "rewritten"})
    assert rewritten("gh:y", rules) == "https://a/y"
    same = [Rewrite("https://a/x", "https://a/x", push=True)]
    assert rewritten("https://a/x", same) == "https://a/x"
