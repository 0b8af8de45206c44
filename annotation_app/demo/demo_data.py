"""The users, policy, pools and tasks of the demo."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from django.conf import settings
from django.db import transaction
from django.utils.crypto import salted_hmac
from pydantic import TypeAdapter

from annotation_app.accounts.services import password_ensure, user_ensure
from annotation_app.flywheel.services.first import flywheel_ensure, policy_server_moved
from annotation_app.policies.expert import EXPERT_URL
from annotation_app.policies.selectors import revision_server
from annotation_app.policies.services import policy_ensure
from annotation_app.tasks.services import pool_ensure, tasks_add
from protocol.trajectory.tasks import Task

TASKS_FILE = Path(__file__).with_name("tasks.json")
PHONE_FILE = Path(__file__).with_name("phone.json")
TERMINAL_FILE = Path(__file__).with_name("terminal.json")
BROWSER_FILE = Path(__file__).with_name("browser.json")
SMALL_FILE = Path(__file__).with_name("small.json")
TASKS: TypeAdapter[tuple[Task, ...]] = TypeAdapter(tuple[Task, ...])
BROWSER_POOLS = (
    ("Browser games", "Small games that are paused between your actions.", "games"),
    ("Drills", "One skill each on a small screen: press, choose, fill in, sort, drag.", "drills"),
    ("Web tasks", "Shops, mail, calendars, tables, a wiki: pages made for this.", "sites"),
    ("MiniWoB++", "The classic small web tasks, as their package has them.", "miniwob"),
)
"""Browser pools: name, description, and the suite that supplies the tasks."""
SMALL_SCREENS = "Small screens"
"""The pool of the bundled policy. The demo's flywheel trains it."""
NANO = ("nano", "7")
"""The bundled policy and its revision."""
NANO_CHECKPOINT = Path(__file__).parents[2] / "trainer" / "nano" / "checkpoint"
FIRST_POOL_TASKS = 6
"""Number of tasks of the first pool. The second one gets the rest."""

INSTRUCTIONS = """\
Do the task as a careful person would, one small step at a time.

* **Accept** a proposal when it is what you would do; otherwise **override** it.
* Say in the thought what you see and why you act; write it before you look at the outcome.
* Mark proposals that would also have been fine, and those that would have done harm.
* Finish when the screen shows that the task is done. If it cannot be done, say *infeasible*.
"""


@dataclass(frozen=True, slots=True)
class DemoUser:
    """A demo user; `staff` may use Django's admin."""

    username: str
    name: str
    roles: tuple[str, ...]
    staff: bool = False

    def password(self, *, exposed: bool) -> str:
        """An easy password if only this machine can sign in. Otherwise it is derived from the installation's own
        key."""
        if not exposed:
            return f"{self.username}-demo"
        return salted_hmac("demo-password", self.username, algorithm="sha256").hexdigest()[:20]


DEMO_USERS = (
    DemoUser("annotator", "Ada Annotator", ("annotator",)),
    DemoUser("annotator2", "Ben Annotator", ("annotator",)),
    DemoUser("reviewer", "Rosa Reviewer", ("reviewer",)),
    DemoUser("researcher", "Ravi Researcher", ("researcher",)),
    DemoUser("admin", "Alex Admin", ("admin", "annotator"), staff=True),
)


@dataclass(frozen=True, slots=True)
class DemoPool:
    """A demo pool; `image` is the image of its machines."""

    name: str
    description: str
    tasks: list[Task]
    image: str = "desktop"
    practice: bool = False
    policy: Literal["scripted", "expert", "nano"] = "scripted"
    """The policy: a server's scripts, the machine's own scripted expert, or the bundled model."""
    priority: int = 0


def _small_screens_pool() -> DemoPool:
    """The first pool that people see: the bundled policy's training tasks, with seeds that it was not trained on."""
    tasks = list(TASKS.validate_json(SMALL_FILE.read_bytes()))
    about = "Drills and small web tasks for the bundled model, which proposes from pixels alone and is often wrong."
    return DemoPool(SMALL_SCREENS, about, tasks, image="browser", policy="nano", priority=1)


