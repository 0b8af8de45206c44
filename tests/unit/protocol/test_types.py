"""The shared types survive JSON, are frozen, and refuse what they do not know."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from pydantic import TypeAdapter, ValidationError

from protocol.actions.types import (
    ACTION_ADAPTER,
    ACTION_CLASSES,
    Action,
    Click,
    Drag,
    Gesture,
    MouseUp,
    Point,
    find_off_screen_point,
)
from protocol.base import FrozenModel
from protocol.blobs import BlobRef
from protocol.messages import events as messages_events
from protocol.messages.events import COMMAND_ADAPTER, EVENT_ADAPTER
from protocol.trajectory.observations import ActionError, BrowserPage, PageEvent, Transition, Verdict
from protocol.trajectory.proposals import Proposal, Reply
from protocol.trajectory.trajectories import Trajectory
from tests.fixtures import episodes
from tests.unit.protocol.examples import ACTIONS, POLICY, observation, proposal, spans, step, trajectory
from tests.unit.protocol.strategies import any_action

COMMANDS: tuple[Any, ...] = (
    messages_events.Act(command_id="command-1", action=Click(x=1, y=2), thought="t", proposal_id="p1"),
    messages_events.Accept(command_id="command-1", proposal_id="p1", base_version=3, thought=None),
    messages_events.Resample(command_id="command-1"),
    messages_events.ReviseMemory(command_id="command-1", through=5, text="The report is renamed."),
    messages_events.WriteThought(command_id="command-1", index=0, thought="I look."),
    messages_events.MarkProposal(command_id="command-1", proposal_id="p1", mark=None),
    messages_events.FinishEpisode(command_id="command-1", outcome="infeasible", reason="no"),
    messages_events.LeaveEpisode(command_id="command-1", how="broken", reason="no"),
    messages_events.CallForHelp(command_id="command-1", message="help"),
    messages_events.Pause(command_id="command-1", on=True),
    messages_events.SetTimeScale(command_id="command-1", rate=1),
    messages_events.Autopilot(command_id="command-1", on=False),
    messages_events.ConfirmSecrets(command_id="command-1", proposal_id="p", allow=True),
    messages_events.Takeover(command_id="command-1", on=True),
    messages_events.TakeoverInput(command_id="command-1", inputs=(MouseUp(),)),
    messages_events.TakeControl(command_id="command-1"),
    messages_events.Undo(command_id="command-1"),
    messages_events.SkipSettle(command_id="command-1"),
    messages_events.ContinueText(request=1, thought="I op"),
    messages_events.Ping(at=1.5),
)

EVENTS: tuple[Any, ...] = (
    *(event for _, event in episodes.EVENTS.values()),
    messages_events.Snapshot(state=episodes.DECIDING, control="mine"),
    messages_events.ProposalsThinking(thinking="streaming", partials=(messages_events.Partial(index=0, text="Thou"),)),
    messages_events.MemoriesNoting(noting="failed", message="No answer."),
    messages_events.StorageChanged(full=True),
    messages_events.TextContinued(request=1, text="en it."),
    messages_events.ControlChanged(control="other", holder="Ada"),
    messages_events.Acknowledged(command_id="command-1"),
    messages_events.Rejected(command_id=None, code="invalid", message="What?"),
    messages_events.Pong(at=1.5, version=3),
)

VALUES: tuple[FrozenModel, ...] = (
    trajectory(*ACTIONS, proposals=((proposal(1, Click(x=1, y=2)), proposal(2, None)), *[()] * (len(ACTIONS) - 1))),
    episodes.ACTING,
    Transition(
        before=observation(),
        after=observation("second"),
        error=ActionError(code="failed", message="It broke."),
        started_at=datetime.now(UTC),
        ended_at=datetime.now(UTC),
    ),
    Verdict(success=None, score=0),
    POLICY,
    BlobRef.of(b"bytes", "image/png"),
)


@given(any_action())
def test_any_action_survives_json(action: Action) -> None:
    assert ACTION_ADAPTER.validate_json(ACTION_ADAPTER.dump_json(action)) == action


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.type)
def test_every_command_survives_json(command: Any) -> None:
    assert COMMAND_ADAPTER.validate_json(COMMAND_ADAPTER.dump_json(command)) == command


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.type)
def test_every_event_survives_json(event: Any) -> None:
    assert EVENT_ADAPTER.validate_json(EVENT_ADAPTER.dump_json(event)) == event


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_every_other_value_survives_json(value: FrozenModel) -> None:
    assert type(value).model_validate_json(value.model_dump_json()) == value


@pytest.mark.parametrize(
    ("union", "values"), [(COMMAND_ADAPTER, COMMANDS), (EVENT_ADAPTER, EVENTS)], ids=["commands", "events"]
)
def test_no_message_is_forgotten_here(union: TypeAdapter[Any], values: tuple[Any, ...]) -> None:
    kinds = set(union.json_schema(mode="serialization")["discriminator"]["mapping"])
    assert {value.type for value in values} == kinds


def test_no_action_is_forgotten_here() -> None:
    assert {action.kind for action in ACTIONS} == set(ACTION_CLASSES)


def test_values_are_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Click(x=1, y=2).x = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "click", "x": 1, "y": 2, "button": "left"},
        {"kind": "teleport", "x": 1, "y": 2},
        {"kind": "click", "x": 1},
        {"kind": "click", "x": -1, "y": 2},
        {"kind": "click", "x": 1.5, "y": 2},
        {"kind": "scroll", "direction": "down", "amount": 0},
        {"kind": "wait", "seconds": "NaN"},
        {"kind": "press_keys", "keys": []},
        {"kind": "press_keys", "keys": ["hyper"]},
        {"kind": "gesture", "inputs": []},
        {"kind": "call_tool", "name": "a", "arguments": {"text": "x" * 200_000}},
        {"kind": "type_terminal", "session": "../x", "text": ""},
        {"kind": "upload_file", "path": "a", "blob": {"sha256": "0" * 64, "media_type": "a/b", "size": 2**25 + 1}},
        {"kind": "type_text", "text": "x" * 20_001},
        {"x": 1, "y": 2},
        [],
        None,
    ],
)
def test_what_is_no_action_is_refused(document: Any) -> None:
    with pytest.raises(ValidationError):
        ACTION_ADAPTER.validate_python(document)


@pytest.mark.parametrize("command_id", ["short", "x" * 65, "has space", "semi;colon", "../../etc"])
def test_a_command_needs_a_plain_name(command_id: str) -> None:
    with pytest.raises(ValidationError):
        COMMAND_ADAPTER.validate_python({"type": "undo", "command_id": command_id})


@pytest.mark.parametrize(
    ("action", "point"),
    [
        (Click(x=1279, y=719), None),
        (Click(x=1280, y=0), Point(x=1280, y=0)),
        (Click(x=0, y=720), Point(x=0, y=720)),
        (Drag(start=Point(x=1, y=1), end=Point(x=5000, y=1)), Point(x=5000, y=1)),
        (MouseUp(), None),
    ],
)
def test_points_off_the_screen_are_found(action: Action, point: Point | None) -> None:
    assert find_off_screen_point(action, 1280, 720) == point


def test_points_inside_a_gesture_are_found() -> None:
    gesture = next(action for action in ACTIONS if isinstance(action, Gesture))
    assert find_off_screen_point(gesture, 1280, 720) is None
    assert find_off_screen_point(gesture, 40, 720) == Point(x=50, y=60)


def test_a_trajectory_of_another_format_is_refused() -> None:
    document = trajectory().model_dump() | {"format": "pilothouse-trajectory-2"}
    with pytest.raises(ValidationError, match="format"):
        Trajectory.model_validate(document)


def test_an_exported_step_keeps_its_time_zone() -> None:
    assert step(0, Click(x=1, y=2)).started_at.tzinfo is not None


def test_proposals_of_earlier_times_named_their_weights_only() -> None:
    line = json.loads(proposal(1, Click(x=1, y=2)).model_dump_json())
    for names in (["v1"], ["v1", "v2"]):
        restored = Proposal.model_validate_json(json.dumps({**line, "weight_versions": names}))
        assert restored.weight_versions == spans(**dict.fromkeys(names))
        assert Proposal.model_validate_json(restored.model_dump_json()) == restored


def test_weights_drew_the_tokens_that_there_are() -> None:
    fields = {"completion_token_ids": (1, 2, 3), "weight_versions": spans(v1=1, v2=2)}
    assert [span.tokens for span in proposal(1, None, **fields).weight_versions] == [1, 2]
    with pytest.raises(ValidationError, match="tell of 3 tokens, and there are 2"):
        proposal(1, None, **{**fields, "completion_token_ids": (1, 2)})
    with pytest.raises(ValidationError, match="tell of 3 tokens, and there are 1"):
        Reply(token_ids=(1,), weight_versions=spans(v1=3))


def test_a_fresh_screen_does_not_tell_that_its_page_was_opened() -> None:
    events = (PageEvent(kind="navigated", text="http://tasks/click-test"), PageEvent(kind="dialog", text="Hello"))
    page = BrowserPage(title="", clock="exact", seed=0, time_ms=0, events=events)
    seen = observation().model_copy(update={"page": page})
    fresh = seen.without_navigation()
    assert fresh.page is not None
    assert fresh.page.events == events[1:]
    assert fresh.model_copy(update={"page": page}) == seen
    assert observation().without_navigation() == observation()
