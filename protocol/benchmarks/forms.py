"""Common fields of every benchmark's tasks, and the settings of a benchmark folder."""

import json
import tomllib
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

from protocol.actions.types import Action
from protocol.base import FrozenModel
from protocol.benchmarks.boxes import place_in_box
from protocol.harbor.task_folders import HARBOR
from protocol.site_tasks import SITE_TASK, LiveSite, SiteTask
from protocol.trajectory.tasks import ScreenSize, Task

BENCHMARK = "benchmark"
"""The parameter of a task that came from a benchmark's own file: a `BenchmarkOrigin`."""
ORACLE = "oracle"
"""The parameter of a task that holds the acts of its oracle, a list of actions."""
SETTINGS_FILE = "benchmark.toml"
ORACLES_FOLDER = "oracles"
"""Acts that solve a task, recorded by the folder's owner: `oracles/ID.jsonl`, an action a line."""
MAX_ORACLE_ACTS = 200
OPEN_WEB = ("*",)

OracleSource = Literal["published", "own", "none"]
"""Source of a task's solution: the benchmark, our own recording, or none."""

Row = Mapping[str, Any]
"""One task as a benchmark's file has it."""


class FormError(ValueError):
    """A file or a row is not of the form of its benchmark."""

    code = "benchmark_invalid"


class BenchmarkOrigin(FrozenModel):
    """Which benchmark a task is of; travels as `parameters["benchmark"]`."""

    name: str
    oracle_source: OracleSource


class FolderSettings(FrozenModel):
    """`benchmark.toml`, which the owner of a folder of a benchmark writes."""

    start_page: Annotated[str, StringConstraints(pattern=r"^https?://", max_length=2_000)] = "https://duckduckgo.com/"
    """Where questions begin, which name no site."""
    network: tuple[str, ...] = OPEN_WEB
    """Hosts that tasks on the web may reach."""
    max_steps: int | None = Field(default=None, ge=1, le=1_000)
    """Of every task, in the place of the form's own."""
    screen: ScreenSize = (1280, 800)
    """Of tasks on the web, in pixels."""
    keep_processes: tuple[str, ...] = ()
    """Names of Harbor's task folders whose tests need what the attempt left running, such as a server."""
    benchmark: Literal["osworld", "windows-agent-arena"] = "osworld"
    """Of task files in OSWorld's form, which WindowsAgentArena's have too."""
    image: Annotated[str, StringConstraints(max_length=255)] = ""
    """The image of repository tasks, where `{id}` stands for the task's id; empty: the published one."""


def parse_settings(data: bytes) -> FolderSettings:
    """The settings of a folder. Raises FormError."""
    try:
        return FolderSettings.model_validate(tomllib.loads(data.decode()))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FormError(f"{SETTINGS_FILE}: {error}") from None
    except ValidationError as error:
        raise FormError(f"{SETTINGS_FILE}: {first_message(error)}") from None


def parse_oracle(data: bytes) -> list[dict[str, Any]]:
    """The acts of an oracle, an action a line of JSON; `box` and `format` may stand for `x` and `y`.

    Raises FormError.
    """
    lines = [line for line in data.splitlines() if line.strip()]
    if len(lines) > MAX_ORACLE_ACTS:
        raise FormError(f"an oracle has more than {MAX_ORACLE_ACTS} acts")
    try:
        acts = [place_in_box(json.loads(line)) for line in lines]
        return [_ACTION.validate_python(act).model_dump(mode="json") for act in acts]
    except ValidationError as error:
        raise FormError(f"an act of an oracle: {first_message(error)}") from None
    except (ValueError, TypeError) as error:
        raise FormError(f"an act of an oracle: {error}") from None


def oracle_actions(task: Task) -> tuple[Action, ...]:
    """The acts that solve a task, in order; none where it carries none, or none that can be read."""
    given = task.parameters.get(ORACLE)
    try:
        return tuple(_ACTION.validate_python(each) for each in given) if isinstance(given, list) else ()
    except ValidationError:
        return ()


def oracle_source(task: Task) -> OracleSource:
    """Where a task's solution is from; a Harbor folder publishes its own."""
    given, harbor = task.parameters.get(BENCHMARK), task.parameters.get(HARBOR)
    if given is None:
        files = harbor.get("files") if isinstance(harbor, dict) else None
        return "published" if isinstance(files, dict) and "solution/solve.sh" in files else "none"
    try:
        return BenchmarkOrigin.model_validate(given).oracle_source
    except ValidationError:
        return "none"


def origin(name: str, source: OracleSource) -> dict[str, str]:
    """The parameter `benchmark` of a task."""
    return {"name": name, "oracle_source": source}


def web_task(fields: dict[str, Any], url: str, settings: FolderSettings) -> Task:
    """A task that begins on a page of the web, and which only a judge can judge. Raises FormError."""
    try:
        site = SiteTask(site=LiveSite(url=url), size=settings.screen)
        parameters = {SITE_TASK: site.model_dump(mode="json"), **fields.pop("parameters")}
        steps = {} if settings.max_steps is None else {"max_steps": settings.max_steps}
        return Task.model_validate(
            {"platform": "browser", "network": settings.network, **fields, **steps, "parameters": parameters}
        )
    except ValidationError as error:
        raise FormError(first_message(error)) from None


def text_of(row: Row, *names: str) -> str:
    """The first of these columns that the row has, whatever the case of its name. Raises FormError."""
    lower = {str(name).strip().lower(): value for name, value in row.items()}
    for name in names:
        value = lower.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
    raise FormError(f"{names[0]}: it is missing")


def first_message(error: ValidationError) -> str:
    """The first fault that was found, without its input."""
    first = error.errors(include_input=False, include_url=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


_ACTION: TypeAdapter[Action] = TypeAdapter(Action)
