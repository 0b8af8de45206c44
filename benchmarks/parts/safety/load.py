"""What strangers can make the platform keep, spool or compute: labels, bodies, password hashes."""

import itertools
import json
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.figures import percentile
from benchmarks.parts.safety.requests import CONNECTION_ERRORS, HttpConnection, Session, http_connection

ODD_METHODS = 5_000
LONG_METHOD = 4_000
"""Every tenth invented method is so long (characters)."""
BODIES = (1024 * 1024, 32 * 1024 * 1024)
"""The largest that the proxy takes anywhere, and the largest that it takes from somebody who is signed in (bytes)."""
PART = 256 * 1024
BODY_PATHS = (
    *("/api/imports", "/api/imports/uploads", "/api/imports/uploads/0a-1b", "/api/design/graph", "/api/pools/1/tasks"),
    *("/api/session", "/api/join", "/api/queue/next", "/api/health", "/nowhere", "/admin/login/", "/"),
)
HASH_BYTES = 100 * 1024 * 1024
"""Memory of one hash, Argon2's `memory_cost` as Django sets it."""
SAMPLE_SECONDS = 0.005
FLOOD_SECONDS = 20.0
TOO_MANY = 429


def label_growth_kb(address: str, admin: Session) -> dict[str, float]:
    """How much longer the metrics of a process are after many invented methods."""
    with http_connection(address) as connection:
        before = _metrics_size(connection, admin)
        for number in range(ODD_METHODS):
            method = f"M{number:05}" + ("X" * LONG_METHOD if number % 10 == 0 else "")
            target = "/api/queue" if number % 2 else f"/api/odd-{number}"
            if connection.send(method, target).status == 0:
                raise RuntimeError("a web process answers no more to an invented method")
        after = _metrics_size(connection, admin)
    return {"odd_methods": ODD_METHODS, "label_growth_kb": round((after - before) / 1024, 1)}


def _metrics_size(connection: HttpConnection, admin: Session) -> int:
    answer = connection.call("GET", "/api/metrics", admin)
    if answer.status != 200:
        raise RuntimeError(f"the metrics cannot be read: {answer.status}")
    return len(answer.body)


def spooled_mb(address: str, pids: Sequence[int], folders: Sequence[Path]) -> dict[str, float]:
    """The most that one body of somebody without a sign-in takes of the disk, in whatever program.

    Args:
        address: `host:port` of what strangers reach: the proxy where there is one.
        pids: The programs that a body may reach.
        folders: Where they may store one.
    """
    most, refused = 0, 0
    for path, size, chunked in itertools.product(BODY_PATHS, BODIES, (False, True)):
        with _most_of(lambda: spooled_bytes(pids, folders)) as sampled:
            refused += _send_body(address, path, size, chunked=chunked)
        most = max(most, sampled())
    return {
        "anonymous_bodies": len(BODY_PATHS) * len(BODIES) * 2,
        "anonymous_bodies_refused": refused,
        "anonymous_body_mb_spooled": round(most / 2**20, 2),
    }


def _send_body(address: str, path: str, size: int, *, chunked: bool) -> bool:
    """Send as much of a large body as is taken; whether the server ended it or refused."""
    connection = HttpConnection(address)
    length = {"Transfer-Encoding": "chunked"} if chunked else {"Content-Length": str(size)}
    method = "PATCH" if "/uploads/" in path else "POST"
    part = b"%x\r\n%s\r\n" % (PART, b"x" * PART) if chunked else b"x" * PART
    try:
        parts = itertools.chain(itertools.repeat(part, size // PART), [b"0\r\n\r\n"] if chunked else [])
        headers = {"Content-Type": "application/octet-stream", "Upload-Offset": "0", "Tus-Resumable": "1.0.0", **length}
        return connection.send_parts(method, path, headers, parts).status >= 400
    except CONNECTION_ERRORS:
        return True
    finally:
        connection.close()


def spooled_bytes(pids: Sequence[int], folders: Sequence[Path]) -> int:
    """Bytes of files in these folders, and of deleted files that these processes have open."""
    named = sum(_size(file) for folder in folders for file in folder.rglob("*"))
    held: dict[tuple[int, int], int] = {}
    for pid in pids:
        try:
            descriptors = list(Path(f"/proc/{pid}/fd").iterdir())
        except OSError:
            continue
        for descriptor in descriptors:
            try:
                if not os.readlink(descriptor).endswith(" (deleted)"):
                    continue
                about = descriptor.stat()
            except OSError:
                continue  # closed meanwhile
            if stat.S_ISREG(about.st_mode) and about.st_nlink == 0:
                held[about.st_dev, about.st_ino] = about.st_size
    return named + sum(held.values())


def _size(file: Path) -> int:
    try:
        about = file.lstat()
    except OSError:
        return 0
    return about.st_size if stat.S_ISREG(about.st_mode) else 0


def sign_in_flood(proxy: str, web_pid: int, annotator: Session) -> dict[str, float]:
    """Sign in again and again from many addresses, and see what people at work notice of it.

    Args:
        proxy: `host:port` of what strangers reach.
        web_pid: The process behind it that computes the hashes.
        annotator: Somebody who looks at their queue meanwhile.
    """
    flood = [sys.executable, "-m", "benchmarks.parts.safety.flood", proxy, str(FLOOD_SECONDS)]
    during: list[float] = []
    with http_connection(proxy) as connection, _most_of(lambda: _hash_buffers(web_pid)) as buffers:
        before = _queue_times(connection, annotator, 50)
        with subprocess.Popen(flood, cwd=ROOT, stdout=subprocess.PIPE) as process:
            while process.poll() is None:
                during += _queue_times(connection, annotator, 1)
            told = process.communicate()[0]
        parallel = buffers()
    statuses = {int(status): count for status, count in json.loads(told).items()}
    hashed = sum(count for status, count in statuses.items() if status not in (0, TOO_MANY))
    if not hashed:
        raise RuntimeError(f"no password of the flood was hashed: {statuses}")
    return {
        "flood_sign_ins": sum(statuses.values()),
        "flood_sign_ins_hashed": hashed,
        "queue_ms_before_flood": percentile(before, 0.95),
        "queue_ms_under_sign_in_flood": percentile(during, 0.95),
        "queue_ms_under_sign_in_flood_max": round(max(during), 1),
        "hashing_parallel": parallel,
    }


def _queue_times(connection: HttpConnection, session: Session, count: int) -> list[float]:
    """How long each look at the queue took (milliseconds)."""
    times = []
    for _ in range(count):
        began = time.perf_counter()
        status = connection.call("GET", "/api/queue", session).status
        times.append(1000 * (time.perf_counter() - began))
        if status != 200:
            raise RuntimeError(f"the queue answers {status}")
    return times


def _hash_buffers(pid: int) -> int:
    """How many blocks of memory as large as a hash needs a process has mapped; neighbours may be one mapping."""
    count = 0
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        addresses, _, _, _, *file = line.split()
        begin, _, end = addresses.partition("-")
        if file == ["0"]:  # anonymous
            count += (int(end, 16) - int(begin, 16)) // HASH_BYTES
    return count


@contextmanager
def _most_of(measure: Callable[[], int]) -> Iterator[Callable[[], int]]:
    """Sample a size while the block runs; gives a function that says by how much it grew at most."""
    first = measure()
    seen = [first]
    over = threading.Event()

    def sample() -> None:
        while not over.wait(SAMPLE_SECONDS):
            seen.append(measure())

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    try:
        yield lambda: max(seen) - first
    finally:
        over.set()
        thread.join()
