"""MiniWoB++ as its own package brings it: its pages unchanged, its seeds, its instructions, its rewards."""

from vm_bridge.suites.miniwob.suite import MiniWob, read_instruction, read_reward

__all__ = ["MiniWob", "read_instruction", "read_reward"]
