"""Processes that train one model together, started by torchrun: each holds a share of every weight (FSDP2).

An update's sequences are dealt out to them, and its gradient is the sum over all. Without torchrun there is one
process, and everything here works as for a single process.
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

T = TypeVar("T")


def world_size() -> int:
    """How many processes there are."""
    return dist.get_world_size() if dist.is_initialized() else 1


def is_first() -> bool:
    """Whether this one writes what is written once."""
    return not dist.is_initialized() or dist.get_rank() == 0


@contextmanager
def process_group(device: str) -> Iterator[None]:
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


def barrier() -> None:
    """Wait until every process is here."""
    if dist.is_initialized():
        dist.barrier()


def local_share(things: Sequence[T]) -> Sequence[T]:
    """This process's share; with unequal ones the others would wait forever."""
    return things[dist.get_rank() :: world_size()] if dist.is_initialized() else things


def padded_local_share(things: Sequence[T]) -> list[tuple[T, bool]]:
    """This process's share of any number of items, and whether each counts. A rank with fewer items repeats one as a
    dummy, so that collectives match."""
    if world_size() == 1:
        return [(thing, True) for thing in things]
    rounds = -(-len(things) // world_size())
    places = range(dist.get_rank(), rounds * world_size(), world_size())
    return [(things[min(place, len(things) - 1)], place < len(things)) for place in places]


def broadcast_from_first(make: Callable[[], T], patience: float) -> T:
    """What the first process finds within so many seconds, told to all. Raises in all of them what it raises there."""
    if world_size() == 1:
        return make()
    group = _process_group_with_timeout(patience + SLACK)
    payload: list[Any] = [None]
    if is_first():
        try:
            payload = [make()]
        except TrainerError as error:
            payload = [error]
    dist.broadcast_object_list(payload, src=0, group=group)
    if isinstance(payload[0], TrainerError):
        raise payload[0]
    found: T = payload[0]
    return found


@cache
def _process_group_with_timeout(seconds: float) -> Any:
    return dist.new_group(backend="gloo", timeout=timedelta(seconds=seconds))


def gather_values(values: torch.Tensor) -> torch.Tensor:
    """Numbers of which each process has filled in its own places and left the others zero."""
    if dist.is_initialized():
        dist.all_reduce(values)
    return values


def no_gradients() -> Any:
    """Computing without gradients; what processes share must stay usable for learning after it."""
    return torch.inference_mode() if world_size() == 1 else torch.no_grad()


def backward(loss: torch.Tensor) -> None:
    """Gradients that are added over all processes; FSDP takes their mean."""
    (loss * world_size() if world_size() > 1 else loss).backward()


def sum_metrics(figures: Mapping[str, float]) -> dict[str, float]:
    """Each figure, summed over all processes."""
    if not dist.is_initialized():
        return dict(figures)
    sums = torch.tensor([*figures.values()], dtype=torch.float64)
    dist.all_reduce(sums)
    return dict(zip(figures, sums.tolist(), strict=True))


def shard_model(model: Any, *heads: torch.nn.Module) -> None:
    """Leave this process its share of the weights; a layer is whole only while it is computed.

    With `heads` of one's own in place of the model's the trunk is what is called, and each head apart.
    """
    if world_size() == 1:
        return
    mesh = init_device_mesh(model.device.type, (world_size(),))
    for layer in model.model.language_model.layers:
        fully_shard(layer, mesh=mesh)
    for part in (model.model, *heads) if heads else (model,):
        fully_shard(part, mesh=mesh)


def is_sharded(model: Any) -> bool:
    """Whether other processes hold shares of it."""
    return isinstance(model, FSDPModule) or isinstance(model.model, FSDPModule)


def full_tensor(value: torch.Tensor) -> torch.Tensor:
    """A number that processes hold together."""
    return value.full_tensor() if isinstance(value, DTensor) else value


def write_model(model: Any, folder: Path) -> None:
    """The weights in the ordinary layout, written by the first process, however they are held."""
    if not is_sharded(model):
        model.save_pretrained(folder)
        return
    options = StateDictOptions(full_state_dict=True, cpu_offload=True)
    weights = get_model_state_dict(model, options=options)
    if model.config.tie_word_embeddings:
        weights.pop(HEAD, None)  # where only the trunk is shared, it is the embedding as it was before
    if is_first():
        model.save_pretrained(folder, state_dict=weights)


def write_optimiser(optimiser: torch.optim.Optimizer, folder: Path) -> None:
    """Its state; of several processes each writes its own share."""
    if world_size() == 1:
        torch.save(optimiser.state_dict(), folder / WHOLE)
    else:
        dcp.save(optimiser.state_dict(), checkpoint_id=folder / SHARES)


def read_optimiser(optimiser: torch.optim.Optimizer, folder: Path) -> None:
    """What was written, also by another number of processes if they were several. Raises CheckpointMismatched."""
    if (folder / WHOLE).exists() and world_size() == 1:
        optimiser.load_state_dict(torch.load(folder / WHOLE, weights_only=True))
        return
    if not (folder / SHARES).is_dir():
        raise CheckpointMismatched(f"{folder.name} was kept by one process; {world_size()} cannot go on from it")
    for weight in (each for group in optimiser.param_groups for each in group["params"]):
        optimiser.state[weight] = {
            "step": torch.tensor(0.0),
            "exp_avg": torch.zeros_like(weight),
            "exp_avg_sq": torch.zeros_like(weight),
        }
    payload = optimiser.state_dict()
    dcp.load(payload, checkpoint_id=folder / SHARES)
    optimiser.load_state_dict(payload)
