"""The runner's hold on its machine: acts, looks, and the pictures of both."""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

from agent_backend.deeds import Deed, deed_unknown
from agent_backend.ports import EpisodeStore, Intent
from agent_backend.zoom import crop_screenshot
from vm_bridge.errors import (
    BridgeError,
    BridgeUnavailable,
    CommandConflict,
    InvalidAction,
    OutcomeUnknown,
    UnknownBlob,
    UnsupportedAction,
)
from vm_bridge.machine import Machine, Snapshot
from vocabulary.actions import CONTROL_KINDS, OBSERVE_KINDS, Action, Gesture, Screenshot, UploadFile, Zoom
from vocabulary.blobs import BlobRef
from vocabulary.observations import ActionError, Observation, Verdict
from vocabulary.tasks import Task
from vocabulary.tools import Tool

T = TypeVar("T")

REFUSED = (UnsupportedAction, InvalidAction, CommandConflict)
"""The machine did nothing, and said why; any other BridgeError of an act leaves its outcome open."""

FIRST_PAUSE = 0.2
"""Seconds before a silent bridge is asked a second time; doubles from then on."""


async def reach(call: Callable[[], Awaitable[T]], *, within: float) -> T:
    """The call's result, asked again while the bridge does not answer, for at most `within` seconds.

    Only for calls that may be repeated. Raises BridgeUnavailable when the time is over.
    """
    loop = asyncio.get_running_loop()
    give_up, pause = loop.time() + within, FIRST_PAUSE
    while True:
        try:
            return await call()
        except BridgeUnavailable:
            if loop.time() + pause > give_up:
                raise
            await asyncio.sleep(pause)
            pause *= 2


MAX_AT_HAND = 96 * 2**20
"""Most bytes of pictures and files at hand; the latest stays, however large."""


class Pictures:
    """The screenshots of one episode and the files that were brought out: the latest at hand, every one in the
    store."""

    def __init__(self, store: EpisodeStore, *, kept: int) -> None:
        self._store = store
        self._kept = kept
        self._bytes: OrderedDict[str, bytes] = OrderedDict()
        self._saved: OrderedDict[str, None] = OrderedDict()

    async def fetch(self, machine: Machine, observation: Observation) -> None:
        """Bring what an observation refers to, to hand. Raises BridgeError."""
        for ref in _refs(observation):
            if ref.sha256 not in self._bytes:
                try:
                    self._remember(ref, await machine.blob(ref))
                except UnknownBlob:  # a file brought out before the bridge was started anew: the step stays without it
                    if ref == observation.screenshot:
                        raise

    async def save(self, observation: Observation | None) -> None:
        """Store what is at hand of it, each once."""
        for ref in _refs(observation):
            await self._save(ref)

    async def _save(self, ref: BlobRef) -> None:
        if ref.sha256 in self._saved or ref.sha256 not in self._bytes:
            return
        await self._store.save_blob(ref, self._bytes[ref.sha256])
        self._saved[ref.sha256] = None
        while len(self._saved) > self._kept:
            self._saved.popitem(last=False)

    async def read(self, ref: BlobRef) -> bytes:
        """The bytes of a screenshot of this episode. Raises KeyError for others."""
        if ref.sha256 not in self._bytes:
            self._remember(ref, await self._store.load_blob(ref))
        return self._bytes[ref.sha256]

    def add(self, ref: BlobRef, data: bytes) -> None:
        """Have bytes at hand that were made here."""
        self._remember(ref, data)

    def _remember(self, ref: BlobRef, data: bytes) -> None:
        self._bytes[ref.sha256] = data
        while len(self._bytes) > self._kept or (len(self._bytes) > 1 and self._size() > MAX_AT_HAND):
            self._bytes.popitem(last=False)

    def _size(self) -> int:
        return sum(map(len, self._bytes.values()))


def _refs(observation: Observation | None) -> tuple[BlobRef, ...]:
    """Everything an observation refers to."""
    refs = (observation.screenshot, observation.attachment) if observation else ()
    return tuple(ref for ref in refs if ref is not None)


