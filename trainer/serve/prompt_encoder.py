"""What a model reads: a conversation with pictures as token ids, pixels and positions."""

import base64
import hashlib
import io
import warnings
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from PIL import Image

from trainer.model.checkpoints import Checkpoint
from trainer.serve.schemas import ImagePart, InvalidRequest, Message, TextPart

PAD = "<|image_pad|>"
MAX_CACHED_PICTURES = 64
MAX_PIXELS = 40_000_000
"""Largest picture that is decoded, before it is scaled down to what the model takes."""
FORMATS = ("PNG", "JPEG", "WEBP")
"""Formats of pictures that are decoded."""


@dataclass(frozen=True)
class Picture:
    """One picture as the vision tower takes it; `tokens` is how many places it has in the prompt."""

    sha256: str
    pixels: torch.Tensor
    grid: torch.Tensor
    """Frames, rows and columns of patches; shape (1, 3)."""
    tokens: int


@dataclass(frozen=True)
class Prompt:
    """Token ids with every picture's places written out, and the pictures in their order."""

    ids: tuple[int, ...]
    pictures: tuple[Picture, ...]


class PromptEncoder:
    """Turns requests into prompts for one checkpoint; pictures seen before are not prepared again."""

    def __init__(self, checkpoint: Checkpoint, *, max_images: int, context: int) -> None:
        self._tokenizer, self._images = checkpoint.tokenizer, checkpoint.images
        self._pad: int = checkpoint.model.config.image_token_id
        self._max_images, self._context = max_images, context
        self._pictures: OrderedDict[str, Picture] = OrderedDict()

    def read(self, messages: Sequence[Message], *, generating: bool = True, continuing: bool = False) -> Prompt:
        """The prompt of a conversation, with the beginning of a reply (`generating`), or without the end of its last
        message (`continuing`). Raises InvalidRequest."""
        if continuing and not messages[-1].templated()["content"]:
            raise InvalidRequest("The message to continue is empty.", param="messages")
        parts = [part for message in messages for part in message.parts]
        links = [part.image_url.url for part in parts if isinstance(part, ImagePart)]
        if len(links) > self._max_images:
            raise InvalidRequest(f"At most {self._max_images} image(s) may be provided in one prompt.", param="image")
        if any(PAD in part.text for part in parts if isinstance(part, TextPart)):
            raise InvalidRequest(f"A text may not hold {PAD}.", param="messages")
        pictures = tuple(self.picture(link) for link in links)
        text = self._tokenizer.apply_chat_template(
            [message.templated() for message in messages],
            tokenize=False,
            add_generation_prompt=generating,
            continue_final_message=continuing,
        )
        return self.expand(self._tokenizer.encode(text, add_special_tokens=False), pictures)

    def expand(self, ids: Sequence[int], pictures: tuple[Picture, ...]) -> Prompt:
        """A prompt from ids that hold one pad for each picture. Raises Refused."""
        if sum(token == self._pad for token in ids) != len(pictures):
            raise InvalidRequest("The chat template does not hold one place for each image.", param="messages")
        rest = iter(pictures)
        expanded: list[int] = []
        for token in ids:
            expanded += [token] * (next(rest).tokens if token == self._pad else 1)
        if len(expanded) >= self._context:
            raise InvalidRequest(
                f"This model's maximum context length is {self._context} tokens; the prompt has {len(expanded)}.",
                param="messages",
            )
        return Prompt(ids=tuple(expanded), pictures=pictures)

    def tokens(self, text: str) -> list[int]:
        """The token ids of a text by itself."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False)
        return ids

    def text(self, ids: Sequence[int]) -> str:
        """What token ids say, without the special ones."""
        decoded: str = self._tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return decoded

    def picture(self, link: str) -> Picture:
        """A picture given as a data URL. Raises Refused."""
        data = _decode_data_url(link)
        sha256 = hashlib.sha256(data).hexdigest()
        if sha256 in self._pictures:
            self._pictures.move_to_end(sha256)
            return self._pictures[sha256]
        made: Any = self._images(images=[_open_image(data)], return_tensors="pt")
        grid = made["image_grid_thw"]
        tokens = int(grid.prod()) // self._images.merge_size**2
        picture = Picture(sha256=sha256, pixels=made["pixel_values"], grid=grid, tokens=tokens)
        self._pictures[sha256] = picture
        if len(self._pictures) > MAX_CACHED_PICTURES:
            self._pictures.popitem(last=False)
        return picture


def _decode_data_url(link: str) -> bytes:
    """The bytes in a data URL; nothing is fetched from anywhere."""
    head, comma, data = link.partition(",")
    if not (comma and head.startswith("data:image/") and head.endswith(";base64")):
        raise InvalidRequest("An image must be a data URL: data:image/…;base64,…", param="image")
    try:
        return base64.b64decode(data, validate=True)
    except ValueError:
        raise InvalidRequest("An image's base64 cannot be read.", param="image") from None


def _open_image(data: bytes) -> Image.Image:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(data), formats=FORMATS)
            if image.width * image.height > MAX_PIXELS:
                raise InvalidRequest(f"An image may have at most {MAX_PIXELS} pixels.", param="image")
            return image.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise InvalidRequest("An image cannot be read.", param="image") from None
