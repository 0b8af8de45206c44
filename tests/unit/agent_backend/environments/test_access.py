"""Access to a server of environments: its own token, and the web app's word on others."""

import httpx
import pytest

from agent_backend.environments import access
from agent_backend.environments.__main__ import parse_arguments
from agent_backend.environments.access import AccountAccess, TokenAccess
from agent_backend.rollout.options import build_plan


class WebApp:
    """Knows the tokens of accounts, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.status = 200
        self.names = {"ada-token": "ada"}

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.asked += 1
        assert (request.method, request.url.path) == ("POST", "/api/environments/access")
        name = self.names.get(request.headers["authorization"].removeprefix("Bearer "))
        if self.status != 200:
            return httpx.Response(self.status)
        return httpx.Response(200, json={"username": name}) if name else httpx.Response(401)


@pytest.fixture
def web_app() -> WebApp:
    return WebApp()


def checks(web_app: WebApp) -> TokenAccess:
    http = httpx.AsyncClient(base_url="http://web.test", transport=httpx.MockTransport(web_app.answer))
    return TokenAccess("own", AccountAccess(http))


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def test_tokens_of_accounts_are_asked_about_once_a_minute(
    web_app: WebApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = checks(web_app)
    assert [await both.principal(bearer("ada-token")) for _ in range(3)] == ["account:ada"] * 3
    assert [await both.principal(bearer("wrong")) for _ in range(2)] == [None, None]
    assert web_app.asked == 2
    monkeypatch.setattr(access, "ACCESS_SECONDS", 0.0)
    renewed = checks(web_app)
    assert await renewed.principal(bearer("ada-token")) == "account:ada"
    web_app.names.clear()
    assert await renewed.principal(bearer("ada-token")) is None, "a token that was ended"


async def test_a_web_app_that_is_away_opens_nothing_and_is_asked_again(web_app: WebApp) -> None:
    both = checks(web_app)
    web_app.status = 503
    assert await both.principal(bearer("ada-token")) is None
    web_app.status = 200
    assert await both.principal(bearer("ada-token")) == "account:ada"


async def test_the_servers_own_token_needs_no_web_app(web_app: WebApp) -> None:
    assert await checks(web_app).principal(bearer("own")) is not None
    assert await TokenAccess("own").principal(bearer("ada-token")) is None
    assert await TokenAccess("own").principal({}) is None
    assert web_app.asked == 0


def test_the_command_line_says_what_is_played() -> None:
    plan = build_plan(parse_arguments(("--suite", "games", "--bridge", "http://127.0.0.1:1")))
    assert (plan.suite, plan.policy.name) == ("games", "expert")
