"""The system calls that programs in a sandbox may not make: parts of the kernel that no desktop program needs.

All sandboxes share the host's kernel. What may be called there is what a hostile program can attack, so calls with a
history of escapes are refused. The list follows Docker's default profile and Flatpak's, less what browsers need.
"""

import errno
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from tempfile import TemporaryFile

import pyseccomp

DENIED_SYSCALLS = (
    # Asynchronous input and output, programs in the kernel, page faults by hand, counters, keys of the kernel.
    *("io_uring_setup", "io_uring_enter", "io_uring_register", "bpf", "userfaultfd", "perf_event_open"),
    *("add_key", "request_key", "keyctl"),
    # Mounts, and whole file systems.
    *("mount", "umount", "umount2", "pivot_root", "mount_setattr", "move_mount", "open_tree", "fsopen", "fsconfig"),
    *("fsmount", "fspick", "swapon", "swapoff", "quotactl", "quotactl_fd", "name_to_handle_at", "open_by_handle_at"),
    *("fanotify_init", "fanotify_mark", "lookup_dcookie", "nfsservctl"),
    # The machine itself: modules, another kernel, clocks, ports, accounting.
    *("init_module", "finit_module", "create_module", "delete_module", "query_module", "get_kernel_syms"),
    *("kexec_load", "kexec_file_load", "reboot", "acct", "syslog", "iopl", "ioperm", "vm86", "vm86old", "uselib"),
    *("settimeofday", "stime", "clock_settime", "clock_settime64", "clock_adjtime", "clock_adjtime64", "adjtimex"),
    *("vhangup", "setns", "move_pages", "mbind", "migrate_pages", "set_mempolicy", "_sysctl", "sysfs", "ustat"),
)
"""Refused with EPERM, whoever calls them."""
ALLOWED_SOCKET_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
"""Socket families that may be created. All others lead to protocols that are unused here."""
LAST_SOCKET_FAMILY = 45
"""AF_MCTP; higher numbers are refused together."""
NETLINK_ROUTE = 0
CLONE_NEWUSER = 0x1000_0000
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
"""Put characters into the input of a terminal."""
SOL_IP, SOL_IPV6, SO_SET_REPLACE, SO_SET_ADD_COUNTERS = 0, 41, 64, 65
"""Change the firewall of a network of one's own."""


@contextmanager
def open_filter(*, user_namespaces: bool) -> Iterator[int]:
    """A descriptor from which bubblewrap's `--seccomp` reads the filter; give it to the process that is started.

    Args:
        user_namespaces: Whether programs may make user namespaces, as Chromium's own sandbox does. In one of their own
            they have every capability, and reach more of the kernel.
    """
    descriptor = os.memfd_create("seccomp")
    try:
        os.write(descriptor, build_filter(user_namespaces))
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


@lru_cache
def build_filter(user_namespaces: bool) -> bytes:
    """The filter as a program of the kernel's (classic BPF)."""
    refuse = pyseccomp.ERRNO(errno.EPERM)
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    with suppress(ValueError, OSError, RuntimeError):  # other machines have no second architecture
        rules.add_arch(pyseccomp.Arch.X86)
    for name in DENIED_SYSCALLS:
        with suppress(ValueError, OSError, RuntimeError):  # this architecture, or this libseccomp, does not know it
            rules.add_rule(refuse, name)
    for family in sorted(set(range(LAST_SOCKET_FAMILY + 1)) - set(ALLOWED_SOCKET_FAMILIES)):
        rules.add_rule(refuse, "socket", pyseccomp.Arg(0, pyseccomp.EQ, int(family)))
    rules.add_rule(refuse, "socket", pyseccomp.Arg(0, pyseccomp.GT, LAST_SOCKET_FAMILY))
    rules.add_rule(
        refuse,
        "socket",
        pyseccomp.Arg(0, pyseccomp.EQ, int(socket.AF_NETLINK)),
        pyseccomp.Arg(2, pyseccomp.NE, NETLINK_ROUTE),
    )
    for request in (TIOCSTI, TIOCLINUX):
        rules.add_rule(refuse, "ioctl", pyseccomp.Arg(1, pyseccomp.MASKED_EQ, 0xFFFFFFFF, request))
    for level in (SOL_IP, SOL_IPV6):
        for option in (SO_SET_REPLACE, SO_SET_ADD_COUNTERS):
            rules.add_rule(
                refuse, "setsockopt", pyseccomp.Arg(1, pyseccomp.EQ, level), pyseccomp.Arg(2, pyseccomp.EQ, option)
            )
    if not user_namespaces:
        flag = CLONE_NEWUSER
        for name in ("clone", "unshare"):
            rules.add_rule(refuse, name, pyseccomp.Arg(0, pyseccomp.MASKED_EQ, flag, flag))
        # Its flags lie in memory, where no filter looks. Libraries go on with `clone` where there is no such call.
        rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")
    with TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()
