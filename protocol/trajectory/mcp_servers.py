"""MCP servers beside a machine's own, whose tools are called as `server.tool`: a task's, and those of its pool."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import Field, StringConstraints

from protocol.actions.secrets import SECRET_PLACEHOLDER
from protocol.base import FrozenModel
from protocol.trajectory.tasks import HOST_PATTERN, Task

MCP_SERVERS = "mcp_servers"
"""The parameter of a task that has its servers."""
LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_HOST_LENGTH = 255
REDACTED = "***"
"""Stands for a value that is not shown."""

Value = Annotated[str, StringConstraints(max_length=4096, pattern=r"^[^\x00-\x08\x0a-\x1f\x7f]*$")]
"""Of an environment variable or a header."""


class McpServer(FrozenModel):
    """How an MCP server is started inside the sandbox; it is spoken to over its standard input and output."""

    command: Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=r"^[^\x00]*$")]
    args: Annotated[
        tuple[Annotated[str, StringConstraints(max_length=4096, pattern=r"^[^\x00]*$")], ...], Field(max_length=256)
    ] = ()
    env: Annotated[
        dict[Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")], Value], Field(max_length=64)
    ] = {}


class RemoteMcpServer(FrozenModel):
    """Where an MCP server answers over streamable HTTP, seen from inside the sandbox: on its loopback, or as far as the
    task's network reaches."""

    url: Annotated[str, StringConstraints(max_length=4096, pattern=r"^https?://[^\s@]+$")]
    headers: Annotated[
        dict[Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$")], Value],
        Field(max_length=64),
    ] = {}
    """Sent with every request."""


ServerName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
AnyMcpServer = McpServer | RemoteMcpServer
McpServers = dict[ServerName, AnyMcpServer]

SecretValue = Callable[[str, str], str]
"""Returns the value of a secret by its name, for a server at a host (`host` or `host:port`; empty: the machine itself).
Raises if there is none, or if the secret may not be used there."""
VALUE_VARIABLE = "PILOTHOUSE_POOL_SECRET_"
"""Prefix of the environment variables that give programs the values of secrets."""


def environment_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The values of secrets that an environment has, by name."""
    return {
        name.removeprefix(VALUE_VARIABLE): value
        for name, value in environment.items()
        if name.startswith(VALUE_VARIABLE) and value
    }


def server_host(url: str) -> str:
    """The host that a machine must reach for a server, with its port where it is not the scheme's own; empty for the
    machine's own loopback. Raises ValueError if the address names no host that a machine may reach."""
    parts = urlsplit(url)
    if not parts.hostname:
        raise ValueError("the address names no host")
    port = parts.port
    if parts.hostname in LOOPBACK_HOSTS:
        return ""
    host = parts.hostname if port in (None, DEFAULT_PORTS.get(parts.scheme)) else f"{parts.hostname}:{port}"
    if not re.fullmatch(HOST_PATTERN, host) or len(host) > MAX_HOST_LENGTH:
        raise ValueError(f"{host} is no host name that a machine can be let reach")
    return host


def server_values(server: AnyMcpServer) -> Mapping[str, str]:
    """The environment of a program, or the headers of a remote server."""
    return server.env if isinstance(server, McpServer) else server.headers


def add_mcp_servers(task: Task, servers: Mapping[str, AnyMcpServer]) -> Task:
    """The task with these servers beside its own and with the hosts of remote ones in its network. The task's
    own servers win where names are the same."""
    own = task.parameters.get(MCP_SERVERS, {})
    if not servers or not isinstance(own, dict):
        return task
    added = {name: server for name, server in servers.items() if name not in own}
    described: dict[str, Any] = {name: server.model_dump(mode="json") for name, server in added.items()}
    hosts = (server_host(server.url) for server in added.values() if isinstance(server, RemoteMcpServer))
    network = tuple(dict.fromkeys((*task.network, *filter(None, hosts))))
    parameters = {**task.parameters, MCP_SERVERS: {**described, **own}}
    return task.model_copy(update={"parameters": parameters, "network": network})


def redact_values(servers: Mapping[str, AnyMcpServer]) -> McpServers:
    """The servers without the values of their environments and headers, except the names of secrets."""

    def redacted(server: AnyMcpServer) -> AnyMcpServer:
        field = "env" if isinstance(server, McpServer) else "headers"
        names = {
            name: value if SECRET_PLACEHOLDER.fullmatch(value) else REDACTED
            for name, value in server_values(server).items()
        }
        return server.model_copy(update={field: names})

    return {name: redacted(server) for name, server in servers.items()}


def find_server_secrets(servers: Mapping[str, AnyMcpServer]) -> Iterator[tuple[str, str, str]]:
    """Each server's name, the host it is at, and the name of a secret that its environment or headers ask for."""
    for name, server in servers.items():
        host = "" if isinstance(server, McpServer) else server_host(server.url)
        for value in server_values(server).values():
            for secret in SECRET_PLACEHOLDER.findall(value):
                yield name, host, secret


def fill_server_secrets(task: Task, secret_value: SecretValue) -> Task:
    """The task with the values of secrets in the environments and headers of its MCP servers; entries that
    are no servers stay as they are. Raises what `secret_value` raises."""
    servers = task.parameters.get(MCP_SERVERS)
    if not isinstance(servers, dict):
        return task
    filled = {name: _filled(server, secret_value) for name, server in servers.items()}
    if filled == servers:
        return task
    return task.model_copy(update={"parameters": {**task.parameters, MCP_SERVERS: filled}})


def _filled(server: Any, secret_value: SecretValue) -> Any:
    if not isinstance(server, dict):
        return server
    try:
        host = server_host(server["url"]) if "url" in server else ""
    except (TypeError, ValueError, AttributeError, KeyError):
        return server

    def value_of(found: "re.Match[str]") -> str:
        return secret_value(found[1], host)

    filled = dict(server)
    for field in ("env", "headers"):
        if isinstance(values := server.get(field), dict):
            filled[field] = {
                name: SECRET_PLACEHOLDER.sub(value_of, value) if isinstance(value, str) else value
                for name, value in values.items()
            }
    return filled
