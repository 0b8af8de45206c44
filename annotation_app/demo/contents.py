"""The demo's users, policy, pools and tasks."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils.crypto import salted_hmac
from pydantic import TypeAdapter

from annotation_app.accounts.services import password_ensure, user_ensure
from annotation_app.policies.services import policy_ensure
from annotation_app.tasks.services import pool_ensure, tasks_add
from vocabulary.tasks import Task

TASKS_FILE = Path(__file__).with_name("tasks.json")
TASKS: TypeAdapter[tuple[Task, ...]] = TypeAdapter(tuple[Task, ...])
SPLIT = 6
"""The first pool has so many tasks, the second one the rest."""

INSTRUCTIONS = """\
Do the task as a careful person would, one small step at a time.

* **Accept** a proposal when it is what you would do; otherwise **override** it.
* Say in the thought what you see and why you act; write it before you look at the outcome.
* Mark proposals that would also have been fine, and those that would have done harm.
* Finish when the screen shows that the task is done. If it cannot be done, say *infeasible*.
"""


@dataclass(frozen=True, slots=True)
class DemoUser:
    """A person of the demo; `staff` may use Django's admin."""

    username: str
    name: str
    roles: tuple[str, ...]
    staff: bool = False

    def password(self, *, exposed: bool) -> str:
        """Easy where only this machine can sign in; where others can, made from the installation's own key."""
        if not exposed:
            return f"{self.username}-demo"
        return salted_hmac("demo-password", self.username, algorithm="sha256").hexdigest()[:20]


USERS = (
    DemoUser("annotator", "Ada Annotator", ("annotator",)),
    DemoUser("annotator2", "Ben Annotator", ("annotator",)),
    DemoUser("reviewer", "Rosa Reviewer", ("reviewer",)),
    DemoUser("researcher", "Ravi Researcher", ("researcher",)),
    DemoUser("admin", "Alex Admin", ("admin", "annotator"), staff=True),
)


def is_practice(task: Task) -> bool:
    """Whether a bundled task is meant for learning."""
    return bool(task.parameters.get("practice", False))


@transaction.atomic(durable=True)
def demo_load(*, exposed: bool = False) -> int:
    """Make what is missing, leave what is there but for the demo users' passwords; how many tasks were new.
    `exposed`: people on other machines can reach it."""
    people = []
    for user in USERS:
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
    members = [person for person in people if person.has_role("annotator")]
    tasks = TASKS.validate_json(TASKS_FILE.read_bytes())
    real = [task for task in tasks if not is_practice(task)]
    pools = (
        ("Practice", "Try the desk; nothing here is kept for training.", [t for t in tasks if is_practice(t)], True),
        ("Desktop basics", "Files, windows and short texts.", real[:SPLIT], False),
        ("Desktop office", "Longer errands across several programs.", real[SPLIT:], False),
    )
    new = 0
    for name, description, definitions, practice in pools:
        pool = pool_ensure(
            name=name,
            members=members,
            description=description,
            instructions=INSTRUCTIONS,
            policy=policy,
            practice=practice,
        )
        new += tasks_add(pool=pool, definitions=definitions)
    return new
