"""MCP servers of a pool beside those of a task, and the values of secrets in them."""

from typing import Any

import pytest

from protocol.trajectory.mcp_servers import (
    McpServer,
    RemoteMcpServer,
    add_mcp_servers,
    fill_server_secrets,
    find_server_secrets,
    redact_values,
    server_host,
)
from protocol.trajectory.tasks import Task

CALC = RemoteMcpServer(
    url="https://mcp.example.org/mcp", headers={"Authorization": "Bearer secret:CALC", "X-Team": "a"}
)
NOTES = McpServer(command="notes", args=("--all",), env={"NOTES_TOKEN": "secret:NOTES"})


def task(**fields: Any) -> Task:
    return Task(id="t", instruction="Do it.", **fields)


def test_a_task_has_the_servers_of_its_pool_beside_its_own_and_reaches_their_hosts() -> None:
    own = {"notes": {"command": "mine"}}
    merged = add_mcp_servers(task(parameters={"mcp_servers": own}, network=("a.test",)), {"calc": CALC, "notes": NOTES})
    assert merged.parameters["mcp_servers"] == {"calc": CALC.model_dump(mode="json"), **own}
    assert merged.network == ("a.test", "mcp.example.org")


def test_a_server_whose_name_the_task_has_lets_it_reach_nothing() -> None:
    merged = add_mcp_servers(task(parameters={"mcp_servers": {"calc": {"command": "mine"}}}), {"calc": CALC})
    assert merged.network == ()


def test_without_servers_a_task_stays_as_it_is() -> None:
    plain = task(parameters={"level": 2})
    assert add_mcp_servers(plain, {}) is plain
    assert fill_server_secrets(plain, lambda name, host: "x") is plain


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://127.0.0.1:8765/mcp", ""),
        ("http://localhost/mcp", ""),
        ("http://[::1]:99/mcp", ""),
        ("https://MCP.example.org/x", "mcp.example.org"),
        ("https://mcp.example.org:443/x", "mcp.example.org"),
        ("http://mcp.example.org:8080/x", "mcp.example.org:8080"),
    ],
)
def test_the_host_of_a_server_is_named_as_networks_name_it(url: str, host: str) -> None:
    assert server_host(url) == host


@pytest.mark.parametrize("url", ["http:///mcp", "https://[2001:db8::1]/mcp", "https://a_b!.org/", "https://h:99999/"])
def test_an_address_that_no_machine_can_reach_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"host|[Pp]ort"):
        server_host(url)


def test_secrets_are_put_in_for_the_host_that_they_go_to() -> None:
    asked: list[tuple[str, str]] = []

    def value(name: str, host: str) -> str:
        asked.append((name, host))
        return f"<{name}>"

    filled = fill_server_secrets(add_mcp_servers(task(), {"calc": CALC, "notes": NOTES}), value)
    servers: Any = filled.parameters["mcp_servers"]
    assert servers["calc"]["headers"] == {"Authorization": "Bearer <CALC>", "X-Team": "a"}
    assert servers["notes"]["env"] == {"NOTES_TOKEN": "<NOTES>"}
    assert asked == [("CALC", "mcp.example.org"), ("NOTES", "")]
    assert list(find_server_secrets({"calc": CALC, "notes": NOTES})) == [
        ("calc", "mcp.example.org", "CALC"),
        ("notes", "", "NOTES"),
    ]


@pytest.mark.parametrize("servers", ["notes", {"a": 3}, {"a": {"url": 7}}, {"a": {"url": "nonsense", "headers": 1}}])
def test_entries_that_are_no_servers_stay_as_they_are(servers: Any) -> None:
    odd = task(parameters={"mcp_servers": servers})
    assert fill_server_secrets(odd, lambda name, host: "x") == odd


def test_records_have_no_values_but_the_names_of_secrets() -> None:
    shown = redact_values({"calc": CALC, "notes": NOTES})
    assert shown["calc"].model_dump()["headers"] == {"Authorization": "***", "X-Team": "***"}
    assert shown["notes"].model_dump()["env"] == {"NOTES_TOKEN": "secret:NOTES"}
