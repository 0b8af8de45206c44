"""Imports: what was exported comes in again as it was; what others wrote, what broke off, and who is told."""

import io
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from annotation_app.accounts.models import User
from annotation_app.catalogue.services import entries_refresh
from annotation_app.episodes.models import Episode, Source, SupervisorNote
from annotation_app.heartbeats import LOST_AFTER
from annotation_app.imports.jobs import imports_requeue_job
from annotation_app.imports.models import Import, ImportState, Refusal
from annotation_app.imports.selectors import import_folder
from annotation_app.imports.services import import_run
from annotation_app.imports.services import jobs as services_jobs
from annotation_app.imports.services.rows import store_rows
from annotation_app.tasks.models import Pool
from protocol.actions.types import Finish
from protocol.trajectory.steps import step_policies
from protocol.trajectory.trajectories import Trajectory
from tests.integration.web.conftest import World
from tests.integration.web.exports.test_export_formats import attempt, picture
from tests.integration.web.imports.import_helpers import (
    build_archive,
    empty_platform,
    import_errors,
    lines,
    upload,
    write,
    zipped,
)


@pytest.fixture
def attempts(committed: World) -> list[str]:
    """Three attempts, in the world they were made in."""
    committed.pool.tasks.all().delete()
    return [attempt(committed.ada, number, committed.pool) for number in range(3)]


def test_what_was_exported_comes_in_and_goes_out_as_it_was(attempts: list[str], tmp_path: Path, data: Path) -> None:
    before = write(tmp_path / "before")
    rows = (before / "trajectories.jsonl").read_bytes()
    world = empty_platform(data)
    told = upload(world, zipped(before))
    counts = (told["status"], told["imported"], told["steps"], told["refused"])
    assert counts == ("done", 3, 9, 0), import_errors(world, told)
    after = write(tmp_path / "after")
    assert (after / "trajectories.jsonl").read_bytes() == rows
    assert sorted(path.name for path in (after / "images").iterdir()) == sorted(
        path.name for path in (before / "images").iterdir()
    )
    assert not import_folder(Import.objects.get().pk).exists(), "the upload is not kept"
    again = upload(world, zipped(before), pool=told["pool"])
    assert (again["imported"], again["known"], again["refused"]) == (0, 3, 0)
    assert Episode.objects.count() == 3


def test_what_is_here_is_not_taken_in_again(committed: World, attempts: list[str], tmp_path: Path) -> None:
    for name in ("canonical", "atif"):
        told = upload(committed, zipped(write(tmp_path / name, name)))
        assert (told["imported"], told["known"], told["refused"]) == (0, 3, 0), name
    row = json.loads((tmp_path / "canonical" / "trajectories.jsonl").read_text().splitlines()[0])
    told = upload(committed, lines({**row, "answer": "something else"}), "rows.jsonl")
    assert [(one["line"], one["code"]) for one in import_errors(committed, told)] == [(1, "id_taken")]
    SupervisorNote.objects.create(episode_id=row["id"], author=committed.rosa, text="Look in Downloads.")
    del row["supervisor_notes"]  # an earlier version wrote none
    assert upload(committed, lines(row), "rows.jsonl")["known"] == 1
    assert Episode.objects.count() == 3


def test_atif_keeps_who_decided_and_goes_out_as_it_came(attempts: list[str], tmp_path: Path, data: Path) -> None:
    before = write(tmp_path / "before", "atif")
    rows = (before / "atif.jsonl").read_bytes()
    world = empty_platform(data)
    told = upload(world, zipped(before))
    assert (told["imported"], told["refused"]) == (3, 0), import_errors(world, told)
    assert (write(tmp_path / "after", "atif") / "atif.jsonl").read_bytes() == rows
    first = json.loads((write(tmp_path / "own") / "trajectories.jsonl").read_text().splitlines()[0])
    assert [step["decision"] for step in first["steps"]] == ["accept", "override", "override"]


