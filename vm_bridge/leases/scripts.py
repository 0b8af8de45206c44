"""The ledger's Lua scripts, each by the name of its file."""

from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from vm_bridge.errors import ERRORS, BridgeError
from vm_bridge.machine import Capabilities

KEY_PREFIX = "pilothouse:fleet:"
"""Of every key; `common.lua` has it too."""
LUA = Path(__file__).parent / "lua"
COMMON = "common"


class RedisScripts:
    """Runs scripts by name. Raises redis.RedisError when Redis cannot be reached."""

    def __init__(self, redis: Redis) -> None:
        common = (LUA / f"{COMMON}.lua").read_text()
        self._scripts = {
            path.stem: redis.register_script(common + path.read_text())
            for path in LUA.glob("*.lua")
            if path.stem != COMMON
        }

    async def run(self, name: str, *arguments: str | int | float) -> Any:
        """What the script answers."""
        return await self._scripts[name](args=arguments)


def parse_error(error_text: str) -> BridgeError:
    """The error that a script's `code reason` stands for."""
    code, _, reason = error_text.partition(" ")
    return ERRORS.get(code, BridgeError)(reason)


def parse_time(milliseconds: str | float) -> datetime:
    """A time of Redis's clock."""
    return datetime.fromtimestamp(float(milliseconds) / 1000, UTC)


@lru_cache(maxsize=256)
def parse_capabilities(text: str) -> Capabilities:
    """What a machine can do, as its host wrote it; nearly all machines of a fleet wrote the same."""
    return Capabilities.model_validate_json(text)
