"""The second stage: what is asked for is found and clicked or typed, with heads where the answer forms."""

import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import torch
from pydantic import Field
from torch import nn
from torch.nn import functional

from protocol.dialects.coordinates import smart_resize
from protocol.trajectory.export_folders import TRAJECTORIES
from trainer.data.trajectories import open_folder
from trainer.nano.batches import (
    MAX_COUNTED_ACTIONS,
    NAMES,
    Decision,
    DecisionBatch,
    DecisionTokenizer,
    build_batch,
    build_decision,
    build_decision_without_picture,
    sample_decision,
    soft_pixel_targets,
)
from trainer.nano.forward import attention_shares, decode_text, encode_pictures, extract_patches, rotary_embeddings
from trainer.nano.heads import reading_heads, reading_loss
from trainer.nano.synthetic.forms import draw_task, draw_text_step
from trainer.nano.synthetic.ordered_tasks import sample_ordered_task, uniquely_named
from trainer.nano.synthetic.screens import PAGES, Screen, draw_screen
from trainer.nano.synthetic.sites import draw_site
from trainer.nano.synthetic.targets import CELL, NOWHERE
from trainer.nano.tokenizer import ACROSS
from trainer.nano.training_runs import AttemptsConfig, open_run
from trainer.nano.trajectory_data import TrajectoryDecisions
from trainer.runtime.metrics import open_metrics

MIDDLE = 3
"""The layer of the decoder after which cells are asked; the instruction stands before them, so that they know it."""
FIRST = 1
"""The layer after which an instruction's letters are asked, by the head that asks cells for theirs: what is to be
found and where it may be found are then said in the same words."""
SECOND = 2
"""The layer after which each cell is asked for its own column and row. Nothing in the tower tells a cell where it is;
the decoder's turns do, and columns only by them, since cells come row by row."""
COPYING = 3
"""The layer, from 0, one of whose heads is told at which letter of the instruction to look to type it next: the first
after the cells are asked. All turns of the text are fast (the base is 20), so that letters are not found again
over a whole conversation by what they are; which one comes next is therefore asked by its number in the text, too."""
ORDINALS = 24
"""Numbers that a letter may have."""
SPELLING = 1.0
"""What letters without a picture weigh: their gradient is a fifth as long as that of clicks, and all is cut to 1."""
NAMING = 2.0
"""What the three questions about names weigh."""
NAMELESS = 0.1
"""What a letter of no name weighs beside one of a name."""
BIN = 4
"""Pixels that a cell's heads do not tell apart."""
BINS = 88
MOST = ACROSS // CELL + 1
"""Columns and rows that a picture may have."""


class Config(AttemptsConfig):
    """What it is told."""

    tower: bool = True
    """Whether the tower's blocks go on learning. Without them an update costs half, and a decoder that has learned
    nothing yet cannot spoil what they read."""
    tower_rate: float = Field(default=1.0, gt=0, le=1)
    """What the rates of the tower are multiplied by."""
    dense: float = Field(default=0.25, ge=0, le=1)
    """The share of drawn screens that are full of writing."""
    tasks: float = Field(default=0.4, ge=0, le=1)
    """The share of drawn decisions that are a step of a form, a list or a click in running text."""
    ordered: float = Field(default=0.0, ge=0, le=1)
    """The share of other decisions on drawn screens, and of parts that are asked for on kept pages, that are one of
    several in an order."""
    sites: float = Field(default=0.0, ge=0, le=1)
    """The share of drawn decisions on screens of the wider size that are of pages like a site's."""
    spelled: int = Field(default=16, ge=0)
    """Steps an update, beside those of the batch, at which something is typed, without a picture."""


def run(config: Config) -> Path:
    """Click until all updates are done. Returns the last checkpoint's folder."""
    folders = [open_folder(folder) for folder in config.folders]
    data = " ".join(file.sha256 for folder in folders for file in folder.manifest.files if file.path == TRAJECTORIES)
    stage = open_run(
        config,
        create_heads,
        learns=partial(_is_trainable, config.tower),
        share_of=lambda name: config.tower_rate if "visual." in name else 1.0,
        data=data or "drawn",
    )
    decision_tokenizer, began = DecisionTokenizer(stage.checkpoint.tokenizer), time.process_time()
    trajectories = TrajectoryDecisions(
        folders,
        decision_tokenizer,
        config.others,
        config.ordered,
        spoken=config.spoken,
        weighting=config.weighting,
        classes=config.classes,
    )
    with open_metrics(config.out, stage.state.update) as metrics:
        for update, (batch, spelled) in stage.updates(partial(_batches, config, trajectories, decision_tokenizer)):
            loss, figures = clicking_loss(
                stage.checkpoint.model, stage.heads, batch, decision_tokenizer, config.bfloat16
            )
            if spelled is not None:
                typed, more = spelling_loss(stage.checkpoint.model, stage.heads, spelled, config.bfloat16)
                loss, figures = loss + SPELLING * typed, figures | more
            loss.backward()
            norm = stage.optimisers.step(update, config)
            figures = {"loss": float(loss.detach()), **figures, "gradient": norm}
            metrics.write(update, {**figures, "cpu_seconds": time.process_time() - began})
    return stage.newest