def test_agentnet_comes_in_as_a_recording(attempts: list[str], tmp_path: Path, data: Path) -> None:
    before = write(tmp_path / "before", "agentnet")
    rows = [json.loads(line) for line in (before / "agentnet.jsonl").read_text().splitlines()]
    world = empty_platform(data)
    told = upload(world, zipped(before))
    assert (told["imported"], told["refused"]) == (3, 0), import_errors(world, told)
    after = write(tmp_path / "after", "agentnet")
    found = [json.loads(line) for line in (after / "agentnet.jsonl").read_text().splitlines()]
    assert {one["task_id"]: one for one in found} == {one["task_id"]: one for one in rows}
    canonical = (write(tmp_path / "own") / "trajectories.jsonl").read_text().splitlines()
    own = Trajectory.model_validate_json(canonical[0])
    assert (own.origin, {step.decision for step in own.steps}) == ("recording", {"override"})


def test_what_came_in_is_found_and_reviewed(attempts: list[str], tmp_path: Path, data: Path) -> None:
    before = write(tmp_path / "before")
    world = empty_platform(data)
    told = upload(world, zipped(before), pool="From before")
    researcher, reviewer = world.client(world.ravi), world.client(world.rosa)
    entries_refresh()
    found = researcher.get(f"/api/trajectories?pool={told['pool_id']}").json()["items"]
    assert len(found) == 3
    episode = found[0]["id"]
    shown = researcher.get(f"/api/episodes/{episode}/trajectory").json()
    ref = shown["steps"][0]["before"]["screenshot"]["sha256"]
    assert researcher.get(f"/api/episodes/{episode}/blobs/{ref}").status_code == 200
    assert reviewer.post(f"/api/episodes/{episode}/review/claim").status_code == 200

    def decide(decision: str) -> Any:
        body = {"decision": decision, "reason": "so"}
        return reviewer.post(f"/api/episodes/{episode}/review", body, content_type="application/json")

    sent_back = decide("return")
    assert (sent_back.status_code, sent_back.json()["code"]) == (409, "imported")
    assert decide("accept").status_code == 200
    stranger = User.objects.get(episodes__pk=episode)
    assert (stranger.is_active, stranger.has_usable_password(), stranger.roles) == (False, False, [])
    assert Pool.objects.get(name="From before").paused


def test_rows_stand_for_themselves(committed: World) -> None:
    ref, shot = picture(7)
    step = {"image": "a.jpg", "value": {"code": "pyautogui.click(x=0.5, y=0.5)", "thought": "There."}}
    row = {"task_id": "t1", "instruction": "Click it.", "task_completed": True, "traj": [step]}
    both = {**step, "value": {"code": "pyautogui.click(x=0.1, y=0.1)\npyautogui.write(message='a')"}}
    rows: list[dict[str, Any]] = [
        row,
        {**row, "task_id": "t2", "traj": [{**step, "image": "gone.png"}]},
        {**row, "task_id": "t3", "traj": [{**step, "value": {"code": "import os; os.remove('/')"}}]},
        {**row, "task_id": "t4", "traj": [{**step, "image": "../../etc/passwd"}]},
        {**row, "task_id": "t5", "traj": []},
        {"what": "ever"},
        {**row, "task_id": "t6", "traj": [both, step]},
    ]
    made = build_archive(**{"rows.jsonl": lines(*rows) + b"{no json\n", "pictures__a.jpg": shot})
    told = upload(committed, made)
    assert (told["status"], told["imported"], told["refused"]) == ("done", 2, 6)
    assert [(one["line"], one["code"]) for one in import_errors(committed, told)] == [
        (2, "picture_missing"),
        (3, "code_unreadable"),
        (4, "picture_name"),
        (5, "bad_row"),
        (6, "unknown_format"),
        (8, "bad_json"),
    ]
    episode = Episode.objects.get(task__key="t6")
    kinds = [one.document.action.kind for one in episode.steps.all()]
    assert kinds == ["click", "type_text", "click"]
    assert episode.steps.all()[0].document.before.screenshot == ref


CLICK = {"tool_call_id": "c1", "function_name": "click", "arguments": {"x": 3, "y": 4}}


def atif(name: str, **agent: Any) -> dict[str, Any]:
    """A trajectory of somebody else's, whose agent does and says this."""
    said = {"source": "agent", "message": "I look.", "tool_calls": [CLICK], **agent}
    steps = [{"source": "user", "message": "Find it."}, said]
    return {"schema_version": "ATIF-v1.8", "session_id": name, "agent": {"name": "t", "version": "2"}, "steps": steps}


