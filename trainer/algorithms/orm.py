"""Outcome reward model: one turn that reads an attempt and says whether the task was done.

It gets the prompt that judges get (`protocol.evaluation.judge_prompts`): the whole history as text, the last screens,
one question. The label is the verifier's, else a person's. Of both answers the right one becomes likelier; `reward` is
single-turn reinforcement over the two, exactly and without sampling. It writes a policy's checkpoint that any server
serves.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from pydantic import Field

from protocol.evaluation.calibration import Calibration, calibrate
from protocol.evaluation.judge_prompts import build_outcome_prompt
from protocol.training.samples import Sample
from trainer.config import DatasetTrainingConfig
from trainer.data.batches import is_held_out
from trainer.data.packing import pack
from trainer.data.preferences import group_order, reply_logprob_sums
from trainer.data.rendering import Renderer, TokenizedSample, report_left_out
from trainer.data.trajectories import open_folders
from trainer.errors import NothingToLearn, SampleError
from trainer.model.checkpoints import Checkpoint
from trainer.rl.losses import weighted_sum
from trainer.rl.rewards import known_outcome
from trainer.runtime.distributed import backward, is_first, local_share, sum_metrics
from trainer.runtime.runs import newest_checkpoint, open_checkpoint, train

ANSWERS = ("Verdict: yes", "Verdict: no")
HELD_OUT = "held_out.json"


class Config(DatasetTrainingConfig):
    """How it is trained, and on what."""

    folders: tuple[Path, ...] = Field(min_length=1)
    """Attempts whose outcome is known."""
    images: int = Field(default=5, ge=0)
    """Screens it is shown, the last ones."""
    likelihood: float = Field(default=1.0, ge=0)
    """How much the likelihood of the right answer's words weighs."""
    reward: float = Field(default=1.0, ge=0)
    """How much it weighs that the right one of both answers is said: the expected reward of one turn."""
    balanced: bool = True
    """Whether successes weigh as much as failures in all."""
    held_out: float = Field(default=0.1, ge=0, lt=1)
    """The share of attempts that are only asked about, in the end."""


@dataclass(frozen=True)
class Question:
    """An attempt with both answers, and which is right."""

    yes: TokenizedSample
    no: TokenizedSample
    done: bool
    weight: float = 1.0

    @property
    def replies(self) -> tuple[TokenizedSample, ...]:
        """Both answers."""
        return self.yes, self.no


def read_questions(config: Config, checkpoint: Checkpoint) -> list[Question]:
    """Every attempt whose outcome is known. Raises NothingToLearn, FolderError."""
    left_out: Counter[str] = Counter()
    renderer = Renderer(checkpoint, context=config.tokens // 2)
    questions: list[Question] = []
    for folder in open_folders(config.folders):
        for trajectory in folder.trajectories():
            if (outcome := known_outcome(trajectory)) is None:
                left_out["attempt_unjudged"] += 1
                continue
            question = build_outcome_prompt(trajectory, images=config.images)
            sample = Sample(trajectory.id, len(trajectory.steps), question, "", "human", "override")
            try:
                yes, no = (renderer.render_sample(replace(sample, target=answer), folder.bytes) for answer in ANSWERS)
            except SampleError as error:
                left_out[error.code] += 1
                continue
            questions.append(Question(yes, no, outcome > 0))
    report_left_out(len(questions), left_out)
    return questions


QuestionsFor = Callable[[Config, Checkpoint], Sequence[Question]]


def run(config: Config, load_questions: QuestionsFor = read_questions) -> Path:
    """Train, or go on training; returns the last checkpoint's folder. Raises TrainerError."""
    newest = newest_checkpoint(config.out)
    checkpoint = open_checkpoint(newest or config.checkpoint, config)
    training, held_out = split_questions(load_questions(config, checkpoint), config)
    if not training:
        raise NothingToLearn("the folders hold no attempt whose outcome is known")
    if config.balanced:
        training = balance_outcomes(training)

    def gradients(sequences: list[Sequence[int]]) -> dict[str, float]:
        return _gradients(checkpoint.model, [[training[one] for one in each] for each in sequences], config)

    last = train(config, checkpoint, newest, group_order(training, config), gradients)
    calibration = evaluate_calibration(checkpoint.model, held_out)
    if is_first():
        (config.out / HELD_OUT).write_text(calibration.model_dump_json(indent=1))
    return last


def split_questions(questions: Sequence[Question], config: Config) -> tuple[list[Question], list[Question]]:
    """The questions to train on and the held-out ones; the attempt's id and the seed decide."""
    training: list[Question] = []
    held_out: list[Question] = []
    for one in questions:
        held = is_held_out(one.yes.trajectory_id, seed=config.seed, share=config.held_out)
        (held_out if held else training).append(one)
    return training, held_out


def balance_outcomes(questions: Sequence[Question]) -> list[Question]:
    """The same questions, those of each outcome with half of the weight; unchanged where all have one outcome."""
    done = sum(one.done for one in questions)
    if not 0 < done < len(questions):
        return list(questions)
    counts = {True: done, False: len(questions) - done}
    return [replace(one, weight=len(questions) / (2 * counts[one.done])) for one in questions]


def scores(model: Any, questions: Sequence[Question]) -> list[float]:
    """How likely each attempt succeeded, as the model says of its two answers."""
    found: list[float] = []
    with torch.no_grad():  # inference mode would spoil what processes share
        for one in questions:
            yes, no = reply_logprob_sums(model, pack(one.replies, model).to(model.device))
            found.append(float((yes - no).sigmoid()))
    return found


def evaluate_calibration(model: Any, questions: Sequence[Question]) -> Calibration:
    """How far the model can be trusted, on questions that it did not learn."""
    return calibrate(zip(scores(model, questions), [one.done for one in questions], strict=True), 0.5)


def _gradients(model: Any, sequences: Sequence[Sequence[Question]], config: Config) -> dict[str, float]:
    """Gradients of one update: each attempt counts by its weight, whichever sequence it is in."""
    count = sum(one.weight for each in sequences for one in each)
    figures = dict.fromkeys(("loss", "likelihood_loss", "reward", "accuracy"), 0.0)
    for each in local_share(sequences):
        one = pack([reply for question in each for reply in question.replies], model).to(model.device)
        answers = reply_logprob_sums(model, one).view(-1, 2)
        weights = torch.tensor([question.weight for question in each], device=answers.device)
        right = torch.tensor([0 if question.done else 1 for question in each], device=answers.device)
        right_logprobs = answers.gather(1, right[:, None])[:, 0]
        chance = answers.softmax(1).gather(1, right[:, None])[:, 0]
        losses = {"likelihood_loss": -right_logprobs, "reward": chance, "accuracy": (chance.detach() > 0.5).float()}
        parts = {name: weighted_sum(values, weights, count) for name, values in losses.items()}
        loss = config.likelihood * parts["likelihood_loss"] - config.reward * parts["reward"]
        backward(loss)
        for name, value in {"loss": loss, **parts}.items():
            figures[name] += float(value.detach())
    return {**sum_metrics(figures), "attempts": sum(map(len, sequences))}
