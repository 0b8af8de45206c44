"""Desktops as whole virtual machines: what they boot from, and what runs in them outside of the sandbox."""
