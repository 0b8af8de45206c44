"""A pgbouncer before a private PostgreSQL, which gives a connection out for one transaction at a time."""

import contextlib
import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from psycopg import OperationalError, connect
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from annotation_app.operations.runtime.ports import free_port

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
READY_SECONDS = 60.0
AS_OWNER = 'mount --bind "$1" /mnt && shift && exec setpriv "$@"'
SETTINGS = """\
[databases]
* = host={folder} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
auth_type = any
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 200
unix_socket_dir =
ignore_startup_parameters = extra_float_digits
"""


@contextlib.contextmanager
def run_pgbouncer(database_url: str, *, size: int) -> Iterator[str]:
    """The address of the same database through so many connections. The server's folder is its user's alone, and so is
    where the pooler is at home when we are root, whom it refuses to run as."""
    assert PGBOUNCER is not None, "pgbouncer is not installed"
    there = conninfo_to_dict(database_url)
    home, port = Path(str(there["host"])), free_port()
    owner = pwd.getpwuid(home.stat().st_uid)
    other = os.geteuid() == 0
    file = home / f"pooler-{port}.ini"
    inside = Path("/mnt") if other else home
    file.write_text(SETTINGS.format(folder=inside, user=there["user"], port=port, size=size))
    command = [PGBOUNCER, "--quiet", str(inside / file.name)]
    if other:
        drop = [f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups"]
        bound = ["unshare", "--mount", "--propagation", "private", "sh", "-c", AS_OWNER, "sh", str(home)]
        command = [*bound, *drop, *command]
    url = make_conninfo(host="127.0.0.1", port=port, user=str(there["user"]), dbname=str(there["dbname"]))
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _until_open(url, process)
        yield url
    finally:
        process.terminate()
        process.wait(30)
        file.unlink()


def _until_open(url: str, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + READY_SECONDS
    while True:
        with contextlib.suppress(OperationalError), connect(url):
            return
        if process.poll() is not None or time.monotonic() > end:
            raise TimeoutError("pgbouncer did not get ready")
        time.sleep(0.05)
