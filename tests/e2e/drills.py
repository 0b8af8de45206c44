"""Pools and people for single tests, beside the demo's own: tests do not share what they change."""

from uuid import UUID

from django.conf import settings
from django.test import Client

from annotation_app.accounts.models import SignIn, User
from annotation_app.accounts.services import user_ensure
from annotation_app.accounts.services.sign_ins import REAUTHENTICATED_KEY
from annotation_app.demo.demo_data import BROWSER_FILE, PHONE_FILE, TASKS, TASKS_FILE, TERMINAL_FILE
from annotation_app.episodes.models import Step
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.services import policy_ensure
from annotation_app.tasks.models import Pool
from annotation_app.tasks.services import pool_ensure, tasks_add

MEMBERS = ("annotator", "admin")
EACH = 4


def noting_load(pool: str) -> None:
    """A pool whose policy is asked as a model is and writes a note after every second step."""
    drills_load((pool, "say_hello"))
    script = PolicyRevision.objects.get(name="scripted")
    served = {"dialect": script.dialect, "base_url": script.base_url, "model": script.model}
    policy = policy_ensure(name="noting", revision="1", **served, memory={"working": 1, "episode": 1})
    Pool.objects.filter(name=pool).update(policy=policy)


def batching_load(pool: str, base_url: str) -> None:
    """A pool whose policy may say several actions in one reply."""
    drills_load((pool, "say_hello"))
    served = {"dialect": "json_calls", "base_url": base_url, "model": "several"}
    policy = policy_ensure(name="several", revision="1", **served, sampling={"max_actions": 4})
    Pool.objects.filter(name=pool).update(policy=policy)


def absent_load(pool: str) -> None:
    """A pool whose policy is a model that its server does not have."""
    drills_load((pool, "say_hello"))
    script = PolicyRevision.objects.get(name="scripted")
    served = {"dialect": script.dialect, "base_url": script.base_url, "model": "nobody-serves-this"}
    policy = policy_ensure(name="absent", revision="1", **served)
    Pool.objects.filter(name=pool).update(policy=policy)


def policy_set(pool: str, policy: str) -> None:
    """Another policy of the demo proposes in a pool; nobody where its name is empty."""
    Pool.objects.filter(name=pool).update(policy=PolicyRevision.objects.filter(name=policy).first())


def thoughts_later(pool: str) -> None:
    """The thoughts of this pool's steps may be written after them."""
    Pool.objects.filter(name=pool).update(thought_later=True)


def drills_load(*pools: tuple[str, str]) -> None:
    """Make pools, given by name and by the id or name of the demo's task of which each holds copies."""
    files = (BROWSER_FILE, TERMINAL_FILE, PHONE_FILE, TASKS_FILE)
    tasks = [task for file in files for task in TASKS.validate_json(file.read_bytes())]
    demo = {name: task for task in tasks for name in (task.id, task.name)}
    members = list(User.objects.filter(username__in=MEMBERS))
    for pool, name in pools:
        copies = [demo[name].model_copy(update={"id": f"{pool}/{n}", "max_steps": 100}) for n in range(EACH)]
        policy = PolicyRevision.objects.get(name="expert" if demo[name].platform == "browser" else "scripted")
        image = demo[name].platform
        made = pool_ensure(name=pool, members=members, policy=policy, image=image, record=False, text_continuation=True)
        made.members.set(members)  # a test that is run again meets the pool as it was at first
        tasks_add(pool=made, definitions=copies)


def long_load(pool: str) -> None:
    """A pool with one task without a screen that may take 999 steps."""
    task = next(one for one in TASKS.validate_json(TERMINAL_FILE.read_bytes()) if one.name == "say_hello")
    policy = PolicyRevision.objects.get(name="scripted")
    members = list(User.objects.filter(username__in=MEMBERS))
    longest = {"max_steps": 999}
    made = pool_ensure(name=pool, members=members, policy=policy, image=task.platform, record=False, **longest)
    tasks_add(pool=made, definitions=[task.model_copy(update={"id": pool, **longest})])


def lengthen(episode: str, steps: int) -> None:
    """An ended attempt in which the last step was done again and again: what it left is what it had found."""
    last = Step.objects.filter(episode=UUID(episode)).select_related("episode").latest("index")
    rows = [
        Step(
            episode=last.episode,
            index=index,
            command_id=f"{last.command_id[:50]}-{index}",
            actor=last.actor,
            decision=last.decision,
            took_ms=last.took_ms,
            document=last.document.model_copy(
                update={"index": index, "command_id": f"{last.command_id[:50]}-{index}", "before": last.document.after}
            ),
        )
        for index in range(last.index + 1, steps)
    ]
    Step.objects.bulk_create(rows)


def person_make(username: str, password: str, *, email: str = "") -> None:
    """Add an annotator."""
    user = user_ensure(username=username, password=password, name=username, roles=["annotator"])
    User.objects.filter(pk=user.pk).update(email=email)


def stale_session_make(username: str) -> str:
    """A cookie, NAME=VALUE, with which somebody is signed in who has to prove again who they are."""
    user, client = User.objects.get(username=username), Client()
    client.force_login(user)
    session = client.session
    session[REAUTHENTICATED_KEY] = 0
    session.save()
    key = str(session.session_key)
    SignIn.objects.create(user=user, session_key=key, how="password")
    return f"{settings.SESSION_COOKIE_NAME}={key}"
