"""The toy world as the trainer's own: it plays the attempts of an update, by the weights as they are."""

from typing import TYPE_CHECKING

from trainer.checkpoints import Checkpoint
from trainer.serve.reader import Reader
from trainer.toy.folders import folder_write
from trainer.toy.playing import Play
from trainer.toy.together import played

if TYPE_CHECKING:
    from trainer.onpolicy import OnPolicy

CONTEXT = 256
WAYS = {"lights": (False,), "lights helped": (True,), "lights both": (False, True)}
"""Whether the tool is offered: never, always, or at each task once without it and once with it."""


def lights_play(checkpoint: Checkpoint, config: "OnPolicy", update: int) -> None:
    """Put an update's attempts into the inbox, unless they are there; each update has tasks of its own."""
    target = config.inbox / f"played-{update:06}"
    if target.exists():
        return
    ways = WAYS[config.world]
    first = (config.seed * 1_000_000 + update) * 1_000
    tries = [divmod(number // len(ways), config.group) for number in range(config.attempts)]
    plays = [Play(first + task, draw, helped=ways[number % len(ways)]) for number, (task, draw) in enumerate(tries)]
    reader = Reader(checkpoint, max_images=1, context=CONTEXT)
    played(checkpoint, reader, plays, version=f"update-{update - 1:06}", temperature=config.temperature)
    blobs = {ref: data for play in plays for ref, data in play.blobs.items()}
    folder_write(target, [play.trajectory() for play in plays], blobs)
