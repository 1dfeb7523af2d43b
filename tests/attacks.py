"""What a hostile command tries on the machine that runs it; one program for each way out.

Each prints ``tried`` and then ``ESCAPED …`` for whatever worked.  They hurt nobody when nothing
holds them: the bombs stop by themselves, and what is sent goes to listeners of the test.
"""

from __future__ import annotations

from typing import Final

_BEGIN: Final = """
import ctypes, json, mmap, os, socket, sys, time
scene = json.load(open("scene.json"))
print("tried", flush=True)
def attempt(what, act):
    try:
        print("ESCAPED", what, act(), flush=True)
    except OSError as error:
        print("held:", what, error, flush=True)
def connect(family, kind, address):
    with socket.socket(family, kind) as link:
        link.settimeout(2)
        link.connect(address)
        link.send(b"out")
def call(name, *words):
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*words) < 0:
        raise OSError(ctypes.get_errno(), name)
"""

_ATTACKS: Final = {
    "read-keys": """
attempt("key", lambda: open(scene["home"] + "/.ssh/id_ed25519").read())
attempt("journal", lambda: open(scene["state"] + "/journal.db").read())
attempt("listed", lambda: os.listdir(scene["home"] + "/.ssh"))
""",
    "write-outside": """
for place in (scene["home"] + "/.bashrc", scene["outside"], "/usr/bin/ls", "/etc/passwd"):
    try:
        open(place, "a").write("hostile")
    except OSError:
        pass  # or it arrives in a file of the sandbox's own: the test looks at the real one
attempt("hook", lambda: open(".git/hooks/pre-commit", "w").write("hostile"))
attempt("device", lambda: os.chmod("/dev/null", 0o666))
attempt("device by descriptor", lambda: os.fchmod(0, 0o666))
""",
    "tcp": """
attempt("tcp", lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", scene["tcp"])))
""",
    "udp": """
try:
    connect(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", scene["udp"]))
except OSError as error:
    print("held:", error)
else:
    print("sent; the test knows whether it arrived")
""",
    "unix": """
attempt("path", lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, scene["socket"]))
attempt("near", lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, "near.sock"))
""",
    "abstract": """
name = "\\0" + scene["abstract"]
attempt("abstract", lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, name))
""",
    "trace": """
attempt("attached", lambda: call("ptrace", 16, scene["agent"], None, None))
attempt("traced", lambda: call("ptrace", 0, 0, None, None))
attempt("memory", lambda: open(f"/proc/{scene['agent']}/mem", "rb").read(1))
""",
    "environment": """
def environ():
    seen = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            seen += scene["secret"] in open(f"/proc/{pid}/environ").read()
        except OSError:
            pass
    if not seen:
        raise OSError("nowhere")
    return seen
attempt("environment", environ)
""",
    "kernel": """
attempt("core_pattern", lambda: open("/proc/sys/kernel/core_pattern", "a").close())
attempt("namespace", lambda: call("unshare", 0x10000000))
attempt("mount", lambda: call("mount", b"none", b"/tmp", b"tmpfs", 0, None))
keyctl, bpf = (250, 321) if os.uname().machine == "x86_64" else (219, 280)
attempt("keyring", lambda: call("syscall", keyctl, 0, -3, 1))
attempt("bpf", lambda: call("syscall", bpf, 0, None, 0))
attempt("vsock", lambda: socket.socket(40, socket.SOCK_STREAM))
""",
    "outlive": """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for stream in (0, 1, 2):
            os.close(stream)
        sleep = "import time; time.sleep(30)"
        os.execv(sys.executable, [sys.executable, "-c", sleep, scene["mark"]])
    os._exit(0)
os.wait()
""",
    "fork-bomb": """
end = time.monotonic() + 5
for count in range(3000):
    try:
        if os.fork() == 0:
            time.sleep(max(end - time.monotonic(), 0))
            os._exit(0)
    except OSError:
        break
print("ESCAPED with", count + 1, "processes", flush=True)
time.sleep(max(end - time.monotonic(), 0))
""",
    "fill-memory": """
held = []
for _ in range(100):
    held.append(mmap.mmap(-1, 1 << 24))
    held[-1].write(b"x" * (1 << 24))
    time.sleep(0.02)
print("ESCAPED with", len(held) << 24, "bytes", flush=True)
""",
    "fill-disk": """
with open("filling", "wb") as file:
    for _ in range(100):
        file.write(os.urandom(1 << 24))
        file.flush()
        time.sleep(0.02)
print("ESCAPED with", os.path.getsize("filling"), "bytes", flush=True)
""",
}
ATTACKS: Final = {name: _BEGIN + text for name, text in _ATTACKS.items()}
