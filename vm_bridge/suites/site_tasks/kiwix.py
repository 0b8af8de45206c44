"""Runs `kiwix-serve`, which serves a ZIM file over HTTP on this machine's loopback alone.

It is a program of its own (Debian's package kiwix-tools) and is never imported: its licence is the GPL.
"""

import atexit
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections import OrderedDict
from pathlib import Path
from urllib.parse import unquote

import httpx

from vm_bridge.suites.site_tasks.zim_files import ZimFile, ZimUnusable

PROGRAM = "kiwix-serve"
START_SECONDS = 20.0
STOP_SECONDS = 5.0
MAX_SERVERS = 8
"""Files that one process serves at a time."""
POLL_SECONDS = 0.05
ANSWER_SECONDS = 10.0
BOOK = "book"
"""The file's name as the server sees it, so that its addresses do not depend on the real one."""
PREFIXES = (f"/content/{BOOK}", f"/{BOOK}")
"""Where pages are: from version 3.4 on, and before."""


class KiwixServer:
    """A running server of one file. `prefix` is what the paths of its pages begin with, `first_page` the path of the
    first one without it."""

    def __init__(self, zim: ZimFile) -> None:
        """Start it and wait until it answers. Raises ZimUnusable: `kiwix_missing`, `kiwix_failed`."""
        program = require_kiwix()
        self._folder = tempfile.TemporaryDirectory(prefix="pilothouse-zim-")
        named = Path(self._folder.name) / f"{BOOK}.zim"
        named.symlink_to(zim.path)
        port = _free_port()
        self.origin = f"http://127.0.0.1:{port}"
        words = [program, "-i", "127.0.0.1", "-p", str(port), "-a", str(os.getpid()), "-t", "2", "-n", str(named)]
        self._log = Path(self._folder.name) / "log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"}
            )
        try:
            self.prefix, self.first_page = self._wait_for_answer()
        except BaseException:
            self.close()
            raise

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        """End it. Idempotent."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._folder.cleanup()

    def _wait_for_answer(self) -> tuple[str, str]:
        ends = time.monotonic() + START_SECONDS
        with httpx.Client(base_url=self.origin, trust_env=False, timeout=ANSWER_SECONDS) as client:
            while time.monotonic() < ends:
                if not self.is_running:
                    raise ZimUnusable("kiwix_failed", f"kiwix-serve has ended: {self._last_words()}")
                try:
                    return self._find_first_page(client)
                except httpx.HTTPError:
                    time.sleep(POLL_SECONDS)
        raise ZimUnusable("kiwix_failed", f"kiwix-serve did not answer within {START_SECONDS:g} s")

    def _find_first_page(self, client: httpx.Client) -> tuple[str, str]:
        """Raises httpx.HTTPError while it does not answer, ZimUnusable where it has no page."""
        for prefix in PREFIXES:
            answer = client.get(f"{prefix}/")
            place = answer.headers.get("location", "")
            if answer.is_redirect and place.startswith(f"{prefix}/"):
                return prefix, place.removeprefix(prefix)
        raise ZimUnusable("kiwix_failed", f"kiwix-serve shows no first page of the file: {self._last_words()}")

    def _last_words(self) -> str:
        return " ".join(self._log.read_text(errors="replace").split())[-200:] or "without a word"


def require_kiwix() -> str:
    """The program's path. Raises ZimUnusable (`kiwix_missing`)."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise ZimUnusable("kiwix_missing", "install kiwix-serve, on Debian and Ubuntu: apt-get install kiwix-tools")
    return program


_servers: OrderedDict[str, KiwixServer] = OrderedDict()
"""By UUID of their files, the one that was used last at the end."""
_lock = threading.Lock()


def serve(zim: ZimFile) -> KiwixServer:
    """The server of a file, started where none runs. It ends with this process, or where `MAX_SERVERS` others were used
    since. Blocks for up to 20 s. Raises ZimUnusable: `kiwix_missing`, `kiwix_failed`."""
    with _lock:
        server = _servers.get(zim.uuid)
        if server is None or not server.is_running:
            if server is not None:
                server.close()
            server = _servers[zim.uuid] = KiwixServer(zim)
        _servers.move_to_end(zim.uuid)
        while len(_servers) > MAX_SERVERS:
            _servers.popitem(last=False)[1].close()
        return server


@atexit.register
def stop_servers() -> None:
    """End every server of this process."""
    with _lock:
        while _servers:
            _servers.popitem()[1].close()


def path_of(server: KiwixServer, link: str) -> str:
    """An address of the server's as the site has it: decoded, without its prefix."""
    return unquote(link.removeprefix(server.origin).removeprefix(server.prefix))


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
