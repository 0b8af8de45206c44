"""Makes the one file that runs inside a machine of Windows: `python -m vm_bridge.guest.windows.pack FILE`.

The secret is in it: a new one, or PILOTHOUSE_WINDOWS_SECRET. The bridge needs the same.
"""

import argparse
import ast
import os
import secrets
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).parent.parent.parent
SECRET = "PILOTHOUSE_WINDOWS_SECRET"  # noqa: S105 - a variable's name
MAIN_MODULE = "vm_bridge.guest.windows.main"
MIN_SECRET = 16


def pack(path: Path, secret: str) -> None:
    """Write the program, readable by its owner only."""
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as program:
        for source in sources():
            program.write(source, source.relative_to(PACKAGE.parent))
        program.writestr("__main__.py", f"from {MAIN_MODULE} import main\n\nmain({secret!r})\n")


def sources() -> list[Path]:
    """The files of this package that it imports, and those that they import."""
    found: dict[str, Path] = {}
    waiting = [MAIN_MODULE]
    while waiting:
        name = waiting.pop()
        path = _file_of(name)
        if path is not None and name not in found:
            found[name] = path
            waiting += [name.rpartition(".")[0], *_imported_modules(path)]
    return sorted(set(found.values()))


def _file_of(name: str) -> Path | None:
    """A module of this package; None for what is none."""
    place = PACKAGE.parent.joinpath(*name.split("."))
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)


def _imported_modules(path: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(PACKAGE.name):
            names += [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
    return names


def main() -> None:
    parser = argparse.ArgumentParser(prog=f"python -m {__spec__.name}", description=__doc__)
    parser.add_argument("file", type=Path, help="what to write, `pilothouse.pyz`")
    options = parser.parse_args()
    secret = os.environ.get(SECRET) or secrets.token_hex(32)
    if len(secret) < MIN_SECRET:
        parser.error(f"{SECRET} has fewer than {MIN_SECRET} characters")
    pack(options.file, secret)
    print(f"{SECRET}={secret}")


if __name__ == "__main__":
    main()
