"""People, pools and tasks in a real database; a real bridge over painted machines; the scripted model server."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Barrier
from typing import Any, Self
from uuid import UUID

import pytest
import uvicorn
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.core.cache.backends.redis import RedisCache
from django.db import connection, connections
from django.test import Client

from agent_backend.scripted_policy.script import Line, Script, Stage
from agent_backend.scripted_policy.server import create_app
from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.accounts.services.sign_ins import REAUTHENTICATED_KEY
from annotation_app.asgi import application
from annotation_app.episodes.models import Episode
from annotation_app.episodes.services import episode_next
from annotation_app.live.rooms import registry
from annotation_app.live.store import DB_THREAD_COUNT, DB_THREADS, run_in_db_thread
from annotation_app.policies.services import policy_ensure
from annotation_app.settings.base import CACHES
from annotation_app.tasks.models import Pool
from annotation_app.tasks.services import pool_ensure, tasks_add
from protocol.actions.types import Click, Finish, TypeText
from protocol.dialects.families import get_dialect
from protocol.trajectory.tasks import Task
from tests.integration.bridge import conftest as bridge_fixtures
from tests.integration.web.reloadable_model_server import ReloadableModelServer, reloadable
from tests.waiting import eventually
from vm_bridge.__main__ import create_bridge_app
from vm_bridge.config import Config
from vm_bridge.host_keys import MANAGER, derive_key
from vm_bridge.simulators.fake.sandbox import FakeHost

private_redis = bridge_fixtures.private_redis
bridge_redis = bridge_fixtures.bridge_redis

SECRET = "a-secret-only-the-tests-know-of-123"
HOST_ID = "bridge-of-the-tests"
PASSWORD = "a password of the tests"
BOUND = 40.0
"""Seconds a test waits for what must come."""


def task_named(name: str) -> Task:
    """A task of the fake machines' own suite."""
    return Task(id=name, instruction=f"Type {name}", suite="fake", name="type", parameters={"text": name})


@dataclass(frozen=True, slots=True)
class World:
    """Who and what a fresh database holds."""

    ada: User
    ben: User
    rosa: User
    ravi: User
    pool: Pool
    practice: Pool

    def client(self, user: User) -> Client:
        """A browser in which this person has just signed in."""
        client = Client()
        client.force_login(user)
        session = client.session
        session[REAUTHENTICATED_KEY] = int(time.time())
        session.save()
        return client


def world_make() -> World:
    """Two annotators, a reviewer, a researcher; a pool of three tasks and a practice pool of one."""
    ada, ben = (
        user_ensure(username=name, password=PASSWORD, name=name.title(), roles=["annotator"]) for name in ("ada", "ben")
    )
    rosa = user_ensure(username="rosa", password=PASSWORD, name="Rosa", roles=["reviewer"])
    ravi = user_ensure(username="ravi", password=PASSWORD, name="Ravi", roles=["researcher"])
    pool = pool_ensure(
        record=False, name="real", members=[ada, ben], instructions="Be careful.", text_continuation=True
    )
    practice = pool_ensure(record=False, name="practice", members=[ada, ben], practice=True)
    tasks_add(pool=pool, definitions=[task_named(name) for name in ("one", "two", "three")])
    tasks_add(pool=practice, definitions=[task_named("try")])
    return World(ada, ben, rosa, ravi, pool, practice)


@pytest.fixture(autouse=True)
def data(tmp_path: Path, settings: Any) -> Path:
    """A data folder of this test's own."""
    settings.ENV = settings.ENV.model_copy(update={"data": tmp_path})
    return tmp_path


@pytest.fixture
def world(db: None) -> World:
    """A fresh database's contents."""
    return world_make()


@pytest.fixture
def committed(transactional_db: None) -> World:
    """The same, committed, so that other connections see it."""
    return world_make()


@asynccontextmanager
async def serving(make_app: Callable[[str], Any]) -> AsyncIterator[str]:
    """An ASGI app on a free port of this loop; yields its address."""
    server = uvicorn.Server(
        uvicorn.Config("unset", port=0, ws="none", log_config=None, access_log=False, timeout_graceful_shutdown=1)
    )
    listener = server.config.bind_socket()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.config.app = make_app(url)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    await eventually(lambda: server.started or running.done())
    try:
        yield url
    finally:
        server.should_exit = True
        await running
        listener.close()


@pytest.fixture
def admin(committed: World) -> User:
    """Turns wheels."""
    return user_ensure(username="wanda", password="a password of wanda", name="Wanda", roles=["admin"])


@pytest.fixture
def model() -> Iterator[ReloadableModelServer]:
    """A server of models that takes other weights."""
    with reloadable() as running:
        yield running


def sign_in_task() -> Task:
    """A task in which the policy types a secret."""
    return task_named("sign-in").model_copy(update={"parameters": {"text": "secret:SHOP"}})


def script_for(task: Task) -> Script:
    """Type what is asked, or click beside it; then finish."""
    text = str(task.parameters["text"])
    return Script(
        task=task.id,
        instruction=task.instruction,
        stages=(
            Stage(
                lines=(
                    Line(thought="I type it.", action=TypeText(text=text), weight=0.7),
                    Line(thought="I click first.", action=Click(x=100, y=100), weight=0.3, mistake=True),
                ),
                typed=True,
            ),
            Stage(lines=(Line(thought="It is done.", action=Finish()),)),
        ),
    )


