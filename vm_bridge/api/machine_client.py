"""Client of one leased machine: `RemoteMachine` drives it. `LeaseRequests` sends its calls over the connections of
`BridgeRequests`.
"""

import asyncio
import functools
import ssl
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Protocol, Self

import httpx
from pydantic import TypeAdapter, ValidationError

from protocol.actions.tools import Tool
from protocol.actions.types import Action
from protocol.base import FrozenModel
from protocol.blobs import BlobRef
from protocol.trajectory.observations import MachineSnapshot, Observation, Transition, Verdict
from protocol.trajectory.tasks import Task
from vm_bridge.api.machine_io_client import RemoteFiles, RemoteTerminals
from vm_bridge.api.request_sender import RequestSender
from vm_bridge.api.wire import (
    DRIVER_HEADER,
    FENCING_HEADER,
    ErrorResponse,
    EvaluateRequest,
    ObserveRequest,
    PerformRequest,
    TimeScaleRequest,
    unpack_response,
)
from vm_bridge.errors import ERRORS, BridgeError, BridgeUnavailable, MachineGone, StaleLease
from vm_bridge.host_keys import CallSigner
from vm_bridge.machine import (
    REACH_SECONDS,
    RESTORE_SECONDS,
    STATE_SECONDS,
    Capabilities,
    ExpertSuggestion,
    Lease,
    action_timeout,
)
from vm_bridge.machine_io import ScreenTexts, check_file_size

CONNECT_TIMEOUT_SECONDS = 2.0
RETRY_DELAYS_SECONDS = (0.05, 0.2, 0.8)
"""Delay before each retry after a lost connection (seconds)."""
RETRYABLE_ERRORS = (httpx.NetworkError, httpx.RemoteProtocolError)
CALL_TIMEOUT_SECONDS = 15.0
"""Read timeout of an answer, beyond the duration of the call itself (seconds)."""
PREPARE_TIMEOUT_SECONDS = 90.0
TASK_FILE_TIMEOUT_SECONDS = 1600.0
"""Read timeout for an OSWorld task file: reverting and starting a guest, and setting up the file, are slow."""
RESTORE_TIMEOUT_SECONDS = max(RESTORE_SECONDS, STATE_SECONDS + REACH_SECONDS) + 30.0
"""The bridge ends an undo itself, with a limit for each kind of machine. Starting a second machine may precede it, and
the screen settles afterwards.
"""
MAX_CACHED_BLOBS = 24
TOOLS = TypeAdapter(tuple[Tool, ...])
EXPERT_SUGGESTION: TypeAdapter[ExpertSuggestion | None] = TypeAdapter(ExpertSuggestion | None)


