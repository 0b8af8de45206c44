"""Three weeks of invented work, so that pages can be looked at full: people, pools, attempts under two revisions,
reviews, judgements. Written by the services that write real work, at invented times.

    PILOTHOUSE_… manage.py shell -c "from tests.e2e.history import history_load; history_load(200)"
"""

import io
import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.utils import timezone
from PIL import Image, ImageDraw

from annotation_app.accounts.models import Group, User
from annotation_app.accounts.services import user_ensure
from annotation_app.accounts.services.people import group_save
from annotation_app.catalogue.services import entries_refresh
from annotation_app.episodes import services as episodes
from annotation_app.episodes.models import Episode
from annotation_app.judges.models import Run, RunState
from annotation_app.judges.services import judgements_store, pool_judge_set, run_end
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.services import policy_ensure
from annotation_app.promotions.services import policy_activate, policy_try
from annotation_app.reviews import services as reviews
from annotation_app.reviews.schemas import DecisionWord
from annotation_app.tasks.models import Pool, Task
from annotation_app.tasks.services import pool_ensure, tasks_add
from protocol.actions.types import Action, Click, DoubleClick, Finish, PressKeys, TypeText
from protocol.blobs import BlobRef
from protocol.evaluation.judgements import Judgement, JudgeRef
from protocol.trajectory.observations import Observation, Verdict
from protocol.trajectory.proposals import PolicyRef, Proposal
from protocol.trajectory.reviews import StepVerdict
from protocol.trajectory.steps import Decision, Step
from protocol.trajectory.tasks import Task as TaskValue
from tests.fixtures.judges import judge_ensure

ANNOTATORS = ("Mira Holm", "Jonas Weber", "Lin Yu", "Tomás Reyes", "Aiko Tanaka")
REVIEWERS = ("Petra Novak", "Sam Okafor")
WIDTH, HEIGHT = 1280, 800
BUTTONS = ((170, 130), (330, 130), (490, 130), (650, 130), (810, 130))
WRONG: tuple[StepVerdict, ...] = ("wrong_element", "wrong_action", "redundant", "hallucinated")

LEASE = 32_000
"""Minutes: the invented past is within it, so that the platform's housekeeping leaves what is being written alone."""

POOLS: dict[str, tuple[str, int, tuple[str, ...]]] = {
    "Invented spreadsheets": (
        "Tables in an office program. Nobody did this work: it was made up to look at pages.",
        2,
        (
            "Sort the table in sales.ods by revenue, the largest first, and save it",
            "Add a column with the share of each region, in percent with one decimal, and save it as shares.ods",
            "Find the month with the smallest margin and write its name into cell H1",
            "Remove every row whose order was cancelled, then say how many are left",
        ),
    ),
    "Invented mail": (
        "Letters read, answered and filed. Nobody did this work.",
        1,
        (
            "Reply to the last message of Dana Whitfield that Thursday at ten suits you, and move it to Done",
            "把上周收到的所有发票移动到“财务”文件夹，并回复确认最新的一封",
            "Forward the boarding pass to travel@example.org without the rest of the conversation",
        ),
    ),
    "Invented files": (
        "Folders put in order. Nobody did this work.",
        1,
        (
            "Rename every photo in Pictures/Lisbon to lisbon-01.jpg, lisbon-02.jpg and so on, by the day it was taken",
            "Pack the folder reports into reports.zip and delete the folder",
            "Find the largest file below Documents and move it to Archive",
        ),
    ),
}
STEPS: tuple[tuple[Action, str], ...] = (
    (DoubleClick(x=96, y=210), "The file lies on the desktop; I open it."),
    (Click(x=170, y=130), "The data is in the first sheet, so I take the menu above it."),
    (Click(x=330, y=130), "What I need is in the second menu: the order of rows."),
    (TypeText(text="revenue"), "The field for the column has the focus; I write its name."),
    (PressKeys(keys=("ctrl", "s")), "It looks as it should. I save it under the same name."),
    (Click(x=810, y=130), "The program asks in which format to keep it; I stay with its own."),
    (Finish(), "The title no longer has a star: it is saved, and the task is done."),
)


class Clock:
    """The time that services are told."""

    def __init__(self, begin: datetime) -> None:
        self.now = begin

    def __call__(self) -> datetime:
        return self.now

    def on(self, **by: float) -> datetime:
        self.now += timedelta(**by)
        return self.now


