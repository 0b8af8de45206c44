"""A bridge that starts waits for its Redis, for a while."""

from typing import cast

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisAway

from vm_bridge import __main__ as program


class LateRedis:
    """Answers when it has been asked so many times."""

    def __init__(self, answers_at: int) -> None:
        self.asked, self._answers_at = 0, answers_at

    async def ping(self) -> None:
        self.asked += 1
        if self.asked < self._answers_at:
            raise RedisAway("refused")


async def test_a_redis_that_is_late_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "REDIS_RETRY_SECONDS", 0.0)
    redis = LateRedis(answers_at=3)
    await program.wait_for_redis(cast(Redis, redis))
    assert redis.asked == 3


async def test_a_redis_that_does_not_come_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "REDIS_START_TIMEOUT_SECONDS", 0.0)
    monkeypatch.setattr(program, "REDIS_RETRY_SECONDS", 0.0)
    with pytest.raises(RedisAway, match="refused"):
        await program.wait_for_redis(cast(Redis, LateRedis(answers_at=10_000)))
