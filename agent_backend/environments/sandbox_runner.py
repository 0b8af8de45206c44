"""Runs one request of a sandbox inside its machine: a command, or a read or write of part of a file.

It uses only Python's standard library. The machine has no code of the platform: the server sends this file with each
request. The first argument is a folder with `request.json`, and with `data` if there is standard input or content to
write. It prints one line of JSON; longer output stays in files of that folder.
"""

import base64
import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

MAX_INLINE_BYTES = 16_384
"""Longest output that is printed; the server reads a longer one as a file."""
NO_SUCH_COMMAND = 127


def main(folder: Path) -> dict[str, Any]:
    """Do what the request says. An error of the system is returned by its name, such as `ENOENT`."""
    request = json.loads((folder / "request.json").read_text("utf-8"))
    work = {"execute": execute, "read": read, "write": write}[request["kind"]]
    try:
        return work(folder, request)
    except OSError as error:
        return {"errno": errno.errorcode.get(error.errno or 0, "EIO"), "message": error.strerror or str(error)}


def execute(folder: Path, request: dict[str, Any]) -> dict[str, Any]:
    """Run a command to its end; both outputs are truncated to `max_output_bytes`. Raises OSError."""
    data = folder / "data"
    default = data if data.exists() else os.devnull
    outputs = {name: folder / name for name in ("stdout", "stderr")}
    environment = {**os.environ, **request["env"]}
    cwd = place(request["cwd"] or "")
    if not cwd.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, f"{cwd} is no folder")
    with (
        open(place(request["stdin_path"]) if request["stdin_path"] else default, "rb") as stdin,
        outputs["stdout"].open("wb") as stdout,
        outputs["stderr"].open("wb") as stderr,
    ):
        try:
            code = subprocess.run(
                request["argv"], stdin=stdin, stdout=stdout, stderr=stderr, cwd=cwd, env=environment, check=False
            ).returncode
        except FileNotFoundError:
            stderr.write(f"{request['argv'][0]}: command not found\n".encode())
            code = NO_SUCH_COMMAND
    reply: dict[str, Any] = {"returncode": code if code >= 0 else 128 - code}
    for name, path in outputs.items():
        size = path.stat().st_size
        if size > request["max_output_bytes"]:
            os.truncate(path, request["max_output_bytes"])
        reply[name] = {"size": size, **inline(path)}
    return reply


def read(folder: Path, request: dict[str, Any]) -> dict[str, Any]:
    """A part of a file. Raises OSError."""
    copy = folder / "content"
    descriptor = os.open(place(request["path"]), os.O_RDONLY | os.O_NONBLOCK)  # a pipe might never end
    with os.fdopen(descriptor, "rb") as file, copy.open("wb") as out:
        file.seek(request["offset"])
        out.write(file.read(request["length"]))
        size = os.fstat(file.fileno()).st_size
    return {"content": {"size": size, **inline(copy)}}


def write(folder: Path, request: dict[str, Any]) -> dict[str, Any]:
    """Create, replace or extend a file, and the folders above it. Raises OSError."""
    target = place(request["path"])
    target.parent.mkdir(parents=True, exist_ok=True)
    data = folder / "data"
    with target.open("ab" if request["append"] else "wb") as file:
        file.write(data.read_bytes() if data.exists() else b"")
    return {}


def place(path: str) -> Path:
    """Resolve a path from the home folder."""
    return Path.home() / path


def inline(path: Path) -> dict[str, str]:
    """The content of a short file; empty for a longer one."""
    if path.stat().st_size > MAX_INLINE_BYTES:
        return {}
    return {"data": base64.b64encode(path.read_bytes()).decode()}


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    print(json.dumps(main(Path(sys.argv[1]))))
