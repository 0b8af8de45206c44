"""The permission matrix: every route as everybody, every command from every seat; one that has no row fails."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client, override_settings
from django.urls import URLPattern, URLResolver, get_resolver
from pytest_django import DjangoDbBlocker

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.live.store import run_in_db_thread
from annotation_app.urls import api
from benchmarks.parts.safety.permissions import COMMANDS, FILES, FREE, ROUTES, filled
from benchmarks.parts.safety.rules import CALLERS, JSON, Caller, Rule
from benchmarks.parts.safety.things import Things, make_things, user_of
from protocol.messages.events import COMMAND_ADAPTER
from tests.integration.web.conftest import PASSWORD, EpisodeSocket, Stack, World, world_make

BESIDE = {"admin/login/", "admin/", "api/", "sso/"}
"""Where the addresses outside the interface's description begin; the page itself is any other address."""
OF_ANY_SCOPE = ("GET /api/feed", "GET /api/me/signed-in")
"""What a token that may read the feed may call: the feed, and what only says whether it is a token."""


def things_make(world: World) -> Things:
    """One of each, and Ada's episode with one picture."""
    return make_things(
        owner=world.ada, annotator=world.ben, reviewer=world.rosa, researcher=world.ravi, pool=world.pool
    )


@dataclass(frozen=True, slots=True)
class Shared:
    """What the tests of all routes begin with: the things, their folder, and the cookies of who has signed in."""

    world: World
    things: Things
    folder: Path
    cookies: dict[Caller, str]

    def client(self, caller: Caller) -> Client:
        """A browser of this caller's."""
        client = Client()
        if caller in self.cookies:
            client.cookies[settings.SESSION_COOKIE_NAME] = self.cookies[caller]
        return client


