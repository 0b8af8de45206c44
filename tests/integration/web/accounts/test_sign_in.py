"""Signing in, and what people keep for themselves."""

import os
import threading
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher, make_password
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from annotation_app.accounts import hashers
from annotation_app.accounts.models import SignIn
from annotation_app.accounts.services import PREFERENCES_LIMIT_BYTES
from annotation_app.accounts.throttle import ADDRESS_SIGN_IN_LIMIT, SIGN_IN_LIMIT
from annotation_app.retention.jobs import sessions_clear_job
from tests.integration.web.conftest import PASSWORD, World


@pytest.fixture(autouse=True)
def _no_attempts_yet() -> None:
    cache.clear()


def sign_in(client: Client, password: str, username: str = "ada") -> Any:
    return client.post("/api/session", {"username": username, "password": password}, content_type="application/json")


def test_signing_in_and_out(world: World) -> None:
    client = Client()
    assert client.get("/api/session").json()["user"] is None
    user = sign_in(client, PASSWORD).json()["user"]
    assert (user["username"], user["roles"]) == ("ada", ["annotator"])
    assert client.get("/api/session").json()["user"] == user
    assert client.delete("/api/session").json()["user"] is None
    assert client.get("/api/queue").status_code == 401


@pytest.mark.parametrize(("username", "password"), [("ada", "wrong"), ("nobody", PASSWORD), ("", "")])
def test_wrong_credentials_do_not_say_which_part_was_wrong(world: World, username: str, password: str) -> None:
    response = sign_in(Client(), password, username)
    assert (response.status_code, response.json()["code"]) == (422, "wrong_credentials")


def test_nul_in_a_name_is_only_invalid(world: World) -> None:
    assert sign_in(Client(), PASSWORD, "ada\x00").json()["code"] == "invalid"


def test_guessing_is_slowed_down_for_one_name(world: World) -> None:
    for _ in range(SIGN_IN_LIMIT.limit):
        assert sign_in(Client(), "wrong").status_code == 422
    assert sign_in(Client(), PASSWORD).json()["code"] == "sign_in_throttled"
    assert sign_in(Client(), PASSWORD, "ben").status_code == 200


def test_guessing_is_slowed_down_for_one_address(world: World) -> None:
    for number in range(ADDRESS_SIGN_IN_LIMIT.limit):
        assert sign_in(Client(), "wrong", f"name{number}").status_code == 422
    answer = sign_in(Client(), PASSWORD)
    assert (answer.status_code, answer.json()["code"]) == (429, "sign_in_throttled")
    assert sign_in(Client(REMOTE_ADDR="192.0.2.7"), PASSWORD).status_code == 200


def test_signing_in_is_no_failure_of_its_address(world: World) -> None:
    for _ in range(ADDRESS_SIGN_IN_LIMIT.limit + 1):
        assert sign_in(Client(), PASSWORD).status_code == 200


def test_few_passwords_are_hashed_at_once(world: World, settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["annotation_app.accounts.hashers.BoundedArgon2Hasher"]
    with ExitStack() as others:
        for _ in range(hashers.MAX_PARALLEL_HASHES + hashers.MAX_WAITING_HASHES):
            assert hashers._admission_slots.acquire(blocking=False)
            others.callback(hashers._admission_slots.release)
        answer = sign_in(Client(), PASSWORD, "nobody")
        assert (answer.status_code, answer.json()["code"]) == (429, "sign_in_busy")
    assert sign_in(Client(), PASSWORD, "nobody").json()["code"] == "wrong_credentials"


def test_hashes_give_way_to_requests(world: World, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is computed on one thread, which has less of the processor than the one that waits for it."""
    settings.PASSWORD_HASHERS = ["annotation_app.accounts.hashers.BoundedArgon2Hasher"]
    seen: list[int] = []
    encode = Argon2PasswordHasher.encode

    def noted(self: Any, password: str, salt: str) -> str:
        seen.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        return encode(self, password, salt)

    monkeypatch.setattr(Argon2PasswordHasher, "encode", noted)
    assert ",p=1$" in make_password(PASSWORD)
    here = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    assert seen == [min(here + hashers.HASHING_NICENESS, 19)]


def test_expired_sessions_are_deleted(world: World) -> None:
    old, new = world.client(world.ada), Client()
    sign_in(new, PASSWORD, "ben")
    sign_in(old, PASSWORD)
    ended = old.session.session_key
    Session.objects.filter(session_key=ended).update(expire_date=timezone.now() - timedelta(seconds=1))
    sessions_clear_job()
    assert not Session.objects.filter(session_key=ended).exists()
    assert [row.user for row in SignIn.objects.all()] == [world.ben]


def test_preferences_are_kept_and_bounded(world: World) -> None:
    client = world.client(world.ada)
    mine = {"theme": "dark", "keys": {"accept": "KeyA"}}
    assert client.patch("/api/me", {"preferences": mine}, content_type="application/json").json()["preferences"] == mine
    huge = {"x": "y" * PREFERENCES_LIMIT_BYTES}
    response = client.patch("/api/me", {"preferences": huge}, content_type="application/json")
    assert (response.status_code, response.json()["code"]) == (413, "too_large")
    assert client.get("/api/session").json()["user"]["preferences"] == mine


@pytest.mark.parametrize("value", ['"\\u0000"', '"\\ud800"', "NaN", "Infinity"])
def test_preferences_no_database_can_keep_are_invalid(world: World, value: str) -> None:
    body = f'{{"preferences": {{"theme": {value}}}}}'
    response = world.client(world.ada).patch("/api/me", body, content_type="application/json")
    assert (response.status_code, response.json()["code"]) == (422, "invalid")
    world.ada.refresh_from_db()
    assert world.ada.preferences == {}


def test_the_admin_has_no_sign_in_of_its_own(world: World) -> None:
    for response in (Client().get("/admin/login/?next=/admin/"), Client().post("/admin/login/", {"username": "ada"})):
        assert (response.status_code, response["Location"]) == (302, "/sign-in?next=/admin/")
    assert world.client(world.ada).get("/admin/", follow=True).redirect_chain[-1] == ("/", 302), (
        "she is not of the staff"
    )


def test_unknown_fields_and_wrong_types_are_named(world: World) -> None:
    client = world.client(world.ada)
    response = client.post("/api/queue/next", {"pool_id": "x", "colour": 1}, content_type="application/json")
    assert (response.status_code, response.json()["code"]) == (422, "invalid")
    assert {field["field"] for field in response.json()["extra"]["fields"]} == {"pool_id", "colour"}


def test_a_body_over_the_limit_is_refused(world: World, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    response = world.client(world.ada).patch(
        "/api/me", {"preferences": {"x": "y" * 2000}}, content_type="application/json"
    )
    assert (response.status_code, response.json()["code"]) == (413, "too_large")


@pytest.mark.parametrize(("method", "path", "status"), [("get", "/api/nothing", 404), ("put", "/api/session", 405)])
def test_every_error_has_one_shape(world: World, method: str, path: str, status: int) -> None:
    response = getattr(world.client(world.ada), method)(path)
    assert response.status_code == status
    assert set(response.json()) == {"code", "message", "extra"}


def test_every_answer_carries_security_headers(world: World) -> None:
    response = Client().get("/api/session")
    assert "frame-ancestors 'none'" in response["Content-Security-Policy"]
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["X-Frame-Options"] == "DENY"