@contextmanager
def use_clock(clock: Clock) -> Iterator[None]:
    """Rows are made at invented times, also where a model's default was bound to the real clock when it was read."""
    fields = [field for model in apps.get_models() for field in model._meta.fields if field.default is timezone.now]
    with ExitStack() as patches:
        patches.enter_context(mock.patch("django.utils.timezone.now", clock))
        for field in fields:
            patches.enter_context(mock.patch.object(field, "_get_default", clock))
        yield


def history_load(count: int = 200, *, seed: int = 7, days: int = 20) -> None:
    """So many attempts over the last days."""
    draw, clock = random.Random(seed), Clock(datetime.now(UTC) - timedelta(days=days))
    with use_clock(clock):
        history = History(draw, clock)
        history.create_world()
        for place in range(count):
            history.attempt(late=place / count)
            clock.on(minutes=days * 24 * 60 / count * draw.uniform(0.4, 1.2))
        history.judge()
    entries_refresh()


def ensure_person(name: str, role: str) -> User:
    username = name.split()[0].lower().replace("á", "a")
    return user_ensure(username=username, password="", name=name, roles=[role])


class History:
    """What is being made up."""

    def __init__(self, draw: random.Random, clock: Clock) -> None:
        self.draw, self.clock = draw, clock
        self.pictures: dict[tuple[int, str], tuple[BlobRef, bytes]] = {}
        self.pools: list[Pool] = []
        self.annotators: list[User] = []
        self.reviewers: list[User] = []

    def create_world(self) -> None:
        """People, a group of them, pools, two revisions of which the second is on trial, a judge."""
        self.admin = User.objects.get(username="admin")
        self.annotators = [ensure_person(name, "annotator") for name in ANNOTATORS]
        self.reviewers = [ensure_person(name, "reviewer") for name in REVIEWERS]
        night = tuple(person.pk for person in self.annotators[:2])
        group = Group.objects.filter(name="Night shift").first()
        group_save(actor=self.admin, group_id=group.pk if group else None, name="Night shift", members=night)
        served: dict[str, Any] = {"base_url": settings.ENV.scripted_url, "model": "scripted", "scripted": True}
        self.first, self.second = (
            policy_ensure(name="harbour", revision=revision, dialect="ui_tars_1_5", **served)
            for revision in ("step-1200", "step-2400")
        )
        for place, (name, (told, overlap, instructions)) in enumerate(POOLS.items()):
            pool = pool_ensure(
                name=name, members=self.annotators, description=told, policy=self.first, overlap=overlap, priority=place
            )
            Pool.objects.filter(pk=pool.pk).update(lease_minutes=LEASE)
            tasks_add(
                pool=pool,
                definitions=[
                    TaskValue(id=f"{place}-{n}", instruction=instructions[n % len(instructions)], seed=n)
                    for n in range(60)
                ],
            )
            self.pools.append(pool)
        self.judge_row = judge_ensure(name="outcome", revision="1", kind="outcome_model", **served)

    def attempt(self, *, late: float) -> None:
        """One person's next task, and perhaps a reviewer's word on it; `late` is how far the month has gone."""
        draw = self.draw
        pool = draw.choices(self.pools, (5, 3, 2))[0]
        if late > 0.45 and pool.canary_id is None and pool.policy_id == self.first.pk:
            policy_try(user=self.admin, pool_id=pool.pk, revision_id=self.second.pk, share=40)
        if late > 0.8 and pool.policy_id == self.first.pk and pool is self.pools[0]:
            policy_activate(user=self.admin, pool_id=pool.pk, revision_id=self.second.pk)
        pool.refresh_from_db()
        person = draw.choice(self.annotators)
        row = episodes.episode_next(user=person, pool_id=pool.pk)
        if row is None:
            return
        good = row.policy == self.second
        done = self.write_steps(row, slips=0.12 if good else 0.3)
        if draw.random() < 0.8 and self.clock.now < datetime.now(UTC) - timedelta(days=2):
            self.write_reviews(row, done)

    def write_steps(self, row: Episode, *, slips: float, path: Sequence[tuple[Action, str]] | None = None) -> bool:
        """Its steps, and whether it ended well; a `path` that is given is kept to."""
        draw, clock = self.draw, self.clock
        revision: PolicyRevision = row.policy or self.first
        policy = PolicyRef(name=revision.name, revision=revision.revision, dialect=revision.dialect, scripted=True)
        own: dict[str, Any] = {
            "episode_id": row.id,
            "token": episodes.runner_take_over(episode_id=row.id, runner="history:1:a", seconds=600),
        }
        episodes.episode_change(**own, fields={"status": "running", "capabilities": ("click", "type_text")})
        path = self.choose_path(slips) if path is None else path
        before = self.look(own, 0, row)
        for index, (action, thought) in enumerate(path):
            proposals = self.proposals(policy, row.id, index, action, thought, wrong=draw.random() < slips)
            episodes.proposals_add(**own, proposals=proposals, policy=policy)
            begun = clock.on(seconds=draw.uniform(2, 25))
            decision = self.decision(proposals, action)
            after = self.look(own, index + 1, row)
            step = Step(
                index=index,
                command_id=f"history-{row.id}-{index}",
                actor="human",
                decision=decision,
                proposal_id=proposals[0].id if decision in ("accept", "edit") else None,
                thought=thought if decision != "takeover" else "",
                action=action,
                before=before,
                after=after,
                policy=policy,
                started_at=begun,
                ended_at=begun + timedelta(seconds=draw.uniform(0.3, 2.5)),
                decide_ms=draw.lognormvariate(8.3, 0.6),
            )
            episodes.step_append(**own, step=step)
            before = after
        good = draw.random() > slips
        verdict = Verdict(success=good, score=1.0 if good else 0.0)
        outcome = "success" if good or draw.random() < 0.3 else draw.choice(("failure", "infeasible"))
        clock.on(seconds=20)
        episodes.episode_change(**own, fields={"status": "finished", "outcome": outcome, "verdict": verdict})
        return good

    def choose_path(self, slips: float) -> list[tuple[Action, str]]:
        """The steps that lead to the end, some left out, and perhaps one that leads nowhere."""
        path = [step for step in STEPS if self.draw.random() > 0.08 or step[0].kind == "finish"]
        if self.draw.random() < slips:
            path.insert(self.draw.randrange(len(path)), (Click(x=650, y=130), "This menu might have it; I look."))
        return path

    def decision(self, proposals: tuple[Proposal, ...], action: Action) -> Decision:
        if proposals[0].action != action:
            return "takeover" if self.draw.random() < 0.15 else "override"
        return "edit" if self.draw.random() < 0.2 else "accept"

    def proposals(
        self, policy: PolicyRef, episode: UUID, index: int, action: Action, thought: str, *, wrong: bool
    ) -> tuple[Proposal, ...]:
        """Two candidates, of which the first is what is done unless the policy is `wrong`."""
        other = Click(x=self.draw.choice(BUTTONS)[0], y=320)
        return tuple(
            Proposal(
                id=f"{episode.hex[:20]}-{index}-{rank}",
                rank=rank,
                thought=thought if said == action else "I take what stands in the middle of the window.",
                action=said,
                action_text=said.kind,
                raw_text=said.kind,
                policy=policy,
                likelihood=0.7 if rank == 1 else 0.3,
                latency_ms=self.draw.lognormvariate(7.1, 0.4),
                created_at=self.clock.now,
            )
            for rank, said in enumerate((other, action) if wrong else (action, other), 1)
        )

    def look(self, own: dict[str, Any], stage: int, row: Episode) -> Observation:
        """The screen after so many steps."""
        title = row.task.definition.instruction[:60]
        ref, data = self.pictures.setdefault((stage, title), picture(stage, title))
        episodes.blob_add(**own, ref=ref, data=data)
        return Observation(
            screenshot=ref,
            width=WIDTH,
            height=HEIGHT,
            captured_at=self.clock.now,
            settled=True,
            rest="rested",
            settle_ms=80,
        )

    def write_reviews(self, row: Episode, good: bool) -> None:
        """What a reviewer said of its steps and of it; of one in three a second reviewer judges the steps too."""
        draw, clock = self.draw, self.clock
        first, second = draw.sample(self.reviewers, 2)
        count = row.steps.count()
        clock.on(minutes=draw.uniform(1, 20))
        truth = {index: draw.choice(WRONG) if draw.random() < 0.12 else "right" for index in range(count)}
        self.set_remarks(first, row, truth)
        decision: DecisionWord = "accept" if good else draw.choice(("return", "reject", "accept"))
        reason = "" if decision == "accept" else "The file was saved under another name than the task asks for."
        reviews.review_decide(user=first, episode_id=row.id, decision=decision, reason=reason)
        if draw.random() < 0.35:
            self.set_remarks(
                second, row, {i: draw.choice(WRONG) if draw.random() < 0.1 else v for i, v in truth.items()}
            )
            reviews.review_release(user=second, episode_id=row.id)

    def set_remarks(self, reviewer: User, row: Episode, said: dict[int, StepVerdict]) -> None:
        for index, verdict in said.items():
            comment = "" if verdict == "right" else "The row above it was meant."
            reviews.remark_set(user=reviewer, episode_id=row.id, index=index, verdict=verdict, comment=comment)

    def judge(self) -> None:
        """A judge's word on every attempt of the first two pools, near what really came of it."""
        name = JudgeRef(kind="outcome_model", name="outcome", revision="1", scripted=True)
        for pool in self.pools[:2]:
            pool_judge_set(user=self.admin, pool_id=pool.pk, judge_id=self.judge_row.pk, threshold=0.5)
            run = Run.objects.create(pool=pool, judge=self.judge_row, requested_by=self.admin, status=RunState.RUNNING)
            said = tuple(
                Judgement(
                    trajectory=str(row.pk),
                    judge=name,
                    score=min(1, max(0, (0.8 if row.outcome == "success" else 0.25) + self.draw.gauss(0, 0.2))),
                    words="The last screen shows the table saved under its name.",
                    latency_ms=900,
                    judged_at=self.clock.now,
                )
                for row in Episode.objects.filter(task__pool=pool, status="finished")
            )
            Run.objects.filter(pk=run.pk).update(total=len(said))
            judgements_store(run_id=run.pk, judge_id=self.judge_row.pk, answers=said, refused=0, error="")
            run_end(run_id=run.pk, error="")
        for task in Task.objects.filter(pool=self.pools[2], finished__gt=0)[:3]:
            Task.objects.filter(pk=task.pk).update(gold=task.episodes.first())


