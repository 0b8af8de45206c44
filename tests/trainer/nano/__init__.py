"""Reinforcement in the toy world: what is learned there, and what happens when a process is killed."""
