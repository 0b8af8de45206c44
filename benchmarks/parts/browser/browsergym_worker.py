"""BrowserGym at work on MiniWoB++ in a process of its own: run by `peers.py` with BrowserGym's Python.

Arguments: the address of the pages, a task, "delays" or "quick", seconds. Prints `ready`, waits for a line, then prints
one JSON object.
"""

import json
import os
import random
import sys
import time
from typing import Any

import browsergym.miniwob  # noqa: F401
import gymnasium
from browsergym.core.action.highlevel import HighLevelActionSet

VIEWPORT = {"width": 1280, "height": 720}
QUICK = {"slow_mo": 0, "pre_observation_delay": 0.0}
REACH = (160, 210)
"""Where in a page its task lies."""


def main(address: str, task: str, delays: str, seconds: float) -> None:
    os.environ["MINIWOB_URL"] = f"{address}/miniwob/"
    act = HighLevelActionSet(subsets=["coord"]).to_python_code
    given: dict[str, Any] = {} if delays == "delays" else QUICK
    environment = gymnasium.make(
        f"browsergym/miniwob.{task}", viewport=VIEWPORT, action_mapping=act, disable_env_checker=True, **given
    )
    environment.reset(seed=0)
    environment.step("mouse_click(5, 5)")
    print("ready", flush=True)
    sys.stdin.readline()
    rng, steps, spent, resets, seed = random.Random(7), 0, 0.0, [], 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.monotonic()
        click = f"mouse_click({rng.randrange(REACH[0])}, {rng.randrange(REACH[1])})"
        _, _, terminated, truncated, _ = environment.step(click)
        steps, spent = steps + 1, spent + time.monotonic() - began
        if terminated or truncated:
            seed, began = seed + 1, time.monotonic()
            environment.reset(seed=seed)
            resets.append(1000 * (time.monotonic() - began))
    environment.close()
    print(json.dumps({"steps": steps, "seconds": spent, "resets_ms": resets}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]))
