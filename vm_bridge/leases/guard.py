"""The lease store's Lua scripts, each by the name of its file, and who may act on a machine or watch it now."""

from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from redis.asyncio import Redis

from vm_bridge.api.tickets import Ticket
from vm_bridge.errors import ERRORS, BridgeError, TicketRefused
from vm_bridge.machine import Capabilities

TICKET_MARGIN_SECONDS = 60
"""How much longer a used ticket is remembered than it is good for, against clocks that differ (seconds)."""


class LeaseGuard:
    """Fences and used tickets. Raises redis.RedisError when Redis cannot be reached."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._scripts = RedisScripts(redis)

    async def ping(self) -> None:
        """Nothing, when Redis answers."""
        await self._redis.ping()

    async def check(self, machine_id: str, token: int, driver: int | None = None) -> None:
        """Raises StaleLease or MachineGone, with the reason, unless this token holds this machine now.

        Args:
            driver: The token of the caller among those who drive the lease one after another. StaleLease for one that
                is lower than another's that was checked before.
        """
        error_text = await self._scripts.run("check", machine_id, token, "" if driver is None else driver)
        if error_text is not None:
            raise parse_error(error_text)

    async def redeem(self, ticket: Ticket) -> None:
        """Use a verified ticket, once. Raises TicketRefused when it was used before, may have been, or its lease has
        ended."""
        claim = ticket.claim
        until = int((ticket.expires + TICKET_MARGIN_SECONDS) * 1000)
        lease = (claim.machine_id, claim.fencing_token)
        answer = await self._scripts.run("redeem", *lease, ticket.nonce, until, int(ticket.issued * 1000))
        if answer == "old":
            raise TicketRefused("Redis lost its data after this ticket was made; ask for another")
        if answer == "used":
            raise TicketRefused("this ticket was used before")
        if answer != "redeemed":
            raise TicketRefused("the lease of this ticket has ended")

    async def vnc_socket(self, machine_id: str) -> str | None:
        """The unix socket of a machine's RFB server."""
        return cast("str | None", await self._redis.hget(f"{KEY_PREFIX}machine:{machine_id}", "vnc_socket")) or None


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
        """The script's reply."""
        return await self._scripts[name](args=arguments)


def parse_error(error_text: str) -> BridgeError:
    """The error for a script's `code reason`."""
    code, _, reason = error_text.partition(" ")
    return ERRORS.get(code, BridgeError)(reason)


def parse_time(milliseconds: str | float) -> datetime:
    """A time of Redis's clock."""
    return datetime.fromtimestamp(float(milliseconds) / 1000, UTC)


@lru_cache(maxsize=256)
def parse_capabilities(text: str) -> Capabilities:
    """What a machine can do, as its host wrote it; nearly all machines of a fleet wrote the same."""
    return Capabilities.model_validate_json(text)
