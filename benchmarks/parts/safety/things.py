"""What the permission table's paths name: a maker for every name, of the owner's things where they are somebody's."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from django.utils import timezone

from annotation_app.accounts.models import Group, Invitation, SignIn, Token, User
from annotation_app.accounts.services import digest_secret, user_ensure
from annotation_app.catalogue.models import SavedQuery
from annotation_app.design.models import Application, Node, Reading, Writer
from annotation_app.episodes import services as episodes
from annotation_app.episodes.models import Episode
from annotation_app.exports.models import Export
from annotation_app.flywheel.models import Checkpoint, Turn, Wheel
from annotation_app.flywheel.recipe import GateTrials, LikelihoodTraining, MixShares, Recipe
from annotation_app.imports.models import Import, Upload
from annotation_app.judges.models import Judge, PoolJudge, Run
from annotation_app.notifications.models import Webhook
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.selectors import policy_of
from annotation_app.policies.services import policy_ensure
from annotation_app.probes.models import PolicyProbe
from annotation_app.recorder.models import PairedComputer, RecordedSession
from annotation_app.retention.models import Rule as RetentionRule
from annotation_app.reviews.models import Job, JobKind
from annotation_app.tasks.models import Pool
from protocol.blobs import BlobRef
from protocol.evaluation.reports import Evaluation, TaskResult
from protocol.evaluation.statistics import wilson_rate

PICTURE = b"\xff\xd8 a picture"
SFT = LikelihoodTraining(updates=1, shares=MixShares(fresh=1, earlier=0, general=0))
SECRET = "an-invitation-only-tests-know-of"  # noqa: S105 - of a test
PASSWORD = "a password of the tests"  # noqa: S105 - of a test
"""Of everybody here."""


@dataclass(frozen=True, slots=True)
class Things:
    """What a row's path and body may name; all of it the owner's, where it is somebody's."""

    owner: User
    """Whose episode it is."""
    annotator: User
    reviewer: User
    researcher: User
    admin: User
    pool: Pool
    episode: Episode
    revision: PolicyRevision
    judged: PoolJudge


def make_things(*, owner: User, annotator: User, reviewer: User, researcher: User, pool: Pool) -> Things:
    """One of each, and the owner's episode with one picture, from the first task of the pool."""
    admin = user_ensure(username="alma", password=PASSWORD, name="Alma", roles=["admin"])
    revision = policy_ensure(
        name="tars", revision="1", dialect="ui_tars_1_5", base_url="http://127.0.0.1:9/v1", model="m"
    )
    judge, _ = Judge.objects.get_or_create(name="verifier", revision="1", defaults={"kind": "verifier"})
    judged = PoolJudge.objects.create(pool=pool, judge=judge)
    episode = episodes.episode_next(user=owner)
    assert episode is not None
    token = episodes.runner_take_over(episode_id=episode.id, runner="here:1:a", seconds=60)
    episodes.blob_add(episode_id=episode.id, token=token, ref=BlobRef.of(PICTURE, "image/jpeg"), data=PICTURE)
    return Things(owner, annotator, reviewer, researcher, admin, pool, episode, revision, judged)


def user_of(things: Things, caller: str) -> User | None:
    """Who a caller of the table is."""
    user: User | None = None if caller == "nobody" else getattr(things, caller)
    return user


def evaluation_report(things: Things) -> dict[str, Any]:
    """A report on one task."""
    task = TaskResult(suite="a", name="b", successes=wilson_rate(1, 2), steps=1, think_characters=0)
    report = Evaluation(
        created_at=datetime(2026, 1, 1, tzinfo=UTC), policies=(policy_of(things.revision),), attempts=2, tasks=(task,)
    )
    return report.model_dump(mode="json")


def _job(things: Things) -> object:
    asked = {"pool": things.pool, "requested_by": things.admin}
    return Job.objects.get_or_create(kind=JobKind.DUPLICATES, defaults=asked)[0].pk


def _rule(things: Things) -> object:
    made = {"days": 30, "created_by": things.admin, "previewed_at": timezone.now()}
    return RetentionRule.objects.get_or_create(what="exports", pool=None, defaults=made)[0].pk


def _application() -> Application:
    return Application.objects.get_or_create(name="News")[0]


def _reading(things: Things) -> object:
    said = {"value": 1, "unit": "%", "recorded_by": things.admin, "dated": datetime(2026, 1, 1, tzinfo=UTC).date()}
    found, _ = Reading.objects.get_or_create(
        application=_application(), indicator="coverage", source="a survey", defaults=said
    )
    return found.pk


def _run(things: Things) -> object:
    judged = things.judged
    return Run.objects.get_or_create(pool=judged.pool, judge=judged.judge, requested_by=things.admin)[0].pk


def _wheel(things: Things) -> Wheel:
    recipe = Recipe(
        policy="toy", start="/start", sft=SFT, trials=GateTrials(world="toy"), server="http://desks.example"
    )
    told = {"pool": things.pool, "recipe": recipe, "owner": things.admin}
    return Wheel.objects.get_or_create(name="main", defaults=told)[0]


def wheel_change(things: Things) -> dict[str, Any]:
    """The recipe of a flywheel, as it is sent."""
    return {"recipe": _wheel(things).recipe.model_dump(mode="json"), "every_hours": None}


def _turn(things: Things) -> Turn:
    wheel = _wheel(things)
    told = {"recipe": wheel.recipe, "requested_by": things.admin, "state": "cancelled"}
    return Turn.objects.get_or_create(wheel=wheel, number=1, defaults=told)[0]


