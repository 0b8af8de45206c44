"""Makes the folder that the image of pods has at /image.

python -m vm_bridge.hosts.kubernetes.pod_image FOLDER [INSTALLED]
"""

import shutil
import sys
from pathlib import Path

from vm_bridge.errors import NoMachine
from vm_bridge.hosts.docker.container import CHROMIUM_CONFIG, UNSANDBOXED_FLAGS
from vm_bridge.images.build import GUEST_PYTHON, PACKAGE, make_readable, prepare_image, run_step

INSIDE = "desktop"
"""The image that pods begin from."""
SOURCES = ("pod/__init__.py", "pod/frame_sender.py", "pod/init.py", "virtual/__init__.py", "virtual/multiplexer.py")
"""What of this package runs in a pod beside the guest."""


def build_pod_folder(folder: Path, data: Path, installed: Path | None = None) -> None:
    """Make the folder from the prepared image below `installed`, or below `data`. Raises NoMachine."""
    shutil.copytree(prepare_image(INSIDE, data, installed), folder, symlinks=True)
    for source in SOURCES:
        target = folder / "site" / "vm_bridge" / source
        target.parent.mkdir(exist_ok=True)
        shutil.copy(PACKAGE / source, target)
    # A pod lets no program make user namespaces, of which Chromium's own sandbox is made.
    config = folder / "etc" / CHROMIUM_CONFIG
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(UNSANDBOXED_FLAGS, encoding="utf-8")
    run_step(GUEST_PYTHON, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", str(folder / "site"))
    make_readable(folder)


def main() -> None:
    """Make it; exits with what is wrong."""
    folder, installed = Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None
    try:
        build_pod_folder(folder, folder.parent, installed)
    except (NoMachine, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
