"""The program that stands between the agent and every child it starts (R44, R45).

`process` runs it alone in a process with one thread (`START`), so that forking and
setting limits between fork and exec is safe here, as it would not be in the agent.  Each command
waits for it to start: it is imported, so that it is compiled once, and it imports what is cheap
(`ctypes`, `json`, `typing` and the enums of `signal` would each take longer than it does).  What it
sees to:

- limits, umask and default signals are set before the program starts, not after;
- whatever the program leaves behind is adopted (PR_SET_CHILD_SUBREAPER) and killed: no survivors;
- what no limit of one process can hold is watched over all of them together: how many there are,
  their memory, and the room on the disk that they write to.  There is no need of a cgroup, which
  few machines let an ordinary user make; in turn a bound is noticed a moment after it was passed;
- when the agent dies, by whatever signal, the program is ended (PR_SET_PDEATHSIG).

SIGTERM asks everything below to end and kills it after the grace; SIGUSR1 kills at once.
How it went is written as JSON lines to the descriptor named in the order: ``{"errno"}`` when the
program could not be started, and at the end ``{"status", "swept", "left", "exceeded"}``, and
``"started"`` for a sandbox.
"""

from __future__ import annotations

import fcntl
import marshal
import os
import resource
import stat
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import Any, Final, NoReturn
else:
    import _signal as signal  # the same functions, and plain numbers
if sys.platform == "linux":
    import _ctypes  # what `ctypes` itself is made from; that takes longer than all of this module

# Run as ``python -I -S -c START FOLDER ORDER PROGRAM ARGUMENT…``.  The folder comes last in the
# path: nothing beside this file stands in for a module of Python's own.  At the end, all is told.
START: Final = (
    "import sys; sys.path.append(sys.argv[1]); "
    "import os, warden; warden.main(sys.argv[2], sys.argv[3:]); os._exit(0)"
)
_SET_PDEATHSIG: Final = 1  # linux/prctl.h
_SET_CHILD_SUBREAPER: Final = 36
_KEYCTL: Final = {"x86_64": 250, "aarch64": 219}  # the system call's number, asm/unistd.h
_JOIN_SESSION_KEYRING: Final = 1  # linux/keyctl.h
_NEWNS: Final = 0x20000  # linux/sched.h
_RDONLY, _NOSUID, _REMOUNT, _BIND, _REC, _SLAVE = 1, 2, 32, 4096, 16384, 1 << 19  # sys/mount.h
_DEVICES: Final = ("null", "zero", "full", "random", "urandom", "tty")  # that bubblewrap shows
_ROUNDS: Final = 200  # of killing what keeps forking, before it is reported as left
_IDLE_ROUNDS: Final = 20  # of these in a row found nothing that could be killed
_IDLE_S: Final = 0.005
_WATCHED: Final = frozenset({signal.SIGCHLD, signal.SIGTERM, signal.SIGALRM, signal.SIGUSR1})
_ASIDE: Final = 5  # descriptors of our own, above those that a sandbox is given by number
_THREADS_EACH: Final = 4  # on average, of as many processes as there may be
_SHARE: Final = 20  # watching takes at most this part of one processor
_QUICKEST_S, _SLOWEST_S = 0.05, 0.5  # between two looks
_ROOM_KEPT: Final = 1024**3  # bytes of the disk, or half of what was free at the start
_MEMORY_KEPT: Final = 20  # this part of the machine's memory, or half of what was free
_FILES_KEPT: Final = 10_000  # that can still be made, or half of what could be
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


class _Process:  # no dataclass and no named tuple: importing those takes as long as all the rest
    """What ``/proc/<pid>/stat`` tells; sizes in bytes."""

    def __init__(
        self, state: bytes, parent: int, group: int, *, threads: int, resident: int
    ) -> None:
        self.state = state
        self.parent = parent
        self.group = group
        self.threads = threads
        self.resident = resident


class _Room:
    """What the machine has left: bytes of disk, new files, bytes of memory; its threads in all."""

    def __init__(self, *, disk: int, files: int, memory: int, threads: int) -> None:
        self.disk = disk
        self.files = files
        self.memory = memory
        self.threads = threads


def encode_order(order: dict[str, Any]) -> str:
    """Return an order as the argument that `main` is given."""
    return marshal.dumps(order).hex()


