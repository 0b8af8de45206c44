"""MiniWoB++ as its own package brings it: its pages unchanged, its seeds, its instructions, its rewards."""

from vm_bridge.suites.miniwob.suite import MiniWob, instruction_read, reward_of

__all__ = ["MiniWob", "instruction_read", "reward_of"]
