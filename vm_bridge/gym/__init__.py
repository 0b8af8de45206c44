"""Browser tasks as Gymnasium environments, in this process and without a bridge.

`gymnasium.make("vm_bridge.gym:Pilothouse/games-2048-v0")`; after `import vm_bridge.gym` also without the module's name.
"""

from vm_bridge.gym.acts import KINDS, act_of, action_space
from vm_bridge.gym.env import BrowserEnv
from vm_bridge.gym.register import register
from vm_bridge.gym.vector import BrowserVectorEnv
from vm_bridge.gym.wrappers import GridClicks

register()

__all__ = ["KINDS", "BrowserEnv", "BrowserVectorEnv", "GridClicks", "act_of", "action_space"]
