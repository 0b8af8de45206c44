"""Outcome reward model: one turn that reads an attempt and says whether the task was done.

It gets the prompt that judges get (`protocol.evaluation.judge_prompts`): the whole history as text, the last screens,
one question. The label is the verifier's, else a person's. The right answer becomes likelier; `reward` is single-turn
reinforcement over both, exactly and without sampling: the chance of the right one at the token that decides. It writes
a policy's checkpoint that any server serves.
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
from protocol.trajectory.trajectories import Trajectory
from trainer.config import DatasetTrainingConfig
from trainer.data.batches import is_held_out
from trainer.data.packing import learned_logits, pack
from trainer.data.preferences import group_order
from trainer.data.rendering import ReadPicture, Renderer, TokenizedSample, report_left_out
from trainer.data.trajectories import open_folders
from trainer.errors import NothingToLearn, SampleError
from trainer.model.checkpoints import Checkpoint
from trainer.rl.losses import token_logprobs, weighted_sum
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
    """Weight of the expected reward of one turn: the probability of the right one of both answers."""
    balanced: bool = True
    """Whether successes weigh as much as failures in all."""
    held_out: float = Field(default=0.1, ge=0, lt=1)
    """The share of attempts that are only asked about, in the end."""


@dataclass(frozen=True)
class Question:
    """An attempt with the right answer, and the token that makes it this answer and not the other."""

    reply: TokenizedSample
    decisive: int
    """Its place among the tokens of the answer, from 0."""
    verdicts: tuple[int, int]
    """The tokens at this place in both answers: yes, then no."""
    done: bool
    weight: float = 1.0

    @property
    def replies(self) -> tuple[TokenizedSample]:
        """What is learned of it."""
        return (self.reply,)


def create_question(yes: TokenizedSample, no: TokenizedSample, done: bool) -> Question:
    """Both answers to one prompt, of which one is right."""
    begin = yes.mask.index(True)
    answers = list(zip(yes.ids[begin:], no.ids[begin:], strict=False))
    decisive = next(place for place, (one, other) in enumerate(answers) if one != other)
    return Question(yes if done else no, decisive, answers[decisive], done)


def read_questions(config: Config, checkpoint: Checkpoint) -> list[Question]:
    """Every attempt whose outcome is known. Raises NothingToLearn, FolderError."""
    left_out: Counter[str] = Counter()
    renderer = Renderer(checkpoint, context=config.tokens)
    questions: list[Question] = []
    for folder in open_folders(config.folders):
        for trajectory in folder.trajectories():
            if (outcome := known_outcome(trajectory)) is None:
                left_out["attempt_unjudged"] += 1
                continue
            try:
                question = render_question(trajectory, renderer, folder.bytes, images=config.images, done=outcome > 0)
            except SampleError as error:
                left_out[error.code] += 1
                continue
            questions.append(question)
    report_left_out(len(questions), left_out)
    return questions


def render_question(
    trajectory: Trajectory, renderer: Renderer, read: ReadPicture, *, images: int, done: bool
) -> Question:
    """What a judge is asked about an attempt, with the right answer. Raises SampleError."""
    question = build_outcome_prompt(trajectory, images=images)
    sample = Sample(trajectory.id, len(trajectory.steps), question, "", "human", "override")
    yes, no = (renderer.render_sample(replace(sample, target=answer), read) for answer in ANSWERS)
    return create_question(yes, no, done)


QuestionsFor = Callable[[Config, Checkpoint], Sequence[Question]]


def run(config: Config, load_questions: QuestionsFor = read_questions) -> Path:
    """Train, or resume training; returns the last checkpoint's folder. Raises TrainerError."""
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
        held = is_held_out(one.reply.trajectory_id, seed=config.seed, share=config.held_out)
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
    """How likely each attempt succeeded: the model's `yes` of its `yes` and `no`, as judges are read."""
    with torch.no_grad():  # inference mode would spoil what processes share
        return [float(_answers(model, [one])[1][0, 0]) for one in questions]


def _answers(model: Any, questions: Sequence[Question]) -> tuple[torch.Tensor, torch.Tensor]:
    """The log-probability of each right answer, shape (questions,), and the chances of yes and no, which are 1
    together, where the answer decides itself; shape (questions, 2)."""
    one = pack([question.reply for question in questions], model).to(model.device)
    logits = learned_logits(model, one)
    logprobs = token_logprobs(logits, one.learned)
    answers = torch.zeros(len(questions), device=logits.device).index_add(0, one.sample_index, logprobs)
    begin = torch.searchsorted(one.sample_index, torch.arange(len(questions), device=logits.device))
    decisive = begin + torch.tensor([question.decisive for question in questions], device=logits.device)
    verdicts = torch.tensor([question.verdicts for question in questions], device=logits.device)
    return answers, logits[decisive].gather(1, verdicts).softmax(1)


def evaluate_calibration(model: Any, questions: Sequence[Question]) -> Calibration:
    """How far the model can be trusted, on questions that it did not learn."""
    return calibrate(zip(scores(model, questions), [one.done for one in questions], strict=True), 0.5)


def _gradients(model: Any, sequences: Sequence[Sequence[Question]], config: Config) -> dict[str, float]:
    """Gradients of one update: each attempt counts by its weight, whichever sequence it is in."""
    count = sum(one.weight for each in sequences for one in each)
    figures = dict.fromkeys(("loss", "likelihood_loss", "reward", "accuracy"), 0.0)
    for each in local_share(sequences):
        right_logprobs, chances = _answers(model, each)
        device = chances.device
        weights = torch.tensor([question.weight for question in each], device=device)
        right = torch.tensor([0 if question.done else 1 for question in each], device=device)
        chance = chances.gather(1, right[:, None])[:, 0]
        losses = {"likelihood_loss": -right_logprobs, "reward": chance, "accuracy": (chance.detach() > 0.5).float()}
        parts = {name: weighted_sum(values, weights, count) for name, values in losses.items()}
        loss = config.likelihood * parts["likelihood_loss"] - config.reward * parts["reward"]
        backward(loss)
        for name, value in {"loss": loss, **parts}.items():
            figures[name] += float(value.detach())
    return {**sum_metrics(figures), "attempts": sum(map(len, sequences))}
