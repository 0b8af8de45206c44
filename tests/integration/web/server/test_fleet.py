"""Admins see the machines of a real bridge, watch one, take one back, and set what is kept ready and allowed."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.test import Client

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.audit.models import AuditEntry
from annotation_app.live import rooms
from annotation_app.live.store import run_in_db_thread
from protocol.trajectory.observations import Observation
from protocol.trajectory.tasks import Task
from tests.integration.web.conftest import BOUND, HOST_ID, PASSWORD, SECRET, Stack, World
from vm_bridge.api.client import BridgeClient
from vm_bridge.api.tickets import verify_ticket
from vm_bridge.errors import UnknownTask
from vm_bridge.host_keys import derive_key
from vm_bridge.machine import Lease
from vm_bridge.simulators.fake.machine import FakeMachine

JSON = "application/json"


def admin_make() -> User:
    return user_ensure(username="alma", password=PASSWORD, name="Alma", roles=["admin"])


class Admin:
    """An admin's browser."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def fleet(self) -> dict[str, Any]:
        response = await sync_to_async(self._client.get)("/api/fleet")
        assert response.status_code == 200, response.content
        seen: dict[str, Any] = response.json()
        return seen

    async def get(self, path: str) -> Any:
        return await sync_to_async(self._client.get)(f"/api/fleet/{path}")

    async def post(self, path: str, **body: object) -> Any:
        return await sync_to_async(self._client.post)(f"/api/fleet/{path}", body, content_type=JSON)

    async def machine_of(self, episode: object) -> dict[str, Any] | None:
        """The machine an episode holds, as the page shows it."""
        machines: list[dict[str, Any]] = (await self.fleet())["machines"]
        return next((machine for machine in machines if machine["session"] == str(episode)), None)


@pytest.fixture
async def admin(stack: Stack) -> Admin:
    alma = await run_in_db_thread(admin_make)
    return Admin(await run_in_db_thread(stack.world.client, user=alma))


async def verbs() -> list[str]:
    entries = await run_in_db_thread(lambda: list(AuditEntry.objects.order_by("id").values_list("verb", flat=True)))
    return [verb for verb in entries if verb.startswith(("machine.", "host.", "image.", "quota."))]


@pytest.mark.parametrize("who", ["ada", "rosa", "ravi"])
def test_only_admins_see_machines(world: World, who: str) -> None:
    client = world.client(getattr(world, who))
    posts = {
        "machines/m/tickets": {"kind": "webrtc"},
        "machines/m/reclaim": {"reason": "x"},
        "hosts/h/draining": {"draining": True},
        "images/desktop/warm": {"count": 1},
        "quotas": {"scope": "user", "name": "*", "limit": 1},
    }
    answers = [
        client.get("/api/fleet"),
        client.get("/api/fleet/prepared-requests"),
        client.get("/api/fleet/machines/m/thumbnail"),
    ]
    answers += [client.post(f"/api/fleet/{path}", body, content_type=JSON) for path, body in posts.items()]
    assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {(403, "forbidden")}


async def test_a_machine_is_seen_with_who_has_it(stack: Stack, admin: Admin) -> None:
    desk = await stack.deciding()
    machine = await admin.machine_of(desk.episode_id)
    assert machine is not None
    assert (machine["state"], machine["user"], machine["watchable"]) == ("leased", "ada", True)
    assert machine["holder"] == f"episode:{desk.episode_id}"
    picture = await admin.get(f"machines/{machine['id']}/thumbnail")
    assert (picture.status_code, picture.content[:2]) == (200, b"\xff\xd8")
    seen = await admin.fleet()
    assert [host["draining"] for host in seen["hosts"]] == [False]
    assert "desktop" in {image["name"] for image in seen["images"]}
    assert (await admin.get("prepared-requests")).json() == []


async def test_watching_gives_a_ticket_for_that_lease_and_is_noted(stack: Stack, admin: Admin) -> None:
    desk = await stack.deciding()
    machine = await admin.machine_of(desk.episode_id)
    assert machine is not None
    answer = await admin.post(f"machines/{machine['id']}/tickets", kind="stills")
    assert answer.status_code == 200
    claim = verify_ticket((derive_key(SECRET, HOST_ID),), answer.json()["ticket"], "stills").claim
    assert (claim.machine_id, claim.user, claim.episode) == (machine["id"], "alma", str(desk.episode_id))
    assert await verbs() == ["machine.watch"]


