"""The bridge process: `python -m vm_bridge`."""

import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from aiortc import RTCIceServer
from fastapi import FastAPI
from redis.asyncio import Redis

from vm_bridge.config import Config, ConfigError, config_read
from vm_bridge.drivers.fake import FakeHost
from vm_bridge.hosts.local import LocalHost
from vm_bridge.ledger import Ledger
from vm_bridge.pool import Pool
from vm_bridge.sandbox import Host
from vm_bridge.server import Bridge, app_of
from vm_bridge.streams.routes import Streams
from vm_bridge.streams.webrtc import WebRtc, offer_addresses
from vm_bridge.suites.bundled import SUITES, suite_named
from vocabulary.tasks import Task

GRACE = 3
"""How long running requests may take to end after SIGTERM (seconds)."""


def bridge_app(config: Config, host: Host) -> FastAPI:
    """The bridge that a configuration describes, over the machines of `host`."""
    redis = Redis.from_url(config.redis_url, decode_responses=True, socket_timeout=5, socket_connect_timeout=2)
    ledger = Ledger(redis)
    ice_servers = [RTCIceServer(**server.model_dump()) for server in config.ice_servers]
    streams = Streams(
        secret=config.secret,
        ledger=ledger,
        webrtc=WebRtc(fps=config.stream_fps, bitrate=config.stream_bitrate, ice_servers=ice_servers),
    )
    pool = Pool(
        host,
        ledger,
        host_url=config.bridge_url,
        capacity=config.max_machines,
        warm=config.warm,
        ended=streams.end,
    )
    offer_addresses(config.ice_addresses)

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        await pool.start()
        try:
            yield
        finally:
            await streams.close()
            await pool.close()
            await redis.aclose()

    bridge = Bridge(
        pool=pool,
        secret=config.secret,
        web_origins=config.web_origins,
        streams=streams.routes(pool.sandbox),
        suite_tasks=suite_tasks,
    )
    return app_of(bridge, lifespan)


def suite_tasks(suite: str) -> tuple[Task, ...]:
    """The bundled tasks of a suite. Raises UnknownTask."""
    return suite_named(suite).tasks


def host_of(config: Config) -> Host:
    """Where the machines live."""
    if config.machines == "fake":
        return FakeHost(capacity=config.max_machines)
    return LocalHost(config.data, SUITES, tools=config.tools)


def main() -> None:
    """Serve until SIGTERM or SIGINT, then destroy every machine."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
    logging.getLogger("aioice").setLevel(logging.WARNING)  # every candidate pair of every viewer otherwise
    try:
        config = config_read(os.environ)
    except ConfigError as error:
        sys.exit(f"vm_bridge: {error}")
    uvicorn.run(
        bridge_app(config, host_of(config)),
        host=config.bridge_bind.host,
        port=config.bridge_bind.port,
        ws="none",
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=GRACE,
    )


if __name__ == "__main__":
    main()
