"""Processes that train one model together, started by torchrun: each holds a share of every weight (FSDP2).

An update's sequences are dealt out to them, and its gradient is the sum over all. Without torchrun there is one
process, and everything here does what it would do if nobody else existed.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor

from trainer.errors import CheckpointMismatched, TrainerError

WHOLE, SHARES = "optimiser.pt", "optimiser"
"""An optimiser's state: one process's file, or the folder that several share."""

HEAD = "lm_head.weight"
SLACK = 1800.0
"""Seconds beside the first one's own patience that the others wait for it."""

Thing = TypeVar("Thing")


def count() -> int:
    """How many processes there are."""
    return dist.get_world_size() if dist.is_initialized() else 1


def is_first() -> bool:
    """Whether this one writes what is written once."""
    return not dist.is_initialized() or dist.get_rank() == 0


@contextmanager
def joined(device: str) -> Iterator[None]:
    """Find the other processes, if torchrun started any."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield
        return
    if device.startswith("cuda"):
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("cuda:nccl,cpu:gloo" if device.startswith("cuda") else "gloo")
    try:
        yield
    finally:
        dist.destroy_process_group()


def meet() -> None:
    """Wait until every process is here."""
    if dist.is_initialized():
        dist.barrier()


def mine(things: Sequence[Thing]) -> Sequence[Thing]:
    """This process's share; with unequal ones the others would wait forever."""
    return things[dist.get_rank() :: count()] if dist.is_initialized() else things


def dealt(things: Sequence[Thing]) -> list[tuple[Thing, bool]]:
    """This process's share of any number of things, and whether each counts: who has fewer than others does one again
    for nothing, since they wait for it."""
    if count() == 1:
        return [(thing, True) for thing in things]
    rounds = -(-len(things) // count())
    places = range(dist.get_rank(), rounds * count(), count())
    return [(things[min(place, len(things) - 1)], place < len(things)) for place in places]


def agreed(make: Callable[[], Thing], patience: float) -> Thing:
    """What the first process finds within so many seconds, told to all. Raises in all of them what it raises there."""
    if count() == 1:
        return make()
    group = _patient(patience + SLACK)
    told: list[Any] = [None]
    if is_first():
        try:
            told = [make()]
        except TrainerError as error:
            told = [error]
    dist.broadcast_object_list(told, src=0, group=group)
    if isinstance(told[0], TrainerError):
        raise told[0]
    found: Thing = told[0]
    return found


@cache
def _patient(seconds: float) -> Any:
    return dist.new_group(backend="gloo", timeout=timedelta(seconds=seconds))


def gathered(values: torch.Tensor) -> torch.Tensor:
    """Numbers of which each process has filled in its own places and left the others zero."""
    if dist.is_initialized():
        dist.all_reduce(values)
    return values


def unlearning() -> Any:
    """Computing without gradients; what processes share must stay usable for learning after it."""
    return torch.inference_mode() if count() == 1 else torch.no_grad()


def backward(loss: torch.Tensor) -> None:
    """Gradients that are added over all processes; FSDP takes their mean."""
    (loss * count() if count() > 1 else loss).backward()


def added(figures: Mapping[str, float]) -> dict[str, float]:
    """Each figure, summed over all processes."""
    if not dist.is_initialized():
        return dict(figures)
    sums = torch.tensor([*figures.values()], dtype=torch.float64)
    dist.all_reduce(sums)
    return dict(zip(figures, sums.tolist(), strict=True))


def shared_out(model: Any, *heads: torch.nn.Module) -> None:
    """Leave this process its share of the weights; a layer is whole only while it is computed.

    With `heads` of one's own in place of the model's the trunk is what is called, and each head apart.
    """
    if count() == 1:
        return
    mesh = init_device_mesh(model.device.type, (count(),))
    for layer in model.model.language_model.layers:
        fully_shard(layer, mesh=mesh)
    for part in (model.model, *heads) if heads else (model,):
        fully_shard(part, mesh=mesh)


def is_shared(model: Any) -> bool:
    """Whether other processes hold shares of it."""
    return isinstance(model, FSDPModule) or isinstance(model.model, FSDPModule)


def whole(value: torch.Tensor) -> torch.Tensor:
    """A number that processes hold together."""
    return value.full_tensor() if isinstance(value, DTensor) else value


def model_write(model: Any, folder: Path) -> None:
    """The weights in the ordinary layout, written by the first process, however they are held."""
    if not is_shared(model):
        model.save_pretrained(folder)
        return
    options = StateDictOptions(full_state_dict=True, cpu_offload=True)
    weights = get_model_state_dict(model, options=options)
    if model.config.tie_word_embeddings:
        weights.pop(HEAD, None)  # where only the trunk is shared, it is the embedding as it was before
    if is_first():
        model.save_pretrained(folder, state_dict=weights)


def optimiser_write(optimiser: torch.optim.Optimizer, folder: Path) -> None:
    """Its state; of several processes each writes its own share."""
    if count() == 1:
        torch.save(optimiser.state_dict(), folder / WHOLE)
    else:
        dcp.save(optimiser.state_dict(), checkpoint_id=folder / SHARES)


def optimiser_read(optimiser: torch.optim.Optimizer, folder: Path) -> None:
    """What was written, also by another number of processes if they were several. Raises CheckpointMismatched."""
    if (folder / WHOLE).exists() and count() == 1:
        optimiser.load_state_dict(torch.load(folder / WHOLE, weights_only=True))
        return
    if not (folder / SHARES).is_dir():
        raise CheckpointMismatched(f"{folder.name} was kept by one process; {count()} cannot go on from it")
    for weight in (each for group in optimiser.param_groups for each in group["params"]):
        optimiser.state[weight] = {
            "step": torch.tensor(0.0),
            "exp_avg": torch.zeros_like(weight),
            "exp_avg_sq": torch.zeros_like(weight),
        }
    told = optimiser.state_dict()
    dcp.load(told, checkpoint_id=folder / SHARES)
    optimiser.load_state_dict(told)
