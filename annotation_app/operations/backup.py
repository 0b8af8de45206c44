"""Back up everything that cannot be rebuilt, and restore an installation from a backup.

The database is dumped before the files are copied. Files that rows refer to are only ever added, so every file that
the dump refers to is in the backup. A backup gets its name when it is complete. A restore needs an empty folder.
"""

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.errors import CommandFailed, OperationsError
from annotation_app.operations.file_locks import LOCK_NAME, data_lock
from annotation_app.operations.runtime.platform_info import read_platform_info
from annotation_app.operations.runtime.postgres import Postgres, binaries_folder
from annotation_app.operations.runtime.supervisor import Supervisor

FORMAT = "pilothouse-backup-1"
DUMP_NAME = "database.dump"
MANIFEST_NAME = "manifest.json"
LAST_BACKUP_NAME = "last-backup.json"
"""A file in the data folder with the time of the last backup, for the health page."""
FLYWHEEL_FOLDER = "flywheel"
FOLDERS = ("blobs", "exports", FLYWHEEL_FOLDER)
"""Folders of files that the database names by content or number."""
FILES = ("secrets.json", "secret_key", "sign-ins.txt", "installation")
"""Without the secrets, encrypted credentials and authenticators become unreadable, and pseudonyms change."""
TIMEOUT_SECONDS = 6 * 3600.0
BLOCK_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of a backup. The dump's digest shows whether it was copied completely."""

    format: str
    created_at: str
    postgres: str
    dump_sha256: str
    files: int
    bytes: int


def backup(data: Path, target: Path, console: Console) -> Manifest:
    """Back up an installation, running or not.

    Raises OperationsError if there is none, if the target exists, or if the backup cannot be written.
    """
    if target.exists():
        raise OperationsError(f"{target} exists.", hint="Name a folder that does not.")
    if not (data / "postgres" / "created").exists():
        raise OperationsError(f"There is no installation in {data}.", hint="Name its folder: --data FOLDER")
    partial = target.with_name(f"{target.name}.tmp")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True, mode=0o700)
        return _write_backup(data, partial, target, console)
    except OSError as error:
        raise OperationsError(
            f"The backup could not be written: {error}", hint=f"Room is needed at {target}."
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def restore(source: Path, data: Path, console: Console) -> Manifest:
    """Restore a backup into an empty folder. Raises OperationsError if the folder is not empty or the backup is
    damaged; then it leaves nothing there."""
    manifest = _read_manifest(source)
    if data.exists() and any(path.name != LOCK_NAME for path in data.iterdir()):
        raise OperationsError(f"{data} is not empty.", hint="Name a folder that is, or wipe it: demo --reset")
    with data_lock(data):
        try:
            console.step("Copying the files …")
            _copy_files(source, data)
            console.step("Filling the database …")
            asyncio.run(_restore_database(data, source / DUMP_NAME, console))
        except BaseException as error:
            for path in data.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            if isinstance(error, OSError):
                raise OperationsError(f"The installation could not be written: {error}") from error
            raise
    console.step(f"Restored what was saved at {manifest.created_at}; start it: ./pilothouse demo --data {data}")
    return manifest


def _write_backup(data: Path, partial: Path, target: Path, console: Console) -> Manifest:
    console.step("Copying the database …")
    asyncio.run(_dump_database(data, partial / DUMP_NAME, console))
    console.step("Copying the files …")
    files, size = _copy_files(data, partial)
    manifest = Manifest(
        format=FORMAT,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        postgres=(data / "postgres" / "data" / "PG_VERSION").read_text().strip(),
        dump_sha256=_digest(partial / DUMP_NAME),
        files=files,
        bytes=size + (partial / DUMP_NAME).stat().st_size,
    )
    (partial / MANIFEST_NAME).write_text(json.dumps(asdict(manifest), indent=1))
    partial.rename(target)
    _record_last_backup(data, manifest)
    console.step(f"Saved {files} files and the database, {manifest.bytes} bytes, in {target}")
    return manifest


def _record_last_backup(data: Path, manifest: Manifest) -> None:
    aside = data / f"{LAST_BACKUP_NAME}.tmp"
    aside.write_text(json.dumps({"created_at": manifest.created_at, "bytes": manifest.bytes}))
    aside.replace(data / LAST_BACKUP_NAME)


def _read_manifest(source: Path) -> Manifest:
    try:
        manifest = Manifest(**json.loads((source / MANIFEST_NAME).read_text()))
    except (OSError, ValueError, TypeError) as error:
        raise OperationsError(
            f"{source} is no backup.", hint="A backup is a folder with manifest.json in it."
        ) from error
    if manifest.format != FORMAT:
        raise OperationsError(f"{source} was written in another format: {manifest.format}.")
    if not (source / DUMP_NAME).exists() or _digest(source / DUMP_NAME) != manifest.dump_sha256:
        raise OperationsError(f"{source / DUMP_NAME} is damaged: it is not what was written.")
    if len(list(_backup_files(source))) != manifest.files:
        raise OperationsError(f"{source} is not whole: it should hold {manifest.files} files.")
    return manifest


def _backup_files(folder: Path) -> Iterator[Path]:
    """The files to copy from an installation or a backup, without those that are still being written."""
    yield from (folder / name for name in FILES if (folder / name).is_file())
    for name in FOLDERS:
        for path in sorted((folder / name).rglob("*")):
            below = path.relative_to(folder)
            if path.is_file() and ".tmp" not in below.as_posix() and not _is_excluded(below):
                yield path


def _is_excluded(below: Path) -> bool:
    """Copies of trajectories that a flywheel cycle trains on are also in the database."""
    return below.parts[0] == FLYWHEEL_FOLDER and below.parts[2:3] == ("data",)


def _copy_files(source: Path, target: Path) -> tuple[int, int]:
    """Copy files with their modes. Returns how many files and bytes were copied."""
    count = size = 0
    for path in _backup_files(source):
        to = target / path.relative_to(source)
        to.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copy2(path, to)
        except FileNotFoundError:
            if path.relative_to(source).parts[0] != FLYWHEEL_FOLDER:
                raise
            continue  # a training run keeps only its newest checkpoints
        count, size = count + 1, size + to.stat().st_size
    return count, size


async def _dump_database(data: Path, to: Path, console: Console) -> None:
    async with _running_database(data, console) as postgres:
        await _run_postgres_program(
            "pg_dump", "--format=custom", "--no-owner", f"--file={to}", f"--dbname={postgres.url}"
        )


async def _restore_database(data: Path, dump: Path, console: Console) -> None:
    Postgres(data / "postgres").create()
    async with _running_database(data, console) as postgres:
        await _run_postgres_program(
            "pg_restore", "--no-owner", "--exit-on-error", f"--dbname={postgres.url}", str(dump)
        )


@asynccontextmanager
async def _running_database(data: Path, console: Console) -> AsyncIterator[Postgres]:
    """The installation's database: that of the running platform, or one started for this purpose."""
    postgres = Postgres(data / "postgres")
    if read_platform_info(data) is not None:
        yield postgres
        return
    async with Supervisor(data, console) as supervisor:
        await supervisor.start(postgres.program())
        yield postgres


async def _run_postgres_program(program: str, *arguments: str) -> None:
    command = [str(binaries_folder() / program), *arguments]
    done = await asyncio.to_thread(
        subprocess.run,
        command,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )
    if done.returncode:
        raise CommandFailed(f"{program} ended with status {done.returncode}.", hint=done.stderr[-2000:])


def _digest(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as data:
        while block := data.read(BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()
