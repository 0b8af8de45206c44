"""A server whose processor scales pictures otherwise than the dialect presupposes is found out by its own tokens."""

import pytest

from agent_backend.policy.image_scaling import image_token_count, scaling_mismatch
from agent_backend.policy.openai_chat import PolicyEndpoint
from protocol.dialects.families import get_dialect
from protocol.trajectory.proposals import ImageLimits
from tests.unit.agent_backend.policy.fake_model_server import Events, ModelServer, chunk
from tests.unit.agent_backend.policy.test_openai_chat import CLICK, ENDPOINT, ask, past

LIMITS = ImageLimits(min_pixels=78_400, max_pixels=12_845_056)
PAD, START, END = 9, 1, 2
SCREEN = (720, 1280)


def read(*pictures: int) -> list[int]:
    """A prompt's tokens with pictures of so many."""
    ids = [3, 4, 4, 5]
    for tokens in pictures:
        ids += [START, *([PAD] * tokens), END, 6]
    return ids


def test_pictures_that_are_scaled_as_presupposed() -> None:
    due = image_token_count(*SCREEN, LIMITS)
    assert due == 26 * 46
    assert scaling_mismatch(read(due, due), (SCREEN, SCREEN), LIMITS) == ""


def test_another_scale_is_told_in_words() -> None:
    said = scaling_mismatch(read(64), (SCREEN,), LIMITS)
    assert "64 tokens where 1196 are expected" in said
    assert "78400 to 12845056" in said


@pytest.mark.parametrize("ids", [[], [3, 4, 5], read(64, 64), read(2)])
def test_nothing_is_said_where_it_cannot_be_told(ids: list[int]) -> None:
    assert scaling_mismatch(ids, (SCREEN,), LIMITS) == ""


def test_no_picture_is_no_mismatch() -> None:
    assert scaling_mismatch(read(64), (), LIMITS) == ""


def test_only_families_that_name_pixels_depend_on_it() -> None:
    absolute = {name for name in ("ui_tars_1_0", "ui_tars_1_5", "opencua", "json_calls") if get_dialect(name).absolute}
    assert absolute == {"ui_tars_1_5", "opencua"}


@pytest.mark.parametrize(("dialect", "warned"), [("ui_tars_1_5", True), ("json_calls", False)])
async def test_the_candidates_say_so(dialect: str, warned: bool) -> None:
    server = ModelServer(Events([{**chunk(0, CLICK), "prompt_token_ids": read(64, 64)}]))
    endpoint: PolicyEndpoint = ENDPOINT.model_copy(update={"dialect": dialect})
    proposals = await ask(server, past(3), endpoint)
    assert [bool(proposal.warning) for proposal in proposals] == [warned]
