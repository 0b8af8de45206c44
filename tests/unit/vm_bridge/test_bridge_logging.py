"""What a bridge's log may hold, at any level."""

import os
import subprocess
import sys

SHOW = """
import logging
from vm_bridge.__main__ import configure_logging
configure_logging()
print(logging.getLogger().isEnabledFor(logging.DEBUG), logging.getLogger("uvicorn.error").isEnabledFor(logging.DEBUG))
"""


def test_no_level_logs_what_sockets_carry() -> None:
    """Below INFO the server of sockets logs tickets, headers and the screens of terminals."""
    environment = {**os.environ, "PILOTHOUSE_LOG_LEVEL": "DEBUG"}
    shown = subprocess.run([sys.executable, "-c", SHOW], env=environment, capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["True", "False"]
