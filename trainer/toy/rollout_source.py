"""The rollout source of the toy world: the trainer plays the attempts of an update with its current weights."""

from trainer.model.checkpoints import Checkpoint
from trainer.rl.config import OnPolicyConfig
from trainer.serve.prompt_encoder import PromptEncoder
from trainer.toy.batched_rollouts import play_episodes
from trainer.toy.episodes import LightsEpisode
from trainer.toy.trajectory_folders import write_trajectory_folder

CONTEXT = 256
TOOL_VARIANTS = {"lights": (False,), "lights helped": (True,), "lights both": (False, True)}
"""Whether the tool is offered: never, always, or at each task once without it and once with it."""


class LightsSource:
    """Plays the toy world between two updates."""

    def prepare(self, checkpoint: Checkpoint, config: OnPolicyConfig, update: int) -> int:
        """Play the attempts into one folder. Returns 1: the folder counts, however many of its attempts are usable."""
        play_lights(checkpoint, config, update)
        return 1


def play_lights(checkpoint: Checkpoint, config: OnPolicyConfig, update: int) -> None:
    """Play an update's attempts into the inbox, unless they are there already. Each update has its own tasks."""
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