@pytest.fixture(scope="class")
def shared(
    tmp_path_factory: pytest.TempPathFactory, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[Shared]:
    """Made once in a transaction; each test runs in a savepoint of it."""
    folder = tmp_path_factory.mktemp("data")
    environment = settings.ENV.model_copy(update={"data": folder})
    outer = transaction.atomic()
    outer._from_testcase = True  # type: ignore[attr-defined]  # so that blocks inside may be durable, as in a TestCase
    with django_db_blocker.unblock(), outer:
        with override_settings(ENV=environment):
            world = world_make()
            things = things_make(world)
        users = {caller: user for caller in CALLERS if (user := user_of(things, caller))}
        cookies = {
            caller: world.client(user).cookies[settings.SESSION_COOKIE_NAME].value for caller, user in users.items()
        }
        yield Shared(world, things, folder, cookies)
        transaction.set_rollback(True)


def call(client: Client, route: str, rule: Rule, things: Things) -> Any:
    method, target = filled(route, rule, things)
    if route in FILES:
        name, contents, fields = FILES[route]
        return client.post(target, {"file": SimpleUploadedFile(name, contents.encode()), **fields})
    body = {} if method == "GET" else {"data": rule.body(things), "content_type": JSON}
    return getattr(client, method.lower())(target, **body)


def described() -> set[str]:
    """Every operation of the interface's own description, and the description."""
    paths = api.get_openapi_schema()["paths"]
    return {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods} | {
        "GET /api/openapi.json"
    }


def test_every_route_has_a_row_and_every_row_a_route() -> None:
    assert described() == set(ROUTES)


def test_nothing_is_hidden_from_the_description() -> None:
    """A route that the description leaves out, or a view beside the interface, would have no row."""
    operations = {
        (method, operation.view_func.__name__)
        for _prefix, router in api._routers
        for path in router.path_operations.values()
        for operation in path.operations
        for method in operation.methods
        if not operation.include_in_schema
    }
    assert operations == set()
    beside = {str(pattern.pattern) for pattern in get_resolver().url_patterns if not _is_page(pattern)}
    assert beside == BESIDE


def _is_page(pattern: URLPattern | URLResolver) -> bool:
    return getattr(pattern, "name", None) == "page"


def _refusals(rule: Rule, caller: Caller) -> tuple[int, ...]:
    """What a caller may be told; to somebody who may not see an episode, 404 is as good a refusal as 403."""
    if caller == "nobody":
        return (401,)
    return (404,) if caller in rule.hidden else (403, 404)


@pytest.mark.usefixtures("db")
class TestRoutes:
    """All of them begin with the same rows, and put back what they change."""

    @pytest.fixture(autouse=True)
    def data(self, shared: Shared, settings: Any) -> Path:
        settings.ENV = settings.ENV.model_copy(update={"data": shared.folder})
        cache.clear()  # it knows people by their ids, which are the same in every test
        return shared.folder

    @pytest.mark.parametrize("route", ROUTES)
    def test_who_may_call(self, shared: Shared, route: str) -> None:
        """Whoever is refused comes first, so that what the others change stands in nobody's way."""
        rule = ROUTES[route]
        for caller in sorted(CALLERS, key=lambda caller: caller in rule.callers):
            client = shared.client(caller)
            client.raise_request_exception = False
            response = call(client, route, rule, shared.things)
            said = (caller, response.status_code, response.content[:500] if not response.streaming else b"")
            if caller in rule.callers:
                assert response.status_code not in (401, 403), said
                assert response.status_code < 500, said
                assert response.status_code != 422 or route == "POST /api/session", said
                assert rule.absent or response.status_code != 404, said
            else:
                assert response.status_code in _refusals(rule, caller), said

    @pytest.mark.parametrize("prefix", ["/api/feed", "/api/feed/", "api/feed"])
    def test_a_path_of_the_clients_choice_gives_a_token_no_other_scope(self, shared: Shared, prefix: str) -> None:
        """What a token may call is decided on the route, not on what the path looks like with a prefix before it."""
        made = world_token(shared.things, shared.world, "feed:read")
        for route, rule in ROUTES.items():
            if "nobody" in rule.callers or route.startswith(OF_ANY_SCOPE):
                continue
            client = Client(
                raise_request_exception=False, headers={"Authorization": f"Bearer {made}"}, SCRIPT_NAME=prefix
            )
            response = call(client, route, rule, shared.things)
            assert response.status_code in (401, 403), (route, response.status_code)


def world_token(things: Things, world: World, scope: str) -> str:
    """A token of the admin's with this scope alone."""
    asked = {"name": "ci", "scopes": [scope], "days": 1}
    answer = world.client(things.admin).post("/api/me/tokens", asked, content_type=JSON)
    return str(answer.json()["token"])


def test_every_command_has_a_row() -> None:
    kinds = {
        kind["properties"]["type"]["const"]
        for kind in COMMAND_ADAPTER.json_schema()["$defs"].values()
        if _is_command(kind)
    }
    assert kinds == set(COMMANDS)


def _is_command(schema: dict[str, Any]) -> bool:
    return "const" in schema.get("properties", {}).get("type", {})


async def ask(desk: EpisodeSocket, kind: str) -> dict[str, Any]:
    """What a command is told; of those that have no fate, what comes of them."""
    if answer := {"ping": "pong", "continue": "text.continued"}.get(kind):
        await desk.send(type=kind, **COMMANDS[kind])
        return await desk.until(type=answer)
    return await desk.ask(type=kind, command_id=f"command-{kind}", **COMMANDS[kind])


@pytest.mark.parametrize("watcher", ["rosa", "ravi", "alma"])
async def test_who_watches_gives_no_command(stack: Stack, watcher: str) -> None:
    episode = await stack.episode()
    holder = await stack.desk(episode)
    await holder.until(type="control.changed", control="mine")
    desk = await stack.desk(episode, await run_in_db_thread(_watcher, name=watcher, world=stack.world))
    for kind in COMMANDS:
        told = await ask(desk, kind)
        assert (told.get("code") == "view_only") is (kind not in FREE), (kind, told)


def _watcher(name: str, world: World) -> User:
    role = {"rosa": "reviewer", "ravi": "researcher", "alma": "admin"}[name]
    return user_ensure(username=name, password=PASSWORD, name=name.title(), roles=[role])


async def test_a_second_window_of_the_annotator_commands_only_after_taking_control(stack: Stack) -> None:
    episode = await stack.episode()
    first = await stack.desk(episode)
    await first.until(type="control.changed", control="mine")
    second = await stack.desk(episode)
    for kind in COMMANDS.keys() - {"control"}:
        told = await ask(second, kind)
        assert (told.get("code") == "view_only") is (kind not in FREE), (kind, told)
    assert (await ask(second, "control"))["type"] == "acknowledged"
    assert (await ask(first, "hurry")).get("code") == "view_only"


@pytest.mark.parametrize("kind", COMMANDS)
async def test_who_holds_control_gives_every_command(stack: Stack, kind: str) -> None:
    desk = await stack.deciding()
    told = await ask(desk, kind)
    assert told.get("code") not in ("view_only", "invalid", "forbidden"), told


async def test_nobody_and_other_annotators_have_no_seat(stack: Stack) -> None:
    episode = await stack.episode()
    assert await (await EpisodeSocket(episode.id, None).open()).closed() == 4401
    assert await (await stack.desk(episode, stack.world.ben)).closed() == 4403
