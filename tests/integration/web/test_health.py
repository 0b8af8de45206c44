"""What admins and Prometheus are told of the platform, and the id that a request carries to everything it starts."""

import json
import logging
import time
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from annotation_app.accounts.models import User
from annotation_app.accounts.services import token_make, user_ensure
from annotation_app.health.jobs import heartbeat
from annotation_app.health.selectors import HEARTBEAT, LATE
from annotation_app.trace import HEADER, JsonFormatter, TraceFilter, trace_id, traced
from tests.integration.web.conftest import PASSWORD, World


@pytest.fixture
def alma(world: World) -> User:
    cache.clear()
    return user_ensure(username="alma", password=PASSWORD, name="Alma", roles=["admin"])


def parts(client: Client) -> dict[str, Any]:
    return {check["name"]: check for check in client.get("/api/health/parts").json()["checks"]}


def test_every_part_is_asked_and_says_what_is_wrong(world: World, alma: User, redis_url: str, settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"redis_url": redis_url, "bridge_url": "http://127.0.0.1:9"})
    heartbeat()
    found = parts(world.client(alma))
    assert set(found) == {"database", "redis", "worker", "queue", "disk", "bridge"}
    assert [name for name, check in found.items() if not check["ok"]] == ["bridge"]
    cache.set(HEARTBEAT, time.time() - LATE - 1)
    assert not parts(world.client(alma))["worker"]["ok"]


def test_prometheus_reads_figures_with_an_admin_s_token(world: World, alma: User) -> None:
    def read(scopes: tuple[str, ...]) -> Any:
        token = token_make(username="alma", name="prometheus", days=1, scopes=scopes)
        return Client().get("/api/metrics", headers={"Authorization": f"Bearer {token}"})

    answer = read(("metrics:read",))
    assert answer.status_code == 200
    text = answer.content.decode()
    assert 'pilothouse_tasks{state="waiting"} 4.0' in text
    assert 'pilothouse_up{part="database"} 1.0' in text
    assert "pilothouse_http_request_seconds_bucket" in text
    assert read(("policies:read",)).json()["code"] == "scope_missing"


def test_an_answer_names_the_id_it_was_given_or_a_new_one(world: World) -> None:
    client = Client()
    assert client.get("/api/health", headers={HEADER: "click-12345"})[HEADER] == "click-12345"
    first, second = (client.get("/api/health")[HEADER] for _ in range(2))
    assert first != second
    assert client.get("/api/health", headers={HEADER: "a b\n"})[HEADER] != "a b\n"


def test_a_line_logged_names_what_it_belongs_to() -> None:
    record = logging.LogRecord("pilothouse", logging.INFO, __file__, 1, "done %s", ("it",), None)
    with traced("command-1") as trace:
        TraceFilter().filter(record)
    line = json.loads(JsonFormatter().format(record))
    assert (line["trace"], line["message"], trace_id()) == (trace, "done it", "")
