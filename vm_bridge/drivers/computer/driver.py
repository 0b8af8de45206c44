"""Drives a computer through the guest inside its sandbox; shared by all its leases."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from protocol.actions.tools import Tool
from protocol.actions.types import Action, UploadFile, find_off_screen_point
from protocol.blobs import BlobRef
from protocol.trajectory.observations import MachineSnapshot, Observation, Rest, Transition
from protocol.trajectory.tasks import Task
from vm_bridge.drivers.command_log import ActionHistory, CommandLog, RecordedAction, StateFingerprint
from vm_bridge.drivers.computer.early_end import end_at
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
from vm_bridge.drivers.computer.machine_io import GuestIO
from vm_bridge.drivers.computer.suite_environment import GuestEnvironment
from vm_bridge.drivers.computer.tool_catalog import ToolCatalog
from vm_bridge.drivers.file_staging import FileStaging
from vm_bridge.drivers.task_parameters import parse_image_format, parse_mcp_servers
from vm_bridge.errors import (
    BridgeError,
    InvalidAction,
    MachineGone,
    OutcomeUnknown,
    StaleLease,
    UnknownBlob,
    UnsupportedAction,
)
from vm_bridge.machine import MAX_ACTION_SECONDS, Capabilities, action_timeout
from vm_bridge.settle import MAX_SETTLE_SECONDS
from vm_bridge.suites import Suite, find_suite
from vm_bridge.suites.table_suite import TableSuite

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
    """One desktop, shared by all its leases. The current guest is the one attached last."""

    def __init__(self, suites: Mapping[str, Suite], folder: Path | None = None) -> None:
        """`folder`, if given, holds the state that a later process needs to resume."""
        self.capabilities = Capabilities(kinds=ACTION_KINDS, width=0, height=0, streams=())
        self.able = DESKTOP_CAPABILITIES
        self.frames = DesktopFrames()
        self.pictures = ScreenshotStore(None if folder is None else folder / "pictures")
        self.file_staging = FileStaging()
        self.image_tools: ToolCatalog | None = None
        """The tools of the image's own MCP servers, if a host shares them between machines of an image."""
        self._warm_up: asyncio.Task[None] | None = None
        """Starts the MCP servers of the current guest, once."""
        self.suites = suites
        self.task: Task | None = None
        self.fence = 1
        """The lowest fencing token that may still act."""
        self._used = 0
        self._link: GuestLink | None = None
        self.command_log = CommandLog(None if folder is None else folder / "acts.jsonl")
        self.history = ActionHistory()
        self._rested = False
        """Whether the last observation found the screen at rest."""
        self.one_at_a_time = asyncio.Lock()

    def attach(
        self, link: GuestLink, screen: GuestScreen | None, fence: int, able: GuestCapabilities | None = None
    ) -> None:
        """Drive this guest from now on. It has seen no higher fencing token.

        `able` is what it can do; by default that of a desktop, or of a guest without a screen if `screen` is None.
        """
        self._link = link
        if self._warm_up is not None:
            self._warm_up.cancel()
            self._warm_up = None
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
        """Invalidate all leases used so far."""
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
            seen = await self._look(fence, settle=settle)
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
        expected: BlobRef | None = None,
        wait_for_timers: bool = True,
        save_state: Callable[[], Awaitable[MachineSnapshot]] | None = None,
    ) -> Transition:
        """See `Machine.perform`. `save_state` takes the snapshot before the action on machines that keep whole states.
        Elsewhere the snapshot is built from the guest's reply to the action.
        """
        if fence < self.fence:
            raise StaleLease(f"fencing token {fence} is behind {self.fence}")
        self._check(action)

        async def act() -> Transition:
            saved = None
            with suppress(BridgeError):  # a failed snapshot does not stop the action
                if save_state is not None:
                    saved = await save_state()
                elif snapshot and not self._rested:
                    await self.observe(fence, settle=True)
            wanted = snapshot and save_state is None
            options = {"settle": settle, "wait_for_timers": wait_for_timers}
            done = await self._act(fence, action, snapshot=wanted, expected=expected, **options)
            return done if saved is None else done.model_copy(update={"snapshot": saved})

        return await self.command_log.once(command_id, action, settle=settle, act=act)

    async def snapshot(self, fence: int) -> MachineSnapshot:
        """See `Machine.snapshot`. It may be taken before every action, so a screen at rest does not settle again."""
        return self.history.snapshot(await self.fingerprint(fence))

    async def fingerprint(self, fence: int, *, digest: bool = True) -> StateFingerprint:
        """The fingerprint of the current state. With `digest` it covers the files too."""
        seen = await self.observe(fence, settle=not self._rested)
        return StateFingerprint(self._picture(seen), await self.environment(fence).digest() if digest else None)

    async def set_up(self, fence: int, task: Task) -> Observation:
        """Turn a fresh desktop into a task's start state, and observe it."""
        self.restored(task)
        servers, suite = parse_mcp_servers(task), find_suite(self.suites, task)
        if servers:
            await self.inside(fence).configure(servers)
        elif self.image_tools is not None:
            await self.image_tools.fill(self.link, fence)
        if suite is not None:
            await suite.prepare(task, self.environment(fence))
            if self.able is SCREENLESS_CAPABILITIES and not isinstance(suite, TableSuite):
                await self._replace_shell(fence)
        return await self.observe(fence, settle=True)

    def _picture(self, seen: Observation) -> bytes | None:
        return None if seen.screenshot is None else self.pictures.read_blob(seen.screenshot)

    async def skip_settle(self, fence: int) -> None:
        """See `Machine.skip_settle`."""
        await self.link.call("hurry", EmptyReply, timeout=MAX_ACTION_SECONDS, fence=fence)
        self._check_fence(fence)

    def environment(self, fence: int) -> GuestEnvironment:
        """The inside, for a suite."""
        return GuestEnvironment(self.link, fence)

    def inside(self, fence: int) -> GuestIO:
        """The inside, for one lease."""
        return GuestIO(self.link, fence)

    async def tools(self, fence: int) -> tuple[Tool, ...]:
        """Tools that can be called by name. A task's servers are queried each time, because tasks may change them."""
        catalog = None if parse_mcp_servers(self.task) else self.image_tools
        if catalog is None or not catalog.tools:
            return (await self.inside(fence).list_tools()).tools
        if fence < self.fence:
            raise StaleLease(f"fencing token {fence} is behind {self.fence}")
        if self.link.gone:
            raise MachineGone("the machine has ended")
        if self._warm_up is None:
            self._warm_up = asyncio.create_task(catalog.start_servers(self.link, fence))
        return catalog.tools

    async def _replace_shell(self, fence: int) -> None:
        """Close the terminal opened before the task: its shell has not read what the task wrote for it."""
        with suppress(InvalidAction):  # there is none
            await self.inside(fence).call("terminals.close", EmptyReply, told={"session": "main"})

    def read_blob(self, ref: BlobRef) -> bytes:
        """A picture, or an exported file. Raises UnknownBlob."""
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
            raise InvalidAction(f"({point.x}, {point.y}) is outside the screen")
        if any(not _is_valid_text(value) for _, value in action if isinstance(value, str)):
            raise InvalidAction("text holds a null character or half a surrogate pair")

    async def _look(self, fence: int, *, settle: bool) -> ObserveReply:
        timeout = MAX_SETTLE_SECONDS + MAX_ACTION_SECONDS
        seen = await self.link.call("observe", ObserveReply, timeout=timeout, fence=fence, settle=settle)
        self._check_fence(fence)
        return seen

    async def _act(
        self,
        fence: int,
        action: Action,
        *,
        settle: bool,
        snapshot: bool,
        expected: BlobRef | None,
        wait_for_timers: bool,
    ) -> Transition:
        async with self.one_at_a_time:
            started = datetime.now(UTC)
            await self._upload_file(fence, action)
            awaited = expected if settle and self.capabilities.width else None
            skip_settle = partial(self.skip_settle, fence)
            try:
                async with end_at(awaited, self.frames, self.pictures.encode, skip_settle) as shown:
                    options = {"settle": settle, "wait_for_timers": wait_for_timers}
                    done = await self._send_action(fence, action, digest=snapshot, **options)
            except OutcomeUnknown:
                self.history.mark_not_replayable()
                raise
            self._check_fence(fence)
            before = await self._observation(
                done.before, "skipped", 0.0, done.before_text, application=done.before_application
            )
            failed = None if done.error is None else done.error.code
            state = StateFingerprint(self._picture(before), done.digest)
            taken = self.history.snapshot(state) if done.digest is not None and self.history.replayable else None
            self.history.note(state, RecordedAction(action, settle, failed))
            brought = await self._store_attachment(fence, done.attachment)
            after = await self._observation(
                done.after, done.rest, done.settle_ms, done.text, brought, application=done.application
            )
            if awaited is not None and shown.is_set() and done.rest == "hurried":
                after = await self._after_early_end(fence, after, awaited)
            return Transition(
                before=before,
                after=after,
                error=done.error,
                started_at=started,
                ended_at=datetime.now(UTC),
                snapshot=taken,
                timer_pending=done.timer_pending,
            )

    async def _after_early_end(self, fence: int, after: Observation, expected: BlobRef) -> Observation:
        """The picture at which the screen rests after a settle that ended early at a picture, which may have gone
        meanwhile.
        """
        self._rested = after.screenshot is not None and after.screenshot.sha256 == expected.sha256
        if self._rested:
            return after.model_copy(update={"rest": "rested", "settled": True})
        seen = await self._look(fence, settle=True)
        took = after.settle_ms + seen.settle_ms
        return await self._observation(
            seen.after, seen.rest, took, after.text, after.attachment, application=seen.application
        )

    async def _upload_file(self, fence: int, action: Action) -> None:
        """Send the guest the file of an upload action. Raises InvalidAction if its bytes are not held."""
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

    async def _send_action(
        self, fence: int, action: Action, *, settle: bool, wait_for_timers: bool, digest: bool
    ) -> PerformReply:
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
                wait_for_timers=wait_for_timers,
                digest=digest,
            )
        except MachineGone as gone:
            raise OutcomeUnknown(f"whether the act happened is not known: {gone}") from gone

    def _check_fence(self, fence: int) -> None:
        """The guest accepted this token; a guest started after a reset must learn it too."""
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


def _is_valid_text(value: str) -> bool:
    """Whether a string can be written to a file, a path or a command line."""
    return "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value)
