"""Reports count what is in the database: by pool, person, policy, kind and day, for whoever may see it."""

import csv
import io
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.design.difficulty import Rubric, level_of
from annotation_app.design.models import Node, Placement
from annotation_app.episodes import services as episodes
from annotation_app.episodes.models import Episode, Proposal, Step
from annotation_app.policies.services import policy_ensure
from annotation_app.tasks.models import Pool
from annotation_app.tasks.services import pool_ensure, tasks_add
from protocol.actions.types import Click
from protocol.trajectory.proposals import ParseError
from protocol.trajectory.steps import Decision
from tests.contract.test_store import PICTURE, POLICY, REF, proposal, step
from tests.integration.web.conftest import PASSWORD, World, task_named


@pytest.mark.parametrize(
    ("codes", "suspicious"),
    [
        (["wrong_space"] * 3 + [""] * 9, True),
        (["off_screen"] * 2 + [""] * 2, False),
        (["wrong_space"] * 3 + [""] * 30, False),
        (["no_action"] * 12, False),
        ([], False),
    ],
)
def test_first_replies_in_another_space_are_told(world: World, codes: list[str], suspicious: bool) -> None:
    cache.clear()
    revision = policy_ensure(name="new", revision="1", base_url="http://m/v1", model="m", dialect="ui_tars_1_5")
    world.pool.policy = revision
    world.pool.save()
    episode = episodes.episode_next(user=world.ada)
    assert episode is not None
    for number, code in enumerate(codes):
        error = ParseError(code=code, message="So.") if code else None
        offer = proposal(1).model_copy(update={"id": f"p{number}", "error": error})
        Proposal.objects.create(episode_id=episode.id, key=offer.id, index=0, policy=str(revision), document=offer)
    admin = user_ensure(username="alma", password=PASSWORD, name="Alma", roles=["admin"])
    (found,) = world.client(admin).get("/api/first-replies").json()
    misplaced = sum(code in ("wrong_space", "off_screen") for code in codes)
    assert (found["policy"]["name"], found["replies"], found["misplaced"]) == ("new", len(codes), misplaced)
    assert found["suspicious"] is suspicious


def recent_days() -> dict[str, str]:
    """Query parameters: yesterday to tomorrow, so that a test may run over midnight."""
    today = datetime.now(UTC).date()
    return {"since": str(today - timedelta(days=1)), "until": str(today + timedelta(days=1))}


def create_finished_episode(
    user: User, pool: int, decisions: tuple[Decision, ...], *, outcome: str, decide_ms: float
) -> Episode:
    """An episode of one step a decision, of which each took a second and was offered something."""
    episode = episodes.episode_next(user=user, pool_id=pool)
    assert episode is not None
    own: dict[str, Any] = {
        "episode_id": episode.id,
        "token": episodes.runner_take_over(episode_id=episode.id, runner="h:1:a", seconds=60),
    }
    episodes.blob_add(**own, ref=REF, data=PICTURE)
    for index, decision in enumerate(decisions):
        offered = proposal(1, id=f"{episode.id}-{index}", latency_ms=100.0 * (index + 1))
        episodes.proposals_add(**own, proposals=(offered,), policy=POLICY)
        done = step(index=index, command_id=f"{episode.id}-{index}", action=Click(x=1, y=1))
        begun = done.started_at
        episodes.step_append(
            **own,
            step=done.model_copy(
                update={
                    "decision": decision,
                    "policy": POLICY,
                    "decide_ms": decide_ms,
                    "ended_at": begun + timedelta(seconds=1),
                }
            ),
        )
    episodes.episode_change(**own, fields={"status": "finished", "outcome": outcome})
    return Episode.objects.get(pk=episode.id)


