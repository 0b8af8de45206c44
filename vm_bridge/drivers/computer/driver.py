"""A computer driven through the guest inside its sandbox: `ComputerDriver` is shared by all its leases,
`ComputerMachine` is what one lease sees."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from protocol.actions.tools import Tool
from protocol.actions.types import Action, UploadFile, find_off_screen_point
from protocol.blobs import BlobRef
from protocol.trajectory.observations import MachineSnapshot, Observation, Rest, Transition, Verdict
from protocol.trajectory.tasks import Task
from vm_bridge.drivers.command_log import ActionHistory, CommandLog, RecordedAction, StateFingerprint
from vm_bridge.drivers.computer.frames import DesktopFrames, GuestScreen, ScreenshotStore
from vm_bridge.drivers.computer.guest_link import (
    AttachmentOffer,
    EmptyReply,
    FrameRef,
    GuestCapabilities,
    GuestLink,
    ObserveReply,
    PerformReply,
)
from vm_bridge.drivers.computer.machine_io import GuestFiles, GuestIO, GuestTerminals
from vm_bridge.drivers.computer.suite_environment import GuestEnvironment
from vm_bridge.drivers.file_staging import FileStaging
from vm_bridge.drivers.task_parameters import parse_image_format, parse_mcp_servers, parse_screen_size
from vm_bridge.errors import (
    BridgeError,
    InvalidAction,
    MachineGone,
    OutcomeUnknown,
    StaleLease,
    UnknownBlob,
    UnsupportedAction,
    UnsupportedTask,
)
from vm_bridge.machine import MAX_ACTION_SECONDS, Capabilities, ExpertSuggestion, action_timeout
from vm_bridge.settle import MAX_SETTLE_SECONDS
from vm_bridge.suites import Suite, evaluate_task, find_suite
from vm_bridge.suites.harbor import HarborSuite

MACHINE_IO_KINDS = (
    *("run_command", "type_terminal", "list_files", "read_file", "write_file", "edit_file", "upload_file"),
    *("download_file", "run_code", "call_tool"),
)
ACTION_KINDS = (
    *("click", "double_click", "triple_click", "right_click", "middle_click", "move_to", "mouse_down", "mouse_up"),
    *("mouse_click", "drag_path", "scroll_by"),
    *("drag", "scroll", "type_text", "press_keys", "press", "release", "wait", "open_app", "set_clipboard"),
    *("get_clipboard", "gesture", *MACHINE_IO_KINDS),
)
SCREENLESS_KINDS = ("wait", *MACHINE_IO_KINDS)


DESKTOP_CAPABILITIES = GuestCapabilities(ACTION_KINDS, ("webrtc", "vnc", "stills", "terminal"), snapshots=True)
SCREENLESS_CAPABILITIES = GuestCapabilities(SCREENLESS_KINDS, ("terminal",), snapshots=True)


class ComputerDriver:
    """One desktop, shared by the views of all its leases; the newest guest is the one attached last."""

    def __init__(self, suites: Mapping[str, Suite], folder: Path | None = None) -> None:
        """In `folder`, if there is one, lies what a later process needs to go on."""
        self.capabilities = Capabilities(kinds=ACTION_KINDS, width=0, height=0, streams=())
        self.able = DESKTOP_CAPABILITIES
        self.frames = DesktopFrames()
        self.pictures = ScreenshotStore(None if folder is None else folder / "pictures")
        self.file_staging = FileStaging()
        self.suites = suites
        self.task: Task | None = None
        self.fence = 1
        """The lowest fencing token that may still act."""
        self._used = 0
        self._link: GuestLink | None = None
        self.command_log = CommandLog(None if folder is None else folder / "acts.jsonl")
        self.history = ActionHistory()
        self._rested = False
        """Whether the last look found the screen at rest."""
        self.one_at_a_time = asyncio.Lock()

    def attach(
        self, link: GuestLink, screen: GuestScreen | None, fence: int, able: GuestCapabilities | None = None
    ) -> None:
        """Drive this guest from now on; it has seen no higher fencing token. It is as able as said."""
        self._link = link
        self._rested = False
        self.history.begin()
        self.fence = max(self.fence, fence)
        self.able = able = able or (SCREENLESS_CAPABILITIES if screen is None else DESKTOP_CAPABILITIES)
        self.capabilities = Capabilities(
            kinds=able.kinds,
            width=0 if screen is None else screen.width,
            height=0 if screen is None else screen.height,
            streams=able.streams,
            snapshots=able.snapshots,
            apps=able.apps,
        )
        if screen is not None:
            self.pictures.attach(screen)
            self.frames.attach(link, screen)

    def restored(self, task: Task | None) -> None:
        """The task that is set up, or about to be."""
        self.task = task
        self.pictures.format = parse_image_format(task)

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
        async with self.one_at_a_time:
            seen = await self.link.call(
                "observe", ObserveReply, timeout=MAX_SETTLE_SECONDS + MAX_ACTION_SECONDS, fence=fence, settle=settle
            )
            self._check_fence(fence)
            return await self._observation(
                seen.after, seen.rest, seen.settle_ms, seen.text, application=seen.application
            )

    async def perform(
        self,
        fence: int,
        command_id: str,
        action: Action,
        *,
        settle: bool,
        snapshot: bool = False,
        save_state: Callable[[], Awaitable[MachineSnapshot]] | None = None,
    ) -> Transition:
        """See `Machine.perform`. `save_state` takes the snapshot before the act where a machine keeps whole states;
        elsewhere it is made of what the guest says with the act."""
        if fence < self.fence:
            raise StaleLease(f"fencing token {fence} is behind {self.fence}")
        self._check(action)

        async def act() -> Transition:
            saved = None
            with suppress(BridgeError):  # an act waits for no snapshot
                if save_state is not None:
                    saved = await save_state()
                elif snapshot and not self._rested:
                    await self.observe(fence, settle=True)
            done = await self._act(fence, action, settle=settle, snapshot=snapshot and save_state is None)
            return done if saved is None else done.model_copy(update={"snapshot": saved})

        return await self.command_log.once(command_id, action, settle=settle, act=act)

    async def snapshot(self, fence: int) -> MachineSnapshot:
        """See `Machine.snapshot`. It may be taken before every act: what has come to rest is not waited for."""
        return self.history.snapshot(await self.fingerprint(fence))

    async def fingerprint(self, fence: int, *, digest: bool = True) -> StateFingerprint:
        """How the present state is told from others, by its files too where a `digest` is wanted."""
        seen = await self.observe(fence, settle=not self._rested)
        return StateFingerprint(self._picture(seen), await self.environment(fence).digest() if digest else None)

    async def set_up(self, fence: int, task: Task) -> Observation:
        """Make a fresh desktop into a task's start state, and look."""
        self.restored(task)
        servers, suite = parse_mcp_servers(task), find_suite(self.suites, task)
        if servers:
            await self.inside(fence).configure(servers)
        if suite is not None:
            await suite.prepare(task, self.environment(fence))
        return await self.observe(fence, settle=True)

    def _picture(self, seen: Observation) -> bytes | None:
        return None if seen.screenshot is None else self.pictures.read_blob(seen.screenshot)

    async def skip_settle(self, fence: int) -> None:
        """See `Machine.hurry`."""
        await self.link.call("hurry", EmptyReply, timeout=MAX_ACTION_SECONDS, fence=fence)
        self._check_fence(fence)

    def environment(self, fence: int) -> GuestEnvironment:
        """The inside, for a suite."""
        return GuestEnvironment(self.link, fence)

    def inside(self, fence: int) -> GuestIO:
        """The inside, for one lease."""
        return GuestIO(self.link, fence)

    def read_blob(self, ref: BlobRef) -> bytes:
        """A picture, or a file that was brought out. Raises UnknownBlob."""
        try:
            return self.pictures.read_blob(ref)
        except UnknownBlob:
            held = self.file_staging.find(ref)
            if held is None:
                raise
            return held

    def _check(self, action: Action) -> None:
        if action.kind not in self.capabilities.kinds:
            raise UnsupportedAction(f"this machine cannot {action.kind}")
        point = find_off_screen_point(action, self.capabilities.width, self.capabilities.height)
        if point is not None:
            raise InvalidAction(f"({point.x}, {point.y}) lies off the screen")
        if any(not _is_valid_text(value) for _, value in action if isinstance(value, str)):
            raise InvalidAction("text holds a null character or half a surrogate pair")

    async def _act(self, fence: int, action: Action, *, settle: bool, snapshot: bool) -> Transition:
        async with self.one_at_a_time:
            started = datetime.now(UTC)
            await self._upload_file(fence, action)
            try:
                done = await self._send_action(fence, action, settle=settle, digest=snapshot)
            except OutcomeUnknown:
                self.history.mark_not_replayable()
                raise
            self._check_fence(fence)
            before = await self._observation(
                done.before, "skipped", 0.0, done.before_text, application=done.before_application
            )
            failed = None if done.error is None else done.error.code
            state = StateFingerprint(self._picture(before), done.digest)
            taken = None if done.digest is None else self.history.snapshot(state)
            self.history.note(state, RecordedAction(action, settle, failed))
            brought = await self._store_attachment(fence, done.attachment)
            after = await self._observation(
                done.after, done.rest, done.settle_ms, done.text, brought, application=done.application
            )
            return Transition(
                before=before,
                after=after,
                error=done.error,
                started_at=started,
                ended_at=datetime.now(UTC),
                snapshot=taken,
            )

    async def _upload_file(self, fence: int, action: Action) -> None:
        """Give the guest the file that an act puts in place. Raises InvalidAction when its bytes are not held."""
        if isinstance(action, UploadFile):
            await self.inside(fence).put(self.file_staging.need(action.blob))

    async def _store_attachment(self, fence: int, offered: AttachmentOffer | None) -> BlobRef | None:
        if offered is None:
            return None
        try:
            data = await self.inside(fence).get(offered.key, offered.size)
        except MachineGone as gone:
            raise OutcomeUnknown(f"what the act brought out is lost: {gone}") from gone
        return self.file_staging.keep(data, offered.media_type)

    async def _send_action(self, fence: int, action: Action, *, settle: bool, digest: bool) -> PerformReply:
        body, link = action.model_dump(mode="json"), self.link
        if link.gone:
            raise MachineGone("the machine has ended")
        try:
            return await link.call(
                "perform",
                PerformReply,
                timeout=action_timeout(action) + MAX_SETTLE_SECONDS,
                fence=fence,
                action=body,
                settle=settle,
                digest=digest,
            )
        except MachineGone as gone:
            raise OutcomeUnknown(f"whether the act happened is not known: {gone}") from gone

    def _check_fence(self, fence: int) -> None:
        """The guest took this token; a guest started after a reset must know it too."""
        self._used = max(self._used, fence)
        self.fence = max(self.fence, fence)

    async def _observation(
        self,
        look: FrameRef | None,
        rest: Rest,
        settle_ms: float,
        text: str | None = None,
        attachment: BlobRef | None = None,
        *,
        application: str = "",
    ) -> Observation:
        if rest != "skipped":
            self._rested = rest == "rested"
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
            application=application or None,
        )


