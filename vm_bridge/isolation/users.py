"""User ids for sandboxes: one of its own for each, since many of the kernel's limits are by user.

Instances and watches of inotify, pages of pipes, pending signals, message queues, locked memory and processes are
counted by the user id outside, across all namespaces. Two sandboxes of one user could use up each other's.
"""

import itertools
import os
import secrets
import threading
from pathlib import Path

FIRST_USER = 0x6F000000
"""Where the range of users begins that sandboxes run as when this process is root; far above those in use."""
USERS = 0x10000

_numbers = itertools.count(secrets.randbelow(USERS))
_choosing = threading.Lock()


def user_free() -> int | None:
    """A user id that no process has, and that is not given again before all others were. None where this process is
    not root: then all sandboxes are its own user, and share these limits."""
    if os.geteuid() != 0:
        return None
    taken = users_of_processes()
    with _choosing:
        for number in itertools.islice(_numbers, USERS):
            user = FIRST_USER + number % USERS
            if user not in taken:
                return user
    raise RuntimeError("every user id for sandboxes has processes")


def users_of_processes() -> set[int]:
    """The users of the range that have processes on this machine, of whichever bridge."""
    found = set()
    with os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdecimal():
                try:
                    found.add(Path(entry.path).stat().st_uid)
                except FileNotFoundError:
                    continue  # it has ended
    return {user for user in found if FIRST_USER <= user < FIRST_USER + USERS}
