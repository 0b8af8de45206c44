"""Task design: the graph and its files, places and difficulty of tasks, what is covered, wordings by a model."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.audit.models import AuditEntry
from annotation_app.design.jobs import writings_again_job
from annotation_app.design.models import Node, Placement, Suggestion, Writer, Writing
from annotation_app.design.services import nodes as services_nodes
from annotation_app.heartbeats import LOST_AFTER
from annotation_app.tasks.models import Task
from annotation_app.tasks.services import tasks_add
from protocol.trajectory import tasks as protocol_tasks
from tests.integration.web.conftest import World
from tests.integration.web.exports.test_exports import finished
from tests.integration.web.tasks.conftest import Model

JSON = "application/json"


def make(client: Client, name: str, parent: int | None = None, importance: float = 1.0) -> int:
    body = {"name": name, "parent": parent, "importance": importance}
    return int(client.post("/api/design/nodes", body, content_type=JSON).json()["id"])


def upload(client: Client, text: str, preview: bool = False) -> dict[str, Any]:
    file = SimpleUploadedFile("graph.csv", text.encode())
    answer = client.post("/api/design/graph", {"file": file, "kind": "csv", "preview": str(preview).lower()})
    found: dict[str, Any] = answer.json()
    return found


def test_a_graph_goes_to_a_file_and_comes_back(client: Client) -> None:
    shop = make(client, "shop", importance=3)
    make(client, "pay", make(client, "cart", shop), importance=2)
    text = client.get("/api/design/graph.csv").content.decode("utf-8-sig")
    client.delete(f"/api/design/nodes/{shop}")
    assert client.get("/api/design").json()["nodes"] == []
    assert upload(client, text, preview=True)["added"] == 3
    assert not Node.objects.exists(), "a preview changes nothing"
    assert upload(client, text)["added"] == 3
    assert client.get("/api/design/graph.csv").content.decode("utf-8-sig") == text
    again = upload(client, "application,function,part,importance\nshop,,,5\n")
    assert (again["added"], again["changed"]) == (0, 1)


def test_a_file_with_a_fault_changes_nothing(client: Client) -> None:
    report = upload(client, "application,function,part,importance\nshop,,,1\n,cart,,1\n")
    assert [fault["row"] for fault in report["faults"]] == [2]
    assert not Node.objects.exists()


def test_two_who_add_the_same_at_once_are_told(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "application,function,part,importance\nshop,,,1\nshop,cart,,1\n"
    assert upload(client, text)["added"] == 2
    monkeypatch.setattr(services_nodes, "node_paths", dict)  # as it was before the other's were there
    assert upload(client, text)["code"] == "graph_changed"
    assert Node.objects.count() == 2


def test_what_cannot_be_is_refused(client: Client) -> None:
    top = make(client, "shop")
    deepest = make(client, "pay", make(client, "cart", top))

    def refused(**body: object) -> object:
        return client.post("/api/design/nodes", body, content_type=JSON).json()["code"]

    assert refused(name="shop") == "name_taken"
    assert refused(name="deeper", parent=deepest) == "too_deep"
    assert refused(name="lost", parent=999_999) == "not_found"
    assert refused(name=" ") == "invalid"


def test_the_first_graph_comes_from_the_suites_of_the_tasks(committed: World, client: Client) -> None:
    buy = protocol_tasks.Task(id="b", instruction="Buy it.", suite="web", name="shop/buy", max_steps=90)
    tasks_add(pool=committed.pool, definitions=[buy])
    report = client.post("/api/design/suites").json()
    assert (report["placed"], report["added"]) == (4, 5), "fake/type for three, web/shop/buy for one; practice is none"
    assert client.post("/api/design/suites").json()["placed"] == 0
    page = client.get("/api/design").json()
    by_name = {node["name"]: node for node in page["nodes"]}
    assert by_name["buy"]["parent"] == by_name["shop"]["id"]
    assert [cell["tasks"] for cell in by_name["web"]["cells"]] == [1]
    assert page["unplaced"] == 0


def test_coverage_counts_up_the_graph_and_gaps_follow_importance(committed: World, client: Client) -> None:
    shop, mail = make(client, "shop", importance=1), make(client, "mail", importance=9)
    cart = make(client, "cart", shop)
    task = Task.objects.get(key="one")
    easy = {"steps": 2, "pages": 0, "prerequisites": 0, "exceptions": 0}
    body = {"tasks": [task.pk], "node": cart, "rubric": easy}
    assert client.post("/api/design/placements", body, content_type=JSON).status_code == 204
    assert finished(committed, committed.ada).task_id == task.pk
    page = client.get("/api/design").json()
    cells = {node["name"]: node["cells"] for node in page["nodes"]}
    assert cells["shop"] == cells["cart"] == [{"level": 1, "tasks": 1, "done": 1, "accepted": 1}]
    assert page["gaps"][0]["node"] == mail
    wanted = {(gap["node"], gap["level"]): gap["score"] for gap in page["gaps"]}
    assert wanted[cart, 1] == pytest.approx(wanted[cart, 2] * 2 / 3)
    shown = client.get(f"/api/design/tasks?node={shop}&level=1").json()["items"]
    assert [(one["id"], one["level"], one["guessed"], one["accepted"]) for one in shown] == [(task.pk, 1, False, 1)]
    assert client.get(f"/api/design/tasks?node={shop}&level=2").json()["items"] == []
    body["tasks"] = [task.pk, 999_999]
    assert client.post("/api/design/placements", body, content_type=JSON).json()["code"] == "not_found"


def test_a_model_is_added_and_then_never_changed(client: Client, model: Model) -> None:
    body: dict[str, Any] = {"name": "words", "revision": "1", "base_url": model.url, "model": "m", "temperature": 0.5}
    made = client.post("/api/design/writers", body, content_type=JSON)
    assert made.status_code == 201
    told = {"id": made.json()["id"], "name": "words 1"}
    assert client.get("/api/design").json()["writers"] == [told]
    again = client.post("/api/design/writers", {**body, "temperature": 1}, content_type=JSON)
    assert (again.status_code, again.json()["code"]) == (409, "name_taken")
    for wrong in (
        {"base_url": "file:///etc/passwd"},
        {"base_url": "http://u:p@x/v1"},
        {"temperature": 3},
        {"name": " "},
    ):
        answer = client.post("/api/design/writers", {**body, "revision": "2", **wrong}, content_type=JSON)
        assert answer.status_code == 422, wrong
    assert Writer.objects.get().temperature == 0.5
    assert AuditEntry.objects.filter(verb="design.writer_added", subject=f"writer:{told['id']}").exists()


def ask(client: Client, writer: Writer, task: Task) -> Any:
    body = {"writer": writer.pk, "count": 3}
    return client.post(f"/api/tasks/{task.pk}/wordings", body, content_type=JSON)


def test_a_wording_becomes_a_task_once_somebody_accepts_it(client: Client, model: Model, writer: Writer) -> None:
    model.says = 'Sure: ["Enter one", "Write one", "Type one", "Enter one"]'
    task = Task.objects.get(key="one")
    client.post("/api/design/suites")
    assert ask(client, writer, task).status_code == 202
    assert "Type one" in model.heard[0]["messages"][0]["content"]
    shown = client.get(f"/api/design/tasks?node={Node.objects.get(name='type').pk}").json()["items"][0]["writing"]
    assert (shown["status"], [one["text"] for one in shown["suggestions"]]) == ("done", ["Enter one", "Write one"])
    assert Task.objects.filter(pool=task.pool).count() == 3, "nothing is a task before it is accepted"
    first, second = (one["id"] for one in shown["suggestions"])
    body = {"text": "Enter the word one"}
    made = client.post(f"/api/suggestions/{first}/accept", body, content_type=JSON).json()["id"]
    variant = Task.objects.get(pk=made)
    assert variant.definition.instruction == "Enter the word one"
    assert (variant.definition.parameters, variant.kind) == (task.definition.parameters, task.kind)
    placement, source = Placement.objects.get(task=variant), Placement.objects.get(task=task)
    assert (placement.variant_of, placement.node, placement.level) == (task, source.node, source.level)
    assert client.post(f"/api/suggestions/{second}/reject").status_code == 204
    for answer in (
        client.post(f"/api/suggestions/{first}/accept", body, content_type=JSON),
        client.post(f"/api/suggestions/{second}/accept", body, content_type=JSON),
    ):
        assert answer.json()["code"] == "decided"
    verbs = set(AuditEntry.objects.values_list("verb", flat=True))
    assert {"design.wording_asked", "design.wording_accepted", "design.wording_rejected"} <= verbs


def test_a_model_is_deleted_unless_it_worded_something(client: Client, model: Model, writer: Writer) -> None:
    path = f"/api/design/writers/{writer.pk}"
    ask(client, writer, Task.objects.get(key="one"))
    refused = client.delete(path)
    assert (refused.status_code, refused.json()["code"]) == (409, "writer_used")
    Writing.objects.all().delete()
    assert client.delete(path).status_code == 204
    assert client.get("/api/design").json()["writers"] == []
    assert AuditEntry.objects.filter(verb="design.writer_deleted", subject=f"writer:{writer.pk}").exists()
    assert client.delete(path).status_code == 404


def test_a_wording_that_the_pool_has_is_refused(client: Client, model: Model, writer: Writer) -> None:
    model.says = '["Enter one", "Write one"]'
    ask(client, writer, Task.objects.get(key="one"))
    body = {"text": "Enter one"}
    first, second = Suggestion.objects.values_list("pk", flat=True)
    assert client.post(f"/api/suggestions/{first}/accept", body, content_type=JSON).status_code == 201
    assert client.post(f"/api/suggestions/{second}/accept", body, content_type=JSON).json()["code"] == "wording_known"
    assert Suggestion.objects.get(pk=second).decided_at is None


@pytest.mark.parametrize(
    ("says", "status", "why"), [("no", 200, "said nothing"), ("x" * 200_000, 200, "said nothing"), ("", 400, "refused")]
)
def test_a_model_that_is_of_no_use_is_told(
    client: Client, model: Model, writer: Writer, says: str, status: int, why: str
) -> None:
    model.says, model.status = says, status
    told = ask(client, writer, Task.objects.get(key="one")).json()
    assert told["status"] == "failed"
    assert why in told["error"]
    assert not Suggestion.objects.exists()


def test_one_request_at_a_time_and_one_that_broke_off_is_done_again(
    client: Client, model: Model, writer: Writer, alma: User
) -> None:
    model.says = '["Enter one"]'
    task = Task.objects.get(key="one")
    broken = Writing.objects.create(task=task, writer=writer, count=1, requested_by=alma, status="running")
    assert ask(client, writer, task).json()["code"] == "writing"
    Writing.objects.update(heard_at=timezone.now() - 2 * LOST_AFTER)
    writings_again_job()
    broken.refresh_from_db()
    assert (broken.status, broken.suggestions.count()) == ("done", 1)
    assert client.post(f"/api/wordings/{broken.pk}/cancel").status_code == 204
    broken.refresh_from_db()
    assert broken.status == "done", "what has ended stays as it ended"


def test_researchers_look_and_do_not_change(committed: World, client: Client) -> None:
    make(client, "shop")
    theirs = committed.client(committed.ravi)
    assert theirs.get("/api/design").status_code == 200
    assert theirs.post("/api/design/nodes", {"name": "mail"}, content_type=JSON).status_code == 403
