"""A model server is healthy when it says a token about a picture, not when it lists its models."""

import httpx
import pytest

from annotation_app.health import probes
from annotation_app.health.probes import ModelServer

POLICY = ModelServer("http://model/v1", scripted=False, model="m", dialect="ui_tars_1_5")
JUDGE = ModelServer("http://judge/v1", scripted=False)


@pytest.fixture(autouse=True)
def listing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers that list their models."""
    serve(monkeypatch, httpx.Response(200, json={"data": [{"id": "m"}]}))
    monkeypatch.setattr(probes, "api_key_for", lambda url: "")


def serve(monkeypatch: pytest.MonkeyPatch, response: httpx.Response) -> None:
    """Let every server list its models so."""
    monkeypatch.setattr(probes, "_fetch", lambda url, headers: response)


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
    serve(monkeypatch, httpx.Response(502))
    assert probes._model_status(POLICY).problem == "unreachable"
    assert asked == []


@pytest.mark.parametrize("server", [POLICY, POLICY._replace(scripted=True), JUDGE._replace(model="m")])
def test_a_model_that_its_server_does_not_list_is_down(monkeypatch: pytest.MonkeyPatch, server: ModelServer) -> None:
    shown = answering(monkeypatch, "")
    serve(monkeypatch, httpx.Response(200, json={"data": [{"id": "other"}, {"id": "more", "root": "other"}]}))
    status = probes._model_status(server)
    assert (status.state, status.problem, status.detail) == ("down", "no_model", "m; it has more, other")
    assert shown == []


@pytest.mark.parametrize("listed", [{}, [], {"data": None}, {"data": [1]}, {"data": []}])
def test_a_server_that_does_not_say_what_it_has_is_shown_the_picture(
    monkeypatch: pytest.MonkeyPatch, listed: object
) -> None:
    shown = answering(monkeypatch, "")
    serve(monkeypatch, httpx.Response(200, json=listed))
    assert probes._model_status(POLICY).state == "ok"
    assert shown == [POLICY.base_url]
