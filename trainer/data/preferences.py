"""People's preferences as tokens: pairs of replies in one state, and single replies that were good or bad.

A reply that a policy drew is the tokens it drew; what a person worded is the dialect's words, or the proposal's own.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import torch
from pydantic import Field

from protocol.dialects.dialect import Dialect, ScreenSize
from protocol.dialects.families import get_dialect
from protocol.training.preferences import Candidate, PreferenceSource, extract_preferences, extract_unpaired_preferences
from protocol.training.samples import training_samples
from protocol.trajectory.trajectories import Trajectory, without_undone_steps
from trainer.config import DatasetTrainingConfig, DialectConfig
from trainer.data.batches import ShuffledOrder
from trainer.data.packing import Pack, learned_logprobs, pack
from trainer.data.rendering import Renderer, TokenizedSample, report_left_out
from trainer.data.samples import sampled_decision
from trainer.data.trajectories import TrajectoryFolder, open_folders
from trainer.errors import NothingToLearn, SampleError, SampleTooLong, SampleUnsayable
from trainer.model.checkpoints import Checkpoint

Group = TypeVar("Group", "PreferencePair", "JudgedReply")
RenderReply = Callable[[int, Candidate], TokenizedSample]
"""The reply of a candidate at the step of this index. Raises SampleError."""


class PreferenceConfig(DatasetTrainingConfig, DialectConfig):
    """Settings of commands that learn from choices."""

    folders: tuple[Path, ...] = Field(min_length=1)
    """Trajectories with what people accepted, overrode and marked."""
    sources: tuple[PreferenceSource, ...] = ("accept", "override", "takeover", "mark")
    """What a choice may follow from."""
    beta: float = Field(default=0.1, gt=0)
    """How strongly the reference holds: a log-ratio is multiplied by it."""


class ReplyGroup(Protocol):
    """Replies that share a sequence."""

    @property
    def replies(self) -> tuple[TokenizedSample, ...]:
        """All of them."""
        ...


@dataclass(frozen=True)
class PreferencePair:
    """Two replies in one state."""

    chosen: TokenizedSample
    rejected: TokenizedSample

    @property
    def replies(self) -> tuple[TokenizedSample, ...]:
        """Both, the better one first."""
        return self.chosen, self.rejected


@dataclass(frozen=True)
class JudgedReply:
    """A reply by itself; `apart` is another's reply in its state, which tells how far a policy moved in all."""

    reply: TokenizedSample
    unrelated_reply: TokenizedSample
    desirable: bool

    @property
    def replies(self) -> tuple[TokenizedSample, ...]:
        """Its own, and the one that is not."""
        return self.reply, self.unrelated_reply


def read_pairs(config: PreferenceConfig, checkpoint: Checkpoint) -> list[PreferencePair]:
    """Every pair of the folders. Raises NothingToLearn, FolderError."""
    left_out: Counter[str] = Counter()
    pairs: list[PreferencePair] = []
    for trajectory, spoken in _trajectories(config, checkpoint):
        for one in extract_preferences(trajectory):
            if one.source not in config.sources:
                continue
            try:
                pair = PreferencePair(spoken(one.index, one.chosen), spoken(one.index, one.rejected))
                pairs.append(_check_fits(pair, config.tokens))
            except SampleError as error:
                left_out[error.code] += 1
    return _require_any(pairs, left_out)


def read_judged_replies(config: PreferenceConfig, checkpoint: Checkpoint) -> list[JudgedReply]:
    """Every judgement of the folders. Raises NothingToLearn, FolderError."""
    left_out: Counter[str] = Counter()
    replies: list[tuple[TokenizedSample, bool]] = []
    for trajectory, spoken in _trajectories(config, checkpoint):
        for one in extract_unpaired_preferences(trajectory):
            if one.source not in config.sources:
                continue
            try:
                replies.append((spoken(one.index, one.candidate), one.desirable))
            except SampleError as error:
                left_out[error.code] += 1
    judged: list[JudgedReply] = []
    for place, (reply, desirable) in enumerate(replies):
        try:
            unrelated_reply = with_reply_of(reply, _unrelated_reply([one for one, _ in replies], place))
            judged.append(_check_fits(JudgedReply(reply, unrelated_reply, desirable), config.tokens))
        except SampleError as error:
            left_out[error.code] += 1
    return _require_any(judged, left_out)


