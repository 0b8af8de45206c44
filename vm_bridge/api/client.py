"""Client of the bridge: `BridgeClient` leases machines; `machine_client` drives one."""

import asyncio
import contextlib
import time
import uuid
from collections.abc import Iterable, Sequence

from pydantic import TypeAdapter

from protocol.trajectory.tasks import Task, TaskVariant
from vm_bridge.api.fleet_client import FleetClient
from vm_bridge.api.machine_client import (
    CALL_TIMEOUT_SECONDS,
    BridgeRequests,
    LeaseRequests,
    RemoteMachine,
    fencing_headers,
)
from vm_bridge.api.wire import (
    AllocateRequest,
    LeaseRef,
    ProgramLog,
    Recording,
    RenewManyRequest,
    RenewRequest,
    TaskList,
    WarmTarget,
)
from vm_bridge.errors import BridgeError, BridgeUnavailable, MachineGone, NoMachine, StaleLease
from vm_bridge.fleet import QueuePosition, RenewalResult, SuiteInfo
from vm_bridge.machine import Capabilities, Lease, Machine

STOP_RECORDING_TIMEOUT_SECONDS = 30.0
"""Timeout while an ending recording is indexed (seconds)."""
DEFAULT_VARIANT = TaskVariant()
TASKS = TypeAdapter(tuple[Task, ...])
SUITES = TypeAdapter(tuple[SuiteInfo, ...])
UNSUPPORTED_REASONS: TypeAdapter[tuple[str | None, ...]] = TypeAdapter(tuple[str | None, ...])
CLAIM_RESULT: TypeAdapter[Lease | QueuePosition] = TypeAdapter(Lease | QueuePosition)
RENEWALS = TypeAdapter(tuple[RenewalResult, ...])
OPTIONAL_RECORDING: TypeAdapter[Recording | None] = TypeAdapter(Recording | None)