async def test_a_machine_taken_back_ends_the_episode_with_the_reason(stack: Stack, admin: Admin) -> None:
    desk = await stack.deciding()
    machine = await admin.machine_of(desk.episode_id)
    assert machine is not None
    answer = await admin.post(f"machines/{machine['id']}/reclaim", reason="The host is needed elsewhere.")
    assert answer.status_code == 204
    again = await admin.post(f"machines/{machine['id']}/reclaim", reason="Once more.")
    assert again.status_code in (404, 409)
    failed = await desk.until(type="episode.changed", status="failed")
    assert "needed elsewhere" in str(failed)
    assert await verbs() == ["machine.reclaim"]


async def test_a_failed_episode_gives_its_machine_back_before_anybody_leaves_it(
    stack: Stack, admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(_: FakeMachine, __: Task) -> Observation:
        raise UnknownTask("no such page")

    release, released = BridgeClient.release, asyncio.Event()

    async def noting(bridge: BridgeClient, lease: Lease) -> None:
        await release(bridge, lease)
        released.set()

    monkeypatch.setattr(rooms, "HEARTBEAT_SECONDS", 0.05)
    monkeypatch.setattr(FakeMachine, "prepare", refuse)
    monkeypatch.setattr(BridgeClient, "release", noting)
    desk = await stack.desk(await stack.episode())
    failed = await desk.until(type="episode.changed", status="failed")
    assert "no such page" in str(failed)
    await asyncio.wait_for(released.wait(), BOUND)
    assert await admin.machine_of(desk.episode_id) is None


async def test_targets_quotas_and_hosts_are_set(stack: Stack, admin: Admin) -> None:
    assert (await admin.post("images/desktop/warm", count=2)).status_code == 204
    assert (await admin.post("quotas", scope="user", name="ada", limit=3)).status_code == 204
    seen = await admin.fleet()
    (host,) = seen["hosts"]
    assert (await admin.post(f"hosts/{host['id']}/draining", draining=True)).status_code == 204
    seen = await admin.fleet()
    assert [image["target"] for image in seen["images"] if image["name"] == "desktop"] == [2]
    assert [(quota["name"], quota["limit"]) for quota in seen["quotas"]] == [("ada", 3)]
    assert seen["hosts"][0]["draining"] is True
    for scope, name in (("user", "*"), ("user", "rollout"), ("pool", "real")):
        assert (await admin.post("quotas", scope=scope, name=name, limit=9)).status_code == 204
    assert (await admin.post("quotas", scope="pool", name="of earlier", limit=None)).status_code == 204
    assert await verbs() == ["image.warm", "quota.set", "host.drain", *["quota.set"] * 4]
    refused = await admin.post("quotas", scope="pool", name="ada", limit=3)
    assert refused.json()["extra"]["fields"][0]["field"] == "name"


async def test_what_is_not_there_changes_nothing(stack: Stack, admin: Admin) -> None:
    missing: dict[str, dict[str, object]] = {
        f"machines/{uuid4()}/reclaim": {"reason": "x"},
        "hosts/nowhere/draining": {"draining": True},
        "images/nothing/warm": {"count": 1},
        f"machines/{uuid4()}/tickets": {"kind": "vnc"},
        "quotas": {"scope": "user", "name": "adda", "limit": 3},
    }
    for path, body in missing.items():
        answer = await admin.post(path, **body)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), path
    senseless: dict[str, dict[str, object]] = {
        "images/desktop/warm": {"count": -1},
        "quotas": {"scope": "nobody", "name": "x", "limit": 1},
        "machines/m/reclaim": {"reason": "  "},
    }
    for path, body in senseless.items():
        assert (await admin.post(path, **body)).status_code == 422, path
    assert await verbs() == []


async def test_a_silent_bridge_is_said(stack: Stack, admin: Admin, settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"bridge_url": "http://127.0.0.1:9"})
    answer = await admin.post("quotas", scope="user", name="ada", limit=3)
    assert (answer.status_code, answer.json()["code"]) == (409, "bridge_unavailable")
    assert await verbs() == []
