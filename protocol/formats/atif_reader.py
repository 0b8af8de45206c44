"""ATIF read: our own rows with all they say in `extra`, and anybody else's with what every row says.

A call of a function that is no act of ours stays what it is, a tool's. Words without a call belong to the thought of
the next act; at the end they are the answer. Who decided is told by `extra`; else the policy did, by itself.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Literal, TypeVar, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from protocol.actions.types import ACTION_ADAPTER, Action, CallTool, Finish
from protocol.base import FrozenModel
from protocol.formats.records import RowError
from protocol.formats.row_readers import (
    RowReader,
    SourceImage,
    SourceRow,
    error_context,
    imported_observation,
    validate_as,
    validate_trajectory,
    with_time_zone,
)
from protocol.trajectory.observations import ActionError, Observation, Verdict
from protocol.trajectory.proposals import PolicyRef, Proposal
from protocol.trajectory.steps import BatchPosition, Decision, Step, step_policies
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Origin, Outcome, Trajectory

KnownModel = TypeVar("KnownModel", bound=FrozenModel)


class _Batch(FrozenModel):
    """A step's place among the actions of one reply, as `protocol.formats.records.batch_fields` writes it."""

    batch: BatchPosition
    not_done: tuple[Action, ...] = ()


class _Row(BaseModel):
    """A part of a row; what we do not read may be there."""

    model_config = ConfigDict(frozen=True, extra="ignore", protected_namespaces=())


class _Picture(_Row):
    path: str


class _Part(_Row):
    type: str
    text: str | None = None
    source: _Picture | None = None


_Content = str | tuple[_Part, ...] | None


class _Call(_Row):
    tool_call_id: str
    function_name: str = Field(min_length=1)
    arguments: dict[str, Any] = {}


class _Result(_Row):
    source_call_id: str | None = None
    content: _Content = None


class _Observation(_Row):
    results: tuple[_Result, ...] = ()


class _Metrics(_Row):
    prompt_token_ids: tuple[int, ...] | None = None
    completion_token_ids: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None


class _Step(_Row):
    timestamp: datetime | None = None
    source: Literal["system", "user", "agent"]
    model_name: str | None = None
    message: _Content = ""
    reasoning_content: str | None = None
    tool_calls: tuple[_Call, ...] | None = None
    observation: _Observation | None = None
    metrics: _Metrics | None = None
    is_copied_context: bool | None = None
    extra: dict[str, Any] | None = None


class _Agent(_Row):
    name: str
    model_name: str | None = None


class _Trajectory(_Row):
    session_id: str | None = None
    trajectory_id: str | None = None
    agent: _Agent
    steps: tuple[_Step, ...] = Field(min_length=1)
    extra: dict[str, Any] | None = None


