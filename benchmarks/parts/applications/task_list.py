"""All tasks of our own for desktops with applications."""

from benchmarks.parts.applications.desktop_tasks import DESKTOP_TASKS
from benchmarks.parts.applications.media_tasks import MEDIA_TASKS
from benchmarks.parts.applications.office_tasks import OFFICE_TASKS

OWN_TASKS = (*OFFICE_TASKS, *MEDIA_TASKS, *DESKTOP_TASKS)