class BridgeRequests:
    """Makes requests to a bridge with the keys of its hosts; an async context manager.

    It keeps connections open, so a process needs one of these for all its episodes.
    """

    def __init__(self, base_url: str, master_key: str) -> None:
        self._base_url = base_url.rstrip("/")
        self._signer = CallSigner(master_key)
        self._http = httpx.AsyncClient(
            timeout=httpx.Timeout(CALL_TIMEOUT_SECONDS, connect=CONNECT_TIMEOUT_SECONDS),
            limits=httpx.Limits(max_connections=200, max_keepalive_connections=100),
            trust_env=False,
            verify=_ssl_context(),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def call(
        self,
        method: str,
        url: str,
        body: FrozenModel | bytes | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float = CALL_TIMEOUT_SECONDS,
        retry: bool = True,
    ) -> bytes:
        """The answer of one request.

        `timeout_seconds` bounds each silence. A lost connection is retried. Without `retry`, for calls that do harm
        when repeated, only a failed connect is.
        """
        request = self._http.build_request(
            method,
            url,
            content=body.model_dump_json() if isinstance(body, FrozenModel) else body,
            headers={
                "Content-Type": "application/json",
                "Authorization": self._signer.for_manager(),
                **(headers or {}),
            },
            timeout=httpx.Timeout(timeout_seconds, connect=CONNECT_TIMEOUT_SECONDS),
        )
        repeatable = RETRYABLE_ERRORS if retry else (httpx.ConnectError,)
        pauses = iter(RETRY_DELAYS_SECONDS)
        while True:
            try:
                return _response_body(await self._http.send(request))
            except httpx.TransportError as error:
                pause = next(pauses, None)
                if pause is None or not isinstance(error, repeatable):
                    raise BridgeUnavailable(f"the bridge did not answer: {error or type(error).__name__}") from error
            await asyncio.sleep(pause)

    @asynccontextmanager
    async def lines(self, url: str, headers: Mapping[str, str]) -> AsyncIterator[AsyncIterator[str]]:
        """The lines of an answer as they arrive."""
        timeout = httpx.Timeout(None, connect=CONNECT_TIMEOUT_SECONDS)
        try:
            async with self._http.stream("GET", url, headers=headers, timeout=timeout) as response:
                if not response.is_success:
                    await response.aread()
                    _response_body(response)
                yield response.aiter_lines()
        except httpx.TransportError as error:
            raise BridgeUnavailable(f"the bridge did not answer: {error or type(error).__name__}") from error

    def host_headers(self, host_id: str, url: str) -> dict[str, str]:
        """Authorization headers for a call on a machine of this host, at this address."""
        return {"Authorization": self._signer.for_host(host_id, url)}

    async def check(self, lease: Lease) -> None:
        """Raises StaleLease or MachineGone with the reason if the lease has ended."""
        await self.call("GET", f"{self._base_url}/v1/leases/{lease.machine_id}", headers=fencing_headers(lease))


class LeaseRequestSender(RequestSender, Protocol):
    """Sends requests to the bridge, and checks leases with its manager."""

    async def check(self, lease: Lease) -> None:
        """Raises StaleLease or MachineGone with the reason if the lease has ended."""
        ...


class LeaseRequests:
    """Makes the calls of one lease on its machine's host; see `vm_bridge.api.request_sender.RequestSender`.

    If the host does not answer, the manager reports the state of the lease. Raises StaleLease or MachineGone with the
    reason if the lease has ended. Raises BridgeUnavailable if the lease is valid, or the manager does not answer
    either.
    """

    def __init__(self, client: LeaseRequestSender, lease: Lease, driver: int | None = None) -> None:
        """`driver`: see `BridgeClient.machine`."""
        self._client = client
        self._lease = lease
        self._driver = {} if driver is None else {DRIVER_HEADER: str(driver)}
        self.url = f"{lease.host_url.rstrip('/')}/v1/machines/{lease.machine_id}"

    async def call(
        self,
        method: str,
        url: str,
        body: FrozenModel | bytes | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float = CALL_TIMEOUT_SECONDS,
        retry: bool = True,
    ) -> bytes:
        """See `BridgeClient.call`."""
        async with self._explain_lease_end():
            return await self._client.call(
                method, url, body, headers=self._headers(headers), timeout_seconds=timeout_seconds, retry=retry
            )

    @asynccontextmanager
    async def lines(self, url: str, headers: Mapping[str, str]) -> AsyncIterator[AsyncIterator[str]]:
        """See `BridgeClient.lines`."""
        async with self._explain_lease_end(), self._client.lines(url, self._headers(headers)) as lines:
            yield lines

    def host_headers(self, host_id: str, url: str) -> dict[str, str]:
        """See `BridgeClient.host_headers`."""
        return self._client.host_headers(host_id, url)

    def _headers(self, headers: Mapping[str, str] | None) -> dict[str, str]:
        authorization = self._client.host_headers(self._lease.host, self._lease.host_url)
        return {**authorization, **self._driver, **(headers or {})}

    @asynccontextmanager
    async def _explain_lease_end(self) -> AsyncIterator[None]:
        try:
            yield
        except BridgeUnavailable as error:
            try:
                await self._client.check(self._lease)
            except (MachineGone, StaleLease) as ended:
                raise ended from error
            except BridgeError:
                pass  # the first error has more information
            raise


class RemoteMachine:
    """A leased machine behind the bridge; see `Machine`."""

    def __init__(self, client: LeaseRequestSender, lease: Lease, driver: int | None = None) -> None:
        self._calls = LeaseRequests(client, lease, driver)
        self._lease = lease
        self._blobs: OrderedDict[str, bytes] = OrderedDict()
        self._timeout_seconds = PREPARE_TIMEOUT_SECONDS

    @property
    def capabilities(self) -> Capabilities:
        return self._lease.capabilities

    async def prepare(self, task: Task) -> Observation:
        has_own_verifier = not task.parameters.keys().isdisjoint(("osworld", "harbor"))
        self._timeout_seconds = TASK_FILE_TIMEOUT_SECONDS if has_own_verifier else PREPARE_TIMEOUT_SECONDS
        return Observation.model_validate_json(
            await self._observation_call("prepare", task, timeout_seconds=self._timeout_seconds)
        )

    async def observe(self, *, settle: bool = False) -> Observation:
        return Observation.model_validate_json(await self._observation_call("observe", ObserveRequest(settle=settle)))

    async def perform(
        self,
        command_id: str,
        action: Action,
        *,
        settle: bool = True,
        snapshot: bool = False,
        expected: BlobRef | None = None,
        wait_for_timers: bool = True,
    ) -> Transition:
        body = PerformRequest(
            command_id=command_id,
            action=action,
            settle=settle,
            snapshot=snapshot,
            expected=expected,
            wait_for_timers=wait_for_timers,
        )
        answer = await self._observation_call(
            "perform", body, timeout_seconds=CALL_TIMEOUT_SECONDS + action_timeout(action)
        )
        return Transition.model_validate_json(answer)

    async def screenshot(self, *, since: str | None = None) -> bytes | None:
        """The current picture, or None if its sha256 is still `since`."""
        name = "screenshot" if since is None else f"screenshot?since={since}"
        return await self._call("GET", name) or None

    async def snapshot(self) -> MachineSnapshot:
        return MachineSnapshot.model_validate_json(await self._call("POST", "snapshot"))

    async def restore(self, snapshot: MachineSnapshot) -> Observation:
        return Observation.model_validate_json(
            await self._observation_call("restore", snapshot, timeout_seconds=RESTORE_TIMEOUT_SECONDS)
        )

    async def skip_settle(self) -> None:
        await self._call("POST", "hurry")

    async def evaluate(self, *, answer: str = "") -> Verdict:
        return Verdict.model_validate_json(
            await self._call("POST", "evaluate", EvaluateRequest(answer=answer), timeout_seconds=self._timeout_seconds)
        )

    async def suggest_expert_action(self) -> ExpertSuggestion | None:
        return EXPERT_SUGGESTION.validate_json(await self._call("POST", "advise"))

    async def set_time_scale(self, rate: float) -> None:
        await self._call("PUT", "pace", TimeScaleRequest(rate=rate))

    async def blob(self, ref: BlobRef) -> bytes:
        kept = self._blobs.get(ref.sha256)
        return kept if kept is not None else await self._call("GET", f"blobs/{ref.sha256}")

    @property
    def files(self) -> RemoteFiles:
        return RemoteFiles(self._calls, self._calls.url, fencing_headers(self._lease))

    @property
    def terminals(self) -> RemoteTerminals:
        return RemoteTerminals(self._calls, self._calls.url, fencing_headers(self._lease))

    async def screen_texts(self) -> ScreenTexts:
        return ScreenTexts.model_validate_json(await self._call("GET", "texts"))

    async def tools(self) -> tuple[Tool, ...]:
        return TOOLS.validate_json(await self._call("GET", "tools", timeout_seconds=PREPARE_TIMEOUT_SECONDS))

    async def stage_upload(self, data: bytes, media_type: str) -> BlobRef:
        check_file_size(data)
        headers = {**fencing_headers(self._lease), "Content-Type": media_type}
        return BlobRef.model_validate_json(
            await self._calls.call(
                "POST", f"{self._calls.url}/stage", data, headers=headers, timeout_seconds=PREPARE_TIMEOUT_SECONDS
            )
        )

    async def close(self) -> None:
        self._blobs.clear()

    async def _observation_call(
        self, name: str, body: FrozenModel, *, timeout_seconds: float = CALL_TIMEOUT_SECONDS
    ) -> str:
        text, blobs = unpack_response(await self._call("POST", name, body, timeout_seconds=timeout_seconds))
        for sha256, data in blobs.items():
            self._blobs[sha256] = data
            self._blobs.move_to_end(sha256)
        while len(self._blobs) > MAX_CACHED_BLOBS:
            self._blobs.popitem(last=False)
        return text

    async def _call(
        self, method: str, name: str, body: FrozenModel | None = None, *, timeout_seconds: float = CALL_TIMEOUT_SECONDS
    ) -> bytes:
        return await self._calls.call(
            method,
            f"{self._calls.url}/{name}",
            body,
            headers=fencing_headers(self._lease),
            timeout_seconds=timeout_seconds,
        )


def fencing_headers(lease: Lease) -> dict[str, str]:
    """The header with the lease of a call."""
    return {FENCING_HEADER: str(lease.fencing_token)}


@functools.cache
def _ssl_context() -> ssl.SSLContext:
    """The trusted certificate authorities. Read once, because reading takes longer than a call."""
    return httpx.create_ssl_context(trust_env=False)


def _response_body(response: httpx.Response) -> bytes:
    """The body of a success. Raises the error in an error response."""
    if response.is_success or response.status_code == httpx.codes.NOT_MODIFIED:
        return response.content
    try:
        failure = ErrorResponse.model_validate_json(response.content)
    except ValidationError:
        raise BridgeUnavailable(f"the bridge answered {response.status_code}") from None
    raise ERRORS.get(failure.code, BridgeError)(failure.message)
