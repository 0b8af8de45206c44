"""Desktops with real applications, and tasks of our own for them in the form of OSWorld's task files."""
