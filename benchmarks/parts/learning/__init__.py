"""Experiments with learning: each keeps its raw records, from which its figures are computed."""
