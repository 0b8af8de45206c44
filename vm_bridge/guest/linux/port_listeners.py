"""Listens in a sandbox from its start: the host's tunnel, the egress port, and web programs that were not used yet.

The serving process starts with the first connection, so that an idle sandbox does not pay for it.
"""

import json
import select
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from vm_bridge.guest.common.tunnel import EGRESS_PORT, LOOPBACK

SERVICES = Path("/image/tools/services.json")
RESTART_SECONDS = 1.0
"""Delay between two starts of the serving process (seconds)."""


def start_port_listeners(tunnel: int) -> None:
    """Start listening; `tunnel` is a socket that already listens."""
    listeners = [
        socket.socket(fileno=tunnel),
        _listen(EGRESS_PORT),
        *(_listen(each["port"]) for each in read_services()),
    ]
    threading.Thread(target=_run_forwarder, args=(listeners,), daemon=True).start()


def read_services() -> list[dict[str, Any]]:
    """The web programs among the image's tools."""
    return list(json.loads(SERVICES.read_text())) if SERVICES.exists() else []


def _listen(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((LOOPBACK, port))
    listener.listen(64)
    return listener


def _run_forwarder(listeners: list[socket.socket]) -> None:
    descriptors = [listener.fileno() for listener in listeners]
    while True:
        select.select(listeners, [], [])
        subprocess.run(
            (sys.executable, "-s", "-m", "vm_bridge.guest.linux.port_forwarder", *map(str, descriptors)),
            pass_fds=descriptors,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        time.sleep(RESTART_SECONDS)