class _RowParser:
    """One row, step after step."""

    def __init__(self, source_row: SourceRow) -> None:
        self._find, self._key = source_row.find, source_row.key
        self.row = validate_as(_Trajectory, source_row.row)
        self.moment = with_time_zone(self.row.steps[0].timestamp, source_row.moment)
        self.instructions: list[str] = []
        self.steps: list[Step] = []
        self.proposal_rows: list[tuple[Proposal, ...]] = []
        self._pending_text: list[str] = []
        self._screenshot: SourceImage | None = None
        self._pending_output = ""
        """What stood in the last observation, or what the user said since."""
        last = 0
        for place, each in enumerate(self.row.steps):
            if not each.is_copied_context:
                with error_context(f"steps.{place}"):
                    self._read_step(each)
                last = place if each.source == "agent" else last
        with error_context(f"steps.{last}"):
            self._finish()

    def _finish(self) -> None:
        """Words after the last act are the answer."""
        if self._pending_text:
            self._add_step(self._last, Finish(answer="\n\n".join(self._pending_text)), self._key, "", None)

    def _read_step(self, each: _Step) -> None:
        self.moment = with_time_zone(each.timestamp, self.moment)
        text, picture = self._text_and_picture(each.message)
        if each.source == "user":
            if self.steps or self._pending_text:
                self._pending_output = "\n\n".join(filter(None, (self._pending_output, text)))
            else:
                self.instructions += [text] if text else []
            self._screenshot = picture or self._screenshot
        elif each.source == "agent":
            self._last = each
            thought = "\n\n".join(filter(None, (*self._pending_text, each.reasoning_content, text)))
            if not each.tool_calls:
                self._pending_text = [thought] if thought else []
                return
            self._pending_text = []
            for place, call in enumerate(each.tool_calls):
                self._add_step(each, _action(call), call.tool_call_id, "" if place else thought, call)

    def _add_step(self, each: _Step, action: Action, command: str, thought: str, call: _Call | None) -> None:
        extra = each.extra or {}
        before = self._before(extra)
        after, error = self._after(each, call, extra)
        policy = _policy(each.model_name or self.row.agent.model_name, extra)
        proposal_rows = _parse_proposals(each, extra, self.moment)
        decision, human = _decision_and_actor(extra)
        known = _parse_known(_Batch, {name: extra[name] for name in ("batch", "not_done") if name in extra} or None)
        self.steps.append(
            Step(
                index=len(self.steps),
                command_id=command,
                actor="human" if human else "policy",
                decision=decision,
                acted_by=_text(extra.get("acted_by")),
                proposal_id=extra.get("proposal_id")
                if known or any(one.id == extra.get("proposal_id") for one in proposal_rows)
                else None,
                acceptable_ids=_string_items(extra.get("acceptable_ids")),
                wrong_ids=_string_items(extra.get("wrong_ids")),
                thought=thought,
                continued_characters=_count(extra.get("continued_characters"), most=len(thought)),
                action=action,
                before=before,
                after=after,
                error=error,
                policy=next(
                    (one.policy for one in proposal_rows if policy and one.policy.label == policy.label), policy
                ),
                started_at=self.moment,
                ended_at=self.moment,
                batch=known and known.batch,
                not_done=known.not_done if known else (),
            )
        )
        self.proposal_rows.append(proposal_rows)

    def _before(self, extra: Mapping[str, Any]) -> Observation:
        sha256 = extra.get("before")
        if isinstance(sha256, str) and (self._screenshot is None or self._screenshot.image.sha256 != sha256):
            self._screenshot = self._find(sha256)
        return imported_observation(self._screenshot, self.moment, self._pending_output)

    def _after(
        self, each: _Step, call: _Call | None, extra: Mapping[str, Any]
    ) -> tuple[Observation | None, ActionError | None]:
        """What the act brought, and how it failed; a step with one act need not say whose the result is."""
        results = each.observation.results if each.observation and call else ()
        alone = len(each.tool_calls or ()) == 1
        own = [one for one in results if call and (one.source_call_id == call.tool_call_id or alone)]
        error = _parse_known(ActionError, extra.get("error"))
        if not own:
            self._pending_output = ""
            return None, error
        contents = [self._text_and_picture(one.content) for one in own]
        texts = [text for text, _ in contents if text]
        if error and texts and texts[-1].endswith(f"{error.code}: {error.message}"):
            texts[-1] = texts[-1].removesuffix(f"{error.code}: {error.message}").rstrip("\n")
        picture = next((one for _, one in reversed(contents) if one), None)
        self._screenshot, self._pending_output = picture or self._screenshot, "\n".join(filter(None, texts))
        return imported_observation(picture, self.moment, self._pending_output), error

    def _text_and_picture(self, content: _Content) -> tuple[str, SourceImage | None]:
        """The words and the last picture of a message."""
        if content is None or isinstance(content, str):
            return content or "", None
        paths = [part.source.path for part in content if part.type == "image" and part.source]
        return "\n".join(part.text for part in content if part.text), self._find(paths[-1]) if paths else None


