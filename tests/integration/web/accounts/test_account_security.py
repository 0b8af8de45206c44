"""A person's own ways in: the second factor, the browsers they are signed in with, tokens and what they allow."""

import time
from types import SimpleNamespace
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from django.core.cache import cache
from django.test import Client

from annotation_app.accounts import second_factor
from annotation_app.accounts.models import SignIn
from annotation_app.accounts.services import token_make, user_ensure
from annotation_app.accounts.services.sign_ins import REAUTHENTICATED_KEY, REAUTHENTICATION_SECONDS
from annotation_app.accounts.throttle import FACTOR_LIMIT
from tests.integration.web.conftest import PASSWORD, World

JSON = "application/json"


@pytest.fixture(autouse=True)
def _fresh() -> None:
    cache.clear()


def send(client: Client, method: str, path: str, **body: object) -> Any:
    return getattr(client, method)(f"/api{path}", body, content_type=JSON)


def sign_in(client: Client, **fields: str) -> Any:
    return send(client, "post", "/session", **{"username": "ada", "password": PASSWORD, **fields})


def code_of(secret: str, ahead: int = 0) -> str:
    """What an authenticator app shows, `ahead` half minutes from now."""
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30 + ahead)))


def proof_expire(client: Client) -> None:
    """Let the proof that a session began with be too old."""
    session = client.session
    session[REAUTHENTICATED_KEY] -= REAUTHENTICATION_SECONDS + 1
    session.save()


def protected(world: World) -> tuple[Client, str, list[str]]:
    """Ada's browser, her app's key and her recovery codes."""
    ada = Client()
    sign_in(ada)
    secret = send(ada, "post", "/me/factor").json()["secret"]
    codes = send(ada, "post", "/me/factor/confirm", code=code_of(secret)).json()["codes"]
    return ada, secret, codes


