"""PyAutoGUI for the simulator's guest, in a folder of its own."""

import subprocess
import sys
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from vm_bridge.python_packages import pip_install

PACKAGES = ("pyautogui==0.9.54", "pytweening==1.2.0", "pyscreeze==1.0.1", "pymsgbox==2.0.1")
"""Without what they ask for: python3-xlib would replace python-xlib, and MouseInfo is under the GPL."""
INSTALL_SECONDS = 600.0


def ensure_packages(folder: Path) -> Path:
    """The folder with the packages, made when it is not there. Raises CalledProcessError where it cannot be."""
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    making = Path(mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    install = pip_install(sys.executable, "--quiet", "--no-deps", "--target", str(making), *PACKAGES)
    subprocess.run(install.words, env=install.merged_environment(), check=True, timeout=INSTALL_SECONDS)
    # PyAutoGUI imports it for a window that nobody opens here.
    (making / "mouseinfo.py").write_text('"""Stands in for MouseInfo."""\n', encoding="utf-8")
    try:
        making.rename(folder)
    except OSError:
        if not folder.exists():
            raise
        rmtree(making)  # somebody else made it meanwhile
    return folder
