"""A Linux desktop driven through the guest inside its sandbox."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from vm_bridge.drivers.computer_desk import GuestDesk
from vm_bridge.drivers.computer_frames import DesktopFrames, Look, Pictures, Screen
from vm_bridge.drivers.computer_link import GuestLink, Nothing
from vm_bridge.drivers.computer_task import format_of, screen_of, servers_of
from vm_bridge.drivers.inside import GuestFiles, GuestTerminals, Inside, Offered
from vm_bridge.drivers.inside_cargo import Cargo
from vm_bridge.errors import (
    BridgeError,
    CommandConflict,
    InvalidAction,
    MachineGone,
    OutcomeUnknown,
    StaleLease,
    UnknownTask,
    UnsupportedAction,
)
from vm_bridge.machine import ACT_SECONDS, Capabilities, act_bound
from vm_bridge.settle import LIMIT
from vm_bridge.suites import Suite
from vocabulary.actions import Action, UploadFile, off_screen
from vocabulary.base import Frozen
from vocabulary.blobs import BlobRef
from vocabulary.observations import ActionError, Observation, Rest, Transition, Verdict
from vocabulary.tasks import Task
from vocabulary.tools import Tool

INSIDE_KINDS = (
    *("run_command", "type_terminal", "list_files", "read_file", "write_file", "edit_file", "upload_file"),
    *("download_file", "run_code", "call_tool"),
)
KINDS = (
    *("click", "double_click", "triple_click", "right_click", "middle_click", "move_to", "mouse_down", "mouse_up"),
    *("drag", "scroll", "type_text", "press_keys", "press", "release", "wait", "open_app", "set_clipboard"),
    *("get_clipboard", "gesture", *INSIDE_KINDS),
)
SCREENLESS_KINDS = ("wait", *INSIDE_KINDS)
STREAMS = ("webrtc", "vnc", "stills", "terminal")
KEPT_COMMANDS = 1024
"""Results kept for resends."""
MAX_GUEST_TEXT = 200_000


class Seen(Frozen):
    """The guest's answer to `observe`."""

    after: Look | None
    text: Annotated[str, StringConstraints(max_length=MAX_GUEST_TEXT)] | None = None
    rest: Rest
    settle_ms: Annotated[float, Field(ge=0, le=1e7)]


class Done(Seen):
    """The guest's answer to `perform`."""

    before: Look | None
    before_text: Annotated[str, StringConstraints(max_length=MAX_GUEST_TEXT)] | None = None
    error: ActionError | None
    attachment: Offered | None


@dataclass(slots=True)
class _Command:
    """A command taken before, and the run that does or did it."""

    action: Action
    settle: bool
    run: asyncio.Task[Transition]


