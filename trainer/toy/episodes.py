"""Episodes of the lights task: each turn asks the policy, executes its reply and records a step.

The trajectory has prompts, token ids, log-probabilities and the version of the weights that sampled each step.
"""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from protocol.actions.tools import Tool
from protocol.actions.types import Action, CallTool, Click, Wait
from protocol.base import FrozenModel
from protocol.blobs import BlobRef
from protocol.dialects.dialect import ChatMessage, ImagePart, TextPart
from protocol.dialects.prompts import Prompt
from protocol.trajectory.observations import Observation, Verdict
from protocol.trajectory.proposals import ImageLimits, ParseError, PolicyRef, Proposal, WeightSpans
from protocol.trajectory.steps import Step, step_policies
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Trajectory
from trainer.serve.schemas import Message, Sampling
from trainer.toy.lights import NAMES, PRESS, SIZE, Lights, calls_tool, corner_point, parse_reply

INSTRUCTION = "Point"
OFFER, USED_UP = f" {PRESS}", " pressed"
"""What is said after it where the tool is there, and when it has done what it can."""
TOOL = Tool(name=PRESS, description="Press the corner whose colour shines, once.")
DIALECT = "ui_tars_1_5"
"""What a person's steps would be worded in; the policy's own words are kept as the tokens they are."""
LONGEST = 6
"""Tokens of a reply."""
LIMITS = ImageLimits(min_pixels=SIZE * SIZE, max_pixels=SIZE * SIZE)


def instruction_for(presses: int) -> str:
    """What is said where the tool is there."""
    return INSTRUCTION + (OFFER if presses else USED_UP)


class PolicyReply(FrozenModel):
    """A sampled reply: tokens, log-probabilities and the version of the weights."""

    text: str
    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    versions: WeightSpans
    finish: str


@dataclass
class LightsEpisode:
    """One attempt in progress; `steps` and `proposals` have one entry a turn."""

    seed: int
    """Which task it is."""
    draw: int = 0
    """Which of the attempts at it."""
    policy: str = "toy"
    """Whose it is called."""
    with_tool: bool = False
    """Whether the tool is offered beside the corners."""
    lights: Lights = field(init=False)
    steps: list[Step] = field(default_factory=list)
    proposals: list[tuple[Proposal, ...]] = field(default_factory=list)
    replies: list[tuple[tuple[int, ...], PolicyReply]] = field(default_factory=list)
    """Prompt token ids and the reply of each turn; the rest of the episode follows from them."""
    blobs: dict[BlobRef, bytes] = field(default_factory=dict)
    began: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        self.lights = Lights(self.seed, presses=int(self.with_tool))
        self._look()

    @property
    def id(self) -> str:
        """Its name."""
        return f"lights-{self.seed}-{self.draw}{'-helped' if self.with_tool else ''}"

    @property
    def is_over(self) -> bool:
        """Whether the attempt has ended or was cut off."""
        return self.lights.terminated or self.lights.truncated

    @property
    def instruction(self) -> str:
        """What is said beside the picture."""
        return instruction_for(self.lights.presses) if self.with_tool else INSTRUCTION

    def request(self) -> Message:
        """The message for the policy's next turn."""
        data = base64.b64encode(self.blobs[self._screenshot]).decode()
        picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
        return Message.model_validate(
            {"role": "user", "content": [{"type": "text", "text": self.instruction}, picture]}
        )

    def sampling(self, temperature: float) -> Sampling:
        """Sampling settings of the next reply; the seed depends on the attempt and the turn alone."""
        digest = hashlib.blake2b(f"{self.seed} {self.draw} {self.lights.turns}".encode(), digest_size=7).digest()
        return Sampling(temperature=temperature, max_tokens=LONGEST, seed=int.from_bytes(digest))

    def apply_reply(self, prompt: Sequence[int], reply: PolicyReply, temperature: float) -> None:
        """Execute a reply and record the turn."""
        now, before, turn = datetime.now(UTC), self._seen, self.lights.turns
        thought, corner = parse_reply(reply.text)
        called = self.with_tool and calls_tool(reply.text)
        policy = PolicyRef(name=self.policy, revision=reply.versions[-1].version, dialect=DIALECT)
        look = (TextPart(text=self.instruction), ImagePart(image=self._screenshot))
        messages = (ChatMessage(role="user", content=look),)
        prompt_ref, data = Prompt(policy=policy, model="toy", image_limits=LIMITS, messages=messages).to_blob()
        self.blobs[prompt_ref] = data
        x, y = corner_point(corner or 0)
        action: Action | None = CallTool(name=PRESS) if called else None if corner is None else Click(x=x, y=y)
        proposal = Proposal(
            id=f"{self.id}-{turn}",
            rank=1,
            thought=thought,
            action=action,
            action_text=PRESS if called else "" if corner is None else NAMES[corner],
            raw_text=reply.text,
            error=None if action else ParseError(code="no_action", message="The reply names no corner."),
            policy=policy,
            sampling={"temperature": temperature},
            prompt_token_ids=tuple(prompt),
            completion_token_ids=reply.ids,
            logprobs=reply.logprobs,
            prompt=prompt_ref,
            image_limits=LIMITS,
            weight_versions=reply.versions,
            finish_reason=reply.finish,
            latency_ms=0.0,
            created_at=now,
        )
        self.lights = self.lights.pressed() if called else self.lights.pointed(corner)
        self._look()
        step = Step(
            index=turn,
            command_id=proposal.id,
            actor="policy",
            decision="auto",
            proposal_id=proposal.id,
            thought=thought,
            action=action or Wait(),
            before=before,
            after=self._seen,
            policy=policy,
            started_at=now,
            ended_at=now,
        )
        self.steps.append(step)
        self.replies.append((tuple(prompt), reply))
        self.proposals.append((proposal,))

    def trajectory(self) -> Trajectory:
        """The attempt as a trajectory for export."""
        steps = tuple(self.steps)
        return Trajectory(
            id=self.id,
            task=Task(id=f"lights-{self.seed}", instruction=INSTRUCTION, suite="toy", name="lights", seed=self.seed),
            origin="rollout",
            tools=(TOOL,) if self.with_tool else (),
            steps=steps,
            policies=step_policies(steps),
            proposals=tuple(self.proposals),
            outcome="success" if self.lights.won else "failure",
            verdict=Verdict(success=self.lights.won, score=float(self.lights.won), verifier="lights"),
            terminated=self.lights.terminated,
            truncated=self.lights.truncated,
            created_at=self.began,
            finished_at=datetime.now(UTC),
        )

    def _look(self) -> None:
        """Capture the current screenshot."""
        data = self.lights.png()
        self._screenshot = BlobRef.of(data, "image/png")
        self.blobs[self._screenshot] = data
        self._seen = Observation(
            screenshot=self._screenshot,
            width=SIZE,
            height=SIZE,
            captured_at=datetime.now(UTC),
            settled=True,
            rest="rested",
            settle_ms=0,
        )