def main(encoded: str, argv: list[str]) -> None:
    """Start the program, watch it to its end, leave nothing behind, report, and let go."""
    order = marshal.loads(bytes.fromhex(encoded))  # noqa: S302 - the agent alone starts this
    order |= {name: _aside(order[name]) for name in ("report", "held") if order[name] is not None}
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    _prctl(_SET_PDEATHSIG, signal.SIGTERM)
    _prctl(_SET_CHILD_SUBREAPER, 1)
    if os.getppid() != order["parent"]:
        return  # the agent died before its death could be told to us
    told, telling = map(_aside, os.pipe())
    child = os.fork()
    if child == 0:
        _become(order, argv, telling)
    os.close(telling)
    status, exceeded = _watch(child, order)
    if status is None:
        # At once and without a look: a sandbox takes down all that is in it.
        for target in (child, -child):
            _kill(target, signal.SIGKILL)
    swept, left = _sweep(child, settle_s=_IDLE_S if order["sandbox"] else 0)
    line = {"status": status, "swept": swept, "left": left, "exceeded": exceeded}
    _report(order, line | _how_it_began(order, told, status))


def _become(order: dict[str, Any], argv: list[str], telling: int) -> NoReturn:
    try:
        _prctl(_SET_PDEATHSIG, signal.SIGKILL)  # for a program that kills its warden
        if order["sandbox"]:
            _leave_keyring()
            _equip(order["sandbox"], telling)
        os.setpgid(0, 0)
        os.umask(order["umask"])
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)  # Python ignores them; ignoring is inherited
        for name, wanted in order["limits"].items():
            kind = getattr(resource, name)
            hard = resource.getrlimit(kind)[1]
            value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(kind, (value, value))
        if order["together"]:
            _be_first_to_go()
            _limit_threads(order["together"])
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.execve(argv[0], argv, _environment())  # noqa: S606  # argv only, no shell
    except OSError as error:
        _report(order, {"errno": error.errno})
    os._exit(127)


def _equip(sandbox: dict[str, Any], telling: int) -> None:
    """Give bubblewrap the filter to read and the pipe to tell by, at the numbers of its options."""
    source, sink = map(_aside, os.pipe())
    os.write(sink, sandbox["seccomp"])  # far below the 64 KiB that a pipe holds
    os.close(sink)
    os.dup2(source, sandbox["seccomp_fd"])
    os.dup2(telling, sandbox["status_fd"])
    if os.geteuid() == 0:
        _keep_devices()


def _keep_devices() -> None:
    """Let what runs as root change no device of the machine, as chmod(2) would for everybody.

    A sandbox shows the machine's own null device and its like, and hands one of them on as standard
    input, where that is no pipe.  Mounted read-only, data flows and their owner and mode stay.
    """
    _must("unshare", _NEWNS)
    _must("mount", b"none", b"/", None, _SLAVE | _REC, None)  # nothing of it goes out
    for name in _DEVICES:
        device = f"/dev/{name}".encode()
        _must("mount", device, device, None, _BIND, None)
        _must("mount", None, device, None, _BIND | _REMOUNT | _RDONLY | _NOSUID, None)
    if stat.S_ISCHR(os.fstat(0).st_mode):
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


def _be_first_to_go() -> None:
    """Let the kernel end this and what it starts, and nobody else, when there is no memory left."""
    if sys.platform == "linux":
        try:
            with open("/proc/self/oom_score_adj", "wb", buffering=0) as file:  # noqa: PTH123 - as below
                file.write(b"1000")
        except OSError:
            return


def _limit_threads(together: dict[str, int]) -> None:
    """Let the kernel refuse too many before a look can find them; it never refuses root."""
    if "processes" in together and sys.platform == "linux" and os.getuid() != 0:
        # The limit counts all that the user has anywhere: at most what the whole machine has now.
        hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
        value = _all_threads() + together["processes"] * _THREADS_EACH
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(resource.RLIMIT_NPROC, (value, value))


def _how_it_began(order: dict[str, Any], told: int, status: int | None) -> dict[str, bool]:
    """Return whether the inside of a sandbox began, which bubblewrap tells with its exit code."""
    if not order["sandbox"]:
        return {}
    os.set_blocking(told, False)  # a survivor may hold the other end
    try:
        said = os.read(told, 65_536)
    except BlockingIOError:
        said = b""
    killed = status is None or os.WIFSIGNALED(status)
    return {"started": killed or b'"exit-code"' in said}


def _environment() -> dict[bytes, bytes]:
    # As it was given: Python itself may have changed LC_CTYPE since (PEP 538).
    if sys.platform != "linux":
        return dict(os.environb)
    given = _read("/proc/self/environ").split(b"\0")
    return dict(entry.split(b"=", 1) for entry in given if entry)


