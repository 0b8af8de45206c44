"""A computer without a desktop: painted frames, and everything a `Machine` can do, for tests."""

import asyncio
import hashlib
import socket
import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import numpy as np
import simplejpeg

from protocol.actions.types import Action, GetClipboard, SetClipboard, TypeText, action_points, find_off_screen_point
from protocol.blobs import BlobRef
from protocol.trajectory.observations import ActionError, MachineSnapshot, Observation, Rest, Transition
from protocol.trajectory.tasks import Task
from vm_bridge.errors import (
    CommandConflict,
    InvalidAction,
    MachineGone,
    OutcomeUnknown,
    StaleLease,
    UnsupportedAction,
)
from vm_bridge.machine import Capabilities
from vm_bridge.sandbox import MAX_RESET_SECONDS, FrameSource, Usage
from vm_bridge.simulators.fake.browser import ACTION_KINDS as BROWSER_KINDS
from vm_bridge.simulators.fake.browser import FakeBrowser
from vm_bridge.simulators.fake.call_log import CallLog
from vm_bridge.simulators.fake.machine_io import ACTION_KINDS as INSIDE_KINDS
from vm_bridge.simulators.fake.machine_io import ActionOutcome, FakeMachineIO
from vm_bridge.simulators.fake.screen import FakeScreen, Pixels
from vm_bridge.simulators.fake.states import FakeState, FakeStates

ACTION_KINDS = (
    *("click", "double_click", "triple_click", "right_click", "middle_click", "move_to", "mouse_down", "mouse_up"),
    *("mouse_click", "drag_path", "scroll_by"),
    *("drag", "scroll", "type_text", "press_keys", "press", "release", "wait", "set_clipboard", "get_clipboard"),
    *("gesture", *INSIDE_KINDS),
)
STREAMS = ("webrtc", "stills", "terminal")
MAX_CACHED_BLOBS = 32
MAX_CACHED_COMMANDS = 512
V = TypeVar("V")
MARK_PIXELS = 10
"""Half the side of the square an act leaves where it pointed (pixels)."""


@dataclass(slots=True)
class _CommandRecord:
    """A command taken before: its action, and the run that does or did it."""

    action: Action
    run: asyncio.Task[Transition]


