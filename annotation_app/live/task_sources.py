"""Tasks for pools, from every source that rollouts accept (docs/guides/researcher/tasks.md)."""

import argparse
import asyncio
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from agent_backend.errors import AgentError
from agent_backend.rollout.options import add_expert_task_options, build_plan, check_options
from agent_backend.rollout.pool_tasks import is_pool
from agent_backend.rollout.task_sources import check_publishable, list_tasks, read_tasks, tasks_checksum
from annotation_app.errors import Conflict, Invalid
from protocol.trajectory.tasks import Task
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError, BridgeUnavailable


@dataclass(frozen=True, slots=True)
class ChosenTasks:
    """The tasks chosen from a source."""

    tasks: tuple[Task, ...]
    sha256: str
    """Checksum of the tasks, in their order."""
    image: str
    """The machine image that was given; empty if none was."""


def read_task_file(path: Path, image: str) -> tuple[Task, ...]:
    """The tasks of a file or folder for machines of an image. Raises Invalid with a code that names the fault."""
    try:
        tasks = read_tasks(path, image)
        check_publishable(tasks)
        return tasks
    except AgentError as error:
        raise Invalid(str(error), code=error.code) from error


def add_source_options(parser: argparse.ArgumentParser) -> None:
    """Add a rollout's task options. The bridge is this installation's."""
    add_expert_task_options(parser)
    parser.set_defaults(bridge=settings.ENV.bridge_url)


def choose_source_tasks(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> ChosenTasks:
    """The tasks that a command line with `add_source_options` names.

    Raises Invalid with a code that names the fault, and Conflict when the bridge does not answer. Exits like the parser
    if options are missing.
    """
    check_options(parser, arguments)
    if is_pool(arguments.tasks or ""):
        raise Invalid("Tasks of a pool are worked on in that pool: name it with --pool.", code="invalid_source")
    try:
        tasks = asyncio.run(_list_tasks(arguments))
    except BridgeUnavailable as error:
        raise Conflict(str(error), code=error.code) from error
    except (AgentError, BridgeError) as error:
        raise Invalid(str(error), code=error.code) from error
    return ChosenTasks(tasks, tasks_checksum(tasks), arguments.image or "")


async def _list_tasks(arguments: argparse.Namespace) -> tuple[Task, ...]:
    async with BridgeClient(arguments.bridge, settings.ENV.bridge_master) as bridge:
        tasks = await list_tasks(build_plan(arguments), bridge)
        check_publishable(tasks)
        return tasks