def _watch(child: int, order: dict[str, Any]) -> tuple[int | None, str | None]:
    """Return the wait status of the program, None when it is to be swept away, and why it is."""
    together, pause = order["together"], _QUICKEST_S
    before = _room()
    if together:
        _be_heard()
    while True:
        got = _next_signal(pause if together else None)
        if got is None:
            began = time.process_time()
            if exceeded := _excess(together, before):
                return None, exceeded
            pause = min(max((time.process_time() - began) * _SHARE, _QUICKEST_S), _SLOWEST_S)
        elif got == signal.SIGCHLD:
            status = _reap(child)
            if status is not None:
                return status, None
        elif got == signal.SIGTERM:
            # A sandbox's outer process would take its inside down with it: spare it the signal.
            spared = {child} if order["sandbox"] else set()
            for pid in _look(child)[0] - spared:
                _kill(pid, signal.SIGTERM)
            signal.setitimer(signal.ITIMER_REAL, max(order["grace"], 0.001))
        else:
            return None, None


def _next_signal(pause: float | None) -> int | None:
    """Return the next signal, or None when the pause was over before."""
    if sys.platform != "linux" or pause is None:
        return signal.sigwait(_WATCHED)
    got = signal.sigtimedwait(_WATCHED, pause)
    return got.si_signo if got else None


def _be_heard() -> None:
    """Go before thousands of busy processes, where we may; the program was forked before."""
    if sys.platform == "linux":
        try:
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        except OSError:
            return


