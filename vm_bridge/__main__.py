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
from vm_bridge.ice import ice_passes
from vm_bridge.ledger import Ledger
from vm_bridge.pool import Pool
from vm_bridge.recording.recorder import Recorder
from vm_bridge.recording.routes import recording_routes
from vm_bridge.sandbox import Host, Sandbox
from vm_bridge.server import Bridge, app_of
from vm_bridge.streams.broadcast import Broadcasts
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
    broadcasts = Broadcasts(fps=config.stream_fps, bitrate=config.stream_bitrate)
    webrtc = WebRtc(broadcasts, ice_servers=lambda: ice_servers(config))
    streams = Streams(secret=config.secret, ledger=ledger, webrtc=webrtc)
    recorder = Recorder(config.data / "recordings", broadcasts)

    async def ended(machine_id: str) -> None:
        await recorder.stop(machine_id)
        await streams.end(machine_id)

    pool = Pool(
        host,
        ledger,
        host_url=config.bridge_url,
        capacity=config.max_machines,
        warm=config.warm,
        ended=ended,
    )
    offer_addresses(config.ice_addresses)

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        await pool.start()
        try:
            yield
        finally:
            await recorder.close()
            await streams.close()
            await pool.close()
            await redis.aclose()

    async def leased(machine_id: str, token: int) -> Sandbox:
        await pool.machine(machine_id, token)
        return pool.sandbox(machine_id)

    bridge = Bridge(
        pool=pool,
        secret=config.secret,
        web_origins=config.web_origins,
        streams=streams.routes(pool.sandbox),
        recordings=recording_routes(recorder, leased),
        suite_tasks=suite_tasks,
    )
    return app_of(bridge, lifespan)


def ice_servers(config: Config) -> list[RTCIceServer]:
    """The STUN and TURN servers, with passes for the bridge itself."""
    passes = ice_passes(config.ice_servers, "bridge")
    return [RTCIceServer(urls=one.urls, username=one.username, credential=one.credential) for one in passes]


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