class FakeComputer:
    """One painted computer, without a screen where its width is 0. Its public attributes are the knobs a test may turn.

    `settle_seconds`: how long its screen takes to rest; `lose_next_result`: the next act happens, but its
    outcome is lost as in a crash; `acts`: every action really done, in order; `timer`: what a redraw waits for that
    comes after each act, where there is one; `redraws`: how many came; `redrawn_pixels`: the side of what it changes.
    """

    reset_seconds = MAX_RESET_SECONDS

    def __init__(
        self,
        image: str,
        *,
        width: int = 1280,
        height: int = 720,
        name: str = "fake-1",
        call_log: CallLog | None = None,
    ) -> None:
        self.id = name
        self.image = image
        kinds, streams = (ACTION_KINDS, STREAMS) if width else (("wait", *INSIDE_KINDS), ("terminal",))
        if image == "browser":
            kinds = (*kinds, *BROWSER_KINDS)
        self.capabilities = Capabilities(kinds=kinds, width=width, height=height, streams=streams, snapshots=True)
        self.keeps_states = True
        """Whether acts keep the state before them, where that is asked for."""
        self.screen = FakeScreen(width, height, self._ramp)
        self.frames: FrameSource | None = self.screen if width else None
        self.vnc_socket: Path | None = None
        self.settle_seconds = 0.0
        self.lose_next_result = False
        self.acts: list[Action] = []
        self.timer: asyncio.Event | None = None
        self.redraws, self.redrawn_pixels = 0, 8
        self._timer_pending = False
        self.expected: list[BlobRef | None] = []
        """What each act was expected to lead to."""
        self.resets = 0
        self.typed = ""
        self.clipboard = ""
        self.browser: FakeBrowser | None = None
        """Of the image `browser`."""
        self.inside = FakeMachineIO()
        self.ports: dict[int, int] = {}
        """Which port of this machine stands for which of the painted one's."""
        self.states = FakeStates()
        self.task: Task | None = None
        self.blobs: OrderedDict[str, bytes] = OrderedDict()
        self.commands: OrderedDict[str, _CommandRecord] = OrderedDict()
        self._call_log = call_log
        self._fence = 1
        self._used = 0
        self._dead = False
        self._serial = asyncio.Lock()
        self._skip_settle = asyncio.Event()
        self._clear()

    async def reset(self) -> None:
        if self._call_log is not None:
            self._call_log.note(self.id, self._used, "reset")
        self._fence = self._used + 1
        self.restart()

    def restart(self) -> None:
        """Back to the image's first state, under the same lease."""
        self.alive()
        self.resets += 1
        self._clear()

    async def healthy(self) -> bool:
        return not self._dead

    async def dial(self, port: int) -> socket.socket:
        if port not in self.ports:
            raise ConnectionRefusedError(f"nothing listens on port {port}")
        connection = socket.socket()
        connection.setblocking(False)
        await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", self.ports[port]))
        return connection

    async def usage(self) -> Usage:
        return Usage(pss=self.screen.nbytes)

    async def destroy(self) -> None:
        self.crash()

    def crash(self) -> None:
        """Die as a killed sandbox does: every later call raises MachineGone."""
        self._dead = True
        self.screen.close()
        self.frames = None

    def alive(self) -> None:
        """Raises MachineGone when this sandbox has died."""
        if self._dead:
            raise MachineGone(f"machine {self.id} is gone")

    def admit(self, fencing_token: int) -> None:
        """What the guest does first on every call."""
        self.alive()
        stale = fencing_token < self._fence
        if self._call_log is not None:
            self._call_log.note(self.id, fencing_token, "refused" if stale else "admitted")
        if stale:
            raise StaleLease(f"fencing token {fencing_token} is behind {self._fence}")
        self._fence = self._used = fencing_token

    def skip_settle(self) -> None:
        self._skip_settle.set()

    async def observe(self, *, settle: bool) -> Observation:
        """See `Machine.observe`."""
        self._skip_settle.clear()
        return await self.look(settle=settle)

    async def look(self, *, settle: bool, text: str | None = None, attachment: BlobRef | None = None) -> Observation:
        """An observation of the present picture; with `settle` after `settle_seconds` or a hurry."""
        started = time.monotonic()
        rest: Rest = await self._settle() if settle else "skipped"
        if settle and self._timer_pending:
            rest = await self._wait_for_timer()
        self.alive()
        width, height = self.screen.size
        if text is None and not width:
            text = self.inside.type("main", "")
        return Observation(
            screenshot=self._picture() if width else None,
            width=width,
            height=height,
            captured_at=datetime.now(UTC),
            settled=rest == "rested",
            rest=rest,
            settle_ms=(time.monotonic() - started) * 1000,
            text=text,
            attachment=attachment,
            url=self.browser and self.browser.url,
            page=self.browser and self.browser.page(),
        )

    def _picture(self) -> BlobRef:
        """The present picture, kept."""
        data = simplejpeg.encode_jpeg(self.screen.pixels, quality=90, colorspace="BGRX", colorsubsampling="444")
        ref = BlobRef.of(data, "image/jpeg")
        cache_latest(self.blobs, ref.sha256, data, MAX_CACHED_BLOBS)
        return ref

    async def perform(
        self, command_id: str, action: Action, *, settle: bool, snapshot: bool, wait_for_timers: bool = True
    ) -> Transition:
        """See `Machine.perform`."""
        known = self.commands.get(command_id)
        if known is not None and known.action != action:
            raise CommandConflict(f"command {command_id} was sent before with another action")
        if known is None:
            self._check(action)
            acting = self._act(action, settle=settle, snapshot=snapshot, wait_for_timers=wait_for_timers)
            known = _CommandRecord(action, asyncio.create_task(acting))
            cache_latest(self.commands, command_id, known, MAX_CACHED_COMMANDS)
        # Whoever asked may go away; the act goes on and its result waits for the resend.
        return await asyncio.shield(known.run)

    def _check(self, action: Action) -> None:
        if action.kind not in self.capabilities.kinds:
            raise UnsupportedAction(f"this machine cannot {action.kind}")
        point = find_off_screen_point(action, self.capabilities.width, self.capabilities.height)
        if point is not None:
            raise InvalidAction(f"({point.x}, {point.y}) is outside the screen")

    async def _act(self, action: Action, *, settle: bool, snapshot: bool, wait_for_timers: bool) -> Transition:
        async with self._serial:
            self._skip_settle.clear()
            self._timer_pending = False
            started = datetime.now(UTC)
            before = await self.look(settle=False)
            taken = self.snapshot() if snapshot and self.keeps_states else None
            text, error, attachment = self._do(action)
            if self.lose_next_result:
                self.lose_next_result = False
                raise OutcomeUnknown("the machine crashed during the act")
            is_timed = self.timer is not None and settle
            self._timer_pending = is_timed and wait_for_timers
            after = await self.look(settle=settle, text=text, attachment=attachment)
            self._timer_pending = is_timed and not wait_for_timers
            return Transition(
                before=before,
                after=after,
                error=error,
                started_at=started,
                ended_at=datetime.now(UTC),
                snapshot=taken,
                timer_pending=self._timer_pending,
            )

    def _do(self, action: Action) -> ActionOutcome:
        """Change the state and the picture."""
        if self.browser is not None:
            try:
                self.browser = self.browser.after_action(action)
            except InvalidAction as error:
                return None, ActionError(code=error.code, message=str(error)), None
        self.acts.append(action)
        if self.capabilities.width:
            self._paint(action)
        match action:
            case TypeText():
                self.typed += action.text
            case SetClipboard():
                self.clipboard = action.text
            case GetClipboard():
                return self.clipboard, None, None
            case _:
                return self.inside.do(action)
        return None, None, None

    def snapshot(self) -> MachineSnapshot:
        """See `Machine.snapshot`."""
        inside = self.inside
        state = FakeState(
            pixels=self.screen.pixels.copy(),
            typed=self.typed,
            clipboard=self.clipboard,
            files=dict(inside.files),
            terminals=dict(inside.terminals),
            acts=tuple(self.acts),
            browser=self.browser,
        )
        return self.states.keep(state)

    async def restore(self, snapshot: MachineSnapshot) -> Observation:
        """See `Machine.restore`."""
        async with self._serial:
            state = self.states.find(snapshot)
            self.typed, self.clipboard, self.acts = state.typed, state.clipboard, list(state.acts)
            self.inside.files, self.inside.terminals = dict(state.files), dict(state.terminals)
            self.browser = state.browser
            self.inside.touch()
            self.screen.pixels[:] = state.pixels
            self.screen.touch()
            return await self.look(settle=True)

    def _paint(self, action: Action) -> None:
        """Leave a mark that depends on the action and on how many came before, so that every act shows."""
        digest = hashlib.sha256(f"{len(self.acts)}{action.model_dump_json()}".encode()).digest()
        points = [(point.x, point.y) for point in action_points(action)]
        for x, y in points or [(16 + 24 * (len(self.acts) % 50), 16)]:
            top, left = max(0, y - MARK_PIXELS), max(0, x - MARK_PIXELS)
            self.screen.pixels[top : y + MARK_PIXELS, left : x + MARK_PIXELS, :3] = tuple(digest[:3])
        self.screen.touch()

    def _clear(self) -> None:
        """The image's first state: nothing typed, no files, a fresh picture."""
        self.typed, self.clipboard, self.task = "", "", None
        self.browser = FakeBrowser() if self.image == "browser" else None
        self.inside.clear()
        self.ports.clear()
        self.states.forget()
        self.acts.clear()
        self.screen.clear()

    def _ramp(self, width: int, height: int) -> Pixels:
        """A diagonal ramp tinted by the image's name."""
        ramp = (np.arange(height)[:, None] + np.arange(width)[None, :]) * 200 // (height + width)
        pixels = np.zeros((height, width, 4), np.uint8)
        for channel, tint in enumerate(hashlib.sha256(self.image.encode()).digest()[:3]):
            pixels[:, :, channel] = ramp + tint % 56
        return pixels

    async def _wait_for_timer(self) -> Rest:
        """Wait for the last act's timer, and redraw."""
        assert self.timer is not None, "an act has set a timer"
        waits = [asyncio.ensure_future(event.wait()) for event in (self.timer, self._skip_settle)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        self._timer_pending = False
        if self._skip_settle.is_set():
            return "hurried"
        self.redraws += 1
        self.screen.pixels[: self.redrawn_pixels, : self.redrawn_pixels, :3] ^= 255
        self.screen.touch()
        return "rested"

    async def _settle(self) -> Rest:
        try:
            await asyncio.wait_for(self._skip_settle.wait(), self.settle_seconds)
        except TimeoutError:
            return "rested"
        return "hurried"


def cache_latest(kept: OrderedDict[str, V], key: str, value: V, count: int) -> None:
    """Remember `value`, forgetting the oldest beyond `count`."""
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > count:
        kept.popitem(last=False)