def _checkpoint(things: Things) -> object:
    return Checkpoint.objects.get_or_create(turn=_turn(things), phase="sft")[0].pk


def _query(things: Things) -> object:
    return SavedQuery.objects.get_or_create(owner=things.researcher, name="kept")[0].pk


def _webhook(things: Things) -> int:
    return Webhook.objects.get_or_create(url="https://1.1.1.1/hook", events=["export.finished"], secret="")[0].pk


def _probe(things: Things) -> object:
    return PolicyProbe.objects.get_or_create(base_url="http://127.0.0.1:9/v1", model="other", dialect="json_calls")[
        0
    ].pk


def _export(things: Things) -> object:
    return Export.objects.create(requested_by=things.researcher, filters={}).pk


def _import(things: Things) -> object:
    return Import.objects.create(requested_by=things.researcher, name="old.zip", pool_name="old").pk


def _upload(things: Things) -> object:
    expires_at = timezone.now() + timedelta(days=1)
    return Upload.objects.create(owner=things.researcher, name="old.zip", size=1, expires_at=expires_at).pk


def _sign_in(things: Things) -> object:
    made = SignIn.objects.get_or_create(session_key="k", defaults={"user": things.owner, "how": "password"})
    return made[0].pk


def _token(things: Things) -> object:
    kept = {"user": things.owner, "name": "t", "expires_at": timezone.now() + timedelta(days=1)}
    return Token.objects.get_or_create(sha256="0" * 64, defaults=kept)[0].pk


def _computer(things: Things) -> object:
    expires_at = timezone.now() + timedelta(minutes=10)
    kept = {"user": things.owner, "name": "Laptop", "code_expires_at": expires_at}
    return PairedComputer.objects.get_or_create(code_digest="0" * 64, defaults=kept)[0].pk


def _session(things: Things) -> object:
    kept = {"session": uuid4(), "size": 1}
    return RecordedSession.objects.get_or_create(owner=things.owner, pool=things.pool, defaults=kept)[0].session


def _session_upload(things: Things) -> object:
    kept = {"size": 1, "expires_at": timezone.now() + timedelta(days=1)}
    return Upload.objects.get_or_create(owner=things.owner, session=things.episode.pk, name="s.zip", defaults=kept)[
        0
    ].pk


def _session_import(things: Things) -> object:
    kept = {"name": "s.zip", "pool_name": "real"}
    return Import.objects.get_or_create(requested_by=things.owner, session=things.episode.pk, defaults=kept)[0].pk


def _invitation(things: Things) -> object:
    kept = {"invited_by": things.admin, "roles": ["annotator"], "expires_at": timezone.now() + timedelta(days=1)}
    return Invitation.objects.get_or_create(sha256=digest_secret(SECRET), defaults=kept)[0].pk


def invitation_secret(things: Things) -> str:
    """What the link of an open invitation ends with."""
    _invitation(things)
    return SECRET


NAMES: dict[str, Callable[[Things], object]] = {
    "episode_id": lambda things: things.episode.pk,
    "person_id": lambda things: things.annotator.pk,
    "name": lambda things: "PASSWORD",
    "run": lambda things: "no-such-run",
    "evaluation_id": lambda things: "run:no-such-run",
    "before_id": lambda things: "run:no-such-run",
    "index": lambda things: 0,
    "job_id": _job,
    "user_id": lambda things: things.annotator.pk,
    "group_id": lambda things: Group.objects.get_or_create(name="day")[0].pk,
    "invitation_id": _invitation,
    "sign_in_id": _sign_in,
    "token_id": _token,
    "computer_id": _computer,
    "session_id": _session,
    "session_upload_id": _session_upload,
    "session_import_id": _session_import,
    "sha256": lambda things: BlobRef.of(PICTURE, "image/jpeg").sha256,
    "number": lambda things: 0,
    "version": lambda things: 1,
    "pool_id": lambda things: things.pool.pk,
    "task_id": lambda things: things.episode.task_id,
    "dialect": lambda things: "ui_tars_1_5",
    "revision_id": lambda things: things.revision.pk,
    "judge_id": lambda things: things.judged.judge_id,
    "rule_id": _rule,
    "node_id": lambda things: Node.objects.get_or_create(name="news")[0].pk,
    "application_id": lambda things: _application().pk,
    "reading_id": _reading,
    "writer_id": lambda things: Writer.objects.get_or_create(name="words", revision="0")[0].pk,
    "writing_id": lambda things: uuid4(),
    "suggestion_id": lambda things: 2**31 - 1,
    "draft_id": lambda things: 2**31 - 1,
    "request_id": lambda things: uuid4(),
    "batch_id": lambda things: uuid4(),
    "run_id": _run,
    "wheel_id": lambda things: _wheel(things).pk,
    "side": lambda things: "candidate",
    "place": lambda things: 0,
    "turn_id": lambda things: _turn(things).pk,
    "checkpoint_id": _checkpoint,
    "export_id": _export,
    "import_id": _import,
    "upload_id": _upload,
    "query_id": _query,
    "webhook_id": _webhook,
    "probe_id": _probe,
    "screen": lambda things: "desktop-1280x720-0.png",
    "suite": lambda things: "desktop",
    "machine_id": lambda things: "m-1",
    "host": lambda things: "here",
    "image": lambda things: "desktop",
}
