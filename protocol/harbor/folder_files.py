"""The files of a task folder, from a disk or a zip archive, within bounds and without a link."""

import io
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from protocol.harbor.errors import FolderError

MAX_FILES = 200
MAX_FILE_BYTES = 256 * 1024
MAX_FOLDER_BYTES = 512 * 1024
"""All files of a folder together; they travel with the task."""
MAX_ARCHIVE_ENTRIES = 20_000
"""Entries of an archive of folders."""
MAX_FOLDERS = 1_000
"""Task folders of one archive, or below one folder."""
MAX_PATH_LENGTH = 240
MANIFEST_NAME = "task.toml"

FolderFiles = Mapping[str, bytes]
"""Each file by its path within the folder, with `/` between names."""


@dataclass(frozen=True)
class TaskFolder:
    """A folder as it was read."""

    files: FolderFiles
    executable: frozenset[str]
    """Paths of those that may be executed."""


class _Collection:
    """The files of one folder as they are read. Raises FolderError."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.executable: set[str] = set()
        self._size = 0

    def folder(self) -> TaskFolder:
        return TaskFolder(self.files, frozenset(self.executable))

    def add(self, name: str, data: bytes, mode: int) -> None:
        if name in self.files:
            raise FolderError("harbor_invalid", f"{name} is there twice")
        self._size += len(data)
        if len(data) > MAX_FILE_BYTES:
            raise FolderError("harbor_too_large", f"{name} has more than {MAX_FILE_BYTES} bytes")
        if self._size > MAX_FOLDER_BYTES:
            raise FolderError("harbor_too_large", f"the folder has more than {MAX_FOLDER_BYTES} bytes")
        if len(self.files) == MAX_FILES:
            raise FolderError("harbor_too_large", f"the folder has more than {MAX_FILES} files")
        self.files[name] = data
        if mode & 0o111:
            self.executable.add(name)


def check_path(name: str) -> str:
    """A path within a folder, as it is. Raises FolderError for one that leads out of it."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\\" in name or not name.isprintable():
        raise FolderError("harbor_link", f"{name[:100]!r} is no path within the folder")
    if len(name) > MAX_PATH_LENGTH:
        raise FolderError("harbor_too_large", f"a path has more than {MAX_PATH_LENGTH} characters")
    return "/".join(parts)


def find_folders(root: Path) -> list[Path]:
    """The task folders at a path: itself, or those directly below it, in order of their names. Raises FolderError."""
    if (root / MANIFEST_NAME).is_file():
        return [root]
    if not root.is_dir():
        raise FolderError("harbor_missing", f"there is no folder {root}")
    found = sorted(path for path in root.iterdir() if path.is_dir() and not path.is_symlink())
    folders = [path for path in found if (path / MANIFEST_NAME).is_file() or (path / "instruction.md").is_file()]
    if not folders:
        raise FolderError("harbor_missing", f"{root} has no {MANIFEST_NAME}, and no folder in it has one")
    if len(folders) > MAX_FOLDERS:
        raise FolderError("harbor_too_large", f"{root} has more than {MAX_FOLDERS} task folders")
    return folders


def read_folder(folder: Path) -> TaskFolder:
    """All files of one task folder. Raises FolderError."""
    if folder.is_symlink():
        raise FolderError("harbor_link", f"{folder.name} is a link")
    found = _Collection()
    for path in _walk(folder):
        name = check_path(path.relative_to(folder).as_posix())
        found.add(name, *_read_regular(path, name))
    return found.folder()


def _walk(folder: Path) -> Iterator[Path]:
    """What is in a folder and below it, folders apart. Raises FolderError for a link."""
    pending, seen = [folder], 0
    while pending:
        try:
            entries = sorted(os.scandir(pending.pop()), key=lambda entry: entry.name)
        except OSError as error:
            raise FolderError("harbor_invalid", f"{folder.name} cannot be read: {error.strerror}") from None
        seen += len(entries)
        if seen > MAX_FILES * 2:
            raise FolderError("harbor_too_large", f"the folder has more than {MAX_FILES} files")
        for entry in entries:
            if entry.is_symlink():
                raise FolderError("harbor_link", f"{entry.name} is a link")
            if entry.is_dir(follow_symlinks=False):
                pending.append(Path(entry.path))
            else:
                yield Path(entry.path)


def _read_regular(path: Path, name: str) -> tuple[bytes, int]:
    """A file, as far as one byte beyond the bound, and its mode; no link is followed, and nothing is waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise FolderError("harbor_invalid", f"{name} cannot be read: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise FolderError("harbor_link", f"{name} is no ordinary file")
        return file.read(MAX_FILE_BYTES + 1), mode


def read_archive(data: bytes) -> Iterator[tuple[str, "TaskFolder | FolderError"]]:
    """The task folders of a zip archive by their paths in it, each with its files or what is wrong with it.

    Raises FolderError where the archive itself cannot be read.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise FolderError("harbor_invalid", f"it is no zip archive: {error}") from None
    with archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        if len(entries) > MAX_ARCHIVE_ENTRIES:
            raise FolderError("harbor_too_large", f"the archive has more than {MAX_ARCHIVE_ENTRIES} entries")
        roots = sorted({_parent(entry.filename) for entry in entries if _is_manifest(entry.filename)})
        if not roots:
            raise FolderError("harbor_missing", f"no folder in the archive has a {MANIFEST_NAME}")
        if len(roots) > MAX_FOLDERS:
            raise FolderError("harbor_too_large", f"the archive has more than {MAX_FOLDERS} task folders")
        for root in roots:
            within = [entry for entry in entries if entry.filename.startswith(root)]
            try:
                yield root.rstrip("/"), _read_entries(archive, root, within)
            except FolderError as error:
                yield root.rstrip("/"), error


def _is_manifest(name: str) -> bool:
    return name.rpartition("/")[2] == MANIFEST_NAME


def _parent(name: str) -> str:
    """The folder of a file, with a slash at its end; empty where the archive is the folder."""
    return name[: name.rfind("/") + 1]


def _read_entries(archive: zipfile.ZipFile, root: str, entries: list[zipfile.ZipInfo]) -> TaskFolder:
    found = _Collection()
    for entry in entries:
        name = check_path(entry.filename[len(root) :])
        mode = entry.external_attr >> 16
        kind = stat.S_IFMT(mode)
        if kind not in (0, stat.S_IFREG):
            raise FolderError("harbor_link", f"{name} is a link, or no ordinary file")
        if entry.flag_bits & 1:
            raise FolderError("harbor_invalid", f"{name} is encrypted")
        try:
            with archive.open(entry) as file:
                found.add(name, file.read(MAX_FILE_BYTES + 1), mode)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
            raise FolderError("harbor_invalid", f"{name} cannot be read: {error}") from None
    return found.folder()
