"""Decisions as the model takes them, many at once: text, one picture of the same size, and the reply."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from protocol.actions.types import Action, Click, DoubleClick, Drag, RightClick, TypeText
from protocol.dialects.dialect import ChatMessage, TextPart
from trainer.nano.heads import ReadingTargets, stack_reading_targets
from trainer.nano.prompts import build_conversation, build_steps, format_reply
from trainer.nano.synthetic.forms import NextAction
from trainer.nano.synthetic.instructions import ACTION_THOUGHTS, PLACES, request_widget
from trainer.nano.synthetic.screens import Screen, Widget
from trainer.nano.synthetic.targets import BUCKETS, CELL, NOWHERE, ScreenTargets, letter_pairs, screen_targets
from trainer.nano.tokenizer import ACROSS, ACTS

Ids = tuple[int, ...]
SPREAD = 2.5
"""Pixels around a point that are nearly as right."""
EASY, TELLING = 0.3, 1.0
"""What tokens of a reply weigh: what always stands there; and letters, their end, where something is, what is done,
which key is pressed, and whether that is all."""
LEFT_OUT = 12
"""Places that a picture would take where there is none: as many as the longer side of those it gets has cells."""
NAMES, MAX_COUNTED_ACTIONS = 6, 8
"""How many names of an instruction and earlier actions are told apart; higher numbers count as the highest."""
TYPING, ENDS = "type(content='", ("')", "', end_point='")
"""What begins a text; and what may stand after it or after a point."""


@dataclass(frozen=True)
class Decision:
    """A screen with an instruction, and the reply to learn."""

    pixels: np.ndarray[Any, np.dtype[np.uint8]]
    """The picture as the model gets it; shape (height, width, 3)."""
    before: Ids
    """All that stands before the picture's places, and after them."""
    after: Ids
    reply: Ids
    point: tuple[int, int] | None
    """Where is clicked, or a drag begins, if that is what is done."""
    target: tuple[float, float, float, float] | None
    """Where a click counts."""
    seen: ScreenTargets | None
    """What is known of the screen."""
    end: tuple[int, int] | None = None
    """Where a drag ends."""
    ended: int = NOWHERE
    """The number of the widget at which it ends."""
    chosen: int = NOWHERE
    """The number of the widget that is meant."""
    sentence: range = range(0)
    """Where in `before` the instruction stands, if it is known which of its letters are the label."""
    pairs: tuple[tuple[int, int], ...] = ()
    """Which pairs of letters of the label meet at which token of `before`."""
    copied: range = range(0)
    """Where in `before` stands what is typed, and what comes after it."""
    names: tuple[tuple[int, str], ...] = ()
    """What the instruction calls by its name or has to be typed, in its order, and where in `before` each begins."""
    done: int = 0
    """Acts that were done before."""
    due: range = range(0)
    """Where in `before` stands the one of these names that is clicked or typed next; nowhere where none is, or it is
    not known."""


class DecisionTokenizer:
    """Conversations and replies as the tokens of one tokenizer."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.picture: int = tokenizer.convert_tokens_to_ids("<|image_pad|>")
        self.end: int = tokenizer.eos_token_id
        self.across = torch.tensor([tokenizer.convert_tokens_to_ids(f"<point>{x}") for x in range(ACROSS)])
        self.down = torch.tensor([tokenizer.convert_tokens_to_ids(f" {y}</point>") for y in range(ACROSS)])
        telling = {tokenizer.convert_tokens_to_ids(phrase) for phrase in (*PLACES, *ACTION_THOUGHTS.values(), *ACTS)}
        (self.typing,), *ends = (tokenizer.encode(text, add_special_tokens=False) for text in (TYPING, *ENDS))
        telling.update(end for (end,) in ends)
        self._telling = {self.end, *range(256), *telling, *self.across.tolist(), *self.down.tolist()}

    def around(self, messages: Sequence[ChatMessage]) -> tuple[Ids, Ids]:
        """A conversation with one picture: what stands before and after it, as a server's template has it."""
        chat = [{"role": message.role, "content": _templated(message)} for message in messages]
        text = self._tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        ids = self._tokenizer.encode(text, add_special_tokens=False)
        place = ids.index(self.picture)
        return tuple(ids[:place]), tuple(ids[place + 1 :])

    def found(self, text: str, before: Ids) -> range:
        """Where a text stands last; nowhere if it is spelled otherwise there."""
        ids = self._tokenizer.encode(text, add_special_tokens=False)
        for begin in range(len(before) - len(ids), -1, -1):
            if before[begin : begin + len(ids)] == tuple(ids):
                return range(begin, begin + len(ids))
        return range(0)

    def reply(self, text: str) -> Ids:
        """A turn, and its end."""
        return (*self._tokenizer.encode(text, add_special_tokens=False), self.end)

    def weight(self, token: int) -> float:
        """What a token of a reply counts."""
        return TELLING if token in self._telling else EASY