@dataclass(frozen=True, slots=True)
class Stack:
    """A world whose episodes can run: the machines behind the bridge, and the desks that were opened."""

    world: World
    bridge_url: str
    model_url: str
    host: FakeHost
    desks: list["EpisodeSocket"]

    async def episode(self, user: User | None = None) -> Episode:
        """An episode claimed for this person (Ada)."""
        claimed: Episode | None = await run_in_db_thread(episode_next, user=user or self.world.ada)
        assert claimed is not None
        return claimed

    async def desk(self, episode: Episode, user: User | None = None) -> "EpisodeSocket":
        """A socket of this person (Ada) at this episode."""
        desk = EpisodeSocket(episode.id, await run_in_db_thread(session_of, user=user or self.world.ada))
        self.desks.append(desk)
        return await desk.open()

    async def deciding(self) -> "EpisodeSocket":
        """Ada at a new episode, with proposals before her."""
        desk = await self.desk(await self.episode())
        await desk.until(type="proposals.ready")
        return desk


def session_of(user: User) -> str:
    """The session cookie of this person's browser."""
    client = Client()
    client.force_login(user)
    return str(client.cookies["sessionid"].value)


@pytest.fixture
async def stack(committed: World, bridge_redis: str, data: Path, settings: Any) -> AsyncIterator[Stack]:
    """A bridge over painted machines and the scripted model server, both over HTTP, and what goes with them."""
    host = FakeHost(("desktop", "browser", "osworld"), capacity=4)
    scripts = (*(script_for(task_named(name)) for name in ("one", "two", "three", "try")), script_for(sign_in_task()))
    desks: list[EpisodeSocket] = []

    def bridge_at(url: str) -> Any:
        config = Config(
            bridge_keys=tuple((name, derive_key(SECRET, name)) for name in (MANAGER, HOST_ID)),
            host_id=HOST_ID,
            redis_url=bridge_redis,
            bridge_url=url,
            web_origins=(url,),
            data=data,
        )
        return create_bridge_app(config, host)

    def model_at(url: str) -> Any:
        return create_app(scripts, get_dialect("ui_tars_1_5"), pace=0)

    async with serving(bridge_at) as bridge_url, serving(model_at) as model_url:
        settings.ENV = settings.ENV.model_copy(update={"bridge_url": bridge_url, "bridge_master_key": SECRET})
        await run_in_db_thread(policy_serve, pools=[committed.pool, committed.practice], url=f"{model_url}/v1")
        yield Stack(committed, bridge_url, f"{model_url}/v1", host, desks)
        for desk in desks:
            await desk.close()
        await registry.close()
        await connections_close()


async def connections_close() -> None:
    """Close what the threads of the event loop have open: Channels' own test tools keep them from doing so."""
    barrier = Barrier(DB_THREAD_COUNT)

    def close() -> None:
        barrier.wait(BOUND)
        connections.close_all()

    await asyncio.gather(*(asyncio.wrap_future(DB_THREADS.submit(close)) for _ in range(DB_THREAD_COUNT)))
    await sync_to_async(connections.close_all)()


def policy_serve(pools: list[Pool], url: str, revision: str = "1") -> None:
    """Let the scripted server propose in these pools."""
    policy = policy_ensure(
        name="scripted", revision=revision, dialect="ui_tars_1_5", base_url=url, model="scripted", scripted=True
    )
    Pool.objects.filter(pk__in=[pool.pk for pool in pools]).update(policy=policy)


def cache_of_the_web_app(redis_url: str) -> Any:
    """The cache that processes of the web app have on this Redis; the test-suite's own is in memory."""
    made: Any = RedisCache(redis_url, {name: value for name, value in CACHES["default"].items() if name != "BACKEND"})
    return made


def database_url() -> str:
    """Where the test's own database is."""
    named = connection.settings_dict
    host, port = named["HOST"], named["PORT"]
    options = "".join(f" {key}={value}" for key, value in named["OPTIONS"].items() if key != "pool")
    return f"dbname={named['NAME']} user={named['USER']} host={host} port={port or 5432}{options}"


class EpisodeSocket:
    """A desk's socket, as a browser has it."""

    def __init__(self, episode_id: UUID, session: str | None) -> None:
        headers = [(b"host", b"localhost"), (b"origin", b"http://localhost")]
        if session is not None:
            headers.append((b"cookie", f"sessionid={session}".encode()))
        self.episode_id = episode_id
        self.socket = WebsocketCommunicator(application, f"/ws/episodes/{episode_id}/", headers=headers)
        self.heard: list[dict[str, Any]] = []

    async def open(self) -> Self:
        connected, _ = await self.socket.connect(timeout=BOUND)
        assert connected
        return self

    async def send(self, **command: Any) -> None:
        await self.socket.send_to(text_data=json.dumps(command))

    async def hear(self) -> dict[str, Any]:
        event: dict[str, Any] = json.loads(await self.socket.receive_from(timeout=BOUND))
        self.heard.append(event)
        return event

    async def until(self, **fields: Any) -> dict[str, Any]:
        """The next event with these fields."""
        async with asyncio.timeout(BOUND):
            while True:
                event = await self.hear()
                if all(event.get(name) == value for name, value in fields.items()):
                    return event

    async def closed(self) -> int:
        """The code the server closes with."""
        async with asyncio.timeout(BOUND):
            while True:
                output = await self.socket.receive_output(timeout=BOUND)
                if output["type"] == "websocket.close":
                    code: int = output["code"]
                    return code

    async def ask(self, **command: Any) -> dict[str, Any]:
        """Send a command and hear its fate."""
        await self.send(**command)
        async with asyncio.timeout(BOUND):
            while True:
                event = await self.hear()
                if event["type"] in ("acknowledged", "rejected") and event["command_id"] in (
                    command.get("command_id"),
                    None,
                ):
                    return event

    async def close(self) -> None:
        """Leave, if still there."""
        await self.socket.disconnect(timeout=BOUND)
