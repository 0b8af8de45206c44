"""Renders samples as tokens of the model that is trained.

The server's own encoder (`trainer.serve.prompt_encoder`) turns conversations into tokens. A policy's reply keeps the
tokens that were sampled; they are never recomputed from text. A person's reply is tokenised from the dialect's text and
ends like a sampled reply. Nothing is truncated: a sample that does not fit is an error, or is left out and counted.
"""

import base64
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from protocol.blobs import BlobRef
from protocol.dialects.dialect import ChatMessage, Dialect, ImagePart, TextPart
from protocol.dialects.prompts import Prompt as StoredPrompt
from protocol.training.samples import DEFAULT_HISTORY_BUDGET, Sample, training_samples
from protocol.trajectory.memory import HistoryBudget
from protocol.trajectory.proposals import ImageLimits, WeightSpan
from protocol.trajectory.steps import Actor, Step, is_corrected, is_rejected, steps_of_reply
from protocol.trajectory.trajectories import Trajectory, without_undone_steps
from protocol.trajectory.variants import split_label
from trainer.data.samples import SampledDecision, sampled_decisions
from trainer.data.trajectories import TrajectoryFolder
from trainer.errors import SampleError, SampleForeign, SampleTooLong, SampleUnreadable
from trainer.model.checkpoints import Checkpoint
from trainer.serve.prompt_encoder import Picture, Prompt, PromptEncoder
from trainer.serve.schemas import InvalidRequest, Message

UNBOUNDED = 1 << 30

ReadPicture = Callable[[BlobRef], bytes]
VariantWeights = Mapping[Literal["none", "enriched", "diversified"], float]
"""How much thoughts weigh by who wrote them: `none`, people; else a model, in a variant of that kind."""


@dataclass(frozen=True)
class TokenizedSample:
    """One sample as tokens. `ids`, `mask` and `weights` have one entry a token."""

    trajectory_id: str
    index: int
    actor: Actor
    ids: tuple[int, ...]
    """Every place of every picture is written out."""
    mask: tuple[bool, ...]
    """Which tokens are the assistant's at this step. These are learned."""
    weights: tuple[float, ...]
    """How much each counts; 0 outside the mask."""
    pictures: tuple[Picture, ...]
    logprobs: tuple[float, ...] | None
    """The server's log-probability of each token under the mask; None if the policy did not sample them."""
    exact: bool = False
    """Whether a trainer's own log-probabilities can be compared with those."""
    weight_versions: tuple[WeightSpan, ...] = ()
    """The weights that sampled the tokens under the mask; none if the policy did not sample them."""

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return f"{self.trajectory_id} step {self.index}"


