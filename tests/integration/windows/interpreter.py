"""CPython for Windows, put together from what a package index and Debian have, for Wine:
`python -m tests.integration.windows.interpreter`; with `--if-missing` one that is there stays.

panda3d's wheel brings CPython's library and extensions; their Python half is that of this interpreter, which must be of
the same version; the program that calls the library is compiled here.
"""

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from tempfile import mkdtemp

FOLDER = Path(".data/windows-python")
VERSION = (3, 11)
LIBRARY = "panda3d==1.10.16"
NATIVE = "pillow==13.0.0"
PURE = ("pyautogui==0.9.54", "pyperclip==1.11.0", "pyte==0.8.2", "wcwidth==0.9.4")
PACKAGES_FILE = "packages.txt"
"""Of what it was made: an interpreter of other packages is made anew."""
COMPILER = "x86_64-w64-mingw32-gcc"
INSTALL_SECONDS = 600.0
LEFT_OUT = ("test", "idlelib", "lib2to3", "tkinter", "ensurepip", "site-packages", "dist-packages", "lib-dynload")
PROGRAM = """
#include <windows.h>
int wmain(int argc, wchar_t **argv) {
    HMODULE python = LoadLibraryW(L"python311.dll");
    int (*start)(int, wchar_t **) = python ? (void *)GetProcAddress(python, "Py_Main") : 0;
    return start ? start(argc, argv) : 1;
}
"""


def interpreter() -> Path | None:
    """Its `python.exe`, where it was made of the present packages."""
    made_of = FOLDER / PACKAGES_FILE
    return (FOLDER / "python.exe").resolve() if made_of.exists() and made_of.read_text() == _packages() else None


def make() -> None:
    """Anew. Raises CalledProcessError where it cannot be."""
    if sys.version_info[:2] != VERSION:
        raise SystemExit("the libraries that can be had are CPython 3.11's: run this with that version")
    FOLDER.parent.mkdir(parents=True, exist_ok=True)
    making = Path(mkdtemp(prefix=f"{FOLDER.name}.", dir=FOLDER.parent))
    try:
        _make(making)
        shutil.rmtree(FOLDER, ignore_errors=True)
        making.rename(FOLDER)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _make(folder: Path) -> None:
    wheels, site = folder / "wheels", folder / "Lib" / "site-packages"
    shutil.copytree(sysconfig.get_path("stdlib"), folder / "Lib", ignore=shutil.ignore_patterns(*LEFT_OUT))
    site.mkdir()
    of_windows = ("--platform", "win_amd64", "--python-version", "3.11", "--only-binary", ":all:")
    _pip("download", *of_windows, "--dest", str(wheels), LIBRARY, NATIVE)
    _pip("install", "--target", str(site), *PURE)
    for wheel in wheels.iterdir():
        with zipfile.ZipFile(wheel) as archive:
            if wheel.name.startswith("panda3d"):
                _libraries(archive, folder)
            else:
                archive.extractall(site)
    shutil.rmtree(wheels)
    source = folder / "python.c"
    source.write_text(PROGRAM)
    subprocess.run((COMPILER, "-municode", "-O1", "-s", "-o", str(folder / "python.exe"), str(source)), check=True)
    (folder / PACKAGES_FILE).write_text(_packages())


def _packages() -> str:
    return "\n".join((LIBRARY, NATIVE, *PURE))


def _libraries(archive: zipfile.ZipFile, folder: Path) -> None:
    """Without Windows' own, which Wine has, and Tk's."""
    for name in archive.namelist():
        place, _, file = name.rpartition("/")
        if place == "deploy_libs" and not file.startswith(("api-ms", "tcl", "tk")):
            (folder / file).write_bytes(archive.read(name))


def _pip(*words: str) -> None:
    subprocess.run(
        (sys.executable, "-m", "pip", words[0], "--quiet", "--no-deps", *words[1:]),
        check=True,
        capture_output=True,
        timeout=INSTALL_SECONDS,
    )


if __name__ == "__main__":
    if "--if-missing" not in sys.argv or interpreter() is None:
        make()