def split_practice(tasks: tuple[Task, ...]) -> tuple[list[Task], list[Task]]:
    """The bundled tasks for practice, and the others."""
    practice = [task for task in tasks if task.parameters.get("practice", False)]
    return practice, [task for task in tasks if task not in practice]


@transaction.atomic(durable=True)
def load_demo(*, exposed: bool = False) -> int:
    """Create missing demo data. Existing data stays, except the demo users' passwords. Returns the number of new tasks.
    `exposed`: people on other machines can reach the installation."""
    people = []
    for user in DEMO_USERS:
        password = user.password(exposed=exposed)
        person = user_ensure(
            username=user.username, password=password, name=user.name, roles=list(user.roles), staff=user.staff
        )
        password_ensure(user=person, password=password)
        people.append(person)
    policy = policy_ensure(
        name="scripted",
        revision="1",
        dialect="ui_tars_1_5",
        base_url=settings.ENV.scripted_url,
        model="scripted",
        scripted=True,
    )
    # No model either: the expert's action follows from the state of the task, which differs by seed.
    expert = policy_ensure(
        name="expert",
        revision="1",
        dialect="ui_tars_1_5",
        base_url=EXPERT_URL,
        model="expert",
        scripted=True,
    )
    members = [person for person in people if person.has_role("annotator")]
    tasks = TASKS.validate_json(TASKS_FILE.read_bytes())
    phone = TASKS.validate_json(PHONE_FILE.read_bytes())
    terminal = TASKS.validate_json(TERMINAL_FILE.read_bytes())
    browser = TASKS.validate_json(BROWSER_FILE.read_bytes())
    practice, real = split_practice(tasks)
    phone_practice, phone_real = split_practice(phone)
    terminal_practice, terminal_real = split_practice(terminal)
    pools = (
        DemoPool("Practice", "Try the desk; nothing here is kept for training.", practice, practice=True),
        DemoPool("Desktop basics", "Files, windows and short texts.", real[:FIRST_POOL_TASKS]),
        DemoPool("Desktop office", "Longer errands across several programs.", real[FIRST_POOL_TASKS:]),
        DemoPool(
            "Phone practice",
            "Try taps and swipes; nothing here is kept for training.",
            phone_practice,
            image="phone",
            practice=True,
        ),
        DemoPool("Phone tasks", "Contacts, messages, shop, clock and settings.", phone_real, image="phone"),
        DemoPool(
            "Terminal practice",
            "Try commands and files; nothing here is kept for training.",
            terminal_practice,
            image="terminal",
            practice=True,
        ),
        DemoPool(
            "Terminal and tools",
            "Commands, files, Python, an interactive program, notes; there is no screen.",
            terminal_real,
            image="terminal",
        ),
        *(
            DemoPool(name, about, [task for task in browser if task.suite == suite], image="browser", policy="expert")
            for name, about, suite in BROWSER_POOLS
        ),
    )
    policies = {"scripted": policy, "expert": expert}
    if settings.ENV.nano_url:
        if before := revision_server(name=NANO[0], revision=NANO[1]):
            policy_server_moved(before=before, now=settings.ENV.nano_url)
        policies["nano"] = policy_ensure(
            name=NANO[0],
            revision=NANO[1],
            dialect="ui_tars_1_5",
            base_url=settings.ENV.nano_url,
            model="nano",
            sampling={"temperature": 0.7, "max_tokens": 64},
            memory={"images": 1, "stride": 1},
            checkpoint=str(NANO_CHECKPOINT),
        )
        pools = (_small_screens_pool(), *pools)
    new = 0
    for each in pools:
        pool = pool_ensure(
            name=each.name,
            members=members,
            description=each.description,
            instructions=INSTRUCTIONS,
            policy=policies[each.policy],
            priority=each.priority,
            image=each.image,
            platform=each.tasks[0].platform,
            practice=each.practice,
            record=not each.practice,
            text_continuation=True,
        )
        new += tasks_add(pool=pool, definitions=each.tasks)
    if settings.ENV.nano_url:
        flywheel_ensure(pool=SMALL_SCREENS, owner=next(person for person in people if person.has_role("admin")))
    return new
