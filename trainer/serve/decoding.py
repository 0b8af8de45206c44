"""The model's side of serving: prompts read once, replies written together, one token each a step."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import DynamicCache
from transformers.modeling_outputs import BaseModelOutputWithPooling

from trainer.serve.prompt_encoder import Picture, Prompt

Keys = tuple[tuple[torch.Tensor, torch.Tensor], ...]
"""Keys and values of every layer; shape (rows, heads, tokens, size of a head)."""


@dataclass(frozen=True)
class PrefilledPrompt:
    """A prompt the model has read: what it remembers of it, and what it would say next."""

    keys: Keys
    logits: torch.Tensor
    """Shape (vocabulary,)."""
    position: int
    """Position of the next token; a picture takes fewer positions than tokens."""
    tokens: int
    reused: int
    """How many tokens were not computed, because an earlier prompt began the same way."""


class PromptCache:
    """Reads prompts one by one. The beginning that a new prompt shares with an earlier one is not computed again."""

    def __init__(self, model: Any, *, cache_tokens: int) -> None:
        self._model, self._cache_tokens = model, cache_tokens
        self._prefixes: OrderedDict[tuple[int | str, ...], Keys] = OrderedDict()
        self._seen: OrderedDict[str, torch.Tensor] = OrderedDict()

    def forget(self) -> None:
        """Drop everything computed with the weights so far."""
        self._prefixes.clear()
        self._seen.clear()

    def read(self, prompt: Prompt, reply_ids: Sequence[int] = ()) -> PrefilledPrompt:
        """Read a prompt and the tokens of a reply to it so far."""
        ids = [*prompt.ids, *reply_ids]
        marks = self._marks(prompt, ids)
        keys, reused = self._common(marks, prompt)
        places = self._positions(prompt, ids)
        cache = to_dynamic_cache(keys)
        new_pictures = self._pictures_after(prompt, reused)
        with torch.inference_mode():
            out = self._model(
                input_ids=torch.tensor([ids[reused:]]),
                position_ids=places[:, :, reused:],
                attention_mask=torch.ones(1, len(ids), dtype=torch.long),
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
                **({"mm_encoder_outputs": self._looked_at(new_pictures)} if new_pictures else {}),
            )
        read = from_dynamic_cache(out.past_key_values)
        self._keep(marks, read)
        return PrefilledPrompt(
            keys=read,
            logits=out.logits[0, -1],
            position=int(places.max()) + 1,
            tokens=len(ids),
            reused=reused,
        )

    def _positions(self, prompt: Prompt, ids: list[int]) -> torch.Tensor:
        """Three for each token; shape (3, 1, tokens)."""
        pad = self._model.config.image_token_id
        numbers = torch.tensor([ids])
        grids = torch.cat([picture.grid for picture in prompt.pictures]) if prompt.pictures else None
        places: torch.Tensor
        places, _ = self._model.model.get_rope_index(
            numbers, mm_token_type_ids=(numbers == pad).int(), image_grid_thw=grids
        )
        return places

    def _marks(self, prompt: Prompt, ids: list[int]) -> tuple[int | str, ...]:
        """What tells prompts apart: ids, and for a picture's places which picture it is."""
        pad, pictures = self._model.config.image_token_id, iter(prompt.pictures)
        marks: list[int | str] = []
        left, picture = 0, ""
        for token in ids:
            if token == pad and not left:
                next_picture = next(pictures)
                left, picture = next_picture.tokens, next_picture.sha256
            marks.append(picture if token == pad else token)
            left -= token == pad
        return tuple(marks)

    def _common(self, marks: tuple[int | str, ...], prompt: Prompt) -> tuple[Keys, int]:
        """The longest beginning known already, whole pictures only, and at least one token left to compute."""
        best, length = None, 0
        for known in self._prefixes:
            common = _common_prefix_length(known, marks[:-1])
            if common > length:
                best, length = known, common
        while length and isinstance(marks[length - 1], str) and marks[length] == marks[length - 1]:
            length -= 1
        if best is None or not length:
            return (), 0
        self._prefixes.move_to_end(best)
        return tuple((k[:, :, :length], v[:, :, :length]) for k, v in self._prefixes[best]), length

    def _keep(self, marks: tuple[int | str, ...], keys: Keys) -> None:
        self._prefixes[marks] = keys
        self._prefixes.move_to_end(marks)
        while len(self._prefixes) > 1 and sum(map(len, self._prefixes)) > self._cache_tokens:
            self._prefixes.popitem(last=False)

    def _pictures_after(self, prompt: Prompt, start: int) -> list[Picture]:
        pad = self._model.config.image_token_id
        before = sum(token == pad for token in prompt.ids[:start])
        pictures: list[Picture] = []
        for picture in prompt.pictures:
            if before <= 0:
                pictures.append(picture)
            before -= picture.tokens
        return pictures

    def _looked_at(self, pictures: list[Picture]) -> dict[str, Any]:
        """The vision tower's output for pictures; each picture is computed once."""
        for picture in pictures:
            if picture.sha256 not in self._seen:
                seen = self._model.model.get_image_features(picture.pixels, picture.grid, return_dict=True)
                self._seen[picture.sha256] = seen.pooler_output[0]
            self._seen.move_to_end(picture.sha256)
        features = tuple(self._seen[picture.sha256] for picture in pictures)
        while sum(map(len, self._seen.values())) > self._cache_tokens and len(self._seen) > 1:
            self._seen.popitem(last=False)
        return {"image": BaseModelOutputWithPooling(pooler_output=features)}


