"""The one contract every machine keeps, wherever it lives and whatever it can do."""

from datetime import datetime
from typing import Annotated, Protocol

from pydantic import Field

from protocol.actions.tools import Tool
from protocol.actions.types import Action, CallTool, Gesture, RunCode, RunCommand, TypeText, Wait
from protocol.base import FrozenModel
from protocol.blobs import BlobRef
from protocol.trajectory.observations import MachineSnapshot, Observation, Transition, Verdict
from protocol.trajectory.tasks import Task
from vm_bridge.machine_io import Files, ScreenTexts, Terminals

MAX_ACTION_SECONDS = 60.0
"""Longest an act may take beyond the time it needs by itself."""
RESTORE_SECONDS = 60.0
"""Longest that doing again what led to an earlier state may take. After it the machine is as it was."""
STATE_SECONDS, REACH_SECONDS = 300.0, 60.0
"""Longest that a virtual machine may take to load a saved state, and to answer then. After it the machine is lost."""
MAX_TOOL_SECONDS = 30.0
"""Longest a tool may take, once its server runs."""
MAX_CHARACTER_SECONDS = 0.03
"""Longest a typed character may take; one the keyboard lacks took 0.014 on two busy cores."""


class WebProgram(FrozenModel):
    """A web program inside a machine, started with the first connection to its port."""

    name: str
    title: str
    """For people."""
    port: Annotated[int, Field(ge=1, le=65_535)]
    path: str = ""
    """Where its first page is, below the port's own path."""
    whole: bool = False
    """Whether it must be asked with the whole path that browsers use, because it writes that path into its pages."""


class Capabilities(FrozenModel):
    """What a machine can do, as data: the interface greys out the rest, the dialect omits it."""

    kinds: tuple[str, ...]
    """Action kinds `perform` accepts."""
    width: int = Field(ge=0)
    height: int = Field(ge=0)
    streams: tuple[str, ...] = ("webrtc", "vnc", "stills")
    snapshots: bool = False
    """Whether it can go back to an earlier state (undo)."""
    services: tuple[WebProgram, ...] = ()
    """Web programs it has, beside whatever else listens inside."""
    unbounded: tuple[str, ...] = ()
    """What of the host it may take without a bound, because the host has no right to set one: cpu, memory, pids;
    `walls` where a browser has none around it."""
    apps: tuple[str, ...] = ()
    """Names that `open_app` is known to take; it may take others."""


class ExpertSuggestion(FrozenModel):
    """What a suite's scripted expert would do now, and why."""

    thought: str
    action: Action


class Lease(FrozenModel):
    """The right to drive one machine until `expires_at`; a higher `fencing_token` ends a lower one."""

    machine_id: str
    fencing_token: int = Field(ge=1)
    holder: str
    image: str
    host_url: str
    """Where the machine's calls go."""
    host: str = ""
    """The id of the bridge host that has it."""
    expires_at: datetime
    capabilities: Capabilities


class Machine(Protocol):
    """A leased view of one sandbox: every call carries its fencing token down to the guest.

    Errors: any `BridgeError`. A failed act inside the machine is no exception but `Transition.error`.
    """

    @property
    def capabilities(self) -> Capabilities:
        """What this machine can do."""
        ...

    async def prepare(self, task: Task) -> Observation:
        """Reset, set up the task's start state, and look."""
        ...

    async def observe(self, *, settle: bool = False) -> Observation:
        """Look; with `settle` wait for rest first (bounded)."""
        ...

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
        """Do one action once and wait until the screen rests (bounded).

        With `snapshot` the transition names the state before the act, where the machine can go back to it; an act
        waits for no snapshot that fails. `expected` is a picture that the act is likely to lead to, as another machine
        showed it at rest: the wait may end as soon as the screen shows it, unless it showed it before the act.
        Without `wait_for_timers` a screen also rests where only a program's own timer may still change it; the
        transition is `timer_pending` then, and `observe(settle=True)` goes on with the wait. An act ends that wait.

        Idempotent at the side effect: a resend of `command_id` with the same action gives the stored
        transition, with another action raises CommandConflict; after a crash in between raises OutcomeUnknown.
        """
        ...

    async def snapshot(self) -> MachineSnapshot:
        """Note the present state. Raises UnsupportedAction where `capabilities.snapshots` is false."""
        ...

    async def restore(self, snapshot: MachineSnapshot) -> Observation:
        """Go back to a state and look. Raises CannotRestore, and then nothing has changed; UnsupportedAction."""
        ...

    async def skip_settle(self) -> None:
        """Cut a running settle short; nothing happens when none runs."""
        ...

    async def evaluate(self, *, answer: str = "") -> Verdict:
        """Judge the present state, and the answer given with it, by the prepared task's verifier."""
        ...

    async def suggest_expert_action(self) -> ExpertSuggestion | None:
        """What the prepared task's scripted expert would do now; None where there is none, or it knows no way on."""
        ...

    async def set_time_scale(self, rate: float) -> None:
        """Let the machine's own time go `rate` times as fast as everybody's between two acts; 0 stands still.

        Raises UnsupportedAction where its time is everybody's.
        """
        ...

    async def blob(self, ref: BlobRef) -> bytes:
        """The bytes behind a reference in an observation of the last few calls."""
        ...

    @property
    def files(self) -> Files:
        """Its files, for programs; raises UnsupportedAction where it has none to offer."""
        ...

    @property
    def terminals(self) -> Terminals:
        """Its interactive terminals, for programs; raises UnsupportedAction where it has none."""
        ...

    async def screen_texts(self) -> ScreenTexts:
        """Titles of windows and words on the screen; empty where the machine knows none. Changes nothing."""
        ...

    async def tools(self) -> tuple[Tool, ...]:
        """What `call_tool` may name: the tools of the prepared task's and the image's MCP servers."""
        ...

    async def stage_upload(self, data: bytes, media_type: str) -> BlobRef:
        """Hand over bytes for an `upload_file` soon to come. Raises InvalidAction when they are too many."""
        ...

    async def close(self) -> None:
        """Let go of this view; the lease is released by its holder, not here."""
        ...


def action_timeout(action: Action) -> float:
    """Maximum duration of an action (seconds). Callers of `Machine.perform` must wait longer."""
    match action:
        case Wait():
            return MAX_ACTION_SECONDS + action.seconds
        case RunCommand() | RunCode():
            return MAX_ACTION_SECONDS + action.timeout
        case CallTool():
            return MAX_ACTION_SECONDS + MAX_TOOL_SECONDS
        case TypeText():
            return MAX_ACTION_SECONDS + MAX_CHARACTER_SECONDS * len(action.text)
        case Gesture():
            return MAX_ACTION_SECONDS + action.inputs[-1].at_ms / 1000
        case _:
            return MAX_ACTION_SECONDS
