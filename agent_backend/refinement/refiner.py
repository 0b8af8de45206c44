"""Asks a model to make spoken thoughts readable. If a reply changes a fact, it is requested once more; after that the
thought stays as it was said."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

import httpx

from agent_backend.refinement.provenance import (
    STOP_WORDS,
    RefinedSentence,
    find_changed_fact,
    find_lost_meaning,
    split_sentences,
    trace_sentences,
)
from agent_backend.refinement.text_model import TextModel
from protocol.trajectory.steps import Step
from protocol.trajectory.trajectories import Trajectory

SYSTEM = (
    "You edit what a person said aloud while working on a computer. Write it as clear first-person reasoning before "
    "the action. Remove filler, repetitions and false starts. Keep every number, every name and every negation. Keep "
    "the meaning. Do not invent. You may add one short sentence that links the reasoning to the action; it must not "
    "hold a number, a name or a negation that was not said. Answer with the text alone."
)
PROMPT_SHA256 = hashlib.sha256(SYSTEM.encode()).hexdigest()


@dataclass(frozen=True)
class RefinedThought:
    """A thought as it was said, and its sentences now. `problem` says why it stayed as it was said."""

    said: str
    sentences: tuple[RefinedSentence, ...]
    problem: str = ""

    def text(self, *, drop_added: bool = False) -> str:
        """The thought, with or without added sentences."""
        return " ".join(one.text for one in self.sentences if not (drop_added and one.support == "added"))


class Refiner:
    """A model behind an OpenAI-compatible server."""

    def __init__(
        self, base_url: str, model: str, *, api_key: str = "", transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self.model = model
        self._text_model = TextModel(base_url, model, api_key=api_key, transport=transport)

    async def refine(self, said: str, instruction: str, action: str, names: frozenset[str]) -> RefinedThought:
        """One thought. Raises PolicyUnavailable and PolicyRejected."""
        question = f"Task: {instruction}\nAction: {action}\nSaid: {said}"
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]
        problem = ""
        for _ in range(2):
            reply = await self._text_model.ask(messages)
            sentences = trace_sentences(said, reply)
            problem = find_problem(said, sentences, names)
            if not problem:
                return RefinedThought(said, tuple(sentences))
            messages += [
                {"role": "assistant", "content": reply},
                {
                    "role": "user",
                    "content": f"This changes what was said ({problem}). Write it again and keep every fact.",
                },
            ]
        originals = split_sentences(said)
        unchanged = tuple(RefinedSentence(one, "verbatim", (place,)) for place, one in enumerate(originals))
        return RefinedThought(said, unchanged, problem)

    async def aclose(self) -> None:
        """Close the connections to the server."""
        await self._text_model.aclose()


def find_problem(said: str, sentences: list[RefinedSentence], names: frozenset[str]) -> str:
    """Why a reply is not accepted; empty where it is."""
    if not sentences:
        return "the reply is empty"
    return find_changed_fact(said, sentences, names) or find_lost_meaning(said, sentences)


async def refine_trajectory(
    refiner: Refiner, trajectory: Trajectory, revision: str, *, drop_added: bool = False
) -> Trajectory:
    """The trajectory with refined thoughts. What was said stays in the task's parameters, with the source of every
    sentence. Raises PolicyUnavailable and PolicyRejected."""
    names = typed_names(trajectory.steps)
    steps: list[Step] = []
    sources: list[dict[str, Any]] = []
    for step in trajectory.steps:
        if not step.thought.strip():
            steps.append(step)
            continue
        action = describe_step_action(step)
        refined = await refiner.refine(step.thought, trajectory.task.instruction, action, names)
        steps.append(step.model_copy(update={"thought": refined.text(drop_added=drop_added)}))
        sources.append({"step": step.index, **asdict(refined)})
    refinement = {"model": refiner.model, "revision": revision, "prompt_sha256": PROMPT_SHA256, "thoughts": sources}
    recorded = trajectory.task.parameters.get("recording")
    parameters = {
        **trajectory.task.parameters,
        "recording": {**(recorded if isinstance(recorded, dict) else {}), "refinement": refinement},
    }
    task = trajectory.task.model_copy(update={"parameters": json.loads(json.dumps(parameters))})
    return trajectory.model_copy(update={"steps": tuple(steps), "task": task})


def describe_step_action(step: Step) -> str:
    """A step's action in the words of the prompt."""
    return json.dumps(step.action.model_dump(mode="json", exclude_none=True), ensure_ascii=False)


def typed_names(steps: tuple[Step, ...]) -> frozenset[str]:
    """Names that the person typed: a refined thought must not change them. Ordinary words, in lower case and without
    digits, are none."""
    typed = (word.strip(".,") for step in steps for word in str(getattr(step.action, "text", "")).split())
    names = {word.casefold() for word in typed if len(word) > 2 and (not word.islower() or any(map(str.isdigit, word)))}
    return frozenset(names - STOP_WORDS)