class TestSecondFactor:
    def test_a_code_is_asked_for_once_the_app_is_known(self, world: World) -> None:
        _ada, secret, _codes = protected(world)
        cache.clear()
        assert sign_in(Client()).json()["code"] == "code_required"
        assert sign_in(Client(), code="000000").json()["code"] == "wrong_code"
        code = code_of(secret)
        assert sign_in(Client(), code=code).status_code == 200
        assert sign_in(Client(), code=code).json()["code"] == "wrong_code", "a code is used once"

    @pytest.mark.parametrize(("ahead", "let_in"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
    def test_a_clock_may_be_off_by_half_a_minute(
        self, world: World, monkeypatch: pytest.MonkeyPatch, ahead: int, let_in: bool
    ) -> None:
        now = int(time.time())
        monkeypatch.setattr(auth, "time", SimpleNamespace(time=lambda: now))
        _ada, secret, _codes = protected(world)
        code = format_hotp_value(hotp_value(secret, now // 30 + ahead))
        assert (sign_in(Client(), code=code).status_code == 200) is let_in

    def test_a_code_that_still_lets_in_does_so_once(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        _ada, secret, _codes = protected(world)
        code = code_of(secret, ahead=1)
        assert sign_in(Client(), code=code).status_code == 200
        monkeypatch.setattr(TOTP, "_mark_code_used", lambda *_: True)  # as the library does after one period
        assert sign_in(Client(), code=code).json()["code"] == "wrong_code"

    def test_a_wrong_password_does_not_tell_that_there_is_a_factor(self, world: World) -> None:
        protected(world)
        assert sign_in(Client(), password="wrong").json()["code"] == "wrong_credentials"

    def test_a_recovery_code_lets_in_once(self, world: World) -> None:
        ada, _secret, codes = protected(world)
        assert len(codes) == 10
        assert sign_in(Client(), code=codes[3]).status_code == 200
        assert sign_in(Client(), code=codes[3]).json()["code"] == "wrong_code"
        assert ada.get("/api/me/security").json()["recovery_codes_left"] == 9

    def test_it_counts_only_when_the_app_has_shown_it(self, world: World) -> None:
        ada = Client()
        sign_in(ada)
        begun = send(ada, "post", "/me/factor").json()
        assert "<svg" in begun["picture"]
        assert begun["address"].startswith("otpauth://totp/ada?")
        assert send(ada, "post", "/me/factor/confirm", code="000000").json()["code"] == "wrong_code"
        assert sign_in(Client()).status_code == 200

    def test_the_key_is_sealed_while_it_is_set_up(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        stored: list[object] = []
        put = cache.set

        def spied(name: str, value: object, *rest: Any) -> None:
            stored.append(value)
            put(name, value, *rest)

        monkeypatch.setattr(cache, "set", spied)
        _ada, secret, _codes = protected(world)
        assert stored
        assert secret not in str(stored)

    def test_the_key_is_sealed_in_the_database(self, world: World) -> None:
        _ada, secret, _codes = protected(world)
        assert secret not in str(list(Authenticator.objects.values_list("data", flat=True)))

    @pytest.mark.parametrize("path", ["/me/factor/remove", "/me/factor/codes"])
    def test_weakening_it_needs_a_fresh_proof(self, world: World, path: str) -> None:
        ada, _secret, _codes = protected(world)
        proof_expire(ada)
        assert send(ada, "post", path).json()["code"] == "reauthentication_required"
        assert send(ada, "post", "/me/reauthenticate", password="wrong").json()["code"] == "wrong_credentials"
        assert send(ada, "post", path).json()["code"] == "reauthentication_required"
        assert send(ada, "post", "/me/reauthenticate", password=PASSWORD).status_code == 204
        assert send(ada, "post", path).status_code in {200, 204}

    def test_beginning_it_needs_a_fresh_proof(self, world: World) -> None:
        ada = Client()
        sign_in(ada)
        proof_expire(ada)
        assert send(ada, "post", "/me/factor").json()["code"] == "reauthentication_required"

    def test_who_has_no_password_proves_it_with_a_code_or_by_signing_in_again(self, world: World) -> None:
        ada, secret, _codes = protected(world)
        world.ada.set_unusable_password()
        world.ada.save()
        ada.force_login(world.ada)
        assert send(ada, "post", "/me/factor/remove").json()["code"] == "reauthentication_required"
        assert send(ada, "post", "/me/reauthenticate", code="000000").json()["code"] == "wrong_code"
        assert send(ada, "post", "/me/reauthenticate", code=code_of(secret, ahead=1)).status_code == 204
        assert send(ada, "post", "/me/factor/remove").status_code == 204
        assert send(ada, "post", "/me/reauthenticate").json()["code"] == "sign_in_again"

    def test_an_admin_helps_who_lost_the_app(self, world: World) -> None:
        protected(world)
        alma = user_ensure(username="alma", password=PASSWORD, name="Alma", roles=["admin"])
        assert world.client(alma).delete(f"/api/people/{world.ada.pk}/factor").status_code == 204
        assert sign_in(Client()).status_code == 200

    def test_guessing_codes_is_slowed_down(self, world: World) -> None:
        protected(world)
        answers = [sign_in(Client(), code=f"{number:06}").json()["code"] for number in range(12)]
        assert answers[-1] == "sign_in_throttled"

    def test_guessing_codes_is_slowed_down_from_however_many_addresses(self, world: World) -> None:
        _ada, secret, _codes = protected(world)
        cache.clear()
        for number in range(FACTOR_LIMIT.limit):
            guesser = Client(REMOTE_ADDR=f"192.0.2.{number}")
            assert sign_in(guesser, code=f"{number:06}").json()["code"] == "wrong_code"
        answer = sign_in(Client(REMOTE_ADDR="198.51.100.1"), code=code_of(secret))
        assert (answer.status_code, answer.json()["code"]) == (429, "factor_throttled")

    def test_guessing_the_password_that_takes_it_away_is_slowed_down(self, world: World) -> None:
        ada, _secret, _codes = protected(world)
        for _ in range(FACTOR_LIMIT.limit):
            assert send(ada, "post", "/me/reauthenticate", password="wrong").status_code == 422
        assert send(ada, "post", "/me/reauthenticate", password=PASSWORD).json()["code"] == "factor_throttled"

    def test_it_outlives_a_change_of_the_secret_key(self, world: World, settings: Any) -> None:
        settings.CREDENTIALS_KEYS = ["a-key-of-its-own"]
        _ada, secret, _codes = protected(world)
        settings.SECRET_KEY = "another-secret-key"
        assert sign_in(Client(), code=code_of(secret)).status_code == 200

    def test_one_from_before_it_had_a_key_of_its_own_goes_on(self, world: World, settings: Any) -> None:
        _ada, secret, _codes = protected(world)
        sealed = second_factor._legacy_key().encrypt(secret.encode()).decode()
        Authenticator.objects.filter(type=Authenticator.Type.TOTP).update(data={"secret": sealed})
        settings.CREDENTIALS_KEYS = ["a-key-of-its-own"]
        assert sign_in(Client(), code=code_of(secret)).status_code == 200


class TestBrowsers:
    def test_they_are_listed_and_signed_out(self, world: World) -> None:
        here, there = Client(headers={"User-Agent": "Here/1"}), Client(headers={"User-Agent": "There/2"})
        sign_in(here)
        sign_in(there)
        listed = here.get("/api/me/security").json()["sign_ins"]
        assert {(row["agent"], row["here"]) for row in listed} == {("Here/1", True), ("There/2", False)}
        assert send(here, "post", "/me/sign-ins/end-others").status_code == 204
        assert there.get("/api/queue").status_code == 401
        assert here.get("/api/queue").status_code == 200

    def test_one_is_signed_out_by_its_line(self, world: World) -> None:
        here, there = Client(), Client()
        sign_in(here)
        sign_in(there)
        (other,) = (row for row in here.get("/api/me/security").json()["sign_ins"] if not row["here"])
        assert here.delete(f"/api/me/sign-ins/{other['id']}").status_code == 204
        assert there.get("/api/queue").status_code == 401

    def test_signing_out_takes_the_line_away(self, world: World) -> None:
        here = Client()
        sign_in(here)
        here.delete("/api/session")
        assert not SignIn.objects.filter(user=world.ada).exists()


class TestTokens:
    def call(self, token: str, method: str = "get", path: str = "/api/policies") -> Any:
        return getattr(Client(), method)(path, headers={"Authorization": f"Bearer {token}"})

    def test_one_allows_what_its_scopes_say(self, world: World) -> None:
        alma = user_ensure(username="alma", password=PASSWORD, name="Alma", roles=["admin"])
        client = world.client(alma)
        made = send(client, "post", "/me/tokens", name="ci", scopes=["policies:read"], days=1).json()
        assert self.call(made["token"]).status_code == 200
        refused = self.call(made["token"], path=f"/api/pools/{world.pool.pk}/states")
        assert (refused.status_code, refused.json()["code"]) == (403, "scope_missing")
        assert self.call(made["token"], "post").json()["extra"] == {"scope": "policies:write"}
        (shown,) = client.get("/api/me/security").json()["tokens"]
        assert (shown["name"], shown["scopes"]) == ("ci", ["policies:read"])
        assert shown["used_at"] is not None
        assert client.delete(f"/api/me/tokens/{shown['id']}").status_code == 204
        assert self.call(made["token"]).status_code == 401

    def test_one_made_by_command_allows_everything_its_person_may(self, world: World) -> None:
        user_ensure(username="alma", password=PASSWORD, name="Alma", roles=["admin"])
        assert self.call(token_make(username="alma", name="t", days=1)).status_code == 200
        assert self.call(token_make(username="ada", name="t", days=1)).json()["code"] == "forbidden"

    def test_making_one_needs_a_fresh_proof(self, world: World) -> None:
        ada = world.client(world.ada)
        proof_expire(ada)
        fields: dict[str, Any] = {"name": "ci", "scopes": ["queue:read"], "days": 1}
        assert send(ada, "post", "/me/tokens", **fields).json()["code"] == "reauthentication_required"
        assert send(ada, "post", "/me/reauthenticate", password=PASSWORD).status_code == 204
        assert send(ada, "post", "/me/tokens", **fields).status_code == 200

    @pytest.mark.parametrize("scopes", [[], ["policies"], ["policies:delete"], ["*"], ["Policies:read"]])
    def test_a_scope_that_is_none_makes_no_token(self, world: World, scopes: list[str]) -> None:
        response = send(world.client(world.ada), "post", "/me/tokens", name="ci", scopes=scopes, days=1)
        assert (response.status_code, response.json()["code"]) == (422, "invalid")
