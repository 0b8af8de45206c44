"""Holo2 of H Company: see `protocol.dialects.holo_tools`."""

from protocol.dialects.holo_tools import HOLO

DIALECT = HOLO
