"""Task drafts: by a person and by a model, edited, accepted into a pool, and near duplicates on the way."""

import json
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.audit.models import AuditEntry
from annotation_app.design.draft_replies import share_out
from annotation_app.design.jobs import writings_again_job
from annotation_app.design.models import DraftRequest, Node, Placement, TaskDraft, Writer
from annotation_app.heartbeats import LOST_AFTER
from annotation_app.tasks.models import Task
from protocol.evaluation.judge_prompts import success_criteria
from tests.integration.web.conftest import World
from tests.integration.web.tasks.conftest import Model

JSON = "application/json"
PATH = "/api/design/drafts"
REQUESTS = "/api/design/draft-requests"


@pytest.fixture
def mail(committed: World) -> Node:
    application = Node.objects.create(name="Mail")
    Node.objects.create(name="Calendar")
    return Node.objects.create(name="Send", parent=application)


def content(text: str = 'Send Ann a mail with the subject "Lunch".', **more: Any) -> dict[str, Any]:
    """A draft as a person's form sends it."""
    criteria = ["The folder Sent shows a mail to Ann"]
    return {"text": text, "expertise": "novice", "applications": ["Mail"], "criteria": criteria, **more}


def post(client: Client, path: str, body: object) -> Any:
    """The answer of a call with a body."""
    return client.post(path, body, content_type=JSON)


def add(client: Client, node: Node, text: str, **more: Any) -> int:
    """The id of a new draft."""
    return int(post(client, PATH, {"node": node.pk, "content": content(text, **more)}).json()["id"])


def accept(client: Client, world: World, *drafts: int, **more: object) -> Any:
    """The answer to accepting these drafts into the world's pool."""
    return post(client, f"{PATH}/accept", {"drafts": drafts, "pool": world.pool.pk, **more})


def page(client: Client, node: Node, query: str = "") -> dict[str, Any]:
    """Drafts of a node as they are shown."""
    shown: dict[str, Any] = client.get(f"{PATH}?node={node.pk}{query}").json()
    return shown


def test_a_draft_is_edited_and_becomes_a_task_that_judges_can_judge(
    committed: World, client: Client, mail: Node
) -> None:
    draft = add(client, mail, "Send Ann a mail.", preconditions=["Ann is in the address book"])
    edited = content("Send Ann a mail about lunch.", rubric={"steps": 30}, applications=["Mail", "Calendar"])
    assert client.patch(f"{PATH}/{draft}", edited, content_type=JSON).status_code == 204
    shown = page(client, Node.objects.get(name="Mail"))["items"]
    assert [(one["scope"], one["level"], one["level_contradicted"]) for one in shown] == [("several", 3, True)]
    answer = accept(client, committed, draft, network=["mail.example.org"])
    task = Task.objects.get(pk=answer.json()["tasks"][0])
    assert success_criteria(task.definition) == ("The folder Sent shows a mail to Ann",)
    assert (task.definition.platform, task.definition.network) == (committed.pool.platform, ("mail.example.org",))
    placement = Placement.objects.get(task=task)
    assert (placement.node, placement.level, placement.guessed) == (mail, 3, False)
    assert page(client, mail, "&state=accepted&expertise=novice&scope=several&written_by=person")["items"][0]["task"]
    assert accept(client, committed, draft).json()["code"] == "decided"
    assert client.patch(f"{PATH}/{draft}", edited, content_type=JSON).json()["code"] == "decided"


def test_what_no_task_can_be_made_of_is_refused_with_its_reason(client: Client, mail: Node) -> None:
    def code(**more: Any) -> object:
        return post(client, PATH, {"node": mail.pk, "content": content(**more)}).json()["code"]

    assert code(criteria=["It looks good"]) == "vague_criterion"
    assert code(applications=["Mail", "Telegraph"]) == "unknown_application"
    assert code(text='Sign in with the password "hunter2".') == "names_secret"
    assert code(criteria=[]) == "invalid"


