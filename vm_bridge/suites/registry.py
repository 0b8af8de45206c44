"""Every suite that comes with the bridge, by name."""

from functools import cache

from protocol.site_tasks import SITE_TASK
from protocol.trajectory.tasks import Task, TaskVariant
from vm_bridge.errors import InvalidAction, UnknownTask
from vm_bridge.fleet import SuiteInfo, SuiteTaskInfo
from vm_bridge.suites import Suite
from vm_bridge.suites.desktop import DESKTOP
from vm_bridge.suites.harbor import HarborSuite
from vm_bridge.suites.miniwob.clicker import SCRIPTED_PAGES
from vm_bridge.suites.miniwob.suite import MiniWob
from vm_bridge.suites.phone import PhoneSuite
from vm_bridge.suites.questions import QuestionSuite
from vm_bridge.suites.site_tasks import SiteTaskSuite
from vm_bridge.suites.terminal import TERMINAL
from vm_bridge.suites.web import DRILLS, GAMES, SITES, FolderSuite
from vm_bridge.suites.web.manifest import LANGUAGES
from vm_bridge.suites.web_suite import WebSuite

SUITES: dict[str, Suite] = {"desktop": DESKTOP, "phone": PhoneSuite(), "terminal": TERMINAL, "harbor": HarborSuite()}
WEB_SUITES: dict[str, WebSuite] = {
    **{"drills": DRILLS, "games": GAMES, "sites": SITES},
    **{"miniwob": MiniWob(), "questions": QuestionSuite(), SITE_TASK: SiteTaskSuite()},
}
"""Those whose tasks are played in a browser."""
MAX_SEEDS = 2**31
"""Where every seed makes another task."""
MINIWOB_SEEDS = 200
"""Seeds whose instruction is noted."""


def get_suite(name: str) -> Suite | WebSuite:
    """The suite of this name. Raises UnknownTask."""
    suite = SUITES.get(name) or WEB_SUITES.get(name)
    if suite is None:
        raise UnknownTask(f"there is no suite {name}")
    return suite


def make_tasks(name: str, variant: TaskVariant) -> tuple[Task, ...]:
    """A suite's tasks in one form, those left out that have it not. Raises UnknownTask, and InvalidAction where none
    has it."""
    suite, wanted = get_suite(name), variant.model_dump()
    made, why = list[Task](), None
    for task in suite.tasks:
        try:
            made.append(suite.make(task.name or "", **wanted))
        except InvalidAction as error:
            why = error
    if why is not None and not made:
        raise why
    return tuple(made)


@cache
def list_suites() -> tuple[SuiteInfo, ...]:
    """Every suite that has tasks of its own, with the names of its tasks."""
    return tuple(
        SuiteInfo(
            name=name,
            platform=suite.tasks[0].platform,
            languages=LANGUAGES if isinstance(suite, FolderSuite) else ("en",),
            seeds=_seeds(suite),
            tasks=tuple(
                SuiteTaskInfo(
                    name=task.name or "",
                    instruction=task.instruction,
                    levels=_levels(suite, task),
                    has_script=_has_script(suite, task),
                    sizes=_sizes(suite, task),
                )
                for task in suite.tasks
            ),
        )
        for name, suite in (SUITES | WEB_SUITES).items()
        if suite.tasks
    )


def _seeds(suite: Suite | WebSuite) -> int:
    if isinstance(suite, MiniWob):
        return MINIWOB_SEEDS
    return MAX_SEEDS if isinstance(suite, FolderSuite | QuestionSuite) else 1


def _levels(suite: Suite | WebSuite, task: Task) -> int:
    return suite.level_count(task.name or "") if isinstance(suite, FolderSuite | QuestionSuite) else 1


def _sizes(suite: Suite | WebSuite, task: Task) -> tuple[str, ...]:
    sizes = suite.sizes(task.name or "") if isinstance(suite, FolderSuite | MiniWob) else ()
    return tuple("{}x{}".format(*size) for size in sizes)


def _has_script(suite: Suite | WebSuite, task: Task) -> bool:
    if isinstance(suite, FolderSuite):
        return bool(suite.folder(task.name).expert)
    if isinstance(suite, QuestionSuite):
        return True
    return isinstance(suite, MiniWob) and task.name in SCRIPTED_PAGES
