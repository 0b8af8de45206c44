"""A request that is wrong in one field is refused with the field's name, as it was sent, and the reason."""

from typing import Any

import pytest

from annotation_app.accounts.services import user_ensure
from tests.integration.web.conftest import PASSWORD, World

pytestmark = pytest.mark.django_db
NOBODY = 2_147_483_647
NODE = {"name": "Shop", "importance": 1}


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("get", "trajectories?since=yesterday", None, "since"),
        ("get", "trajectories?after=nowhere", None, "after"),
        ("get", "wall?page=0", None, "page"),
        ("get", "report?since=2026-01-02&until=2026-01-01", None, "until"),
        ("get", "report?since=2026-01-01&until=2026-01-02&zone=Mars/Olympus", None, "zone"),
        ("get", "reviews/queue?after=nowhere", None, "after"),
        ("post", "groups", {"name": "Night", "members": [NOBODY]}, "members"),
        ("post", "invitations", {"roles": ["annotator"], "groups": [NOBODY]}, "groups"),
        ("post", "me/password", {"current": "wrong", "new": "long enough 1"}, "current"),
        ("post", "me/password", {"current": PASSWORD, "new": "1234"}, "new"),
        ("post", "webhooks", {"url": "http://127.0.0.1/hook", "events": ["export.finished"]}, "url"),
        ("post", "design/nodes", {**NODE, "parent": NOBODY}, "parent"),
        ("post", "design/nodes", {**NODE, "importance": 99}, "importance"),
        ("post", "design/placements", {"tasks": [1], "node": NOBODY}, "node"),
        ("post", "design/balance", {"shares": None, "pool": NOBODY}, "pool"),
        ("post", "retention/rules", {"what": "practice", "days": 9, "pool": NOBODY}, "pool"),
        ("post", "benchmarks", {"benchmark": "pool:none"}, "benchmark"),
        ("post", "evaluations", {"run": "no-such-run"}, "run"),
    ],
)
def test_the_field_and_the_reason_are_named(world: World, method: str, path: str, body: Any, field: str) -> None:
    alma = user_ensure(username="alma", password=PASSWORD, name="Alma", roles=["admin"])
    client = world.client(alma)
    send = getattr(client, method)
    answer = send(f"/api/{path}") if body is None else send(f"/api/{path}", body, content_type="application/json")
    error = answer.json()
    assert 400 <= answer.status_code < 500
    assert [fault["field"] for fault in error["extra"]["fields"]] == [field]
    assert error["code"]
    assert error["extra"]["fields"][0]["message"] in error["message"]
