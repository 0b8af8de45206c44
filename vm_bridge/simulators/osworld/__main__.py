"""`python -m vm_bridge.simulators.osworld serve FOLDER` is a simulated guest, `… revert HOST:PORT` puts one back."""

import argparse
import signal
import sys
import threading
import urllib.request
from pathlib import Path

from vm_bridge.guest.osworld import LOOPBACK
from vm_bridge.guest.osworld.main import GuestServer
from vm_bridge.simulators.osworld.desktop import Desktop
from vm_bridge.simulators.osworld.packages import ensure_packages
from vm_bridge.simulators.osworld.server import SimulatorApi

REVERT_SECONDS = 120.0
PACKAGES = Path(".data/osworld-packages")


def serve(folder: Path, packages: Path, port: int, size: tuple[int, int], system: str) -> None:
    """Until it is told to end; its address is the first line it writes."""
    desktop = Desktop(folder, ensure_packages(packages), size)
    try:
        desktop.start()
        with GuestServer((LOOPBACK, port), SimulatorApi(desktop, system)) as server:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
            print(f"{LOOPBACK}:{server.server_port}", flush=True)
            server.serve_forever()
    finally:
        desktop.stop()


def revert(address: str) -> None:
    """Returns when the guest is in its first state again."""
    server = ":".join(address.split(":")[:2])  # the ports of programs in it come after the server's
    request = urllib.request.Request(f"http://{server}/simulator/revert", method="POST")
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=REVERT_SECONDS).close()


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m vm_bridge.simulators.osworld", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    serving = commands.add_parser("serve", help="begin a simulated guest")
    serving.add_argument("folder", type=Path, help="where its home folder is made again")
    serving.add_argument(
        "--packages", type=Path, default=Path(".data/osworld-packages"), help="where PyAutoGUI is kept"
    )
    serving.add_argument("--port", type=int, default=0)
    serving.add_argument("--size", default="1280x800")
    serving.add_argument(
        "--system", choices=("Linux", "Windows"), default="Linux", help="the operating system that it reports"
    )
    commands.add_parser("revert", help="put one back").add_argument("address")
    given = parser.parse_args(words)
    if given.command == "revert":
        revert(given.address)
        return
    width, height = map(int, given.size.split("x"))
    serve(given.folder.resolve(), given.packages.resolve(), given.port, (width, height), given.system)


if __name__ == "__main__":
    main(sys.argv[1:])
