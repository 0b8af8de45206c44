"""A model server is healthy when it says a token about a picture, not when it lists its models."""

import pytest

from annotation_app.health import probes
from annotation_app.health.part_status import PartStatus
from annotation_app.health.probes import ModelServer

POLICY = ModelServer("http://model/v1", scripted=False, model="m", dialect="ui_tars_1_5")
JUDGE = ModelServer("http://judge/v1", scripted=False)


@pytest.fixture(autouse=True)
def listing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers that list their models."""
    monkeypatch.setattr(probes, "_http_status", lambda url, headers: PartStatus(detail="HTTP 200"))
    monkeypatch.setattr(probes, "api_key_for", lambda url: "")


def answering(monkeypatch: pytest.MonkeyPatch, answer: str | Exception) -> list[str]:
    asked = []

    def picture_problem(base_url: str, model: str, dialect: str, *, timeout_seconds: float) -> str:
        asked.append(base_url)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(probes, "picture_problem", picture_problem)
    return asked


@pytest.mark.parametrize(
    ("answer", "state", "problem"),
    [("", "ok", ""), (TimeoutError(), "warn", "too_slow"), ("no picture is taken", "down", "no_answer")],
)
def test_a_policy_server_is_shown_a_picture(
    monkeypatch: pytest.MonkeyPatch, answer: str | Exception, state: str, problem: str
) -> None:
    answering(monkeypatch, answer)
    status = probes._model_status(POLICY)
    assert (status.state, status.problem or "") == (state, problem)


def test_judges_and_scripts_are_shown_none(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answering(monkeypatch, "broken")
    for server in (JUDGE, POLICY._replace(scripted=True)):
        assert probes._model_status(server).state == "ok"
    assert asked == []


def test_a_server_that_is_not_there_is_down_without_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answering(monkeypatch, "broken")
    monkeypatch.setattr(probes, "_http_status", lambda url, headers: PartStatus("down", "unreachable"))
    assert probes._model_status(POLICY).problem == "unreachable"
    assert asked == []
