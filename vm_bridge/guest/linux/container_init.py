"""The first process of a container: receives from the host what other sandboxes inherit, and starts the guest: `python
-m vm_bridge.guest.linux.container_init`."""

import ctypes
import json
import os
import resource
import socket
import sys
from pathlib import Path

from vm_bridge.guest.linux import main as guest

START_SOCKET = Path("/run/host/start.sock")
DESCRIPTORS = ("listen", "tunnel", "memory", "errors")
"""The descriptors of the first message, in order."""
MESSAGE = 4096
START_SECONDS = 30.0
PR_SET_DUMPABLE = 4


def main() -> None:
    """Run until the guest ends, and the container with it."""
    # All programs here run as one user. None of them may inspect this process or the guest, which is its copy.
    ctypes.CDLL("libc.so.6").prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    for path, mode in ((Path(os.environ["XDG_RUNTIME_DIR"]), 0o700), (Path("/tmp/.X11-unix"), 0o1777)):  # noqa: S108 - in a sandbox of its own
        path.mkdir(parents=True)
        path.chmod(mode)
    arguments, descriptors = receive_start_message()
    os.dup2(descriptors.pop("errors"), sys.stderr.fileno())
    child = os.fork()
    if child == 0:
        # RLIMIT_NPROC counts a user's processes over all containers and the host; the engine limits those of one
        # container.
        processes = resource.getrlimit(resource.RLIMIT_NPROC)[1]
        options = {**arguments, **descriptors, "processes": processes}
        sys.argv[1:] = [f"--{name}={value}" for name, value in options.items()]
        guest.main()
    for descriptor in descriptors.values():
        os.close(descriptor)
    while os.wait()[0] != child:
        pass  # an orphan


def receive_start_message() -> tuple[dict[str, int], dict[str, int]]:
    """The guest's arguments, and the descriptors."""
    with socket.socket(socket.AF_UNIX) as host:
        host.settimeout(START_SECONDS)
        host.connect(str(START_SOCKET))
        message, descriptors, _, _ = socket.recv_fds(host, MESSAGE, len(DESCRIPTORS))
    return json.loads(message), dict(zip(DESCRIPTORS, descriptors, strict=True))


if __name__ == "__main__":
    main()
