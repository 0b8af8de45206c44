"""Sets tasks of AndroidWorld up on a phone and scores them with AndroidWorld's own package.

It runs by an interpreter that has the package, behind walls (`android_world.py`), for as long as a task is worked on:
a task keeps what it set up for its score. It reads a JSON object a line and answers each by a line. The phone is
reached by the program `adb` through the socket that the host gave it, and by nothing else.
"""

import json
import os
import resource
import shutil
import sys
from pathlib import Path
from typing import Any

ADB_SCRIPT = """#!/bin/sh
# The package names a server and a device, and restarts the server; here are one device and somebody else's server.
while :; do case "$1" in -P|-s|-L|-H|-t) shift 2 ;; -a|-d|-e) shift ;; *) break ;; esac; done
case "$1" in kill-server|start-server|reconnect|connect|disconnect) exit 0 ;; esac
exec {adb} "$@"
"""
MEMORY_BYTES = 3 * 2**30
"""Of each process (bytes)."""
MAX_FILE_BYTES = 2**30
MAX_MESSAGE_CHARACTERS = 1_000
MAX_PARAMETER_CHARACTERS = 20_000
"""Longer ones are made by the seed."""
KEY_HOME = ("shell", "input", "keyevent", "KEYCODE_HOME")
ADB_TIMEOUT_SECONDS = 60.0


class UnsupportedRequest(Exception):
    """The package has no such task, or not with these words."""


def main() -> None:
    """Answers are the only thing on the output; what libraries print goes to the errors."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE_BYTES, MAX_FILE_BYTES))
    session = TaskSession()
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = session.handle(asked)
        except UnsupportedRequest as error:
            answer = {"unsupported": str(error)[:MAX_MESSAGE_CHARACTERS]}
        except Exception as error:  # noqa: BLE001 - whatever a task raises, people are told
            answer = {"failed": describe(error)}
        answers.write(json.dumps({**answer, "number": asked["number"]}) + "\n")
        answers.flush()
    os._exit(0)  # library threads delay no one


class TaskSession:
    """One phone, and the task that is set up on it."""

    def __init__(self) -> None:
        self._environment: Any = None
        self._task: Any = None
        self._asked: dict[str, Any] = {}

    def handle(self, asked: dict[str, Any]) -> dict[str, Any]:
        """`list` says what tasks there are, `initialize` and `score` do one, `tear_down` ends it."""
        match asked["do"]:
            case "list":
                return {"tasks": list(list_tasks(asked))}
            case "initialize":
                return self._initialize(asked)
            case "score":
                return self._score(asked.get("answer", ""))
            case _:
                self._task.tear_down(self._environment)
                return {}

    def _initialize(self, asked: dict[str, Any]) -> dict[str, Any]:
        self._asked = asked
        self._task = make_task(asked)
        if asked.get("goal", self._task.goal) != self._task.goal:
            raise UnsupportedRequest("the package now gives the task other words; list its tasks again")
        if self._environment is None:
            self._environment = create_environment()
        self._task.initialize_task(self._environment)
        self._environment.interaction_cache = ""
        if getattr(self._task, "start_on_home_screen", True):
            self._environment.controller.env.adb(*KEY_HOME)
        return {}

    def _score(self, answer: str) -> dict[str, Any]:
        """The package's reward. Where it raises, the task is set up once more: if nothing was done and it scores then,
        the attempt is what broke it."""
        self._environment.interaction_cache = answer
        try:
            return {"score": float(self._task.is_successful(self._environment))}
        except Exception as error:  # noqa: BLE001 - see above
            broken = describe(error)
        self._initialize(self._asked)
        self._task.is_successful(self._environment)
        return {"score": 0.0, "broken": broken}


def describe(error: Exception) -> str:
    """One line for people."""
    return f"{type(error).__name__}: {error}"[:MAX_MESSAGE_CHARACTERS]


def find_registry(family: str) -> dict[str, Any]:
    """The classes of a family of tasks, by name."""
    from android_world.registry import TaskRegistry

    try:
        return dict(TaskRegistry().get_registry(family))
    except ValueError as error:
        raise UnsupportedRequest(str(error)) from None


def make_tasks(registry: dict[str, Any], seed: int, combinations: int) -> dict[str, list[Any]]:
    """Each with parameters that follow from the seed, as the package's own runs make them."""
    from android_world.suite_utils import create_suite

    return dict(create_suite(registry, n_task_combinations=combinations, seed=seed))


