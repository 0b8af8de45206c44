"""What Redis knows of machines: which are free, who leases which until when, and which tickets were used.

Every change is one Lua script, so that any number of processes may ask at once; times are the Redis
server's own, so that no two clocks disagree.
"""

from typing import NamedTuple, cast

from redis.asyncio import Redis

from vm_bridge.errors import StaleLease, TicketRefused
from vm_bridge.tickets import Ticket

PREFIX = "pilothouse:bridge:"
FENCE = PREFIX + "fence"
LEASES = PREFIX + "leases"
"""Sorted set: machine → end of its lease (ms since the epoch)."""
_NOW = "local t = redis.call('TIME'); local now = t[1] * 1000 + math.floor(t[2] / 1000)\n"
_HELD = "if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end\n"

CLAIM = (
    _NOW
    + """
local id = redis.call('LPOP', KEYS[1])
if not id then return false end
local token = redis.call('INCR', KEYS[2])
if token <= tonumber(ARGV[4]) then token = ARGV[4] + 1; redis.call('SET', KEYS[2], token) end
local ends = now + ARGV[3]
redis.call('HSET', ARGV[1] .. id, 'token', token, 'holder', ARGV[2])
redis.call('ZADD', KEYS[3], ends, id)
return {id, tostring(token), tostring(ends)}
"""
)
RELEASE = (
    _HELD
    + """
redis.call('HDEL', KEYS[1], 'token', 'holder')
return redis.call('ZREM', KEYS[2], ARGV[2])
"""
)
EXPIRE = (
    _NOW
    + """
local ended = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now)
for _, id in ipairs(ended) do
    redis.call('ZREM', KEYS[1], id)
    redis.call('HDEL', ARGV[1] .. id, 'token', 'holder')
end
return ended
"""
)
_LIVE = (
    _NOW
    + _HELD
    + """
local ends = redis.call('ZSCORE', KEYS[2], ARGV[2])
if not ends or tonumber(ends) <= now then return 0 end
"""
)
RENEW = (
    _LIVE
    + """
redis.call('ZADD', KEYS[2], now + ARGV[3], ARGV[2])
return now + ARGV[3]
"""
)
HOLDS = _LIVE + "return 1"
REDEEM = (
    _LIVE
    + """
if not redis.call('SET', KEYS[3], 1, 'NX', 'PXAT', ARGV[3]) then return 'used' end
return 'redeemed'
"""
)
TICKET_MARGIN = 60
"""How much longer a used ticket is remembered than it is good for, against clocks that differ (seconds)."""


class Claim(NamedTuple):
    """A lease as Redis tells it; `ends` in milliseconds since the epoch."""

    machine_id: str
    token: int
    ends: int


class Ledger:
    """Leases, fences and used tickets. Raises redis.RedisError when Redis cannot be reached."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._claim = redis.register_script(CLAIM)
        self._renew = redis.register_script(RENEW)
        self._release = redis.register_script(RELEASE)
        self._expire = redis.register_script(EXPIRE)
        self._holds = redis.register_script(HOLDS)
        self._redeem = redis.register_script(REDEEM)

    async def ping(self) -> None:
        """Nothing, when Redis answers."""
        await self._redis.ping()

    async def add(self, machine_id: str, *, image: str, vnc_socket: str | None) -> None:
        """Make a machine known, and free."""
        await self._redis.hset(_machine(machine_id), mapping={"image": image, "vnc_socket": vnc_socket or ""})
        await self._redis.rpush(_free(image), machine_id)

    async def forget(self, machine_id: str, *, image: str) -> None:
        """A machine that is no more, leased or not."""
        await self._redis.lrem(_free(image), 0, machine_id)
        await self._redis.zrem(LEASES, machine_id)
        await self._redis.delete(_machine(machine_id))

    async def clear(self) -> None:
        """Forget every machine; the fence stays, for it must never fall."""
        keys = [key async for key in self._redis.scan_iter(PREFIX + "machine:*")]
        keys += [key async for key in self._redis.scan_iter(PREFIX + "free:*")]
        await self._redis.delete(LEASES, *keys)

    async def free(self, image: str) -> tuple[str, ...]:
        """The machines of an image that stand ready, the next to be claimed first."""
        return tuple(cast("list[str]", await self._redis.lrange(_free(image), 0, -1)))

    async def take(self, machine_id: str, *, image: str) -> bool:
        """Withdraw a free machine, so that nobody can claim it; False when somebody was faster."""
        return bool(await self._redis.lrem(_free(image), 1, machine_id))

    async def claim(self, image: str, *, holder: str, ttl: float, above: int) -> Claim | None:
        """Lease a free machine under a token higher than every earlier one and than `above`."""
        answer = await self._claim(
            keys=[_free(image), FENCE, LEASES], args=[PREFIX + "machine:", holder, int(ttl * 1000), above]
        )
        return None if answer is None else Claim(answer[0], int(answer[1]), int(answer[2]))

    async def renew(self, machine_id: str, token: int, *, ttl: float) -> Claim:
        """Put the end of a lease off to `ttl` seconds from now. Raises StaleLease when it has ended."""
        args: list[str | int] = [token, machine_id, int(ttl * 1000)]
        ends = int(await self._renew(keys=[_machine(machine_id), LEASES], args=args))
        if not ends:
            raise _stale(machine_id, token)
        return Claim(machine_id, token, ends)

    async def release(self, machine_id: str, token: int) -> bool:
        """End a lease; False when it had ended before."""
        return bool(await self._release(keys=[_machine(machine_id), LEASES], args=[token, machine_id]))

    async def expire(self) -> tuple[str, ...]:
        """End every lease whose time is up; the machines they held."""
        return tuple(await self._expire(keys=[LEASES], args=[PREFIX + "machine:"]))

    async def check(self, machine_id: str, token: int) -> None:
        """Raises StaleLease unless this token holds this machine now."""
        if not await self._holds(keys=[_machine(machine_id), LEASES], args=[token, machine_id]):
            raise _stale(machine_id, token)

    async def holder(self, machine_id: str) -> str | None:
        """Who leases a machine."""
        return cast("str | None", await self._redis.hget(_machine(machine_id), "holder"))

    async def redeem(self, ticket: Ticket) -> None:
        """Use a verified ticket, once. Raises TicketRefused when it was used before or its lease has ended."""
        claim = ticket.claim
        answer = await self._redeem(
            keys=[_machine(claim.machine_id), LEASES, f"{PREFIX}ticket:{ticket.nonce}"],
            args=[claim.fencing_token, claim.machine_id, int((ticket.expires + TICKET_MARGIN) * 1000)],
        )
        if answer == "used":
            raise TicketRefused("this ticket was used before")
        if answer != "redeemed":
            raise TicketRefused("the lease of this ticket has ended")

    async def vnc_socket(self, machine_id: str) -> str | None:
        """The unix socket of a machine's RFB server."""
        return cast("str | None", await self._redis.hget(_machine(machine_id), "vnc_socket")) or None


def _machine(machine_id: str) -> str:
    return f"{PREFIX}machine:{machine_id}"


def _free(image: str) -> str:
    return f"{PREFIX}free:{image}"


def _stale(machine_id: str, token: int) -> StaleLease:
    return StaleLease(f"the lease of {machine_id} under token {token} has ended")
