"""The catalogue: who may search, what is found by words and facets, pages that hold, kept queries, withdrawals."""

import json
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from annotation_app.accounts.models import User
from annotation_app.catalogue.selectors import episodes_missing_from_catalogue, to_search_text
from annotation_app.catalogue.services import entries_refresh
from annotation_app.design.difficulty import Rubric
from annotation_app.design.models import Placement
from annotation_app.episodes.models import UNCATALOGUED, Episode
from annotation_app.exports.models import Export
from annotation_app.tasks.models import Pool
from tests.integration.web.conftest import World
from tests.integration.web.exports.test_exports import ask, finished


@pytest.fixture
def ended(committed: World) -> Episode:
    """Two ended episodes, one of them accepted, in the catalogue."""
    episode = finished(committed, committed.ada)
    finished(committed, committed.ben, accept=False)
    entries_refresh()
    return episode


def search_ids(world: World, **query: Any) -> list[str]:
    answer = world.client(world.ravi).get("/api/trajectories", query)
    assert answer.status_code == 200, answer.content
    return [item["id"] for item in answer.json()["items"]]


def test_words_and_facets_narrow(committed: World, ended: Episode) -> None:
    assert len(search_ids(committed)) == 2
    assert len(search_ids(committed, text="clicks")) == 2, "an act; words are taken by their stems"
    assert search_ids(committed, text="elephant") == []
    assert search_ids(committed, review="accepted") == [str(ended.pk)]
    assert len(search_ids(committed, decisions=["override"], steps_min=1)) == 2
    assert search_ids(committed, steps_min=2) == []
    assert len(search_ids(committed, action="click")) == 2
    assert search_ids(committed, action="drag") == []
    facets = committed.client(committed.ravi).get("/api/trajectories/facets").json()
    assert (facets["total"], facets["decisions"]) == (2, [{"value": "override", "count": 2}])
    assert facets["actions"] == [{"value": "click", "count": 2}]


def test_facets_count_every_kind_of_value_in_one_pass(committed: World, ended: Episode) -> None:
    client = committed.client(committed.ravi)
    with CaptureQueriesContext(connection) as queries:
        facets = client.get("/api/trajectories/facets", {"text": "clicks"}).json()
    assert sum("catalogue_entry" in query["sql"] for query in queries) == 1, "joining its tables takes longest"
    assert facets["total"] == 2
    assert facets["pools"] == [{"value": "real", "count": 2}]
    assert facets["reviews"] == [{"value": "accepted", "count": 1}, {"value": "pending", "count": 1}]
    assert facets["applications"] == [{"value": "fake", "count": 2}]
    assert client.get("/api/trajectories/facets", {"text": "elephant"}).json()["total"] == 0


def test_a_page_counts_all_that_was_found_without_joining_a_table(committed: World, ended: Episode) -> None:
    client = committed.client(committed.ravi)
    with CaptureQueriesContext(connection) as queries:
        page = client.get("/api/trajectories").json()
    (counted,) = (query["sql"] for query in queries if 'COUNT(*) AS "__count" FROM "catalogue_entry"' in query["sql"])
    assert "JOIN" not in counted
    assert page["total"] == len(page["items"]) == 2
    User.objects.filter(pk=committed.ben.pk).update(work_removed=True)
    assert client.get("/api/trajectories").json()["total"] == 1
    Pool.objects.filter(pk=ended.task.pool_id).update(practice=True)
    assert client.get("/api/trajectories").json()["total"] == 0


def test_a_level_finds_what_was_placed_there(committed: World, ended: Episode) -> None:
    Placement.objects.create(task=ended.task, rubric=Rubric(), level=3)
    assert search_ids(committed, level=3) == [str(ended.pk)]
    assert search_ids(committed, level=2) == []


def test_what_moved_on_is_entered_again_and_nothing_else(committed: World, ended: Episode) -> None:
    assert entries_refresh() == 0
    Episode.objects.filter(pk=ended.pk).update(version=ended.version + 1)
    assert episodes_missing_from_catalogue(most=None) == [ended.pk]
    assert entries_refresh() == 1
    assert entries_refresh() == 0


def test_what_is_not_entered_yet_is_read_from_an_index(committed: World) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        asked = Episode.objects.filter(UNCATALOGUED).order_by("finished_at").explain()
    assert "episode_uncatalogued" in asked


def test_annotators_do_not_search(committed: World, ended: Episode) -> None:
    answer = committed.client(committed.ada).get("/api/trajectories")
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


def test_a_cursor_nobody_gave_is_refused(committed: World, ended: Episode) -> None:
    answer = committed.client(committed.ravi).get("/api/trajectories", {"after": "elsewhere"})
    assert (answer.status_code, answer.json()["code"]) == (422, "bad_cursor")


def test_what_was_withdrawn_is_neither_found_nor_exported(committed: World, ended: Episode) -> None:
    frozen = ask(committed)
    client = committed.client(committed.ravi)
    body = json.dumps({"name": "desk-tasks"})
    version = client.post(f"/api/exports/{frozen['id']}/freeze", body, content_type="application/json").json()
    assert (version["number"], version["withdrawn"], version["trajectories"]) == (1, 0, 1)
    committed.ada.work_removed = True
    committed.ada.save(update_fields=["work_removed"])
    assert len(search_ids(committed)) == 1
    assert Export.objects.get(pk=str(ask(committed)["id"])).trajectories == 0
    assert client.get("/api/datasets").json()[0]["withdrawn"] == 1


def test_a_query_is_kept_once_under_a_name(committed: World, ended: Episode) -> None:
    client = committed.client(committed.ravi)
    body = json.dumps({"name": "overridden", "query": {"decisions": ["override"]}})
    kept = client.post("/api/queries", body, content_type="application/json")
    assert kept.status_code == 201
    assert client.get(f"/api/queries/{kept.json()['id']}").json()["query"]["decisions"] == ["override"]
    again = client.post("/api/queries", body, content_type="application/json")
    assert (again.status_code, again.json()["code"]) == (409, "name_taken")
    other = committed.client(committed.rosa).delete(f"/api/queries/{kept.json()['id']}")
    assert (other.status_code, other.json()["code"]) == (403, "forbidden")
    assert client.delete(f"/api/queries/{kept.json()['id']}").status_code == 204


def test_unspaced_writing_is_found_by_its_pairs() -> None:
    assert to_search_text("把报告改名 now").split() == ["把报", "报告", "告改", "改名", "now"]


def test_a_cancelled_export_stops_and_can_be_taken_up_again(committed: World, ended: Episode) -> None:
    export = Export.objects.create(filters={}, plan={}, requested_by=committed.ravi)
    client = committed.client(committed.ravi)
    assert client.post(f"/api/exports/{export.pk}/cancel").status_code == 204
    assert Export.objects.get(pk=export.pk).status == "cancelled"
    assert client.post(f"/api/exports/{export.pk}/retry").status_code == 202
    assert Export.objects.get(pk=export.pk).status == "done"
    refused = client.post(f"/api/exports/{export.pk}/retry")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_ended")