class Computer:
    """One desktop, shared by the views of all its leases; the newest guest is the one attached last."""

    def __init__(self, suites: Mapping[str, Suite]) -> None:
        self.capabilities = Capabilities(kinds=KINDS, width=0, height=0, streams=())
        self.frames = DesktopFrames()
        self.pictures = Pictures()
        self.cargo = Cargo()
        self.suites = suites
        self.task: Task | None = None
        self.fence = 1
        """The lowest fencing token that may still act."""
        self._used = 0
        self._link: GuestLink | None = None
        self._commands: OrderedDict[str, _Command] = OrderedDict()
        self._one_at_a_time = asyncio.Lock()

    def attach(self, link: GuestLink, screen: Screen | None, fence: int) -> None:
        """Drive this guest from now on; it has seen no higher fencing token."""
        self._link = link
        self.fence = max(self.fence, fence)
        if screen is None:
            self.capabilities = Capabilities(kinds=SCREENLESS_KINDS, width=0, height=0, streams=("terminal",))
            return
        self.capabilities = Capabilities(kinds=KINDS, width=screen.width, height=screen.height, streams=STREAMS)
        self.pictures.attach(screen)
        self.frames.attach(link, screen)

    def restored(self, task: Task | None) -> None:
        """The task that is set up, or about to be."""
        self.task = task
        self.pictures.format = format_of(task)

    def end_lease(self) -> None:
        """No view used so far may act from now on."""
        self.fence = self._used + 1

    @property
    def link(self) -> GuestLink:
        """The guest. Raises MachineGone before the first is attached."""
        if self._link is None:
            raise MachineGone("the machine has not started")
        return self._link

    async def observe(self, fence: int, *, settle: bool) -> Observation:
        """See `Machine.observe`."""
        async with self._one_at_a_time:
            seen = await self.link.call("observe", Seen, timeout=LIMIT + ACT_SECONDS, fence=fence, settle=settle)
            self._admitted(fence)
            return await self._observation(seen.after, seen.rest, seen.settle_ms, seen.text)

    async def perform(self, fence: int, command_id: str, action: Action, *, settle: bool) -> Transition:
        """See `Machine.perform`."""
        if fence < self.fence:
            raise StaleLease(f"fencing token {fence} is behind {self.fence}")
        known = self._commands.get(command_id)
        if known is not None and (known.action, known.settle) != (action, settle):
            raise CommandConflict(f"command {command_id} was sent before with another action")
        if known is None:
            self._check(action)
            known = _Command(action, settle, asyncio.create_task(self._act(fence, action, settle=settle)))
            known.run.add_done_callback(lambda run: self._forget_refused(command_id, run))
            self._commands[command_id] = known
            while len(self._commands) > KEPT_COMMANDS:
                self._commands.popitem(last=False)
        # Whoever asked may go away; the act goes on, and its result waits for the resend.
        return await asyncio.shield(known.run)

    def _forget_refused(self, command_id: str, run: asyncio.Task[Transition]) -> None:
        """What changed nothing may be asked for again; what may have happened stays unknown for good."""
        if run.cancelled():
            self._commands.pop(command_id, None)
            return
        failure = run.exception()
        if isinstance(failure, BridgeError) and not isinstance(failure, OutcomeUnknown):
            self._commands.pop(command_id, None)

    async def hurry(self, fence: int) -> None:
        """See `Machine.hurry`."""
        await self.link.call("hurry", Nothing, timeout=ACT_SECONDS, fence=fence)
        self._admitted(fence)

    def suite_of(self, task: Task) -> Suite | None:
        """The suite a task names. Raises UnknownTask."""
        if task.suite is None:
            return None
        suite = self.suites.get(task.suite)
        if suite is None or not any(known.name == task.name for known in suite.tasks):
            raise UnknownTask(f"there is no task {task.name!r} in a suite {task.suite!r}")
        return suite

    def desk(self, fence: int) -> GuestDesk:
        """The inside, for a suite."""
        return GuestDesk(self.link, fence)

    def inside(self, fence: int) -> Inside:
        """The inside, for one lease."""
        return Inside(self.link, fence)

    def bytes_of(self, ref: BlobRef) -> bytes:
        """A picture, or a file that was brought out. Raises UnknownBlob."""
        held = self.cargo.find(ref)
        return self.pictures.bytes_of(ref) if held is None else held

    def _check(self, action: Action) -> None:
        if action.kind not in self.capabilities.kinds:
            raise UnsupportedAction(f"this machine cannot {action.kind}")
        point = off_screen(action, self.capabilities.width, self.capabilities.height)
        if point is not None:
            raise InvalidAction(f"({point.x}, {point.y}) lies off the screen")
        if any(not _is_text(value) for _, value in action if isinstance(value, str)):
            raise InvalidAction("text holds a null character or half a surrogate pair")

    async def _act(self, fence: int, action: Action, *, settle: bool) -> Transition:
        async with self._one_at_a_time:
            started = datetime.now(UTC)
            await self._bring_in(fence, action)
            done = await self._sent(fence, action, settle=settle)
            self._admitted(fence)
            before = await self._observation(done.before, "skipped", 0.0, done.before_text)
            brought = await self._brought_out(fence, done.attachment)
            after = await self._observation(done.after, done.rest, done.settle_ms, done.text, brought)
            return Transition(
                before=before, after=after, error=done.error, started_at=started, ended_at=datetime.now(UTC)
            )

    async def _bring_in(self, fence: int, action: Action) -> None:
        """Give the guest the file that an act puts in place. Raises InvalidAction when its bytes are not held."""
        if isinstance(action, UploadFile):
            await self.inside(fence).put(self.cargo.need(action.blob))

    async def _brought_out(self, fence: int, offered: Offered | None) -> BlobRef | None:
        if offered is None:
            return None
        try:
            data = await self.inside(fence).get(offered.key, offered.size)
        except MachineGone as gone:
            raise OutcomeUnknown(f"what the act brought out is lost: {gone}") from gone
        return self.cargo.keep(data, offered.media_type)

    async def _sent(self, fence: int, action: Action, *, settle: bool) -> Done:
        body, link = action.model_dump(mode="json"), self.link
        if link.gone:
            raise MachineGone("the machine has ended")
        try:
            return await link.call(
                "perform",
                Done,
                timeout=act_bound(action) + LIMIT,
                fence=fence,
                action=body,
                settle=settle,
            )
        except MachineGone as gone:
            raise OutcomeUnknown(f"whether the act happened is not known: {gone}") from gone

    def _admitted(self, fence: int) -> None:
        """The guest took this token; a guest started after a reset must know it too."""
        self._used = max(self._used, fence)
        self.fence = max(self.fence, fence)

    async def _observation(
        self,
        look: Look | None,
        rest: Rest,
        settle_ms: float,
        text: str | None = None,
        attachment: BlobRef | None = None,
    ) -> Observation:
        return Observation(
            screenshot=None if look is None else await self.pictures.store(look),
            width=self.capabilities.width,
            height=self.capabilities.height,
            captured_at=datetime.now(UTC) if look is None else datetime.fromtimestamp(look.at, UTC),
            settled=rest == "rested",
            rest=rest,
            settle_ms=settle_ms,
            text=text,
            attachment=attachment,
        )


