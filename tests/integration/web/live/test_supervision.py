"""A call for help reaches supervisors, who write notes and take control; so does a policy that asks for a person."""

from typing import Any
from uuid import uuid4

import pytest

from annotation_app.accounts.models import User
from annotation_app.accounts.selectors import pseudonym
from annotation_app.audit.models import AuditEntry
from annotation_app.episodes.models import Episode
from annotation_app.episodes.selectors.trajectories import episode_trajectory
from annotation_app.episodes.services.supervision import supervisor_note_add
from annotation_app.errors import ApplicationError
from annotation_app.live.store import run_in_db_thread
from annotation_app.notifications.selectors import notices_of
from annotation_app.reviews.services import review_claim
from tests.integration.web.conftest import EpisodeSocket, Stack
from tests.integration.web.live.test_control import ACT

HELP = {"type": "help", "message": "The file is empty."}
CALL_USER = {"type": "act", "thought": "A person must sign in.", "action": {"kind": "call_user"}}


async def kinds(user: User) -> list[tuple[str, str]]:
    found = await run_in_db_thread(notices_of, user=user)
    return [(notice.kind, notice.subject) for notice in found.items]


@pytest.mark.parametrize("command", [HELP, CALL_USER])
async def test_whoever_asks_for_help_the_supervisors_are_notified_once(stack: Stack, command: dict[str, Any]) -> None:
    desk = await stack.deciding()
    await desk.ask(**command, command_id=uuid4().hex)
    await desk.ask(**HELP, command_id=uuid4().hex)
    assert await kinds(stack.world.rosa) == [("help.requested", f"episode:{desk.episode_id}")]
    assert await kinds(stack.world.ada) == []


async def test_a_note_reaches_the_annotator(stack: Stack) -> None:
    desk = await stack.deciding()
    path = f"/api/episodes/{desk.episode_id}/notes"

    def exchange() -> Any:
        rosa, ada = stack.world.client(stack.world.rosa), stack.world.client(stack.world.ada)
        made = rosa.post(path, {"text": " Look in Downloads. "}, content_type="application/json").status_code
        refused = ada.post(path, {"text": "Mine"}, content_type="application/json").status_code
        empty = rosa.post(path, {"text": "  "}, content_type="application/json").status_code
        return made, refused, empty, ada.get(path).json()

    made, refused, empty, notes = await run_in_db_thread(exchange)
    assert (made, refused, empty) == (200, 403, 422)
    assert [(note["author"], note["text"], note["took_control"]) for note in notes] == [
        ("Rosa", "Look in Downloads.", False)
    ]
    assert await kinds(stack.world.ada) == [("help.note", f"episode:{desk.episode_id}")]


async def supervisor(stack: Stack, desk: EpisodeSocket) -> EpisodeSocket:
    """Rosa's socket at Ada's episode, with its snapshot heard."""
    socket = await stack.desk(await run_in_db_thread(Episode.objects.get, pk=desk.episode_id), stack.world.rosa)
    snapshot = await socket.until(type="snapshot")
    assert snapshot["acts_as"] == pseudonym(stack.world.rosa.pk)
    return socket


async def test_a_supervisor_takes_control_where_help_was_asked_for(stack: Stack) -> None:
    desk = await stack.deciding()
    rosa = await supervisor(stack, desk)
    assert (await rosa.ask(type="control", command_id=uuid4().hex))["code"] == "view_only", "nobody asked"
    await desk.ask(**HELP, command_id=uuid4().hex)
    assert (await rosa.ask(type="control", command_id=uuid4().hex))["type"] == "acknowledged"
    assert (await desk.until(type="control.changed", control="other"))["holder"] == "Rosa"
    assert (await rosa.ask(**ACT, command_id=uuid4().hex))["type"] == "acknowledged"
    step = (await desk.until(type="step.added"))["step"]
    name = pseudonym(stack.world.rosa.pk)
    assert (step["actor"], step["acted_by"]) == ("human", name), "a supervisor's act is not the annotator's"
    await desk.ask(type="control", command_id=uuid4().hex)
    late = {"type": "thought", "index": step["index"], "thought": "Mine", "command_id": uuid4().hex}
    assert (await desk.ask(**late))["code"] == "not_your_step"
    assert (await rosa.ask(**ACT, command_id=uuid4().hex))["code"] == "view_only"

    assert (await desk.ask(**ACT, command_id=uuid4().hex))["type"] == "acknowledged"
    await desk.until(type="step.added")

    def exported() -> tuple[list[str | None], list[tuple[str, bool, int]]]:
        attempt = episode_trajectory(episode_id=desk.episode_id)
        notes = [(note.author, note.took_control, note.step) for note in attempt.supervisor_notes]
        assert "Look in Downloads" not in attempt.model_dump_json(), "the text of a note stays in the platform"
        return [step.acted_by for step in attempt.steps], notes

    await run_in_db_thread(
        supervisor_note_add, user=stack.world.rosa, episode_id=desk.episode_id, text="Look in Downloads."
    )
    assert await run_in_db_thread(exported) == ([name, None], [(name, True, 0), (name, False, 2)])
    rosa_row = User.objects.filter(pk=stack.world.rosa.pk)
    await run_in_db_thread(rosa_row.update, work_removed=True)
    assert await run_in_db_thread(exported) == (["removed", None], [])

    def recorded() -> tuple[bool, str]:
        entries = AuditEntry.objects.filter(verb="episode.control_taken", actor=stack.world.rosa)
        Episode.objects.filter(pk=desk.episode_id).update(status="finished")
        with pytest.raises(ApplicationError) as refused:
            review_claim(user=stack.world.rosa, episode_id=desk.episode_id)
        return entries.exists(), refused.value.code

    assert await run_in_db_thread(recorded) == (True, "own_work"), "nobody reviews what they steered"