def sample_decision(
    decision_tokenizer: DecisionTokenizer, random: Random, screen: Screen, widget: Widget | None = None
) -> Decision:
    """A widget of a screen is asked for, any of them or this one."""
    widget = widget or random.choice(screen.widgets)
    number = screen.widgets.index(widget)
    request = request_widget(random, widget)
    x, y = map(round, widget.point)
    labels = ((request.label_at, widget.label),)
    return build_decision(decision_tokenizer, screen, NextAction(request.sentence, labels, (), Click(x=x, y=y), number))


def build_decision(decision_tokenizer: DecisionTokenizer, screen: Screen, wanted: NextAction) -> Decision:
    """What comes next on a drawn screen."""
    one = build_decision_without_picture(decision_tokenizer, wanted, screen.image.size)
    clicked = wanted.widget
    return replace(
        one,
        pixels=np.asarray(screen.image),
        target=screen.widgets[clicked].target if clicked is not None else None,
        seen=screen_targets(screen),
        chosen=clicked if clicked is not None else NOWHERE,
        ended=wanted.ended if wanted.ended is not None else NOWHERE,
        due=one.due if clicked is None else due_name_span(one.names, screen.widgets[clicked].label),
    )


def build_decision_without_picture(
    decision_tokenizer: DecisionTokenizer, wanted: NextAction, size: tuple[int, int]
) -> Decision:
    """The same without the screen: for what is known from the words alone."""
    act = wanted.act
    before, after = decision_tokenizer.around(
        build_conversation(wanted.sentence, size, steps=build_steps(wanted.done, size))
    )
    sentence = decision_tokenizer.found(wanted.sentence, before)
    bytewise = len(sentence) == len(wanted.sentence.encode())
    copied = range(0)
    if bytewise and wanted.text_at is not None and isinstance(act, TypeText):
        copied = range(sentence.start + wanted.text_at, sentence.start + wanted.text_at + len(act.text) + 1)
    names = tuple((sentence.start + at, label) for at, label in sorted(wanted.labels) if label) if bytewise else ()
    return Decision(
        pixels=np.empty((0, 0, 3), np.uint8),
        before=before,
        after=after,
        reply=decision_tokenizer.reply(format_reply(act, size)),
        point=action_start_point(act),
        end=(act.end.x, act.end.y) if isinstance(act, Drag) else None,
        target=None,
        seen=None,
        sentence=sentence if bytewise else range(0),
        pairs=tuple(pair for at, label in wanted.labels for pair in label_letter_pairs(label, sentence.start + at))
        if bytewise
        else (),
        copied=copied,
        names=names,
        done=len(wanted.done),
        due=due_text_span(names, copied),
    )


def due_name_span(names: Sequence[tuple[int, str]], label: str) -> range:
    """Where stands the one of some names that a part has, whether in capitals or not; nowhere where it has none."""
    return next((_span_at(begin, words) for begin, words in names if words.lower() == label.lower()), range(0))


def due_text_span(names: Sequence[tuple[int, str]], copied: range) -> range:
    """Where stands the one of some names that is typed; nowhere where none is."""
    return next((_span_at(begin, words) for begin, words in names if copied and begin == copied.start), range(0))


def _span_at(begin: int, words: str) -> range:
    return range(begin, begin + len(words.encode()))


def action_start_point(act: Action | None) -> tuple[int, int] | None:
    """Where something is clicked, or a drag begins."""
    match act:
        case Click() | DoubleClick() | RightClick():
            return act.x, act.y
        case Drag():
            return act.start.x, act.start.y
        case _:
            return None


