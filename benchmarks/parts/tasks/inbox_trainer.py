"""A trainer that learns nothing: it takes an update's attempts from its inbox, waits, and saves an empty checkpoint.

`python -m benchmarks.parts.tasks.inbox_trainer RUN INBOX ATTEMPTS UPDATES SECONDS`, in the trainer's environment.
"""

import sys
import time
from collections import Counter
from pathlib import Path

from trainer.data.inbox import Inbox
from trainer.data.trajectories import open_folder
from trainer.rl.attempts import Attempt


def main() -> None:
    """Take every update's attempts, as GRPO takes them: those with a sibling."""
    run, folder, attempts, updates, seconds = sys.argv[1:]
    inbox, tasks = Inbox(Path(folder), patience=600), set[str]()
    Path(run, "update-000000").mkdir(parents=True)
    for update in range(1, int(updates) + 1):
        taken = inbox.take(int(attempts), read, lambda attempt: None, compared=tasks)
        tasks |= {one.task for one in taken.attempts}
        time.sleep(float(seconds))
        Path(run, f"update-{update:06}").mkdir()
        inbox.mark_processed(taken.folders)


def read(path: Path) -> tuple[list[Attempt], Counter[str]]:
    """The attempts of a folder, without their steps."""
    found = open_folder(path).trajectories()
    return [Attempt(one.id, one.task.id, (), (), True, True, (), 1, 0.0) for one in found], Counter()


if __name__ == "__main__":
    main()
