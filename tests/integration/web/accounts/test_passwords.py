"""Changing a password, and setting one by a link that an admin made or that was asked for by mail."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core import mail
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from annotation_app.accounts.jobs import password_link_mail_job
from annotation_app.accounts.models import PasswordLink, SignIn, User
from annotation_app.accounts.services import token_make, token_user, user_ensure
from annotation_app.accounts.services.passwords import ADMIN_LINK_HOURS
from annotation_app.accounts.throttle import MAIL_LIMIT, MAIL_REQUEST_LIMIT
from annotation_app.audit.models import AuditEntry
from annotation_app.retention.jobs import sessions_clear_job
from tests.integration.web.conftest import PASSWORD, World

NEW = "another password of the tests"
BASE = "https://pilothouse.example/reset-password"


@pytest.fixture(autouse=True)
def _fresh() -> None:
    cache.clear()


@pytest.fixture
def alma(world: World) -> Client:
    """An admin's browser."""
    return world.client(user_ensure(username="alma", password=PASSWORD, name="Alma", roles=["admin"]))


@pytest.fixture
def mailing(world: World, settings: Any) -> list[Any]:
    """The messages that were sent, with Ada's address known."""
    settings.EMAIL_HOST, settings.EMAIL_BACKEND = "mail", "django.core.mail.backends.locmem.EmailBackend"
    User.objects.filter(pk=world.ada.pk).update(email="ada@example.org")
    mail.outbox = []
    return mail.outbox


def send(client: Client, path: str, **body: object) -> Any:
    return client.post(f"/api{path}", body, content_type="application/json")


def sign_in(client: Client, password: str) -> Any:
    return send(client, "/session", username="ada", password=password)


def secret_of(link: str) -> str:
    return link.partition("#")[2].split()[0]


def link_make(alma: Client, world: World) -> str:
    """The secret of a link for Ada, made by an admin."""
    return secret_of(send(alma, f"/people/{world.ada.pk}/password-link").json()["link"])


class TestChange:
    def test_it_signs_out_everywhere_but_here(self, world: World) -> None:
        here, there = Client(), Client()
        sign_in(here, PASSWORD)
        sign_in(there, PASSWORD)
        assert send(here, "/me/password", current=PASSWORD, new=NEW).status_code == 204
        assert here.get("/api/queue").status_code == 200
        assert there.get("/api/queue").status_code == 401
        (listed,) = here.get("/api/me/security").json()["sign_ins"]
        assert listed["here"]
        assert sign_in(Client(), PASSWORD).json()["code"] == "wrong_credentials"
        assert sign_in(Client(), NEW).status_code == 200

    @pytest.mark.parametrize(
        ("current", "new", "code"),
        [("wrong", NEW, "wrong_credentials"), (PASSWORD, "short", "weak_password"), (PASSWORD, "", "invalid")],
    )
    def test_a_refused_one_changes_nothing(self, world: World, current: str, new: str, code: str) -> None:
        here = Client()
        sign_in(here, PASSWORD)
        assert send(here, "/me/password", current=current, new=new).json()["code"] == code
        assert sign_in(Client(), PASSWORD).status_code == 200

    def test_who_has_none_proves_who_they_are_before_they_set_one(self, world: World) -> None:
        world.ada.set_unusable_password()
        world.ada.save()
        here = Client()
        here.force_login(world.ada)
        assert send(here, "/me/password", new=NEW).json()["code"] == "reauthentication_required"
        assert send(world.client(world.ada), "/me/password", new=NEW).status_code == 204
        assert sign_in(Client(), NEW).status_code == 200

    def test_links_end_with_it(self, world: World, alma: Client) -> None:
        secret = link_make(alma, world)
        here = Client()
        sign_in(here, PASSWORD)
        send(here, "/me/password", current=PASSWORD, new=NEW)
        assert send(Client(), "/session/password", secret=secret, password="a third long one").status_code == 404


class TestLink:
    def test_an_admins_link_sets_a_password_once(self, world: World, alma: Client) -> None:
        there = Client()
        sign_in(there, PASSWORD)
        secret = link_make(alma, world)
        stranger = Client()
        assert send(stranger, "/session/password-link", secret=secret).json() == {"username": "ada", "name": "Ada"}
        assert send(stranger, "/session/password", secret=secret, password=NEW).status_code == 204
        assert there.get("/api/queue").status_code == 401
        assert not SignIn.objects.filter(user=world.ada).exists()
        assert sign_in(Client(), NEW).status_code == 200
        assert send(stranger, "/session/password", secret=secret, password=NEW).json()["code"] == "link_ended"
        assert {"password.link_made", "password.reset"} <= set(AuditEntry.objects.values_list("verb", flat=True))

    def test_a_weak_password_leaves_the_link(self, world: World, alma: Client) -> None:
        secret = link_make(alma, world)
        assert send(Client(), "/session/password", secret=secret, password="short").json()["code"] == "weak_password"
        assert send(Client(), "/session/password", secret=secret, password=NEW).status_code == 204

    def test_a_newer_link_ends_the_older(self, world: World, alma: Client) -> None:
        older, newer = link_make(alma, world), link_make(alma, world)
        assert send(Client(), "/session/password-link", secret=older).json()["code"] == "link_ended"
        assert send(Client(), "/session/password-link", secret=newer).status_code == 200

    def test_it_ends_by_itself_and_is_cleared_away(self, world: World, alma: Client) -> None:
        secret = link_make(alma, world)
        PasswordLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        assert send(Client(), "/session/password", secret=secret, password=NEW).json()["code"] == "link_ended"
        sessions_clear_job()
        assert not PasswordLink.objects.exists()

    def test_a_blocked_person_gets_none(self, world: World, alma: Client) -> None:
        secret = link_make(alma, world)
        User.objects.filter(pk=world.ada.pk).update(is_active=False)
        assert send(Client(), "/session/password", secret=secret, password=NEW).json()["code"] == "link_ended"
        assert send(alma, f"/people/{world.ada.pk}/password-link").json()["code"] == "person_inactive"

    def test_making_one_needs_a_fresh_proof(self, world: World) -> None:
        alma = Client()
        alma.force_login(user_ensure(username="alma", password=PASSWORD, name="Alma", roles=["admin"]))
        answer = send(alma, f"/people/{world.ada.pk}/password-link")
        assert answer.json()["code"] == "reauthentication_required"
        assert not PasswordLink.objects.exists()

    def test_its_secret_is_not_stored(self, world: World, alma: Client) -> None:
        secret = link_make(alma, world)
        assert secret not in str(list(PasswordLink.objects.values()))
        left = PasswordLink.objects.get().expires_at - timezone.now()
        assert timedelta(hours=ADMIN_LINK_HOURS - 1) < left <= timedelta(hours=ADMIN_LINK_HOURS)


