"""A pool as a source of tasks: page by page, with the web app's own refusals."""

from collections.abc import Callable

import httpx
import pytest

from agent_backend.rollout import pool_tasks
from agent_backend.rollout.pool_tasks import PoolUnavailable, read_pool

ENVIRONMENT = {"PILOTHOUSE_URL": "http://web.test", "PILOTHOUSE_TOKEN": "t"}


def read(answer: Callable[[httpx.Request], httpx.Response]) -> pool_tasks.PoolTasks:
    return read_pool("pool:Two", ENVIRONMENT, transport=httpx.MockTransport(answer))


def test_every_page_is_read_with_the_token() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        assert request.headers["Authorization"] == "Bearer t"
        assert request.url.params["pool"] == "Two"
        first = request.url.params["after"] == "0"
        task = {"id": "a" if first else "b", "instruction": "Do."}
        return httpx.Response(200, json={"image": "browser", "items": [task], "after": 7 if first else None})

    found = read(answer)
    assert [task.id for task in found.items] == ["a", "b"]
    assert found.image == "browser"


def test_refusals_keep_the_web_apps_code_and_an_empty_pool_is_one() -> None:
    refusal = {"code": "forbidden", "message": "For admins."}
    with pytest.raises(PoolUnavailable) as refused:
        read(lambda _: httpx.Response(403, json=refusal))
    assert (refused.value.code, str(refused.value)) == ("forbidden", "For admins.")
    with pytest.raises(PoolUnavailable, match="has no tasks"):
        read(lambda _: httpx.Response(200, json={"image": "browser", "items": [], "after": None}))
    with pytest.raises(PoolUnavailable, match="no page"):
        read(lambda _: httpx.Response(200, json=[]))
    with pytest.raises(PoolUnavailable) as no_token:
        read_pool("pool:Two", {})
    assert no_token.value.code == "no_token"


def test_a_web_app_that_is_busy_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_tasks, "RETRY_PAUSES_SECONDS", (0.0, 0.0))
    answers = iter([502, 503, 200])
    task = {"id": "a", "instruction": "Do."}

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(next(answers), json={"image": "browser", "items": [task], "after": None})

    assert len(read(answer).items) == 1