@dataclass(frozen=True)
class DecisionBatch:
    """Decisions side by side: B of them, the longest of L tokens, C cells each, T tokens of replies in all."""

    pixels: torch.Tensor
    ids: torch.Tensor
    """Shape (B, L)."""
    places: torch.Tensor
    """Shape (3, B, L)."""
    begins: torch.Tensor
    """Where the picture begins; shape (B,)."""
    reply_at: torch.Tensor
    """Tokens, of B * L, after which a token of a reply follows; shape (T,)."""
    reply_ids: torch.Tensor
    weights: torch.Tensor
    across: torch.Tensor
    """Of a token that names a column, which; else NOWHERE; shape (T,)."""
    down: torch.Tensor
    targets: torch.Tensor
    """How much of the click a cell has: 1 shared by the cells of what is clicked; shape (B, C)."""
    ends: torch.Tensor
    """How much of a drag's end a cell has; shape (B, C)."""
    points: torch.Tensor
    """Where the widget of a cell is clicked, NOWHERE where it is not known; shape (B, C, 2)."""
    known: torch.Tensor
    """Of which decisions it is known what is to be read, by their numbers; shape (K,)."""
    read: ReadingTargets | None
    """What is to be read in those; None where there are none."""
    instruction_at: torch.Tensor
    """Which tokens, of B * L, are of an instruction whose label is known; shape (N,)."""
    instruction_pairs: torch.Tensor
    """Which pairs of letters of the label meet there; shape (N, BUCKETS)."""
    copied_at: torch.Tensor
    """Tokens, of B * L, after which a letter follows that is copied from the instruction; shape (M,)."""
    copied: torch.Tensor
    """At which token, of L, it stands; shape (M,)."""
    ordinals: torch.Tensor
    """The number it has in what is typed; shape (M,)."""
    instruction_names: torch.Tensor
    """Which of its instruction's names a letter is of, by its number from 1; 0 for none; shape (N,)."""
    due: torch.Tensor
    """Whether that name is clicked or typed next, 1 or 0; NOWHERE where it is not known; shape (N,)."""
    done_count: torch.Tensor
    """Acts that were done before; shape (N,)."""


def build_batch(decisions: Sequence[Decision], decision_tokenizer: DecisionTokenizer) -> DecisionBatch:
    """Decisions about pictures of one size."""
    height, width, _ = decisions[0].pixels.shape
    rows, columns = height // CELL, width // CELL
    cells = rows * columns
    length = max(len(one.before) + cells + len(one.after) + len(one.reply) for one in decisions)
    ids = np.zeros((len(decisions), length), np.int64)
    places = np.zeros((3, len(decisions), length), np.int64)
    targets, points = np.zeros((len(decisions), cells), np.float32), np.full((len(decisions), cells, 2), NOWHERE)
    ends = np.zeros((len(decisions), cells), np.float32)
    at, reply_ids = list[int](), list[int]()
    for number, one in enumerate(decisions):
        whole = (*one.before, *(decision_tokenizer.picture,) * cells, *one.after, *one.reply)
        ids[number, : len(whole)] = whole
        places[:, number] = token_positions(len(one.before), rows, columns, length)
        begin = number * length + len(whole) - len(one.reply) - 1
        at += range(begin, begin + len(one.reply))
        reply_ids += one.reply
        targets[number], points[number] = _target_cells(one, rows, columns)
        if one.end is not None:
            ends[number, _cell_at(one.end, rows, columns)] = 1.0
            if one.seen is not None and one.ended != NOWHERE:
                ends[number, one.seen.widgets == one.ended] = 1.0
            ends[number] /= ends[number].sum()
    across, down = decision_tokenizer.across.tolist(), decision_tokenizer.down.tolist()
    seen = {number: one.seen for number, one in enumerate(decisions) if one.seen is not None}
    by_x, by_y = ({token: pixel for pixel, token in enumerate(axis)} for axis in (across, down))
    return DecisionBatch(
        pixels=torch.from_numpy(np.stack([one.pixels for one in decisions])),
        ids=torch.from_numpy(ids),
        places=torch.from_numpy(places),
        begins=torch.tensor([len(one.before) for one in decisions]),
        reply_at=torch.tensor(at),
        reply_ids=torch.tensor(reply_ids),
        weights=torch.tensor([decision_tokenizer.weight(token) for token in reply_ids]),
        across=torch.tensor([by_x.get(token, NOWHERE) for token in reply_ids]),
        down=torch.tensor([by_y.get(token, NOWHERE) for token in reply_ids]),
        targets=torch.from_numpy(targets),
        ends=torch.from_numpy(ends),
        points=torch.from_numpy(points),
        known=torch.tensor(list(seen), dtype=torch.long),
        read=stack_reading_targets(list(seen.values())) if seen else None,
        **_instruction_tensors(decisions, length),
        **_copy_tensors(decisions, decision_tokenizer, length, cells),
    )


