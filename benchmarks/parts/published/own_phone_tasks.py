"""A small package of our own in the form of AndroidWorld's, with tasks for the simulated phone.

It has the modules and names that the evaluator's program uses, and nothing of AndroidWorld's. It stands in for
`android_env` too, which speaks to adb.
"""

import json
import sys
import tempfile
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.parts.published.own_tasks import write_files

SEED = 7
DARK = "Switch the phone to the dark theme."
NETWORK = "Which wireless network is the phone connected to? Answer with its name."

ANDROID_ENV: Mapping[str, str] = {
    "android_env/__init__.py": "",
    "android_env/components/__init__.py": "",
    "android_env/env_interface.py": '''"""The base of environments."""
class AndroidEnvInterface:
    pass
''',
    "android_env/components/config_classes.py": '''"""Settings of the controller."""
import dataclasses
@dataclasses.dataclass
class AdbControllerConfig:
    adb_path: str = "adb"
    adb_server_port: int = 5037
    default_timeout: float = 30.0
    device_name: str = ""
''',
    "android_env/components/adb_controller.py": '''"""Runs adb, as if there were several servers and devices."""
import subprocess
class AdbController:
    def __init__(self, config):
        self._config = config
    def execute_command(self, args, timeout=None, device_specific=True):
        words = [self._config.adb_path, "-P", str(self._config.adb_server_port)]
        words += ["-s", self._config.device_name] if device_specific else []
        return subprocess.run(
            [*words, *args], check=True, capture_output=True, timeout=timeout or self._config.default_timeout
        ).stdout
''',
    "android_env/components/adb_call_parser.py": '''"""Does what is asked of adb."""
class AdbCallParser:
    def __init__(self, controller):
        self._controller = controller
    def parse(self, request):
        return self._controller.execute_command(list(request))
''',
}