def _is_trainable(tower: bool, name: str) -> bool:
    return tower or "visual." not in name or "merger." in name


def _batches(
    config: Config, trajectories: TrajectoryDecisions, decision_tokenizer: DecisionTokenizer, update: int
) -> tuple[DecisionBatch, DecisionBatch | None]:
    each = [Random(f"{config.seed} {update} spelled {number}") for number in range(config.spelled)]
    spelled = [build_decision_without_picture(decision_tokenizer, *draw_text_step(one)) for one in each]
    return build_batch(_decisions(config, update, trajectories, decision_tokenizer), decision_tokenizer), build_batch(
        spelled, decision_tokenizer
    ) if spelled else None


def create_heads(model: Any) -> nn.ModuleDict:
    """The heads of the first stage, and what the decoder is asked of each cell: whether it is meant, whether a drag
    ends there, and where its widget is clicked. All are drawn anew."""
    heads, text = reading_heads(model), model.config.text_config.hidden_size
    for name, width in (
        ("meant", 1),
        ("ended", 1),
        ("across", BINS),
        ("down", BINS),
        ("column", MOST),
        ("row", MOST),
        ("ordinal", ORDINALS),
        ("name", NAMES),
        ("done", MAX_COUNTED_ACTIONS),
        ("due", 1),
    ):
        heads[name] = nn.Linear(text, width)
    return heads


def clicking_loss(
    model: Any,
    heads: nn.ModuleDict,
    batch: DecisionBatch,
    decision_tokenizer: DecisionTokenizer,
    bfloat16: bool = False,
) -> tuple[torch.Tensor, dict[str, float]]:
    """How wrong replies and heads are, and figures of it."""
    with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
        patches, cells, logits, instruction_states, second, middle, letters = forward_batch(model, batch)
    reply_loss, figures = _reply_loss(logits.float(), batch, decision_tokenizer)
    cells_loss, more = _cells_loss(heads, middle.float(), batch)
    loss, figures = reply_loss + cells_loss, figures | more
    placed, more = _places_loss(heads, second.float(), batch)
    loss, figures = loss + placed, figures | more
    if len(batch.instruction_at):
        spelled, more = _spelled_loss(heads, instruction_states[0].float(), batch)
        loss, figures = loss + spelled, figures | more
        named, more = _named_loss(heads, instruction_states[1].float(), batch)
        loss, figures = loss + named, figures | more
    if len(batch.copied):
        copied, more = _copied_loss(heads, letters, logits.float(), batch)
        loss, figures = loss + copied, figures | more
    if batch.read is not None:
        read, reading = reading_loss(heads, patches[batch.known], cells[batch.known], batch.read)
        loss, figures = loss + read, figures | reading
    return loss, figures


def spelling_loss(
    model: Any, heads: nn.ModuleDict, batch: DecisionBatch, bfloat16: bool = False
) -> tuple[torch.Tensor, dict[str, float]]:
    """How wrong replies without a picture are in their letters, and where they look for them."""
    words = model.model.language_model.embed_tokens(batch.ids)
    with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
        ended, (second, middle) = decode_text(model, words, batch.places, (SECOND, MIDDLE))
        letters = _letters(model, batch, second, middle)
        logits = model.lm_head(ended.flatten(0, 1)[batch.reply_at]).float()
    copied, figures = _copied_loss(heads, letters, logits, batch)
    typed = torch.isin(batch.reply_at, batch.copied_at)
    loss = copied + functional.cross_entropy(logits[typed], batch.reply_ids[typed])
    return loss, {f"spelled_{name}": figure for name, figure in figures.items()}


@dataclass(frozen=True)
class CopiedLetters:
    """What is known where N letters are typed that stand in the instruction."""

    typed: torch.Tensor
    """After the second layer, where they are typed; shape (N, text)."""
    standing: torch.Tensor
    """After the second layer, where they stand; shape (N, text)."""
    attention: torch.Tensor
    """Where the heads of the copying layer look; shape (N, H, L)."""