class TestMail:
    @pytest.mark.parametrize("login", ["ada", "ada@example.org", "ADA@example.org"])
    def test_a_link_comes_by_mail(self, world: World, mailing: list[Any], login: str) -> None:
        password_link_mail_job(login, BASE)
        (message,) = mailing
        assert message.to == ["ada@example.org"]
        link = next(line for line in message.body.splitlines() if line.startswith(BASE))
        assert send(Client(), "/session/password", secret=secret_of(link), password=NEW).status_code == 204
        assert sign_in(Client(), NEW).status_code == 200

    def test_nobody_gets_one_without_address_or_password(self, world: World, mailing: list[Any]) -> None:
        User.objects.filter(pk=world.ben.pk).update(email="ben@example.org")
        world.ben.refresh_from_db()
        world.ben.set_unusable_password()
        world.ben.save()
        User.objects.filter(pk=world.ada.pk).update(is_active=False)
        for login in ("ben", "rosa", "ada", "nobody", ""):
            password_link_mail_job(login, BASE)
        assert mailing == []
        assert not PasswordLink.objects.exists()

    def test_one_account_is_not_flooded(self, world: World, mailing: list[Any]) -> None:
        for _ in range(MAIL_LIMIT.limit + 2):
            password_link_mail_job("ada", BASE)
        assert len(mailing) == MAIL_LIMIT.limit

    def test_the_answer_does_not_tell_who_is_here(self, world: World) -> None:
        answers = [send(Client(), "/session/forgotten", login=login) for login in ("ada", "nobody")]
        assert [(answer.status_code, answer.content) for answer in answers] == [(204, b"")] * 2

    def test_one_address_cannot_ask_for_ever(self, world: World) -> None:
        for _ in range(MAIL_REQUEST_LIMIT.limit):
            assert send(Client(), "/session/forgotten", login="ada").status_code == 204
        assert send(Client(), "/session/forgotten", login="ada").json()["code"] == "mail_throttled"


class TestLimits:
    """A sign-in ends by being idle, and after a while whatever is done."""

    def test_use_extends_it_to_its_absolute_end(self, world: World) -> None:
        client = Client()
        sign_in(client, PASSWORD)
        began = timezone.now()
        idle = timedelta(hours=django_settings.ENV.session_idle_hours)
        assert abs(client.session.get_expiry_date() - began - idle) < timedelta(minutes=1)
        limit = timedelta(hours=django_settings.ENV.session_limit_hours)
        earlier = began + timedelta(minutes=30) - limit
        SignIn.objects.update(created_at=earlier, seen_at=began - timedelta(hours=1))
        client.get("/api/session")
        left = client.session.get_expiry_date() - timezone.now()
        assert timedelta(minutes=25) < left < timedelta(minutes=31), f"half an hour is left of {limit}"

    def test_an_idle_one_ends(self, world: World) -> None:
        client = Client()
        sign_in(client, PASSWORD)
        session = client.session
        session.set_expiry(timezone.now() - timedelta(seconds=1))
        session.save()
        assert client.get("/api/queue").status_code == 401

    def test_an_admin_signs_somebody_out(self, world: World, alma: Client) -> None:
        client = Client()
        sign_in(client, PASSWORD)
        assert alma.delete(f"/api/people/{world.ada.pk}/sign-ins").status_code == 204
        assert client.get("/api/queue").status_code == 401
        entry = AuditEntry.objects.get(verb="sign_in.ended")
        assert (entry.actor and entry.actor.username, entry.subject) == ("alma", f"user:{world.ada.pk}")

    def test_an_admin_ends_somebodys_tokens(self, world: World, alma: Client) -> None:
        tokens = [token_make(username=user, name="feed", days=1) for user in ("ada", "ada", "ravi")]
        assert alma.delete(f"/api/people/{world.ada.pk}/tokens").status_code == 204
        assert [token_user(token) for token in tokens] == [None, None, world.ravi]
        entry = AuditEntry.objects.get(verb="token.ended")
        assert (entry.actor and entry.actor.username, entry.subject) == ("alma", f"user:{world.ada.pk}")
        assert entry.details == {"tokens": 2}

    def test_an_admin_sets_name_and_address(self, world: World, alma: Client) -> None:
        fields = {"name": "Ada Lovelace", "email": "ada@example.org"}
        answer = alma.patch(f"/api/people/{world.ada.pk}", fields, content_type="application/json").json()
        assert (answer["name"], answer["email"]) == ("Ada Lovelace", "ada@example.org")