def _excess(together: dict[str, int], before: _Room) -> str | None:
    """Return of what they have taken more than they may, together."""
    now = _room()
    most = together.get("processes", sys.maxsize)
    if now.threads - before.threads > most * _THREADS_EACH // 2:
        return "processes"  # looking at each would take longer than they need to double
    below = _below(_processes())
    threads = sum(process.threads for process in below.values())
    if len(below) > most or threads > most * _THREADS_EACH:
        return "processes"
    if (limit := together.get("memory")) is not None:
        whole = os.sysconf("SC_PHYS_PAGES") * _PAGE
        short = now.memory < min(whole // _MEMORY_KEPT, before.memory // 2)
        if short or _hold_more_than(limit, below):
            return "memory"
    if (limit := together.get("disk")) is not None:
        full = now.disk < min(_ROOM_KEPT, before.disk // 2)
        crowded = now.files < min(_FILES_KEPT, before.files // 2)
        if full or crowded or before.disk - now.disk > limit:
            return "disk"
    return None


def _hold_more_than(limit: int, below: dict[int, _Process]) -> bool:
    if sum(process.resident for process in below.values()) <= limit:
        return False
    # What they share, as after a fork, was counted once for each: look closer.
    return sum(_own_memory(pid, process) for pid, process in below.items()) > limit


def _own_memory(pid: int, process: _Process) -> int:
    """Return a process's memory, of what it shares its part, swapped out or not."""
    try:
        lines = _read(f"/proc/{pid}/smaps_rollup").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0  # it ended, and holds nothing any more
    except OSError:
        return process.resident  # it does not let itself be looked at
    sizes = (line.split() for line in lines if line.startswith((b"Pss:", b"SwapPss:")))
    return sum(int(size) * 1024 for _, size, _ in sizes)


def _room() -> _Room:
    disk = os.statvfs(".")  # where the program starts, as we did
    files = disk.f_favail if disk.f_files else sys.maxsize  # some file systems have no such bound
    free = disk.f_bavail * disk.f_frsize
    return _Room(disk=free, files=files, memory=_free_memory(), threads=_all_threads())


def _all_threads() -> int:
    if sys.platform != "linux":
        return 0
    return int(_read("/proc/loadavg").split()[3].partition(b"/")[2])


def _free_memory() -> int:
    if sys.platform != "linux":
        return 0
    for line in _read("/proc/meminfo").splitlines():
        if line.startswith(b"MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def _reap(child: int) -> int | None:
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        if pid == child:
            found = status


def _sweep(child: int, *, settle_s: float) -> tuple[int, int]:
    """Kill all that is still below us; return how many there were and how many are left.

    A look at /proc misses whoever forks and exits in the meantime, and takes as long as starting
    a program: that nothing is left is told by the kernel alone, which gives every orphan to us.
    """
    if _is_over(settle_s):
        return 0, 0
    killed: set[int] = set()
    idle = 0
    for _ in range(_ROUNDS):
        below, groups = _look(child)
        mine = {pid for pid in below if _kill(pid, signal.SIGKILL)}
        # A whole group at once: no fork in it gets away, however fast.
        for group in groups:
            _kill(-group, signal.SIGKILL)
        for pid in mine:
            try:
                os.waitpid(pid, 0)  # only direct children; the others come to us as they orphan
            except ChildProcessError:
                continue
        killed |= mine
        if _is_alone() and not below:
            return len(killed), 0
        idle = 0 if mine else idle + 1
        if idle >= _IDLE_ROUNDS:
            break
        if idle:
            time.sleep(_IDLE_S)
    left = len(_look(child)[0])
    return len(killed), left or int(not _is_alone())


def _is_over(settle_s: float) -> bool:
    """Tell whether nothing is left, which needs no look; a sandbox's inside ends a moment later."""
    if sys.platform != "linux":
        return False
    if settle_s and not _is_alone():
        signal.sigtimedwait({signal.SIGCHLD}, settle_s)
    return _is_alone()


def _is_alone() -> bool:
    """Reap who has ended, and tell whether we have no child left at all."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return False
        except ChildProcessError:
            return True


def _look(child: int) -> tuple[set[int], set[int]]:
    """Return who is alive below us, and the groups of all who are or were until just now."""
    if sys.platform != "linux":
        return _leader_alone(child), set()  # without /proc the program itself is all there is
    found = _below(_processes())
    groups = {process.group for process in found.values()} - {os.getpgrp(), 0}
    return {pid for pid, process in found.items() if process.state != b"Z"}, groups


def _processes() -> dict[int, _Process]:
    """Return all that /proc shows, by process id."""
    seen: dict[int, _Process] = {}
    if sys.platform != "linux":
        return seen
    with os.scandir("/proc") as entries:
        names = [entry.name for entry in entries if entry.name.isdecimal()]
    for name in names:
        try:
            file = os.open(f"/proc/{name}/stat", os.O_RDONLY)
        except OSError:
            continue
        try:
            words = os.read(file, 1024).rpartition(b")")[2].split()
        except OSError:
            continue
        finally:
            os.close(file)
        state, parent, group = words[0], int(words[1]), int(words[2])
        seen[int(name)] = _Process(
            state, parent, group, threads=int(words[17]), resident=int(words[21]) * _PAGE
        )
    return seen


def _below(seen: dict[int, _Process]) -> dict[int, _Process]:
    """Return those that descend from us."""
    children: dict[int, list[int]] = {}
    for pid, process in seen.items():
        children.setdefault(process.parent, []).append(pid)
    found: dict[int, _Process] = {}
    parents = [os.getpid()]
    while parents:
        below = children.pop(parents.pop(), [])
        found |= {pid: seen[pid] for pid in below}
        parents += below
    return found


def _leader_alone(child: int) -> set[int]:
    try:
        os.killpg(child, 0)
    except (ProcessLookupError, PermissionError):
        return set()
    return {-child}  # kill(2): the whole group


def _kill(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _aside(descriptor: int) -> int:
    """Return another number of a descriptor, out of the way and not inherited."""
    aside = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _ASIDE)
    os.close(descriptor)
    return aside


if sys.platform == "linux":

    class _Function(_ctypes.CFuncPtr):
        """A function of the C library, which is loaded already; it takes bytes for strings."""

        _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO

    def _call(name: str, *words: int | bytes | None) -> int:
        itself = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]  # dlopen(3): NULL
        return int(_Function(_ctypes.dlsym(itself, name))(*words))


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        _call("prctl", option, value, 0, 0, 0)


def _leave_keyring() -> None:
    """Let go of the person's session keyring: no namespace keeps a sandbox from its keys."""
    number = _KEYCTL.get(os.uname().machine) if sys.platform == "linux" else None
    if number is not None:
        _call("syscall", number, _JOIN_SESSION_KEYRING, None)


def _must(name: str, *words: int | bytes | None) -> None:
    if _call(name, *words) != 0:
        raise OSError(_ctypes.get_errno(), "refused")


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - pathlib takes long to import
        return file.readall()


def _report(order: dict[str, Any], line: dict[str, Any]) -> None:
    parts = (f'"{name}": {_encode(value)}' for name, value in line.items())
    os.write(order["report"], f"{{{', '.join(parts)}}}\n".encode())


def _encode(value: str | int | None) -> str:
    """Return a number, a truth value or a plain word as JSON."""
    if isinstance(value, str):
        return f'"{value}"'
    return "null" if value is None else str(value).lower()