def with_reply_of(reply: TokenizedSample, other: TokenizedSample) -> TokenizedSample:
    """A state with the reply of another state."""
    before = reply.mask.index(True)
    reply_ids = [token for token, learned in zip(other.ids, other.mask, strict=True) if learned]
    return replace(
        reply,
        ids=(*reply.ids[:before], *reply_ids),
        mask=(False,) * before + (True,) * len(reply_ids),
        weights=(0.0,) * before + (1.0,) * len(reply_ids),
        logprobs=None,
        exact=False,
        weight_versions=(),
    )


def group_order(groups: Sequence[ReplyGroup], config: DatasetTrainingConfig) -> ShuffledOrder:
    """In which order groups are trained on; one is never parted."""
    lengths = [sum(len(one.ids) for one in group.replies) for group in groups]
    return ShuffledOrder(lengths, tokens=config.tokens, seed=config.seed)


def reply_logprob_sums(model: Any, one: Pack) -> torch.Tensor:
    """Log-probability of each reply of a pack as a whole, in nats.

    Returns:
        [samples], at most 0.
    """
    logprobs = learned_logprobs(model, one)
    return torch.zeros(len(one.lengths), device=logprobs.device).index_add(0, one.sample_index, logprobs)


def reference_logprobs(model: Any, groups: Sequence[ReplyGroup]) -> torch.Tensor:
    """Log-probability of the replies of each group under a model, without gradients, in nats.

    Returns:
        [groups, replies of a group].
    """
    with torch.inference_mode():
        rows = [reply_logprob_sums(model, pack(one.replies, model).to(model.device)) for one in groups]
    return torch.stack(rows).clone()


def _trajectories(config: PreferenceConfig, checkpoint: Checkpoint) -> Iterator[tuple[Trajectory, RenderReply]]:
    renderer, dialect = Renderer(checkpoint, context=config.tokens), get_dialect(config.dialect, config.prompt)
    for folder in open_folders(config.folders):
        for trajectory in folder.trajectories():
            yield trajectory, _reply_renderer(trajectory, folder, dialect, renderer)


def _reply_renderer(
    trajectory: Trajectory, folder: TrajectoryFolder, dialect: Dialect, renderer: Renderer
) -> RenderReply:
    samples = {one.index: one for one in training_samples(trajectory, dialect, prompts=folder.prompt)}
    screens = {step.index: ScreenSize.of(step.before) for step in without_undone_steps(trajectory).steps}

    def spoken(index: int, candidate: Candidate) -> TokenizedSample:
        sample, action = samples.get(index), dialect.supported_form(candidate.action)
        if sample is None or action is None:
            raise SampleUnsayable(f"{trajectory.id} step {index}: {dialect.name} cannot say it")
        proposal = candidate.proposal
        if proposal is None or proposal.policy.dialect != dialect.name:
            target = dialect.write(candidate.thought, action, screens[index])
            return renderer.render_sample(replace(sample, target=target), folder.bytes)
        decision = sampled_decision(trajectory.id, index, proposal)
        if decision is None:
            return renderer.render_sample(replace(sample, target=proposal.raw_text), folder.bytes)
        prompt = folder.prompt(decision.prompt) if decision.prompt else None
        return renderer.render_sampled(decision, prompt.messages if prompt else sample.messages, folder.bytes, 1.0)

    return spoken


def _unrelated_reply(replies: Sequence[TokenizedSample], place: int) -> TokenizedSample:
    """The next reply of another state. Raises NothingToLearn if all replies are of one state."""
    own = replies[place]
    for step in range(1, len(replies)):
        other = replies[(place + step) % len(replies)]
        if (other.trajectory_id, other.index) != (own.trajectory_id, own.index):
            return other
    raise NothingToLearn("all judgements are of one state, so the policy's change cannot be measured")


def _check_fits(group: Group, tokens: int) -> Group:
    """Raises SampleTooLong where the replies of a group do not fit one sequence together."""
    if (count := sum(len(one.ids) for one in group.replies)) > tokens:
        raise SampleTooLong(f"{group.replies[0].name} has {count} tokens with both replies; at most {tokens} fit")
    return group


def _require_any(groups: list[Group], left_out: Counter[str]) -> list[Group]:
    report_left_out(len(groups), left_out)
    if not groups:
        raise NothingToLearn("the folders hold no choice that can be learned")
    return groups
