"""Where a phone's host and a phone's programs find each other; paths are below the home folder inside."""

from pathlib import Path

PORT = 5600
"""Where the daemon listens; adb looks for emulators by itself from 5555 to 5585."""
TRUSTED_KEYS = Path(".android/adb_keys")
"""The public keys that may sign in, one a line."""
STATE_FILE = Path("phone/state.json")
"""What the phone's apps hold."""
