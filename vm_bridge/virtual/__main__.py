"""Makes what virtual machines boot from, ahead of the first one: `python -m vm_bridge.virtual [FOLDER]`."""

import sys
from pathlib import Path

from vm_bridge.errors import NoMachine
from vm_bridge.virtual.base import INSTALLED, base_prepare


def main() -> int:
    """The folder is that of PILOTHOUSE_DISKS; says where the disk lies."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else INSTALLED
    try:
        print(base_prepare(folder).folder)
    except NoMachine as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
