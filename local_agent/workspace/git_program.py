"""The one call of the ``git`` program: a push from a clean repository of ours (R39, R40).

Everything else goes through libgit2, which starts nothing.  A push is left to git because it alone
speaks every transport with the person's own credentials: the person's and the machine's
configuration is read (credential helper, ssh command, proxy), the workspace's is not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from local_agent.workspace.remote_url import RemoteUrl

_PROGRAMS: Final = ("/usr/bin/git", "/usr/local/bin/git", "/bin/git")
# What helpers, ssh and proxies need; nothing that names a program or a repository (GIT_*).
_PASSED_ON: Final = (
    "DBUS_SESSION_BUS_ADDRESS",
    "LOGNAME",
    "SSH_AUTH_SOCK",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "USER",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    *("http_proxy", "https_proxy", "no_proxy", "all_proxy"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"),
)
_FIXED: Final = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LC_ALL": "C",  # its answers are read
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",  # set, so that no other one is looked for
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
}
# A repository on this machine is received by a second git, which would obey that one's
# configuration: no hook, no program, and no file of a work tree is changed.
_RECEIVE: Final = (
    "{git} -c core.hooksPath=/dev/null -c core.alternateRefsCommand=/bin/true"
    " -c core.fsmonitor=false -c receive.denyCurrentBranch=refuse -c receive.autogc=false"
    " -c gc.auto=0 -c maintenance.auto=false receive-pack"
)


def find_git() -> str | None:
    """Return git from the system's own directories, never by PATH (R40).  Blocking."""
    return next((path for path in _PROGRAMS if os.access(path, os.X_OK)), None)


def push_arguments(git: str, url: RemoteUrl, oid: str, ref: str) -> list[str]:
    """Return the arguments of a push of one commit to one branch, which is never forced."""
    options = "--porcelain --no-verify --no-signed --no-follow-tags --recurse-submodules=no"
    receive = [f"--receive-pack={_RECEIVE.format(git=git)}"] if url.scheme == "file" else []
    return [git, "push", *options.split(), *receive, "--", url.text, f"{oid}:{ref}"]


def push_environment(
    environ: Mapping[str, str], *, home: Path, repository: Path, url: RemoteUrl
) -> dict[str, str]:
    """Return the whole environment of a push.

    Args:
        environ: The agent's own, for what is passed on.
        home: The person's, where git and ssh find their configuration and keys.
        repository: The clean one.
        url: Its transport is the only one allowed.
    """
    passed = {name: environ[name] for name in _PASSED_ON if name in environ}
    return passed | {
        **_FIXED,
        "HOME": str(home),
        "GIT_DIR": str(repository),
        "GIT_ALLOW_PROTOCOL": url.scheme,
    }
