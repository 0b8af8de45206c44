"""The bridge's environment variables, read once."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError

from vm_bridge.ice import IceServer
from vocabulary.base import Frozen


class Address(NamedTuple):
    """Where a server listens."""

    host: str
    port: int


def _address(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    host, _, port = value.rpartition(":")
    return Address(host, int(port))


def _words(value: Any) -> Any:
    return tuple(word.strip() for word in value.split(",") if word.strip()) if isinstance(value, str) else value


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


Words = Annotated[tuple[str, ...], BeforeValidator(_words)]
Bind = Annotated[Address, BeforeValidator(_address)]


class Config(Frozen):
    """Every setting of the bridge and the VNC gateway; the variable is `PILOTHOUSE_` and the name in capitals."""

    secret: Annotated[str, Field(min_length=16)]
    """Shared with the web app: bearer token of its calls and key of its tickets. No default."""
    redis_url: str = "redis://127.0.0.1:6379/0"
    data: Path = Path(".data")
    tools: Path = Path(".data/tools")
    """Where the desktops' tools (Jupyter, code editor) are made, once for all hosts of this machine."""
    bridge_bind: Bind = Address("127.0.0.1", 8010)
    bridge_url: str = "http://127.0.0.1:8010"
    """How the web app reaches this bridge; written into every lease."""
    vnc_bind: Bind = Address("127.0.0.1", 8011)
    web_origins: Words = ("http://127.0.0.1:8000", "http://localhost:8000")
    """Pages that may open a stream."""
    machines: Literal["local", "fake"] = "local"
    """What they are; `fake` paints pictures and needs nothing."""
    max_machines: int = Field(default=8, ge=1, le=10_000)
    warm: Annotated[dict[str, int], BeforeValidator(_json)] = {}
    """Machines that stand ready from the start, by image: `{"desktop": 1}`."""
    ice_servers: Annotated[tuple[IceServer, ...], BeforeValidator(_json)] = ()
    """STUN and TURN servers, told to browsers by the web app and used by the bridge."""
    ice_addresses: Words = ()
    """Addresses to offer browsers in place of those of the network interfaces; `127.0.0.1` works only on
    the same machine, and there it works without any network."""
    stream_fps: float = Field(default=30, gt=0, le=60)
    stream_bitrate: int = Field(default=6_000_000, ge=200_000, le=100_000_000)
    """Ceiling of one WebRTC stream (bits per second)."""


CONFIG: TypeAdapter[Config] = TypeAdapter(Config)
PREFIX = "PILOTHOUSE_"


class ConfigError(Exception):
    """A variable is missing or unusable; the message names it."""


def config_read(environment: Mapping[str, str]) -> Config:
    """The settings an environment gives. Raises ConfigError."""
    given = {
        name: environment[PREFIX + name.upper()] for name in Config.model_fields if PREFIX + name.upper() in environment
    }
    try:
        return Config.model_validate(given)
    except ValidationError as error:
        problems = "; ".join(f"{PREFIX}{str(e['loc'][0]).upper()}: {e['msg']}" for e in error.errors())
        raise ConfigError(problems) from None
