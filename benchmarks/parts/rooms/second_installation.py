"""A second installation beside the first: whether it starts, what it logs at rest, what it says of a full disk."""

import contextlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from benchmarks.parts.figures import print_progress
from benchmarks.parts.safety.requests import Session, http_connection

DISK_SIZE = "2g"
REST_SECONDS = 240.0
NOTICE_SECONDS = 240.0
"""The scheduler looks at every part each minute, and admins are told at the second look."""
POLL_SECONDS = 2.0
FILLING_SHARE, FULL_SHARE = 0.25, 0.04
"""Of the disk, what is left free: admins are told of the first; with the second it is full."""
FILLER = "filler"
WEBHOOK = """
from annotation_app.accounts.models import User
from annotation_app.encryption import encrypt_value
from annotation_app.notifications.models import Webhook
from annotation_app.notifications.services.webhooks import webhook_ping
from annotation_app.client.signatures import generate_secret
from django.conf import settings
from django.test import Client
admin = User.objects.get(username="admin")
webhook = Webhook.objects.create(
    url="https://127.0.0.1:9/hook", events=["export.finished"], secret=encrypt_value(generate_secret())
)
webhook_ping(user=admin, webhook_id=webhook.pk)
client = Client()
client.force_login(admin)
print(client.cookies[settings.SESSION_COOKIE_NAME].value)
"""
"""A receiver that does not answer, and the session of an admin."""


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """A disk of its own at this folder, where one can be mounted; whether there is one."""
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_SIZE},mode=755", "none", str(folder)]
    mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


def both_start(first: TemporaryPlatform, second: TemporaryPlatform) -> bool:
    """Whether both answer, under addresses and with databases of their own."""
    own = all(
        first.environment[name] != second.environment[name]
        for name in ("PILOTHOUSE_DATABASE_URL", "PILOTHOUSE_REDIS_URL", "PILOTHOUSE_BRIDGE_URL")
    )
    return (
        own and first.url != second.url and all(_get(one, "/api/health")["checks"]["redis"] for one in (first, second))
    )


def measure_rest_and_full_disk(platform: TemporaryPlatform, *, on_small_disk: bool) -> dict[str, object]:
    """Count what an idle installation logs, then fill its disk if it is the small one."""
    session = Session(cookie=platform.manage("shell", "-v", "0", "-c", WEBHOOK).split()[-1])
    before, began = count_lines(platform.data), time.monotonic()
    time.sleep(REST_SECONDS)
    counts = difference(before, count_lines(platform.data))
    hours = (time.monotonic() - began) / 3600
    figures: dict[str, object] = {
        "log_lines_per_hour_at_rest": round(sum(counts.values()) / hours),
        "log_lines_at_rest": counts,
        "full_disk_told": None,
    }
    print_progress(f"lines logged at rest in {hours * 60:.0f} minutes: {counts}")
    if on_small_disk:
        figures |= _fill_disk(platform, session)
    return figures


def count_lines(data: Path) -> dict[str, int]:
    """The lines of each log of an installation."""
    return {log.stem: log.read_bytes().count(b"\n") for log in sorted((data / "logs").glob("*.log"))}


def difference(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """The logs that have grown, and by how many lines."""
    grown = {name: count - before.get(name, 0) for name, count in after.items()}
    return {name: lines for name, lines in grown.items() if lines}


def _fill_disk(platform: TemporaryPlatform, session: Session) -> dict[str, object]:
    """Fill the disk up to a small rest until the admin gets a notice, then fill the rest."""
    before = count_lines(platform.data)
    _leave_free(platform.data, FILLING_SHARE)
    warned = _wait(lambda: "disk.filling" in _notices(platform, session))
    part = _part(platform, session)
    print_progress(f"a disk that fills: the part says {part}, the notice came: {warned}")
    _leave_free(platform.data, FULL_SHARE)
    health, full = _get(platform, "/api/health"), _part(platform, session)
    print_progress(f"a full disk: health says {health}, the part {full}")
    return {
        "full_disk_told": warned
        and part == "disk_filling"
        and full == "disk_full"
        and not health["ok"]
        and not health["checks"]["disk"],
        "full_disk_log_lines": sum(difference(before, count_lines(platform.data)).values()),
    }


def _leave_free(data: Path, share: float) -> None:
    """Write a file so large that this share of the disk is left."""
    usage = shutil.disk_usage(data)
    more = usage.free - int(share * usage.total)
    with (data / FILLER).open("ab") as filler:
        os.posix_fallocate(filler.fileno(), filler.tell(), max(1, more))
        filler.seek(0, os.SEEK_END)


def _wait(true: Any) -> bool:
    deadline = time.monotonic() + NOTICE_SECONDS
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _part(platform: TemporaryPlatform, session: Session) -> str | None:
    """What the health page says is wrong with the disk."""
    checks = _get(platform, "/api/health/parts", session)["checks"]
    return next((check["problem"] for check in checks if check["kind"] == "disk"), None)


def _notices(platform: TemporaryPlatform, session: Session) -> set[str]:
    return {notice["kind"] for notice in _get(platform, "/api/notices", session)["items"]}


def _get(platform: TemporaryPlatform, path: str, session: Session | None = None) -> dict[str, Any]:
    with http_connection(urlsplit(platform.url).netloc) as connection:
        answer = connection.call("GET", path, session or Session())
    found: dict[str, Any] = json.loads(answer.body)
    return found