def label_letter_pairs(label: str, begin: int) -> tuple[tuple[int, int], ...]:
    """The pairs of a label that begins at a token, each where its second letter stands."""
    return tuple((begin + place, pair) for place, pair in letter_pairs(label))


def _instruction_tensors(decisions: Sequence[Decision], length: int) -> dict[str, torch.Tensor]:
    at = [number * length + place for number, one in enumerate(decisions) for place in one.sentence]
    pairs, names = torch.zeros(len(at), BUCKETS), torch.zeros(len(at), dtype=torch.long)
    due, done = list[int](), list[int]()
    rows = {place: row for row, place in enumerate(at)}
    for number, one in enumerate(decisions):
        due += [int(place in one.due) if one.due else NOWHERE for place in one.sentence]
        done += [min(one.done, MAX_COUNTED_ACTIONS - 1)] * len(one.sentence)
        for place, pair in one.pairs:
            if (row := rows.get(number * length + place)) is not None:
                pairs[row, pair] = 1.0
        for which, (begin, words) in enumerate(one.names, start=1):
            for place in _span_at(begin, words):
                if (row := rows.get(number * length + place)) is not None:
                    names[row] = min(which, NAMES - 1)
    numbers = {"instruction_at": at, "due": due, "done_count": done}
    return {
        "instruction_pairs": pairs,
        "instruction_names": names,
        **{name: torch.tensor(each, dtype=torch.long) for name, each in numbers.items()},
    }


def _copy_tensors(
    decisions: Sequence[Decision], decision_tokenizer: DecisionTokenizer, length: int, cells: int
) -> dict[str, torch.Tensor]:
    """Letters of replies that are copied from the instruction: where they follow, and where they are copied from."""
    at, copied, ordinals = list[int](), list[int](), list[int]()
    for number, one in enumerate(decisions):
        if one.copied:
            begin = (
                number * length + len(one.before) + cells + len(one.after) + one.reply.index(decision_tokenizer.typing)
            )
            at += range(begin, begin + len(one.copied))
            copied += one.copied
            ordinals += range(len(one.copied))
    tensors = {"copied_at": at, "copied": copied, "ordinals": ordinals}
    return {name: torch.tensor(each, dtype=torch.long) for name, each in tensors.items()}


@cache
def _grid(rows: int, columns: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.stack([np.zeros(rows * columns, np.int64), *np.divmod(np.arange(rows * columns), columns)])


def token_positions(before: int, rows: int, columns: int, length: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The three places of each token, as the model family counts them; shape (3, length)."""
    cells = rows * columns
    places = np.empty((3, length), np.int64)
    places[:, :before] = np.arange(before)
    places[:, before : before + cells] = before + _grid(rows, columns)
    places[:, before + cells :] = before + (max(rows, columns) or LEFT_OUT) + np.arange(length - before - cells)
    return places


def soft_pixel_targets(pixels: torch.Tensor, count: int) -> torch.Tensor:
    """How right each of `count` pixels is where these are meant; shape (T, count), each row sums to 1."""
    away = (torch.arange(count)[None] - pixels[:, None]) / SPREAD
    return functional.softmax(-0.5 * away * away, -1)


def _target_cells(one: Decision, rows: int, columns: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The share of the click that each cell has, and where the widget of each cell is clicked."""
    targets, points = np.zeros(rows * columns, np.float32), np.full((rows * columns, 2), NOWHERE)
    if one.seen is not None:
        points[one.seen.widgets >= 0] = one.seen.points[one.seen.widgets >= 0]
        if one.chosen != NOWHERE:
            targets[one.seen.widgets == one.chosen] = 1.0
    if one.point is not None and not targets.any():
        cell = _cell_at(one.point, rows, columns)
        targets[cell], points[cell] = 1.0, one.point
    return targets / max(targets.sum(), 1.0), points


def _cell_at(point: tuple[int, int], rows: int, columns: int) -> int:
    return min(point[1] // CELL, rows - 1) * columns + min(point[0] // CELL, columns - 1)


def _templated(message: ChatMessage) -> list[dict[str, str]]:
    return [
        {"type": "text", "text": part.text} if isinstance(part, TextPart) else {"type": "image"}
        for part in message.content
    ]