Reset = Callable[[int, Task], Awaitable[None]]
"""Puts the sandbox back to its image's first state, for a task of the lease with this token. Raises StaleLease."""


class ComputerMachine:
    """A computer seen through one lease."""

    def __init__(self, computer: Computer, fence: int, reset: Reset) -> None:
        self._computer, self._fence, self._reset = computer, fence, reset

    @property
    def capabilities(self) -> Capabilities:
        return self._computer.capabilities

    async def prepare(self, task: Task) -> Observation:
        suite = self._computer.suite_of(task)
        servers = servers_of(task)
        format_of(task), screen_of(task)  # what cannot be is refused before anything is thrown away
        await self._reset(self._fence, task)
        self._computer.restored(task)
        if servers:
            await self._computer.inside(self._fence).configure(servers)
        if suite is not None:
            await suite.prepare(task, self._computer.desk(self._fence))
        return await self.observe(settle=True)

    async def observe(self, *, settle: bool = False) -> Observation:
        return await self._computer.observe(self._fence, settle=settle)

    async def perform(self, command_id: str, action: Action, *, settle: bool = True) -> Transition:
        return await self._computer.perform(self._fence, command_id, action, settle=settle)

    async def hurry(self) -> None:
        await self._computer.hurry(self._fence)

    async def evaluate(self, *, answer: str = "") -> Verdict:
        task = self._computer.task
        suite = self._computer.suite_of(task) if task is not None else None
        if task is None or suite is None:
            return Verdict(success=None, score=0.0, reason="nothing can judge this task")
        return await suite.evaluate(task, self._computer.desk(self._fence), answer)

    async def blob(self, ref: BlobRef) -> bytes:
        return self._computer.bytes_of(ref)

    @property
    def files(self) -> GuestFiles:
        return GuestFiles(self._computer.link, self._fence)

    @property
    def terminals(self) -> GuestTerminals:
        return GuestTerminals(self._computer.link, self._fence)

    async def tools(self) -> tuple[Tool, ...]:
        return await self._computer.inside(self._fence).tools()

    async def stage(self, data: bytes, media_type: str) -> BlobRef:
        return self._computer.cargo.keep(data, media_type)

    async def close(self) -> None:
        """Nothing is held."""


def _is_text(value: str) -> bool:
    """Whether a string can be written to a file, a path or a command line."""
    return "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value)
