"""Makes ahead what desktops are made of, for bridges that reach no package index: `python -m vm_bridge.images FOLDER`.

FOLDER is what `PILOTHOUSE_TOOLS` names then; a bridge that may write nothing there finds it all the same.
"""

import argparse
import sys
from pathlib import Path

from vm_bridge.errors import NoMachine
from vm_bridge.images.build import list_images, prepare_image
from vm_bridge.images.tools import prepare_tools


def main() -> None:
    """Prepare them; exits with what is wrong."""
    parser = argparse.ArgumentParser(prog="python -m vm_bridge.images", description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    try:
        prepare_tools(folder)
        for name in list_images():
            prepare_image(name, folder)
    except NoMachine as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
