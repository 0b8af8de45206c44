"""Makes what virtual machines boot from, ahead of the first one: `python -m vm_bridge.virtual [FOLDER]`."""

import argparse
import sys
from pathlib import Path

from vm_bridge.errors import NoMachine
from vm_bridge.virtual.base_image import DEFAULT_DISKS_FOLDER, prepare_base_image


def main() -> int:
    """Says where the disk lies."""
    parser = argparse.ArgumentParser(prog="python -m vm_bridge.virtual", description=__doc__)
    parser.add_argument(
        "folder", type=Path, nargs="?", default=DEFAULT_DISKS_FOLDER, help="that of PILOTHOUSE_DISKS (.data/disks)"
    )
    folder: Path = parser.parse_args().folder
    try:
        print(prepare_base_image(folder).folder)
    except NoMachine as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
