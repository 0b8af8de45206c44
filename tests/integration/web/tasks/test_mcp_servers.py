"""The MCP servers of a pool over HTTP: set by admins, checked field by field, for every task of the pool."""

from typing import Any

import pytest
from django.test import Client

from annotation_app.accounts.services import user_ensure
from annotation_app.audit.models import AuditEntry
from annotation_app.episodes.models import Episode
from annotation_app.episodes.selectors.trajectories import episode_state, episode_trajectory
from annotation_app.episodes.services import episode_next
from annotation_app.pools.services import credential_set
from annotation_app.pools.services.mcp_servers import MAX_SERVERS
from annotation_app.tasks.models import Pool
from annotation_app.tasks.selectors import server_secrets_environment
from tests.integration.web.conftest import PASSWORD, World
from tests.integration.web.tasks.test_pools import alex, post_pool, sent

__all__ = ["alex"]

CALC: dict[str, Any] = {
    "transport": "http",
    "url": "https://mcp.example.org/mcp",
    "headers": {"Authorization": "Bearer secret:CALC"},
}
NOTES: dict[str, Any] = {"transport": "stdio", "command": "python3", "args": ["-m", "notes"], "env": {"MODE": "quick"}}


@pytest.fixture
def pool(alex: Client, world: World) -> Pool:
    """A pool with a secret that its MCP servers may use."""
    body = {"value": "token-12345", "kinds": ["mcp_server"], "hosts": ["mcp.example.org"]}
    assert sent(alex, "POST", f"/pools/{world.pool.pk}/credentials/CALC", body) is None
    return world.pool


def put(client: Client, pool: Pool, name: str, server: dict[str, Any], more: str = "") -> Any:
    return sent(client, "POST", f"/pools/{pool.pk}/mcp-servers/{name}{more}", {"server": server})


def test_servers_are_set_changed_and_deleted(alex: Client, pool: Pool) -> None:
    assert put(alex, pool, "calc", CALC) is None
    assert put(alex, pool, "notes", NOTES) is None
    assert put(alex, pool, "notes", {**NOTES, "args": []}) is None
    assert sent(alex, "GET", f"/pools/{pool.pk}")["mcp_servers"] == [
        {"name": "calc", "server": CALC},
        {"name": "notes", "server": {**NOTES, "args": []}},
    ]
    assert sent(alex, "DELETE", f"/pools/{pool.pk}/mcp-servers/notes") is None
    assert sent(alex, "DELETE", f"/pools/{pool.pk}/mcp-servers/notes")["code"] == "not_found"
    assert [row["name"] for row in sent(alex, "GET", f"/pools/{pool.pk}")["mcp_servers"]] == ["calc"]
    entry = AuditEntry.objects.filter(verb="mcp_server.set", details__name="calc").get()
    assert entry.details == {"name": "calc", "transport": "http", "values": ["Authorization"]}


@pytest.mark.parametrize(
    ("name", "server", "code", "field"),
    [
        ("a.b", NOTES, "invalid", "name"),
        ("a", {**NOTES, "command": ""}, "invalid", "server.stdio.command"),
        ("a", {**NOTES, "args": ["x\x00"]}, "invalid", "server.stdio.args.0"),
        ("a", {**NOTES, "env": {"A=B": "x"}}, "invalid", "server.stdio.env.A=B.[key]"),
        ("a", {**NOTES, "cwd": "/"}, "invalid", "server.stdio.cwd"),
        ("a", {**NOTES, "transport": "sse"}, "invalid", "server"),
        ("a", {**NOTES, "env": {"API_KEY": "abc"}}, "secret_needed", "env.API_KEY"),
        ("a", {**NOTES, "env": {"API_KEY": "secret:CALC"}}, "secret_not_allowed", "env"),
        ("a", {**CALC, "url": "file:///etc/passwd"}, "invalid", "server.http.url"),
        ("a", {**CALC, "url": "https://me:word@mcp.example.org/"}, "invalid", "server.http.url"),
        ("a", {**CALC, "url": "https://[2001:db8::1]/mcp"}, "host_unsupported", "url"),
        ("a", {**CALC, "url": "http://mcp.example.org/mcp"}, "https_needed", "url"),
        ("a", {**CALC, "url": "https://evil.example.com/mcp"}, "secret_not_allowed", "headers"),
        ("a", {**CALC, "headers": {"Authorization": "secret:OTHER"}}, "secret_unknown", "headers"),
        ("a", {**CALC, "headers": {"Authorization": "Bearer abc"}}, "secret_needed", "headers.Authorization"),
        ("a", {**CALC, "headers": {"Host": "evil.example.com"}}, "header_not_allowed", "headers.Host"),
        ("a", {**CALC, "headers": {"X-A": "b\r\nX-C: d"}}, "invalid", "server.http.headers.X-A"),
        ("a", {**CALC, "headers": {"bad name": "b"}}, "invalid", "server.http.headers.bad name.[key]"),
    ],
)
def test_a_bad_server_is_refused_by_its_field_and_changes_nothing(
    alex: Client, pool: Pool, name: str, server: dict[str, Any], code: str, field: str
) -> None:
    for more in ("", "/trial"):
        refused = put(alex, pool, name, server, more)
        assert (refused["code"], refused["extra"]["fields"][0]["field"]) == (code, field)
    assert sent(alex, "GET", f"/pools/{pool.pk}")["mcp_servers"] == []


