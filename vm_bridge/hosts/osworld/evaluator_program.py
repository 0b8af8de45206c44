"""Sets a task file of OSWorld or of WindowsAgentArena up, or judges it, with its own package, by an interpreter that
has it.

It runs behind walls (`evaluator.py`). It is asked one JSON object on its input and answers one on
its output. The guest's ports are on its own loopback: each leads to a socket that the host gave it, and there is no
other way out but the proxy of its environment.
"""

import importlib
import importlib.util
import json
import logging
import os
import resource
import socket
import sys
import threading
import types
import urllib.request
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

LOOPBACK = "127.0.0.1"
SERVER, BROWSER, VIEWER, PLAYER, PROXY = 5000, 9222, 8006, 8080, 3128
CACHE = "/home/user/cache"
MEMORY_BYTES = 4 * 2**30
"""Of each process (bytes)."""
MAX_FILE_BYTES = 2**30
PROBE_SECONDS = 30.0
RETRY_SECONDS = 1.0
"""Theirs waits five before it asks again for what is not there."""
OPERATORS = ("roi_align", "roi_pool", "ps_roi_align", "ps_roi_pool", "deform_conv2d")
CHUNK = 65_536
MAX_LOG_MESSAGES = 20
MAX_MESSAGE_CHARACTERS = 300


class FailureLogHandler(logging.Handler):
    """What the package only writes into its log when a step did not work."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler.emit`."""
        if len(self.lines) < MAX_LOG_MESSAGES:
            self.lines.append(record.getMessage()[:MAX_MESSAGE_CHARACTERS])


def main() -> None:
    """The answer is the only thing on the output; what libraries print goes to the errors."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE_BYTES, MAX_FILE_BYTES))
    asked = json.load(sys.stdin)
    if most := asked.get("processes"):
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
    told = FailureLogHandler()
    try:
        answer = handle_request(asked, told)
    except Exception as error:  # noqa: BLE001 - whatever a metric raises, people are told
        answer = {"failed": f"{type(error).__name__}: {error}"}
    json.dump({**answer, "told": told.lines}, answers)
    answers.flush()
    os._exit(0)  # library threads delay no one


def handle_request(asked: dict[str, Any], told: FailureLogHandler) -> dict[str, Any]:
    """Handle a request: `names` lists the package's parts, `set_up` and `judge` run a task."""
    prepare_package()
    if asked["do"] == "names":
        return list_package_names()
    for port, path in asked["ways"].items():
        open_tunnel(int(port), path)
    environment = create_arena_environment() if asked["arena"] else create_environment(asked)
    logging.getLogger().addHandler(told)
    if "program" in asked["file"]:
        return dict(load_interface().run_program(asked, environment))
    task = {"instruction": "", **asked["file"], "id": "task"}
    environment._set_task_info(task)
    environment.setup_controller.reset_cache_dir(environment.cache_dir)
    if asked["arena"]:
        return run_arena_task(environment, asked)
    if asked["do"] == "set_up":
        if not environment.setup_controller.setup(environment.config, False):
            raise ConnectionError("the guest's server does not answer")
        return {}
    environment.action_history.append(asked["answer"])
    return {"score": float(environment.evaluate())}


def run_arena_task(environment: Any, asked: dict[str, Any]) -> dict[str, Any]:
    """Set up or judge with WindowsAgentArena's package.

    It only logs that a guest does not answer, and scores 0 where a getter raises. Both end the run with an error here.
    """
    with urllib.request.urlopen(f"http://{LOOPBACK}:{SERVER}/platform", timeout=PROBE_SECONDS) as answer:
        answer.read()
    if asked["do"] == "set_up":
        environment.setup_controller.setup(environment.config)
        return {}
    failures: list[Exception] = []
    for kind in ("result_getter", "expected_getter"):
        getters = getattr(environment, kind)
        several = isinstance(getters, list)
        noted = [note_failures(each, failures) for each in (getters if several else [getters])]
        setattr(environment, kind, noted if several else noted[0])
    environment.action_history.append(asked["answer"])
    score = float(environment.evaluate())
    if failures:
        raise failures[0]
    return {"score": score}


def note_failures(getter: Callable[..., Any] | None, failures: list[Exception]) -> Callable[..., Any] | None:
    """The getter, which also notes what it raises; a file that is not there is no failure."""
    if getter is None:
        return None

    def noting(*arguments: Any) -> Any:
        try:
            return getter(*arguments)
        except FileNotFoundError:
            raise
        except Exception as error:
            failures.append(error)
            raise

    return noting


