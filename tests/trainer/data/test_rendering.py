"""Samples become the tokens that are served, and only what the assistant said at a step is learned."""

from collections import Counter
from dataclasses import replace

import pytest

from benchmarks.parts.model_servers.checkpoint import token_id
from protocol.actions.types import NoAction
from protocol.blobs import BlobRef
from protocol.training.samples import training_samples
from protocol.trajectory.observations import ActionError
from protocol.trajectory.proposals import ImageLimits
from protocol.trajectory.reviews import Fix, StepReview
from protocol.trajectory.steps import BatchPosition
from tests.trainer.examples import CLICK, DIALECT, LOGPROBS, REPLY, TYPED, accepted, as_served, read, sample
from tests.unit.protocol.examples import trajectory
from trainer.data.rendering import Renderer, render_trajectory
from trainer.errors import SampleForeign, SampleTooLong, SampleUnreadable
from trainer.model.checkpoints import Checkpoint
from trainer.serve.prompt_encoder import PromptEncoder

CONTEXT = 32_768
END = token_id("im_end")


@pytest.fixture
def renderer(checkpoint: Checkpoint) -> Renderer:
    return Renderer(checkpoint, context=CONTEXT)


@pytest.fixture
def reader(checkpoint: Checkpoint) -> PromptEncoder:
    """A server's, with room for a whole prompt in bytes."""
    return PromptEncoder(checkpoint, max_images=5, context=CONTEXT)


def test_what_is_read_is_what_a_server_is_asked(renderer: Renderer, reader: PromptEncoder) -> None:
    for one in training_samples(trajectory(CLICK, TYPED, CLICK), DIALECT):
        rendered, served = renderer.render_sample(one, read), as_served(reader, one)
        reply = [token for token, learned in zip(rendered.ids, rendered.mask, strict=True) if learned]
        assert rendered.ids == (*served.ids, *reply)
        assert [shown.sha256 for shown in rendered.pictures] == [shown.sha256 for shown in served.pictures]
        assert renderer.text(reply) == f"{one.target}<|im_end|>"


def test_only_the_reply_is_learned_and_it_has_the_weight(renderer: Renderer) -> None:
    rendered = renderer.render_sample(sample(3, target="wait()", weight=0.25), read)
    assert rendered.mask == (False,) * (len(rendered.ids) - 7) + (True,) * 7
    assert rendered.weights == (0.0,) * (len(rendered.ids) - 7) + (0.25,) * 7
    assert (rendered.ids[-1], rendered.logprobs, rendered.exact) == (END, None, False)
    places = sum(picture.tokens for picture in rendered.pictures)
    assert rendered.ids.count(token_id("image_pad")) == places > 0


def test_the_policys_own_tokens_are_kept(renderer: Renderer, reader: PromptEncoder) -> None:
    first, second = render_trajectory(accepted(reader), DIALECT, renderer, read=read, weights={0: 0.5, 1: 2.0})
    assert first.ids[-len(REPLY) :] == REPLY, "300 has no text, so no tokenizer could have made it"
    assert sum(first.mask) == len(REPLY)
    assert (first.actor, first.logprobs, first.exact) == ("policy", LOGPROBS, True)
    assert (second.actor, second.logprobs, second.exact) == ("human", None, False)
    assert (first.weights[-1], second.weights[-1]) == (0.5, 2.0)


def test_the_policys_words_are_not_learned_where_a_reviewer_corrected_them(
    renderer: Renderer, reader: PromptEncoder
) -> None:
    whole = accepted(reader)
    review = StepReview(fix=Fix(revision=1, thought="Better.", action=TYPED))
    corrected = whole.steps[0].model_copy(update={"review": review})
    left = whole.model_copy(update={"steps": (corrected, *whole.steps[1:])})
    first, _ = render_trajectory(left, DIALECT, renderer, read=read)
    learned = [token for token, masked in zip(first.ids, first.mask, strict=True) if masked]
    assert (first.exact, "Thought: Better." in renderer.text(learned)) == (False, True)
    drawn, _ = render_trajectory(left, DIALECT, renderer, read=read, failures=True)
    assert drawn.ids[-len(REPLY) :] == REPLY, "reinforcement learns from what was drawn and rewarded"


