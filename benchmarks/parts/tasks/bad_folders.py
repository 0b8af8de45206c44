"""Task folders with one fault each, and the code that each must be refused with."""

import io
import os
import stat
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from protocol.harbor.errors import FolderError
from protocol.harbor.folder_files import MAX_FILE_BYTES, MAX_FILES
from protocol.harbor.task_folders import parse_folder, read_task_archive, read_task_folders

GOOD: Mapping[str, bytes] = {
    "task.toml": b'schema_version = "1.4"\n[task]\nname = "lab/sum"\n',
    "instruction.md": b"Write 3 into out.txt.\n",
    "environment/Dockerfile": b"FROM pilothouse-terminal\nWORKDIR /app\n",
    "tests/test.sh": b"grep -qx 3 out.txt && reward=1 || reward=0\necho $reward > /logs/verifier/reward.txt\n",
    "solution/solve.sh": b"echo 3 > out.txt\n",
}
"""A folder without a fault."""
FROM = b"FROM pilothouse-terminal\n"


def _config(text: str) -> dict[str, bytes]:
    return {"task.toml": text.encode()}


def _dockerfile(text: str) -> dict[str, bytes]:
    return {"environment/Dockerfile": FROM + text.encode()}


BAD_FILES: Mapping[str, tuple[str, Mapping[str, bytes | None]]] = {
    "no manifest": ("harbor_missing", {"task.toml": None}),
    "no instruction": ("harbor_missing", {"instruction.md": None}),
    "no tests": ("harbor_missing", {"tests/test.sh": None}),
    "no Dockerfile": ("harbor_missing", {"environment/Dockerfile": None}),
    "manifest is no TOML": ("harbor_invalid", _config("[task\n")),
    "manifest is no UTF-8": ("harbor_invalid", {"task.toml": b"\xff\xfe"}),
    "version 1.10, after 1.4": ("harbor_version", _config('schema_version = "1.10"')),
    "version 10": ("harbor_version", _config('schema_version = "10.0"')),
    "version 0.9": ("harbor_version", _config('schema_version = "0.9"')),
    "version is a word": ("harbor_version", _config('schema_version = "latest"')),
    "version is a number": ("harbor_version", _config("schema_version = 1.4")),
    "unknown table": ("harbor_unsupported", _config('schema_version = "1.4"\n[[steps]]\nname = "a"\n')),
    "unknown setting": ("harbor_unsupported", _config("[verifier]\ncollect = ['x']\n")),
    "table is a word": ("harbor_invalid", _config('task = "x"')),
    "name leads out": ("harbor_invalid", _config('[task]\nname = "../../etc"\n')),
    "timeout is negative": ("harbor_invalid", _config("[verifier]\ntimeout_sec = -1\n")),
    "timeout is no number": ("harbor_invalid", _config("[verifier]\ntimeout_sec = nan\n")),
    "timeout is a word": ("harbor_invalid", _config('[agent]\ntimeout_sec = "long"\n')),
    "open network": ("harbor_unsupported", _config('[environment]\nnetwork_mode = "public"\n')),
    "bad host": ("harbor_invalid", _config('[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["a b"]\n')),
    "graphics card": ("harbor_unsupported", _config("[environment]\ngpus = 1\n")),
    "Windows": ("harbor_unsupported", _config('[environment]\nos = "windows"\n')),
    "ready-made image": ("harbor_unsupported", _config('[environment]\ndocker_image = "debian"\n')),
    "tests elsewhere": ("harbor_unsupported", _config('[verifier]\nenvironment_mode = "separate"\n')),
    "variable is a number": ("harbor_invalid", _config("[verifier]\nenv = {A = 1}\n")),
    "steps beyond the bound": ("harbor_invalid", _config("[metadata]\nmax_steps = 100000\n")),
    "compose file": ("harbor_unsupported", {"environment/docker-compose.yaml": b"services: {}\n"}),
    "several steps": ("harbor_unsupported", {"steps/one/instruction.md": b"x\n"}),
    "empty instruction": ("harbor_invalid", {"instruction.md": b" \n"}),
    "instruction is no UTF-8": ("harbor_invalid", {"instruction.md": b"\xff"}),
    "endless instruction": ("harbor_invalid", {"instruction.md": b"x" * 9_000}),
    "Dockerfile is empty": ("harbor_invalid", {"environment/Dockerfile": b"\n"}),
    "foreign base": ("harbor_unsupported", {"environment/Dockerfile": b"FROM ubuntu:24.04\n"}),
    "build stages": ("harbor_unsupported", _dockerfile("FROM pilothouse-terminal\n")),
    "before FROM": ("harbor_invalid", {"environment/Dockerfile": b"RUN ls\n" + FROM}),
    "USER": ("harbor_unsupported", _dockerfile("USER root\n")),
    "ADD": ("harbor_unsupported", _dockerfile("ADD http://x/y /app/y\n")),
    "ENTRYPOINT": ("harbor_unsupported", _dockerfile('ENTRYPOINT ["x"]\n')),
    "flag of RUN": ("harbor_unsupported", _dockerfile("RUN --mount=type=cache,target=/x ls\n")),
    "flag of COPY": ("harbor_unsupported", _dockerfile("COPY --from=a b c\n")),
    "heredoc": ("harbor_unsupported", _dockerfile("RUN <<EOF\nls\nEOF\n")),
    "COPY from outside": ("harbor_link", _dockerfile("COPY ../task.toml /app/\n")),
    "COPY of nothing": ("harbor_missing", _dockerfile("COPY data /app/\n")),
    "COPY of a pattern": ("harbor_unsupported", _dockerfile("COPY *.txt /app/\n")),
    "COPY into the system": ("harbor_unsupported", {**_dockerfile("COPY a /etc/a\n"), "environment/a": b""}),
    "WORKDIR climbs out": ("harbor_unsupported", _dockerfile("WORKDIR /app/../etc\n")),
    "unknown variable": ("harbor_unsupported", _dockerfile("WORKDIR /app/$NAME\n")),
    "open quotes": ("harbor_invalid", _dockerfile('ENV A="x\n')),
    "unfinished line": ("harbor_invalid", _dockerfile("RUN ls \\\n")),
    "NUL in the Dockerfile": ("harbor_invalid", _dockerfile("RUN ls \0\n")),
    "endless Dockerfile": ("harbor_too_large", _dockerfile("RUN ls\n" * 300)),
}
"""What stands in place of a file of the good folder, None for no file; and the code."""


