"""Common base of machines that are driven over a network and observed by pictures alone."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np

from protocol.actions.tools import Tool
from protocol.actions.types import MAX_FILE, Action, UploadFile, Wait, find_off_screen_point
from protocol.blobs import BlobRef
from protocol.trajectory.observations import ActionError, MachineSnapshot, Observation, Rest, Transition, Verdict
from protocol.trajectory.tasks import Task
from vm_bridge.drivers.command_log import CommandLog
from vm_bridge.drivers.frame_watcher import CapturedFrame, ExpectedPicture, FrameWatcher, watch_frames
from vm_bridge.drivers.image_encoding import encode_image
from vm_bridge.drivers.remote.errors import TransportError
from vm_bridge.drivers.task_parameters import ImageFormat, parse_image_format
from vm_bridge.errors import (
    ActionFailed,
    InvalidAction,
    MachineGone,
    OutcomeUnknown,
    StaleLease,
    UnknownBlob,
    UnsupportedAction,
)
from vm_bridge.machine import Capabilities, ExpertSuggestion, action_timeout
from vm_bridge.machine_io import Files as MachineFiles
from vm_bridge.machine_io import ScreenTexts, Terminals
from vm_bridge.sandbox import FrameSource
from vm_bridge.settle import MAX_SETTLE_SECONDS
from vm_bridge.suites import SandboxEnvironment, Suite, evaluate_task, find_suite

MAX_CACHED_BLOBS = 48


class MachineBackend(Protocol):
    """What a driver needs from the host of its machine."""

    async def admit(self, fence: int) -> None:
        """Raises StaleLease after a higher token, MachineGone if the machine is gone."""
        ...

    async def reset(self, fence: int, task: Task) -> None:
        """Reset to the known initial state, for a task of this lease. Raises StaleLease, MachineGone."""
        ...

    def environment(self, fence: int) -> SandboxEnvironment:
        """The inside, for suites."""
        ...


class ActionExecutor(Protocol):
    """Executes actions on one machine, over its connection."""

    async def do(self, action: Action, size: tuple[int, int], staged: Mapping[str, bytes]) -> str | bytes | None:
        """Execute an action on a screen of this size. Returns its text, or the bytes of an exported file. `staged` maps
        SHA-256 to the bytes to import.

        Raises ActionFailed, TransportError, and MachineGone if it certainly did not happen.
        """
        ...

    async def screen_texts(self) -> ScreenTexts:
        """Texts that the machine reports on its screen; changes nothing. Raises TransportError, MachineGone."""
        ...


@dataclass(frozen=True, slots=True)
class RemoteMachineSpec:
    """Description of one machine: its name, its capabilities, its picture source, and the time until its screen shows
    an action (seconds)."""

    name: str
    kinds: tuple[str, ...]
    frames: FrameSource
    quiet: float


class RemoteDriver:
    """One machine, shared by all its leases."""

    def __init__(
        self,
        body: RemoteMachineSpec,
        inside: MachineBackend,
        suites: Mapping[str, Suite],
        command_log: Path | None = None,
    ) -> None:
        """`command_log` is a file that outlives this process, as the machine does."""
        self.inside, self.suites = inside, suites
        self.task: Task | None = None
        self.fence = 1
        """The lowest fencing token that may still act."""
        self.acted = False
        """Whether any action was executed on the machine since it was attached."""
        self._body = body
        self._format: ImageFormat = "jpeg"
        self._used = 0
        self._acts: ActionExecutor | None = None
        self._blobs: OrderedDict[str, bytes] = OrderedDict()
        self._command_log = CommandLog(command_log)
        self._one_at_a_time = asyncio.Lock()
        self._skip_settle = asyncio.Event()

    def attach(self, acts: ActionExecutor) -> None:
        """Use this executor from now on."""
        self._acts, self.acted = acts, False

    def detach(self) -> None:
        """Detach the executor; running actions fail by themselves."""
        self._acts = None
        self._skip_settle.set()

    def end_lease(self) -> None:
        """Invalidate all leases used so far."""
        self.fence = self._used + 1

    def restored(self, task: Task | None) -> None:
        """The task that is set up, or about to be. Raises InvalidAction for an unsupported picture format."""
        self._format, self.task = parse_image_format(task), task

    async def observe(self, fence: int, *, settle: bool) -> Observation:
        """See `Machine.observe`."""
        async with self._one_at_a_time:
            await self.admit(fence)
            self._skip_settle.clear()
            async with watch_frames(self._body.frames) as watch:
                rest, took = await self._rest(watch, time.monotonic()) if settle else ("skipped", 0.0)
                return await self._observation(watch.shot, rest, took)

    async def perform(
        self, fence: int, command_id: str, action: Action, *, settle: bool, expected: BlobRef | None = None
    ) -> Transition:
        """See `Machine.perform`."""
        if fence < self.fence:
            raise StaleLease(f"fencing token {fence} is behind {self.fence}")
        act = partial(self._act, fence, action, settle=settle, expected=expected)
        return await self._command_log.once(command_id, action, settle=settle, act=act)

    async def skip_settle(self, fence: int) -> None:
        """See `Machine.skip_settle`."""
        await self.admit(fence)
        self._skip_settle.set()

    async def admit(self, fence: int) -> None:
        """Raises StaleLease, MachineGone."""
        if fence < self.fence:
            raise StaleLease(f"fencing token {fence} is behind {self.fence}")
        await self.inside.admit(fence)
        self.fence = self._used = max(self.fence, fence)

    async def screen_texts(self, fence: int) -> ScreenTexts:
        """See `Machine.screen_texts`. Runs concurrently with actions."""
        await self.admit(fence)
        try:
            return ScreenTexts() if self._acts is None else await self._acts.screen_texts()
        except TransportError:
            return ScreenTexts()

    def stage_upload(self, data: bytes, media_type: str) -> BlobRef:
        """See `Machine.stage_upload`."""
        if len(data) > MAX_FILE:
            raise InvalidAction(f"a file has at most {MAX_FILE} bytes")
        return self._keep(data, media_type)

    def read_blob(self, ref: BlobRef) -> bytes:
        """Raises UnknownBlob."""
        try:
            return self._blobs[ref.sha256]
        except KeyError:
            raise UnknownBlob(f"blob {ref.sha256} is no longer kept") from None

    async def _act(self, fence: int, action: Action, *, settle: bool, expected: BlobRef | None) -> Transition:
        async with self._one_at_a_time:
            if action.kind not in self._body.kinds:
                raise UnsupportedAction(f"{self._body.name} cannot {action.kind}")
            if isinstance(action, UploadFile):
                self.read_blob(action.blob)
            await self.admit(fence)
            self._skip_settle.clear()
            async with watch_frames(self._body.frames) as watch:
                return await self._watch_action(watch, action, settle=settle, expected=expected)

    async def _watch_action(
        self, watch: FrameWatcher, action: Action, *, settle: bool, expected: BlobRef | None
    ) -> Transition:
        started, seen = datetime.now(UTC), watch.shot
        point = find_off_screen_point(action, seen.width, seen.height)
        if point is not None:
            raise InvalidAction(f"({point.x}, {point.y}) is outside the screen")
        before = await self._observation(seen, "skipped", 0.0)
        given, error = await self._perform_action(action, (seen.width, seen.height))
        awaited = None if expected in (None, before.screenshot) else ExpectedPicture(expected, self._encode)
        rest, took = await self._rest(watch, time.monotonic(), awaited) if settle else ("skipped", 0.0)
        after = await self._observation(watch.shot, rest, took, given)
        return Transition(before=before, after=after, error=error, started_at=started, ended_at=datetime.now(UTC))

    async def _perform_action(
        self, action: Action, size: tuple[int, int]
    ) -> tuple[str | bytes | None, ActionError | None]:
        """The action's output, and why it failed if it did. Raises MachineGone, OutcomeUnknown."""
        if self._acts is None:
            raise MachineGone(f"{self._body.name} is not there")
        self.acted = True
        try:
            async with asyncio.timeout(action_timeout(action)):
                return await self._do(self._acts, action, size), None
        except ActionFailed as failure:
            return failure.text, ActionError(code=failure.code, message=str(failure))
        except (TransportError, TimeoutError) as refused:
            raise OutcomeUnknown(f"whether the act happened is not known: {refused}") from refused

    async def _do(self, acts: ActionExecutor, action: Action, size: tuple[int, int]) -> str | bytes | None:
        if isinstance(action, Wait):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._skip_settle.wait(), action.seconds)
            return None
        return await acts.do(action, size, self._blobs)

    async def _rest(
        self, watch: FrameWatcher, since: float, awaited: ExpectedPicture | None = None
    ) -> tuple[Rest, float]:
        """How the settle ended, and how long it took (milliseconds)."""
        rest = await watch.settle(
            self._skip_settle, since=since, quiet=self._body.quiet, limit=MAX_SETTLE_SECONDS, awaited=awaited
        )
        return rest, (time.monotonic() - since) * 1000

    async def _observation(
        self, shot: CapturedFrame, rest: Rest, settle_ms: float, given: str | bytes | None = None
    ) -> Observation:
        picture = await asyncio.to_thread(self._encode, shot)
        return Observation(
            screenshot=self._keep(picture, f"image/{self._format}"),
            width=shot.width,
            height=shot.height,
            captured_at=datetime.fromtimestamp(shot.at, UTC),
            settled=rest == "rested",
            rest=rest,
            settle_ms=settle_ms,
            text=given if isinstance(given, str) else None,
            attachment=self._keep(given, "application/octet-stream") if isinstance(given, bytes) else None,
        )

    def _encode(self, shot: CapturedFrame) -> bytes:
        image = np.frombuffer(shot.pixels, np.uint8).reshape(shot.height, shot.width, 4)
        return encode_image(image, self._format)

    def _keep(self, data: bytes, media_type: str) -> BlobRef:
        ref = BlobRef.of(data, media_type)
        self._blobs[ref.sha256] = data
        self._blobs.move_to_end(ref.sha256)
        while len(self._blobs) > MAX_CACHED_BLOBS:
            self._blobs.popitem(last=False)
        return ref