def make_task(asked: dict[str, Any]) -> Any:
    """One task of one seed, or with the parameters that were listed; `combination` counts from 0. Raises
    UnsupportedRequest."""
    registry = find_registry(asked["family"])
    name = asked["task"]
    if name not in registry:
        raise UnsupportedRequest(f"{asked['family']} has no task {name}")
    if asked.get("params") is not None:
        registry[name].set_device_time(None)
        return registry[name](asked["params"])
    return make_tasks({name: registry[name]}, asked["seed"], asked["combination"] + 1)[name][asked["combination"]]


def list_tasks(asked: dict[str, Any]) -> Any:
    """Rows of a file of tasks, in the order of their names."""
    made = make_tasks(find_registry(asked["family"]), asked["seed"], asked["combinations"])
    for name, tasks in made.items():
        for combination, task in enumerate(tasks):
            place = {"family": asked["family"], "task": name, "seed": asked["seed"], "combination": combination}
            if (params := plain_parameters(task)) is not None:
                place["params"] = params
            yield {"android_world": place, "goal": task.goal, "complexity": float(task.complexity)}


def plain_parameters(task: Any) -> dict[str, Any] | None:
    """A task's parameters where JSON can carry them: some follow from the time of day, and no seed makes them again.
    None where it cannot."""
    try:
        text = json.dumps(task.params)
    except (TypeError, ValueError):
        return None
    given = json.loads(text)
    return given if given == task.params and len(text) <= MAX_PARAMETER_CHARACTERS else None


def write_adb_script(folder: Path) -> Path:
    """A program that the package takes for adb. Raises FileNotFoundError."""
    adb = shutil.which("adb")
    if adb is None:
        raise FileNotFoundError("adb is not installed")
    script = folder / "adb"
    script.write_text(ADB_SCRIPT.format(adb=adb))
    script.chmod(0o755)
    return script


def create_environment() -> Any:
    """Theirs over adb alone. Theirs by itself asks an emulator's console and puts an app on it."""
    from android_env import env_interface
    from android_env.components import adb_call_parser, adb_controller, config_classes
    from android_world.env import android_world_controller, interface

    config = config_classes.AdbControllerConfig(
        adb_path=str(write_adb_script(Path.home())), default_timeout=ADB_TIMEOUT_SECONDS
    )
    controller = adb_controller.AdbController(config)

    class AdbEnvironment(env_interface.AndroidEnvInterface):  # type: ignore[misc]
        """A phone that is only reached by adb."""

        def __init__(self) -> None:
            self._parser = adb_call_parser.AdbCallParser(controller)

        def action_spec(self) -> dict[str, Any]:
            return {}

        def observation_spec(self) -> dict[str, Any]:
            return {}

        def reset(self) -> Any:
            return self._observe()

        def step(self, action: Any) -> Any:
            """Tasks look at the screen by an action that does nothing."""
            return self._observe()

        def close(self) -> None:
            """Nothing is held."""

        def execute_adb_call(self, call: Any) -> Any:
            return self._parser.parse(call)

        def adb(self, *words: str) -> bytes:
            """What a command of adb writes."""
            return bytes(controller.execute_command(list(words)))

        def _observe(self) -> Any:
            import dm_env

            observation = {"pixels": read_pixels(self.adb("exec-out", "screencap"))}
            return dm_env.transition(reward=0.0, observation=observation)

    method = android_world_controller.A11yMethod.UIAUTOMATOR
    return interface.AsyncAndroidEnv(android_world_controller.AndroidWorldController(AdbEnvironment(), method))


def read_pixels(raw: bytes) -> Any:
    """The RGB array `[height, width, 3]` of what `screencap` writes: a header, then RGBA."""
    import numpy as np

    width, height = (int.from_bytes(raw[place : place + 4], "little") for place in (0, 4))
    header = len(raw) - width * height * 4
    return np.frombuffer(raw, np.uint8, offset=header).reshape(height, width, 4)[:, :, :3]


if __name__ == "__main__":
    main()