@pytest.fixture
def work(committed: World) -> World:
    """Ada accepts, edits and overrides in one pool, Ben takes over in another; practice is there too."""
    other = pool_ensure(name="other", members=[committed.ben])
    tasks_add(pool=other, definitions=[task_named("four")])
    create_finished_episode(
        committed.ada, committed.pool.pk, ("accept", "edit", "override"), outcome="success", decide_ms=2_000
    )
    create_finished_episode(committed.ben, other.pk, ("takeover",), outcome="failure", decide_ms=500)
    rehearsed = pool_ensure(name="rehearsed", members=[committed.ada])
    tasks_add(pool=rehearsed, definitions=[task_named("five")])
    create_finished_episode(committed.ada, rehearsed.pk, ("override",) * 5, outcome="success", decide_ms=1)
    Pool.objects.filter(pk=rehearsed.pk).update(practice=True)
    return committed


def get_report(world: World, **query: str) -> dict[str, Any]:
    answer = world.client(world.ravi).get("/api/report", {**recent_days(), **query})
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


class TestFigures:
    def test_everything_together_without_practice(self, work: World) -> None:
        total = get_report(work)["total"]
        assert (total["episodes"], total["finished"], total["steps"]) == (2, 2, 4)
        assert [total[name] for name in ("accepted", "edited", "overridden", "taken_over", "alone")] == [1, 1, 1, 1, 0]
        assert (total["override"]["successes"], total["override"]["attempts"]) == (2, 4)
        assert (total["success"]["successes"], total["success"]["attempts"]) == (1, 2)
        assert total["decide_p50_ms"] == 2_000
        assert total["step_p50_ms"] == 3_000
        assert total["returned"] is None, "nothing was reviewed"

    def test_rows_are_of_what_was_asked_for_and_add_up(self, work: World) -> None:
        stored: tuple[type[Episode | Step], ...] = (Episode, Step)
        begun_at = [row.created_at for model in stored for row in model.objects.all()]
        for by, labels in {
            "pool": ["real", "other"],
            "annotator": ["ada", "ben"],
            "policy": [POLICY.label, ""],
            "kind": ["fake/type"],
            "day": sorted({str(begun.date()) for begun in begun_at}),
        }.items():
            report = get_report(work, by=by)
            assert [row["label"] for row in report["rows"]] == labels, by
            for name in ("steps", "episodes", "overridden"):
                assert sum(row["figures"][name] for row in report["rows"]) == report["total"][name], (by, name)

    def test_applications_and_levels_are_those_of_the_graph_else_of_the_suite(self, work: World) -> None:
        shop = Node.objects.create(name="Shop")
        buying = Node.objects.create(name="buy", parent=Node.objects.create(name="Orders", parent=shop))
        rubric = Rubric(steps=30, pages=0, prerequisites=0, exceptions=0)
        placed = Episode.objects.get(annotator=work.ben).task
        Placement.objects.create(task=placed, node=buying, rubric=rubric, level=level_of(rubric))
        level = str(level_of(rubric))
        for by, keys in (("application", ["fake", "Shop"]), ("level", ["", level])):
            report = get_report(work, by=by)
            assert [row["key"] for row in report["rows"]] == keys, by
            assert [row["figures"]["steps"] for row in report["rows"]] == [3, 1], by
            assert [row["figures"]["episodes"] for row in report["rows"]] == [1, 1], by
            for row in report["rows"]:
                assert get_report(work, by="annotator", **{by: row["key"]})["total"] == row["figures"], by
        report = get_report(work, by="policy", application="fake")
        first = report["rows"][0]
        assert (first["key"], first["figures"]["override"]["successes"]) == (POLICY.label, 1)
        answer = work.client(work.ravi).get("/api/report.csv", {**recent_days(), "by": "application"})
        table = answer.content.decode("utf-8-sig")
        assert [row[0] for row in csv.reader(io.StringIO(table))] == ["application", "fake", "Shop"]
        assert work.client(work.ravi).get("/api/report", {**recent_days(), "level": "6"}).status_code == 422

    def test_filters_narrow_steps_episodes_latencies_and_queues(self, work: World) -> None:
        report = get_report(work, pool=str(work.pool.pk), annotator="ada")
        assert report["total"]["steps"] == 3
        assert [queue["pool"] for queue in report["queues"]] == ["real"]
        assert [(row["policy"], row["count"], row["p50_ms"]) for row in report["latencies"]] == [(POLICY.label, 3, 200)]
        assert get_report(work, policy=POLICY.label)["total"]["steps"] == 4
        assert get_report(work, policy="nobody 9")["total"]["steps"] == 0
        assert get_report(work, kind="no such kind")["rows"] == []

    def test_days_are_those_of_the_asker(self, work: World) -> None:
        midnight = datetime.now(UTC).replace(hour=0, minute=30, second=0, microsecond=0)
        counted = Episode.objects.exclude(task__pool__practice=True).update(created_at=midnight)
        days = get_report(work, by="day", zone="America/New_York")["rows"]
        # What was done in them is of now, which from five o'clock on is another day there.
        assert [(row["key"], row["figures"]["episodes"]) for row in days if row["figures"]["episodes"]] == [
            (str(midnight.date() - timedelta(days=1)), counted)
        ]

    def test_what_waits_since_when_and_machines(self, work: World) -> None:
        queue = next(row for row in get_report(work)["queues"] if row["pool"] == "real")
        assert (queue["tasks_waiting"], queue["tasks_held"], queue["reviews_waiting"]) == (2, 0, 1)
        assert queue["oldest_task_at"] is not None
        assert queue["oldest_review_at"] is not None
        Episode.objects.update(created_at=datetime.now(UTC) - timedelta(minutes=30))
        [machine] = get_report(work)["machines"]
        assert machine["episodes"] == 2
        assert 0.9 < machine["hours"] < 1.2


