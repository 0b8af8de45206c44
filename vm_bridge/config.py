"""The bridge's environment variables, read once."""

import json
import os
import re
import shlex
import socket
from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeVar

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError, model_validator

from protocol.base import FrozenModel
from protocol.legacy_names import current_environment
from protocol.log_lines import LogLevel
from protocol.trajectory.tasks import HostPattern
from vm_bridge.fleet import Quota
from vm_bridge.host_keys import MANAGER, derive_key, key_name
from vm_bridge.ice import IceServer

Network = IPv4Network | IPv6Network
T = TypeVar("T")


class BindAddress(NamedTuple):
    """Where a server listens."""

    host: str
    port: int


def _parse_address(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    host, _, port = value.rpartition(":")
    return BindAddress(host, int(port))


def _split_commas(value: Any) -> Any:
    return tuple(word.strip() for word in value.split(",") if word.strip()) if isinstance(value, str) else value


def _split_command(value: Any) -> Any:
    return tuple(shlex.split(value)) if isinstance(value, str) else value


def _parse_json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _parse_keys(value: Any) -> Any:
    """Of `name=key,name=key`."""
    return tuple(tuple(word.split("=", 1)) for word in _split_commas(value)) if isinstance(value, str) else value


HostKey = Annotated[str, Field(min_length=32)]
CommaSeparated = Annotated[tuple[str, ...], BeforeValidator(_split_commas)]
LabNetworks = Annotated[tuple[Network, ...], BeforeValidator(_split_commas)]
Bind = Annotated[BindAddress, BeforeValidator(_parse_address)]
GuestAddresses = Annotated[
    tuple[Annotated[str, Field(pattern=r"^(\[[0-9a-fA-F:]+\]|[^:\[\]]+):\d+(:\d+:\d+:\d+)?$")], ...],
    BeforeValidator(_split_commas),
]


ADDRESS_PATTERN = r"^(\[[0-9a-fA-F:]+\]|[^:\[\]]+):\d+$"
HOST_ID_PATTERN = r"^[a-z0-9][a-z0-9_.-]{0,63}$"


def _default_host_id() -> str:
    return re.sub(r"[^a-z0-9_.-]", "-", socket.gethostname().lower()).lstrip("_.-")[:64] or "host"


class Config(FrozenModel):
    """Every setting of the bridge and the VNC gateway; the variable is `PILOTHOUSE_` and the name in capitals."""

    bridge_keys: Annotated[tuple[tuple[str, HostKey], ...], BeforeValidator(_parse_keys)] = ()
    """Keys of this bridge by name: its host id and, for one that gives machines out, `@manager`
    (`./pilothouse bridge-keys` prints them). Of several with one name each is good: the new before the old."""
    secret: Annotated[str, Field(pattern=r"^(.{16,})?$")] = ""
    """Of earlier versions: shared by the web app and all bridges, in place of keys. Read until version 0.3.0."""
    log_level: Annotated[LogLevel, BeforeValidator(str.upper)] = "INFO"
    """The least level of what is logged; the same variable sets that of the web app and its workers."""
    redis_url: str = "redis://127.0.0.1:6379/0"
    """Address of Redis: leases, queues, hosts."""
    data: Path = Path(".data")
    """Folder with machines' files, logs and what is made once."""
    tools: Path = Path(".data/tools")
    """Where the desktops' tools (Jupyter, code editor) are made, once for all hosts of this machine."""
    role: Literal["both", "manager", "host"] = "both"
    """`manager` gives machines out, `host` makes them and takes their calls."""
    workers: int = Field(default=1, ge=1, le=64)
    """Processes of a manager; one that has machines must be alone."""
    host_id: Annotated[str, Field(pattern=HOST_ID_PATTERN)] = Field(default_factory=_default_host_id)
    """This host among those on one Redis; its machines are adopted again under the same name."""
    bridge_bind: Bind = BindAddress("127.0.0.1", 8010)
    """Address and port it listens on."""
    bridge_url: str = "http://127.0.0.1:8010"
    """How the web app reaches this bridge; written into every lease."""
    vnc_bind: Bind = BindAddress("127.0.0.1", 8011)
    """Address and port of the VNC gateway."""
    web_origins: CommaSeparated = ("http://127.0.0.1:8000", "http://localhost:8000")
    """Pages that may open a stream."""
    preview_url: str = ""
    """Origin under which alone browsers see the web programs of machines, `{machine}` in it the machine's name and
    `{bridge}` this host's id; empty, they see them under every name the bridge has."""
    machines: Literal["local", "fake"] = "local"
    """What they are; `fake` paints pictures and needs nothing."""
    lab_networks: LabNetworks = ()
    """Networks of the lab that tasks may reach where they list a host of them, such as `10.20.0.0/16`. Addresses of
    this machine, of loopback and of links stay closed."""
    zim_folder: Path | None = None
    """A folder with the ZIM files of tasks, which `kiwix-serve` serves to their browsers."""
    adb_devices: CommaSeparated = ()
    """Serial numbers of real phones, as `adb devices` lists them; each is one machine of the image `android`."""
    adb_clear: CommaSeparated = ()
    """Packages on them whose data every reset throws away."""
    android_world_python: Path | None = None
    """The interpreter that has AndroidWorld's package, which sets its tasks up on phones and scores them."""
    osworld: GuestAddresses = ()
    """Addresses (`host:port`, or `host:port:chrome:vnc:vlc`) of OSWorld's in-guest servers; each is one machine of the
    image `osworld`."""
    osworld_revert: Annotated[tuple[str, ...], BeforeValidator(_split_command)] = ()
    """The command that puts one of them back; its address becomes the last word. None, and nothing does."""
    osworld_python: Path = Path(".data/venvs/osworld/bin/python")
    """The interpreter that has OSWorld's package, which sets its task files up and judges them."""
    osworld_hosts: Annotated[tuple[HostPattern, ...], BeforeValidator(_split_commas)] = ()
    """Hosts from which it may fetch the files that task files name."""
    osworld_password: str = ""
    """Of the guests' user, for task files that ask for it."""
    osworld_files: Path | None = None
    """A folder with accounts (`evaluation_examples/settings`) and files that task files name."""
    osworld_windows: GuestAddresses = ()
    """Addresses of the same server in guests of Windows; each is one machine of the image `osworld-windows`."""
    osworld_windows_revert: Annotated[tuple[str, ...], BeforeValidator(_split_command)] = ()
    """The command that puts one of those back."""
    windows: Annotated[tuple[Annotated[str, Field(pattern=ADDRESS_PATTERN)], ...], BeforeValidator(_split_commas)] = ()
    """Addresses (`host:port`) of our agents in machines of Windows; each is one machine of the image `windows`."""
    windows_secret: Annotated[str, Field(pattern=r"^(.{16,})?$")] = ""
    """What these agents were packed with."""
    windows_revert: Annotated[tuple[str, ...], BeforeValidator(_split_command)] = ()
    """The command that puts one of those machines back."""
    qemu: bool = False
    """Whether there are virtual machines too, of the image `desktop-vm`."""
    qemu_memory: int = Field(default=1024, ge=256, le=65_536)
    """Memory of each (MiB)."""
    docker: bool = False
    """Whether there are containers too, of the images `desktop-container` and `task-container`."""
    docker_image: str = "pilothouse-sandbox"
    """The container engine's image that they see."""
    docker_network: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{0,100}$")] = ""
    """The engine's network of the builds of tasks, and of tasks that want one; none: neither has any."""
    disks: Path = Path(".data/disks")
    """Where what they boot from is made, once for all hosts of this machine."""
    browsers: int = Field(default_factory=lambda: max(1, (os.cpu_count() or 1) // 2), ge=1, le=256)
    """Processes that share the browser machines; half the processors by default."""
    browser_gpu: bool = False
    """Whether they draw with a GPU; they prove that they do when they start."""
    browser_unsandboxed: bool = False
    """Whether they may run as this user, with its files and network, where no walls can be put around them."""
    max_machines: int = Field(default=8, ge=1, le=10_000)
    """Most machines of this host at once."""
    warm_pool: Annotated[dict[str, int], BeforeValidator(_parse_json)] = {}
    """Machines that stand ready from the start, by image: `{"desktop": 1}`."""
    quotas: Annotated[tuple[Quota, ...], BeforeValidator(_parse_json)] = ()
    """How many machines users and pools may hold, set at the start: `[{"scope": "user", "name": "*", "limit": 4}]`."""
    fake_machine_log: Path | None = None
    """Where fake machines write down every call with its token, for tests of fences."""
    ice_servers: Annotated[tuple[IceServer, ...], BeforeValidator(_parse_json)] = ()
    """STUN and TURN servers, told to browsers by the web app and used by the bridge."""
    ice_addresses: CommaSeparated = ()
    """Addresses to offer browsers in place of those of the network interfaces; `127.0.0.1` works only on
    the same machine, and there it works without any network."""
    stream_fps: float = Field(default=30, gt=0, le=60)
    """Most pictures a second of one WebRTC stream."""
    stream_bitrate: int = Field(default=6_000_000, ge=200_000, le=100_000_000)
    """Ceiling of one WebRTC stream (bits per second)."""

    @property
    def preview_origin(self) -> str:
        """`preview_url` of this host: its id as a label of a host name, as the web app writes it too."""
        return self.preview_url.replace("{bridge}", re.sub(r"[^a-z0-9-]+", "-", self.host_id).strip("-"))

    @property
    def own_key_name(self) -> str:
        """The name of this host's key."""
        return key_name(self.host_id)

    @property
    def host_keys(self) -> tuple[str, ...]:
        """Keys that authorise calls on this host's machines."""
        return self.keys_of(self.own_key_name)

    @property
    def ticket_keys(self) -> tuple[str, ...]:
        """Keys that sign tickets to this host's machines, the secret of earlier versions among them."""
        return (*self.host_keys, *((self.secret,) if self.secret else ()))

    def keys_of(self, name: str) -> tuple[str, ...]:
        """The keys of this name, the one derived from the shared secret among them."""
        given = tuple(key for known, key in self.bridge_keys if known == name)
        return (*given, derive_key(self.secret, name)) if self.secret else given

    @model_validator(mode="after")
    def _together(self) -> Self:
        if self.workers > 1 and self.role != "manager":
            raise ValueError(f"{PREFIX}WORKERS: only a manager alone can have more than one")
        needed = {"both": (MANAGER, self.own_key_name), "manager": (MANAGER,), "host": (self.own_key_name,)}
        missing = [name for name in needed[self.role] if not self.keys_of(name)]
        if missing:
            raise ValueError(f"{PREFIX}BRIDGE_KEYS has no key of {' and '.join(missing)} (./pilothouse bridge-keys)")
        if self.windows and not self.windows_secret:
            raise ValueError(f"{PREFIX}WINDOWS_SECRET: machines of Windows let nobody in without it")
        return self


BOOLEAN: TypeAdapter[bool] = TypeAdapter(bool)
NETWORKS: TypeAdapter[tuple[Network, ...]] = TypeAdapter(LabNetworks)
CONFIG: TypeAdapter[Config] = TypeAdapter(Config)
FOLDER: TypeAdapter[Path | None] = TypeAdapter(Path | None)
PREFIX = "PILOTHOUSE_"


class ConfigError(Exception):
    """A variable is missing or unusable; the message names it."""


def read_config(environment: Mapping[str, str]) -> Config:
    """The settings an environment gives. Raises ConfigError."""
    environment = current_environment(environment)
    given = {
        name: environment[PREFIX + name.upper()] for name in Config.model_fields if PREFIX + name.upper() in environment
    }
    try:
        return Config.model_validate(given)
    except ValidationError as error:
        problems = "; ".join(_variable_prefix(e["loc"]) + e["msg"] for e in error.errors())
        raise ConfigError(problems) from None


def browser_unsandboxed(environment: Mapping[str, str]) -> bool:
    """`browser_unsandboxed` for who runs browsers without a bridge. Raises ConfigError."""
    return _read_one(environment, "BROWSER_UNSANDBOXED", BOOLEAN, False)


def lab_networks(environment: Mapping[str, str]) -> tuple[Network, ...]:
    """`lab_networks` for who runs browsers without a bridge. Raises ConfigError."""
    return _read_one(environment, "LAB_NETWORKS", NETWORKS, "")


def zim_folder(environment: Mapping[str, str]) -> Path | None:
    """`zim_folder` where a task is set up or made. Raises ConfigError."""
    return _read_one(environment, "ZIM_FOLDER", FOLDER, None)


def _read_one(environment: Mapping[str, str], name: str, adapter: TypeAdapter[T], default: object) -> T:
    try:
        return adapter.validate_python(current_environment(environment).get(PREFIX + name, default))
    except ValidationError as error:
        raise ConfigError(f"{PREFIX}{name}: {error.errors()[0]['msg']}") from None


def _variable_prefix(place: tuple[int | str, ...]) -> str:
    return f"{PREFIX}{str(place[0]).upper()}: " if place else ""
