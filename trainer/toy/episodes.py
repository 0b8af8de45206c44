"""Attempts at the lights: a policy is asked, its words are done, and what comes of it is a trajectory like any other's.

It has prompts, token ids, log-probabilities, and the version of the weights that drew each step.
"""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from trainer.serve.schemas import Message, Sampling
from trainer.toy.lights import NAMES, PRESS, SIZE, Lights, calls_tool, corner_point, parse_reply
from vocabulary.actions import Action, CallTool, Click, Wait
from vocabulary.base import Frozen
from vocabulary.blobs import BlobRef
from vocabulary.dialect import ChatMessage, ImagePart, TextPart
from vocabulary.observations import Observation, Verdict
from vocabulary.prompts import Prompt
from vocabulary.proposals import ImageLimits, ParseError, PolicyRef, Proposal, WeightSpans
from vocabulary.steps import Step, policies_of
from vocabulary.tasks import Task
from vocabulary.tools import Tool
from vocabulary.trajectories import Trajectory

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


class PolicyReply(Frozen):
    """What a policy said: its tokens, how likely they were, and under which weights."""

    text: str
    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    versions: WeightSpans
    finish: str


@dataclass
class LightsEpisode:
    """One attempt as it grows; `steps` and `proposals` are as long as there were turns."""

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
    said: list[tuple[tuple[int, ...], PolicyReply]] = field(default_factory=list)
    """What was read and answered, turn by turn: all else follows from it."""
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
    def over(self) -> bool:
        """Whether there is no further turn."""
        return self.lights.terminated or self.lights.truncated

    @property
    def instruction(self) -> str:
        """What is said beside the picture."""
        return instruction_for(self.lights.presses) if self.with_tool else INSTRUCTION

    def asked(self) -> Message:
        """What the policy is asked now."""
        data = base64.b64encode(self.blobs[self._shown]).decode()
        picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
        return Message.model_validate(
            {"role": "user", "content": [{"type": "text", "text": self.instruction}, picture]}
        )

    def sampling(self, temperature: float) -> Sampling:
        """How its next reply is drawn: the same attempt draws the same, whoever plays beside it."""
        told = hashlib.blake2b(f"{self.seed} {self.draw} {self.lights.turns}".encode(), digest_size=7).digest()
        return Sampling(temperature=temperature, max_tokens=LONGEST, seed=int.from_bytes(told))

    def apply_reply(self, prompt: Sequence[int], said: PolicyReply, temperature: float) -> None:
        """Take a turn: do what was said."""
        now, before, turn = datetime.now(UTC), self._seen, self.lights.turns
        thought, corner = parse_reply(said.text)
        called = self.with_tool and calls_tool(said.text)
        policy = PolicyRef(name=self.policy, revision=said.versions[-1].version, dialect=DIALECT)
        look = (TextPart(text=self.instruction), ImagePart(image=self._shown))
        messages = (ChatMessage(role="user", content=look),)
        kept, data = Prompt(policy=policy, model="toy", image_limits=LIMITS, messages=messages).packed()
        self.blobs[kept] = data
        x, y = corner_point(corner or 0)
        action: Action | None = CallTool(name=PRESS) if called else None if corner is None else Click(x=x, y=y)
        proposal = Proposal(
            id=f"{self.id}-{turn}",
            rank=1,
            thought=thought,
            action=action,
            action_text=PRESS if called else "" if corner is None else NAMES[corner],
            raw_text=said.text,
            error=None if action else ParseError(code="no_action", message="The reply names no corner."),
            policy=policy,
            sampling={"temperature": temperature},
            prompt_token_ids=tuple(prompt),
            completion_token_ids=said.ids,
            logprobs=said.logprobs,
            prompt=kept,
            image_limits=LIMITS,
            weight_versions=said.versions,
            finish_reason=said.finish,
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
        self.said.append((tuple(prompt), said))
        self.proposals.append((proposal,))

    def trajectory(self) -> Trajectory:
        """What is exported of it."""
        steps = tuple(self.steps)
        return Trajectory(
            id=self.id,
            task=Task(id=f"lights-{self.seed}", instruction=INSTRUCTION, suite="toy", name="lights", seed=self.seed),
            origin="rollout",
            tools=(TOOL,) if self.with_tool else (),
            steps=steps,
            policies=policies_of(steps),
            proposals=tuple(self.proposals),
            outcome="success" if self.lights.won else "failure",
            verdict=Verdict(success=self.lights.won, score=float(self.lights.won), verifier="lights"),
            terminated=self.lights.terminated,
            truncated=self.lights.truncated,
            created_at=self.began,
            finished_at=datetime.now(UTC),
        )

    def _look(self) -> None:
        """Take the picture as it is now."""
        data = self.lights.png()
        self._shown = BlobRef.of(data, "image/png")
        self.blobs[self._shown] = data
        self._seen = Observation(
            screenshot=self._shown,
            width=SIZE,
            height=SIZE,
            captured_at=datetime.now(UTC),
            settled=True,
            rest="rested",
            settle_ms=0,
        )
