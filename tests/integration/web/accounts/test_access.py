"""What guards pictures, changes, sign-ins and the admin; who may call which route is in `permissions.py`."""

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from annotation_app.blobs.selectors import blob_path
from annotation_app.episodes import services
from annotation_app.episodes.models import Episode
from annotation_app.live.store import run_in_db_thread
from protocol.blobs import BlobRef
from tests.integration.web.conftest import PASSWORD, EpisodeSocket, Stack, World, session_of

PICTURE = b"\xff\xd8 a picture"


@pytest.fixture
def episode(world: World) -> Episode:
    """Ada's, with one picture."""
    episode = services.episode_next(user=world.ada)
    assert episode is not None
    token = services.runner_take_over(episode_id=episode.id, runner="here:1:a", seconds=60)
    services.blob_add(episode_id=episode.id, token=token, ref=BlobRef.of(PICTURE, "image/jpeg"), data=PICTURE)
    return episode


def test_a_picture_is_given_only_through_its_episode(world: World, episode: Episode) -> None:
    sha256 = BlobRef.of(PICTURE, "image/jpeg").sha256
    ada = world.client(world.ada)
    response = ada.get(f"/api/episodes/{episode.id}/blobs/{sha256}")
    assert (response.status_code, response.content, response["Content-Type"]) == (200, PICTURE, "image/jpeg")
    assert "immutable" in response["Cache-Control"]
    assert "private" in response["Cache-Control"]
    services.episode_change(episode_id=episode.id, token=None, fields={"status": "left"})
    other = services.episode_next(user=world.ben)
    assert other is not None
    assert world.client(world.ben).get(f"/api/episodes/{other.id}/blobs/{sha256}").status_code == 404
    assert blob_path(sha256).read_bytes() == PICTURE


@pytest.mark.parametrize("name", ["..%2f..%2f..%2fetc%2fpasswd", "../secret_key", "A" * 64, "0" * 63, "0" * 64 + "%00"])
def test_a_picture_has_no_path(world: World, episode: Episode, name: str) -> None:
    response = world.client(world.ada).get(f"/api/episodes/{episode.id}/blobs/{name}")
    assert response.status_code in (404, 422)
    assert response.json()["code"] in ("not_found", "invalid")


def test_changes_need_the_page_s_token(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.ada)
    for method, path in (("POST", "/api/queue/next"), ("PATCH", "/api/me"), ("DELETE", "/api/session")):
        response = client.generic(method, path, data="{}", content_type="application/json")
        assert (response.status_code, response.json()["code"]) == (403, "csrf"), path
    token = client.get("/api/session").json()["csrf"]
    response = client.post("/api/queue/next", {}, content_type="application/json", headers={"X-CSRFToken": token})
    assert response.status_code == 200


def test_a_page_of_somebody_who_signed_in_before_changes_nothing(world: World) -> None:
    """Its browser has since been signed in as another, and the page still shows the first name."""
    browser = Client(enforce_csrf_checks=True)

    def sign_in(username: str) -> str:
        token = browser.get("/api/session").json()["csrf"]
        body = {"username": username, "password": PASSWORD}
        browser.post("/api/session", body, content_type="application/json", headers={"X-CSRFToken": token})
        return str(browser.get("/api/session").json()["csrf"])

    page_token, now = sign_in("ada"), sign_in("ben")

    def claim(token: str) -> Any:
        headers = {"X-CSRFToken": token}
        return browser.post("/api/queue/next", {}, content_type="application/json", headers=headers)

    assert claim(page_token).json()["code"] == "csrf"
    assert not Episode.objects.exists()
    assert claim(now).status_code == 200
    assert Episode.objects.get().annotator == world.ben


def test_what_is_sent_after_a_sign_in_ended_is_nobodys(world: World) -> None:
    browser = world.client(world.ada)
    browser.session.flush()
    refused = browser.post("/api/queue/next", {}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (401, "not_signed_in")
    assert not Episode.objects.exists()


def test_a_sign_in_needs_the_page_s_token(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    body = {"username": "ada", "password": PASSWORD}
    assert client.post("/api/session", body, content_type="application/json").json()["code"] == "csrf"
    token = client.get("/api/session").json()["csrf"]
    response = client.post("/api/session", body, content_type="application/json", headers={"X-CSRFToken": token})
    assert response.json()["user"]["username"] == "ada"
    assert client.cookies["sessionid"]["httponly"]
    assert client.cookies["sessionid"]["samesite"] == "Lax"


def test_django_s_admin_is_for_staff(world: World) -> None:
    assert world.client(world.ada).get("/admin/").status_code == 302
    assert Client().get("/admin/accounts/user/").status_code == 302


async def test_sockets_ask_for_a_sign_in_and_the_right_person(stack: Stack) -> None:
    episode = await stack.episode()
    stranger = await EpisodeSocket(episode.id, None).open()
    assert await stranger.closed() == 4401
    foreign = await stack.desk(episode, stack.world.ben)
    assert await foreign.closed() == 4403
    nowhere = await stack.desk(Episode(id=uuid4()))
    assert await nowhere.closed() == 4404


async def test_sockets_of_other_pages_are_refused(stack: Stack) -> None:
    episode = await stack.episode()
    session = await run_in_db_thread(session_of, user=stack.world.ada)
    for origin in (b"https://evil.example", b"http://localhost:8010", b"https://localhost", b"null"):
        desk = EpisodeSocket(episode.id, session)
        headers = dict(desk.socket.scope["headers"] or ())
        desk.socket.scope["headers"] = [*{**headers, b"origin": origin}.items()]
        connected, _ = await desk.socket.connect()
        assert not connected, origin
