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
    """The interface by which each token's attempt acted.

    Returns:
        Its index in `INTERFACES`, [T] (int).
    """
    return torch.tensor([INTERFACES.index(one.interface) for one in attempts])[flat.attempt_index]


@dataclass(frozen=True)
class CriticSlot:
    """A critic, its optimiser, and where both are saved."""

    critic: Critic
    optimiser: torch.optim.Optimizer
    folder: Path
    interface: int | None
    """Index in `INTERFACES`; None: all tokens are its own."""

    def owns(self, interfaces: Tensor) -> Tensor:
        """Whether this critic estimates each token.

        Args:
            interfaces: Index of each token's interface, [T] (int).

        Returns:
            [T] (bool).
        """
        everyone = torch.ones(len(interfaces), dtype=torch.bool)
        return everyone if self.interface is None else interfaces == self.interface


class CriticSet:
    """What is expected of each token, and how that is learned."""

    def __init__(self, source: Path, saved: Path | None, apart: CriticSharing, config: TrainingConfig) -> None:
        """Load the critics.

        Args:
            source: The checkpoint to start from. Separate critics take its folder of their interface if it has one.
            saved: The critics of an earlier part of this run; they replace `source`.
            apart: Whether one critic serves every interface.
            config: With the critics' own learning rate.
        """
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
        """The critics' value at each token, before it is drawn.

        Args:
            parts: The sequences of this rank.
            interfaces: Index of each token's interface, [T] (int).

        Returns:
            [T], in units of reward, the same on all ranks.
        """
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
        """An optimiser step of each critic that has tokens in a minibatch.

        Args:
            step: The sequences of this rank.
            values: The critics' values before the update, [T].
            returns: The targets, [T].
            anchors: Weight of each token, [T].
            interfaces: Index of each token's interface, [T] (int).
            update: Number of the update, which sets the learning rate.
            clip: As in `trainer.rl.losses.value_loss`.

        Returns:
            `value_loss`, and `value_gradient`, the largest gradient norm.
        """
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
