"""Starts the phone inside its sandbox: `python3 -m vm_bridge.simulators.phone.main`. The display must exist."""

import argparse
import asyncio
import os
import socket
from functools import partial
from pathlib import Path

from vm_bridge.simulators.phone import command_client
from vm_bridge.simulators.phone.apps import Apps, read_apps
from vm_bridge.simulators.phone.browser import Browser, BrowserError
from vm_bridge.simulators.phone.command_server import serve_commands
from vm_bridge.simulators.phone.commands import COMMANDS, Android
from vm_bridge.simulators.phone.daemon import Daemon
from vm_bridge.simulators.phone.handset import Handset
from vm_bridge.simulators.phone.keys import read_keys
from vm_bridge.simulators.phone.paths import PORT, STATE_FILE, TRUSTED_KEYS
from vm_bridge.simulators.phone.screen import Screen
from vm_bridge.simulators.phone.services import find_service
from vm_bridge.simulators.phone.shell import Shell

BANNER = b"device::ro.product.name=pilothouse;ro.product.model=Simulated;ro.product.device=pilothouse;features=shell_v2"
PROPERTIES = {
    "ro.product.model": "Simulated",
    "ro.product.manufacturer": "Pilothouse",
    "ro.build.version.release": "14",
    "ro.build.version.sdk": "34",
    "sys.boot_completed": "",
}
DISABLED_FEATURES = (
    "PreloadTopChromeWebUI",
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "SpareRendererForSitePerProcess",
)
"""Features of the browser's own window, which nobody sees; together they cost 60 MB."""
BROWSER = (
    *("/usr/bin/chromium", "--kiosk", "--no-first-run", "--no-default-browser-check", "--password-store=basic"),
    *("--disable-gpu", "--in-process-gpu", "--disable-breakpad", "--force-device-scale-factor=1"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"),
    *("--disable-default-apps", "--disable-translate", "--no-pings", "--no-proxy-server"),
    *("--disable-pinch", "--overscroll-history-navigation=0", "--touch-events=enabled"),
    *(f"--disable-features={','.join(DISABLED_FEATURES)}", "--enable-features=NetworkServiceInProcess2"),
)


async def run_phone(folder: Path, width: int, height: int) -> None:
    """Until the browser ends. Raises BrowserError."""
    apps = read_apps(folder)
    runtime = Path(os.environ["XDG_RUNTIME_DIR"])
    server = await _serve_apps(apps)
    side = max(width, height)  # the window covers the display however the phone lies
    size = ("--window-position=0,0", f"--window-size={side},{side}")
    browser = await Browser.start((*BROWSER, *size, apps.address(apps.launcher.path)))
    android = Android(Handset(apps, browser, Screen(width, height)), dict(PROPERTIES))
    command_server = await serve_commands(runtime / "phone.sock", android.run)
    shell = Shell(_environment(runtime))
    daemon = Daemon(BANNER, partial(read_keys, Path.home() / TRUSTED_KEYS), partial(find_service, shell=shell))
    serving = asyncio.create_task(daemon.serve(_open_listener()))
    await android.handset.switch_on()
    android.properties["sys.boot_completed"] = "1"
    try:
        await browser.ended()
    finally:
        serving.cancel()
        command_server.close()
        server.kill()


async def _serve_apps(apps: Apps) -> asyncio.subprocess.Process:
    """The server of the apps' pages, listening. Raises BrowserError."""
    server = await asyncio.create_subprocess_exec(
        *("/usr/bin/python3", str(apps.server), "--state", str(Path.home() / STATE_FILE)),
        stdout=asyncio.subprocess.PIPE,
    )
    assert server.stdout is not None
    if not await server.stdout.readline():
        raise BrowserError("the apps' server did not start")
    return server


def _environment(runtime: Path) -> dict[str, str]:
    """What a shell of the phone starts with; Android's commands come first in its path."""
    commands = runtime / "bin"
    commands.mkdir(exist_ok=True)
    for name in COMMANDS:
        (commands / name).symlink_to(str(command_client.__file__))
    (commands / "screenrecord").symlink_to(Path(__file__).with_name("screenrecord.py"))
    path = f"{commands}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PHONE_DOOR": str(runtime / "phone.sock")}


def _open_listener() -> socket.socket:
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", PORT))
    listening.listen()
    return listening


def main() -> None:
    """Arguments: the apps' folder and the upright size of the display."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("width", type=int)
    parser.add_argument("height", type=int)
    given = parser.parse_args()
    asyncio.run(run_phone(given.folder, given.width, given.height))


if __name__ == "__main__":
    main()
