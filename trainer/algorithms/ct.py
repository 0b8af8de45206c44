"""Continued pre-training: the likelihood of documents, conversations and attempts, mixed by their shares.

A source is a folder of trajectories, a folder of Markdown or HTML with pictures, or a file of conversations. Of a
document every word is learned, of the others what the assistant says. The mix is by tokens and holds at every moment.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, Self
from urllib.parse import quote

from pydantic import Field, model_validator

from protocol.dialects.families import get_dialect
from trainer.algorithms.sft import drop_weightless, likelihood_gradients
from trainer.config import DatasetTrainingConfig, DialectConfig, Settings
from trainer.data.batches import Mix, ShuffledOrder
from trainer.data.chats import ChatFile
from trainer.data.corrections import CLASS_WEIGHTS, Role, Weighting, step_weights
from trainer.data.documents import document_variant, list_documents, read_document
from trainer.data.rendering import (
    Renderer,
    TokenizedSample,
    VariantWeights,
    render_folder,
    variant_weight,
    weigh_sample,
)
from trainer.data.streaming import LEDGER, StreamingOrder, WaitPolicy
from trainer.data.trajectories import open_folders
from trainer.errors import SampleError
from trainer.runtime.runs import newest_checkpoint, open_checkpoint, train


class Source(Settings):
    """Where some of it comes from."""

    kind: Literal["trajectories", "documents", "chats"]
    """Folders of trajectories, folders of Markdown or HTML, or files of JSON Lines."""
    paths: tuple[Path, ...] = Field(min_length=1)
    """Where they lie."""
    share: float = Field(gt=0)
    """How much of the tokens comes from here, beside the other sources' shares."""
    follow: bool = False
    """Whether trajectories that come into its inboxes later join between two of its passes."""
    variant_weights: VariantWeights = {}
    """How much variants of recorded thoughts weigh by their kind, beside `none`; 0 leaves them out, no number is 1."""

    @model_validator(mode="after")
    def _followable(self) -> Self:
        if self.follow and self.kind != "trajectories":
            raise ValueError("only trajectories can be followed")
        if self.variant_weights and self.kind == "chats":
            raise ValueError("conversations have no variants")
        if any(weight < 0 for weight in self.variant_weights.values()):
            raise ValueError("a weight is 0 or more")
        return self


class Config(DatasetTrainingConfig, DialectConfig):
    """How it is trained, and on what."""

    sources: Mapping[str, Source] = Field(min_length=1)
    """By a name for curves: `{"web": {"kind": "documents", "paths": ["…"], "share": 0.9}, …}`."""
    patience: float = Field(default=3600.0, gt=0)
    """Seconds that the first trajectories of a source that follows are waited for; later ones it never waits for."""
    weighting: Weighting = "none"
    """How steps of trajectories weigh within each source, as in `sft`. The shares of the mix are of tokens."""
    classes: Mapping[Role, float] = CLASS_WEIGHTS
    """Weights by role, for `classes`; a role that is not named has 1."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.weighting in ("interventions", "shares") and any(one.follow for one in self.sources.values()):
            raise ValueError(f"{self.weighting} weigh over the whole data, which a source that follows never has")
        return self


def run(config: Config) -> Path:
    """Train, or resume training; returns the last checkpoint's folder. Raises TrainerError."""
    newest = newest_checkpoint(config.out)
    checkpoint = open_checkpoint(newest or config.checkpoint, config)
    renderer = Renderer(checkpoint, context=config.tokens)
    read = {name: read_source(name, config, renderer) for name in config.sources}
    mix = Mix({name: (config.sources[name].share, order) for name, (_, order) in read.items()})

    def sample(number: int) -> TokenizedSample:
        name, own = mix.source_of(number)
        return read[name][0][own]

    def gradients(sequences: list[Sequence[int]]) -> dict[str, float]:
        samples = [[sample(one) for one in each] for each in sequences]
        figures = likelihood_gradients(checkpoint.model, samples)
        tokens_by_source = dict.fromkeys(config.sources, 0)
        for number in (one for each in sequences for one in each):
            name, own = mix.source_of(number)
            tokens_by_source[name] += len(read[name][0][own].ids)
        return {**figures, **{f"mix/{name}": tokens / figures["tokens"] for name, tokens in tokens_by_source.items()}}

    return train(config, checkpoint, newest, mix, gradients)


def read_source(
    name: str, config: Config, renderer: Renderer
) -> tuple[Sequence[TokenizedSample], ShuffledOrder | StreamingOrder]:
    """The samples of a source, and their order; of one that follows both grow. Raises TrainerError."""
    source = config.sources[name]
    if not source.follow:
        samples = READERS[source.kind](source, config, renderer)
        return samples, ShuffledOrder([len(one.ids) for one in samples], tokens=config.tokens, seed=config.seed)

    def read(path: Path) -> list[TokenizedSample]:
        return _trajectories(source.model_copy(update={"paths": (path,)}), config, renderer)

    ledger = config.out / f"{quote(name, safe='')}-{LEDGER}"
    order = StreamingOrder(config, source.paths, read, WaitPolicy(None, config.patience), ledger)
    return order.samples, order


def _trajectories(source: Source, config: Config, renderer: Renderer) -> list[TokenizedSample]:
    left_out: Counter[str] = Counter()
    dialect = get_dialect(config.dialect, config.prompt)
    folders = [*open_folders(source.paths)]
    everything = (one for folder in folders for one in folder.trajectories())
    weights = None if config.weighting == "none" else step_weights(everything, config.weighting, config.classes)
    variants = source.variant_weights
    return drop_weightless(
        [one for each in folders for one in render_folder(each, dialect, renderer, left_out, weights, variants)],
        left_out,
    )


def _documents(source: Source, _: Config, renderer: Renderer) -> list[TokenizedSample]:
    left_out: Counter[str] = Counter()
    samples: list[TokenizedSample] = []
    for folder in source.paths:
        for file in list_documents(folder):
            try:
                name = file.relative_to(folder).as_posix()
                weight = variant_weight(source.variant_weights, document_variant(file))
                if not weight:
                    left_out["variant"] += 1
                    continue
                pieces = renderer.render_document(name, read_document(file, folder, left_out))
                samples += [weigh_sample(one, weight) for one in pieces]
            except SampleError as error:
                left_out[error.code] += 1
    return drop_weightless(samples, left_out)


def _chats(source: Source, _: Config, renderer: Renderer) -> list[TokenizedSample]:
    left_out: Counter[str] = Counter()
    samples: list[TokenizedSample] = []
    for chats in map(ChatFile, source.paths):
        for sample in chats.samples(left_out):
            try:
                samples.append(renderer.render_sample(sample, chats.bytes))
            except SampleError as error:
                left_out[error.code] += 1
    return drop_weightless(samples, left_out)


READERS: Mapping[str, Callable[[Source, Config, Renderer], list[TokenizedSample]]] = {
    "trajectories": _trajectories,
    "documents": _documents,
    "chats": _chats,
}
