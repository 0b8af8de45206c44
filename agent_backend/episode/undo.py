"""Undoes steps, and tracks whether the last one can be undone."""

import contextlib

from agent_backend.episode.commands import NOT_REMEMBERED
from agent_backend.episode.machine_session import REJECTIONS, MachineSession, PictureCache
from agent_backend.episode.settling import SettleControl
from agent_backend.episode.state import EpisodeStateTracker
from agent_backend.errors import CommandRejected
from agent_backend.interfaces import EpisodeStore, Intent
from protocol.actions.types import CONTROL_KINDS
from protocol.trajectory.observations import Observation
from protocol.trajectory.steps import Step, drop_undone_steps
from vm_bridge.errors import BridgeError, BridgeUnavailable, CannotRestore

WITHOUT_EFFECT = CONTROL_KINDS | {"no_action"}
"""Kinds of steps in which the machine did nothing."""
REJECTION_CODES = frozenset(error.code for error in REJECTIONS)


class UndoControl:
    """Undoes steps, and keeps `undo_blocked` of the state up to date."""

    def __init__(
        self, record: EpisodeStateTracker, store: EpisodeStore, pictures: PictureCache, settles: SettleControl
    ) -> None:
        self._record = record
        self._store = store
        self._pictures = pictures
        self._settles = settles

    async def note_step(self, step: Step, done: Intent | None, session: MachineSession | None) -> None:
        """Update whether a step that was just stored can be undone.

        Args:
            step: The step.
            done: Its intent with the snapshot from before it; None if there is none.
            session: The machine; None if there is none yet.
        """
        can_go_back = session is not None and session.can_restore
        await self._set_blocked(can_go_back and done is None and had_effect(step))

    async def refresh(self, session: MachineSession) -> None:
        """Update whether the last step can be undone: a crash may have prevented `note_step`."""
        await self._set_blocked(session.can_restore and not await self._can_take_back_last())

    async def take_back(self, step: Step, session: MachineSession) -> None:
        """Undo the last step. Raises CommandRejected if the machine cannot; then nothing was changed."""
        last = self._record.last_observation
        observation = await self._restore_before(step, session) if had_effect(step) else last
        await self._pictures.save(observation)
        await self._record.write(self._store.undo_step(step.index, observation))
        if self._record.state.autopilot:
            await self._record.change(autopilot=False)
        await self._set_blocked(not await self._can_take_back_last())

    async def _can_take_back_last(self) -> bool:
        past = drop_undone_steps(self._record.state.steps)
        if not past or not had_effect(past[-1]):
            return True
        intent = await self._store.past_intent(past[-1].command_id)
        return intent is not None and intent.snapshot is not None

    async def _set_blocked(self, blocked: bool) -> None:
        if blocked != self._record.state.undo_blocked:
            await self._record.change(undo_blocked=blocked)

    async def _restore_before(self, step: Step, session: MachineSession) -> Observation:
        intent = await self._store.past_intent(step.command_id)
        if intent is None or intent.snapshot is None:
            raise CommandRejected("cannot_undo", NOT_REMEMBERED)
        waited = await self._settles.end(session)
        try:
            return await session.restore(intent.snapshot)
        except BridgeError as error:
            if waited:
                self._settles.go_on(session)
            if not isinstance(error, CannotRestore):
                await self._refresh_observation(session)
            code = "undo_unanswered" if isinstance(error, BridgeUnavailable) else error.code
            raise CommandRejected(code, str(error)) from error

    async def _refresh_observation(self, session: MachineSession) -> None:
        """Stop the autopilot and take the current screen as the one to act on: the machine may have gone back although
        its answer was lost. The step counts until the undo is retried, which leads to the same state."""
        if self._record.state.autopilot:
            await self._record.change(autopilot=False)
        with contextlib.suppress(BridgeError):
            observation = await session.observe_settled()
            if shows_another_state(observation, self._record.last_observation):
                await self._pictures.save(observation)
                await self._record.write(self._store.withdraw_proposals("screen_changed", observation))


def shows_another_state(observation: Observation, earlier: Observation) -> bool:
    """Whether an observation differs from an earlier one in picture, text or page."""
    now, before = ((one.screenshot, one.text, one.page) for one in (observation, earlier))
    return now != before


def had_effect(step: Step) -> bool:
    """Whether a step may have changed the machine. An action that the machine rejected did not, and has no snapshot."""
    is_rejected = step.error is not None and step.error.code in REJECTION_CODES and step.after == step.before
    return step.action.kind not in WITHOUT_EFFECT and not is_rejected