class BridgeClient(BridgeRequests):
    """Leases machines of the bridge at `base_url`; an async context manager.

    The keys of all hosts are derived from `master_key` (`vm_bridge.host_keys`).

    Every method raises the `BridgeError` that the bridge returned, or BridgeUnavailable if it does not answer in time.
    Idempotent calls are retried after a lost connection.
    """

    def __init__(self, base_url: str, master_key: str) -> None:
        super().__init__(base_url, master_key)
        self._hosts: dict[str, str] = {}
        """Host ids by address, as the manager last reported them."""

    async def allocate(
        self,
        *,
        image: str,
        holder: str,
        user: str = "",
        pool: str = "",
        session: str = "",
        request_id: str | None = None,
        ttl: float = 60,
        wait: float = 30,
        quota_wait: float | None = None,
    ) -> Lease:
        """Lease a machine of `image` for `ttl` seconds.

        Waits at most `wait`, and at most `quota_wait` while the user or the pool is at its quota. The returned machine
        has answered. A machine that does not answer, because its host has just died, is declined and another is
        claimed.

        Raises NoMachine. A retry under the same `request_id` keeps the place in the queue; without a `request_id` the
        place is given up.
        """
        request = request_id or uuid.uuid4().hex
        body = AllocateRequest(
            image=image,
            holder=holder,
            user=user,
            pool=pool,
            session=session,
            request_id=request,
            ttl=ttl,
            wait=wait if quota_wait is None else min(wait, quota_wait),
        )
        end = time.monotonic() + wait
        try:
            while True:
                given = await self.claim(body)
                if isinstance(given, QueuePosition):
                    left = end - time.monotonic()
                    if quota_wait is not None and given.why == "none_free" and body.wait < left:
                        quota_wait, body = None, body.model_copy(update={"wait": left})
                        continue
                    waited = wait if given.why == "none_free" else body.wait
                    raise NoMachine(f"no {image} became free within {waited:g} s; {_describe_queue_position(given)}")
                unanswered = await self._probe_failure(given)
                if unanswered is None:
                    return given
                await self.decline(request, given)
                left = end - time.monotonic()
                if left <= 0:
                    raise NoMachine(f"no {image} answered within {wait:g} s: {unanswered}")
                body = body.model_copy(update={"wait": left})
        except BaseException:
            if request_id is None:
                await self._cancel_claim(request)
            raise

    async def claim(self, body: AllocateRequest) -> Lease | QueuePosition:
        """The lease, or the place in the queue after `body.wait` seconds. Raises NoMachine, StaleLease."""
        url = f"{self._base_url}/v1/leases"
        return CLAIM_RESULT.validate_json(
            await self.call("POST", url, body, timeout_seconds=body.wait + CALL_TIMEOUT_SECONDS)
        )

    async def claim_status(self, request_id: str) -> Lease | QueuePosition:
        """Status of a request. Each call keeps its place in the queue. Raises UnknownClaim, NoMachine, StaleLease."""
        return CLAIM_RESULT.validate_json(await self.call("GET", f"{self._base_url}/v1/claims/{request_id}"))

    async def cancel_claim(self, request_id: str) -> None:
        """Cancel a request, whether it waits or has its machine. Idempotent."""
        await self.call("DELETE", f"{self._base_url}/v1/claims/{request_id}")

    async def decline(self, request_id: str, lease: Lease) -> None:
        """Reject the machine that a request just got, because it does not answer. Idempotent.

        The same request then gets another machine.
        """
        held = LeaseRef(machine_id=lease.machine_id, fencing_token=lease.fencing_token)
        await self.call("POST", f"{self._base_url}/v1/claims/{request_id}/decline", held)

    async def renew(self, lease: Lease, *, ttl: float = 60) -> Lease:
        """Extend a lease. Raises StaleLease or MachineGone with the reason if it has ended."""
        url = f"{self._base_url}/v1/leases/{lease.machine_id}/renew"
        return Lease.model_validate_json(
            await self.call("POST", url, RenewRequest(ttl=ttl), headers=fencing_headers(lease))
        )

    async def renew_many(self, leases: Iterable[Lease], *, ttl: float = 60) -> tuple[RenewalResult, ...]:
        """Extend up to 500 leases in one call. Returns the result for each."""
        held = tuple(LeaseRef(machine_id=lease.machine_id, fencing_token=lease.fencing_token) for lease in leases)
        body = RenewManyRequest(leases=held, ttl=ttl)
        return RENEWALS.validate_json(await self.call("POST", f"{self._base_url}/v1/leases/renew", body))

    async def release(self, lease: Lease) -> None:
        """End a lease. Idempotent."""
        await self.call("DELETE", f"{self._base_url}/v1/leases/{lease.machine_id}", headers=fencing_headers(lease))

    async def warm(self, *, image: str, count: int) -> None:
        """Keep at least `count` machines of `image` ready, as far as there is room."""
        await self.call("PUT", f"{self._base_url}/v1/images/{image}/warm", WarmTarget(count=count, at_least=True))

    async def suites(self) -> tuple[SuiteInfo, ...]:
        """The suites that come with the bridge, and the names of their tasks."""
        return SUITES.validate_json(await self.call("GET", f"{self._base_url}/v1/suites"))

    async def suite_tasks(self, suite: str, variant: TaskVariant = DEFAULT_VARIANT) -> tuple[Task, ...]:
        """The bundled tasks of a suite, without tasks that lack this variant. Raises UnknownTask, and InvalidAction if
        no task has it.
        """
        return TASKS.validate_json(await self.call("POST", f"{self._base_url}/v1/suites/{suite}/tasks", variant))

    async def unsupported_tasks(self, image: str, tasks: Sequence[Task]) -> tuple[str | None, ...]:
        """For each of up to 100 tasks, why machines of the image cannot judge it, or None."""
        url = f"{self._base_url}/v1/images/{image}/refusals"
        return UNSUPPORTED_REASONS.validate_json(await self.call("POST", url, TaskList(tasks=tuple(tasks))))

    async def start_recording(self, lease: Lease) -> Recording:
        """Record a machine until its lease ends. A running recording continues. Raises UnsupportedAction."""
        calls = LeaseRequests(self, lease)
        return Recording.model_validate_json(
            await calls.call("POST", f"{calls.url}/recording", headers=fencing_headers(lease))
        )

    async def stop_recording(self, lease: Lease) -> Recording | None:
        """Stop the recording of a machine, if one runs. Idempotent."""
        calls = LeaseRequests(self, lease)
        return OPTIONAL_RECORDING.validate_json(
            await calls.call(
                "DELETE",
                f"{calls.url}/recording",
                headers=fencing_headers(lease),
                timeout_seconds=STOP_RECORDING_TIMEOUT_SECONDS,
            )
        )

    async def recording(self, host_url: str, key: str) -> Recording:
        """A recording's state on the machine's host. Raises UnknownRecording."""
        url = f"{host_url.rstrip('/')}/v1/recordings/{key}"
        return Recording.model_validate_json(await self.call("GET", url, headers=await self._headers_at(host_url)))

    async def get_recording_part(self, host_url: str, key: str, number: int) -> bytes:
        """The MP4 of a part, some tens of megabytes at most. Raises UnknownRecording."""
        url = f"{host_url.rstrip('/')}/v1/recordings/{key}/parts/{number}"
        return await self.call("GET", url, headers=await self._headers_at(host_url))

    async def delete_recording(self, host_url: str, key: str) -> None:
        """Delete a finished recording. Idempotent."""
        url = f"{host_url.rstrip('/')}/v1/recordings/{key}"
        await self.call("DELETE", url, headers=await self._headers_at(host_url))

    async def program_log(self, host_url: str, episode: str, *, after: int) -> ProgramLog:
        """A page of what programs sent to an episode's browser."""
        url = f"{host_url.rstrip('/')}/v1/cdp/{episode}/messages?after={after}"
        return ProgramLog.model_validate_json(await self.call("GET", url, headers=await self._headers_at(host_url)))

    async def lease_of(self, session: str) -> Lease:
        """The current lease of an episode or rollout, for read-only calls. Raises MachineGone."""
        for machine in await self.fleet.machines_of(session):
            if machine.fencing_token is not None and machine.expires_at is not None:
                urls = {host.id: host.url for host in await self.fleet.hosts()}
                return Lease(
                    machine_id=machine.id,
                    fencing_token=machine.fencing_token,
                    holder=machine.holder or "",
                    image=machine.image,
                    host_url=urls.get(machine.host, self._base_url),
                    host=machine.host,
                    expires_at=machine.expires_at,
                    capabilities=Capabilities(kinds=(), width=0, height=0),
                )
        raise MachineGone(f"{session} has no machine now")

    async def _headers_at(self, url: str) -> dict[str, str]:
        """Same as `host_headers`, from the address alone. Raises BridgeUnavailable if no host has it."""
        address = url.rstrip("/")
        if address not in self._hosts:
            self._hosts = {host.url.rstrip("/"): host.id for host in await self.fleet.hosts()}
        if address not in self._hosts:
            raise BridgeUnavailable(f"no bridge host is known at {address}")
        return self.host_headers(self._hosts[address], address)

    @property
    def fleet(self) -> "FleetClient":
        """Calls for operators."""
        return FleetClient(self, f"{self._base_url}/v1")

    def machine(self, lease: Lease, *, driver: int | None = None) -> Machine:
        """The machine a lease holds.

        Args:
            driver: A number that rises with each process that drives this lease. Calls of an earlier process, which was
            frozen or cut off meanwhile, raise StaleLease. None if only one process ever drives it.
        """
        return RemoteMachine(self, lease, driver)

    async def _probe_failure(self, lease: Lease) -> BridgeError | None:
        """Why the machine of a new lease does not answer, or None if it answers."""
        try:
            await self.machine(lease).skip_settle()
        except (BridgeUnavailable, MachineGone, StaleLease) as error:
            return error
        return None

    async def _cancel_claim(self, request: str) -> None:
        """Cancel a claim that has no waiter. If the call fails, the place expires soon."""
        with contextlib.suppress(BridgeError):
            await asyncio.shield(self.cancel_claim(request))


def _describe_queue_position(waiting: QueuePosition) -> str:
    """A place in the queue for people."""
    soon = "" if waiting.estimated_seconds is None else f", about {waiting.estimated_seconds:.0f} s to go"
    own = {"none_free": "", "user_quota": ", as many as you may have", "pool_quota": ", as many as the pool may have"}
    return f"place {waiting.position} of {waiting.waiting}{soon}{own[waiting.why]}"
