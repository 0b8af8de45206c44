"""The toy world as the trainer's own: it plays the attempts of an update, by the weights as they are."""

from typing import TYPE_CHECKING

from trainer.model.checkpoints import Checkpoint
from trainer.serve.prompt_encoder import PromptEncoder
from trainer.toy.batched_rollouts import play_episodes
from trainer.toy.episodes import LightsEpisode
from trainer.toy.trajectory_folders import write_trajectory_folder

if TYPE_CHECKING:
    from trainer.rl.training_loop import OnPolicyConfig

CONTEXT = 256
TOOL_VARIANTS = {"lights": (False,), "lights helped": (True,), "lights both": (False, True)}
"""Whether the tool is offered: never, always, or at each task once without it and once with it."""


def play_lights(checkpoint: Checkpoint, config: "OnPolicyConfig", update: int) -> None:
    """Put an update's attempts into the inbox, unless they are there; each update has tasks of its own."""
    target = config.inbox / f"played-{update:06}"
    if target.exists():
        return
    ways = TOOL_VARIANTS[config.world]
    first = (config.seed * 1_000_000 + update) * 1_000
    tries = [divmod(number // len(ways), config.group) for number in range(config.attempts)]
    plays = [
        LightsEpisode(first + task, draw, with_tool=ways[number % len(ways)])
        for number, (task, draw) in enumerate(tries)
    ]
    reader = PromptEncoder(checkpoint, max_images=1, context=CONTEXT)
    play_episodes(checkpoint, reader, plays, version=f"update-{update - 1:06}", temperature=config.temperature)
    blobs = {ref: data for play in plays for ref, data in play.blobs.items()}
    write_trajectory_folder(target, [play.trajectory() for play in plays], blobs)
