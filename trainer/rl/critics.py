"""The critics of a run with their optimisers: one shared by all interfaces, or one for each.

Which one expects something of a token follows from the interface its attempt was made by. Where there are several,
each computes all sequences and only its own tokens count, so that several processes keep step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import torch
from torch import Tensor

from trainer.config import TrainingConfig
from trainer.model.critic import Critic, learned_values, open_critic
from trainer.rl.attempts import Attempt, FlatBatch, Interface
from trainer.rl.losses import value_loss
from trainer.rl.policy_updates import Minibatch, SequenceBatch
from trainer.runtime.distributed import (
    backward,
    barrier,
    gather_values,
    is_first,
    no_gradients,
    read_optimiser,
    sum_metrics,
    write_optimiser,
)
from trainer.runtime.runs import create_optimiser, optimiser_step

INTERFACES: tuple[Interface, ...] = get_args(Interface)

CriticSharing = Literal["shared", "apart"]


def token_interfaces(attempts: Sequence[Attempt], flat: FlatBatch) -> Tensor:
    """Of each token the interface, as its number among `INTERFACES`."""
    return torch.tensor([INTERFACES.index(one.interface) for one in attempts])[flat.attempt_index]


@dataclass(frozen=True)
class CriticSlot:
    """A critic, where it is kept, and whose tokens are its own; None for all."""

    critic: Critic
    optimiser: torch.optim.Optimizer
    folder: Path
    interface: int | None

    def owns(self, interfaces: Tensor) -> Tensor:
        """Of each token, whether this critic speaks for it."""
        everyone = torch.ones(len(interfaces), dtype=torch.bool)
        return everyone if self.interface is None else interfaces == self.interface


class CriticSet:
    """What is expected of each token, and how that is learned."""

    def __init__(self, source: Path, saved: Path | None, apart: CriticSharing, config: TrainingConfig) -> None:
        """`source` is what they begin as, a folder for each interface where they are apart and it has such; `kept`
        is where an earlier part of this run left them, which wins. `config` has the critics' own learning rate."""
        self._config = config
        self._slots: list[CriticSlot] = []
        places = [(Path(), None)] if apart == "shared" else [(Path(name), n) for n, name in enumerate(INTERFACES)]
        for folder, interface in places:
            begun = source / folder
            critic = open_critic(saved / folder if saved else begun if begun.exists() else source, config)
            optimiser = create_optimiser(critic.learning(vision=config.vision), config)
            if saved:
                read_optimiser(optimiser, saved / folder)
            self._slots.append(CriticSlot(critic, optimiser, folder, interface))

    def write(self, target: Path) -> None:
        """All of them, with their optimisers."""
        for slot in self._slots:
            if is_first():
                (target / slot.folder).mkdir(parents=True)
            barrier()
            slot.critic.write(target / slot.folder)
            write_optimiser(slot.optimiser, target / slot.folder)

    def values(self, parts: Sequence[SequenceBatch], interfaces: Tensor) -> Tensor:
        """What is expected at each token, before it is drawn."""
        values = torch.zeros(len(interfaces))
        with no_gradients():
            for slot in self._slots:
                own = slot.owns(interfaces)
                for part in parts:
                    found = learned_values(slot.critic, part.pack).cpu()
                    if part.counts:
                        values[part.places] = torch.where(own[part.places], found, values[part.places])
        return gather_values(values)

    def learn(
        self,
        step: Minibatch,
        values: Tensor,
        returns: Tensor,
        anchors: Tensor,
        interfaces: Tensor,
        update: int,
        *,
        clip: float | None,
    ) -> dict[str, float]:
        """A step of each that has tokens in it; `values` are those of before, `anchors` what each token counts."""
        losses, steepest = 0.0, 0.0
        for slot in self._slots:
            own = anchors * slot.owns(interfaces)
            if not (count := float(own[step.places].sum())):
                continue
            total = 0.0
            for part in step.parts:
                one, places = part.pack, part.places
                old, wanted, weights = (
                    each[places].to(one.ids.device) for each in (values, returns, own * part.counts)
                )
                loss = value_loss(learned_values(slot.critic, one), old, wanted, weights, count, clip=clip)
                backward(loss)
                total += float(loss.detach())
            losses += sum_metrics({"value_loss": total})["value_loss"]
            steepest = max(steepest, optimiser_step(slot.optimiser, update, self._config)["gradient"])
        return {"value_loss": losses, "value_gradient": steepest}