class Hand:
    """One machine, reached patiently; whatever it returns has its pictures at hand."""

    def __init__(self, machine: Machine, pictures: Pictures, *, within: float) -> None:
        self._machine = machine
        self._pictures = pictures
        self._within = within
        self.tools: tuple[Tool, ...] = ()
        """What can be called by name, once the task is prepared."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Action kinds this machine accepts; where there is a screen to click on, it can be looked at."""
        kinds = tuple(self._machine.capabilities.kinds)
        return (*kinds, *OBSERVE_KINDS) if "click" in kinds else kinds

    @property
    def returns(self) -> bool:
        """Whether this machine can go back to an earlier state."""
        return self._machine.capabilities.snapshots

    async def snapshot(self) -> Snapshot | None:
        """The way back to this moment; None where there is none, or the bridge does not answer: an act waits for no
        snapshot."""
        if not self.returns:
            return None
        with contextlib.suppress(BridgeError):
            return await self._machine.snapshot()
        return None

    async def restore(self, snapshot: Snapshot) -> Observation:
        """Go back. Raises BridgeError; CannotRestore where nothing was changed."""
        return await self._seen(await self._machine.restore(snapshot))

    async def prepare(self, task: Task) -> Observation:
        """The task's start state. Raises BridgeError."""
        seen = await self._seen(await reach(lambda: self._machine.prepare(task), within=self._within))
        self.tools = await reach(self._machine.tools, within=self._within)
        return seen

    async def look(self) -> Observation:
        """The rested screen. Raises BridgeError."""
        return await self._seen(await reach(lambda: self._machine.observe(settle=True), within=self._within))

    async def keep(self, observation: Observation | None) -> None:
        """Store the pictures of a look."""
        await self._pictures.save(observation)

    async def picture(self, ref: BlobRef) -> bytes:
        """The bytes of a screenshot this machine showed. Raises KeyError."""
        return await self._pictures.read(ref)

    async def glance(self) -> Observation:
        """The screen of this moment, at rest or not. Raises BridgeError."""
        return await self._seen(await reach(self._machine.observe, within=self._within))

    async def set_time_scale(self, rate: float) -> None:
        """How fast the machine's own time goes between acts. Raises BridgeError."""
        await reach(lambda: self._machine.set_time_scale(rate), within=self._within)

    async def act(self, command_id: str, action: Action, seen: Observation, *, settle: bool = True) -> Deed:
        """Do one action once, and say how it ended; `seen` is the frame to name where the machine can show none."""
        started = datetime.now(UTC)
        if action.kind in CONTROL_KINDS:
            return Deed(seen, seen, started, started)
        if isinstance(action, Screenshot | Zoom):
            return await self._observe(action, seen)
        try:
            if isinstance(action, UploadFile):
                await self._stage(action.blob)
            done = await reach(lambda: self._machine.perform(command_id, action, settle=settle), within=self._within)
            await self._seen(done.before)
            await self._seen(done.after)
        except REFUSED as error:
            refused = ActionError(code=error.code, message=str(error))
            return Deed(seen, seen, started, datetime.now(UTC), refused)
        except BridgeError as error:
            return deed_unknown(seen, started, str(error), lost=not isinstance(error, OutcomeUnknown))
        return Deed(done.before, done.after, done.started_at, done.ended_at, done.error)

    async def _observe(self, action: Screenshot | Zoom, seen: Observation) -> Deed:
        """A look at the screen, with the part of it that is asked for."""
        started = datetime.now(UTC)
        try:
            after = await self.look()
        except BridgeError as error:
            return deed_unknown(seen, started, str(error), lost=True)
        if isinstance(action, Zoom) and after.screenshot is not None:
            data = await self._pictures.read(after.screenshot)
            ref, part = await asyncio.to_thread(crop_screenshot, data, action, (after.width, after.height))
            self._pictures.add(ref, part)
            after = after.model_copy(update={"attachment": ref})
        return Deed(seen, after, started, datetime.now(UTC))

    async def complete(self, intent: Intent, seen: Observation) -> Deed:
        """What came of an intent that a crash left open, asked for by the same command_id.

        A gesture is not asked for again: only its first inputs were stored.
        """
        if isinstance(intent.action, Gesture) and intent.decision == "takeover":
            return deed_unknown(seen, intent.started_at, "the takeover was cut off")
        return await self.act(intent.command_id, intent.action, seen)

    async def rest(self, deed: Deed) -> Deed:
        """The same deed with the screen as it rests now."""
        try:
            return replace(deed, after=await self.look(), ended_at=datetime.now(UTC))
        except BridgeError as error:
            return deed_unknown(deed.before, deed.started_at, str(error), lost=True)

    async def judge(self, answer: str) -> Verdict:
        """The verifier's verdict; one without success where it could not judge."""
        try:
            return await reach(lambda: self._machine.evaluate(answer=answer), within=self._within)
        except BridgeError as error:
            return Verdict(success=None, score=0.0, reason=f"the verifier could not judge: {error}")

    async def skip_settle(self) -> None:
        """Cut a running settle short; a machine that cannot be reached settles at its own pace."""
        with contextlib.suppress(BridgeError):
            await self._machine.skip_settle()

    async def close(self) -> None:
        """Let go of this view of the machine."""
        with contextlib.suppress(BridgeError):
            await self._machine.close()

    async def _stage(self, ref: BlobRef) -> None:
        """Hand a file's bytes over. Raises InvalidAction when they are no file of this episode."""
        try:
            data = await self._pictures.read(ref)
        except KeyError:
            raise InvalidAction("this file was not uploaded to this episode") from None
        await reach(lambda: self._machine.stage_upload(data, ref.media_type), within=self._within)

    async def _seen(self, observation: Observation) -> Observation:
        await self._pictures.fetch(self._machine, observation)
        return observation