def _folder(root: Path) -> Path:
    """The good folder on the disk."""
    folder = root / "task"
    for name, data in GOOD.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def _with_link_to_a_file(root: Path) -> None:
    (_folder(root) / "tests" / "link").symlink_to("/etc/passwd")


def _with_link_to_a_folder(root: Path) -> None:
    (_folder(root) / "environment" / "link").symlink_to("/etc")


def _with_pipe(root: Path) -> None:
    os.mkfifo(_folder(root) / "environment" / "pipe")


def _with_huge_file(root: Path) -> None:
    with (_folder(root) / "environment" / "huge").open("wb") as file:
        file.truncate(2**40)  # sparse: it takes no room


def _with_many_files(root: Path) -> None:
    folder = _folder(root)
    for number in range(MAX_FILES):
        (folder / "environment" / str(number)).touch()


def _with_nothing(root: Path) -> None:
    (root / "task").mkdir()


BAD_DISKS: Mapping[str, tuple[str, Callable[[Path], None]]] = {
    "link to a file": ("harbor_link", _with_link_to_a_file),
    "link to a folder": ("harbor_link", _with_link_to_a_folder),
    "pipe": ("harbor_link", _with_pipe),
    "huge file": ("harbor_too_large", _with_huge_file),
    "many files": ("harbor_too_large", _with_many_files),
    "empty folder": ("harbor_missing", _with_nothing),
}


def archive(files: Mapping[str, bytes], *, link: str = "") -> bytes:
    """A zip archive; `link` names an entry that is a link in it."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as written:
        for name, data in files.items():
            written.writestr(name, data)
        if link:
            entry = zipfile.ZipInfo(link)
            entry.external_attr = (stat.S_IFLNK | 0o777) << 16
            written.writestr(entry, "/etc/passwd")
    return packed.getvalue()


BAD_ARCHIVES: Mapping[str, tuple[str, bytes]] = {
    "no archive": ("harbor_invalid", b"PK\x03\x04 and no more"),
    "archive without a task": ("harbor_missing", archive({"a.txt": b""})),
    "archive with a path that leads out": ("harbor_link", archive({**GOOD, "tests/../../../x": b""})),
    "archive with a link": ("harbor_link", archive(GOOD, link="tests/link")),
    "archive that unpacks hugely": ("harbor_too_large", archive({**GOOD, "tests/zeros": bytes(64 * MAX_FILE_BYTES)})),
}


def changed(changes: Mapping[str, bytes | None]) -> dict[str, bytes]:
    """The good folder with these changes."""
    return {name: data for name, data in {**GOOD, **changes}.items() if data is not None}


def refusal_of_files(changes: Mapping[str, bytes | None]) -> str:
    """The code with which a changed folder is refused; empty where it is taken."""
    try:
        parse_folder(changed(changes))
    except FolderError as error:
        return error.code
    return ""


def refusal_of_disk(make: Callable[[Path], None], root: Path) -> str:
    """The same of a folder on the disk."""
    make(root)
    try:
        tuple(read_task_folders(root / "task"))
    except FolderError as error:
        return error.code
    return ""


def refusal_of_archive(data: bytes) -> str:
    """The same of a zip archive."""
    try:
        found = [task.code for _, task in read_task_archive(data) if isinstance(task, FolderError)]
    except FolderError as error:
        return error.code
    return found[0] if found else ""