def _letters(model: Any, batch: DecisionBatch, second: torch.Tensor, middle: torch.Tensor) -> CopiedLetters:
    length, flat = batch.ids.shape[1], second.flatten(0, 1)
    return CopiedLetters(
        typed=flat[batch.copied_at],
        standing=flat[batch.copied_at // length * length + batch.copied],
        attention=attention_shares(model, COPYING, middle, batch.places, batch.copied_at),
    )


def forward_batch(model: Any, batch: DecisionBatch) -> tuple[Any, ...]:
    """What the tower makes of patches and cells, the logits of what is said, an instruction's letters after the first
    layer and the second, the cells after the second and the middle one, and the letters that are typed."""
    _, height, width, _ = batch.pixels.shape
    patches, cells = encode_pictures(
        model, extract_patches(batch.pixels), rotary_embeddings(model, height // CELL, width // CELL)
    )
    words = model.model.language_model.embed_tokens(batch.ids)
    where = (batch.begins[:, None] + torch.arange(cells.shape[1]))[..., None].expand(-1, -1, words.shape[-1])
    ended, (first, second, middle) = decode_text(
        model, words.scatter(1, where, cells.to(words.dtype)), batch.places, (FIRST, SECOND, MIDDLE)
    )
    logits = model.lm_head(ended.flatten(0, 1)[batch.reply_at])
    instruction_states = tuple(layer.flatten(0, 1)[batch.instruction_at] for layer in (first, second))
    letters = _letters(model, batch, second, middle)
    return patches, cells, logits, instruction_states, second.gather(1, where), middle.gather(1, where), letters


def _decisions(
    config: Config, update: int, trajectories: TrajectoryDecisions, decision_tokenizer: DecisionTokenizer
) -> list[Decision]:
    """Those of an update, all of one size; the same for the same seed, update and folders."""
    random, count = Random(f"{config.seed} {update}"), config.batch
    page, attempts = random.choice(PAGES), list[Decision]()
    if len(trajectories) and random.random() < config.shown:
        attempts = trajectories.draw(random, max(1, round(count * config.some)))
        page = page_size_for(attempts[0])
    each = [Random(f"{config.seed} {update} {number}") for number in range(count - len(attempts))]
    return [*attempts, *(_sample_decision(decision_tokenizer, one, page, config) for one in each)]


def _sample_decision(
    decision_tokenizer: DecisionTokenizer, random: Random, page: tuple[int, int], config: Config
) -> Decision:
    if page == PAGES[0] and random.random() < config.sites:
        return build_decision(decision_tokenizer, *draw_site(random, page))
    if random.random() < config.tasks:
        return build_decision(decision_tokenizer, *draw_task(random, page))
    screen = _screen(random, page, config.dense)
    able = uniquely_named(screen.widgets)
    if random.random() < config.ordered and len(able) > 1:
        return build_decision(decision_tokenizer, screen, sample_ordered_task(random, screen.widgets, able))
    return sample_decision(decision_tokenizer, random, screen)


def page_size_for(one: Decision) -> tuple[int, int]:
    """The page that is scaled to this picture's size."""
    height, width, _ = one.pixels.shape
    for page in PAGES:
        if smart_resize(page[1], page[0]) == (height, width):
            return page
    return width, height


def _screen(random: Random, page: tuple[int, int], dense: float) -> Screen:
    while not (screen := draw_screen(random, page=page, dense=random.random() < dense)).widgets:
        pass
    return screen


def _reply_loss(
    logits: torch.Tensor, batch: DecisionBatch, decision_tokenizer: DecisionTokenizer
) -> tuple[torch.Tensor, dict[str, float]]:
    """Points are learned with their neighbours, all else as it is."""
    logs = logits.log_softmax(-1)
    each = -logs.gather(1, batch.reply_ids[:, None])[:, 0]
    figures = {}
    for name, pixels, tokens in (
        ("x", batch.across, decision_tokenizer.across),
        ("y", batch.down, decision_tokenizer.down),
    ):
        named = pixels >= 0
        if named.any():
            among = logs[named][:, tokens]
            near = -(soft_pixel_targets(pixels[named], len(tokens)) * among).sum(-1)
            each = each.index_put((named.nonzero()[:, 0],), near)
            figures[f"{name}_within_6"] = ((among.argmax(-1) - pixels[named]).abs() <= 6).float().mean().item()
    loss = (each * batch.weights).sum() / batch.weights.sum()
    return loss, figures | {"said": loss.item()}


def _cells_loss(
    heads: nn.ModuleDict, middle: torch.Tensor, batch: DecisionBatch
) -> tuple[torch.Tensor, dict[str, float]]:
    meant = heads["meant"](middle)[..., 0]
    found = -(batch.targets * meant.log_softmax(-1)).sum(-1).mean()
    known = batch.points[..., 0] > NOWHERE
    points, count = batch.points[known].float() / BIN, known.sum().clamp(min=1)
    across, down = (
        -(soft_bins(points[:, axis]) * head(middle[known]).log_softmax(-1)).sum() / count
        for axis, head in enumerate((heads["across"], heads["down"]))
    )
    right, clicked = batch.targets.gather(1, meant.argmax(-1, keepdim=True)) > 0, batch.targets.sum().clamp(min=1)
    figures = {
        "meant": found.item(),
        "meant_right": (right.sum() / clicked).item(),
        "across": across.item(),
        "down": down.item(),
    }
    if (dragged := batch.ends.any(-1)).any():
        ended = heads["ended"](middle)[..., 0][dragged]
        figures["ended_right"] = batch.ends[dragged].gather(1, ended.argmax(-1, keepdim=True)).mean().item()
        found = found - (batch.ends[dragged] * ended.log_softmax(-1)).sum() / len(batch.ends)
    return found + 0.5 * (across + down), figures


def _places_loss(
    heads: nn.ModuleDict, cells: torch.Tensor, batch: DecisionBatch
) -> tuple[torch.Tensor, dict[str, float]]:
    count, columns = cells.shape[1], batch.pixels.shape[2] // CELL
    numbers, loss, figures = torch.arange(count), torch.zeros(()), {}
    for name, wanted in (("row", numbers // columns), ("column", numbers % columns)):
        predicted = heads[name](cells)
        loss = loss + functional.cross_entropy(predicted.flatten(0, 1), wanted.repeat(len(cells)))
        figures[f"{name}_right"] = (predicted.argmax(-1) == wanted).float().mean().item()
    return 0.5 * loss, figures


def _spelled_loss(
    heads: nn.ModuleDict, letters: torch.Tensor, batch: DecisionBatch
) -> tuple[torch.Tensor, dict[str, float]]:
    predicted = heads["pairs"](letters)
    loss = functional.binary_cross_entropy_with_logits(predicted, batch.instruction_pairs, reduction="sum")
    loss = loss / batch.instruction_pairs.sum().clamp(min=1)
    believed, expected = predicted > 0, batch.instruction_pairs > 0
    found = (believed & expected).sum() * 2 / (believed.sum() + expected.sum()).clamp(min=1)
    return 0.3 * loss, {"spelled": loss.item(), "spelled_f1": found.item()}


def _named_loss(
    heads: nn.ModuleDict, letters: torch.Tensor, batch: DecisionBatch
) -> tuple[torch.Tensor, dict[str, float]]:
    """Which of several names is due follows from what is asked for by itself, of an instruction's letters after the
    second layer: the number of their name, how much was done (which stands before them), and whether their name is
    due."""
    weights, figures, loss = torch.tensor([NAMELESS, *(1.0,) * (NAMES - 1)]), dict[str, float](), torch.zeros(())
    for name, numbers, weighed in (("name", batch.instruction_names, weights), ("done", batch.done_count, None)):
        predicted = heads[name](letters)
        loss = loss + functional.cross_entropy(predicted, numbers, weight=weighed)
        figures[f"{name}_right"] = (predicted.argmax(-1) == numbers)[batch.instruction_names > 0].float().mean().item()
    if (known := batch.due != NOWHERE).any():
        predicted, wanted = heads["due"](letters)[known, 0], batch.due[known].float()
        loss = loss + functional.binary_cross_entropy_with_logits(predicted, wanted)
        named = batch.instruction_names[known] > 0
        figures["due_right"] = ((predicted > 0) == (wanted > 0))[named].float().mean().item()
    return NAMING * loss, figures


def _copied_loss(
    heads: nn.ModuleDict, letters: CopiedLetters, logits: torch.Tensor, batch: DecisionBatch
) -> tuple[torch.Tensor, dict[str, float]]:
    """Where letters are looked for, by at least one of the heads, and which number they have: asked by the same head
    where they stand and where they are typed."""
    attention = letters.attention.mean(1).gather(1, batch.copied[:, None])[:, 0]
    numbers = batch.ordinals.clamp(max=ORDINALS - 1)
    predicted = heads["ordinal"](torch.stack((letters.typed, letters.standing)).float())
    ordinal = functional.cross_entropy(predicted.flatten(0, 1), numbers.repeat(2))
    loss = -(attention + 1e-6).log().mean()
    found = (letters.attention.argmax(-1) == batch.copied[:, None]).any(-1).float().mean()
    typed = torch.isin(batch.reply_at, batch.copied_at)
    right = (logits[typed].argmax(-1) == batch.reply_ids[typed]).float().mean()
    numbered = (predicted.argmax(-1) == numbers).float().mean()
    figures = {"copied": loss.item(), "copied_right": found.item(), "typed_right": right.item()}
    return 0.5 * (loss + ordinal), figures | {"ordinal_right": numbered.item()}


def soft_bins(bins: torch.Tensor) -> torch.Tensor:
    """How right each bin is where these, with their fractions, are meant; shape (K, BINS)."""
    away = (torch.arange(BINS)[None] + 0.5 - bins[:, None]) / 0.8
    return functional.softmax(-0.5 * away * away, -1)