class TestAsking:
    def test_what_makes_no_sense_is_refused(self, world: World) -> None:
        for query, code in (
            ({"since": recent_days()["until"], "until": recent_days()["since"]}, "period"),
            ({"since": "1990-01-01"}, "period"),
            ({"zone": "Mars/Olympus"}, "time_zone"),
            ({"zone": "../../etc/passwd"}, "invalid"),
            ({"by": "colour"}, "invalid"),
        ):
            answer = world.client(world.ravi).get("/api/report", {**recent_days(), **query})
            assert (answer.status_code, answer.json()["code"]) == (422, code), query

    def test_annotators_see_none(self, world: World) -> None:
        for path in ("/api/report", "/api/report.csv"):
            assert world.client(world.ada).get(path, recent_days()).status_code == 403

    def test_nothing_yet(self, world: World) -> None:
        report = get_report(world)
        assert (report["rows"], report["days"], report["total"]["override"]) == ([], [], None)

    def test_the_table_holds_the_rows(self, work: World) -> None:
        answer = work.client(work.ravi).get("/api/report.csv", {**recent_days(), "by": "annotator"})
        rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
        assert [(row["annotator"], row["steps"], row["override_attempts"]) for row in rows] == [
            ("ada", "3", "3"),
            ("ben", "1", "1"),
        ]


def test_steps_from_before_get_their_figures(work: World) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE episodes_step DISABLE TRIGGER never_changed")
        cursor.execute("UPDATE episodes_step SET policy = '', decide_ms = NULL, took_ms = NULL")
        cursor.execute("ALTER TABLE episodes_step ENABLE TRIGGER never_changed")
    Proposal.objects.update(latency_ms=None)
    filling = import_module("annotation_app.episodes.migrations.0006_figures_fill")
    then = MigrationLoader(connection, replace_migrations=False).project_state(("episodes", "0005_figures")).apps
    with connection.schema_editor() as editor:
        filling.steps_fill(then, editor)
        filling.proposals_fill(then, editor)
    assert set(Step.objects.values_list("policy", "took_ms")) == {(POLICY.label, 1_000.0)}
    assert not Proposal.objects.filter(latency_ms=None).exists()
