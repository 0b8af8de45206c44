"""Runs a task program of OSWorld 2.0 beside OSWorld's package, inside the isolated evaluator.

`evaluator_program.py` imports it. OSWorld 2.0's own package is used where it is installed; else this module adds what
programs import most to OSWorld's first package: the base class, the place of files, the websites' addresses and the
judging model.
"""

import base64
import inspect
import json
import math
import mimetypes
import os
import pickle
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PACKAGE = "desktop_env"
TASK_FOLDER = "evaluation_examples/task_class"
"""Where OSWorld 2.0 keeps programs, below the folder that it runs in; files that lie beside them are found so."""
FIELDS: Mapping[str, Any] = {
    **dict.fromkeys(("id", "instruction", "snapshot", "source", "trajectory"), ""),
    **dict.fromkeys(("evaluator", "image", "instance_type", "volume_size", "user_simulator")),
    **dict.fromkeys(("proxy", "disable_vnc", "disable_recording"), False),
    "platform": "linux",
    "intermediate_eval_safe": True,
}
PUBLISHED_ASSETS = "https://huggingface.co/datasets/xlangai/osworld_v2_assets/resolve/main"
ASSETS_URL, WEBSITES = "OSWORLD_FILE_BASE_URL", "WEBSITE_HOST_SUFFIX"
JUDGE = "OSWORLD_EVAL_MODEL"
JUDGE_SECONDS = 180.0
JUDGE_CALLS = ("generate_text", "generate_json", "generate_chat")
GUEST_SERVER = "127.0.0.1:5000"
PROXY_REFUSAL = "X-Pilothouse-Refusal"
"""A header of the way out: the host itself was not reached."""
STATE = "task_state.pickle"
DECIMALS = 6
"""Sums of partial scores are rounded, so that ten tenths are 1."""
MAX_DETAILS = 4_000


class ProgramError(Exception):
    """A program cannot be run or judged; the text begins with a stable code."""


