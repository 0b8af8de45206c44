"""A machine of Windows for tests: our agent, packed as it is shipped, on CPython for Windows under Wine.

`python -m tests.integration.windows.wine FOLDER HOST:PORT` puts it back, as the command of a provider does.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL

import pytest

from tests.integration.windows.interpreter import interpreter
from vm_bridge.guest.windows.pack import pack

SECRET = "the secret of the tests"
MARKS = (pytest.mark.slow, pytest.mark.timeout(900))
"""The first one makes a Windows of 700 MB."""
SIZE = (1024, 768)
PLACES = ("/usr/lib/wine", "/usr/lib/x86_64-linux-gnu/wine")
"""Where Debian has Wine's own programs."""
PREFIX, MACHINE, PROGRAM, AGENT = "wine", "machine.json", "pilothouse.pyz", "agent.log"
LISTENING = "listening"
TERMINAL = "cmd /d /c cmd <CON >CON 2>CON"
"""Wine gives a program on a pseudo console no standard handles; Windows does."""
POLL = 0.05
START_SECONDS, WINE_SECONDS = 120.0, 120.0
STILL_CARET = '[HKEY_CURRENT_USER\\Control Panel\\Desktop]\n"CursorBlinkRate"="-1"\n'
"""What docs/guides/operator/windows.md sets once inside."""


@dataclass(frozen=True)
class Provided:
    """Its address, the words of the command that puts it back, and where it lies."""

    address: str
    revert: tuple[str, ...]
    folder: Path

    def programs(self) -> str:
        """The command lines of all its programs."""
        own = f"WINEPREFIX={self.folder / PREFIX}".encode()
        lines = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has ended, or is another user's
                if own in (process / "environ").read_bytes().split(b"\0"):
                    lines.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
        return "\n".join(lines).lower()


def wine_need() -> None:
    """Skip the test where Wine, an X server or the interpreter is missing."""
    for program, package in (("wine64", "wine64"), ("Xtigervnc", "tigervnc-standalone-server")):
        if _program(program) is None:
            pytest.skip(f"needs {program}: {package}")
    if interpreter() is None:
        pytest.skip("needs what `python -m tests.integration.windows.interpreter` makes")


@contextmanager
def wine_machine(folder: Path) -> Iterator[Provided]:
    """Its first agent listens."""
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        display = stack.enter_context(_screen())
        prefix = folder / PREFIX
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),  # its user's folders would lead into ours
            "WINEPREFIX": str(prefix),
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": "mscoree,mshtml=",  # it would ask whether to download them
            "DISPLAY": display,
        }
        pack(folder / PROGRAM, SECRET)
        stack.callback(shutil.rmtree, prefix, ignore_errors=True)  # it takes 700 MB
        stack.callback(_end, environment)
        _wine(environment, "wineboot", "--init")
        settings = folder / "settings.reg"
        settings.write_text(f"REGEDIT4\n\n{STILL_CARET}")
        _wine(environment, "regedit", "/S", f"Z:{settings}")
        address = f"127.0.0.1:{_free_port()}"
        (folder / MACHINE).write_text(json.dumps({"environment": environment}))
        revert = (sys.executable, "-m", __name__, str(folder))
        subprocess.run((*revert, address), check=True)
        yield Provided(address, revert, folder)


def reset_guest(folder: Path, address: str) -> None:
    """No program, an empty home folder, and a new agent, which knows nothing. Returns when it listens."""
    environment = json.loads((folder / MACHINE).read_text())["environment"]
    _end(environment)
    [home] = [each for each in (folder / PREFIX / "drive_c/users").iterdir() if each.name != "Public"]
    for entry in home.iterdir():
        if entry.name != "AppData":
            entry.unlink() if not entry.is_dir() or entry.is_symlink() else shutil.rmtree(entry)
    host, _, port = address.rpartition(":")
    words = ("--listen", host, "--port", port, "--shell", "cmd", "--terminal", TERMINAL, "--log", f"Z:{folder / AGENT}")
    argv = (*wine64_command(), str(interpreter()), str(folder / PROGRAM), *words)
    log = folder / AGENT
    log.unlink(missing_ok=True)
    process = None
    ends = time.monotonic() + START_SECONDS
    while not (log.exists() and LISTENING in log.read_text()):
        if time.monotonic() > ends:
            raise OSError(f"the agent did not start: {log.read_text() if log.exists() else process}")
        if process is None or process.poll() is not None:  # the Wine before may still be ending, or hold the port
            process = subprocess.Popen(argv, env=environment, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
        time.sleep(POLL)


@contextmanager
def _screen() -> Iterator[str]:
    """An X server's name."""
    reader, writer = os.pipe()
    size = "x".join(map(str, SIZE))
    argv = (
        "Xtigervnc",
        "-displayfd",
        str(writer),
        "-geometry",
        size,
        "-depth",
        "24",
        "-rfbport=-1",
        "-nolisten",
        "tcp",
    )
    with subprocess.Popen(argv, pass_fds=(writer,), stdout=DEVNULL, stderr=DEVNULL) as process, open(reader) as said:
        os.close(writer)
        try:
            number = said.readline().strip()
            assert number, "the X server did not start"
            yield f":{number}"
        finally:
            process.terminate()


def _wine(environment: Mapping[str, str], *words: str) -> None:
    argv = (*wine64_command(), *words)
    subprocess.run(
        argv, env=environment, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, check=True, timeout=WINE_SECONDS
    )


def _end(environment: Mapping[str, str]) -> None:
    """Every program of that Windows; returns when they have ended."""
    for word in ("-k", "-w"):
        server = _program("wineserver64") or _program("wineserver")
        assert server is not None
        subprocess.run((server, word), env=environment, timeout=WINE_SECONDS)


def wine64_command() -> tuple[str, ...]:
    program = _program("wine64")
    assert program is not None
    return (program,)


def _program(name: str) -> str | None:
    return shutil.which(name, path=os.pathsep.join((os.environ["PATH"], *PLACES)))


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


if __name__ == "__main__":
    reset_guest(Path(sys.argv[1]), sys.argv[2])
