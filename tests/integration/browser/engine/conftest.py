"""Real browsers, one with each clock, and a site of pages made for a test."""

import hashlib
import shutil
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from vm_bridge.browser import Clock, Engine, Request, Response, Session

START = 1_700_000_000
HTML = {"content-type": "text/html; charset=utf-8"}
SCRIPT = {"content-type": "text/javascript"}
SIZE = (640, 360)
BUTTON = "position:absolute;left:0;top:0;width:200px;height:60px"


class Pages:
    """A site: what is at each path, on every host. Counts what is asked."""

    def __init__(self, pages: Mapping[str, str | Response]) -> None:
        self.pages = dict(pages)
        self.asked: list[Request] = []

    async def answer(self, request: Request) -> Response:
        self.asked.append(request)
        path = "/" + request.url.split("/", 3)[3]
        found = self.pages.get(path)
        if found is None:
            return Response(404, b"nothing here", HTML)
        if isinstance(found, Response):
            return found
        return Response(200, found.encode(), SCRIPT if path.endswith(".js") else HTML)


@pytest.fixture(params=[Clock.EXACT, Clock.SCRIPT])
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Engine]:
    """A browser with each of the two clocks."""
    async with started(tmp_path / "engine", request.param) as engine:
        yield engine


@pytest.fixture
async def exact(tmp_path: Path) -> AsyncIterator[Engine]:
    """A browser with the exact clock."""
    async with started(tmp_path / "engine", Clock.EXACT) as engine:
        yield engine


class started:
    """A browser for as long as it is needed; skips where this machine has none with that clock."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        needed = "chromium-headless-shell" if clock is Clock.EXACT else "chromium"
        if not shutil.which(needed):
            pytest.skip(f"{needed} is not installed")
        self._folder, self._clock = folder, clock

    async def __aenter__(self) -> Engine:
        self._engine = await Engine.start(self._folder, exact=self._clock is Clock.EXACT)
        assert self._engine.clock is self._clock
        return self._engine

    async def __aexit__(self, *ended: object) -> None:
        await self._engine.close()


async def opened(engine: Engine, pages: Mapping[str, str | Response], *, seed: int = 7, url: str = "") -> Session:
    """A session that shows the first page of a site."""
    return await open_site(engine, Pages(pages), seed=seed, url=url)


async def open_site(engine: Engine, site: Pages, *, seed: int = 7, url: str = "") -> Session:
    """The same of a site the test keeps hold of."""
    session = await engine.open(site, size=SIZE, seed=seed, start_time=START)
    rest = await session.goto(url or "http://site.test/")
    assert rest.settled
    return session


async def click(session: Session, x: float, y: float) -> None:
    await session.click(x, y, "left")


async def hashed(session: Session) -> str:
    """What the active page looks like."""
    return hashlib.sha256(await session.picture("png")).hexdigest()


def kinds(session: Session) -> list[str]:
    return [each.kind for each in session.take_events()]
