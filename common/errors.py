"""The one tree of errors.

    CodexBridgeError
    ├── ConfigError             settings, keys, files that an admin must put right (exit code 2)
    ├── InputError              what a person typed cannot be understood or is not allowed
    ├── AuthError               a signature, MAC or key did not verify; all look alike outside
    ├── ProtocolError
    │   ├── LocalProtocolError  our own fault: the caller broke the rules of the link
    │   └── RemoteProtocolError the peer's fault
    ├── StateError              an illegal transition; nothing was changed
    ├── StoreError              the store refused or failed; nothing was committed
    └── UnavailableError        a peer or system part is away; trying again later may help

Facts are attributes, so that a sentence for people can be chosen by ``code`` and filled with
them in either language (`common.sentences`).  ``str()`` is for logs and developers.
"""

from __future__ import annotations

from typing import ClassVar


class CodexBridgeError(Exception):
    """Root of the tree.

    Args:
        code: Dotted, stable name of what happened, such as ``config.unknown-setting``.
        facts: Named facts for the sentence shown to people.  Never a secret or a body.
    """

    retryable: ClassVar[bool] = False

    def __init__(self, code: str, **facts: object) -> None:
        super().__init__(code)
        self.code = code
        self.facts = facts

    def __str__(self) -> str:
        """Code and facts on one line, for logs."""
        if not self.facts:
            return self.code
        return f"{self.code} ({', '.join(f'{name}={value}' for name, value in self.facts.items())})"


class ConfigError(CodexBridgeError):
    """The configuration cannot be used as it is; the process must not start."""


class InputError(CodexBridgeError):
    """A person's input was not understood or is outside its bounds."""


class AuthError(CodexBridgeError):
    """Something did not verify.  Never say outside which check failed."""


class ProtocolError(CodexBridgeError):
    """The rules of the link were broken."""


class LocalProtocolError(ProtocolError):
    """Broken by this side: a programming error."""


class RemoteProtocolError(ProtocolError):
    """Broken by the other side: the link must be closed with ``code``."""


class StateError(CodexBridgeError):
    """A transition that the table does not allow."""


class StoreError(CodexBridgeError):
    """The store could not commit; nothing was changed."""


class UnavailableError(CodexBridgeError):
    """Something needed is away for now."""

    retryable: ClassVar[bool] = True