class Renderer:
    """Makes tokens of samples for one checkpoint; `context` bounds a sample's tokens."""

    def __init__(self, checkpoint: Checkpoint, *, context: int) -> None:
        model, self._tokenizer, self._images = checkpoint.model, checkpoint.tokenizer, checkpoint.images
        self._reader = PromptEncoder(checkpoint, max_images=UNBOUNDED, context=UNBOUNDED)
        self._vocabulary: int = model.config.text_config.vocab_size
        self._end: int = self._tokenizer.eos_token_id
        self._pictures = {model.config.image_token_id, model.config.video_token_id}
        self._specials = {number for number, one in self._tokenizer.added_tokens_decoder.items() if one.special}
        self._boundary: int = self._tokenizer.pad_token_id
        self._pad: int = model.config.image_token_id
        self._around: tuple[int, int] = model.config.vision_start_token_id, model.config.vision_end_token_id
        self._context = context

    @property
    def limits(self) -> ImageLimits:
        """The sizes this checkpoint's pictures are scaled to: a dialect that names pixels presupposes its own."""
        size = self._images.size
        return ImageLimits(min_pixels=size["shortest_edge"], max_pixels=size["longest_edge"])

    def render_sample(self, sample: Sample, read: ReadPicture) -> TokenizedSample:
        """Render a step in a dialect.

        Raises:
            SampleUnreadable: The reply holds a token that ends one or stands for a picture.
            SampleError: The prompt cannot be read, or the sample does not fit.
        """
        reply: list[int] = self._tokenizer.encode(sample.target, add_special_tokens=False)
        if not (self._pictures | {self._end}).isdisjoint(reply):
            raise SampleUnreadable(f"{_name(sample)}: a reply holds an end token or an image token")
        prompt = self._prompt(sample, sample.messages, read)
        return self._whole(sample, sample.actor, prompt, (*reply, self._end), sample.weight)

    def render_sampled(
        self, decision: SampledDecision, messages: tuple[ChatMessage, ...], read: ReadPicture, weight: float
    ) -> TokenizedSample:
        """A step by the tokens the policy sampled in this conversation.

        Args:
            decision: The policy's own tokens.
            messages: What it was shown.
            read: Gives the bytes of a picture.
            weight: Of each learned token, from 0.

        Raises:
            SampleForeign: The policy has other tokens than this model.
            SampleUnreadable: The reply holds the place of a picture.
            SampleError: The prompt cannot be read, or the sample does not fit.
        """
        prompt = self._prompt(decision, messages, read)
        if prompt.ids != decision.prompt_token_ids:
            raise SampleForeign(f"{_name(decision)}: {decision.policy.name} read this conversation as other tokens")
        if max(decision.completion_token_ids) >= self._vocabulary:
            raise SampleForeign(
                f"{_name(decision)}: {decision.policy.name} sampled tokens that this model does not have"
            )
        if not self._pictures.isdisjoint(decision.completion_token_ids):
            raise SampleUnreadable(f"{_name(decision)}: the reply holds a place for a picture")
        whole = self._whole(decision, "policy", prompt, decision.completion_token_ids, weight)
        return replace(
            whole, logprobs=decision.logprobs, exact=decision.exact, weight_versions=decision.weight_versions
        )

    def render_document(self, name: str, parts: Sequence[str | bytes]) -> Iterator[TokenizedSample]:
        """Text and pictures (their files' bytes) as they follow each other, in as many samples as it takes.

        Every word is learned and no picture is. Each sample begins with what ends a document, unlearned; only text is
        parted. Raises SampleError.
        """
        held, pictures = [self._boundary], list[Picture]()
        learned, number = [False], 0
        for ids, picture in self._units(name, parts):
            begin = 0
            while begin < len(ids):
                room = self._context - len(held)
                if (picture and room < len(ids)) or not room:
                    if any(learned):
                        yield self._piece(name, number, held, learned, pictures)
                    held, learned, pictures, number = [self._boundary], [False], [], number + 1
                    continue
                taken = ids[begin : begin + room]
                held += taken
                learned += [picture is None] * len(taken)
                pictures += [picture] if picture else []
                begin += len(taken)
        yield self._piece(name, number, held, learned, pictures)

    def text(self, ids: Sequence[int]) -> str:
        """What tokens say, special ones by their names."""
        words: str = self._tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return words

    def _units(self, name: str, parts: Sequence[str | bytes]) -> Iterator[tuple[list[int], Picture | None]]:
        for part in parts:
            if isinstance(part, str):
                ids: list[int] = self._tokenizer.encode(part, add_special_tokens=False)
                if not self._specials.isdisjoint(ids):
                    raise SampleUnreadable(f"{name}: its text holds a token with a meaning of its own")
                yield ids, None
                continue
            try:
                picture = self._reader.picture(f"data:image/any;base64,{base64.b64encode(part).decode()}")
            except InvalidRequest as refusal:
                raise SampleUnreadable(f"{name}: {refusal}") from None
            if picture.tokens + 3 > self._context:
                raise SampleTooLong(f"{name} has a picture of {picture.tokens} tokens; {self._context} fit with it")
            begin, end = self._around
            yield [begin, *(self._pad,) * picture.tokens, end], picture
        yield [self._boundary], None

    def _piece(
        self, name: str, number: int, ids: list[int], learned: list[bool], pictures: list[Picture]
    ) -> TokenizedSample:
        return TokenizedSample(
            trajectory_id=name,
            index=number,
            actor="human",
            ids=tuple(ids),
            mask=tuple(learned),
            weights=tuple(map(float, learned)),
            pictures=tuple(pictures),
            logprobs=None,
        )

    def _prompt(self, of: Sample | SampledDecision, messages: tuple[ChatMessage, ...], read: ReadPicture) -> Prompt:
        try:
            return self._reader.read([_to_request_message(message, read) for message in messages])
        except InvalidRequest as refusal:
            raise SampleUnreadable(f"{_name(of)}: {refusal}") from None

    def _whole(
        self,
        of: Sample | SampledDecision,
        actor: Actor,
        prompt: Prompt,
        reply: tuple[int, ...],
        weight: float,
    ) -> TokenizedSample:
        before, tokens = len(prompt.ids), len(prompt.ids) + len(reply)
        if tokens > self._context:
            raise SampleTooLong(f"{_name(of)} has {tokens} tokens; at most {self._context} fit")
        return TokenizedSample(
            trajectory_id=of.trajectory_id,
            index=of.index,
            actor=actor,
            ids=(*prompt.ids, *reply),
            mask=(False,) * before + (True,) * len(reply),
            weights=(0.0,) * before + (weight,) * len(reply),
            pictures=prompt.pictures,
            logprobs=None,
        )