class FailureWatch:
    """What a program did not reach, or may not have noticed: its guest, its services and its judging model."""

    def __init__(self, hosts: Sequence[str]) -> None:
        self._hosts = tuple(hosts)
        self._reached: dict[str, bool] = {}
        self._judge: list[str] = []

    def install(self) -> None:
        """Watch every request of the `requests` library from now on."""
        import requests

        send = requests.Session.send

        def watched(session: Any, request: Any, **options: Any) -> Any:
            try:
                response = send(session, request, **options)
            except (requests.ConnectionError, requests.Timeout):
                self.note(request.url, reached=False)
                raise
            self.note(request.url, reached=PROXY_REFUSAL not in response.headers)
            return response

        requests.Session.send = watched  # type: ignore[assignment, method-assign]

    def note(self, url: str, *, reached: bool) -> None:
        """Keep the last outcome of each host that is watched."""
        parts = urlsplit(url)
        watched = (parts.hostname or "") if parts.netloc != GUEST_SERVER else GUEST_SERVER
        if watched == GUEST_SERVER or any(watched == host or watched.endswith(f".{host}") for host in self._hosts):
            self._reached[watched] = reached

    def judged(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same call to a judging model, whose failure is kept where the program passes over it."""

        def kept(*given: Any, **named: Any) -> Any:
            try:
                return call(*given, **named)
            except Exception as error:
                self._judge.append(f"{type(error).__name__}: {error}")
                raise

        return kept

    def raise_failures(self) -> None:
        """Raises ProgramError where a score would say nothing of the attempt."""
        if self._judge:
            raise ProgramError(f"judge_unreachable: {self._judge[0]}")
        unreached = sorted(host for host, reached in self._reached.items() if not reached)
        if unreached:
            raise ProgramError(f"services_unreachable: {', '.join(unreached)}")


def run_program(asked: Mapping[str, Any], environment: Any) -> dict[str, Any]:
    """Set a program up or judge it, as `asked["do"]` says; the answer to the bridge. Raises ProgramError."""
    services = asked["services"]
    os.environ.update(services)
    watch = FailureWatch(service_names(services))
    watch.install()
    install_interface(watch)
    given = asked["file"]
    task = load_task(given["program"], given.get("name") or "task")
    begin_task(environment, task)
    if asked["do"] == "set_up":
        if str(task.instruction).strip() != str(given.get("instruction", task.instruction)).strip():
            raise ProgramError("instruction_differs: the program says another than the task")
        call_set_up(task, environment.setup_controller)
        watch.raise_failures()
        keep_state(task, environment)
        return {}
    restore_state(task, environment)
    environment.action_history.append(asked["answer"])
    said = task.evaluate(environment)
    watch.raise_failures()
    score, details = read_score(said)
    return {"score": score, "details": details}


def service_names(services: Mapping[str, str]) -> list[str]:
    """The names of hosts, without ports, whose failure is none of the attempt's."""
    urls = [value for name, value in services.items() if name.endswith("_URL")]
    hosts = [urlsplit(url).hostname or "" for url in urls]
    suffix = services.get(WEBSITES, "").partition(":")[0]
    return [host for host in (*hosts, suffix) if host]


# --- the interface


def install_interface(watch: FailureWatch) -> None:
    """Give programs what they import: OSWorld 2.0's own package, or the first one with what is added here."""
    if find_spec(f"{PACKAGE}.task_base") is not None:
        for name in (f"{PACKAGE}.evaluators.model_client", f"{PACKAGE}.evaluators.metrics.llm_metrics"):
            module = import_module(name)
            for call in JUDGE_CALLS:
                if hasattr(module, call):
                    setattr(module, call, watch.judged(getattr(module, call)))
        return
    serve_local_files()
    add_module("task_base", BaseTask=BaseTask)
    add_module("file_source", asset=asset)
    add_module("controllers.website", build_website_url=build_website_url)
    add_module("evaluators.model_client", generate_text=watch.judged(generate_text))


def add_module(name: str, **parts: Any) -> None:
    """A module of OSWorld's package with these names."""
    full = f"{PACKAGE}.{name}"
    module = sys.modules[full] = types.ModuleType(full)
    vars(module).update(parts)
    parent, _, last = full.rpartition(".")
    setattr(import_module(parent), last, module)


def serve_local_files() -> None:
    """Let the `requests` library read `file:` addresses, as the place of files may be a folder."""
    import requests

    adapter = import_module("requests_file").FileAdapter
    begin = requests.Session.__init__

    def begun(session: Any) -> None:
        begin(session)
        session.mount("file://", adapter())

    requests.Session.__init__ = begun  # type: ignore[assignment, method-assign]


class BaseTask(dict[str, Any]):
    """What task programs derive their class from: a dict of the fields that the runner reads."""

    def __init__(self) -> None:
        fields = {name: getattr(self, name, value) for name, value in FIELDS.items()}
        super().__init__({**fields, "config": list(self.config), "related_apps": list(self.related_apps)})

    config: Sequence[Any] = ()
    related_apps: Sequence[str] = ()

    def __getattr__(self, name: str) -> Any:
        if name in FIELDS:
            return FIELDS[name]
        raise AttributeError(name)

    def setup(self, setup_controller: Any, use_proxy: bool = False) -> None:
        """Make the start state; by the steps of `config` where a program has no other."""
        setup_controller.setup(list(self.config), use_proxy)


def program_controller(base: type[Any]) -> type[Any]:
    """OSWorld's controller of set-ups with the public names that programs call its steps by."""

    class ProgramController(base):  # type: ignore[misc]
        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            return getattr(self, f"_{name}_setup")

        def execute(self, command: Any, *given: Any, timeout: float | None = None, **named: Any) -> Any:
            """Run a command in the guest. The guest's server has a time limit of its own, whatever `timeout` says."""
            return self._execute_setup(command, *given, **named)

    return ProgramController


def asset(path: str) -> str:
    """The address of one of OSWorld's files."""
    return f"{os.environ.get(ASSETS_URL, PUBLISHED_ASSETS).rstrip('/')}/{path.lstrip('/')}"


def build_website_url(path: str) -> str:
    """The address of one of OSWorld's websites: over HTTPS where that answers, else over HTTP."""
    import requests

    host = f"{path}.{os.environ[WEBSITES]}"
    try:
        requests.get(f"https://{host}", timeout=10, verify=False)  # noqa: S501 - theirs have certificates of their own
    except requests.RequestException:
        return f"http://{host}"
    return f"https://{host}"


def generate_text(
    prompt: str,
    image_paths: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    system: str | None = None,
    default_model: str = "",
) -> str:
    """What the judging model says to a prompt with pictures, over OpenAI's interface. Raises requests' errors."""
    import requests

    parts: list[dict[str, Any]] = [{"type": "text", "text": prompt}]
    parts += [{"type": "image_url", "image_url": {"url": data_url(Path(path))}} for path in image_paths]
    messages = [{"role": "system", "content": system}] if system else []
    body = {"model": os.environ.get(f"{JUDGE}_NAME") or default_model, **(options or {})}
    key_name = os.environ.get(f"{JUDGE}_API_KEY_ENV") or f"{JUDGE}_API_KEY"
    key = os.environ.get(key_name, "")
    reply = requests.post(
        f"{os.environ[f'{JUDGE}_BASE_URL'].rstrip('/')}/chat/completions",
        json={**body, "messages": [*messages, {"role": "user", "content": parts}]},
        headers={"Authorization": f"Bearer {key}"} if key else {},
        timeout=JUDGE_SECONDS,
    )
    reply.raise_for_status()
    return str(reply.json()["choices"][0]["message"]["content"])


def data_url(path: Path) -> str:
    """A picture as an address that holds it."""
    kind = mimetypes.guess_type(path.name)[0] or "image/png"
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


# --- a program


def load_task(source: str, name: str) -> Any:
    """The task of a program: what its `get_task()` makes, its `TASK_CLASS` or `Task`, or its only class of a task.

    Raises ProgramError.
    """
    path = Path(TASK_FOLDER, f"{Path(name).name}.py").absolute()
    module = types.ModuleType(f"task_program_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    exec(compile(source, path, "exec"), vars(module))  # noqa: S102 - it is what this isolated program is for
    known = vars(module)
    if callable(made := known.get("get_task")):
        return made()
    base = import_module(f"{PACKAGE}.task_base").BaseTask
    classes = [each for each in known.values() if isinstance(each, type) and issubclass(each, base)]
    own = [each for each in classes if each.__module__ == module.__name__ and hasattr(each, "evaluate")]
    found = known.get("TASK_CLASS") or known.get("Task") or next(iter(own), None)
    if found is None:
        raise ProgramError("form_unsupported: it has no class of a task")
    return found()


def begin_task(environment: Any, task: Any) -> None:
    """What OSWorld's environment knows of its task."""
    environment.task_id, environment.instruction = str(task.id), str(task.instruction)
    environment.task_config, environment.config, environment.evaluator = task, list(task.config or ()), None
    environment.cache_dir = str(Path(environment.cache_dir_base, "task"))
    Path(environment.cache_dir).mkdir(exist_ok=True)
    environment.setup_controller.reset_cache_dir(environment.cache_dir)


def call_set_up(task: Any, controller: Any) -> None:
    """Its `setup`, told that there is no proxy where it can be told."""
    named = inspect.signature(task.setup).parameters
    task.setup(controller, **({"use_proxy": False} if "use_proxy" in named else {}))


def keep_state(task: Any, environment: Any) -> None:
    """Keep what `setup` left on the task, because judging begins another program. Raises ProgramError."""
    try:
        kept = pickle.dumps((dict(task), vars(task)))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise ProgramError(f"form_unsupported: what its setup keeps cannot be stored: {error}") from None
    Path(environment.cache_dir_base, STATE).write_bytes(kept)


def restore_state(task: Any, environment: Any) -> None:
    """The task as `setup` left it."""
    kept = Path(environment.cache_dir_base, STATE)
    if kept.is_file():
        items, attributes = pickle.loads(kept.read_bytes())  # noqa: S301 - of the same program, in the same isolation
        task.update(items)
        vars(task).update(attributes)


def read_score(said: Any) -> tuple[float, str]:
    """A score from 0 to 1, and what else was said, as JSON. Raises ProgramError."""
    value = said.get("score") if isinstance(said, Mapping) else said
    try:
        score = round(float(value), DECIMALS)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ProgramError(f"score_invalid: {value!r} is no number") from None
    if not math.isfinite(score) or not 0 <= score <= 1:
        raise ProgramError(f"score_invalid: {score} is not from 0 to 1")
    others = {name: each for name, each in said.items() if name != "score"} if isinstance(said, Mapping) else {}
    return score, json.dumps(others, default=str, ensure_ascii=False)[:MAX_DETAILS] if others else ""
