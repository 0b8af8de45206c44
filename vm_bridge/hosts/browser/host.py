"""Browser machines: sessions of a few browser processes, each with a log from which it can be made again."""

import asyncio
import contextlib
import logging
import secrets
import shutil
import socket
import tempfile
import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from vm_bridge.browser import BrowserFailed, BubblewrapUnavailable, Clock, Session, Site
from vm_bridge.drivers.browser.blank_page import blank_scene
from vm_bridge.drivers.browser.driver import BrowserDriver
from vm_bridge.drivers.browser.machine import BrowserMachine
from vm_bridge.errors import NoMachine, SandboxUnavailable
from vm_bridge.hosts.browser.engines import BrowserEnginePool
from vm_bridge.machine import Capabilities, Machine
from vm_bridge.network.egress_proxy import EgressProxy
from vm_bridge.network.proxied_site import ProxiedSite
from vm_bridge.network.sandbox_network import EgressFactory
from vm_bridge.sandbox import MAX_RESET_SECONDS, FrameSource, Sandbox, Usage
from vm_bridge.suites.web_suite import Scene, WebSuite

logger = logging.getLogger(__name__)

IMAGE = "browser"
IDLE_SECONDS = 600.0
"""How long a session without actions and viewers is kept."""
COLLECT_SECONDS = 30.0
HEALTH_SECONDS = 4.0
UNSANDBOXED_HINT = "or set PILOTHOUSE_BROWSER_UNSANDBOXED, and pages that break out of the browser have this machine"


class BrowserSandbox:
    """One browser machine; nothing of it needs a process of its own."""

    reset_seconds = MAX_RESET_SECONDS

    def __init__(
        self,
        name: str,
        folder: Path,
        engines: BrowserEnginePool,
        suites: Mapping[str, WebSuite],
        make_egress: EgressFactory = EgressProxy,
    ) -> None:
        self.id, self.image = name, IMAGE
        self._make_egress = make_egress
        self.vnc_socket: Path | None = None
        self.destroyed = False
        self._folder, self._engines = folder, engines
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.browser = BrowserDriver(self, suites, folder)
        self.frames: FrameSource | None = self.browser.frames
        self.session: Session | None = None
        """The session it had last."""
        self._outsides: list[tuple[ProxiedSite, Path]] = []

    @property
    def capabilities(self) -> Capabilities:
        return self.browser.capabilities.model_copy(update={"unbounded": self._engines.unbounded})

    def bind(self, fencing_token: int) -> Machine:
        return BrowserMachine(self.browser, fencing_token)

    async def open(self, scene: Scene, *, seed: int, clock: Clock, network: tuple[str, ...]) -> Session:
        """See `Stage.open`."""
        if network:
            scene = replace(scene, site=await self._reaching(scene.site, network))
        self.session = await self._engines.open(scene, seed=seed, clock=clock, alone=bool(network))
        return self.session

    async def reset(self) -> None:
        await self.browser.reset()
        await self._reach_no_more(kept=0)

    async def healthy(self) -> bool:
        try:
            async with asyncio.timeout(HEALTH_SECONDS):
                return await self.browser.is_responsive()
        except TimeoutError:
            return False

    async def dial(self, port: int) -> socket.socket:
        raise ConnectionRefusedError("a browser has no ports to offer")

    async def usage(self) -> Usage:
        session = self.session
        return Usage() if session is None else await self._engines.usage(session.engine)

    async def destroy(self) -> None:
        self.destroyed = True
        await self.browser.destroy(f"machine {self.id} is gone")
        await self._reach_no_more(kept=0)
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    async def _reaching(self, site: Site, network: tuple[str, ...]) -> Site:
        """The site, and beyond it what a task may reach. Raises BrowserFailed."""
        await self._reach_no_more(kept=1)  # a replayed episode coexists with the first
        folder = Path(
            await asyncio.to_thread(tempfile.mkdtemp, prefix="pilothouse-reach-")
        )  # paths of sockets are short
        outside = ProxiedSite(site, network, folder, self._make_egress("browser", network))
        self._outsides.append((outside, folder))
        try:
            return await outside.open()
        except OSError as error:
            raise BrowserFailed(f"the way to the network does not open: {error}") from error

    async def _reach_no_more(self, *, kept: int) -> None:
        while len(self._outsides) > kept:
            outside, folder = self._outsides.pop(0)
            await outside.close()
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


class BrowserHost:
    """Makes browser machines over `engines` processes. Their logs lie in `data`."""

    images: tuple[str, ...] = (IMAGE,)

    def __init__(
        self,
        data: Path,
        suites: Mapping[str, WebSuite] | None = None,
        *,
        engines: int = 1,
        gpu: bool = False,
        unsandboxed: bool = False,
        make_egress: EgressFactory = EgressProxy,
    ) -> None:
        """`unsandboxed` where browsers may run without a sandbox; `make_egress` gives the ways to the network."""
        self._make_egress = make_egress
        self.engines = BrowserEnginePool(data / "engines", most=engines, gpu=gpu, unsandboxed=unsandboxed)
        self.machines = data / "machines"
        """A folder for each."""
        self._suites = suites or {}
        self._made: list[BrowserSandbox] = []
        self._collecting: asyncio.Task[None] | None = None

    async def create(self, image: str) -> Sandbox:
        try:
            await self._try()
        except BubblewrapUnavailable as failure:
            raise SandboxUnavailable(f"{failure}; {UNSANDBOXED_HINT}") from failure
        except BrowserFailed as failure:
            raise NoMachine(str(failure)) from failure
        return self._sandbox(f"{IMAGE}-{secrets.token_hex(4)}")

    async def adopt(self, ids: Collection[str]) -> list[Sandbox]:
        """Browsers end with their bridge; what was done on a machine is done again when it is next needed."""
        adopted: list[Sandbox] = []
        left = sorted(self.machines.iterdir()) if self.machines.is_dir() else []
        for folder in left:
            if folder.name in ids:
                adopted.append(self._sandbox(folder.name))
            else:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        return adopted

    async def close(self) -> None:
        if self._collecting is not None:
            self._collecting.cancel()
            self._collecting = None
        await asyncio.gather(*(made.destroy() for made in self._made))
        self._made.clear()
        await self.engines.close()

    async def _try(self) -> None:
        """A machine is promised only where a browser starts. Raises BrowserFailed."""
        if self._made and not all(made.destroyed for made in self._made):
            return
        session = await self.engines.open(blank_scene(), seed=0, clock=Clock.EXACT)
        await session.close()

    def _sandbox(self, name: str) -> BrowserSandbox:
        sandbox = BrowserSandbox(name, self.machines / name, self.engines, self._suites, self._make_egress)
        self._made = [*(made for made in self._made if not made.destroyed), sandbox]
        if self._collecting is None:
            self._collecting = asyncio.create_task(self._collect())
        return sandbox

    async def _collect(self) -> None:
        """Close idle sessions."""
        while True:
            await asyncio.sleep(COLLECT_SECONDS)
            for made in tuple(self._made):
                browser = made.browser
                if browser.idle and time.monotonic() - browser.used_at > IDLE_SECONDS:
                    with contextlib.suppress(BrowserFailed):
                        await browser.release_idle_session()
