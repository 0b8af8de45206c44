"""ATIF read: our own rows with all they say in `extra`, and anybody else's with what every row says.

A call of a function that is no act of ours stays what it is, a tool's. Words without a call belong to the thought of
the next act; at the end they are the answer. Who decided is told by `extra`; else the policy did, by itself.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Literal, TypeVar, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vocabulary.actions import ACTION, Action, CallTool, Finish
from vocabulary.base import Frozen
from vocabulary.formats.incoming import Incoming, Reader, Shown, aware, in_field, look_of, parsed, whole
from vocabulary.formats.record import RowRefused
from vocabulary.observations import ActionError, Observation, Verdict
from vocabulary.proposals import PolicyRef, Proposal
from vocabulary.steps import Decision, Step, policies_of
from vocabulary.tasks import Task
from vocabulary.trajectories import Origin, Outcome, Trajectory

Known = TypeVar("Known", bound=Frozen)


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


class _Observed(_Row):
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
    observation: _Observed | None = None
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


class _Reading:
    """One row, step after step."""

    def __init__(self, incoming: Incoming) -> None:
        self._find, self._key = incoming.find, incoming.key
        self.row = parsed(_Trajectory, incoming.row)
        self.moment = aware(self.row.steps[0].timestamp, incoming.moment)
        self.asked: list[str] = []
        self.steps: list[Step] = []
        self.offers: list[tuple[Proposal, ...]] = []
        self._said: list[str] = []
        self._seen: Shown | None = None
        self._heard = ""
        """What stood in the last observation, or what the user said since."""
        last = 0
        for place, each in enumerate(self.row.steps):
            if not each.is_copied_context:
                with in_field(f"steps.{place}"):
                    self._take(each)
                last = place if each.source == "agent" else last
        with in_field(f"steps.{last}"):
            self._end()

    def _end(self) -> None:
        """Words after the last act are the answer."""
        if self._said:
            self._act(self._last, Finish(answer="\n\n".join(self._said)), self._key, "", None)

    def _take(self, each: _Step) -> None:
        self.moment = aware(each.timestamp, self.moment)
        text, shown = self._told(each.message)
        if each.source == "user":
            if self.steps or self._said:
                self._heard = "\n\n".join(filter(None, (self._heard, text)))
            else:
                self.asked += [text] if text else []
            self._seen = shown or self._seen
        elif each.source == "agent":
            self._last = each
            thought = "\n\n".join(filter(None, (*self._said, each.reasoning_content, text)))
            if not each.tool_calls:
                self._said = [thought] if thought else []
                return
            self._said = []
            for place, call in enumerate(each.tool_calls):
                self._act(each, _action(call), call.tool_call_id, "" if place else thought, call)

    def _act(self, each: _Step, action: Action, command: str, thought: str, call: _Call | None) -> None:
        extra = each.extra or {}
        before = self._before(extra)
        after, error = self._after(each, call, extra)
        policy = _policy(each.model_name or self.row.agent.model_name, extra)
        offers = _offers(each, extra, self.moment)
        decision, human = _decided(extra)
        self.steps.append(
            Step(
                index=len(self.steps),
                command_id=command,
                actor="human" if human else "policy",
                decision=decision,
                proposal_id=extra.get("proposal_id")
                if any(one.id == extra.get("proposal_id") for one in offers)
                else None,
                acceptable_ids=_texts(extra.get("acceptable_ids")),
                wrong_ids=_texts(extra.get("wrong_ids")),
                thought=thought,
                action=action,
                before=before,
                after=after,
                error=error,
                policy=next((one.policy for one in offers if policy and one.policy.label == policy.label), policy),
                started_at=self.moment,
                ended_at=self.moment,
            )
        )
        self.offers.append(offers)

    def _before(self, extra: Mapping[str, Any]) -> Observation:
        sha256 = extra.get("before")
        if isinstance(sha256, str) and (self._seen is None or self._seen.image.sha256 != sha256):
            self._seen = self._find(sha256)
        return look_of(self._seen, self.moment, self._heard)

    def _after(
        self, each: _Step, call: _Call | None, extra: Mapping[str, Any]
    ) -> tuple[Observation | None, ActionError | None]:
        """What the act brought, and how it failed; a step with one act need not say whose the result is."""
        results = each.observation.results if each.observation and call else ()
        alone = len(each.tool_calls or ()) == 1
        own = [one for one in results if call and (one.source_call_id == call.tool_call_id or alone)]
        error = _known(ActionError, extra.get("error"))
        if not own:
            self._heard = ""
            return None, error
        told = [self._told(one.content) for one in own]
        texts = [text for text, _ in told if text]
        if error and texts and texts[-1].endswith(f"{error.code}: {error.message}"):
            texts[-1] = texts[-1].removesuffix(f"{error.code}: {error.message}").rstrip("\n")
        shown = next((one for _, one in reversed(told) if one), None)
        self._seen, self._heard = shown or self._seen, "\n".join(filter(None, texts))
        return look_of(shown, self.moment, self._heard), error

    def _told(self, content: _Content) -> tuple[str, Shown | None]:
        """The words and the last picture of a message."""
        if content is None or isinstance(content, str):
            return content or "", None
        paths = [part.source.path for part in content if part.type == "image" and part.source]
        return "\n".join(part.text for part in content if part.text), self._find(paths[-1]) if paths else None


def read(incoming: Incoming) -> Trajectory:
    """Raises RowRefused."""
    reading = _Reading(incoming)
    row, steps, extra = reading.row, tuple(reading.steps), reading.row.extra or {}
    key = row.trajectory_id or row.session_id or incoming.key
    pictured = any(step.before.screenshot for step in steps)
    instruction = "\n\n".join(reading.asked) or next(iter(reading.asked), "")
    task = _known(Task, extra.get("task")) or parsed(
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
    return whole(
        Trajectory(
            id=key,
            task=task,
            origin=cast(Origin, _one_of(get_args(Origin), extra.get("origin"), "rollout")),
            annotator=annotator if isinstance(annotator, str) else None,
            steps=steps,
            proposals=tuple(reading.offers) if any(reading.offers) else (),
            policies=policies_of(steps),
            outcome=cast(Outcome | None, _one_of(get_args(Outcome), extra.get("outcome"), None)),
            answer=answer if isinstance(answer, str) else ended.answer if isinstance(ended, Finish) else "",
            verdict=_known(Verdict, extra.get("verdict")),
            terminated=extra.get("terminated") is not False,
            truncated=extra.get("truncated") is True,
            created_at=aware(row.steps[0].timestamp, incoming.moment),
            finished_at=reading.moment,
        )
    )


def _action(call: _Call) -> Action:
    """Our own act of this name and shape, else a call of that tool. Raises RowRefused."""
    try:
        return ACTION.validate_python({**call.arguments, "kind": call.function_name})
    except ValidationError:
        return parsed(CallTool, {"name": call.function_name, "arguments": call.arguments})


def _decided(extra: Mapping[str, Any]) -> tuple[Decision, bool]:
    """How it was decided, and whether by a person."""
    decision = _one_of(get_args(Decision), extra.get("decision"), "auto")
    return cast(Decision, decision), extra.get("actor") == "human"


def _policy(model: str | None, extra: Mapping[str, Any]) -> PolicyRef | None:
    """Whose model it was; a name with a stroke is ours, with its revision."""
    if not model:
        return None
    name, stroke, revision = model.rpartition("/")
    return PolicyRef(name=name if stroke else model, revision=revision if stroke else "", dialect="")


def _offers(each: _Step, extra: Mapping[str, Any], moment: datetime) -> tuple[Proposal, ...]:
    """What was offered, with the tokens of the one that was taken."""
    candidates = extra.get("candidates")
    return tuple(
        _candidates(candidates if isinstance(candidates, list) else [], each, extra.get("proposal_id"), moment)
    )


def _candidates(candidates: list[Any], each: _Step, taken: object, moment: datetime) -> Iterator[Proposal]:
    unsaid = {"action_text": "", "latency_ms": 0, "created_at": moment}
    for one in candidates:
        if not isinstance(one, dict):
            raise RowRefused("bad_row", "A candidate is no object.")
        tokens = each.metrics.model_dump() if each.metrics and one.get("id") == taken else {}
        yield parsed(Proposal, {**unsaid, **one, **tokens})


def _known(model: type[Known], value: Any) -> Known | None:
    """A value of ours; None where the row has none, or somebody else's of this name."""
    if value is None:
        return None
    try:
        return model.model_validate(value)
    except ValidationError:
        return None


def _one_of(allowed: tuple[str, ...], value: Any, otherwise: str | None) -> str | None:
    return value if value in allowed else otherwise


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


READER = Reader("atif", lambda row: str(row.get("schema_version", "")).startswith("ATIF"), read)