def picture(stage: int, title: str) -> tuple[BlobRef, bytes]:
    """A desktop with a window, whose rows fill up as the steps go."""
    image = Image.new("RGB", (WIDTH, HEIGHT), "#31536b")
    draw = ImageDraw.Draw(image)
    draw.rectangle((60, 180, 132, 240), fill="#f0e2b6")
    draw.rounded_rectangle((150, 60, 1180, 740), 8, fill="#fbfbfb")
    draw.rectangle((150, 60, 1180, 100), fill="#20343f")
    draw.text((166, 72), f"{title}  (invented, screen {stage})", fill="white", font_size=18)
    for x, y in BUTTONS:
        draw.rounded_rectangle((x - 8, y - 16, x + 130, y + 18), 4, outline="#8a9aa5", width=2)
        draw.text((x + 4, y - 10), f"Menu {x // 160}", fill="#20343f", font_size=18)
    for line in range(12):
        y = 190 + 44 * line
        draw.line((170, y, 1160, y), fill="#d5dbe0")
        if line < 3 + stage:
            draw.text((180, y + 10), f"Row {line + 1}", fill="#445", font_size=18)
            draw.rectangle((420, y + 12, 420 + 40 * ((line * 7 + stage) % 13), y + 30), fill="#6f9bb8")
    kept = io.BytesIO()
    image.save(kept, "JPEG", quality=80)
    data = kept.getvalue()
    return BlobRef.of(data, "image/jpeg"), data


def twins_load() -> None:
    """One task done under both revisions, the second time with a step less."""
    draw, clock = random.Random(11), Clock(datetime.now(UTC) - timedelta(days=2))
    with use_clock(clock):
        history = History(draw, clock)
        history.create_world()
        pool = history.pools[2]
        Pool.objects.filter(pk=pool.pk).update(overlap=2)
        for person, policy, steps in (
            (history.annotators[0], history.first, STEPS),
            (history.annotators[1], history.second, (*STEPS[:2], *STEPS[3:])),
        ):
            Pool.objects.filter(pk=pool.pk).update(policy=policy)
            row = episodes.episode_next(user=person, pool_id=pool.pk)
            assert row is not None
            history.write_steps(row, slips=0, path=steps)
