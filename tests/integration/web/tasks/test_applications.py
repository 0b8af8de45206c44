"""Applications, measures of nodes, and the balance of difficulty over HTTP."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation_app.accounts.services import user_ensure
from annotation_app.audit.models import AuditEntry
from annotation_app.design.models import Application, Node, Reading, ScoringVersion
from annotation_app.design.selectors import node_paths
from annotation_app.tasks.models import Task
from tests.integration.web.conftest import PASSWORD, World

JSON = "application/json"
HEAD = "application,indicator,value,unit,source,date\n"
FILE = (
    HEAD + "Mail,coverage,80,% of industries,a survey,2026-01-01\n"
    "Mail,penetration,60,% of users,https://example.org/report,2026-02-01\n"
    "Maps,coverage,40,% of industries,a survey,2026-01-01\n"
    "Docs,,,,,\n"
)


@pytest.fixture
def client(committed: World) -> Client:
    return committed.client(user_ensure(username="alma", password=PASSWORD, name="Alma", roles=["admin"]))


def post(client: Client, path: str, **body: object) -> Any:
    return client.post(f"/api/design/{path}", body, content_type=JSON)


def upload(client: Client, text: str, preview: bool = False) -> dict[str, Any]:
    file = SimpleUploadedFile("applications.csv", text.encode())
    body = {"file": file, "preview": str(preview).lower()}
    found: dict[str, Any] = client.post("/api/design/applications/file", body).json()
    return found


def graph(client: Client, text: str) -> dict[str, Any]:
    body = {"file": SimpleUploadedFile("graph.csv", text.encode()), "kind": "csv"}
    found: dict[str, Any] = client.post("/api/design/graph", body).json()
    return found


def items(client: Client) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in client.get("/api/design/applications").json()["items"]}


def test_readings_come_from_a_file_are_scored_and_go_to_a_file(client: Client) -> None:
    told = upload(client, FILE, preview=True)
    assert (told["applications"], told["added"], told["faults"]) == (3, 3, [])
    assert not Application.objects.exists(), "a preview changes nothing"
    assert [(row["row"], row["effect"]) for row in told["rows"]] == [(row, "added") for row in (1, 2, 3, 4)]
    upload(client, FILE)
    found = items(client)
    assert list(found) == ["Mail", "Maps", "Docs"]
    assert [(one["rank"], one["score"]) for one in found.values()] == [(1, 1.0), (2, 0.75), (3, None)]
    assert [part["state"] for part in found["Maps"]["parts"]] == ["counted", "missing", "missing"]
    text = client.get("/api/design/applications.csv").content.decode("utf-8-sig").replace("\r\n", "\n")
    assert sorted(text.splitlines()) == sorted(FILE.splitlines())
    again = upload(client, text.replace("40,", "45,"))
    assert (again["added"], again["changed"], again["same"]) == (0, 1, 2)
    wrong = upload(client, HEAD + "Chat,coverage,-1,% of industries,a survey,2026-01-01\nChat,,,,,\n")
    assert [(fault["row"], fault["column"], fault["code"]) for fault in wrong["faults"]] == [(1, "value", "negative")]
    assert "Chat" not in items(client)


def test_readings_are_kept_and_the_newest_counts(client: Client) -> None:
    mail = post(client, "applications", name="Mail").json()["id"]
    assert post(client, "applications", name="Mail").json()["code"] == "name_taken"
    body = {"indicator": "coverage", "value": 10, "unit": "% of industries", "source": "a survey"}
    path = f"applications/{mail}/readings"
    assert post(client, path, **body, dated="2026-01-01").status_code == 201
    newer = post(client, path, **{**body, "value": 30}, dated="2026-03-01").json()["id"]
    assert post(client, path, **{**body, "value": 20}, dated="2026-03-01").json()["id"] == newer, "it is corrected"
    readings = items(client)["Mail"]["readings"]
    assert [(one["value"], one["counted"]) for one in readings] == [(20, True), (10, False)]
    assert client.delete(f"/api/design/readings/{newer}").status_code == 204
    assert [one["counted"] for one in items(client)["Mail"]["readings"]] == [True]
    later = (date.today() + timedelta(days=3)).isoformat()
    assert post(client, path, **body, dated=later).json()["code"] == "future"
    assert post(client, "applications/999999/readings", **body, dated="2026-01-01").json()["code"] == "not_found"
    assert client.delete(f"/api/design/applications/{mail}").status_code == 204
    assert not Reading.objects.exists()


def test_a_chosen_application_is_a_top_node_of_the_graph(client: Client) -> None:
    upload(client, FILE)
    maps = Node.objects.create(name="Maps", importance=4)
    found = items(client)
    made = post(client, f"applications/{found['Mail']['id']}/decision", state="chosen", reason="used daily").json()
    assert Node.objects.get(pk=made["node"]).importance == 10, "ten times its score"
    linked = post(client, f"applications/{found['Maps']['id']}/decision", state="chosen").json()
    assert (linked["node"], Node.objects.get(pk=maps.pk).importance) == (maps.pk, 4), "one that is there stays"
    mail = items(client)["Mail"]
    told = {name: mail["decision"][name] for name in ("by", "reason", "score", "version")}
    assert told == {"by": "alma", "reason": "used daily", "score": 1.0, "version": 0}
    rule = client.get("/api/design/applications").json()["scoring"]["rule"]
    rule["coverage"]["weight"] = 3
    assert post(client, "scoring", **rule).json() == post(client, "scoring", **rule).json() == {"version": 1}
    assert ScoringVersion.objects.get().rule.coverage.weight == 3
    rule = {name: {**part, "weight": 0} for name, part in rule.items()}
    assert post(client, "scoring", **rule).status_code == 422
    assert items(client)["Mail"]["decision"]["version"] == 0, "a decision keeps what it was made on"
    post(client, f"applications/{mail['id']}/decision", state="dropped")
    assert items(client)["Mail"]["node"] == made["node"], "its tasks stay where they are"
    verbs = set(AuditEntry.objects.values_list("verb", flat=True))
    assert {"design.readings_imported", "design.application_decided", "design.scoring_changed"} <= verbs


def test_importance_follows_from_measures_or_is_typed(client: Client) -> None:
    measures = {"frequency": 8, "benefit": 5, "transfer": 2}
    top = post(client, "nodes", name="Mail", importance=3).json()["id"]
    send = post(client, "nodes", name="Send", parent=top, measures=measures, measured_by="five users asked").json()[
        "id"
    ]
    nodes = {node["name"]: node for node in client.get("/api/design").json()["nodes"]}
    assert (nodes["Mail"]["importance"], nodes["Mail"]["measures"]) == (3, None)
    assert (nodes["Send"]["importance"], nodes["Send"]["measures"]) == (5.6, measures)
    text = client.get("/api/design/graph.csv").content.decode("utf-8-sig")
    older = "application,function,part,importance\nMail,Send,,5.6\n"
    assert graph(client, older)["changed"] == 0
    assert Node.objects.get(pk=send).benefit == 5, "an older file has no measures to say"
    assert graph(client, older.replace("5.6", "7"))["changed"] == 1
    assert (Node.objects.get(pk=send).importance, Node.objects.get(pk=send).benefit) == (7, None), "it is typed now"
    assert graph(client, text)["changed"] == 1
    assert client.get("/api/design/graph.csv").content.decode("utf-8-sig") == text
    partly = "application,importance,frequency,benefit\nMail,1,2,3\n"
    assert [fault["row"] for fault in graph(client, partly)["faults"]] == [1]
    body = {"name": "Send", "importance": 1, "measures": {"frequency": 8}}
    assert client.patch(f"/api/design/nodes/{send}", body, content_type=JSON).status_code == 422


def test_the_graph_has_no_cycles(client: Client) -> None:
    top = post(client, "nodes", name="Mail").json()["id"]
    send = post(client, "nodes", name="Send", parent=top).json()["id"]
    body = {"name": "Mail", "importance": 1, "parent": send}
    assert client.patch(f"/api/design/nodes/{top}", body, content_type=JSON).status_code == 422, "no node moves"
    rows = "application,function,part,importance\nMail,Send,Mail,1\nSend,Mail,Send,1\n"
    assert graph(client, rows)["added"] == 2, "and what is above them"
    assert sorted(map(len, node_paths().values())) == [1, 1, 2, 2, 3, 3]


def test_balance_tells_what_is_missing_in_a_pool(committed: World, client: Client) -> None:
    page = client.get("/api/design/balance").json()
    assert (page["tasks"], page["unrated"]) == (0, 3)
    assert post(client, "difficulties").json() == {"guessed": 3}
    assert post(client, "difficulties").json() == {"guessed": 0}
    task = Task.objects.get(key="one")
    leaf = post(client, "nodes", name="Mail").json()["id"]
    rubric = {"steps": 60, "pages": 2, "prerequisites": 2, "exceptions": 2}
    post(client, "placements", tasks=[task.pk], node=leaf, rubric=rubric)
    pool = committed.pool.pk
    page = client.get(f"/api/design/balance?pool={pool}").json()
    assert [(one["tasks"], one["guessed"]) for one in page["levels"]][-1] == (1, 0)
    assert sum(one["tasks"] for one in page["levels"]) == page["tasks"] == 3
    assert sum(one["missing"] for one in page["levels"]) > 0
    assert page["levels"][-1]["places"] == [{"node": leaf, "path": "Mail", "tasks": 1}]
    shares = {"levels": [50, 0, 0, 0, 50]}
    assert post(client, "balance", pool=pool, shares=shares).status_code == 204
    assert post(client, "balance", shares={"levels": [50, 0, 0, 0, 49]}).status_code == 422
    page = client.get(f"/api/design/balance?pool={pool}").json()
    assert (page["wanted"], page["own"]) == (shares, True)
    page = client.get("/api/design/balance").json()
    assert (page["wanted"]["levels"], page["own"]) == ([20] * 5, False)
    post(client, "balance", pool=pool, shares=None)
    assert client.get(f"/api/design/balance?pool={pool}").json()["own"] is False
    assert client.get("/api/design/balance?pool=999999").json()["code"] == "not_found"