ANDROID_WORLD: Mapping[str, str] = {
    "android_world/__init__.py": "",
    "android_world/env/__init__.py": "",
    "android_world/env/android_world_controller.py": '''"""What tasks reach the phone by."""
import enum
class A11yMethod(enum.Enum):
    UIAUTOMATOR = "uiautomator"
class AndroidWorldController:
    def __init__(self, env, a11y_method):
        self.env = env
    def shell(self, *words):
        return self.env.execute_adb_call(["shell", *words]).decode()
''',
    "android_world/env/interface.py": '''"""What tasks are given."""
class AsyncAndroidEnv:
    def __init__(self, controller):
        self.controller = controller
        self.interaction_cache = ""
''',
    "android_world/suite_utils.py": '''"""Tasks with parameters from a seed."""
import random
def create_suite(task_registry, n_task_combinations=1, seed=None):
    made = {}
    for name, task in sorted(task_registry.items()):
        made[name] = []
        for number in range(n_task_combinations):
            random.seed(f"{seed}-{name}-{number}")
            made[name].append(task(task.generate_random_params()))
    return made
''',
    "android_world/registry.py": '''"""All tasks."""
from android_world.tasks import TASKS
class TaskRegistry:
    def get_registry(self, family):
        if family != "android_world":
            raise ValueError(f"Unsupported family: {family}")
        return TASKS
''',
    "android_world/tasks.py": f'''"""Tasks for the simulated phone."""
import json
import random
import time
class TaskEval:
    template, complexity, start_on_home_screen = "", 1.0, True
    def __init__(self, params):
        self.params, self.initialized = params, False
    @property
    def goal(self):
        return self.template.format(**self.params)
    @classmethod
    def set_device_time(cls, env):
        pass
    @classmethod
    def generate_random_params(cls):
        return {{}}
    def initialize_task(self, env):
        """Restores what the apps held: the snapshot that the phone has."""
        env.controller.shell("python3", "/image/apps/load.py", "/image/apps/start.json")
        self.initialized = True
    def is_successful(self, env):
        if not self.initialized:
            raise RuntimeError("it was not initialized")
        return 1.0
    def tear_down(self, env):
        self.initialize_task(env)
    def state(self, env):
        return json.loads(env.controller.shell("cat", "phone/state.json"))
class DarkTheme(TaskEval):
    template = {DARK!r}
    def is_successful(self, env):
        super().is_successful(env)
        return float(self.state(env)["settings"]["theme"] == "dark")
class NetworkName(TaskEval):
    template = {NETWORK!r}
    complexity = 0.5
    def is_successful(self, env):
        super().is_successful(env)
        return float(env.interaction_cache == self.state(env)["settings"]["network"])
class Numbered(TaskEval):
    template = "Do nothing with {{number}}."
    @classmethod
    def generate_random_params(cls):
        return {{"number": random.randrange(1_000_000), "object": object}}
class Timed(TaskEval):
    """Its parameters follow from no seed."""
    template = "Do nothing at {{time}}."
    @classmethod
    def generate_random_params(cls):
        return {{"time": time.time_ns()}}
class Fragile(DarkTheme):
    """Its reward raises once the theme is dark: what the attempt did broke it."""
    def is_successful(self, env):
        if super().is_successful(env):
            raise KeyError("no such row")
        return 0.0
class Unjudgeable(TaskEval):
    def is_successful(self, env):
        raise KeyError("no such table")
    template = "Do what nobody can judge."
class Unpreparable(TaskEval):
    template = "Begin nowhere."
    def initialize_task(self, env):
        env.controller.shell("false")
class Nosy(TaskEval):
    """Looks for other devices and for a way out."""
    template = "Look around."
    def is_successful(self, env):
        import os, socket, subprocess
        found = 0.0
        try:
            socket.create_connection(("127.0.0.1", 5037), 1).close()
            found = 1.0
        except OSError:
            pass
        way = os.environ["ADB_SERVER_SOCKET"].partition(":")[2]
        for asked in ("host:transport:other", "host:kill", "host:track-devices", "host:connect:10.0.0.1:5555"):
            with socket.socket(socket.AF_UNIX) as one:
                one.connect(way)
                one.sendall(f"{{len(asked):04x}}{{asked}}".encode())
                found = 1.0 if one.recv(4) != b"FAIL" else found
        listed = subprocess.run(["adb", "devices"], capture_output=True, text=True).stdout.split("\\n")[1:]
        return found or float([line for line in listed if line.strip()] != [os.environ["ANDROID_SERIAL"] + "\\tdevice"])
TASKS = {{
    task.__name__: task
    for task in (DarkTheme, NetworkName, Numbered, Timed, Fragile, Unjudgeable, Unpreparable, Nosy)
}}
''',
}

DARK_BOXES: Sequence[Mapping[str, Any]] = (
    {"kind": "open_app", "name": "Settings"},
    {"kind": "click", "box": [0, 455, 412, 52], "format": "xywh"},
    {"kind": "click", "box": [0, 802, 412, 854], "format": "xyxy"},
)
"""What solves `DarkTheme` on the simulated phone: the theme, then dark."""


@contextmanager
def phone_environment() -> Iterator[Path]:
    """An interpreter that has the package, in an environment of its own where the users of sandboxes can enter."""
    with tempfile.TemporaryDirectory(prefix="pilothouse-own-world-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        venv.create(folder, symlinks=True)
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        files = {path: text.encode() for path, text in {**ANDROID_ENV, **ANDROID_WORLD}.items()}
        write_files(folder / "lib" / version / "site-packages", files)
        yield folder / "bin" / "python"


def phone_row(name: str, goal: str, **place: Any) -> dict[str, Any]:
    """A row as the list of the package's tasks has it."""
    where = {"family": "android_world", "task": name, "seed": SEED, "combination": 0, **place}
    return {"android_world": where, "goal": goal, "complexity": 0.5}


def write_phone_tasks(folder: Path, *rows: Mapping[str, Any]) -> Path:
    """A folder with a file of these tasks, and a recorded solution for `DarkTheme`."""
    acts = b"".join(json.dumps(act).encode() + b"\n" for act in DARK_BOXES)
    return write_files(
        folder,
        {"android_world.json": json.dumps(list(rows)).encode(), f"oracles/DarkTheme-{SEED}-0.jsonl": acts},
    )
