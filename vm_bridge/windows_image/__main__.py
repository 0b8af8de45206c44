"""Makes an image of Windows from an installation medium, and starts machines from it:
`python -m vm_bridge.windows_image`."""

import argparse
import asyncio
import re
import signal
import sys
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from vm_bridge.guest.windows.programs import SHELL_LANGUAGES
from vm_bridge.windows_image.build import make_image
from vm_bridge.windows_image.errors import ImageError
from vm_bridge.windows_image.machines import MadeImage, bridge_settings, start_machines, stop_machine
from vm_bridge.windows_image.settings import ImageSettings, Screen

SCREEN_PATTERN = re.compile(r"(\d{3,4})x(\d{3,4})")
DEFAULTS = ImageSettings(Path(), Path(), Path())


def main(words: list[str]) -> int:
    """An error begins with its code."""
    given = _read_words(words)
    try:
        asyncio.run(_run(given))
    except ImageError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("cancelled: the same command resumes where this one stopped", file=sys.stderr)
        return 130
    return 0


async def _run(given: argparse.Namespace) -> None:
    """One command, which a SIGTERM cancels."""
    running = asyncio.create_task(COMMANDS[given.command](given))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    await running


async def _make(given: argparse.Namespace) -> None:
    """The last line names the manifest."""
    fields = {name: value for name, value in vars(given).items() if name != "command"}
    settings = ImageSettings(**{**fields, "out": given.out.resolve()})
    manifest = await make_image(settings, _say)
    print(manifest)


async def _start(given: argparse.Namespace) -> None:
    """The last lines are the bridge's settings."""
    image = MadeImage.read(given.image)
    await start_machines(image, given.ports, _say)
    print("\n".join(bridge_settings(image, given.ports)))


async def _stop(given: argparse.Namespace) -> None:
    image = MadeImage.read(given.image)
    for port in given.ports:
        print(f"{port}: {'stopped' if await stop_machine(image, port) else 'did not run'}")


COMMANDS: Mapping[str, Callable[[argparse.Namespace], Coroutine[Any, Any, None]]] = {
    "make": _make,
    "start": _start,
    "stop": _stop,
}


def _say(line: str) -> None:
    print(line, flush=True)


def _read_words(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./pilothouse windows-image", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    _add_make(commands.add_parser("make", help="make an image without questions; it resumes where it was stopped"))
    for name, about in (("start", "start machines from an image"), ("stop", "end them and remove their disks")):
        each = commands.add_parser(name, help=about)
        each.add_argument("image", type=Path, help="folder of the image")
        each.add_argument("--ports", type=_ports, default=(5101,), help="of the loopback, one a machine (5101)")
    return parser.parse_args(words)


def _add_make(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--iso", type=Path, required=True, help="Microsoft's installation medium, Windows 10 or 11")
    about = "python.org's embeddable package for 64-bit Windows, 3.11 or later (python-3.x.y-embed-amd64.zip)"
    parser.add_argument("--python", type=Path, required=True, help=about)
    parser.add_argument("--out", type=Path, required=True, help="folder of the image, which is made")
    parser.add_argument("--edition", type=int, default=DEFAULTS.edition, help="its number on the medium (1)")
    parser.add_argument("--product-key", default="", help="for a medium that asks for one (none)")
    parser.add_argument("--screen", type=_screen, default=DEFAULTS.screen, help="in pixels (1280x800)")
    parser.add_argument("--language", default=DEFAULTS.language, help="that of the medium (en-US)")
    about = f"Windows' input locale ({DEFAULTS.keyboard})"
    parser.add_argument("--keyboard", default=DEFAULTS.keyboard, help=about)
    about = "what runs commands and terminals (powershell)"
    parser.add_argument("--shell", choices=sorted(SHELL_LANGUAGES), default=DEFAULTS.shell, help=about)
    parser.add_argument("--disk-gib", type=int, default=DEFAULTS.disk_gib, help="size of the disk in GiB (64)")
    parser.add_argument("--memory-mib", type=int, default=DEFAULTS.memory_mib, help="in MiB (6144)")
    parser.add_argument("--cores", type=int, default=DEFAULTS.cores, help="processor cores (4)")
    about = "longest that the installation may take (120)"
    parser.add_argument("--timeout-minutes", type=int, default=DEFAULTS.timeout_minutes, help=about)


def _ports(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(port) for port in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} are no ports such as 5101,5102") from None


def _screen(text: str) -> Screen:
    found = SCREEN_PATTERN.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no size such as 1280x800")
    return Screen(int(found[1]), int(found[2]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
