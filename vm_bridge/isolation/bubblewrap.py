"""The command line that starts a sandbox: what it sees, what it may do, and who it is."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vm_bridge.guest.common.tunnel import EGRESS_PORT, LOOPBACK

USER_ID = 1000
"""Inside; outside it is an unprivileged user."""
HOME = "/home/user"
RUNTIME_DIR = "/run/user/1000"
HOST_FOLDERS = (
    *("/etc/alternatives", "/etc/fonts", "/etc/X11", "/etc/xdg", "/etc/gtk-2.0", "/etc/gtk-3.0", "/etc/ssl/certs"),
    *("/etc/ld.so.cache", "/etc/mime.types", "/etc/localtime", "/etc/chromium", "/etc/bash.bashrc"),
    *("/var/cache/fontconfig", "/etc/os-release"),
    *("/etc/libreoffice", "/var/lib/libreoffice", "/etc/gimp", "/etc/thunderbird", "/etc/geany"),
)
"""What of the host, beside /usr, a desktop's programs read; nothing in them is secret."""
MIB = 1024 * 1024
WRITABLE = {
    **{HOME: 512 * MIB, "/tmp": 256 * MIB, "/run": 16 * MIB, "/var": 64 * MIB, "/dev/shm": 256 * MIB},
    **{"/app": 256 * MIB, "/workspace": 256 * MIB, "/logs": 16 * MIB, "/tests": 16 * MIB, "/solution": 16 * MIB},
}
"""All that can be written, in memory, and how much (bytes); the second line has the folders of Harbor's tasks."""
ENVIRONMENT = {
    "HOME": HOME,
    "USER": "user",
    "LOGNAME": "user",
    "SHELL": "/bin/bash",
    "PATH": "/usr/bin:/bin:/usr/games",
    "LANG": "C.UTF-8",
    "XDG_RUNTIME_DIR": RUNTIME_DIR,
    "XDG_SESSION_TYPE": "x11",
    "XDG_CURRENT_DESKTOP": "Openbox",
    "XMODIFIERS": "@im=none",
    "GTK_IM_MODULE": "gtk-im-context-simple",
    "GSETTINGS_BACKEND": "keyfile",
    "GTK_OVERLAY_SCROLLING": "0",
    "NO_AT_BRIDGE": "1",
    "DBUS_SESSION_BUS_ADDRESS": "disabled:",
    "PYTHONPATH": "/image/site",
    **{name: f"http://{LOOPBACK}:{EGRESS_PORT}" for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")},
    **{name: f"localhost,{LOOPBACK}" for name in ("no_proxy", "NO_PROXY")},
}
JOIN_GROUPS_SCRIPT = 'for group in $1; do echo $$ > "$group/cgroup.procs" || exit 70; done; shift; "$@"; exit $?'
"""Shell text that joins control groups, runs the command and outlives the host, so that the sandbox can: bubblewrap
ends with the process that started it. The arguments are data, never text."""


@dataclass(frozen=True)
class SandboxConfig:
    """One sandbox as the kernel is told of it."""

    image: Path
    display: Path
    """Folder of the host in which the X server makes its RFB socket."""
    egress: Path
    """Folder of the host that holds the socket through which programs may reach the network, if they may."""
    user: int | None
    """User id outside; None keeps the present, unprivileged one."""
    info: int
    """Descriptor on which the process id of the sandbox's first process is told."""
    groups: tuple[Path, ...] = ()
    """Control groups to join."""
    seccomp: int | None = None
    """Descriptor of the filter of system calls (`vm_bridge.isolation.seccomp`). None in a virtual machine, which has a
    kernel of its own."""
    tools: Path | None = None
    """Folder of the host that is /image/tools."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that the image adds."""


def bubblewrap_command(config: SandboxConfig, arguments: Sequence[str]) -> list[str]:
    """The whole command line; the guest is told `arguments`."""
    return [
        *_join_groups(config.groups),
        *switch_user(config.user),
        *_namespaces(config.info),
        *(() if config.seccomp is None else ("--seccomp", str(config.seccomp))),
        *_file_system(config),
        *_environment(config.environment),
        "/usr/bin/python3",
        *("-s", "-m", "vm_bridge.guest.linux.main", *arguments),
    ]


def _join_groups(groups: tuple[Path, ...]) -> list[str]:
    return ["/bin/sh", "-c", JOIN_GROUPS_SCRIPT, "keep", " ".join(map(str, groups))]


def switch_user(user: int | None) -> list[str]:
    """The words before a command line that make it run as a user of the host; none for the present user."""
    if user is None:
        return []
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--inh-caps=-all"]


def _namespaces(info: int) -> list[str]:
    return [
        *("bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--hostname", "desktop"),
        *("--info-fd", str(info)),
        *("--uid", str(USER_ID), "--gid", str(USER_ID)),
        # The guest reads what its neighbours wait for, and so cannot be traced by them; it hands this on to nobody.
        *("--cap-drop", "ALL", "--cap-add", "CAP_SYS_PTRACE"),
    ]


def system_folders(*more: str) -> list[str]:
    """Options for the system's programs, read-only, with its links, processes and devices; `more` covers parts of
    them."""
    options = ["--ro-bind", "/usr", "/usr", *more]
    for name in ("bin", "sbin", "lib", "lib64"):
        options += ["--symlink", f"usr/{name}", f"/{name}"]
    return [*options, "--proc", "/proc", "--dev", "/dev"]


def _file_system(config: SandboxConfig) -> list[str]:
    options = system_folders("--tmpfs", "/usr/local")
    for path, size in WRITABLE.items():
        options += ["--perms", "1777" if path != HOME else "0700", "--size", str(size), "--tmpfs", path]
    for host_path in HOST_FOLDERS:
        options += ["--ro-bind-try", host_path, host_path]
    for path_in_image in sorted(os.listdir(config.image / "etc")):
        options += ["--ro-bind", str(config.image / "etc" / path_in_image), f"/etc/{path_in_image}"]
    options += [
        "--dir",
        "/var/tmp",
        "--perms",
        "0700",
        "--dir",
        RUNTIME_DIR,
        "--perms",
        "1777",
        "--dir",
        "/tmp/.X11-unix",
    ]
    options += ["--ro-bind", str(config.image), "/image"]
    if config.tools is not None:
        options += ["--ro-bind", str(config.tools), "/image/tools"]
    options += ["--bind", str(config.display), "/run/vnc"]
    options += ["--ro-bind", str(config.egress), "/run/egress"]
    return [*options, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME]


def _environment(added: Mapping[str, str]) -> list[str]:
    variables = {**ENVIRONMENT, **added}
    return ["--clearenv", *(word for name, value in variables.items() for word in ("--setenv", name, value))]