def test_near_duplicates_are_told_and_taken_only_if_that_is_confirmed(
    committed: World, client: Client, mail: Node
) -> None:
    first = add(client, mail, 'Send Ann a mail with the subject "Lunch".')
    second = add(client, mail, 'Could you please send a mail to Ann with the subject "Lunch"?')
    other = add(client, mail, 'Send Ann a mail with the subject "Dinner".')
    assert {one["id"]: [match["id"] for match in one["matches"]] for one in page(client, mail)["items"]} == {
        first: [second],
        second: [first],
        other: [],
    }
    assert accept(client, committed, first, second, other).json()["code"] == "near_duplicates"
    assert not Task.objects.filter(draft__isnull=False).exists()
    (task,) = accept(client, committed, first, confirmed=True).json()["tasks"]
    body = {"drafts": [second, other], "pool": committed.pool.pk}
    (found,) = post(client, f"{PATH}/check", body).json()
    assert found["draft"] == second
    assert {(match["kind"], match["id"]) for match in found["matches"]} == {("draft", first), ("task", task)}
    assert accept(client, committed, other).status_code == 201


def test_a_rejected_draft_keeps_its_reason_and_can_wait_again(committed: World, client: Client, mail: Node) -> None:
    drafts = [add(client, mail, f"Send mail number {number}.") for number in (1, 2)]
    assert post(client, f"{PATH}/reject", {"drafts": drafts, "reason": "Too dull"}).status_code == 204
    assert {one["reason"] for one in page(client, mail, "&state=rejected")["items"]} == {"Too dull"}
    assert accept(client, committed, drafts[0]).json()["code"] == "decided"
    assert post(client, f"{PATH}/reopen", {"drafts": drafts}).status_code == 204
    assert {one["state"] for one in page(client, mail)["items"]} == {"waiting"}
    verbs = set(AuditEntry.objects.filter(verb__startswith="design.draft").values_list("verb", flat=True))
    assert verbs == {"design.draft_added", "design.drafts_rejected", "design.drafts_reopened"}


def test_a_model_writes_drafts_and_what_is_left_out_is_named(
    client: Client, model: Model, writer: Writer, mail: Node
) -> None:
    vague = {**content("Write a nice mail."), "criteria": ["It looks good"]}
    model.says = f"Here they are:\n```json\n{json.dumps([content(), vague])}\n```"
    wanted = {"node": mail.pk, "writer": writer.pk, "count": 4, "expertises": ["novice", "expert"]}
    told = post(client, REQUESTS, {**wanted, "persona": "a nurse"}).json()
    assert (told["status"], told["cells"], told["cells_done"], told["drafts"]) == ("done", 2, 2, 1)
    assert [(one["reason"], one["text"]) for one in told["left_out"]] == [
        ("vague_criterion", "Write a nice mail."),
        ("duplicate", content()["text"]),
        ("vague_criterion", "Write a nice mail."),
    ]
    assert "a nurse" in model.heard[0]["messages"][0]["content"]
    (shown,) = page(client, mail, "&written_by=model")["items"]
    assert (shown["writer"], shown["author"], shown["original"], len(shown["prompt_sha256"])) == ("words 1", "", "", 64)
    client.patch(f"{PATH}/{shown['id']}", content("Send Ann a mail."), content_type=JSON)
    (shown,) = page(client, mail)["items"]
    assert (shown["author"], shown["original"]) == ("Alma", content()["text"])
    assert client.delete(f"/api/design/writers/{writer.pk}").json()["code"] == "writer_used"


def test_a_request_that_broke_off_goes_on_behind_the_cells_that_are_done(
    client: Client, model: Model, writer: Writer, mail: Node, alma: User
) -> None:
    model.says = json.dumps([content()])
    cells = share_out(2, ("novice", "expert"), ("single",))
    broken = DraftRequest.objects.create(
        node=mail, writer=writer, count=2, cells=cells, cells_done=1, requested_by=alma, status="running"
    )
    body = {"node": mail.pk, "writer": writer.pk}
    assert post(client, REQUESTS, body).json()["code"] == "drafting"
    DraftRequest.objects.update(heard_at=timezone.now() - 2 * LOST_AFTER)
    writings_again_job()
    broken.refresh_from_db()
    assert (broken.status, broken.cells_done, len(model.heard)) == ("done", 2, 1)
    assert TaskDraft.objects.get().expertise == "expert"
    model.status = 400
    failed = post(client, REQUESTS, body).json()
    assert (failed["status"], failed["drafts"]) == ("failed", 0)
    waiting = DraftRequest.objects.create(node=mail, writer=writer, count=2, cells=cells, requested_by=alma)
    assert client.post(f"{REQUESTS}/{waiting.pk}/cancel").status_code == 204
    waiting.refresh_from_db()
    assert waiting.status == "cancelled"
