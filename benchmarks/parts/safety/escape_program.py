"""Runs inside a sandbox and tries to leave it; prints a JSON object: by name of a try, `open: …` or why it failed.

Only the standard library, in one file: its text is what the sandbox's own `python3` is given. Its argument is a JSON
object with what an attacker could know of the host (`escapes.HostFacts`).
"""

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import pty
import resource
import signal
import socket
import struct
import subprocess
import sys
import termios
import urllib.request
from collections.abc import Callable
from typing import Any

SECONDS = 2.0
READ_BYTES = 64
CLONE_NEWUSER, CLONE_NEWNS = 0x10000000, 0x00020000
PTRACE_ATTACH = 16
SO_SET_REPLACE = 64
MAPS = ("uid_map", "gid_map")
HOST_FILES = (
    *(
        "/etc/shadow",
        "/etc/ssh",
        "/root",
        "/sys/kernel",
        "/sys/fs/cgroup",
        "/boot",
        "/lib/modules",
        "/var/log/dpkg.log",
    ),
    *("/etc/passwd-", "/etc/sudoers", "/home/user/../../root/.ssh", "/usr/local/bin", "/proc/1/root/root"),
)
KERNEL_FILES = (
    *("/proc/kcore", "/proc/kmsg", "/proc/kallsyms", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger"),
    *("/proc/sys/kernel/modprobe", "/proc/sys/vm/panic_on_oom", "/proc/sys/fs/binfmt_misc/register"),
    *("/dev/mem", "/dev/kmsg", "/dev/kvm", "/dev/fuse", "/dev/sda", "/dev/vda", "/dev/loop-control", "/dev/net/tun"),
)
READABLE = ("/proc/kallsyms", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/panic_on_oom")
"""May be read, never written. The kernel shows symbols without addresses."""
FOLDERS = ("/", "/usr/bin", "/etc", "/image", "/dev", "/proc", "/run/egress")
CLIMBERS = ("su", "sudo", "pkexec", "newuidmap", "newgidmap", "mount", "fusermount3", "chfn", "passwd", "ssh-agent")
ADDRESSES = ("169.254.169.254:80", "10.0.0.1:80", "192.168.0.1:80", "172.17.0.1:2375", "1.1.1.1:443", "[::1]:22")
NETLINK, PACKET, VSOCK, ALGORITHMS, XDP, KEYS = 16, 17, 40, 38, 44, 15
SOCKETS = {
    "netlink of the firewall": (NETLINK, 3, 12),
    "netlink of IPsec": (NETLINK, 3, 6),
    "netlink of audits": (NETLINK, 3, 9),
    "packets": (PACKET, 3, 0),
    "raw internet": (2, 3, 1),
    "virtual machines": (VSOCK, 1, 0),
    "algorithms": (ALGORITHMS, 5, 0),
    "express data path": (XDP, 3, 0),
    "IPsec keys": (KEYS, 3, 2),
    "a family of tomorrow": (46, 1, 0),
}

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
Facts = dict[str, Any]
found: dict[str, str] = {}


def attempt(name: str, work: Callable[..., object], *arguments: Any) -> None:
    """Note what comes of one try: it is open where `work` returns something true."""
    try:
        said = work(*arguments)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        number = getattr(error, "errno", None)
        found[name] = errno.errorcode.get(number or 0) or type(error).__name__
    else:
        found[name] = f"open: {said!r}"[:200] if said else "nothing there"


def done(work: Callable[..., object], *arguments: Any) -> bool:
    """Whether it raised nothing."""
    work(*arguments)
    return True


def called(result: int) -> bool:
    """Whether a call of the C library was done. Raises OSError where it was not."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return True


def read(path: str) -> bytes:
    """The first bytes of a file, or the names in a folder."""
    if os.path.isdir(path):
        return " ".join(os.listdir(path)).encode()
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return os.read(descriptor, READ_BYTES)
    finally:
        os.close(descriptor)


def write(path: str) -> bool:
    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
    return True


def connect(family: int, address: Any) -> bool:
    with socket.socket(family) as link:
        link.settimeout(SECONDS)
        link.connect(address)
    return True


def dial(text: str) -> bool:
    host, _, port = text.rpartition(":")
    with socket.create_connection((host.strip("[]"), int(port)), SECONDS):
        return True


def fetch(url: str) -> bytes:
    """By the proxy that the sandbox has, if it has one."""
    with urllib.request.urlopen(url, timeout=SECONDS) as answer:
        return bytes(answer.read(READ_BYTES))


def try_files(facts: Facts) -> None:
    for path in HOST_FILES:
        attempt(f"read {path}", read, path)
    for path in facts["files"]:
        for below in ("", "/proc/1/root", "/proc/1/cwd"):
            attempt(f"read {below}{path}", read, f"{below}{path}")
    for path in KERNEL_FILES:
        if path not in READABLE:
            attempt(f"read {path}", read, path)
        attempt(f"write {path}", write, path)
    for folder in FOLDERS:
        attempt(f"write into {folder}", done, os.mkdir, f"{folder}/x")
    attempt("addresses of the kernel", kernel_addresses)


def kernel_addresses() -> str:
    with open("/proc/kallsyms") as symbols:
        return next((line for line in symbols if int(line.split()[0], 16)), "")


def try_network(facts: Facts) -> None:
    for port in facts["ports"]:
        for host in ("127.0.0.1", "[::1]"):
            attempt(f"connect to {host}:{port}", dial, f"{host}:{port}")
        attempt(f"fetch from port {port}", fetch, f"http://127.0.0.1:{port}/")
    for text in (*ADDRESSES, *facts["addresses"]):
        attempt(f"connect to {text}", dial, text)
    for host in ("169.254.169.254", "example.com", "metadata.google.internal"):
        attempt(f"fetch {host}", fetch, f"http://{host}/")
    attempt("a name of the Internet", socket.getaddrinfo, "example.com", 80)
    attempt("a datagram to the Internet", datagram, ("1.1.1.1", 53))
    for path in facts["sockets"]:
        attempt(f"connect to {path}", connect, socket.AF_UNIX, path.replace("@", "\0"))
    for name, made in SOCKETS.items():
        attempt(f"socket: {name}", open_socket, *made)
    with open("/proc/net/dev") as told:
        interfaces = [line.split(":")[0].strip() for line in told if ":" in line]
    attempt("an interface beside the loopback", sorted, set(interfaces) - {"lo"})


def open_socket(family: int, kind: int, protocol: int) -> bool:
    socket.socket(family, kind, protocol).close()
    return True


def datagram(address: tuple[str, int]) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        return link.sendto(b"x", address) > 0


def try_processes(facts: Facts) -> None:
    for pid in facts["pids"]:
        attempt(f"signal {pid}", done, os.kill, pid, 0)
    attempt("processes of the host", lambda: len([name for name in os.listdir("/proc") if name.isdecimal()]) > 200)
    for guest in guests():
        for name in ("mem", "environ", "maps"):
            attempt(f"read {name} of the guest", read, f"/proc/{guest}/{name}")
        for name in ("root", "cwd", "exe", "fd/3"):
            attempt(f"follow {name} of the guest", os.readlink, f"/proc/{guest}/{name}")
        attempt("trace the guest", lambda pid: called(libc.ptrace(PTRACE_ATTACH, pid, 0, 0)), guest)
        attempt("write into the guest", write, f"/proc/{guest}/mem")
    attempt("lock any memory", lambda: resource.getrlimit(resource.RLIMIT_MEMLOCK)[1] == resource.RLIM_INFINITY)
    attempt("be root", done, os.setuid, 0)
    attempt("leave the groups", done, os.setgroups, [0])
    attempt("rights", rights)
    attempt("gain rights by a program", lambda: status("NoNewPrivs") != "1")
    attempt("no filter of system calls", lambda: status("Seccomp") != "2")
    attempt("more urgent than others", done, os.setpriority, os.PRIO_PROCESS, 0, -5)
    attempt("real time", done, os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1))
    for name in CLIMBERS:
        attempt(f"rights by {name}", climb, name)


def guests() -> list[int]:
    """The guest's processes; the first process, bubblewrap's, has their words on its command line too."""
    seen = []
    for name in os.listdir("/proc"):
        if name.isdecimal() and name != "1":
            with contextlib.suppress(OSError), open(f"/proc/{name}/cmdline", "rb") as line:
                if b"vm_bridge.guest.linux.main" in line.read().split(b"\0"):
                    seen.append(int(name))
    return seen


def rights() -> str:
    return "".join(text for name in ("CapEff", "CapPrm", "CapAmb", "CapInh") if (text := status(name)).strip("0"))


def status(field: str) -> str:
    with open("/proc/self/status") as lines:
        return next((line.split()[1] for line in lines if line.startswith(f"{field}:")), "")


def climb(program: str) -> str:
    """What a program with a set-uid bit says it is."""
    ran = subprocess.run(
        ["/usr/bin/env", program, "-c", "id"], capture_output=True, text=True, timeout=SECONDS,
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    return ran.stdout if "uid=0" in ran.stdout else ""


def try_kernel(facts: Facts) -> None:
    for name, number in facts["syscalls"].items():
        attempt(f"system call {name}", refused_call, number)
    attempt("a firewall of one's own", replace_firewall)
    attempt("typing into a terminal", type_into_terminal)
    for name in ("setgroups", *MAPS):
        attempt(f"write /proc/self/{name}", write_map, name)
    if not facts["user_namespaces"]:
        attempt("a user namespace", in_child, lambda: called(libc.unshare(CLONE_NEWUSER)))
    for name in ("net", "pid", "mnt", "ipc", "uts", "user", "cgroup"):
        attempt(f"enter {name} of the first process", enter, name)
    attempt("mount in a namespace of one's own", in_child, mount_in_namespace)
    attempt("a control group's program", in_child, release_agent)
    attempt("a device", done, os.mknod, "/tmp/device", 0o600 | 0o020000, os.makedev(1, 1))  # noqa: S108
    attempt("another root", done, os.chroot, "/tmp")  # noqa: S108


def refused_call(number: int) -> bool:
    """Whether the kernel looked at a call. Its arguments make no sense, so that one that is let through does no harm;
    what a filter refuses says EPERM, what is not there ENOSYS."""
    ctypes.set_errno(0)
    if libc.syscall(number, 0, 0, 0, 0, 0, 0) >= 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.EPERM, errno.ENOSYS):
        raise OSError(code, os.strerror(code))
    return True


def replace_firewall() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as link:
        link.setsockopt(socket.IPPROTO_IP, SO_SET_REPLACE, b"x" * 96)
    return True


def type_into_terminal() -> bool:
    master, slave = pty.openpty()
    try:
        fcntl.ioctl(slave, termios.TIOCSTI, b"x")
        return True
    finally:
        os.close(master)
        os.close(slave)


def write_map(name: str) -> bool:
    with open(f"/proc/self/{name}", "w") as file:
        file.write("0 0 1" if name in MAPS else "allow")
    return True


def enter(name: str) -> bool:
    with open(f"/proc/1/ns/{name}") as namespace:
        return called(libc.setns(namespace.fileno(), 0))


def mount_in_namespace() -> bool:
    called(libc.unshare(CLONE_NEWUSER | CLONE_NEWNS))
    return called(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None))


def release_agent() -> bool:
    called(libc.unshare(CLONE_NEWUSER | CLONE_NEWNS))
    return called(libc.mount(b"cgroup", b"/tmp", b"cgroup", 0, b"memory"))


def in_child(work: Callable[[], bool]) -> bool:
    """Do it in a process of its own, which it may spoil. Raises OSError as it did there."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        number = 0
        try:
            work()
        except OSError as error:
            number = error.errno or errno.EIO
        finally:
            os.write(writes, struct.pack("i", number))
            os._exit(0)
    os.close(writes)
    told = os.read(reads, 4)
    os.close(reads)
    os.waitpid(child, 0)
    (code,) = struct.unpack("i", told) if told else (errno.EIO,)
    if code:
        raise OSError(code, os.strerror(code))
    return True


def main() -> None:
    signal.alarm(90)
    facts = json.loads(sys.argv[1])
    for tries in (try_files, try_network, try_processes, try_kernel):
        tries(facts)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
