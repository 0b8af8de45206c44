"""The bridge process: `python -m vm_bridge`."""

import asyncio
import gc
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING

import uvicorn
from fastapi import FastAPI
from redis.asyncio import BlockingConnectionPool, Redis
from redis.exceptions import RedisError

from vm_bridge.config import Config, ConfigError, config_read
from vm_bridge.ledger import Ledger
from vm_bridge.manager.manager import Manager
from vm_bridge.sandbox import Host
from vm_bridge.server import Bridge, app_of
from vm_bridge.suites.bundled import tasks_made

if TYPE_CHECKING:
    from vm_bridge.hosting import Hosting

logger = logging.getLogger(__name__)

CONNECTIONS = 32
"""Most connections to Redis."""
REDIS_TIMEOUT = 5.0
START_SECONDS, START_PAUSE = 15.0, 0.1
"""How long a bridge that starts waits for Redis, and between two tries (seconds)."""
GRACE = 3
"""How long running requests may take to end after SIGTERM (seconds)."""


def bridge_app(config: Config, host: Host | None = None) -> FastAPI:
    """The bridge that a configuration describes, over the machines of `host`; a manager alone needs none."""
    redis = redis_of(config)
    manager = None if config.role == "host" else Manager(redis)
    here = None if host is None else hosting(config, host, redis)

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(redis.aclose)
            await redis_answers(redis)
            if here is not None:
                await stack.enter_async_context(here.running())
            if manager is not None:
                await manager.configure(warm=config.warm, quotas=config.quotas)
                await stack.enter_async_context(manager.running())
            yield

    bridge = Bridge(
        secret=config.secret,
        web_origins=config.web_origins,
        ping=Ledger(redis).ping,
        suite_tasks=tasks_made,
        manager=manager,
        pool=here.pool if here else None,
        guarded=here.guarded if here else (),
        ticketed=here.ticketed if here else (),
    )
    app = app_of(bridge, lifespan)
    if here is not None:
        here.show_previews(app)
    return app


def redis_of(config: Config) -> Redis:
    """Connections that are waited for when all are in use."""
    connections = BlockingConnectionPool.from_url(
        config.redis_url,
        max_connections=CONNECTIONS,
        timeout=REDIS_TIMEOUT,
        decode_responses=True,
        socket_timeout=REDIS_TIMEOUT,
        socket_connect_timeout=2,
        driver_info=None,  # `CLIENT SETINFO` is no command of the bridge's Redis user
    )
    return Redis.from_pool(connections)


async def redis_answers(redis: Redis) -> None:
    """Wait until Redis answers: both may just have been restarted. Raises RedisError when it does not in time."""
    end = asyncio.get_running_loop().time() + START_SECONDS
    while True:
        try:
            await redis.ping()
        except RedisError as error:
            if asyncio.get_running_loop().time() > end:
                raise
            logger.warning("Redis does not answer yet: %s", error)
            await asyncio.sleep(START_PAUSE)
        else:
            return


def hosting(config: Config, host: Host, redis: Redis) -> "Hosting":
    """The side of the bridge that has machines; a manager starts in half the time and memory without its libraries."""
    from vm_bridge.hosting import Hosting

    return Hosting(config, host, redis)


def app() -> FastAPI:
    """What each worker process serves."""
    logging_begin()
    config = config_read(os.environ)
    if config.role == "manager":
        made = bridge_app(config)
    else:
        from vm_bridge.hosting import host_of

        made = bridge_app(config, host_of(config))
    # What is there now stays: going through it again took 30 to 60 ms each time, in which nobody got an answer.
    gc.collect()
    gc.freeze()
    return made


@cache
def logging_begin() -> None:
    """To standard error, in each process once."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
    # It would write the tickets of WebSockets down.
    logging.getLogger("uvicorn.error").addFilter(lambda record: "WebSocket" not in str(record.msg))
    logging.getLogger("aioice").setLevel(logging.WARNING)  # every candidate pair of every viewer otherwise


def main() -> None:
    """Serve until SIGTERM or SIGINT, then destroy every machine; until SIGHUP, then leave them running."""
    logging_begin()
    try:
        config = config_read(os.environ)
    except ConfigError as error:
        sys.exit(f"vm_bridge: {error}")
    uvicorn.run(
        "vm_bridge.__main__:app",
        factory=True,
        workers=config.workers,
        host=config.bridge_bind.host,
        port=config.bridge_bind.port,
        ws="websockets-sansio",
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=GRACE,
    )


if __name__ == "__main__":
    main()
