"""Inputs from public reports and what they must become."""
