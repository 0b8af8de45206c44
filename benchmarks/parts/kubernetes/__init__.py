"""Desktops in pods: the contract of machines on a simulated cluster."""
