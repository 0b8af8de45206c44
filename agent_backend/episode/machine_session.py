"""One episode's session with its machine: actions and their results, observations, and a cache of their pictures."""

import asyncio
import contextlib
import io
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeVar

from PIL import Image

from agent_backend.interfaces import EpisodeStore, Intent
from agent_backend.pictures import PictureUnreadable, open_picture
from protocol.actions.tools import Tool
from protocol.actions.types import CONTROL_KINDS, OBSERVATION_KINDS, Action, Gesture, Screenshot, UploadFile, Zoom
from protocol.blobs import BlobRef
from protocol.trajectory.observations import ActionError, MachineSnapshot, Observation, Verdict
from protocol.trajectory.proposals import PolicyRef, Proposal
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task
from vm_bridge.errors import (
    BridgeError,
    BridgeUnavailable,
    CommandConflict,
    InvalidAction,
    OutcomeUnknown,
    UnknownBlob,
    UnsupportedAction,
)
from vm_bridge.machine import Machine

T = TypeVar("T")

REJECTIONS = (UnsupportedAction, InvalidAction, CommandConflict)
"""Errors after which the machine has done nothing. Any other BridgeError leaves the outcome of an action unknown."""

FIRST_RETRY_SECONDS = 0.2
"""Seconds before the first retry of an unreachable bridge; doubles with each retry."""


async def retry_unavailable(call: Callable[[], Awaitable[T]], *, within: float) -> T:
    """The result of a call that is retried for at most `within` seconds while the bridge does not answer.

    Only for idempotent calls. Raises BridgeUnavailable when the time is over.
    """
    loop = asyncio.get_running_loop()
    deadline, delay = loop.time() + within, FIRST_RETRY_SECONDS
    while True:
        try:
            return await call()
        except BridgeUnavailable:
            if loop.time() + delay > deadline:
                raise
            await asyncio.sleep(delay)
            delay *= 2


MAX_CACHED_BYTES = 96 * 2**20
"""Maximum bytes of pictures and files in the cache. The latest entry stays even if it is larger."""


class PictureCache:
    """Caches the latest screenshots and downloaded files of one episode; the store has all of them."""

    def __init__(self, store: EpisodeStore, *, max_entries: int) -> None:
        self._store = store
        self._max_entries = max_entries
        self._bytes: OrderedDict[str, bytes] = OrderedDict()
        self._saved: OrderedDict[str, None] = OrderedDict()

    async def fetch(self, machine: Machine, observation: Observation) -> None:
        """Load everything that an observation refers to into the cache. Raises BridgeError."""
        for ref in _referenced_blobs(observation):
            if ref.sha256 not in self._bytes:
                try:
                    self._cache(ref, await machine.blob(ref))
                except UnknownBlob:  # a file from before a restart of the bridge: the step stays without it
                    if ref == observation.screenshot:
                        raise

    async def save(self, observation: Observation | None) -> None:
        """Store the cached blobs of an observation, each once."""
        for ref, data in self.unsaved(observation).items():
            await self._store.save_blob(ref, data)
            self.mark_saved((ref,))

    def unsaved(self, *observations: Observation | None) -> dict[BlobRef, bytes]:
        """The cached blobs of these observations that are not stored yet."""
        refs = (ref for observation in observations for ref in _referenced_blobs(observation))
        return {
            ref: self._bytes[ref.sha256] for ref in refs if ref.sha256 in self._bytes and ref.sha256 not in self._saved
        }

    def mark_saved(self, refs: Iterable[BlobRef]) -> None:
        """Mark these as stored: they were stored with a step."""
        self._saved |= dict.fromkeys(ref.sha256 for ref in refs)
        while len(self._saved) > self._max_entries:
            self._saved.popitem(last=False)

    async def read(self, ref: BlobRef) -> bytes:
        """The bytes of a screenshot of this episode. Raises KeyError for others."""
        if ref.sha256 not in self._bytes:
            self._cache(ref, await self._store.load_blob(ref))
        return self._bytes[ref.sha256]

    def add(self, ref: BlobRef, data: bytes) -> None:
        """Add bytes to the cache that were made here."""
        self._cache(ref, data)

    def _cache(self, ref: BlobRef, data: bytes) -> None:
        self._bytes[ref.sha256] = data
        while len(self._bytes) > self._max_entries or (len(self._bytes) > 1 and self._size() > MAX_CACHED_BYTES):
            self._bytes.popitem(last=False)

    def _size(self) -> int:
        return sum(map(len, self._bytes.values()))