class SandboxController(Protocol):
    """Who keeps the processes of a computer. Both raise StaleLease when the lease of that token has ended."""

    async def prepare(self, fencing_token: int, task: Task) -> None:
        """Put the sandbox back to its image's first state, for a task."""
        ...

    async def restore(self, fencing_token: int, snapshot: MachineSnapshot) -> None:
        """Put it back to an earlier state. Raises CannotRestore."""
        ...


def _is_valid_text(value: str) -> bool:
    """Whether a string can be written to a file, a path or a command line."""
    return "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value)


class ComputerMachine:
    """A computer seen through one lease."""

    def __init__(self, computer: ComputerDriver, fence: int, controller: SandboxController) -> None:
        self._computer, self._fence, self._controller = computer, fence, controller

    @property
    def capabilities(self) -> Capabilities:
        return self._computer.capabilities

    async def prepare(self, task: Task) -> Observation:
        # What cannot be is refused before anything is thrown away.
        suite = find_suite(self._computer.suites, task)
        if isinstance(suite, HarborSuite):
            suite.check(task)
        elif suite is None and self._computer.able.needs_suite:
            raise UnsupportedTask("these machines do tasks from folders of Harbor only")
        parse_mcp_servers(task), parse_image_format(task), parse_screen_size(task)
        await self._controller.prepare(self._fence, task)
        return await self._computer.set_up(self._fence, task)

    async def snapshot(self) -> MachineSnapshot:
        if not self.capabilities.snapshots:
            raise UnsupportedAction("this machine cannot go back to an earlier state")
        return await self._computer.snapshot(self._fence)

    async def restore(self, snapshot: MachineSnapshot) -> Observation:
        if not self.capabilities.snapshots:
            raise UnsupportedAction("this machine cannot go back to an earlier state")
        await self._controller.restore(self._fence, snapshot)
        return await self.observe(settle=True)

    async def observe(self, *, settle: bool = False) -> Observation:
        return await self._computer.observe(self._fence, settle=settle)

    async def perform(
        self, command_id: str, action: Action, *, settle: bool = True, snapshot: bool = False
    ) -> Transition:
        wanted = snapshot and self.capabilities.snapshots
        return await self._computer.perform(self._fence, command_id, action, settle=settle, snapshot=wanted)

    async def skip_settle(self) -> None:
        await self._computer.skip_settle(self._fence)

    async def evaluate(self, *, answer: str = "") -> Verdict:
        computer = self._computer
        return await evaluate_task(computer.suites, computer.task, lambda: computer.environment(self._fence), answer)

    async def suggest_expert_action(self) -> ExpertSuggestion | None:
        task = self._computer.task
        suite = None if task is None else find_suite(self._computer.suites, task)
        if task is None or not isinstance(suite, HarborSuite):
            return None
        return suite.suggest(task, self._computer.history.commands())

    async def set_time_scale(self, rate: float) -> None:
        raise UnsupportedAction("a computer's time is everybody's")

    async def blob(self, ref: BlobRef) -> bytes:
        return self._computer.read_blob(ref)

    @property
    def files(self) -> GuestFiles:
        return GuestFiles(self._computer.link, self._fence)

    @property
    def terminals(self) -> GuestTerminals:
        return GuestTerminals(self._computer.link, self._fence)

    async def tools(self) -> tuple[Tool, ...]:
        return await self._computer.inside(self._fence).tools()

    async def stage_upload(self, data: bytes, media_type: str) -> BlobRef:
        return self._computer.file_staging.keep(data, media_type)

    async def close(self) -> None:
        """Nothing is held."""