def agentnet(**value: Any) -> dict[str, Any]:
    step = {"image": "a.jpg", "value": {"code": "pyautogui.click(x=0.5, y=0.5)", **value}}
    return {"task_id": "t", "instruction": "Click it.", "traj": [step]}


BAD: dict[str, tuple[Any, str, str]] = {
    "long answer": (atif("a", message="x" * 20_001, tool_calls=None), "bad_row", "steps.1.answer"),
    "half a character": (atif("b", reasoning_content="half \ud83d"), "bad_json", "steps.1.reasoning_content"),
    "half a character in an argument": (
        atif("c", tool_calls=[{**CLICK, "arguments": {"keystrokes": "\udce9"}}]),
        "bad_json",
        "steps.1.tool_calls.0.arguments.keystrokes",
    ),
    "no number": (atif("d", extra={"a": float("nan")}), "bad_json", "steps.1.extra.a"),
    "a wrong shape": (atif("e", tool_calls=[{"tool_call_id": "c1"}]), "bad_row", "steps.1.tool_calls.0.function_name"),
    "a long name": (atif("f", tool_calls=[{**CLICK, "function_name": "x" * 500}]), "bad_row", "steps.1.name"),
    "another half": (agentnet(thought="half \ud83d"), "bad_json", "traj.0.value.thought"),
    "a far place": (
        agentnet(code="pyautogui.click(x=" + "9" * 400 + ", y=0.5)"),
        "code_unreadable",
        "traj.0.value.code",
    ),
    "deep": (agentnet(code="(" * 5_000), "code_unreadable", "traj.0.value.code"),
    "a long path": (
        {**agentnet(), "traj": [{"image": "/".join(["d" * 200] * 30), "value": {"code": "wait(1)"}}]},
        "picture_missing",
        "is not there",
    ),
    "no object": ([1], "bad_json", "no JSON object"),
    "nul in its id": ({**agentnet(), "task_id": "t\x00"}, "not_storable", "The database refuses it"),
}


def test_a_bad_row_stops_nothing_and_names_its_field(committed: World) -> None:
    rows = [each for number, (bad, *_) in enumerate(BAD.values()) for each in (bad, atif(f"good {number}"))]
    made = build_archive(**{"rows.jsonl": lines(*rows), "a.jpg": picture(3)[1]})
    told = upload(committed, made)
    found = import_errors(committed, told)
    assert (told["status"], told["imported"], told["refused"]) == ("done", len(BAD), len(BAD)), found
    for place, ((name, (_, code, said)), one) in enumerate(zip(BAD.items(), found, strict=True)):
        assert (one["line"], one["code"]) == (2 * place + 1, code), (name, one)
        assert said in one["message"], (name, one)
    assert Episode.objects.count() == len(BAD)


def test_half_a_character_as_bytes_is_named_with_its_field(committed: World) -> None:
    row = lines(atif("a", reasoning_content="HALF")).replace(b"HALF", b"half \xed\xa0\xbd")
    told = upload(committed, row + lines(atif("b")), "rows.jsonl")
    (one,) = import_errors(committed, told)
    assert (told["imported"], one["line"], one["code"]) == (1, 1, "bad_json")
    assert "steps.1.reasoning_content" in one["message"]


def test_a_picture_that_no_export_could_write_again_is_refused_although_its_bytes_are_here(
    attempts: list[str], committed: World, tmp_path: Path
) -> None:
    row = json.loads((write(tmp_path / "before") / "trajectories.jsonl").read_text().splitlines()[0])
    row["id"] = str(UUID(int=9))
    row["steps"][0]["before"]["screenshot"]["media_type"] = "text/html"
    told = upload(committed, lines(row), "rows.jsonl")
    assert [(one["line"], one["code"]) for one in import_errors(committed, told)] == [(1, "picture_type")]
    write(tmp_path / "after")


def test_a_time_without_a_zone_is_named(attempts: list[str], committed: World, tmp_path: Path, data: Path) -> None:
    before = write(tmp_path / "before")
    row = json.loads((before / "trajectories.jsonl").read_text().splitlines()[0])
    world = empty_platform(data)
    row["steps"][1]["started_at"] = "2026-01-02T03:04:05"
    (before / "trajectories.jsonl").write_bytes(lines(row))
    told = upload(world, zipped(before))
    assert (told["status"], told["code"]) == ("failed", "all_refused")
    assert "steps.1.started_at: It names no time zone." in told["error"]


