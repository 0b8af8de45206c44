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
    """Parse `name=key,name=key`."""
    return tuple(tuple(word.split("=", 1)) for word in _split_commas(value)) if isinstance(value, str) else value


PodField = Literal[
    "affinity",
    "hostUsers",
    "imagePullSecrets",
    "nodeSelector",
    "priorityClassName",
    "runtimeClassName",
    "schedulerName",
    "tolerations",
    "topologySpreadConstraints",
]
"""Fields of a pod's spec that take none of its bounds away."""
HostKey = Annotated[str, Field(min_length=32)]
CommaSeparated = Annotated[tuple[str, ...], BeforeValidator(_split_commas)]
LabNetworks = Annotated[tuple[Network, ...], BeforeValidator(_split_commas)]
PodFields = Annotated[dict[PodField, Any], BeforeValidator(_parse_json)]
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
    """All settings of the bridge and the VNC gateway. The variable is `PILOTHOUSE_` and the name in capitals."""

    bridge_keys: Annotated[tuple[tuple[str, HostKey], ...], BeforeValidator(_parse_keys)] = ()
    """Keys of this bridge by name: its host id and, for a manager, `@manager` (`./pilothouse bridge-keys` prints them).
    If a name has several keys, each is valid; the new one comes first.
    """
    secret: Annotated[str, Field(pattern=r"^(.{16,})?$")] = ""
    """The secret of earlier versions, shared by the web app and all bridges instead of keys. Read until version 0.3.0.
    """
    log_level: Annotated[LogLevel, BeforeValidator(str.upper)] = "INFO"
    """Minimum log level. The same variable sets that of the web app and its workers."""
    redis_url: str = "redis://127.0.0.1:6379/0"
    """Address of Redis: leases, queues, hosts."""
    data: Path = Path(".data")
    """Folder with machines' files, logs and artifacts that are built once."""
    tools: Path = Path(".data/tools")
    """Folder where the desktops' tools (Jupyter, code editor) are built, once for all hosts of this machine."""
    role: Literal["both", "manager", "host"] = "both"
    """`manager` leases machines, `host` makes them and takes their calls."""
    workers: int = Field(default=1, ge=1, le=64)
    """Number of a manager's worker processes. A manager with machines must have one."""
    host_id: Annotated[str, Field(pattern=HOST_ID_PATTERN)] = Field(default_factory=_default_host_id)
    """Host id, unique on one Redis. A restarted bridge with the same id adopts its machines again."""
    bridge_bind: Bind = BindAddress("127.0.0.1", 8010)
    """Address and port it listens on."""
    bridge_url: str = "http://127.0.0.1:8010"
    """URL at which the web app reaches this bridge; part of every lease."""
    vnc_bind: Bind = BindAddress("127.0.0.1", 8011)
    """Address and port of the VNC gateway."""
    web_origins: CommaSeparated = ("http://127.0.0.1:8000", "http://localhost:8000")
    """Pages that may open a stream."""
    preview_url: str = ""
    """The only origin at which browsers see machines' web programs. `{machine}` stands for the machine's name and
    `{bridge}` for this host's id. If empty, they are served at every name of the bridge.
    """
    machines: Literal["local", "fake", "pods"] = "local"
    """Kind of the machines; `fake` paints pictures and has no requirements, `pods` has pods of a cluster alone."""
    lab_networks: LabNetworks = ()
    """Lab networks that tasks may reach if they list a host in one, such as `10.20.0.0/16`. Addresses of this machine,
    loopback and link-local addresses stay blocked.
    """
    zim_folder: Path | None = None
    """Folder with the ZIM files of tasks, which `kiwix-serve` serves to their browsers."""
    adb_devices: CommaSeparated = ()
    """Serial numbers of real phones, as `adb devices` lists them; each is one machine of the image `android`."""
    adb_clear: CommaSeparated = ()
    """Packages on the phones whose data every reset deletes."""
    android_world_python: Path | None = None
    """Python interpreter with the AndroidWorld package, which sets up tasks on phones and scores them."""
    osworld: GuestAddresses = ()
    """Addresses (`host:port`, or `host:port:chrome:vnc:vlc`) of OSWorld's in-guest servers; each is one machine of the
    image `osworld`."""
    osworld_revert: Annotated[tuple[str, ...], BeforeValidator(_split_command)] = ()
    """Command that reverts one of these machines; the machine's address is appended. None disables reverting."""
    osworld_python: Path = Path(".data/venvs/osworld/bin/python")
    """Python interpreter with the OSWorld package, which sets up task files and evaluates them."""
    osworld_hosts: Annotated[tuple[HostPattern, ...], BeforeValidator(_split_commas)] = ()
    """Hosts from which it may download the files in task files."""
    osworld_password: str = ""
    """Password of the guests' user, for task files that need it."""
    osworld_files: Path | None = None
    """Folder with accounts (`evaluation_examples/settings`) and files that task files refer to."""
    osworld_services: Path | None = None
    """File of `NAME=value` lines with the websites, the GitLab and the judging model of OSWorld 2.0's tasks."""
    osworld_windows: GuestAddresses = ()
    """Addresses of the same server in Windows guests; each is one machine of the image `osworld-windows`."""
    osworld_windows_revert: Annotated[tuple[str, ...], BeforeValidator(_split_command)] = ()
    """Command that reverts one of these machines."""
    windows_arena: GuestAddresses = ()
    """Addresses of WindowsAgentArena's in-guest servers; each is one machine of the image `windows-arena`."""
    windows_arena_revert: Annotated[tuple[str, ...], BeforeValidator(_split_command)] = ()
    """Command that reverts one of these machines."""
    windows_arena_client: Path | None = None
    """Your copy of WindowsAgentArena's client folder (the one with `desktop_env`), which judges its task files."""
    windows: Annotated[tuple[Annotated[str, Field(pattern=ADDRESS_PATTERN)], ...], BeforeValidator(_split_commas)] = ()
    """Addresses (`host:port`) of the Windows agent in Windows machines; each is one machine of the image `windows`."""
    windows_secret: Annotated[str, Field(pattern=r"^(.{16,})?$")] = ""
    """Secret that these agents were packed with."""
    windows_revert: Annotated[tuple[str, ...], BeforeValidator(_split_command)] = ()
    """Command that reverts one of these machines."""
    qemu: bool = False
    """Whether the host also has virtual machines, of the image `desktop-vm`."""
    qemu_memory: int = Field(default=1024, ge=256, le=65_536)
    """Memory of each (MiB)."""
    docker: bool = False
    """Whether the host also has containers, of the images `desktop-container` and `task-container`."""
    docker_image: str = "pilothouse-sandbox"
    """The container engine's image for them."""
    docker_network: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{0,100}$")] = ""
    """The container engine's network for task builds, and for tasks that need one. None: neither has a network."""
    kubernetes_namespace: Annotated[str, Field(pattern=r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?$")] = ""
    """The namespace of a Kubernetes cluster where the host also makes pods, of the image `desktop-pod`. Empty: none."""
    kubernetes_image: str = "pilothouse-pod"
    """The container image for them, as the cluster's nodes pull it."""
    kubernetes_pod_spec: PodFields = {}
    """Fields added to each pod's spec, as JSON, such as `{"runtimeClassName": "gvisor"}`. Those that choose nodes,
    runtimes, priorities and pull secrets are allowed.
    """
    kubernetes_owner: Annotated[str, Field(pattern=r"^([a-z0-9.-]+:[0-9a-f-]+)?$")] = ""
    """Name and uid of the bridge's own pod (`name:uid`): the cluster deletes its pods with it. Empty: no owner."""
    kubernetes_start_seconds: float = Field(default=60, ge=5, le=240)
    """Longest time until a new pod answers, with the pull of its image (seconds)."""
    disks: Path = Path(".data/disks")
    """Folder where the boot files of virtual machines are built, once for all hosts of this machine."""
    browsers: int = Field(default_factory=lambda: max(1, (os.cpu_count() or 1) // 2), ge=1, le=256)
    """Number of browser processes that the browser machines share; by default half the processors."""
    browser_gpu: bool = False
    """Whether they draw with a GPU. Each browser verifies this when it starts."""
    browser_unsandboxed: bool = False
    """Whether browsers may run as this user, with its files and network, if they cannot be sandboxed."""
    max_machines: int = Field(default=8, ge=1, le=10_000)
    """Maximum machines of this host."""
    warm_pool: Annotated[dict[str, int], BeforeValidator(_parse_json)] = {}
    """Machines to keep ready from the start, by image: `{"desktop": 1}`."""
    quotas: Annotated[tuple[Quota, ...], BeforeValidator(_parse_json)] = ()
    """Initial quotas of users and pools: `[{"scope": "user", "name": "*", "limit": 4}]`."""
    fake_machine_log: Path | None = None
    """File where fake machines log every call with its token, for tests of fencing."""
    ice_servers: Annotated[tuple[IceServer, ...], BeforeValidator(_parse_json)] = ()
    """STUN and TURN servers. The web app sends them to browsers; the bridge uses them."""
    ice_addresses: CommaSeparated = ()
    """Addresses to offer to browsers instead of those of the network interfaces. `127.0.0.1` works only on the same
    machine, and works there without any network.
    """
    stream_fps: float = Field(default=30, gt=0, le=60)
    """Maximum frames per second of one WebRTC stream."""
    stream_bitrate: int = Field(default=6_000_000, ge=200_000, le=100_000_000)
    """Maximum bit rate of one WebRTC stream (bits per second)."""

    @property
    def preview_origin(self) -> str:
        """This host's `preview_url`, with its id as a label of the host name. The web app builds the same URL."""
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
        """Keys that sign tickets to this host's machines, including the secret of earlier versions."""
        return (*self.host_keys, *((self.secret,) if self.secret else ()))

    def keys_of(self, name: str) -> tuple[str, ...]:
        """The keys with this name, including the one derived from the shared secret."""
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
        if self.machines == "pods" and not self.kubernetes_namespace:
            raise ValueError(f"{PREFIX}KUBERNETES_NAMESPACE: pods need one")
        if self.windows_arena and self.windows_arena_client is None:
            raise ValueError(
                f"{PREFIX}WINDOWS_ARENA_CLIENT: task files of WindowsAgentArena are judged by its own client"
            )
        if self.windows and not self.windows_secret:
            raise ValueError(f"{PREFIX}WINDOWS_SECRET: machines of Windows refuse every connection without it")
        return self


BOOLEAN: TypeAdapter[bool] = TypeAdapter(bool)
NETWORKS: TypeAdapter[tuple[Network, ...]] = TypeAdapter(LabNetworks)
CONFIG: TypeAdapter[Config] = TypeAdapter(Config)
FOLDER: TypeAdapter[Path | None] = TypeAdapter(Path | None)
PREFIX = "PILOTHOUSE_"


class ConfigError(Exception):
    """A variable is missing or invalid; the message names it."""


def read_config(environment: Mapping[str, str]) -> Config:
    """Read the settings from an environment. Raises ConfigError."""
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
    """`browser_unsandboxed` for programs that run browsers without a bridge. Raises ConfigError."""
    return _read_one(environment, "BROWSER_UNSANDBOXED", BOOLEAN, False)


def lab_networks(environment: Mapping[str, str]) -> tuple[Network, ...]:
    """`lab_networks` for programs that run browsers without a bridge. Raises ConfigError."""
    return _read_one(environment, "LAB_NETWORKS", NETWORKS, "")


def zim_folder(environment: Mapping[str, str]) -> Path | None:
    """`zim_folder` for programs that set up or create a task. Raises ConfigError."""
    return _read_one(environment, "ZIM_FOLDER", FOLDER, None)


def _read_one(environment: Mapping[str, str], name: str, adapter: TypeAdapter[T], default: object) -> T:
    try:
        return adapter.validate_python(current_environment(environment).get(PREFIX + name, default))
    except ValidationError as error:
        raise ConfigError(f"{PREFIX}{name}: {error.errors()[0]['msg']}") from None


def _variable_prefix(place: tuple[int | str, ...]) -> str:
    return f"{PREFIX}{str(place[0]).upper()}: " if place else ""
