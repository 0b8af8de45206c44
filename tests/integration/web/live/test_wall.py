"""The wall: running episodes and tickets for their pictures, for people who may see them."""

from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.episodes.models import Episode
from annotation_app.episodes.services import episode_next
from annotation_app.live.store import run_in_db_thread
from annotation_app.tasks.services import pool_ensure, tasks_add
from tests.integration.web.conftest import HOST_ID, PASSWORD, SECRET, Stack, World, task_named
from tests.integration.web.live.test_supervision import HELP
from vm_bridge.api.tickets import verify_ticket
from vm_bridge.host_keys import derive_key

JSON = "application/json"


async def as_user(stack: Stack, user: User, *episodes: object) -> tuple[dict[str, Any], Any]:
    """The wall of this person, and the answer to their wish for these pictures."""

    def ask() -> tuple[dict[str, Any], Any]:
        client = stack.world.client(user)
        body = {"episodes": [str(each) for each in episodes]}
        return client.get("/api/wall").json(), client.post("/api/wall/tickets", body, content_type=JSON).json()

    return await run_in_db_thread(ask)


async def test_who_works_is_seen_and_who_waits_for_help_first(stack: Stack) -> None:
    first = await stack.deciding()
    second = await stack.desk(await stack.episode(stack.world.ben), stack.world.ben)
    await second.until(type="proposals.ready")
    act = {"type": "act", "thought": "So.", "action": {"kind": "click", "x": 5, "y": 5}}
    await second.ask(**act, command_id=uuid4().hex)
    await second.until(type="step.added")
    await second.ask(**HELP, command_id=uuid4().hex)

    wall, streams = await as_user(stack, stack.world.rosa, first.episode_id, second.episode_id, uuid4())
    assert [(item["id"], item["help_requested"]) for item in wall["items"]] == [
        (str(second.episode_id), True),
        (str(first.episode_id), False),
    ]
    assert (wall["total"], wall["waiting"], wall["next"]) == (2, 1, None)
    shown = wall["items"][0]
    assert (shown["annotator"], shown["attended"], shown["pictured"], shown["steps"]) == ("Ben", True, True, 1)
    assert (shown["override"]["successes"], shown["override"]["attempts"]) == (1, 1)

    (stream,) = streams
    assert stream["url"].endswith("/streams/thumbnails")
    key = derive_key(SECRET, HOST_ID)
    claims = [verify_ticket((key,), ticket, "thumbnails").claim for ticket in stream["tickets"]]
    assert {(claim.episode, claim.user) for claim in claims} == {
        (str(desk.episode_id), "rosa") for desk in (first, second)
    }


async def test_an_episode_that_ended_leaves_the_wall(stack: Stack) -> None:
    desk = await stack.deciding()
    await desk.ask(type="leave", how="release", reason="", command_id=uuid4().hex)
    wall, streams = await as_user(stack, stack.world.rosa, desk.episode_id)
    assert (wall["items"], wall["total"], streams) == ([], 0, [])


@pytest.mark.parametrize("who", ["ada", "ravi"])
def test_the_wall_is_for_reviewers_and_admins(world: World, who: str) -> None:
    client = world.client(getattr(world, who))
    answers = [client.get("/api/wall"), client.post("/api/wall/tickets", {"episodes": [str(uuid4())]}, JSON)]
    assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {(403, "forbidden")}


async def test_a_reviewer_who_may_do_a_task_sees_nobody_else_do_it(stack: Stack) -> None:
    desk = await stack.deciding()

    def blind() -> User:
        stack.world.pool.overlap = 2
        stack.world.pool.save()
        both = user_ensure(username="bo", password=PASSWORD, name="Bo", roles=["annotator", "reviewer"])
        stack.world.pool.members.add(both)
        return both

    wall, streams = await as_user(stack, await run_in_db_thread(blind), desk.episode_id)
    assert (wall["total"], streams) == (0, [])


def test_a_hundred_sessions_are_a_page_and_few_queries(world: World) -> None:
    pool = pool_ensure(name="crowd", members=[])
    tasks_add(pool=pool, definitions=[task_named(f"crowd-{number}") for number in range(101)])
    people = [user_ensure(username=f"p{n}", password="", name=f"P{n}", roles=["annotator"]) for n in range(101)]
    pool.members.set(people)
    for person in people:
        assert episode_next(user=person) is not None
    assert Episode.objects.filter(status="warming").count() == 101
    client = world.client(world.rosa)
    with CaptureQueriesContext(connection) as queries:
        page = client.get("/api/wall").json()
    assert (len(page["items"]), page["total"], page["next"]) == (100, 101, 2)
    assert len(queries) <= 7, [query["sql"][:100] for query in queries]
    assert len(client.get("/api/wall?page=2").json()["items"]) == 1
