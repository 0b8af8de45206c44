"""Where a site's pages come from, and the bounds of what a crawl may load of it."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from protocol.site_tasks import BundledSite, LiveSite, ZimSite, find_site_task
from protocol.site_tasks import Site as SiteReference
from protocol.trajectory.tasks import Language, ScreenSize, Task
from vm_bridge.browser import Request, Response, Site
from vm_bridge.config import lab_networks
from vm_bridge.network.addresses import is_reachable
from vm_bridge.network.egress_proxy import EgressProxy
from vm_bridge.network.proxied_site import ProxiedSite
from vm_bridge.network.proxy_errors import ERROR_HEADER
from vm_bridge.suites.site_tasks.kiwix import require_kiwix
from vm_bridge.suites.site_tasks.suite import UnreachableSite, make_site_world
from vm_bridge.suites.site_tasks.zim_files import ZimFile, find_zim
from vm_bridge.suites.site_tasks.zim_site import URL as ZIM_URL
from vm_bridge.suites.site_tasks.zim_site import ZimWebsite
from vm_bridge.suites.web import SITES
from vm_bridge.suites.web_suite import START_TIME

SIZE: ScreenSize = (1024, 768)
REFUSAL_HEADER = ERROR_HEADER.decode().lower()
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True)
class SiteSource:
    """A site to make tasks of."""

    name: str
    reference: SiteReference
    """As its tasks name it."""
    url: str
    """Its first page."""
    site: Site
    start_time: float = START_TIME
    hosts: tuple[str, ...] = ()
    """Hosts of the network that it needs; none for a bundled one."""
    size: ScreenSize = SIZE

    @property
    def is_live(self) -> bool:
        return isinstance(self.reference, LiveSite)

    @property
    def host(self) -> str:
        return host_of(self.url)


@dataclass(slots=True)
class BoundedSite:
    """Implements `Site`: passes requests on within a bound of bytes, and notes what became of them.

    With `read_only` nothing but reading requests gets out, whatever a page does.
    """

    site: Site
    max_bytes: int
    read_only: bool
    bytes_loaded: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    """HTTP status by address, of documents."""
    failures: dict[str, str] = field(default_factory=dict)
    """Network errors by address, of documents."""
    refusals: set[str] = field(default_factory=set)
    """Why the proxy to the network refused documents: its codes."""
    writes: list[str] = field(default_factory=list)
    """Requests that would have changed something: method and address."""

    async def answer(self, request: Request) -> Response:
        """See `Site.answer`."""
        if request.method.upper() not in SAFE_METHODS:
            self.writes.append(f"{request.method} {request.url}")
            if self.read_only:
                return Response(failure="BlockedByClient")
        if self.bytes_loaded >= self.max_bytes:
            return Response(failure="BlockedByClient")
        response = await self.site.answer(request)
        self.bytes_loaded += len(response.body)
        if request.kind == "Document":
            address = request.url.partition("#")[0]
            if response.failure:
                self.failures[address] = response.failure
            elif not 300 <= response.status < 400:
                self.statuses[address] = response.status
            self.refusals |= {text for name, text in response.headers.items() if name.lower() == REFUSAL_HEADER}
        return response


def open_bundled(
    name: str, *, seed: int = 0, level: int = 1, language: Language = "en", size: ScreenSize = SIZE
) -> SiteSource:
    """A site that comes with the bridge. Raises UnknownTask, InvalidAction."""
    reference = BundledSite(name=name, seed=seed, level=level, language=language)
    scene = SITES.scene(make_site_world(reference, size))
    return SiteSource(name, reference, scene.url, scene.site, scene.start_time, size=size)


@asynccontextmanager
async def open_live(url: str, folder: Path, hosts: tuple[str, ...] = ()) -> AsyncIterator[SiteSource]:
    """A site of the network, reached through the filtering proxy: its own host, and further `hosts` it needs. Reached
    are public addresses and those of PILOTHOUSE_LAB_NETWORKS. Raises ValueError for an address that is none, and
    ConfigError."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url} is no address of a site")
    allowed = tuple(dict.fromkeys((host_of(url), *hosts)))
    egress = EgressProxy("factory", allowed, public=is_reachable(lab_networks(os.environ)))
    proxied = await ProxiedSite(UnreachableSite(), allowed, folder, egress).open()
    try:
        yield SiteSource(parts.hostname, LiveSite(url=url), url, proxied, hosts=allowed)
    finally:
        await proxied.close()


def open_zim(zim: ZimFile, size: ScreenSize = SIZE) -> SiteSource:
    """The site of a ZIM file. Raises ZimUnusable (`kiwix_missing`)."""
    require_kiwix()
    return SiteSource(zim.path.stem, zim.reference, ZIM_URL, ZimWebsite(zim), size=size)


@asynccontextmanager
async def open_source(task: Task, folder: Path) -> AsyncIterator[SiteSource]:
    """The site of a site task. Raises UnknownTask, InvalidAction, ZimUnusable, ValueError."""
    given = find_site_task(task)
    if given is None:
        raise ValueError(f"{task.id} brings no site task along")
    if isinstance(given.site, BundledSite):
        yield open_bundled(**given.site.model_dump(exclude={"kind"}), size=given.size)
        return
    if isinstance(given.site, ZimSite):
        yield open_zim(find_zim(given.site), given.size)
        return
    async with open_live(given.site.url, folder, task.network) as source:
        yield source


def fresh_site(source: SiteSource) -> Site:
    """The site as it is before anybody did anything. Raises UnknownTask, InvalidAction."""
    reference = source.reference
    if not isinstance(reference, BundledSite):
        return source.site
    return open_bundled(**reference.model_dump(exclude={"kind"}), size=source.size).site


def host_of(url: str) -> str:
    """Host and port of an address; empty where it is none. A site that sends its visitors on to HTTPS is the same
    site."""
    try:
        parts = urlsplit(url)
        port = "" if parts.port in (None, 80, 443) else f":{parts.port}"
    except ValueError:
        return ""
    return f"{parts.hostname or ''}{port}"
