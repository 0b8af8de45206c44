"""A critic with the policy's inputs: a value at each sampled token, over a trunk of the same family.

Its folder is a checkpoint in the ordinary layout with one file more, the head; where that is missing the head is
zero, so that any policy's checkpoint can become a critic that expects nothing.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from trainer.config import TrainingConfig
from trainer.data.packing import Pack, vision_inputs
from trainer.errors import CheckpointMismatched, CheckpointUnusable
from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.model.forward import UNMASKED, configure_compute
from trainer.runtime.distributed import full_tensor, is_first, shard_model
from trainer.runtime.runs import trainable_weights

HEAD = "value_head.safetensors"


@dataclass(frozen=True)
class Critic:
    """A trunk with a head that makes one number of each of its states."""

    checkpoint: Checkpoint
    head: torch.nn.Linear

    def write(self, folder: Path) -> None:
        """The trunk's checkpoint and the head."""
        self.checkpoint.write(folder)
        head = {name: full_tensor(value).contiguous().cpu() for name, value in self.head.state_dict().items()}
        if is_first():
            save_file(head, folder / HEAD)

    def learning(self, *, vision: bool) -> list[torch.nn.Parameter]:
        """The weights that learn: the head and the trunk, without what says words."""
        return [*trainable_weights(self.checkpoint.model.model, vision=vision), *self.head.parameters()]


def load_critic(path: Path, *, dtype: str = "float32", device: str = "cpu") -> Critic:
    """The critic in a folder; of a policy's folder one that expects nothing.

    Raises CheckpointUnusable, CheckpointMismatched.
    """
    checkpoint = load_checkpoint(path, dtype=dtype, device=device)
    head = torch.nn.Linear(checkpoint.model.config.text_config.hidden_size, 1)
    for weight in head.parameters():
        torch.nn.init.zeros_(weight)
    if (path / HEAD).exists():
        try:
            head.load_state_dict(load_file(path / HEAD))
        except (SafetensorError, OSError) as error:
            raise CheckpointUnusable(f"{path.name} has no usable {HEAD}: {error}") from None
        except RuntimeError:
            raise CheckpointMismatched(f"the {HEAD} of {path.name} is of another shape") from None
    return Critic(checkpoint, head.to(device))


def open_critic(path: Path, config: TrainingConfig) -> Critic:
    """A critic for this run, computed as its settings say; of several processes each holds its share.

    Raises CheckpointUnusable, CheckpointMismatched.
    """
    critic = load_critic(path, device=config.device)
    shard_model(configure_compute(critic.checkpoint.model, config), critic.head)
    return critic


def learned_values(critic: Critic, pack: Pack) -> torch.Tensor:
    """The critic's value at each learned token, before it is drawn; in single precision.

    Returns:
        [T], in units of reward.
    """
    trunk: Any = critic.checkpoint.model.model
    out = trunk(
        input_ids=pack.ids,
        position_ids=pack.positions,
        attention_mask=UNMASKED,
        use_cache=False,
        **vision_inputs(pack),
    )
    values: torch.Tensor = critic.head(out.last_hidden_state[0, pack.places - 1].float())[:, 0]
    return values
