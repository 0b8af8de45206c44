"""The bridge process: `python -m vm_bridge`."""

import protocol.program_start  # noqa: F401 - first, for what the others load

# isort: split

import asyncio
import gc
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache

import uvicorn
from fastapi import FastAPI
from redis.asyncio import BlockingConnectionPool, Redis
from redis.exceptions import RedisError
from redis.maint_notifications import MaintNotificationsConfig

from protocol.legacy_names import REMOVED_IN
from protocol.log_lines import log_to_stderr
from vm_bridge.api.server import Bridge, create_api
from vm_bridge.config import Config, ConfigError, read_config
from vm_bridge.host_keys import MANAGER, CallVerifier
from vm_bridge.leases import LeaseGuard
from vm_bridge.leases.manager import LeaseManager
from vm_bridge.sandbox import Host
from vm_bridge.suites.registry import list_suites, make_tasks

logger = logging.getLogger(__name__)

FORMER_NAME_WARNING = (
    f"PILOTHOUSE_SECRET signs for every bridge host, and version {REMOVED_IN} no longer reads it:"
    " give this host PILOTHOUSE_BRIDGE_KEYS of its own (./pilothouse bridge-keys)"
)
MAX_REDIS_CONNECTIONS = 32
"""Most connections to Redis."""
REDIS_TIMEOUT_SECONDS = 5.0
REDIS_START_TIMEOUT_SECONDS, REDIS_RETRY_SECONDS = 15.0, 0.1
"""How long a starting bridge waits for Redis, and the pause between two tries (seconds)."""
SHUTDOWN_GRACE_SECONDS = 3
"""How long running requests may take to finish after SIGTERM (seconds)."""


def create_bridge_app(config: Config, host: Host | None = None) -> FastAPI:
    """Build the bridge for a configuration, over the machines of `host`. A manager-only bridge needs no host."""
    redis = connect_redis(config)
    manager = None if config.role == "host" else LeaseManager(redis)
    here = None
    if host is not None:
        # Without the machine libraries a manager starts in half the time and memory.
        from vm_bridge.host_service import HostService

        here = HostService(config, host, redis)

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(redis.aclose)
            await wait_for_redis(redis)
            if here is not None:
                await stack.enter_async_context(here.running())
            if manager is not None:
                await manager.configure(warm=config.warm_pool, quotas=config.quotas)
                await stack.enter_async_context(manager.running())
            yield

    if config.secret:
        logger.warning("%s", FORMER_NAME_WARNING)
    bridge = Bridge(
        manager_callers=CallVerifier(MANAGER, config.keys_of(MANAGER), shared_secret=config.secret),
        machine_callers=CallVerifier(
            config.own_key_name, config.host_keys, audience=config.bridge_url, shared_secret=config.secret
        ),
        web_origins=config.web_origins,
        ping=LeaseGuard(redis).ping,
        suite_tasks=make_tasks,
        suites=list_suites,
        manager=manager,
        pool=here.pool if here else None,
        machine_routers=here.machine_routers if here else (),
        ticket_routers=here.ticket_routers if here else (),
        previews=here.previews if here else None,
    )
    return create_api(bridge, lifespan)


def connect_redis(config: Config) -> Redis:
    """A pool that waits for a free connection when all are in use.

    Maintenance notifications are off. With them on (the default over TCP) redis-py does not check whether the server
    has closed a pooled connection: after a restart of Redis, each pooled connection would fail once.
    """
    connections = BlockingConnectionPool.from_url(
        config.redis_url,
        max_connections=MAX_REDIS_CONNECTIONS,
        timeout=REDIS_TIMEOUT_SECONDS,
        decode_responses=True,
        socket_timeout=REDIS_TIMEOUT_SECONDS,
        socket_connect_timeout=2,
        driver_info=None,  # the bridge's Redis user may not run `CLIENT SETINFO`
        maint_notifications_config=MaintNotificationsConfig(enabled=False),
    )
    return Redis.from_pool(connections)


async def wait_for_redis(redis: Redis) -> None:
    """Wait until Redis answers: both may just have restarted. Raises RedisError on timeout."""
    end = asyncio.get_running_loop().time() + REDIS_START_TIMEOUT_SECONDS
    while True:
        try:
            await redis.ping()
        except RedisError as error:
            if asyncio.get_running_loop().time() > end:
                raise
            logger.warning("Redis does not answer yet: %s", error)
            await asyncio.sleep(REDIS_RETRY_SECONDS)
        else:
            return


def create_app() -> FastAPI:
    """The application that each worker process serves."""
    configure_logging()
    config = read_config(os.environ)
    if config.role == "manager":
        made = create_bridge_app(config)
    else:
        from vm_bridge.host_service import create_host

        made = create_bridge_app(config, create_host(config))
    # Existing objects stay out of garbage collection: each full pass blocked all answers for 30 to 60 ms.
    gc.collect()
    gc.freeze()
    return made


@cache
def configure_logging() -> None:
    """Log to standard error, once per process."""
    log_to_stderr(os.environ)
    # It would log the tickets of WebSockets, and below INFO their headers and payloads.
    server = logging.getLogger("uvicorn.error")
    server.addFilter(lambda record: "WebSocket" not in str(record.msg))
    server.setLevel(max(logging.INFO, logging.getLogger().level))
    logging.getLogger("aioice").setLevel(logging.WARNING)  # else it logs every candidate pair of every viewer


def main() -> None:
    """Serve until SIGTERM or SIGINT, then destroy every machine. On SIGHUP, stop and leave the machines running."""
    configure_logging()
    try:
        config = read_config(os.environ)
    except ConfigError as error:
        sys.exit(f"vm_bridge: {error}")
    uvicorn.run(
        "vm_bridge.__main__:create_app",
        factory=True,
        workers=config.workers,
        host=config.bridge_bind.host,
        port=config.bridge_bind.port,
        ws="websockets-sansio",
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=SHUTDOWN_GRACE_SECONDS,
    )


if __name__ == "__main__":
    main()
