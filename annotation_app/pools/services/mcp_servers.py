"""The MCP servers of a pool: every task of it has them beside its own, in episodes that begin afterwards."""

import re

from asgiref.sync import async_to_sync
from django.db import transaction

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.services import audit_record
from annotation_app.errors import Conflict, Invalid, NotFound
from annotation_app.live.mcp_server_trials import ServerTrial, try_server
from annotation_app.pools.schemas import HttpServer, StdioServer
from annotation_app.pools.services.settings import pool_locked
from annotation_app.tasks.models import Pool
from annotation_app.tasks.secret_masking import server_secret_refusal
from annotation_app.tasks.selectors import credentials_of
from protocol.actions.secrets import SECRET_PLACEHOLDER
from protocol.trajectory.mcp_servers import (
    AnyMcpServer,
    McpServer,
    RemoteMcpServer,
    find_server_secrets,
    server_host,
    server_values,
)
from protocol.trajectory.secret_masks import mask_text

MAX_SERVERS = 16
PLATFORMS_WITH_TOOLS = ("desktop", "terminal")
CONFIDENTIAL_WORDS = frozenset(
    [
        "apikey",
        "auth",
        "authorization",
        "cookie",
        "credential",
        "credentials",
        "key",
        "passwd",
        "password",
        "secret",
        "token",
    ]
)
"""Words in the name of a header or variable whose value is a secret."""
FORBIDDEN_HEADERS = frozenset(
    [
        "connection",
        "content-length",
        "content-type",
        "host",
        "mcp-protocol-version",
        "mcp-session-id",
        "transfer-encoding",
    ]
)
"""Headers that belong to the transport."""


@transaction.atomic(durable=True)
def mcp_server_set(*, user: User, pool_id: int, name: str, server: StdioServer | HttpServer) -> None:
    """Add an MCP server to a pool, or change the one of this name.

    Raises:
        Invalid: `host_unsupported`, `https_needed`, `header_not_allowed`, `secret_needed`, `secret_unknown`,
            `secret_not_allowed`, with the field in `fields`.
        Conflict: `no_tools` where machines of the pool's platform have none, `too_many_servers`.
        Forbidden, NotFound
    """
    role_check(user, Role.ADMIN)
    pool = pool_locked(pool_id)
    checked = _checked(pool, name, server)
    servers = pool.mcp_servers or {}
    if name not in servers and len(servers) >= MAX_SERVERS:
        raise Conflict(f"A pool has at most {MAX_SERVERS} MCP servers.", code="too_many_servers")
    pool.mcp_servers = {**servers, name: checked}
    pool.save(update_fields=["mcp_servers"])
    details = {"name": name, "transport": server.transport, "values": sorted(server_values(checked))}
    audit_record(actor=user, verb="mcp_server.set", subject=f"pool:{pool.pk}", details=details)


@transaction.atomic(durable=True)
def mcp_server_remove(*, user: User, pool_id: int, name: str) -> None:
    """Take an MCP server from a pool; episodes that run keep it. Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN)
    pool = pool_locked(pool_id)
    servers = dict(pool.mcp_servers or {})
    if servers.pop(name, None) is None:
        raise NotFound("The pool has no such MCP server.")
    pool.mcp_servers = servers or None
    pool.save(update_fields=["mcp_servers"])
    audit_record(actor=user, verb="mcp_server.removed", subject=f"pool:{pool.pk}", details={"name": name})


def mcp_server_try(*, user: User, pool_id: int, name: str, server: StdioServer | HttpServer) -> ServerTrial:
    """Start a server on a machine of the pool, where one is free now, and list its tools; nothing is stored.

    Raises Forbidden, NotFound, and what `mcp_server_set` raises of the server.
    """
    role_check(user, Role.ADMIN)
    pool = Pool.objects.filter(pk=pool_id).first()
    if pool is None:
        raise NotFound("There is no such pool.", field="pool_id")
    checked = _checked(pool, name, server)
    secrets = {key: secret.value for key, secret in credentials_of(pool=pool.name).items()}
    trial: ServerTrial = async_to_sync(try_server)(
        image=pool.image, pool=pool.name, name=name, server=checked, secrets=secrets
    )
    return trial.model_copy(update={"reason": mask_text(trial.reason, secrets)})


def _checked(pool: Pool, name: str, server: StdioServer | HttpServer) -> AnyMcpServer:
    """The server as it is stored. Raises Conflict and Invalid."""
    if pool.platform not in PLATFORMS_WITH_TOOLS:
        raise Conflict(f"Machines of the platform {pool.platform} have no tools.", code="no_tools")
    fields = server.model_dump(exclude={"transport"})
    checked: AnyMcpServer = McpServer(**fields) if isinstance(server, StdioServer) else RemoteMcpServer(**fields)
    if isinstance(checked, RemoteMcpServer):
        _check_address(checked)
    field = "env" if isinstance(checked, McpServer) else "headers"
    for key, value in server_values(checked).items():
        confidential = CONFIDENTIAL_WORDS.intersection(re.split(r"[^a-z0-9]+", key.lower()))
        if confidential and not SECRET_PLACEHOLDER.search(value):
            message = "Keep the value as a secret of the pool, and write secret:NAME here."
            raise _invalid(f"{field}.{key}", message, "secret_needed")
    secrets = credentials_of(pool=pool.name)
    for _, host, secret in find_server_secrets({name: checked}):
        if reason := server_secret_refusal(secrets, secret, host):
            code = "secret_not_allowed" if secret in secrets else "secret_unknown"
            raise _invalid(field, reason, code)
    return checked


def _check_address(server: RemoteMcpServer) -> None:
    try:
        host = server_host(server.url)
    except ValueError as error:
        raise _invalid("url", str(error), "host_unsupported") from error
    asks = any(SECRET_PLACEHOLDER.search(value) for value in server.headers.values())
    if host and asks and server.url.startswith("http:"):
        raise _invalid("url", "Secrets are sent over https, or inside the machine.", "https_needed")
    for header in server.headers:
        if header.lower() in FORBIDDEN_HEADERS:
            raise _invalid(f"headers.{header}", "The connection sets this header.", "header_not_allowed")


def _invalid(field: str, message: str, code: str) -> Invalid:
    return Invalid(f"{field}: {message}", code=code, extra={"fields": [{"field": field, "message": message}]})
