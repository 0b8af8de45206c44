"""One leased machine behind the bridge: `RemoteMachine` drives it, `MachineCalls` makes its calls."""

from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Protocol

from pydantic import TypeAdapter

from vm_bridge.errors import BridgeError, BridgeUnavailable, MachineGone, StaleLease
from vm_bridge.inside import check_size
from vm_bridge.inside_client import Caller, RemoteFiles, RemoteTerminals
from vm_bridge.machine import Advice, Capabilities, Lease, Snapshot, act_bound
from vm_bridge.wire import FENCING_HEADER, Evaluate, Observe, Pace, Perform, answer_unpack
from vocabulary.actions import Action
from vocabulary.base import Frozen
from vocabulary.blobs import BlobRef
from vocabulary.observations import Observation, Transition, Verdict
from vocabulary.tasks import Task
from vocabulary.tools import Tool

CALL_TIMEOUT = 15.0
"""Longest silence of an answer, beyond what the call itself may take (seconds)."""
PREPARE_TIMEOUT = 90.0
TASK_FILE_TIMEOUT = 1600.0
"""The same for a task file of OSWorld: a guest is put back and starts, and the file is set up, each slowly."""
RESTORE_TIMEOUT = 150.0
KEPT_BLOBS = 24
TOOLS = TypeAdapter(tuple[Tool, ...])
ADVICE: TypeAdapter[Advice | None] = TypeAdapter(Advice | None)


class LeaseCaller(Caller, Protocol):
    """Makes requests to the bridge, and asks its manager about a lease."""

    async def check(self, lease: Lease) -> None:
        """Raises StaleLease or MachineGone with the reason when the lease has ended."""
        ...


class MachineCalls:
    """Makes the calls of one lease on its machine's host; see `vm_bridge.inside_client.Caller`.

    When the host does not answer, the manager says what became of the lease: StaleLease or MachineGone with the reason
    where it has ended, BridgeUnavailable where it still stands or the manager does not answer either.
    """

    def __init__(self, client: LeaseCaller, lease: Lease) -> None:
        self._client = client
        self._lease = lease
        self.url = f"{lease.host_url.rstrip('/')}/v1/machines/{lease.machine_id}"

    async def call(
        self,
        method: str,
        url: str,
        body: Frozen | bytes | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        patience: float = CALL_TIMEOUT,
        repeat: bool = True,
    ) -> bytes:
        """See `BridgeClient.call`."""
        async with self._explained():
            return await self._client.call(method, url, body, headers=headers, patience=patience, repeat=repeat)

    @asynccontextmanager
    async def lines(self, url: str, headers: Mapping[str, str]) -> AsyncIterator[AsyncIterator[str]]:
        """See `BridgeClient.lines`."""
        async with self._explained(), self._client.lines(url, headers) as lines:
            yield lines

    @asynccontextmanager
    async def _explained(self) -> AsyncIterator[None]:
        try:
            yield
        except BridgeUnavailable as error:
            try:
                await self._client.check(self._lease)
            except (MachineGone, StaleLease) as ended:
                raise ended from error
            except BridgeError:
                pass  # the first error says more
            raise


class RemoteMachine:
    """A leased machine behind the bridge; see `Machine`."""

    def __init__(self, client: LeaseCaller, lease: Lease) -> None:
        self._calls = MachineCalls(client, lease)
        self._lease = lease
        self._blobs: OrderedDict[str, bytes] = OrderedDict()
        self._patience = PREPARE_TIMEOUT

    @property
    def capabilities(self) -> Capabilities:
        return self._lease.capabilities

    async def prepare(self, task: Task) -> Observation:
        self._patience = TASK_FILE_TIMEOUT if "osworld" in task.parameters else PREPARE_TIMEOUT
        return Observation.model_validate_json(await self._look("prepare", task, patience=self._patience))

    async def observe(self, *, settle: bool = False) -> Observation:
        return Observation.model_validate_json(await self._look("observe", Observe(settle=settle)))

    async def perform(self, command_id: str, action: Action, *, settle: bool = True) -> Transition:
        body = Perform(command_id=command_id, action=action, settle=settle)
        answer = await self._look("perform", body, patience=CALL_TIMEOUT + act_bound(action))
        return Transition.model_validate_json(answer)

    async def screenshot(self, *, since: str | None = None) -> bytes | None:
        """The present picture; None when it is still the one with the sha256 `since`."""
        name = "screenshot" if since is None else f"screenshot?since={since}"
        return await self._call("GET", name) or None

    async def snapshot(self) -> Snapshot:
        return Snapshot.model_validate_json(await self._call("POST", "snapshot"))

    async def restore(self, snapshot: Snapshot) -> Observation:
        return Observation.model_validate_json(await self._look("restore", snapshot, patience=RESTORE_TIMEOUT))

    async def hurry(self) -> None:
        await self._call("POST", "hurry")

    async def evaluate(self, *, answer: str = "") -> Verdict:
        return Verdict.model_validate_json(
            await self._call("POST", "evaluate", Evaluate(answer=answer), patience=self._patience)
        )

    async def advise(self) -> Advice | None:
        return ADVICE.validate_json(await self._call("POST", "advise"))

    async def pace(self, rate: float) -> None:
        await self._call("PUT", "pace", Pace(rate=rate))

    async def blob(self, ref: BlobRef) -> bytes:
        kept = self._blobs.get(ref.sha256)
        return kept if kept is not None else await self._call("GET", f"blobs/{ref.sha256}")

    @property
    def files(self) -> RemoteFiles:
        return RemoteFiles(self._calls, self._calls.url, fence(self._lease))

    @property
    def terminals(self) -> RemoteTerminals:
        return RemoteTerminals(self._calls, self._calls.url, fence(self._lease))

    async def tools(self) -> tuple[Tool, ...]:
        return TOOLS.validate_json(await self._call("GET", "tools", patience=PREPARE_TIMEOUT))

    async def stage(self, data: bytes, media_type: str) -> BlobRef:
        check_size(data)
        headers = {**fence(self._lease), "Content-Type": media_type}
        return BlobRef.model_validate_json(
            await self._calls.call("POST", f"{self._calls.url}/stage", data, headers=headers, patience=PREPARE_TIMEOUT)
        )

    async def close(self) -> None:
        self._blobs.clear()

    async def _look(self, name: str, body: Frozen, *, patience: float = CALL_TIMEOUT) -> str:
        text, blobs = answer_unpack(await self._call("POST", name, body, patience=patience))
        for sha256, data in blobs.items():
            self._blobs[sha256] = data
            self._blobs.move_to_end(sha256)
        while len(self._blobs) > KEPT_BLOBS:
            self._blobs.popitem(last=False)
        return text

    async def _call(
        self, method: str, name: str, body: Frozen | None = None, *, patience: float = CALL_TIMEOUT
    ) -> bytes:
        return await self._calls.call(
            method, f"{self._calls.url}/{name}", body, headers=fence(self._lease), patience=patience
        )


def fence(lease: Lease) -> dict[str, str]:
    """The header that says under which lease a call is made."""
    return {FENCING_HEADER: str(lease.fencing_token)}