def read(source_row: SourceRow) -> Trajectory:
    """Raises RowError."""
    reading = _RowParser(source_row)
    row, steps, extra = reading.row, tuple(reading.steps), reading.row.extra or {}
    key = row.trajectory_id or row.session_id or source_row.key
    pictured = any(step.before.screenshot for step in steps)
    instruction = "\n\n".join(reading.instructions) or next(iter(reading.instructions), "")
    task = _parse_known(Task, extra.get("task")) or validate_as(
        Task,
        {
            "id": key[:200],
            "instruction": instruction[:8_000] or "(no instruction)",
            "platform": "desktop" if pictured else "terminal",
            "max_steps": min(max(len(steps), 1), 1_000),
        },
    )
    annotator = extra.get("annotator")
    answer = extra.get("answer")
    ended = steps[-1].action if steps else None
    return validate_trajectory(
        Trajectory(
            id=key,
            task=task,
            origin=cast(Origin, _allowed_or(get_args(Origin), extra.get("origin"), "rollout")),
            annotator=annotator if isinstance(annotator, str) else None,
            steps=steps,
            proposals=tuple(reading.proposal_rows) if any(reading.proposal_rows) else (),
            policies=step_policies(steps),
            outcome=cast(Outcome | None, _allowed_or(get_args(Outcome), extra.get("outcome"), None)),
            answer=answer if isinstance(answer, str) else ended.answer if isinstance(ended, Finish) else "",
            verdict=_parse_known(Verdict, extra.get("verdict")),
            terminated=extra.get("terminated") is not False,
            truncated=extra.get("truncated") is True,
            created_at=with_time_zone(row.steps[0].timestamp, source_row.moment),
            finished_at=reading.moment,
        )
    )


def _action(call: _Call) -> Action:
    """Our own act of this name and shape, else a call of that tool. Raises RowError."""
    try:
        return ACTION_ADAPTER.validate_python({**call.arguments, "kind": call.function_name})
    except ValidationError:
        return validate_as(CallTool, {"name": call.function_name, "arguments": call.arguments})


def _decision_and_actor(extra: Mapping[str, Any]) -> tuple[Decision, bool]:
    """How it was decided, and whether by a person."""
    decision = _allowed_or(get_args(Decision), extra.get("decision"), "auto")
    return cast(Decision, decision), extra.get("actor") == "human"


def _policy(model: str | None, extra: Mapping[str, Any]) -> PolicyRef | None:
    """Whose model it was; a name with a stroke is ours, with its revision."""
    if not model:
        return None
    name, stroke, revision = model.rpartition("/")
    return PolicyRef(name=name if stroke else model, revision=revision if stroke else "", dialect="")


def _parse_proposals(each: _Step, extra: Mapping[str, Any], moment: datetime) -> tuple[Proposal, ...]:
    """What was offered, with the tokens of the one that was taken."""
    candidates = extra.get("candidates")
    return tuple(
        _candidates(candidates if isinstance(candidates, list) else [], each, extra.get("proposal_id"), moment)
    )


def _candidates(candidates: list[Any], each: _Step, accepted_id: object, moment: datetime) -> Iterator[Proposal]:
    defaults = {"action_text": "", "latency_ms": 0, "created_at": moment}
    for one in candidates:
        if not isinstance(one, dict):
            raise RowError("bad_row", "A candidate is no object.")
        tokens = each.metrics.model_dump() if each.metrics and one.get("id") == accepted_id else {}
        yield validate_as(Proposal, {**defaults, **one, **tokens})


def _parse_known(model: type[KnownModel], value: Any) -> KnownModel | None:
    """One of our values; None if the row has none, or another program's of this name."""
    if value is None:
        return None
    try:
        return model.model_validate(value)
    except ValidationError:
        return None


def _allowed_or(allowed: tuple[str, ...], value: Any, otherwise: str | None) -> str | None:
    return value if value in allowed else otherwise


def _count(value: object, *, most: int) -> int:
    """A stored number of characters; 0 where it is none."""
    return min(value, most) if isinstance(value, int) and value > 0 else 0


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _string_items(value: Any) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


READER = RowReader("atif", lambda row: str(row.get("schema_version", "")).startswith("ATIF"), read)
