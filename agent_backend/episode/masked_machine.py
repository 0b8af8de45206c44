"""A machine that replaces the values of secrets in its answers with their names."""

from collections.abc import Callable, Mapping

from protocol.actions.tools import Tool
from protocol.actions.types import Action
from protocol.blobs import BlobRef
from protocol.trajectory.observations import MachineSnapshot, Observation, Transition, Verdict
from protocol.trajectory.secret_masks import mask_error, mask_secrets, mask_text
from protocol.trajectory.tasks import Task
from vm_bridge.machine import Capabilities, ExpertSuggestion, Machine
from vm_bridge.machine_io import Files, ScreenTexts, Terminals


class MaskedMachine:
    """Implements every method of `Machine`, so that no new method passes text on unmasked by default.

    Pictures, blobs, files and terminals are the machine's own.
    """

    def __init__(self, machine: Machine, values: Callable[[], Mapping[str, str]]) -> None:
        """`values` returns the secrets' values by name."""
        self._machine = machine
        self._values = values

    @property
    def capabilities(self) -> Capabilities:
        return self._machine.capabilities

    async def prepare(self, task: Task) -> Observation:
        return mask_secrets(await self._machine.prepare(task), self._values())

    async def observe(self, *, settle: bool = False) -> Observation:
        return mask_secrets(await self._machine.observe(settle=settle), self._values())

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
        done = await self._machine.perform(
            command_id, action, settle=settle, snapshot=snapshot, expected=expected, wait_for_timers=wait_for_timers
        )
        values = self._values()
        observed = {name: mask_secrets(getattr(done, name), values) for name in ("before", "after")}
        return done.model_copy(update={**observed, "error": mask_error(done.error, values)})

    async def snapshot(self) -> MachineSnapshot:
        return await self._machine.snapshot()

    async def restore(self, snapshot: MachineSnapshot) -> Observation:
        return mask_secrets(await self._machine.restore(snapshot), self._values())

    async def skip_settle(self) -> None:
        await self._machine.skip_settle()

    async def evaluate(self, *, answer: str = "") -> Verdict:
        verdict = await self._machine.evaluate(answer=answer)
        return verdict.model_copy(update={"reason": mask_text(verdict.reason, self._values())})

    async def suggest_expert_action(self) -> ExpertSuggestion | None:
        return await self._machine.suggest_expert_action()

    async def set_time_scale(self, rate: float) -> None:
        await self._machine.set_time_scale(rate)

    async def blob(self, ref: BlobRef) -> bytes:
        return await self._machine.blob(ref)

    @property
    def files(self) -> Files:
        return self._machine.files

    @property
    def terminals(self) -> Terminals:
        return self._machine.terminals

    async def screen_texts(self) -> ScreenTexts:
        """None while there are secrets: a secret of several words cannot be found in single words."""
        return ScreenTexts() if self._values() else await self._machine.screen_texts()

    async def tools(self) -> tuple[Tool, ...]:
        return await self._machine.tools()

    async def stage_upload(self, data: bytes, media_type: str) -> BlobRef:
        return await self._machine.stage_upload(data, media_type)

    async def close(self) -> None:
        await self._machine.close()
