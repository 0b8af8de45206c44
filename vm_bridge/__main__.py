"""The bridge process: `python -m vm_bridge`."""

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from urllib.parse import urlsplit

import uvicorn
from aiortc import RTCIceServer
from fastapi import FastAPI
from redis.asyncio import Redis

from vm_bridge.config import Config, ConfigError, config_read
from vm_bridge.drivers.fake import FakeHost
from vm_bridge.hosts.local import LocalHost
from vm_bridge.hosts.phone import PhoneHost
from vm_bridge.hosts.phone_devices import DeviceHost
from vm_bridge.hosts.several import SeveralHosts
from vm_bridge.ice import ice_passes
from vm_bridge.inside_routes import inside_routes
from vm_bridge.ledger import Ledger
from vm_bridge.ledger.scripts import Scripts
from vm_bridge.ledger.shelves import Shelves
from vm_bridge.manager.manager import Manager
from vm_bridge.network.passes import Passes
from vm_bridge.network.previews import Previews
from vm_bridge.pool import Pool
from vm_bridge.recording.recorder import Recorder
from vm_bridge.recording.routes import recording_routes
from vm_bridge.sandbox import Host, Sandbox
from vm_bridge.server import Bridge, app_of
from vm_bridge.streams.broadcast import Broadcasts
from vm_bridge.state_routes import state_routes
from vm_bridge.streams.routes import Streams
from vm_bridge.streams.webrtc import WebRtc, offer_addresses
from vm_bridge.suites.bundled import SUITES, suite_named
from vocabulary.tasks import Task

GRACE = 3
"""How long running requests may take to end after SIGTERM (seconds)."""


def bridge_app(config: Config, host: Host | None = None) -> FastAPI:
    """The bridge that a configuration describes, over the machines of `host`; a manager alone needs none."""
    redis = Redis.from_url(config.redis_url, decode_responses=True, socket_timeout=5, socket_connect_timeout=2)
    manager = None if config.role == "host" else Manager(redis)
    here = None if host is None else Hosting(config, host, redis)

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(redis.aclose)
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
        suite_tasks=suite_tasks,
        manager=manager,
        pool=here.pool if here else None,
        guarded=here.guarded if here else (),
        ticketed=here.ticketed if here else (),
    )
    app = app_of(bridge, lifespan)
    if here is not None:
        app.add_middleware(
            Previews,
            passes=Passes(config.secret, Ledger(redis)),
            sandbox_of=here.pool.sandbox,
            framed_by=config.web_origins,
            host=urlsplit(config.preview_url).netloc,
        )
    return app


class Hosting:
    """The machines of this process and who watches them."""

    def __init__(self, config: Config, host: Host, redis: Redis) -> None:
        ledger = Ledger(redis)
        broadcasts = Broadcasts(fps=config.stream_fps, bitrate=config.stream_bitrate)
        webrtc = WebRtc(broadcasts, ice_servers=lambda: ice_servers(config))
        self._streams = Streams(secret=config.secret, ledger=ledger, webrtc=webrtc, web_origins=config.web_origins)
        self._recorder = Recorder(config.data / "recordings", broadcasts)
        self.pool = Pool(
            host,
            ledger,
            Shelves(redis, Scripts(redis), config.host_id, config.bridge_url),
            capacity=config.max_machines,
            ended=self._ended,
        )
        self.guarded = (
            recording_routes(self._recorder, self._leased),
            inside_routes(self.pool.machine),
            state_routes(self.pool.machine),
        )
        """Routes for who has the secret."""
        self.ticketed = (self._streams.routes(self.pool.sandbox),)
        """Routes for browsers, which bring tickets."""
        offer_addresses(config.ice_addresses)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While the block runs. After SIGHUP the machines are left to the next bridge, otherwise destroyed."""
        left = False

        def leave() -> None:
            nonlocal left
            left = True
            signal.raise_signal(signal.SIGTERM)

        if threading.current_thread() is threading.main_thread():
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, leave)
        await self.pool.start()
        try:
            yield
        finally:
            await self._recorder.close()
            await self._streams.close()
            await self.pool.close(leave=left)

    async def _ended(self, machine_id: str) -> None:
        await self._recorder.stop(machine_id)
        await self._streams.end(machine_id)

    async def _leased(self, machine_id: str, token: int) -> Sandbox:
        await self.pool.machine(machine_id, token)
        return self.pool.sandbox(machine_id)


def ice_servers(config: Config) -> list[RTCIceServer]:
    """The STUN and TURN servers, with passes for the bridge itself."""
    passes = ice_passes(config.ice_servers, "bridge")
    return [RTCIceServer(urls=one.urls, username=one.username, credential=one.credential) for one in passes]


def suite_tasks(suite: str) -> tuple[Task, ...]:
    """The bundled tasks of a suite. Raises UnknownTask."""
    return suite_named(suite).tasks


def host_of(config: Config) -> Host | None:
    """Where the machines of this process live; None for a manager alone."""
    if config.role == "manager":
        return None
    if config.machines == "fake":
        return FakeHost(capacity=config.max_machines, journal=config.journal)
    here = PhoneHost(LocalHost(config.data, SUITES, tools=config.tools), config.data, SUITES)
    if not config.adb_devices:
        return here
    return SeveralHosts((here, DeviceHost(config.data, config.adb_devices, config.adb_clear)))


def app() -> FastAPI:
    """What each worker process serves."""
    config = config_read(os.environ)
    return bridge_app(config, host_of(config))


def main() -> None:
    """Serve until SIGTERM or SIGINT, then destroy every machine; until SIGHUP, then leave them running."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
    # It would write the tickets of WebSockets down.
    logging.getLogger("uvicorn.error").addFilter(lambda record: "WebSocket" not in str(record.msg))
    logging.getLogger("aioice").setLevel(logging.WARNING)  # every candidate pair of every viewer otherwise
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
