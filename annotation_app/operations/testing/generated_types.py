"""TypeScript types generated from Python: the shared protocol, and the web app's HTTP API."""

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.errors import CommandFailed, OperationsError
from annotation_app.operations.install.frontend import FRONTEND_FOLDER, ensure_frontend_packages
from annotation_app.operations.runtime.stack import ROOT

TIMEOUT_SECONDS = 120
TYPES_SCRIPT = FRONTEND_FOLDER / "scripts" / "types.mjs"


@dataclass(frozen=True, slots=True)
class TypeSource:
    """A command that prints a schema, and the TypeScript file generated from it. Types of the file `before`, in the
    same folder, are re-exported from there."""

    command: tuple[str, ...]
    target: Path
    before: tuple[str, ...] = ()


OPENAPI_COMMAND = ("manage.py", "export_openapi_schema", "--settings", "annotation_app.settings.local")
TYPE_SOURCES = (
    TypeSource(("-m", "protocol.schema"), FRONTEND_FOLDER / "src" / "generated" / "vocabulary.ts"),
    TypeSource(
        OPENAPI_COMMAND,
        FRONTEND_FOLDER / "src" / "generated" / "api.ts",
        before=("vocabulary.ts",),
    ),
)


def write_types(console: Console, log: Path) -> None:
    """Regenerate the files."""
    for source in TYPE_SOURCES:
        source.target.parent.mkdir(parents=True, exist_ok=True)
        _write(source, source.target, console, log)
        console.step(f"Wrote {source.target.relative_to(ROOT)}")


def check_types(console: Console, log: Path) -> None:
    """Raises OperationsError if a file differs from what would be generated now."""
    with tempfile.TemporaryDirectory() as folder:
        for source in TYPE_SOURCES:
            fresh = Path(folder) / source.target.name
            _write(source, fresh, console, log)
            if not source.target.exists() or source.target.read_bytes() != fresh.read_bytes():
                raise OperationsError(f"{source.target.relative_to(ROOT)} is stale.", hint="Run `./pilothouse types`.")


def _write(source: TypeSource, target: Path, console: Console, log: Path) -> None:
    node = ensure_frontend_packages(console, log)
    schema = _output([sys.executable, *source.command])
    before = [str(target.with_name(name)) for name in source.before]
    _output([node.node, str(TYPES_SCRIPT), str(target), *before], input=schema)


def _output(command: list[str], *, input: str = "") -> str:
    done = subprocess.run(
        command, input=input, capture_output=True, text=True, cwd=ROOT, timeout=TIMEOUT_SECONDS, check=False
    )  # fmt: skip
    if done.returncode:
        raise CommandFailed(f"`{' '.join(command)}` ended with status {done.returncode}.", hint=done.stderr[-2000:])
    return done.stdout
