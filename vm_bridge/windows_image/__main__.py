"""Makes an image of Windows from an installation medium: `python -m vm_bridge.windows_image`.

It asks nothing. Stopped, it goes on with the same words.
"""

import argparse
import asyncio
import re
import signal
import sys
from pathlib import Path

from vm_bridge.guest.windows.programs import SHELL_LANGUAGES
from vm_bridge.windows_image.build import make_image
from vm_bridge.windows_image.errors import ImageError
from vm_bridge.windows_image.settings import SECRET_FILE, ImageSettings, Screen

SCREEN_PATTERN = re.compile(r"(\d{3,4})x(\d{3,4})")
DEFAULTS = ImageSettings(Path(), Path(), Path())


def main(words: list[str]) -> int:
    """Its last line names the manifest; an error begins with its code."""
    settings = _read_settings(words)
    try:
        manifest = asyncio.run(_make(settings))
    except ImageError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("cancelled: the same command goes on where this one stopped", file=sys.stderr)
        return 130
    print(f"The secret for PILOTHOUSE_WINDOWS_SECRET is in {settings.out / SECRET_FILE}")
    print(manifest)
    return 0


async def _make(settings: ImageSettings) -> Path:
    making = asyncio.create_task(make_image(settings, lambda line: print(line, flush=True)))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, making.cancel)
    return await making


def _read_settings(words: list[str]) -> ImageSettings:
    parser = argparse.ArgumentParser(prog="python -m vm_bridge.windows_image", description=__doc__)
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
    given = vars(parser.parse_args(words))
    return ImageSettings(**{**given, "out": given["out"].resolve()})


def _screen(text: str) -> Screen:
    found = SCREEN_PATTERN.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no size such as 1280x800")
    return Screen(int(found[1]), int(found[2]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