def _referenced_blobs(observation: Observation | None) -> tuple[BlobRef, ...]:
    """Everything an observation refers to."""
    refs = (observation.screenshot, observation.attachment) if observation else ()
    return tuple(ref for ref in refs if ref is not None)


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The result of an action, with the screens before and after it.

    `after` is None where the outcome is unknown. `machine_lost` says why the machine cannot be used any more.
    """

    before: Observation
    after: Observation | None
    started_at: datetime
    ended_at: datetime
    error: ActionError | None = None
    machine_lost: str = ""
    snapshot: MachineSnapshot | None = None
    """A snapshot from before the action, if there is one."""
    timer_pending: bool = False
    """Whether a program has a pending timer that the action did not wait for."""


def unknown_result(
    last_observation: Observation, started_at: datetime, why: str, *, machine_lost: bool = False
) -> ActionResult:
    """The result of an action whose outcome stays unknown; `last_observation` is the last screen before it."""
    error = ActionError(code=OutcomeUnknown.code, message=why)
    return ActionResult(last_observation, None, started_at, datetime.now(UTC), error, why if machine_lost else "")


def build_step(intent: Intent, result: ActionResult, offered: tuple[Proposal, ...], policy: PolicyRef | None) -> Step:
    """The step to store; `offered` and `policy` are those at the time of the decision."""
    done_as_said = intent.decision in ("accept", "auto") and (intent.batch is None or intent.batch.index == 1)
    said = next((one for one in offered if one.id == intent.proposal_id), None) if done_as_said else None
    return Step(
        index=intent.index,
        command_id=intent.command_id,
        actor=intent.actor,
        decision=intent.decision,
        proposal_id=intent.proposal_id,
        acceptable_ids=tuple(proposal.id for proposal in offered if proposal.mark == "acceptable"),
        wrong_ids=tuple(proposal.id for proposal in offered if proposal.mark == "wrong"),
        thought=intent.thought,
        continued_characters=intent.continued_characters,
        action=intent.action,
        before=result.before,
        after=result.after,
        error=result.error,
        policy=policy if offered or intent.batch else None,
        started_at=result.started_at,
        ended_at=result.ended_at,
        decide_ms=intent.decide_ms,
        batch=intent.batch,
        provider_calls=said.provider_calls if said is not None else (),
    )


class MachineSession:
    """A session with one machine that retries unreachable calls. The pictures of every result are in the cache."""

    def __init__(self, machine: Machine, pictures: PictureCache, *, within: float) -> None:
        self._machine = machine
        self._pictures = pictures
        self._timeout_seconds = within
        self.tools: tuple[Tool, ...] = ()
        """The tools that can be called by name, once the task is prepared."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Action kinds that this machine accepts. A machine with a screen to click on also accepts screenshot
        actions."""
        kinds = tuple(self._machine.capabilities.kinds)
        return (*kinds, *OBSERVATION_KINDS) if "click" in kinds else kinds

    @property
    def can_restore(self) -> bool:
        """Whether this machine can go back to an earlier state."""
        return self._machine.capabilities.snapshots

    async def _snapshot(self) -> MachineSnapshot | None:
        """A snapshot of the current state. None if the machine has none or the bridge does not answer: an action does
        not wait for a snapshot."""
        if not self.can_restore:
            return None
        with contextlib.suppress(BridgeError):
            return await self._machine.snapshot()
        return None

    async def restore(self, snapshot: MachineSnapshot) -> Observation:
        """Restore a snapshot. Raises BridgeError; CannotRestore if nothing was changed."""
        return await self._fetch_pictures(await self._machine.restore(snapshot))

    async def prepare(self, task: Task) -> Observation:
        """Bring the machine to the task's start state. Raises BridgeError."""
        last_observation = await self._fetch_pictures(
            await retry_unavailable(lambda: self._machine.prepare(task), within=self._timeout_seconds)
        )
        if "call_tool" in self._machine.capabilities.kinds:
            self.tools = await retry_unavailable(self._machine.tools, within=self._timeout_seconds)
        return last_observation

    async def observe_settled(self) -> Observation:
        """The settled screen. Raises BridgeError."""
        return await self._fetch_pictures(
            await retry_unavailable(lambda: self._machine.observe(settle=True), within=self._timeout_seconds)
        )

    async def save_pictures(self, observation: Observation | None) -> None:
        """Store the pictures of an observation."""
        await self._pictures.save(observation)

    async def read_picture(self, ref: BlobRef) -> bytes:
        """The bytes of a screenshot this machine showed. Raises KeyError."""
        return await self._pictures.read(ref)

    async def poll(self) -> Observation:
        """The current screen, settled or not. Raises BridgeError."""
        return await self._fetch_pictures(await retry_unavailable(self._machine.observe, within=self._timeout_seconds))

    async def set_time_scale(self, rate: float) -> None:
        """Set how fast the machine's own time passes between actions. Raises BridgeError."""
        await retry_unavailable(lambda: self._machine.set_time_scale(rate), within=self._timeout_seconds)

    async def act(
        self,
        command_id: str,
        action: Action,
        last_observation: Observation,
        *,
        settle: bool = True,
        snapshot: bool = False,
        expected: BlobRef | None = None,
        wait_for_timers: bool = True,
    ) -> ActionResult:
        """Execute one action exactly once and report its result. `last_observation` is the frame to report if the
        machine cannot show one. With `snapshot` the result has a snapshot from before the action, if the machine can
        take one. `expected` and `wait_for_timers` say when the settle may end; see `Machine.perform`."""
        started = datetime.now(UTC)
        if action.kind in CONTROL_KINDS:
            return ActionResult(last_observation, last_observation, started, started)
        if isinstance(action, Screenshot | Zoom):
            taken = await self._snapshot() if snapshot else None
            return replace(await self._observe(action, last_observation), snapshot=taken)
        snapshot = snapshot and self.can_restore
        try:
            if isinstance(action, UploadFile):
                await self._upload_file(action.blob)
            transition = await retry_unavailable(
                lambda: self._machine.perform(
                    command_id,
                    action,
                    settle=settle,
                    snapshot=snapshot,
                    expected=expected,
                    wait_for_timers=wait_for_timers,
                ),
                within=self._timeout_seconds,
            )
            await self._fetch_pictures(transition.before)
            await self._fetch_pictures(transition.after)
        except REJECTIONS as error:
            rejection = ActionError(code=error.code, message=str(error))
            return ActionResult(last_observation, last_observation, started, datetime.now(UTC), rejection)
        except BridgeError as error:
            # After a restart the bridge has the transition but not its pictures: the machine still exists.
            still_there = isinstance(error, OutcomeUnknown | UnknownBlob)
            return unknown_result(last_observation, started, str(error), machine_lost=not still_there)
        return ActionResult(
            transition.before,
            transition.after,
            transition.started_at,
            transition.ended_at,
            transition.error,
            snapshot=transition.snapshot,
            timer_pending=transition.timer_pending,
        )

    async def _observe(self, action: Screenshot | Zoom, last_observation: Observation) -> ActionResult:
        """Observe the screen, with the requested part of it."""
        started = datetime.now(UTC)
        try:
            after = await self.observe_settled()
        except BridgeError as error:
            return unknown_result(last_observation, started, str(error), machine_lost=True)
        if isinstance(action, Zoom) and after.screenshot is not None:
            data = await self._pictures.read(after.screenshot)
            try:
                ref, part = await asyncio.to_thread(crop_screenshot, data, action, (after.width, after.height))
            except PictureUnreadable as error:
                rejection = ActionError(code=InvalidAction.code, message=f"the screenshot cannot be enlarged: {error}")
                return ActionResult(last_observation, after, started, datetime.now(UTC), rejection)
            self._pictures.add(ref, part)
            after = after.model_copy(update={"attachment": ref})
        return ActionResult(last_observation, after, started, datetime.now(UTC))

    async def complete(self, intent: Intent, last_observation: Observation) -> ActionResult:
        """The result of an intent that a crash left open, requested under the same command_id.

        A gesture is not requested again: only its first inputs were stored.
        """
        if isinstance(intent.action, Gesture) and intent.decision == "takeover":
            return unknown_result(last_observation, intent.started_at, "the takeover was cut off")
        return await self.act(intent.command_id, intent.action, last_observation, snapshot=True)

    async def wait_until_settled(self, result: ActionResult) -> ActionResult:
        """The same result with the screen as it has settled now."""
        try:
            return replace(result, after=await self.observe_settled(), ended_at=datetime.now(UTC))
        except BridgeError as error:
            return unknown_result(result.before, result.started_at, str(error), machine_lost=True)

    async def judge(self, answer: str) -> Verdict:
        """The verifier's verdict. If it could not judge, a verdict without success that has the error's code."""
        try:
            return await retry_unavailable(lambda: self._machine.evaluate(answer=answer), within=self._timeout_seconds)
        except BridgeError as error:
            return Verdict(success=None, score=0.0, reason=f"the verifier could not judge: {error}", error=error.code)

    async def skip_settle(self) -> None:
        """Cut a running settle short; a machine that cannot be reached settles at its own pace."""
        with contextlib.suppress(BridgeError):
            await self._machine.skip_settle()

    async def close(self) -> None:
        """Close this session; the machine itself stays."""
        with contextlib.suppress(BridgeError):
            await self._machine.close()

    async def _upload_file(self, ref: BlobRef) -> None:
        """Upload a file's bytes. Raises InvalidAction if they are not a file of this episode."""
        try:
            data = await self._pictures.read(ref)
        except KeyError:
            raise InvalidAction("this file was not uploaded to this episode") from None
        await retry_unavailable(lambda: self._machine.stage_upload(data, ref.media_type), within=self._timeout_seconds)

    async def _fetch_pictures(self, observation: Observation) -> Observation:
        await self._pictures.fetch(self._machine, observation)
        return observation


def crop_screenshot(data: bytes, action: Zoom, size: tuple[int, int]) -> tuple[BlobRef, bytes]:
    """The requested part of a screenshot, as a PNG enlarged to fit a screen of this size (pixels).

    Raises PictureUnreadable.
    """
    crop = _crop_and_enlarge(data, action, size)
    return BlobRef.of(crop, "image/png"), crop


def _crop_and_enlarge(data: bytes, action: Zoom, size: tuple[int, int]) -> bytes:
    left, right = sorted((action.start.x, action.end.x))
    top, bottom = sorted((action.start.y, action.end.y))
    with open_picture(data) as image:
        crop = image.convert("RGB").crop((left, top, right + 1, bottom + 1))
    scale = min(size[0] / crop.width, size[1] / crop.height)
    scaled_size = (max(1, round(crop.width * scale)), max(1, round(crop.height * scale)))
    buffer = io.BytesIO()
    crop.resize(scaled_size, Image.Resampling.LANCZOS).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()
