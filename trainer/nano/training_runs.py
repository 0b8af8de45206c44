"""Shared by both training stages of the nano model: optimisers, schedule and checkpoints.

Muon moves the matrices, AdamW everything else; on models of this size that is several times faster than AdamW alone.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from pydantic import Field
from torch.utils.data import DataLoader

from trainer.config import Settings
from trainer.data.corrections import CLASS_WEIGHTS, Role, Weighting
from trainer.errors import TrainingDiverged
from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.nano.muon import Muon
from trainer.runtime.runs import (
    RunState,
    is_checkpoint_due,
    learning_rate_factor,
    newest_checkpoint,
    read_state,
    remove_old_checkpoints,
    write_checkpoint,
)

Sample = TypeVar("Sample")
HEADS, OPTIMISERS = "heads.pt", "optimisers.pt"
MAY_CHANGE = {"out", "updates", "settle", "keep_every", "threads", "ahead"}
MAX_CHECKPOINTS = 2


class StageConfig(Settings):
    """Settings of a stage."""

    checkpoint: Path
    """The checkpoint's folder to start from."""
    out: Path
    """The run's folder. Started again, a run resumes from its newest checkpoint."""
    updates: int = Field(default=2_000, ge=1)
    """How many there are in all."""
    settle: int = Field(default=0, ge=0)
    """Over so many updates at the end the rates fall to a fiftieth."""
    keep_every: int = Field(default=200, ge=1)
    """Updates between two checkpoints; only the newest two are kept."""
    batch: int = Field(default=16, ge=1)
    """Screens an update."""
    muon_rate: float = Field(default=0.01, gt=0)
    """Learning rate of the matrices."""
    adam_rate: float = Field(default=1e-3, gt=0)
    """Learning rate of everything else."""
    warmup: int = Field(default=100, ge=1)
    """Updates over which the rates grow."""
    seed: int = 0
    """Of what is drawn."""
    threads: int = Field(default=1, ge=1)
    """Of the processor."""
    ahead: int = Field(default=2, ge=0)
    """Updates drawn ahead by a process of their own; 0: each is drawn when it is learned."""
    bfloat16: bool = False
    """Whether products are computed in bfloat16; weights stay in single precision."""


class AttemptsConfig(StageConfig):
    """Settings of a stage that also learns from attempts."""

    folders: tuple[Path, ...] = ()
    """Attempts to learn from beside drawn screens, as an export, a rollout or an expert wrote them."""
    shown: float = Field(default=0.5, ge=0, le=1)
    """The share of updates that have some of these attempts, where there are any. The rest of such an update is drawn,
    so that none leaves out reading: in runs of attempts alone the tower forgets it."""
    some: float = Field(default=0.5, gt=0, lt=1)
    """The share of the decisions of such an update that are of attempts."""
    others: float = Field(default=0.0, ge=0, le=1)
    """How often, where an attempt's page was kept with its parts, another part of it is asked for by its name."""
    spoken: float = Field(default=0.0, ge=0, le=1)
    """How often a person's click is asked for by that person's thought, where it names what is clicked."""
    weighting: Weighting = "none"
    """How often corrections are drawn. interventions: as often as all else (IWR); shares: each role has its share
    (Sirius); classes: each role has the weight that `classes` gives it."""
    classes: Mapping[Role, float] = CLASS_WEIGHTS
    """Weights by role, for `classes`; a role that is not named has 1."""


@dataclass(frozen=True)
class OptimiserPair:
    """Muon for matrices within the model, AdamW for the rest."""

    muon: torch.optim.Optimizer
    adam: torch.optim.Optimizer

    def step(self, update: int, config: StageConfig) -> float:
        """One step on the gradients there are; returns their norm. Raises TrainingDiverged."""
        both = [(self.muon, config.muon_rate), (self.adam, config.adam_rate)]
        weights = [weight for one, _ in both for group in one.param_groups for weight in group["params"]]
        norm = torch.nn.utils.clip_grad_norm_(weights, 1.0)
        if not torch.isfinite(norm):
            raise TrainingDiverged(f"the gradient of update {update} is {float(norm)}")
        for one, rate in both:
            for group in one.param_groups:
                group["lr"] = rate * learning_rate_factor(update, config) * group["share"]
            one.step()
            one.zero_grad()
        return float(norm)

    def state(self) -> dict[str, Any]:
        """What is written."""
        return {"muon": self.muon.state_dict(), "adam": self.adam.state_dict()}

    def load(self, state: Mapping[str, Any]) -> None:
        """What was written."""
        self.muon.load_state_dict(state["muon"])
        self.adam.load_state_dict(state["adam"])


