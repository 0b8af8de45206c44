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

from trainer.attempts import Attempt, Flat, Interface
from trainer.config import Training
from trainer.critic import Critic, critic_open, learned_values
from trainer.improvement import Minibatch, Part
from trainer.losses import value_loss
from trainer.ranks import added, backward, gathered, is_first, meet, optimiser_read, optimiser_write, unlearning
from trainer.runs import optimiser_of, stepped

INTERFACES: tuple[Interface, ...] = get_args(Interface)

Apart = Literal["shared", "apart"]


def interfaces_of(attempts: Sequence[Attempt], flat: Flat) -> Tensor:
    """Of each token the interface, as its number among `INTERFACES`."""
    return torch.tensor([INTERFACES.index(one.interface) for one in attempts])[flat.owner]


@dataclass(frozen=True)
class Seat:
    """A critic, where it is kept, and whose tokens are its own; None for all."""

    critic: Critic
    optimiser: torch.optim.Optimizer
    folder: Path
    interface: int | None

    def owns(self, interfaces: Tensor) -> Tensor:
        """Of each token, whether this critic speaks for it."""
        everyone = torch.ones(len(interfaces), dtype=torch.bool)
        return everyone if self.interface is None else interfaces == self.interface


class Critics:
    """What is expected of each token, and how that is learned."""

    def __init__(self, source: Path, kept: Path | None, apart: Apart, config: Training) -> None:
        """`source` is what they begin as, a folder for each interface where they are apart and it has such; `kept`
        is where an earlier part of this run left them, which wins. `config` has the critics' own learning rate."""
        self._config = config
        self._seats: list[Seat] = []
        places = [(Path(), None)] if apart == "shared" else [(Path(name), n) for n, name in enumerate(INTERFACES)]
        for folder, interface in places:
            begun = source / folder
            critic = critic_open(kept / folder if kept else begun if begun.exists() else source, config)
            optimiser = optimiser_of(critic.learning(vision=config.vision), config)
            if kept:
                optimiser_read(optimiser, kept / folder)
            self._seats.append(Seat(critic, optimiser, folder, interface))

    def write(self, target: Path) -> None:
        """All of them, with their optimisers."""
        for seat in self._seats:
            if is_first():
                (target / seat.folder).mkdir(parents=True)
            meet()
            seat.critic.write(target / seat.folder)
            optimiser_write(seat.optimiser, target / seat.folder)

    def values(self, parts: Sequence[Part], interfaces: Tensor) -> Tensor:
        """What is expected at each token, before it is drawn."""
        values = torch.zeros(len(interfaces))
        with unlearning():
            for seat in self._seats:
                own = seat.owns(interfaces)
                for part in parts:
                    found = learned_values(seat.critic, part.pack).cpu()
                    if part.counts:
                        values[part.places] = torch.where(own[part.places], found, values[part.places])
        return gathered(values)

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
        for seat in self._seats:
            own = anchors * seat.owns(interfaces)
            if not (count := float(own[step.places].sum())):
                continue
            total = 0.0
            for part in step.parts:
                one, places = part.pack, part.places
                old, wanted, weights = (
                    each[places].to(one.ids.device) for each in (values, returns, own * part.counts)
                )
                loss = value_loss(learned_values(seat.critic, one), old, wanted, weights, count, clip=clip)
                backward(loss)
                total += float(loss.detach())
            losses += added({"value_loss": total})["value_loss"]
            steepest = max(steepest, stepped(seat.optimiser, update, self._config)["gradient"])
        return {"value_loss": losses, "value_gradient": steepest}
