"""Desktops with applications, set up and judged by OSWorld's package."""
