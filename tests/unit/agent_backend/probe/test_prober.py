"""A probe names what is wrong with a model, and finds nothing wrong with one that works."""

import httpx
import pytest

from agent_backend.errors import PolicyError
from agent_backend.policy.openai_chat import PolicyEndpoint
from agent_backend.probe.prober import answer_to_picture, run_probe
from benchmarks.parts.models.planted_servers import (
    PlantedServer,
    write_other_factor,
    write_resized,
    write_stripped,
    write_thousandths,
)
from protocol.evaluation.probes import ProbeReport

ENDPOINT = PolicyEndpoint(
    base_url="http://model/v1", model="planted", dialect="ui_tars_1_5", name="planted", revision="1"
)


async def probe(server: httpx.AsyncBaseTransport, last: ProbeReport | None = None) -> ProbeReport:
    return await run_probe(ENDPOINT, last=last, transport=server)


def errors_of(report: ProbeReport) -> list[str]:
    return [finding.code for finding in report.findings if finding.severity == "error"]


async def test_a_model_that_works_has_no_errors() -> None:
    answered = []

    async def on_progress(done: int, questions: int) -> None:
        answered.append((done, questions))

    report = await run_probe(ENDPOINT, transport=PlantedServer(), on_progress=on_progress)
    assert report.findings == ()
    assert report.usable
    assert report.grounding is not None
    assert report.grounding.rate.successes == report.grounding.rate.attempts == 50
    assert report.grounding.mean_error_px is not None
    assert report.grounding.mean_error_px < 5
    server = report.server
    assert (server.several_choices, server.logprobs, server.token_ids, server.reasoning) == (True, True, True, False)
    assert (server.context_tokens, server.images, server.weight_version) == (32_768, 4, "1")
    assert answered[-1] == (54, 54)
    own = next(score for score in report.dialects if score.dialect == "ui_tars_1_5")
    assert (own.read, own.hits, own.own_prompt) == (50, 50, True)


@pytest.mark.parametrize(
    ("server", "code"),
    [
        (PlantedServer(write_thousandths), "wrong_space"),
        (PlantedServer(write_other_factor), "wrong_factor"),
        (PlantedServer(write_stripped), "stripped_tokens"),
        (PlantedServer(sees=False), "picture_ignored"),
    ],
    ids=["wrong space", "wrong factor", "stripped tokens", "dead picture input"],
)
async def test_a_planted_fault_is_named(server: PlantedServer, code: str) -> None:
    report = await probe(server)
    assert code in errors_of(report)
    assert not report.usable


async def test_weights_that_were_not_loaded_are_named() -> None:
    last = await probe(PlantedServer(weights="1"))
    assert errors_of(await probe(PlantedServer(weights="2"), last)) == ["stale_weights"]
    assert errors_of(await probe(PlantedServer(weights="2", seed=1), last)) == []


async def test_a_model_below_its_own_last_figure_is_named() -> None:
    last = await probe(PlantedServer(write_resized))
    worse = await probe(PlantedServer(noise_px=60, weights="2", seed=3), last)
    assert "below_last" in errors_of(worse)
    assert "below_last" not in errors_of(await probe(PlantedServer(), last))


async def test_points_of_a_wrong_space_suggest_the_dialect_that_hits() -> None:
    report = await probe(PlantedServer(write_thousandths))
    assert "other_dialect" in errors_of(report)


async def test_a_server_that_is_not_there_is_a_finding() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    report = await run_probe(
        ENDPOINT.model_copy(update={"timeouts": ENDPOINT.timeouts.model_copy(update={"pause": 0.0})}),
        transport=httpx.MockTransport(refuse),
    )
    assert errors_of(report) == ["unreachable"]


class TextOnly(PlantedServer):
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if b"image_url" in await request.aread():
            return httpx.Response(400, json={"message": "this model takes no image"})
        return await super().handle_async_request(request)


async def test_a_server_of_texts_alone_is_a_finding() -> None:
    assert errors_of(await probe(TextOnly())) == ["no_picture"]
    with pytest.raises(PolicyError):
        await answer_to_picture(ENDPOINT, transport=TextOnly())


class Fleeting(PlantedServer):
    """Answers until the third picture."""

    pictures = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if b"image_url" in await request.aread():
            self.pictures += 1
            if self.pictures > 2:
                return httpx.Response(400, json={"message": "out of memory"})
        return await super().handle_async_request(request)


async def test_a_server_that_fails_meanwhile_is_a_finding() -> None:
    report = await probe(Fleeting())
    assert report.server.answers_picture
    assert len(errors_of(report)) == 1
    assert not report.usable


async def test_a_healthy_server_answers_a_picture() -> None:
    assert await answer_to_picture(ENDPOINT, transport=PlantedServer()) > 0
