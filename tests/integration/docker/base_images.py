"""Base images for tests that need no registry: the programs of this machine, or a busybox, imported into the engine."""

import io
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from vm_bridge.hosts.docker.engine import ContainerEngine

PROGRAMS = (
    *("cat", "chmod", "chown", "cp", "env", "head", "id", "ls", "mkdir", "mv", "rm", "rmdir", "sleep", "stat", "tail"),
    *("touch", "wc", "yes", "base64", "tar", "gzip", "ps", "tee", "dd"),
)
"""What Debian's slim image has at least; there is a `sh`, and no `bash`."""
USERS = "root:x:0:0:root:/root:/bin/sh\napp:x:1000:1000::/home/app:/bin/sh\n"
GROUPS = "root:x:0:\napp:x:1000:\n"
COREUTILS, BUSYBOX = "pilothouse-test-coreutils:1", "pilothouse-test-busybox:1"


def has_busybox() -> bool:
    """Whether there is one that needs no library."""
    found = shutil.which("busybox")
    return found is not None and not _libraries(found)


@cache
def base_image(engine: ContainerEngine, name: str) -> str:
    """The name of an image, imported where the engine has it not."""
    if not engine.has(name):
        repository, _, tag = name.partition(":")
        query = {"fromSrc": "-", "repo": repository, "tag": tag}
        archive = _busybox() if name == BUSYBOX else _coreutils()
        for message in engine.messages("/images/create", query=query, body=archive, timeout=120):
            assert "error" not in message, message
    return name


def _coreutils() -> bytes:
    programs = {f"bin/{name}": Path(found) for name in PROGRAMS if (found := shutil.which(name))}
    programs["bin/sh"] = Path(shutil.which("dash") or "/bin/sh")
    libraries = {path for program in programs.values() for path in _libraries(str(program))}
    return _archive({**programs, **{path.lstrip("/"): Path(path) for path in libraries}}, {})


def _busybox() -> bytes:
    binary = shutil.which("busybox")
    assert binary is not None
    applets = subprocess.run((binary, "--list"), capture_output=True, text=True, check=True).stdout.split()
    links = {f"bin/{applet}": "busybox" for applet in applets if applet != "busybox"}
    return _archive({"bin/busybox": Path(binary)}, links)


def _libraries(program: str) -> tuple[str, ...]:
    told = subprocess.run(("ldd", program), capture_output=True, text=True, check=False).stdout
    return tuple(re.findall(r"(/\S+)(?= \(0x)", told))


def _archive(files: dict[str, Path], links: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, mode in _folders():
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            archive.addfile(entry)
        for name, path in sorted(files.items()):
            data = path.read_bytes()
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o755
            archive.addfile(entry, io.BytesIO(data))
        for name, target in links.items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            archive.addfile(entry)
        for name, text in (("etc/passwd", USERS), ("etc/group", GROUPS)):
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


def _folders() -> Iterator[tuple[str, int]]:
    for name in ("bin", "etc", "root", "home", "home/app"):
        yield name, 0o755
    yield "tmp", 0o1777
