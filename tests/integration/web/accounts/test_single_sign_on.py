"""Single sign-on against an OpenID Connect provider that really runs: its pages, its code, its tokens, its keys."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.test import Client

from annotation_app.accounts.models import SignIn, User
from annotation_app.accounts.services import invitation_make, user_ensure
from annotation_app.operations.runtime.ports import free_port
from tests.integration.web.conftest import PASSWORD, World
from tests.waiting import wait_until

PEOPLE = (
    {"sub": "1", "email": "ada@example.org", "email_verified": True, "name": "Ada"},
    {"sub": "2", "email": "ada@example.org", "email_verified": False, "name": "Not Ada"},
    {"sub": "3", "email": "dora@example.org", "email_verified": True, "name": "Dora"},
)


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The provider's address."""
    port = free_port()
    program = Path(sys.executable).with_name("oidc-provider-mock")
    people = [word for person in PEOPLE for word in ("--user-claims", json.dumps(person))]
    log = (tmp_path_factory.mktemp("provider") / "log").open("wb")
    process = subprocess.Popen([program, "--port", str(port), *people], stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: process.poll() is not None or _answers(url))
        assert process.poll() is None
        yield url
    finally:
        process.terminate()
        process.wait(20)
        log.close()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/.well-known/openid-configuration").status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture(autouse=True)
def _configured(issuer: str, settings: Any) -> None:
    known = {"provider_id": "oidc", "name": "Harbour", "client_id": "pilothouse", "secret": "s"}
    settings.SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": [{**known, "settings": {"server_url": issuer}}]}
    }
    settings.ENV = settings.ENV.model_copy(update={"oidc_url": issuer, "oidc_name": "Harbour"})


def come_in(client: Client, sub: str, after: str = "/queue") -> Any:
    """Go to the provider, sign in there as this person, come back."""
    away = client.get(f"/sso/oidc/login/?next={after}")
    assert away.status_code == 302, away.content
    agreed = httpx.post(away["Location"], data={"sub": sub}, follow_redirects=False)
    assert agreed.status_code == 302, agreed.text
    return client.get(agreed.headers["location"].removeprefix("http://testserver"))


def who(client: Client) -> str | None:
    user = client.get("/api/session").json()["user"]
    return user and str(user["username"])


def test_the_page_is_told_that_there_is_one(world: World) -> None:
    assert Client().get("/api/session").json()["sso"] == "Harbour"


def test_who_has_an_account_under_a_verified_address_comes_in(world: World) -> None:
    User.objects.filter(pk=world.ada.pk).update(email="Ada@example.org")
    client = Client()
    back = come_in(client, "1")
    assert (back.status_code, back["Location"]) == (302, "/queue")
    assert who(client) == "ada"
    assert SignIn.objects.get(user=world.ada).how == "sso"
    User.objects.filter(pk=world.ada.pk).update(email="moved@example.org")
    again = Client()
    come_in(again, "1")
    assert who(again) == "ada", "known by the provider's own number from then on"


def test_an_address_nobody_verified_opens_nothing(world: World) -> None:
    User.objects.filter(pk=world.ada.pk).update(email="ada@example.org")
    client = Client()
    assert come_in(client, "2")["Location"] == "/sign-in?sso=unknown"
    assert who(client) is None


def test_strangers_are_sent_back(world: World) -> None:
    client = Client()
    assert come_in(client, "3")["Location"] == "/sign-in?sso=unknown"
    assert not User.objects.filter(email="dora@example.org").exists()


def test_who_was_invited_under_the_address_gets_the_account(world: World) -> None:
    alma = user_ensure(username="alma", password=PASSWORD, name="Alma", roles=["admin"])
    invitation_make(actor=alma, email="dora@example.org", roles=("reviewer",), groups=(), days=1)
    client = Client()
    come_in(client, "3")
    assert who(client) == "dora@example.org"
    dora = User.objects.get(email="dora@example.org")
    assert (dora.roles, dora.has_usable_password(), dora.first_name) == (["reviewer"], False, "Dora")


def test_a_blocked_account_stays_blocked(world: World) -> None:
    User.objects.filter(pk=world.ada.pk).update(email="ada@example.org")
    come_in(Client(), "1")
    User.objects.filter(pk=world.ada.pk).update(is_active=False)
    client = Client()
    assert come_in(client, "1")["Location"] == "/sign-in?sso=inactive"
    assert who(client) is None


def test_a_forged_answer_of_the_provider_is_refused(world: World) -> None:
    client = Client()
    client.get("/sso/oidc/login/")
    back = client.get("/sso/oidc/login/callback/?code=stolen&state=guessed")
    assert back["Location"] == "/sign-in?sso=failed"
    assert who(client) is None