class DecodingBatch:
    """Replies being written together; shorter ones are padded on the left, and the padding is never attended to."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.clear()

    def clear(self) -> None:
        """Let go of every reply."""
        self._cache: DynamicCache | None = None
        self._mask = torch.zeros(0, 0, dtype=torch.long)
        self._positions = torch.zeros(0, dtype=torch.long)

    def __len__(self) -> int:
        return len(self._positions)

    def join(self, read: PrefilledPrompt, rows: int) -> None:
        """Add so many replies to a prompt that was read."""
        mine, width = self._mask.shape[1], max(self._mask.shape[1], read.tokens)
        joined = tuple((k.expand(rows, -1, -1, -1), v.expand(rows, -1, -1, -1)) for k, v in read.keys)
        joined = _padded(joined, width - read.tokens)
        mask = torch.nn.functional.pad(torch.ones(rows, read.tokens, dtype=torch.long), (width - read.tokens, 0))
        if self._cache is not None:
            here = _padded(from_dynamic_cache(self._cache), width - mine)
            joined = tuple(
                (torch.cat((k, more)), torch.cat((v, other)))
                for (k, v), (more, other) in zip(here, joined, strict=True)
            )
            mask = torch.cat((torch.nn.functional.pad(self._mask, (width - mine, 0)), mask))
        self._cache, self._mask = to_dynamic_cache(joined), mask
        self._positions = torch.cat((self._positions, torch.full((rows,), read.position)))

    def step(self, tokens: Sequence[int]) -> torch.Tensor:
        """Write one token to each reply; the logits of the next, shape (rows, vocabulary)."""
        self._mask = torch.nn.functional.pad(self._mask, (0, 1), value=1)
        with torch.inference_mode():
            out = self._model(
                input_ids=torch.tensor(tokens)[:, None],
                position_ids=self._positions[None, :, None].expand(3, -1, 1),
                attention_mask=self._mask,
                past_key_values=self._cache,
                use_cache=True,
            )
        self._positions = self._positions + 1
        logits: torch.Tensor = out.logits[:, -1]
        return logits

    def keep(self, rows: Sequence[int]) -> None:
        """Drop every reply but these, and padding that is no longer needed."""
        if len(rows) == len(self):
            return
        if not rows or self._cache is None:
            self.clear()
            return
        chosen = torch.tensor(rows)
        mask = self._mask[chosen]
        begin = int(mask.any(0).int().argmax())
        self._cache = to_dynamic_cache(
            tuple((k[chosen, :, begin:], v[chosen, :, begin:]) for k, v in from_dynamic_cache(self._cache))
        )
        self._mask, self._positions = mask[:, begin:], self._positions[chosen]


def to_dynamic_cache(keys: Keys) -> DynamicCache:
    """As transformers wants it."""
    cache = DynamicCache()
    for layer, (k, v) in enumerate(keys):
        cache.update(k, v, layer)
    return cache


def from_dynamic_cache(cache: DynamicCache) -> Keys:
    """The tensors in a cache."""
    return tuple((layer.keys, layer.values) for layer in cache.layers)


def _padded(keys: Keys, left: int) -> Keys:
    if not left:
        return keys
    pad = torch.nn.functional.pad
    return tuple((pad(k, (0, 0, left, 0)), pad(v, (0, 0, left, 0))) for k, v in keys)


def _common_prefix_length(known: tuple[int | str, ...], marks: tuple[int | str, ...]) -> int:
    """The number of marks that two prompts share at their beginning."""
    count = 0
    for one, other in zip(known, marks, strict=False):
        if one != other:
            break
        count += 1
    return count
