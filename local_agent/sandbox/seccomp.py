"""The system calls that no sandboxed command can make (R47), as the BPF that the kernel runs.

Namespaces hide what there is; this closes ways to what they share, which is the kernel itself:
tracing, keyrings, other namespaces, mounts, io_uring (which goes past any such filter), families of
sockets that tests and builds do not use.  An ordinary program is told what a kernel without the
feature would say, so that it goes another way.

No file gets the bits that lend its owner's rights to whoever runs it: other accounts of this
machine, which are outside of the sandbox, could run what a command leaves in the workspace.

Sockets with a name in the file system or in the abstract name space (``AF_UNIX``) are refused only
where the network is shared, and the abstract names of this machine with it.  Without network they
are the command's own, and Python's ``forkserver``, databases under test and many build tools need
them.  A connected pair (``socketpair``) is possible in both, as long as it cannot be turned to
somebody else later: of datagram sockets that cannot be said.  Pure.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

_EPERM: Final = 1
_ENOSYS: Final = 38
_EAFNOSUPPORT: Final = 97

_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16  # sys/socket.h
_NETLINK_ROUTE: Final = 0  # what addresses there are: getifaddrs(3)
_STREAM, _SEQPACKET = 1, 5
_TYPE_MASK: Final = 0xF  # the rest are SOCK_CLOEXEC and SOCK_NONBLOCK
_NEW_NAMESPACES: Final = 0x7E02_0000  # CLONE_NEWNS, -CGROUP, -UTS, -IPC, -USER, -PID, -NET
_TYPING: Final = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX: put keys into a terminal
_X32: Final = 0x4000_0000  # the second table of system calls on x86-64
_LENDING: Final = 0o6000  # S_ISUID and S_ISGID
_CREATING: Final = 0x40_0040  # O_CREAT and __O_TMPFILE: without them, a mode is left unread


@dataclass(frozen=True, slots=True)
class _Machine:
    """What the kernel calls an architecture, and its numbers of the calls that are looked into."""

    audit: int  # linux/audit.h
    socket: int
    socketpair: int
    clone: int
    ioctl: int


_MACHINES: Final = {
    "x86_64": _Machine(0xC000_003E, socket=41, socketpair=53, clone=56, ioctl=16),
    "aarch64": _Machine(0xC000_00B7, socket=198, socketpair=199, clone=220, ioctl=29),
}

# By the same order as `_MACHINES`; None where the architecture has no such call.
REFUSED: Final[dict[str, tuple[int | None, int | None]]] = {
    # into other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "perf_event_open": (298, 241),
    # keys of the person
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # other namespaces and file systems
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    # the kernel and the machine
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "syslog": (103, 116),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "vhangup": (153, 58),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
}
# What gives a file its mode, and the place of the mode among its arguments.
MODES: Final[dict[str, tuple[int | None, int | None, int]]] = {
    "chmod": (90, None, 1),
    "fchmod": (91, 52, 1),
    "fchmodat": (268, 53, 2),
    "fchmodat2": (452, 452, 2),
    "mkdir": (83, None, 1),
    "mkdirat": (258, 34, 2),
    "mknod": (133, None, 1),
    "mknodat": (259, 33, 2),
    "creat": (85, None, 1),
}
# The same for calls that may make a file; their flags stand before the mode.
OPENING: Final[dict[str, tuple[int | None, int | None, int]]] = {
    "open": (2, None, 2),
    "openat": (257, 56, 3),
}
# As if the kernel were older: every C library and runtime has another way.  What clone3 and openat2
# are asked for lies in memory, where a filter cannot look.
ABSENT: Final[dict[str, tuple[int, int]]] = {
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "clone3": (435, 435),
    "openat2": (437, 437),
}

# linux/filter.h and linux/seccomp.h
_LOAD, _AND, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERROR, _KILL = 0x7FFF_0000, 0x0005_0000, 0x8000_0000
_NUMBER, _AUDIT, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_RETURNS: Final = {
    "allow": _ALLOW,
    "refuse": _ERROR | _EPERM,
    "absent": _ERROR | _ENOSYS,
    "family": _ERROR | _EAFNOSUPPORT,
    "kill": _KILL,
}


@dataclass(frozen=True, slots=True)
class _Step:
    """One instruction; a jump names the labels it goes to, and falls through without one."""

    code: int
    k: int
    yes: str | None = None
    no: str | None = None


def supports(machine: str) -> bool:
    """Tell whether there is a filter for this architecture (`os.uname`)."""
    return machine in _MACHINES


def build_filter(machine: str, *, network: bool) -> bytes:
    """Return the filter as ``struct sock_filter[]``, for ``bwrap --seccomp``.

    Args:
        machine: As `os.uname` names the architecture; one that is supported.
        network: Whether the command shares the network of this machine, or could reach a socket of
            others by its name.
    """
    blocks: dict[str, list[_Step]] = {
        "start": _start(machine),
        **_modes(),
        "socket": _sockets(network=network),
        "netlink": [*_argument(2), _Step(_EQUAL, _NETLINK_ROUTE, yes="allow", no="family")],
        "socketpair": [
            *_argument(0),
            _Step(_EQUAL, _UNIX, yes="pair-type" if network else "allow", no="family"),
        ],
        "pair-type": [
            *_argument(1),
            _Step(_AND, _TYPE_MASK),
            _Step(_EQUAL, _STREAM, yes="allow"),
            _Step(_EQUAL, _SEQPACKET, yes="allow", no="family"),
        ],
        "clone": [*_argument(0), _Step(_ANY_BIT, _NEW_NAMESPACES, yes="refuse", no="allow")],
        "ioctl": [
            *_argument(1),
            *(_Step(_EQUAL, request, yes="refuse") for request in _TYPING),
            _Step(_RETURN, _ALLOW),
        ],
        **{name: [_Step(_RETURN, value)] for name, value in _RETURNS.items()},
    }
    return _assemble(blocks)


def _start(machine: str) -> list[_Step]:
    """Return what tells one call from another, by its number."""
    known = _MACHINES[machine]
    column = list(_MACHINES).index(machine)
    return [
        _Step(_LOAD, _AUDIT),
        # Another table of numbers, such as that of 32-bit programs, would mean other calls.
        _Step(_EQUAL, known.audit, no="kill"),
        _Step(_LOAD, _NUMBER),
        *([_Step(_AT_LEAST, _X32, yes="absent")] if machine == "x86_64" else []),
        _Step(_EQUAL, known.socket, yes="socket"),
        _Step(_EQUAL, known.socketpair, yes="socketpair"),
        _Step(_EQUAL, known.clone, yes="clone"),
        _Step(_EQUAL, known.ioctl, yes="ioctl"),
        *(_Step(_EQUAL, of[column], yes="absent") for of in ABSENT.values()),
        *(_Step(_EQUAL, at, yes="refuse") for of in REFUSED.values() if (at := of[column])),
        *(
            _Step(_EQUAL, at, yes=f"{kind}-{of[2]}")
            for kind, calls in (("mode", MODES), ("opening", OPENING))
            for of in calls.values()
            if (at := of[column])
        ),
        _Step(_RETURN, _ALLOW),
    ]


def _modes() -> dict[str, list[_Step]]:
    """Return what looks at the mode of a file, by its place among the arguments."""
    modes = {
        f"mode-{at}": [*_argument(at), _Step(_ANY_BIT, _LENDING, yes="refuse", no="allow")]
        for at in (1, 2, 3)
    }
    opening = {
        f"opening-{at}": [
            *_argument(at - 1),
            _Step(_ANY_BIT, _CREATING, yes=f"mode-{at}", no="allow"),
        ]
        for _, _, at in OPENING.values()
    }
    return opening | modes


def _sockets(*, network: bool) -> list[_Step]:
    families = (_INET, _INET6) if network else (_INET, _INET6, _UNIX)
    return [
        *_argument(0),
        *(_Step(_EQUAL, family, yes="allow") for family in families),
        _Step(_EQUAL, _NETLINK, yes="netlink", no="family"),
    ]


def _argument(index: int) -> list[_Step]:
    # The lower half alone, which is all that the kernel takes of these (CVE-2019-10063).
    return [_Step(_LOAD, _ARGUMENTS + 8 * index)]


def _assemble(blocks: dict[str, list[_Step]]) -> bytes:
    places: dict[str, int] = {}
    steps: list[_Step] = []
    for name, block in blocks.items():
        places[name] = len(steps)
        steps += block
    program = bytearray()
    for at, step in enumerate(steps):
        jumps = [places[to] - at - 1 if to else 0 for to in (step.yes, step.no)]
        program += struct.pack("<HBBI", step.code, *jumps, step.k)
    return bytes(program)