def test_rows_of_a_batch_stand_for_themselves_where_the_database_refuses_one(committed: World) -> None:
    before = {**atif("same"), "trajectory_id": str(UUID(int=7))}
    after = {**atif("same", message="I look again."), "trajectory_id": str(UUID(int=7))}
    nul = {**atif("nul"), "trajectory_id": "nul \x00", "extra": {"annotator": "nul \x00"}}
    told = upload(committed, lines(nul, before, before, after, atif("other")), "rows.jsonl")
    assert (told["imported"], told["known"], told["refused"]) == (2, 1, 2)
    assert [(one["line"], one["code"]) for one in import_errors(committed, told)] == [
        (1, "not_storable"),
        (4, "id_taken"),
    ]
    assert Episode.objects.get(pk=UUID(int=7)).steps.get().document.thought == "I look."
    assert Pool.objects.get(pk=told["pool_id"]).tasks.count() == 2


def test_an_import_of_which_nothing_came_in_has_failed_and_is_read_anew(
    committed: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = upload(committed, lines(atif("a", tool_calls=[{}]), {"what": "ever"}), "rows.jsonl")
    assert (told["status"], told["code"], told["refused"]) == ("failed", "all_refused", 2)
    assert "rows.jsonl, line 1: steps.1.tool_calls.0" in told["error"]
    client = committed.client(committed.ravi)
    again = client.post(f"/api/imports/{told['id']}/retry")
    assert again.status_code == 202
    told = client.get(f"/api/imports/{told['id']}").json()
    assert (told["status"], told["code"], told["refused"]) == ("failed", "all_refused", 2)
    assert len(import_errors(committed, told)) == 2


def test_rows_of_others_in_atif(committed: World) -> None:
    _ref, shot = picture(9)
    image = {"type": "image", "source": {"media_type": "image/jpeg", "path": "shots/1.jpg"}}
    row = {
        "schema_version": "ATIF-v1.8",
        "session_id": "run-1",
        "agent": {"name": "terminus", "version": "2", "model_name": "some-model"},
        "steps": [
            {"step_id": 1, "source": "system", "message": "Be good."},
            {"step_id": 2, "source": "user", "message": [{"type": "text", "text": "Find it."}, image]},
            {
                "step_id": 3,
                "source": "agent",
                "message": "I look.",
                "reasoning_content": "Where?",
                "tool_calls": [
                    {"tool_call_id": "c1", "function_name": "click", "arguments": {"x": 3, "y": 4}},
                    {"tool_call_id": "c2", "function_name": "search", "arguments": {"words": "it"}},
                ],
                "observation": {
                    "results": [
                        {"source_call_id": "c1", "content": [image]},
                        {"source_call_id": "c2", "content": "It is here."},
                    ]
                },
            },
            {"step_id": 4, "source": "agent", "message": "It is here."},
        ],
    }
    made = build_archive(**{"trial__trajectory.json": json.dumps(row).encode(), "trial__shots__1.jpg": shot})
    told = upload(committed, made, format="atif")
    assert (told["imported"], told["refused"]) == (1, 0), import_errors(committed, told)
    steps = [one.document for one in Episode.objects.get().steps.all()]
    assert [(one.action.kind, one.decision, one.actor) for one in steps] == [
        ("click", "auto", "policy"),
        ("call_tool", "auto", "policy"),
        ("finish", "auto", "policy"),
    ]
    assert [one.thought for one in steps] == ["Where?\n\nI look.", "", ""]
    after = steps[1].after
    assert after is not None
    assert (after.text, steps[2].action) == ("It is here.", Finish(answer="It is here."))
    assert (steps[0].before.width, [one.name for one in step_policies(tuple(steps))]) == (160, ["some-model"])


def test_a_pool_that_people_work_in_takes_no_imports(committed: World) -> None:
    client = committed.client(committed.ravi)
    answer = client.post("/api/imports", {"file": SimpleUploadedFile("a.jsonl", b"{}"), "pool": "real"})
    assert (answer.status_code, answer.json()["code"]) == (409, "pool_taken")
    assert not Import.objects.exists()


def test_a_cancelled_import_is_taken_up_where_it_was(
    attempts: list[str], tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = write(tmp_path / "before")
    world = empty_platform(data)
    client = world.client(world.ravi)
    monkeypatch.setattr(services_jobs, "BATCH_ROWS", 1)

    def cancelling(job: Import, *rest: Any) -> None:
        store_rows(job, *rest)
        Import.objects.filter(pk=job.pk).update(status=ImportState.CANCELLED)

    monkeypatch.setattr(services_jobs, "store_rows", cancelling)
    told = upload(world, zipped(before))
    assert (told["status"], told["imported"]) == ("cancelled", 1)
    monkeypatch.setattr(services_jobs, "store_rows", store_rows)
    assert client.post(f"/api/imports/{told['id']}/retry").status_code == 202
    told = client.get(f"/api/imports/{told['id']}").json()
    assert (told["status"], told["imported"], told["known"]) == ("done", 3, 0)
    assert Source.objects.count() == 3


def test_the_command_takes_a_folder_in(attempts: list[str], tmp_path: Path, data: Path) -> None:
    before = write(tmp_path / "before")
    empty_platform(data)
    said = io.StringIO()
    call_command("import_trajectories", str(before), stdout=said)
    assert said.getvalue().startswith("3 trajectories (9 steps) came in, 0 were here, 0 were refused")
    assert Import.objects.get().requested_by is None
    with pytest.raises(CommandError, match="is not there"):
        call_command("import_trajectories", str(tmp_path / "nowhere"))


def test_an_import_nobody_works_on_is_taken_up(attempts: list[str], tmp_path: Path, data: Path) -> None:
    before = write(tmp_path / "before")
    empty_platform(data)
    long_ago = Import.objects.none().model(
        name="old", folder=str(before), pool_name="old", status=ImportState.RUNNING, attempts=1
    )
    long_ago.heard_at -= 2 * LOST_AFTER
    long_ago.save()
    imports_requeue_job()
    long_ago.refresh_from_db()
    assert (long_ago.status, long_ago.imported, long_ago.attempts) == ("done", 3, 2)
    import_run(import_id=long_ago.pk)
    assert Episode.objects.count() == 3
    assert not Refusal.objects.exists()


@pytest.mark.parametrize("depth", [100, 185, 195, 205, 250, 500, 900, 990, 5_000])
def test_a_row_of_any_depth_stops_nothing(committed: World, tmp_path: Path, depth: int) -> None:
    deep = json.dumps(atif("deep", extra={"a": "DEEP"})).replace('"DEEP"', "[" * depth + "]" * depth)
    call = {"tool_call_id": "c1", "function_name": "search", "arguments": "DEEP"}
    task = json.dumps(atif("call", tool_calls=[call])).replace('"DEEP"', '{"a":' * depth + "1" + "}" * depth)
    told = upload(committed, f"{deep}\n{task}\n".encode() + lines(atif("good")), "rows.jsonl")
    assert (told["status"], told["imported"] + told["refused"]) == ("done", 3)
    assert {one["line"] for one in import_errors(committed, told)} <= {1, 2}
    assert {one["code"] for one in import_errors(committed, told)} <= {"bad_json", "bad_row", "not_storable"}
    write(tmp_path / "after")


def test_files_that_were_to_be_trajectories_are_told(committed: World) -> None:
    half = json.dumps(atif("half", reasoning_content="\ud83d"), indent=1).encode()
    files = {"a.json": half, "b.json": half[:-9], "c.json": b'[{"traj": []}]', "d.json": b'{"my": "setting"}'}
    told = upload(committed, build_archive(**files, **{"e.json": json.dumps(atif("whole")).encode()}))
    assert (told["imported"], told["refused"]) == (1, 3)
    assert [(one["file"], one["code"]) for one in import_errors(committed, told)] == [
        ("a.json", "bad_json"),
        ("b.json", "bad_json"),
        ("c.json", "bad_json"),
    ]


def test_a_trajectory_of_several_lines_comes_in_without_an_archive(committed: World) -> None:
    told = upload(committed, json.dumps(atif("spread"), indent=1).encode(), "trajectory.json")
    assert (told["status"], told["imported"], told["refused"]) == ("done", 1, 0), import_errors(committed, told)
