"""Bubblewrap around a browser: an unprivileged user in namespaces that sees programs and fonts, and no network."""

import asyncio
import shutil
from pathlib import Path

from vm_bridge.browser.errors import BubblewrapUnavailable
from vm_bridge.isolation.bubblewrap import HOST_FOLDERS
from vm_bridge.isolation.start_errors import explain_start_failure
from vm_bridge.isolation.users import user_free

HOME = "/home/user"
MIB = 1024 * 1024
WRITABLE = {HOME: 512 * MIB, "/tmp": 512 * MIB, "/run": 16 * MIB, "/var": 16 * MIB}
"""All that a sandboxed browser can write, in memory, and its size (bytes)."""
CHECK_SECONDS = 10.0


def sandbox_command(*, gpu: bool = False, seccomp: int | None = None) -> list[str]:
    """The command prefix that runs a command in the sandbox.

    Args:
        gpu: Whether the sandbox sees the graphics cards too.
        seccomp: The descriptor of the sandbox's seccomp filter.
    """
    setpriv: list[str] = []
    if (user := user_free()) is not None:
        setpriv = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--inh-caps=-all"]
    options = ["--unshare-all", "--die-with-parent", "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL"]
    options += ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib64"):
        options += ["--symlink", f"usr/{name}", f"/{name}"]
    options += ["--proc", "/proc", "--dev", "/dev"]
    for path, size in WRITABLE.items():
        options += ["--size", str(size), "--tmpfs", path]
    for host_path in HOST_FOLDERS:
        options += ["--ro-bind-try", host_path, host_path]
    if seccomp is not None:
        options += ["--seccomp", str(seccomp)]
    for device in [*sorted(Path("/dev").glob("nvidia*")), Path("/dev/dri")] if gpu else ():
        options += ["--dev-bind-try", str(device), str(device)]
    return [*setpriv, "bwrap", *options, "--remount-ro", "/", "--chdir", HOME]


async def check_sandbox() -> None:
    """Check that this machine can create the sandbox. Raises BubblewrapUnavailable with instructions."""
    if not shutil.which("bwrap"):
        raise BubblewrapUnavailable("bubblewrap is not installed: install the package bubblewrap")
    process = await asyncio.create_subprocess_exec(
        *(*sandbox_command(), "/usr/bin/true"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            _, stderr = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise BubblewrapUnavailable(f"bubblewrap does not come to its end within {CHECK_SECONDS:.0f} s") from None
    if process.returncode:
        raise BubblewrapUnavailable(
            f"bubblewrap makes no namespaces: {explain_start_failure(stderr.decode(errors='replace'))}"
        )