def create_optimisers(
    model: torch.nn.Module,
    heads: torch.nn.ModuleDict,
    config: StageConfig,
    share_of: Callable[[str], float] = lambda name: 1.0,
) -> OptimiserPair:
    """The optimisers of a model's weights and its heads' weights. Weights that need no gradient stay as they are.

    `share_of` gives the factor on the learning rate of a weight by its name.
    """
    matrices, others = _Shares(), _Shares()
    others[1.0] = list(heads.parameters())
    for name, weight in model.named_parameters():
        if weight.requires_grad:
            (matrices if weight.ndim == 2 and "embed" not in name else others)[share_of(name)].append(weight)
    return OptimiserPair(
        Muon(matrices.groups(), lr=config.muon_rate, momentum=0.95, weight_decay=0.01),
        torch.optim.AdamW(others.groups(), lr=config.adam_rate, betas=(0.9, 0.95), weight_decay=0.0),
    )


class _Shares(defaultdict[float, list[torch.nn.Parameter]]):
    """Weights by how much of the rates they learn at."""

    def __init__(self) -> None:
        super().__init__(list)

    def groups(self) -> list[dict[str, Any]]:
        """As optimisers take them."""
        return [{"params": weights, "share": share} for share, weights in self.items()]


@dataclass
class StageRun:
    """A running stage: its model, and its position in the data."""

    config: StageConfig
    checkpoint: Checkpoint
    heads: torch.nn.ModuleDict
    optimisers: OptimiserPair
    state: RunState

    def updates(self, draw: Callable[[int], Sample]) -> Iterator[tuple[int, Sample]]:
        """Those to come: their numbers, and what is drawn for them; after each that is to be kept, a checkpoint is
        written."""
        for update, sample in _sample_ahead(
            draw, range(self.state.update + 1, self.config.updates + 1), self.config.ahead
        ):
            yield update, sample
            self.state = self.state.after(update, {})
            if is_checkpoint_due(update, self.config):
                self._save()

    @property
    def newest(self) -> Path:
        """The last checkpoint's folder."""
        return newest_checkpoint(self.config.out) or self.config.checkpoint

    def _save(self) -> None:
        folder = write_checkpoint(self.config.out, self.state, self._write)
        self.checkpoint = replace(self.checkpoint, path=folder)
        remove_old_checkpoints(self.config.out, keep=MAX_CHECKPOINTS)

    def _write(self, folder: Path) -> None:
        self.checkpoint.write(folder)
        torch.save(self.heads.state_dict(), folder / HEADS)
        torch.save(self.optimisers.state(), folder / OPTIMISERS)


def open_run(
    config: StageConfig,
    heads_of: Callable[[Any], torch.nn.ModuleDict],
    *,
    learns: Callable[[str], bool] = lambda name: True,
    share_of: Callable[[str], float] = lambda name: 1.0,
    data: str = "drawn",
) -> StageRun:
    """Begin a stage, or go on with it; its heads take over what the stage before had of them. `data` tells what it
    learns from.

    Raises CheckpointError, CheckpointMismatched.
    """
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)
    newest = newest_checkpoint(config.out)
    checkpoint = load_checkpoint(newest or config.checkpoint)
    for name, weight in checkpoint.model.named_parameters():
        weight.requires_grad_(learns(name))
    heads = heads_of(checkpoint.model)
    if (known := (newest or config.checkpoint) / HEADS).is_file():
        _restore_heads(heads, torch.load(known, weights_only=True))
    optimisers = create_optimisers(checkpoint.model, heads, config, share_of)
    if newest is None:
        state = RunState(data=data, config=config.model_dump(mode="json", exclude=MAY_CHANGE))
    else:
        state = read_state(newest, config, data, MAY_CHANGE)
        optimisers.load(torch.load(newest / OPTIMISERS, weights_only=True))
    return StageRun(config, checkpoint, heads, optimisers, state)


def _restore_heads(heads: torch.nn.ModuleDict, known: Mapping[str, torch.Tensor]) -> None:
    own = heads.state_dict()
    heads.load_state_dict(own | {name: value for name, value in known.items() if name in own})


@dataclass(frozen=True)
class _SampleDataset(Generic[Sample]):
    draw: Callable[[int], Sample]

    def __getitem__(self, update: int) -> tuple[int, Sample]:
        return update, self.draw(update)


def _sample_ahead(draw: Callable[[int], Sample], updates: range, ahead: int) -> Iterator[tuple[int, Sample]]:
    """What is drawn for each, in order."""
    loader = DataLoader(
        _SampleDataset(draw),
        batch_size=None,
        sampler=updates,
        num_workers=min(ahead, 1),
        prefetch_factor=ahead or None,
        collate_fn=_identity,
    )
    return iter(loader)


def _identity(sample: Sample) -> Sample:
    return sample
