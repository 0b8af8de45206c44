"""What the bench of rooms reads from the pages' source, the guides and the answers, and what of it is not reached."""

import json
from pathlib import Path

import pytest

from benchmarks.parts.figures import print_figures
from benchmarks.parts.rooms.bad_inputs import BAD_INPUTS, names_field
from benchmarks.parts.rooms.first_pages import slowest_calls
from benchmarks.parts.rooms.page_calls import Call, find_unused, named_calls, page_calls
from benchmarks.parts.rooms.reach import admin_only, measure_reach
from benchmarks.parts.rooms.second_installation import count_lines, difference
from benchmarks.parts.safety.requests import Answer

ROUTES = (
    "GET /api/people",
    "POST /api/people/{user_id}/erase",
    "POST /api/exports/{export_id}/cancel",
    "POST /api/exports/{export_id}/retry",
    "DELETE /api/pools/{pool_id}",
)


def calls_in(source: str, **others: str) -> frozenset[Call]:
    return page_calls({Path("one.ts"): source, **{Path(name): text for name, text in others.items()}})


@pytest.mark.parametrize(
    ("source", "call"),
    [
        ('request<Page>("GET", "/people")', Call("GET", "/people")),
        ("request<Page>(\n  'GET',\n  `/people?${search({ role: `a` })}`,\n)", Call("GET", "/people")),
        ("request('POST', `/people/${encodeURIComponent(id)}/erase`, { a: 1 })", Call("POST", "/people/{}/erase")),
        ('request("GET", `/report${pool ? `?pool=${pool}` : ""}`)', Call("GET", "/report")),
        ('requestWithHeaders("PATCH", path, {});\nconst path = `/uploads/${id}`;', Call("PATCH", "/uploads/{}")),
        (
            "const at = (id: string) => `/pools/${id}`;\nrequest('GET', `${at(id)}/sweep`)",
            Call("GET", "/pools/{}/sweep"),
        ),
        ("<a href={`/api/exports/${item.id}/download`}>", Call("GET", "/exports/{}/download")),
        ('request(on ? "POST" : "DELETE", `/pools/${pool}/stop`)', Call("DELETE", "/pools/{}/stop")),
        ("request('POST', `${owner}/tickets`)", Call("POST", "**/tickets")),
    ],
)
def test_a_call_is_read_from_the_source(source: str, call: Call) -> None:
    assert call in calls_in(source)


def test_a_name_of_another_file_is_followed() -> None:
    used = "request('POST', `${machinePath(id)}/reclaim`)"
    found = calls_in(used, **{"api.ts": "export const machinePath = (id: string) => `/machines/${id}`;"})
    assert found == {Call("POST", "/machines/{}/reclaim")}


def test_guides_name_calls_with_ids_of_any_spelling() -> None:
    guide = "Ask `GET /api/people`, `POST /api/people/ID/erase`, `GET` and `DELETE /api/pools/{id}`, not /api/health."
    assert named_calls([guide]) == {
        Call("GET", "/people"),
        Call("POST", "/people/{}/erase"),
        Call("GET", "/pools/{}"),
        Call("DELETE", "/pools/{}"),
    }


def test_a_route_without_a_call_is_unused() -> None:
    calls = frozenset({Call("GET", "/people"), Call("POST", "/exports/{}/{}")})
    assert find_unused(ROUTES, calls) == ("DELETE /api/pools/{pool_id}", "POST /api/people/{user_id}/erase")
    tickets = ("POST /api/people/{user_id}/tickets", "POST /api/wall/tickets")
    assert find_unused(tickets, frozenset({Call("POST", "**/tickets")})) == tickets[1:]


def test_what_only_an_admin_page_of_django_does_is_named() -> None:
    verbs = ("a.Person view", "a.Person delete", "a.Pool delete", "a.Other view")
    counterparts = {
        "a.Person": {"view": "GET /api/people", "delete": "POST /api/people/{user_id}/erase"},
        "a.Pool": {"delete": "DELETE /api/pools/{pool_id}"},
    }
    calls = frozenset({Call("GET", "/people"), Call("DELETE", "/pools/{}")})
    assert admin_only(verbs, counterparts, ROUTES, calls) == ("a.Person delete", "a.Other view")


def test_everything_is_reached_by_a_page_or_named_in_a_guide() -> None:
    found = measure_reach()
    assert (found["django_admin_only_names"], found["api_only_names"]) == ((), ())


@pytest.mark.parametrize(
    ("status", "extra", "named"),
    [
        (422, {"fields": [{"field": "settings.name", "message": "It is empty."}]}, True),
        (409, {"fields": [{"field": "name.0", "message": "It is taken."}]}, True),
        (422, {"fields": [{"field": "name", "message": ""}]}, False),
        (422, {"fields": [{"field": "image", "message": "It is empty."}]}, False),
        (422, {}, False),
        (200, {"fields": [{"field": "name", "message": "It is empty."}]}, False),
    ],
)
def test_an_answer_names_the_field_and_the_reason(status: int, extra: object, named: bool) -> None:
    body = json.dumps({"code": "invalid", "message": "The request is not understood.", "extra": extra})
    assert names_field(Answer(status, body=body.encode()), "settings.name") is named


def test_an_answer_that_is_no_error_of_ours_names_nothing() -> None:
    assert not names_field(Answer(404, body=b"<html>"), "name")


def test_there_are_many_bad_inputs_over_many_routes() -> None:
    assert len(BAD_INPUTS) >= 40
    assert len({(bad.method, bad.path.partition("?")[0]) for bad in BAD_INPUTS}) >= 30


def test_lines_of_each_log_are_counted(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "web.log").write_text("one\n")
    before = count_lines(tmp_path)
    (logs / "web.log").write_text("one\ntwo\nthree\n")
    (logs / "worker.log").write_text("one\n")
    (logs / "beat.log").write_text("")
    assert difference(before, count_lines(tmp_path)) == {"web": 2, "worker": 1}


def test_the_slowest_calls_come_first() -> None:
    calls = {"/api/a": [1.0, 2.0], "/api/b": [50.0], "/api/c": [9.0]}
    assert list(slowest_calls(calls, most=2)) == ["/api/b", "/api/c"]


def test_the_bounds_are_enforced(capsys: pytest.CaptureFixture[str]) -> None:
    good = {"first_page_p95_ms": 300, "bad_inputs": 40, "bad_inputs_named": 40, "django_admin_only": 0, "api_only": 0}
    assert print_figures("rooms", good) == 0
    for key, wrong in {
        "first_page_p95_ms": 301,
        "search_to_export_clicks": 4,
        "wall_cpu_share_50_sessions": 0.6,
        "django_admin_only": 1,
        "api_only": 1,
        "bad_inputs_named": 39,
        "two_installations_start": False,
        "full_disk_told": False,
        "log_lines_per_hour_at_rest": 201,
    }.items():
        assert print_figures("rooms", {**good, key: wrong}) == 1, key
    capsys.readouterr()