class RemoteMachine:
    """Such a machine, seen through one lease."""

    def __init__(self, driver: RemoteDriver, fence: int, capabilities: Capabilities) -> None:
        self._driver, self._fence = driver, fence
        self.capabilities = capabilities

    async def prepare(self, task: Task) -> Observation:
        driver = self._driver
        suite = find_suite(driver.suites, task)
        parse_image_format(task)  # rejected before anything is discarded
        await driver.admit(self._fence)
        await driver.inside.reset(self._fence, task)
        driver.restored(task)
        if suite is not None:
            await suite.prepare(task, driver.inside.environment(self._fence))
        return await self.observe(settle=True)

    async def observe(self, *, settle: bool = False) -> Observation:
        return await self._driver.observe(self._fence, settle=settle)

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
        return await self._driver.perform(self._fence, command_id, action, settle=settle, expected=expected)

    async def skip_settle(self) -> None:
        await self._driver.skip_settle(self._fence)

    async def evaluate(self, *, answer: str = "") -> Verdict:
        driver = self._driver
        await driver.admit(self._fence)
        return await evaluate_task(driver.suites, driver.task, lambda: driver.inside.environment(self._fence), answer)

    async def suggest_expert_action(self) -> ExpertSuggestion | None:
        return None

    async def set_time_scale(self, rate: float) -> None:
        raise UnsupportedAction("this machine's time is everybody's")

    async def blob(self, ref: BlobRef) -> bytes:
        return self._driver.read_blob(ref)

    @property
    def files(self) -> MachineFiles:
        raise UnsupportedAction("this machine's files are reached by its actions")

    @property
    def terminals(self) -> Terminals:
        raise UnsupportedAction("this machine has no interactive terminals")

    async def screen_texts(self) -> ScreenTexts:
        return await self._driver.screen_texts(self._fence)

    async def tools(self) -> tuple[Tool, ...]:
        return ()

    async def stage_upload(self, data: bytes, media_type: str) -> BlobRef:
        await self._driver.admit(self._fence)
        return self._driver.stage_upload(data, media_type)

    async def snapshot(self) -> MachineSnapshot:
        raise UnsupportedAction("this machine goes back to no earlier state")

    async def restore(self, snapshot: MachineSnapshot) -> Observation:
        raise UnsupportedAction("this machine goes back to no earlier state")

    async def close(self) -> None:
        """Does nothing: there are no resources to release."""
