"""The bridge's information about tasks: its hosts' images, its suites with their tasks, and which evaluators machines
lack."""

import asyncio
from collections.abc import Mapping, Sequence

from django.conf import settings

from annotation_app.errors import Conflict, Invalid, NotFound
from protocol.base import FrozenModel
from protocol.trajectory.tasks import Task, TaskVariant
from vm_bridge.api.client import DEFAULT_VARIANT, BridgeClient
from vm_bridge.errors import BridgeError, InvalidAction, UnknownTask
from vm_bridge.fleet import SuiteInfo

TASKS_PER_REQUEST = 16
"""Most tasks in one request to the bridge, whose bodies may have 8 MiB."""

CHOICES_TIMEOUT_SECONDS = 3.0


class MachineChoices(FrozenModel):
    """The images and suites from which a pool's settings and tasks are chosen."""

    reachable: bool
    """Whether the bridge answered. If not, nothing is known."""
    images: tuple[str, ...] = ()
    """The images that some host provides."""
    suites: tuple[SuiteInfo, ...] = ()


async def machine_choices() -> MachineChoices:
    """What the bridge reports now."""
    try:
        async with (
            asyncio.timeout(CHOICES_TIMEOUT_SECONDS),
            BridgeClient(settings.ENV.bridge_url, settings.ENV.bridge_master) as bridge,
        ):
            images = sorted({image for host in await bridge.fleet.hosts() for image in host.images})
            return MachineChoices(reachable=True, images=tuple(images), suites=await bridge.suites())
    except (BridgeError, TimeoutError):
        return MachineChoices(reachable=False)


async def suite_tasks(suite: str, variant: TaskVariant = DEFAULT_VARIANT) -> tuple[Task, ...]:
    """The tasks of a suite of the bridge. Tasks without the requested variant are left out.

    Raises NotFound, Invalid if no task has the variant, and Conflict when the bridge does not answer.
    """
    async with BridgeClient(settings.ENV.bridge_url, settings.ENV.bridge_master) as bridge:
        try:
            return await bridge.suite_tasks(suite, variant)
        except UnknownTask as error:
            raise NotFound(str(error), field="suite") from error
        except InvalidAction as error:
            raise Invalid(str(error), code="unknown_variant") from error
        except BridgeError as error:
            raise Conflict(str(error), code=error.code) from error


async def unknown_tasks(tasks: Sequence[Task]) -> dict[str, str]:
    """Why some of the tasks name an unknown suite or an unknown task of a suite, by task id. Raises Conflict when the
    bridge does not answer."""
    named = [task for task in tasks if task.suite is not None]
    if not named:
        return {}
    async with BridgeClient(settings.ENV.bridge_url, settings.ENV.bridge_master) as bridge:
        try:
            suites = {suite.name: suite for suite in await bridge.suites()}
        except BridgeError as error:
            raise Conflict(str(error), code=error.code) from error
    return {task.id: reason for task in named if (reason := _unknown_reason(suites, task)) is not None}


def _unknown_reason(suites: Mapping[str, SuiteInfo], task: Task) -> str | None:
    suite = suites.get(task.suite or "")
    if suite is None:
        return f"suite: there is no {task.suite}; there are {', '.join(sorted(suites))}"
    if suite.platform != task.platform:
        return (
            f"suite: the tasks of {suite.name} are for a {suite.platform}, and this pool's platform is {task.platform}"
        )
    if task.name not in {known.name for known in suite.tasks}:
        return f"name: the suite {suite.name} has no task {task.name or ''}"
    return None


async def unsupported_tasks(image: str, tasks: Sequence[Task]) -> dict[str, str]:
    """Why machines of this image cannot evaluate some of the tasks, by task id. Only tasks with an evaluator of their
    own are sent to the bridge. Raises Conflict when it does not answer."""
    with_evaluators = [task for task in tasks if "osworld" in task.parameters]
    unsupported: dict[str, str] = {}
    if not with_evaluators:
        return unsupported
    async with BridgeClient(settings.ENV.bridge_url, settings.ENV.bridge_master) as bridge:
        try:
            for first in range(0, len(with_evaluators), TASKS_PER_REQUEST):
                some = with_evaluators[first : first + TASKS_PER_REQUEST]
                answers = await bridge.unsupported_tasks(image, some)
                unsupported |= {task.id: why for task, why in zip(some, answers, strict=True) if why is not None}
        except BridgeError as error:
            raise Conflict(str(error), code=error.code) from error
    return unsupported
