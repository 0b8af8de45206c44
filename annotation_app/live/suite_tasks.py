"""What the bridge says of tasks: those its suites bring along, and those that machines of an image cannot judge."""

from collections.abc import Sequence

from django.conf import settings

from annotation_app.errors import Conflict, NotFound
from protocol.trajectory.tasks import Task
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError, UnknownTask

TASKS_PER_REQUEST = 16
"""Tasks the bridge is asked about in one call, whose bodies may have 8 MiB."""


async def suite_tasks(suite: str) -> tuple[Task, ...]:
    """The tasks a suite of the bridge brings along. Raises NotFound, and Conflict when the bridge does not answer."""
    async with BridgeClient(settings.ENV.bridge_url, settings.ENV.bridge_master) as bridge:
        try:
            return await bridge.suite_tasks(suite)
        except UnknownTask as error:
            raise NotFound(str(error)) from error
        except BridgeError as error:
            raise Conflict(str(error), code=error.code) from error


async def unsupported_tasks(image: str, tasks: Sequence[Task]) -> dict[str, str]:
    """Why machines of this image would not judge some of the tasks, by the tasks' ids; the bridge is asked about those
    alone that bring an evaluator of their own. Raises Conflict when it does not answer."""
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