def test_a_pool_has_no_more_than_it_may_and_a_phone_has_none(alex: Client, pool: Pool) -> None:
    for number in range(MAX_SERVERS):
        assert put(alex, pool, f"s{number}", NOTES) is None
    assert put(alex, pool, "one-more", NOTES)["code"] == "too_many_servers"
    assert put(alex, pool, "s0", {**NOTES, "args": []}) is None
    phones = Pool.objects.get(pk=post_pool(alex, name="phones", platform="phone", image="phone")["id"])
    assert put(alex, phones, "a", NOTES)["code"] == "no_tools"


def test_a_secret_that_a_server_uses_stays_as_it_needs_it(alex: Client, pool: Pool) -> None:
    assert put(alex, pool, "calc", CALC) is None
    path = f"/pools/{pool.pk}/credentials/CALC"
    for method, body in (("DELETE", None), ("POST", {"kinds": ["type_text"]}), ("POST", {"hosts": ["other.test"]})):
        refused = sent(alex, method, path, body)
        assert refused["code"] == "credential_in_use"
        assert "calc" in refused["message"]
    assert sent(alex, "GET", f"/pools/{pool.pk}")["credential_rules"][0]["hosts"] == ["mcp.example.org"]
    assert sent(alex, "POST", path, {"value": "token-67890"}) is None


def test_without_a_bridge_a_trial_says_why_it_was_not_made(alex: Client, pool: Pool, settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"bridge_url": "http://127.0.0.1:9"})
    trial = put(alex, pool, "calc", CALC, "/trial")
    assert (trial["outcome"], trial["tools"]) == ("no_machine", [])
    assert trial["reason"]
    assert sent(alex, "GET", f"/pools/{pool.pk}")["mcp_servers"] == []


def test_an_episode_keeps_those_it_began_with_and_shows_annotators_no_values(world: World, pool: Pool) -> None:
    admin = user_ensure(username="alex", password=PASSWORD, name="Alex", roles=["admin"])
    calc = {"server": {**CALC, "headers": {"Authorization": "Bearer secret:CALC", "X-Team": "blue"}}}
    client = world.client(admin)
    assert sent(client, "POST", f"/pools/{pool.pk}/mcp-servers/calc", calc) is None
    episode = episode_next(user=world.ada)
    assert episode is not None
    assert sent(client, "DELETE", f"/pools/{pool.pk}/mcp-servers/calc") is None

    kept = Episode.objects.get(pk=episode.pk)
    assert kept.mcp_servers is not None
    assert kept.mcp_servers["calc"].model_dump()["headers"]["X-Team"] == "blue"
    state = episode_state(episode_id=episode.pk)
    assert "mcp_servers" not in state.task.parameters
    told = world.client(world.ada).get(f"/api/episodes/{episode.pk}/trajectory").content.decode()
    assert "mcp.example.org" in told
    assert "blue" not in told
    record = episode_trajectory(episode_id=episode.pk)
    assert record.task.network == ("mcp.example.org",)
    recorded: Any = record.task.parameters["mcp_servers"]
    assert recorded["calc"]["headers"] == {"Authorization": "***", "X-Team": "***"}


def test_programs_read_the_servers_with_the_tasks_and_get_their_secrets_apart(alex: Client, pool: Pool) -> None:
    assert put(alex, pool, "calc", CALC) is None
    page = sent(alex, "GET", f"/pools/definitions?pool={pool.name}")
    servers = [task["parameters"]["mcp_servers"]["calc"]["headers"] for task in page["items"]]
    assert servers
    assert all(headers == {"Authorization": "Bearer secret:CALC"} for headers in servers)
    assert server_secrets_environment(pool=pool.name) == {"PILOTHOUSE_POOL_SECRET_CALC": "token-12345"}
    admin = user_ensure(username="alex", password=PASSWORD, name="Alex", roles=["admin"])
    credential_set(user=admin, pool_id=pool.pk, name="TYPED", value="hunter2")
    assert "TYPED" not in str(server_secrets_environment(pool=pool.name))


def test_only_admins_set_and_read_them(world: World) -> None:
    for user in (world.ada, world.rosa, world.ravi):
        client = world.client(user)
        assert put(client, world.pool, "calc", NOTES)["code"] == "forbidden"
        assert put(client, world.pool, "calc", NOTES, "/trial")["code"] == "forbidden"
        assert sent(client, "DELETE", f"/pools/{world.pool.pk}/mcp-servers/calc")["code"] == "forbidden"
        assert sent(client, "GET", f"/pools/{world.pool.pk}")["code"] == "forbidden"