class LazyModule(types.ModuleType):
    """EasyOCR, which brings torch: the module of all metrics imports it, and one of them uses it, perhaps."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        del sys.modules[self.__name__]
        link_ocr_models()
        declare_operators()
        return getattr(importlib.import_module(self.__name__), name)


def prepare_package() -> None:
    """What the package imports and seldom needs waits until it is needed."""
    warnings.simplefilter("ignore")
    sys.modules["easyocr"] = LazyModule("easyocr")


def link_ocr_models() -> None:
    """EasyOCR looks for its weights in the home folder, and would fetch them; a package has brought them."""
    found = importlib.util.find_spec("easyocr_en_models")
    if found is not None and found.origin is not None:
        folder = Path.home() / ".EasyOCR"
        folder.mkdir(exist_ok=True)
        (folder / "model").symlink_to(Path(found.origin).parent / "models")


def declare_operators() -> None:
    """PyPI's torchvision is built beside a CUDA torch: its operators cannot load beside a CPU one and are missed when
    it is imported. Reading text needs none of them."""
    import torch

    if metadata.version("torch").endswith("+cpu") == metadata.version("torchvision").endswith("+cpu"):
        return
    kept = sys.modules["torchvision_operators"] = types.ModuleType("torchvision_operators")
    library = kept.library = torch.library.Library("torchvision", "FRAGMENT")  # type: ignore[attr-defined]
    library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    for name in ("qnms", *OPERATORS, *(f"_{each}_backward" for each in OPERATORS)):
        library.define(f"{name}(Tensor input) -> Tensor")


def list_package_names() -> dict[str, Any]:
    """What the package has of each kind, by name."""
    from desktop_env.controllers.setup import SetupController
    from desktop_env.evaluators import getters, metrics

    return {
        "metrics": sorted(name for name, each in vars(metrics).items() if callable(each)),
        "getters": sorted(name[4:] for name, each in vars(getters).items() if callable(each)),
        "steps": sorted(name[1:-6] for name in vars(SetupController) if name.endswith("_setup") and name[0] == "_"),
    }


def load_interface() -> Any:
    """The module that runs task programs; it lies beside this program, whichever place that is."""
    return importlib.import_module("task_interface")


def create_environment(asked: dict[str, Any]) -> Any:
    """Theirs, but for its beginning: it would start a virtual machine."""
    from desktop_env.controllers.python import PythonController
    from desktop_env.controllers.setup import SetupController
    from desktop_env.desktop_env import DesktopEnv

    if "program" in asked["file"]:
        SetupController = load_interface().program_controller(SetupController)

    class Environment(DesktopEnv):  # type: ignore[misc]
        def __init__(self) -> None:
            self.vm_ip, self.server_port = LOOPBACK, SERVER
            self.chromium_port, self.vnc_port, self.vlc_port = BROWSER, VIEWER, PLAYER
            self.screen_width, self.screen_height = asked["size"]
            self.client_password = asked["password"]
            self.cache_dir_base = CACHE
            self.enable_proxy = self.current_use_proxy = False
            self.is_environment_used, self.os_type = True, "Ubuntu"
            self.action_history: list[str] = []
            self.controller = PythonController(LOOPBACK, SERVER)
            self.controller.retry_interval = RETRY_SECONDS
            self.setup_controller = SetupController(
                *(LOOPBACK, SERVER, BROWSER, PLAYER, CACHE),
                client_password=self.client_password,
                screen_width=self.screen_width,
                screen_height=self.screen_height,
            )

    return Environment()


def create_arena_environment() -> Any:
    """WindowsAgentArena's, but for its beginning: it would control QEMU."""
    from desktop_env.controllers.python import PythonController
    from desktop_env.controllers.setup import SetupController
    from desktop_env.envs.desktop_env import DesktopEnv

    class Environment(DesktopEnv):  # type: ignore[misc]
        def __init__(self) -> None:
            self.vm_ip, self.remote_vm, self.cache_dir_base = LOOPBACK, True, CACHE
            self.action_history: list[str] = []
            self.controller = PythonController(vm_ip=LOOPBACK)
            self.setup_controller = SetupController(vm_ip=LOOPBACK, cache_dir=CACHE)

    return Environment()


def open_tunnel(port: int, path: str) -> None:
    """Whoever comes to the port is at the socket."""
    listener = socket.create_server((LOOPBACK, port))

    def attend() -> None:
        while True:
            visitor, _ = listener.accept()
            inner = socket.socket(socket.AF_UNIX)
            try:
                inner.connect(path)
            except OSError:
                visitor.close()
                continue
            for one, other in ((visitor, inner), (inner, visitor)):
                threading.Thread(target=copy_stream, args=(one, other), daemon=True).start()

    threading.Thread(target=attend, daemon=True).start()


def copy_stream(source: socket.socket, target: socket.socket) -> None:
    """Until the source ends, or the target."""
    with suppress(OSError):
        while data := source.recv(CHUNK):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    main()
