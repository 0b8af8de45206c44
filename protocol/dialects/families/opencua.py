"""OpenCUA 7B to 72B: see `protocol.dialects.code_sections`."""

from protocol.dialects.code_sections import OPENCUA

DIALECT = OPENCUA
