"""CPython for Windows, put together from what a package index and Debian have, for Wine:
`python -m tests.integration.windows.interpreter`; with `--if-missing` one that is there stays.

panda3d's wheel brings CPython's library and extensions; their Python half is that of this interpreter, which must be of
the same version; the program that calls the library is compiled here.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from tempfile import mkdtemp

from vm_bridge.python_packages import windows_install
from vm_bridge.windows_image.guest_files import LOCKS

FOLDER = Path(".data/windows-python")
VERSION = (3, 11)
LIBRARY = "panda3d==1.10.16"
PACKAGES_FILE = "packages.txt"
"""Of what it was made: an interpreter of other packages is made anew."""
COMPILER, OBJDUMP = "x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-objdump"
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
RANDOM_NUMBERS = """
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return SystemFunction036(data, size); }
"""
"""Windows has this library since 2006; Rust's programs want it, and Wine 8 lacks it."""


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
    _pip("download", *of_windows, "--dest", str(wheels), LIBRARY)
    for wheel in wheels.iterdir():
        with zipfile.ZipFile(wheel) as archive:
            _libraries(archive, folder)
    shutil.rmtree(wheels)
    install = windows_install(site, "3.11", *LOCKS)
    subprocess.run(install.words, env=install.merged_environment(), check=True, timeout=INSTALL_SECONDS)
    _compile(folder, "python.exe", PROGRAM, "-municode")
    _compile(folder, "bcryptprimitives.dll", RANDOM_NUMBERS, "-shared", "-ladvapi32")
    exports = folder / "python3.def"
    exports.write_text(_stable_interface(folder / "python311.dll"))
    _compile(folder, "python3.dll", "int nothing;", "-shared", str(exports))
    (folder / PACKAGES_FILE).write_text(_packages())


def _compile(folder: Path, name: str, code: str, *options: str) -> None:
    source = folder / f"{name}.c"
    source.write_text(code)
    libraries = [option for option in options if option.startswith("-l") or option.endswith(".def")]
    others = [option for option in options if option not in libraries]
    words = (COMPILER, "-O1", "-s", *others, "-o", str(folder / name), str(source), *libraries)
    subprocess.run(words, check=True)


def _stable_interface(library: Path) -> str:
    """The definition of `python3.dll`, which hands every name on to the library of its version."""
    listed = subprocess.run((OBJDUMP, "-p", str(library)), capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1] for line in listed.partition("Ordinal/Name Pointer")[2].splitlines() if line.strip()}
    forwards = "\n".join(f"{name} = {library.stem}.{name}" for name in sorted(names) if re.match("_?Py", name))
    return f"LIBRARY python3\nEXPORTS\n{forwards}\n"


def _packages() -> str:
    return "\n".join((LIBRARY, *(hashlib.sha256(lock.read_bytes()).hexdigest() for lock in LOCKS)))


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
