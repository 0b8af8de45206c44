"""Browser tasks as Gymnasium environments, in this process and without a bridge.

`gymnasium.make("vm_bridge.gym:Pilothouse/games-2048-v0")`; after `import vm_bridge.gym` also without the module's name.
"""

from vm_bridge.gym.actions import ACTION_KINDS, action_space, to_action
from vm_bridge.gym.env import BrowserEnv
from vm_bridge.gym.registration import register
from vm_bridge.gym.vector import BrowserVectorEnv
from vm_bridge.gym.wrappers import GridClicks

register()

__all__ = ["ACTION_KINDS", "BrowserEnv", "BrowserVectorEnv", "GridClicks", "action_space", "to_action"]