def render_trajectory(
    trajectory: Trajectory,
    dialect: Dialect,
    renderer: Renderer,
    *,
    read: ReadPicture,
    budget: HistoryBudget = DEFAULT_HISTORY_BUDGET,
    language: str = "English",
    prompts: Callable[[BlobRef], StoredPrompt | None] = lambda _: None,
    weights: Mapping[int, float] | None = None,
    left_out: Counter[str] | None = None,
    failures: bool = False,
) -> Iterator[TokenizedSample]:
    """Every sample of an attempt as tokens; a step's weight is its sample's times what `weights` has by its index.

    With `failures`, the policy's own replies are samples whatever came of them, unparsed replies included. A reply that
    said several actions is one sample where all of them worked, else each step that worked is one.
    Raises SampleError at one that cannot be used; where `left_out` is given, it is counted there by its code instead.
    """
    own = {
        decision.index: decision
        for decision in sampled_decisions(trajectory)
        if decision.policy.dialect == dialect.name
    }
    active = without_undone_steps(trajectory).steps
    steps = {step.index: steps_of_reply(active, step) for step in active}
    if not failures:
        own = {index: decision for index, decision in own.items() if all(map(_succeeded, steps[index]))}
    covered = {step.index for index in own for step in steps[index][1:]}
    imitated = own if failures else ()
    for sample in training_samples(
        trajectory, dialect, budget=budget, language=language, prompts=prompts, sampled_steps=imitated
    ):
        if sample.index in covered:
            continue
        weight = sample.weight * (weights or {}).get(sample.index, 1.0)
        decision = own.get(sample.index)
        try:
            if decision is None:
                yield renderer.render_sample(replace(sample, weight=weight), read)
            else:
                prompt = prompts(decision.prompt) if decision.prompt else None
                yield renderer.render_sampled(decision, prompt.messages if prompt else sample.messages, read, weight)
        except SampleError as error:
            if left_out is None:
                raise
            left_out[error.code] += 1


def _succeeded(step: Step) -> bool:
    """Whether the policy's own words are learned: the act worked, and no reviewer objected."""
    return step.error is None and not step.not_done and not is_rejected(step) and not is_corrected(step)


def render_folder(
    folder: TrajectoryFolder,
    dialect: Dialect,
    renderer: Renderer,
    left_out: Counter[str] | None = None,
    weights: Mapping[str, Mapping[int, float]] | None = None,
    variant_weights: VariantWeights | None = None,
) -> Iterator[TokenizedSample]:
    """Every sample of every attempt in a folder, as `render_trajectory`; `weights` are by an attempt's id, too.
    Attempts whose variant weighs 0 are left out (`variant`)."""
    for trajectory in folder.trajectories():
        factor = variant_weight(variant_weights, trajectory.variant)
        if not factor:
            if left_out is not None:
                left_out["variant"] += 1
            continue
        for sample in render_trajectory(
            trajectory,
            dialect,
            renderer,
            read=folder.bytes,
            prompts=folder.prompt,
            weights=(weights or {}).get(trajectory.id),
            left_out=left_out,
        ):
            yield weigh_sample(sample, factor)


def variant_weight(weights: VariantWeights | None, label: str) -> float:
    """How much what has this label weighs: `none`, or the kind of a variant and its number."""
    return {str(kind): weight for kind, weight in (weights or {}).items()}.get(split_label(label)[0], 1.0)


def weigh_sample(sample: TokenizedSample, factor: float) -> TokenizedSample:
    """The sample, each of its tokens weighing `factor` times as much."""
    return sample if factor == 1.0 else replace(sample, weights=tuple(factor * one for one in sample.weights))


def report_left_out(samples: int, left_out: Counter[str]) -> None:
    """Say on the standard error how many samples there are, and what was left out, by its reason."""
    print(json.dumps({"samples": samples, "left_out": left_out}), file=sys.stderr)


def _to_request_message(message: ChatMessage, read: ReadPicture) -> Message:
    """A turn as a policy's client sends it: text alone is one string, pictures are the bytes that were stored."""
    texts = [part.text for part in message.content if isinstance(part, TextPart)]
    if len(texts) == len(message.content):
        return Message(role=message.role, content="".join(texts))
    parts = [_part(part, read) for part in message.content]
    return Message.model_validate({"role": message.role, "content": parts})


def _part(part: TextPart | ImagePart, read: ReadPicture) -> dict[str, object]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    data = base64.b64encode(read(part.image)).decode()
    return {"type": "image_url", "image_url": {"url": f"data:{part.image.media_type};base64,{data}"}}


def _name(of: Sample | SampledDecision) -> str:
    return f"{of.trajectory_id} step {of.index}"