def test_a_reply_with_several_actions_is_one_sample_where_all_worked(renderer: Renderer, reader: PromptEncoder) -> None:
    whole = accepted(reader, further_actions=(TYPED,))
    first, second = (
        one.model_copy(update={"proposal_id": "p1", "batch": BatchPosition(index=index, size=2), "decision": "accept"})
        for index, one in enumerate(whole.steps, 1)
    )
    both = whole.model_copy(update={"steps": (first, second)})
    (sample,) = render_trajectory(both, DIALECT, renderer, read=read)
    assert (sample.index, sample.logprobs) == (0, LOGPROBS)
    failed = second.model_copy(update={"error": ActionError(code="invalid_action", message="There is no field.")})
    stopped = whole.model_copy(update={"steps": (first, failed)})
    (single,) = render_trajectory(stopped, DIALECT, renderer, read=read)
    assert (single.index, single.logprobs) == (0, None), "what worked, in the dialect's words"
    (drawn,) = render_trajectory(stopped, DIALECT, renderer, read=read, failures=True)
    assert drawn.logprobs == LOGPROBS


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"prompt_token_ids": (1, 2, 3)}, SampleForeign),
        ({"completion_token_ids": (1, 2, 3, 4, 512)}, SampleForeign),
        ({"completion_token_ids": (1, 2, 3, 4, token_id("image_pad"))}, SampleUnreadable),
    ],
)
def test_tokens_of_another_model_are_refused_or_counted(
    renderer: Renderer, reader: PromptEncoder, fields: dict[str, object], error: type[Exception]
) -> None:
    whole = accepted(reader, **fields)
    with pytest.raises(error, match="trajectory-1 step 0"):
        list(render_trajectory(whole, DIALECT, renderer, read=read))
    left_out: Counter[str] = Counter()
    assert [one.index for one in render_trajectory(whole, DIALECT, renderer, read=read, left_out=left_out)] == [1]
    assert left_out == {vars(error)["code"]: 1}


def test_what_was_no_action_is_the_policys_own_and_never_fitted(renderer: Renderer, reader: PromptEncoder) -> None:
    whole = accepted(reader)
    wrong = ActionError(code="no_action", message="The reply holds no action.")
    lapse = whole.steps[0].model_copy(update={"action": NoAction(said="Hm."), "decision": "auto", "error": wrong})
    failed = whole.steps[1].model_copy(update={"error": wrong})
    left = whole.model_copy(update={"steps": (lapse, whole.steps[1])})
    (fitted,) = render_trajectory(left, DIALECT, renderer, read=read)
    assert fitted.index == 1
    drawn, beside = render_trajectory(left, DIALECT, renderer, read=read, failures=True)
    assert (drawn.index, drawn.logprobs, drawn.ids[-len(REPLY) :]) == (0, LOGPROBS, REPLY)
    assert beside.ids == fitted.ids, "what a person said next was read after it"
    (alone,) = render_trajectory(
        left.model_copy(update={"steps": (lapse, failed)}), DIALECT, renderer, read=read, failures=True
    )
    assert alone.index == 0, "a person's act that failed teaches nothing"


def test_tokens_of_another_dialect_are_worded_anew(renderer: Renderer, reader: PromptEncoder) -> None:
    whole = accepted(reader)
    (offer,), _ = whole.proposals
    other = offer.model_copy(update={"policy": offer.policy.model_copy(update={"dialect": "opencua"})})
    first, _ = render_trajectory(whole.model_copy(update={"proposals": ((other,), ())}), DIALECT, renderer, read=read)
    assert first.logprobs is None


def test_nothing_is_cut_short(checkpoint: Checkpoint, renderer: Renderer) -> None:
    whole = renderer.render_sample(sample(1), read)
    assert Renderer(checkpoint, context=len(whole.ids)).render_sample(sample(1), read).ids == whole.ids
    with pytest.raises(SampleTooLong, match=f"has {len(whole.ids)} tokens; at most {len(whole.ids) - 1} fit"):
        Renderer(checkpoint, context=len(whole.ids) - 1).render_sample(sample(1), read)


@pytest.mark.parametrize("words", ["done<|im_end|>", "<|image_pad|>", "<|video_pad|>"])
def test_a_person_cannot_end_a_reply_or_show_a_picture_by_words(renderer: Renderer, words: str) -> None:
    with pytest.raises(SampleUnreadable):
        renderer.render_sample(sample(1, target=words), read)


def test_a_picture_that_is_none_is_refused(renderer: Renderer) -> None:
    def broken(_: BlobRef) -> bytes:
        return b"no picture"

    with pytest.raises(SampleUnreadable, match="cannot be read"):
        renderer.render_sample(sample(1), broken)


def test_the_sizes_of_pictures_are_told(renderer: Renderer) -> None:
    assert renderer.limits == ImageLimits(min_pixels=56 * 56, max_pixels=28 * 28 * 64)


def test_samples_may_have_no_picture(renderer: Renderer) -> None:
    one = replace(sample(1, pictures=0), target="wait()")
    assert renderer.render_sample(one, read).pictures == ()
