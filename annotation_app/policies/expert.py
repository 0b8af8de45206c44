"""The policy without a server: the scripted expert of each episode's own machine."""

EXPERT_URL = "http://machine.invalid/expert"
"""Stands for its address; no machine on any network has such a name."""
