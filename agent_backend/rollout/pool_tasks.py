"""The tasks of a pool, read from the web app with an admin's token that has the scope `pools:read`."""

import os
import time
from collections.abc import Mapping
from pathlib import Path

import httpx
from pydantic import ValidationError

from agent_backend.errors import AgentError
from protocol.base import FrozenModel
from protocol.trajectory.tasks import Task

POOL_PREFIX = "pool:"
"""Prefix of a source that is a pool: `pool:NAME`."""
MAX_TASKS = 100_000
RETRY_PAUSES_SECONDS = (0.2, 0.8, 3.2)
TIMEOUT_SECONDS = 60.0
BUSY_STATUSES = frozenset({429, 502, 503, 504})


class PoolUnavailable(AgentError):
    """A pool's tasks cannot be read. `code` is the web app's own code if it gave one."""

    code = "pool_unavailable"

    def __init__(self, message: str, code: str = "pool_unavailable") -> None:
        super().__init__(message)
        self.code = code


class PoolTasks(FrozenModel):
    """A pool's tasks, and the machine image that its people work on."""

    image: str
    items: tuple[Task, ...]
    after: int | None = None
    """The cursor of the next page."""


def web_app_url(environment: Mapping[str, str] = os.environ) -> str:
    """The web app's address."""
    return environment.get("PILOTHOUSE_URL", "http://127.0.0.1:8000").rstrip("/")


def is_pool(source: str) -> bool:
    """Whether a source names a pool."""
    return source.startswith(POOL_PREFIX)


def read_pool(
    source: str, environment: Mapping[str, str] = os.environ, *, transport: httpx.BaseTransport | None = None
) -> PoolTasks:
    """Every task of `pool:NAME`, in order of their numbers. Raises PoolUnavailable.

    `PILOTHOUSE_URL` is the web app's address; `PILOTHOUSE_TOKEN`, or the file `PILOTHOUSE_TOKEN_FILE`, has the token.
    """
    tasks: list[Task] = []
    url = web_app_url(environment)
    headers = {"Authorization": f"Bearer {_read_token(environment)}"}
    with httpx.Client(
        base_url=url, headers=headers, timeout=TIMEOUT_SECONDS, trust_env=False, transport=transport
    ) as http:
        after: int | None = 0
        while after is not None:
            page = _read_page(http, {"pool": source.removeprefix(POOL_PREFIX), "after": after})
            tasks += page.items
            if len(tasks) > MAX_TASKS:
                raise PoolUnavailable(f"{source} has more than {MAX_TASKS} tasks")
            after = page.after
    if not tasks:
        raise PoolUnavailable(f"{source} has no tasks")
    return PoolTasks(image=page.image, items=tuple(tasks))


def _read_token(environment: Mapping[str, str]) -> str:
    if token := environment.get("PILOTHOUSE_TOKEN", "").strip():
        return token
    try:
        return Path(environment["PILOTHOUSE_TOKEN_FILE"]).read_text().strip()
    except KeyError:
        raise PoolUnavailable("set PILOTHOUSE_TOKEN to a token with the scope pools:read", "no_token") from None
    except OSError as error:
        raise PoolUnavailable(f"PILOTHOUSE_TOKEN_FILE cannot be read: {error.strerror}", "no_token") from None


def _read_page(http: httpx.Client, query: dict[str, str | int]) -> PoolTasks:
    response = _get(http, query)
    if response.is_error:
        raise _rejection(response)
    try:
        return PoolTasks.model_validate_json(response.content)
    except ValidationError:
        raise PoolUnavailable("the web app's answer is no page of tasks") from None


def _get(http: httpx.Client, query: dict[str, str | int]) -> httpx.Response:
    """The response. The request is retried while the web app is unavailable or busy. Raises PoolUnavailable."""
    for pause in (*RETRY_PAUSES_SECONDS, None):
        try:
            response = http.get("/api/pools/definitions", params=query)
        except httpx.TransportError as error:
            if pause is None:
                raise PoolUnavailable(f"the web app does not answer: {error or type(error).__name__}") from error
        else:
            if pause is None or response.status_code not in BUSY_STATUSES:
                return response
        time.sleep(pause)
    raise AssertionError("the last try returns or raises")


def _rejection(response: httpx.Response) -> PoolUnavailable:
    try:
        fields = response.json()
    except ValueError:
        fields = {}
    fields = fields if isinstance(fields, dict) else {}
    code = str(fields.get("code", f"status_{response.status_code}"))
    return PoolUnavailable(str(fields.get("message", "the web app refuses")), code)
